"""Inputs that a decoder's tests must hold, if no other file has them: see test_hostile_list.py."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

import hookless
import naive
from hookless import DecodeError, Decoder, Limits, RemoteError, decode, dumps, loads
from samples import frames
from test_cases_hostile import refused, within
from watching import watched

TUPLE = b"\x92\xd4\x01\x01"
HEADS = {
    "arrays": [b"\x91"],
    "maps": [b"\x81\xa1\x61"],
    "markers": [TUPLE],
    "arrays and maps": [b"\x91", b"\x81\x01"],
    "all": [b"\x91", TUPLE, b"\x81\x01", b"\xdc\0\1"],
}


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("count", [10**4, 10**5, 10**6, 10**7])
def test_levels(name: str, count: int) -> None:
    """Ten thousand to ten million levels of arrays, maps, markers, and of these by turns."""
    heads = b"".join(HEADS[name])
    code = refused(heads * (count // len(HEADS[name])))
    assert code in ("depth_limit", "not_canonical", "unknown_marker", "bad_type")


SMALL = [b"\x80", b"\x90", b"\x91\xd4\x01\x02", b"\x91\xc0", b"\x81\xc0\xc0", b"\x92\xd4\x01\x02\xc0"]


@pytest.mark.parametrize("item", SMALL)
def test_a_million_small_containers(item: bytes) -> None:
    """Empty ones and those of one element: each is paid for, in values and in memory."""
    body = naive.array([item] * 10**6)
    assert refused(body, limits=Limits(memory=1 << 20)) == "memory_limit"
    assert refused(body, limits=Limits(nodes=10**5)) == "node_limit"
    assert len(loads(naive.frame(body))) == 10**6


@pytest.mark.parametrize("levels", [20, 60, 256])
def test_pairs_that_share(levels: int) -> None:
    """A value of few objects that would be 2^levels on the wire is stopped by a budget of the encoder."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value, value]

    def encode() -> None:
        with pytest.raises(hookless.EncodeError) as caught:
            dumps(value, limits=Limits(nodes=10**5, depth=512))
        assert caught.value.code in ("node_limit", "memory_limit")

    within(60, encode)


@dataclasses.dataclass(eq=False)
class Node:
    """Holds another."""

    next: Any = None


def _cycles() -> dict[str, Any]:
    """A value that holds itself, by each container that can."""
    by_list: list[Any] = []
    by_list.append(by_list)
    by_dict: dict[str, Any] = {}
    by_dict["self"] = by_dict
    by_deque: deque[Any] = deque()
    by_deque.append(by_deque)
    ordered: OrderedDict[str, Any] = OrderedDict()
    ordered["self"] = ordered
    node = Node()
    node.next = node
    inner: list[Any] = []
    by_tuple = (inner,)
    inner.append(by_tuple)
    record = hookless.Record("m", "q", {"x": inner})
    inner_of_record: list[Any] = []
    in_record = hookless.Record("m", "q", {"x": inner_of_record})
    inner_of_record.append(in_record)
    counter: Counter[Any] = Counter()
    by_slice: list[Any] = []
    by_slice.append(slice(by_slice, None))
    found = {
        "list": by_list, "dict": by_dict, "deque": by_deque, "OrderedDict": ordered, "dataclass": node,
        "tuple": by_tuple, "a record of one": record, "record": in_record, "slice": by_slice,
    }  # fmt: skip
    assert not counter
    return found


CYCLES = _cycles()


@pytest.mark.parametrize("name", CYCLES)
def test_cycles(name: str) -> None:
    """Through every container: an error of the encoder, alone and inside another value."""
    for value in (CYCLES[name], [CYCLES[name]], {"a": (CYCLES[name],)}):
        with pytest.raises(hookless.EncodeError) as caught:
            dumps(value)
        assert caught.value.code == "depth_limit"


def push(data: bytes) -> None:
    """A stream that ends after these bytes."""
    decoder = Decoder()
    decoder.feed(data)
    decoder.finish()


def test_lengths_off_by_one() -> None:
    """Of the body, of the region, and of each container: one more or one less than is there."""
    for name, frame in frames().items():
        for at in (16, 24):
            stated = int.from_bytes(frame[at : at + 8])
            for wrong in (stated - 1, stated + 1):
                if wrong < 0:
                    continue
                bad = frame[:at] + wrong.to_bytes(8) + frame[at + 8 :]
                for call in (loads, lambda data: decode([data[:40], data[40:]]), push):
                    with pytest.raises(DecodeError):
                        call(bad)
        body = frame[32:]
        if name in ("ints", "floats", "bools"):
            for head in (body[0] - 1, body[0] + 1):
                assert refused(bytes([head]) + body[1:]) in ("truncated", "trailing_bytes", "bad_type")


