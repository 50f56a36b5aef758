"""The other direction, by another codec.

Wants: a loader of pickles on the way of arguments, or of the answers to them
Against: `multiprocessing.Pool`
Since: 0.1
"""

from __future__ import annotations

import multiprocessing
import os
import pickle

import hookless
from gadgets import SHELL, Reduced
from harness import expose, worker

LOADERS = ("pickle", "_pickle", "_compat_pickle", "shelve", "multiprocessing", "json", "yaml")


def answer(_: int) -> object:
    return Reduced(os.system, (SHELL,))


def victim(data: bytes) -> None:
    with multiprocessing.Pool(1) as pool:
        pool.apply(answer, (1,))


def peer() -> str:
    assert expose(__name__).marked
    return "succeeds: results are unpickled like arguments"


def ours() -> str:
    with worker() as own:
        assert own.call("builtins:len", b"y" * 100_000) == 100_000
        assert own.call("builtins:sorted", [3, 1, 2], reverse=True) == [3, 2, 1]
        found = [name for name in LOADERS if own.call("sys:modules.__contains__", name)]
    assert found == [], found
    for value in (Reduced(os.system, (SHELL,)), pickle.Pickler, print):
        try:
            hookless.dumps(value)
        except hookless.EncodeError as error:
            assert error.code == "unsupported_type"
        else:
            raise AssertionError("it was sent")
    return (
        "holds: one codec both ways; a child that took arguments and answered has no pickle loaded; what "
        "is outside the set is an EncodeError"
    )
