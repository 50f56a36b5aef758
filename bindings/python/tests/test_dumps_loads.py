"""`dumps`, `loads`, `encode`, `decode`, `dump` and `load`."""

from __future__ import annotations

import gc
import io
import mmap
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hookless
import naive
from hookless import decode, dumps, encode, loads
from same import assert_same
from samples import PLAIN, frames

FRAMES = frames()
WHOLE: list[Callable[[bytes], Any]] = [
    loads,
    lambda data: decode([data]),
    lambda data: decode([data[:20], data[20:33], data[33:]]),
]


@pytest.mark.parametrize("name", PLAIN)
def test_round_trip(name: str) -> None:
    """Types and bits come back, and the second encoding equals the first."""
    value = PLAIN[name]
    assert_same(loads(dumps(value)), value)


@pytest.mark.parametrize("name", FRAMES)
def test_decoded_values_encode_to_their_own_bytes(name: str) -> None:
    """The canonical form: encode(decode(b)) == b."""
    assert dumps(loads(FRAMES[name])) == FRAMES[name]


@pytest.mark.parametrize("name", PLAIN)
def test_encode_joins_to_dumps(name: str) -> None:
    """The parts are bytes-like, none of them is empty, and together they are the frame."""
    parts = encode(PLAIN[name])
    assert isinstance(parts, list)
    assert all(memoryview(part).nbytes for part in parts)
    assert b"".join(parts) == dumps(PLAIN[name])
    assert_same(decode(parts), PLAIN[name])


@pytest.mark.parametrize("name", FRAMES)
def test_decode_takes_any_split(name: str) -> None:
    """Cut at random places, into single bytes, with empty parts between."""
    frame = FRAMES[name]
    chance = random.Random(name)
    expected = dumps(loads(frame))
    splits = [[frame], [frame[:1], b"", frame[1:]], [frame[:32], frame[32:]]]
    for _ in range(20):
        cuts = sorted(chance.randrange(len(frame) + 1) for _ in range(chance.randrange(1, 9)))
        splits.append([frame[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)], strict=True)])
    if len(frame) < 2000:
        splits.append([frame[i : i + 1] for i in range(len(frame))])
    for parts in splits:
        assert dumps(decode(parts)) == expected
    assert dumps(decode(iter(splits[-1]))) == expected


@pytest.mark.parametrize("name", FRAMES)
def test_frames_cut_at_every_offset_are_truncated(name: str) -> None:
    """`loads` and `decode` find the end of the bytes, with its offset, before they build anything."""
    frame = FRAMES[name]
    for end in range(len(frame)) if len(frame) < 2000 else [*range(100), *range(100, len(frame), 997)]:
        for call in WHOLE:
            with pytest.raises(hookless.Truncated) as caught:
                call(frame[:end])
            assert (caught.value.code, caught.value.offset) == ("truncated", end)


def test_bytes_after_the_frame_are_refused() -> None:
    """At the offset where the frame ends; a second frame is no exception."""
    frame = dumps([1, 2])
    for extra in (b"\0", frame):
        calls: list[Callable[[bytes], Any]] = [*WHOLE, lambda data: decode([frame, data[len(frame) :]])]
        for call in calls:
            with pytest.raises(hookless.DecodeError) as caught:
                call(frame + extra)
            assert (caught.value.code, caught.value.offset) == ("trailing_bytes", len(frame))


def test_every_bytes_like_object(tmp_path: Path) -> None:
    """bytes, bytearray, memoryviews of parts of them, and mapped files."""
    value = PLAIN["containers"]
    frame = dumps(value)
    file = tmp_path / "frame"
    file.write_bytes(frame)
    padded = bytearray(b"xx" + frame + b"yy")
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for data in (frame, bytearray(frame), memoryview(frame), memoryview(padded)[2:-2], mapped):
            assert_same(loads(data), value)


@pytest.mark.parametrize("data", ["text", None, 3, [1], object()], ids=repr)
def test_what_is_not_bytes_is_a_type_error(data: Any) -> None:
    """A mistake of the caller, not of the bytes."""
    with pytest.raises(TypeError):
        loads(data)


