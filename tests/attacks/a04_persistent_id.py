"""A persistent id that is a path.

Wants: to have the host read a file of its own and hand it back
Against: `pickle.Unpickler` with `persistent_load`
Since: 0.1
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path

from gadgets import carried, short
from harness import expose, inert, naive

SECRET = "secret"
PICKLE = b"\x80\x04" + short(SECRET) + pickle.BINPERSID + b"."


class Loader(pickle.Unpickler):
    """As model files are read: the id says which file beside them holds the bytes."""

    def persistent_load(self, name: str) -> bytes:
        return Path(name).read_bytes()


def victim(data: bytes) -> None:
    Path(SECRET).write_text("the host's own")
    print(Loader(io.BytesIO(data)).load())


def peer() -> str:
    assert "the host's own" in expose(__name__, PICKLE).out
    return "succeeds: the file is read"


def ours() -> str:
    Path(SECRET).write_text("the host's own")
    inert(naive.frame(naive.array([naive.text(SECRET)])), [SECRET])
    return f"{carried(PICKLE)}; a path is text, and no file is opened"