PLACES: dict[str, Callable[[bytes], bytes]] = {
    "top": lambda bad: bad,
    "list": lambda bad: naive.array([naive.NIL, bad]),
    "key": lambda bad: naive.mapping([(bad, naive.NIL)]),
    "value": lambda bad: naive.mapping([(naive.integer(1), bad)]),
    "tuple": lambda bad: naive.node(naive.TUPLE, [bad]),
    "member": lambda bad: naive.node(naive.SET, [bad]),
    "field": lambda bad: naive.record([("x", bad)]),
    "argument": lambda bad: naive.exception(naive.entry(args=[bad])),
    "object array": lambda bad: naive.node(18, [b"\0", naive.array([b"\1"]), bad]),
}


@pytest.mark.parametrize("place", PLACES)
def test_markers_that_mean_nothing(place: str) -> None:
    """0xc1, ext types without a meaning and node numbers without one, wherever a value may stand."""
    assert refused(PLACES[place](b"\xc1")) == "bad_marker"
    assert refused(PLACES[place](naive.ext(127, b"x"))) == "unknown_ext"
    assert refused(PLACES[place](naive.node(200, [naive.NIL]))) == "unknown_kind"


NAMES = [
    "SystemExit", "KeyboardInterrupt", "StopIteration", "GeneratorExit", "DecodeError", "LimitExceeded",
    "WorkerDied", "ProtocolError", "RemoteError", "os.system", "a.b.c", "__class__", "__del__", "x" * 10_000,
    "\u202egnp.exe", "a\x1b[2Jb", "Exception", "BaseException", "object", "type", " ", "\n",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize("module", ["builtins", "hookless", "hookless.errors", "os"])
def test_names_of_exceptions(module: str, name: str) -> None:
    """Of the interpreter, of hookless, of functions, of nobody: an inert error, and never one of ours."""
    entry = naive.entry(module, name, bases=[f"{module}.{name}", "builtins.BaseException"], message="shown")
    with watched():
        error = loads(naive.frame(naive.exception(entry)))
        shown = f"{error} {error!r} {error.remote.format()}"
    assert isinstance(error, RemoteError) and isinstance(error, Exception)
    assert not isinstance(error, hookless.HooklessError | SystemExit | StopIteration | KeyboardInterrupt)
    assert (error.remote.module, error.remote.qualname) == (module, name)
    assert "\x1b" not in shown and "\u202e" not in shown


@pytest.mark.parametrize("where", ["module", "qualname", "base", "empty module", "empty qualname"])
def test_names_of_exceptions_that_are_refused(where: str) -> None:
    """Ten megabytes, and none at all."""
    huge = "x" * 10_000_000
    entries = {
        "module": naive.entry(huge, "q"),
        "qualname": naive.entry("m", huge),
        "base": naive.entry("m", "q", bases=[huge]),
        "empty module": naive.entry("", "q"),
        "empty qualname": naive.entry("m", ""),
    }
    code = refused(naive.exception(entries[where]))
    assert code == ("bad_name" if where.startswith("empty") else "text_limit")


def test_a_million_frames() -> None:
    """Past the limit of frames: refused before the second thousand is made."""
    one = naive.trace_frame("f", 1, "g")
    body = naive.exception(naive.entry("m", "q", frames=[one] * 10**6))
    within(30, lambda: refused(body))
    assert refused(body) == "frame_limit"


@pytest.mark.parametrize("line", [-1, -(2**31), 2**31, 2**63, 2**64 - 1])
def test_lines_of_frames(line: int) -> None:
    """They are 31 bits and not negative."""
    assert refused(naive.exception(naive.entry("m", "q", frames=[naive.trace_frame("f", line, "g")])))


def test_every_split_of_two_frames() -> None:
    """Two frames in one read, in two at every offset, and byte by byte."""
    one, two = dumps([1, "a"]), dumps({"b": bytes(16_384)})
    both = one + two
    for cut in itertools.chain(range(200), range(200, len(both), 499)):
        decoder = Decoder()
        found = [frame.value for part in (both[:cut], both[cut:]) for frame in decoder.feed(part)]
        decoder.finish()
        assert found == [[1, "a"], {"b": bytes(16_384)}]
    with pytest.raises(DecodeError):
        loads(both)