def test_values_are_independent_of_the_source() -> None:
    """A changed source does not change what was decoded from it, and the source is not pinned."""
    value = PLAIN["region"]
    source = bytearray(dumps(value))
    result = loads(source)
    source[:] = bytes(len(source))
    source.clear()
    assert_same(result, value)


def test_frames_do_not_change_with_the_value() -> None:
    """`dumps` is a copy: what happens to the value later is not seen."""
    value: dict[str, Any] = {"a": [1], "b": bytearray(20_000)}
    frame = dumps(value)
    value["a"].append(2)
    value["b"][0] = 1
    assert_same(loads(frame), {"a": [1], "b": bytearray(20_000)})


def test_a_bytearray_is_locked_or_copied_while_its_parts_live() -> None:
    """Either it cannot be resized under the parts of `encode`, or the parts do not care."""
    data = bytearray(b"x" * 20_000)
    parts = encode([data])
    before = b"".join(parts)
    try:
        data.clear()
    except BufferError:
        assert len(data) == 20_000
    assert b"".join(parts) == before


def test_files() -> None:
    """Frames one after the other in a file; each `load` reads exactly one."""
    file = io.BytesIO()
    for value in PLAIN.values():
        hookless.dump(value, file)
    file.seek(0)
    for value in PLAIN.values():
        assert_same(hookless.load(file), value)
    with pytest.raises(hookless.Truncated):
        hookless.load(file)


class Dribble(io.RawIOBase):
    """A file that returns and takes at most three bytes at a time, as a pipe may."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = min(3, len(self.data), len(buffer))
        buffer[:count], self.data = self.data[:count], self.data[count:]
        return count

    def write(self, data: Any) -> int:
        self.data += bytes(data)[:3]
        return min(3, len(data))


def test_short_reads_and_writes() -> None:
    """Nothing is lost or doubled when the file takes or gives less than asked."""
    value = PLAIN["containers"]
    file = Dribble()
    hookless.dump(value, file)  # type: ignore[arg-type, unused-ignore]
    assert file.data == dumps(value)
    assert_same(hookless.load(file), value)  # type: ignore[arg-type, unused-ignore]


def test_load_does_not_believe_a_length() -> None:
    """A head that announces much in a file that holds little: truncated, and nothing reserved."""
    frame = naive.frame(b"\xc0", body_length=200 << 20)
    with pytest.raises(hookless.Truncated) as caught:
        hookless.load(io.BytesIO(frame))
    assert caught.value.offset == len(frame)


@pytest.mark.parametrize("kind", [naive.CALL, naive.RESULT])
def test_only_value_frames(kind: int) -> None:
    """Frames of a session are no values, whatever their bodies are."""
    calls: list[Callable[[bytes], Any]] = [*WHOLE, lambda data: hookless.load(io.BytesIO(data))]
    for body in (b"\xc0", b"\xc1", b"\xc0\xc0", b"\x91"):
        frame = naive.frame(body, kind=kind, call_id=1)
        for call in calls:
            with pytest.raises(hookless.DecodeError) as caught:
                call(frame)
            assert (caught.value.code, caught.value.offset) == ("unknown_frame_kind", 5)


def test_encoding_is_a_function_of_the_value() -> None:
    """Sets built in different orders give one frame; dicts keep theirs."""
    first, second = set(range(1000)), {999 - i for i in range(1000)}
    assert dumps(first) == dumps(second)
    assert dumps({"a": 1, "b": 2}) != dumps({"b": 2, "a": 1})


def test_the_collector_is_spared_tuples_of_plain_items_alone() -> None:
    """Whatever may come to refer to itself, or refers to such a thing, is its business."""
    plain = (1, -1, 1.5, "text", "é", None, True)
    for value in ((1,), plain):
        assert not gc.is_tracked(loads(dumps(value)))
    others: tuple[object, ...] = ([1], [], (1, [2]), ([],), (b"bytes", []), {"a": []})
    for other in others:
        assert gc.is_tracked(loads(dumps(other))), other
    assert gc.is_tracked(loads(dumps((plain, [plain])))[1])
