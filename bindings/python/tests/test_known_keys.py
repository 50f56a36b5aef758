"""Keys that a thread remembers from one body to the next: `src/build/known.rs`."""

from __future__ import annotations

import gc
import sys
from threading import Thread

import pytest

from hookless import dumps, loads

# `SLOTS` and `LONGEST` of known.rs.
SLOTS = 512
LONGEST = 64


def key_of(frame: bytes) -> str:
    """The only key of a dict that is decoded anew."""
    value = loads(frame)
    assert type(value) is dict
    (key,) = value
    assert type(key) is str
    return key


def settled(frame: bytes) -> str:
    """The key of a dict that has come often enough to be remembered, whatever was in its place."""
    return [key_of(frame) for _ in range(3)][-1]


def blocks() -> int:
    """Blocks that CPython has given out, after a collection."""
    gc.collect()
    return sys.getallocatedblocks()


@pytest.mark.parametrize("length", [0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, LONGEST])
def test_a_key_that_comes_again_is_the_same_str(length: int) -> None:
    frame = dumps({"k" * length: 1})
    first = settled(frame)
    assert first == "k" * length
    assert key_of(frame) is first


def test_a_longer_key_is_not_kept() -> None:
    frame = dumps({"k" * (LONGEST + 1): 1})
    first = settled(frame)
    assert first == "k" * (LONGEST + 1)
    assert key_of(frame) is not first


def test_keys_that_never_come_again_do_not_take_its_place() -> None:
    frame = dumps({"comes again": 1})
    first = settled(frame)
    for number in range(20_000):
        assert key_of(dumps({f"{number} once": 1})) == f"{number} once"
    assert key_of(frame) is first


@pytest.mark.parametrize("length", [9, 12, 16, 17, 20, 24, 31, 32, 33, 48, LONGEST])
def test_keys_that_differ_in_one_byte_are_told_apart(length: int) -> None:
    """Those that differ in the middle alone share a slot."""
    for at in range(length):
        for letter in "xy":
            text = "k" * at + letter + "k" * (length - at - 1)
            assert settled(dumps({text: 1})) == text


def test_no_key_is_interned() -> None:
    key = settled(dumps({"known but not interned": 1}))
    twin = " ".join(["known", "but", "not", "interned"])
    assert sys.intern(twin) is twin
    assert key is not twin


def test_hostile_keys_do_not_make_it_grow() -> None:
    """Whatever comes, so many strs are kept and no more; the first rounds fill what there is."""

    def rounds(start: int) -> None:
        for at in range(start, start + 40):
            frame = dumps({f"{at}-{number}".rjust(LONGEST, "h"): None for number in range(500)})
            for _ in range(3):
                assert len(loads(frame)) == 500

    before = blocks()
    rounds(0)
    rounds(0)
    full = blocks()
    assert full - before <= SLOTS + 100
    rounds(40)
    rounds(40)
    assert abs(blocks() - full) <= 100


def test_a_thread_that_ends_leaves_none() -> None:
    frame = dumps({f"of a thread {number}": None for number in range(300)})

    def threads(count: int) -> None:
        for _ in range(count):
            one = Thread(target=loads, args=(frame,))
            one.start()
            one.join()
        loads(dumps(None))

    threads(3)
    before = blocks()
    threads(30)
    assert blocks() - before <= 300


def test_a_body_that_is_decoded_within_another_has_keys_of_its_own() -> None:
    """By a callback of the collector, which any allocation may call."""
    inner, found = dumps([{f"inner {number}": number} for number in range(40)]), []

    def decodes(phase: str, info: dict[str, int]) -> None:
        gc.disable()
        found.append(loads(inner))

    value = [{"outer": [number], f"outer {number}": [number]} for number in range(400)]
    frame = dumps(value)
    threshold = gc.get_threshold()
    gc.callbacks.append(decodes)
    try:
        gc.set_threshold(50)
        for _ in range(5):
            gc.enable()
            assert loads(frame) == value
    finally:
        gc.callbacks.remove(decodes)
        gc.set_threshold(*threshold)
        gc.enable()
    assert found
    assert all(one == [{f"inner {number}": number} for number in range(40)] for one in found)
    assert loads(frame) == value
