"""Children that keep to no protocol: they write slowly, from other processes, and late."""

from __future__ import annotations

import os
import threading
import time
from typing import NoReturn

from hookless import worker


def drip(data: bytes, seconds: float) -> NoReturn:
    """One byte at a time, with a pause after each."""
    for byte in data:
        os.write(worker.channel_fd(), bytes([byte]))
        time.sleep(seconds)
    time.sleep(60)
    raise AssertionError("unreachable")


def fork_that_writes(data: bytes, seconds: float) -> str:
    """A second process writes to the channel, before or after the answer of the first."""
    # A copy, since a fork of hookless's own closes the channel.
    channel = os.dup(worker.channel_fd())
    if os.fork() == 0:
        time.sleep(seconds)
        os.write(channel, data)
        os._exit(0)
    if seconds == 0:
        time.sleep(0.3)
    return "answered"


def grandchild(seconds: float) -> int:
    """A process that outlives the child, and holds its channel and its output; its number."""
    channel = os.dup(worker.channel_fd())
    number = os.fork()
    if number == 0:
        time.sleep(seconds)
        os.close(channel)
        os._exit(0)
    return number


def grandchild_and_exit(seconds: float) -> NoReturn:
    """The same, and the child is gone in the middle of the call."""
    os.write(2, f"grandchild {grandchild(seconds)}".encode())
    os._exit(0)


def late_output(text: str, seconds: float) -> str:
    """Returns first and prints afterwards."""

    def work() -> None:
        time.sleep(seconds)
        os.write(1, text.encode())

    threading.Thread(target=work, daemon=True).start()
    return "answered"


def endless(descriptor: int) -> NoReturn:
    """Output without an end, or garbage on the channel (descriptor -1) until nobody reads it."""
    target = worker.channel_fd() if descriptor == -1 else descriptor
    while True:
        os.write(target, b"\x00" * 65_536)
