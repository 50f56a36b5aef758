"""What is read and written in runs: text of each width, keys and lists, at the lengths where a run ends."""

from __future__ import annotations

import pytest

from hookless import DecodeError, Limits, dumps, loads
from same import assert_same

ENDS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
# The first and the last character of each width, both in UTF-8 and in CPython's own storage.
EDGES = "\x7f\x80\xff\u0100\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"


@pytest.mark.parametrize("edge", EDGES)
def test_text_of_each_width_is_its_utf8(edge: str) -> None:
    """Before the str keeps its UTF-8 and after, with the end of a run before, at and behind the edge."""
    for length in ENDS:
        for text in (edge * length, "a" * (length - 1) + edge, edge + "a" * length):
            fresh = dumps(text)
            assert text.encode() in fresh
            assert_same(loads(fresh), text)
            # Its name is asked for as UTF-8, which the str keeps from then on.
            type(text, (), {})
            assert dumps(text) == fresh


@pytest.mark.parametrize("unit", [0xD800, 0xDFFF])
def test_a_surrogate_is_seen_wherever_it_is_in_a_run(unit: int) -> None:
    alone = chr(unit)
    for length in ENDS:
        for text in ("\u0800" * (length - 1) + alone, alone + "\U0010ffff" * length):
            assert text.encode("utf-8", "surrogatepass") in dumps(text)
            assert_same(loads(dumps(text)), text)


def test_keys_that_are_remembered_stay_apart() -> None:
    """Of each length, with the same first and last bytes, or the same but for one byte."""
    for length in ENDS:
        keys = {"a" * at + "b" + "a" * (length - at - 1) for at in range(length)}
        value = [dict.fromkeys(sorted(keys), length)] * 20
        assert_same(loads(dumps(value)), value)


@pytest.mark.parametrize("item", [0, 2**64 - 1, -(2**63), 0.5, "text", "\xe9", None, [], True])
def test_an_error_behind_a_run_is_where_it_is(item: object) -> None:
    """The path counts the items before it, and a limit is met at the item that passes it."""
    for count in (1, 2, 3, 4, 17):
        good = [item] * count
        frame = dumps([*good, (7,)])
        assert frame.count(b"\x92\xd4\x01\x01") == 1
        with pytest.raises(DecodeError) as caught:
            loads(frame.replace(b"\x92\xd4\x01\x01", b"\x92\xd4\x01\x7f"))
        assert (caught.value.code, caught.value.path) == ("unknown_kind", f"$[{count}]")
        assert caught.value.offset == frame.index(b"\xd4\x01\x01")
        charged = next(most for most in range(10_000) if _fits(frame, most))
        with pytest.raises(DecodeError) as caught:
            loads(frame, limits=Limits(memory=charged - 1))
        assert (caught.value.code, caught.value.path) == ("memory_limit", f"$[{count}][0]")


def _fits(frame: bytes, most: int) -> bool:
    try:
        loads(frame, limits=Limits(memory=most))
    except DecodeError:
        return False
    return True
