"""Every vector of `proto/vectors` through `loads`, `dumps` and `Decoder`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import hookless
from describing import describe, expand, normal
from lacking import lacking_here

VECTORS = Path(__file__).parents[3] / "proto" / "vectors"
CHUNKS = [1, 7, 1 << 30]


@dataclass(frozen=True)
class Vector:
    """One vector, ready to be decoded."""

    frame: bytes
    limits: hookless.Limits
    value: Any
    code: str
    offset: int


def wrapped(body: bytes, data: bytes) -> bytes:
    """A VALUE frame of a body and a data region, written out so as not to lean on the code under test."""
    head = b"HKLS\x01\x01" + bytes(10) + len(body).to_bytes(8) + len(data).to_bytes(8)
    return head + body + bytes(-len(head + body) % 64 if data else 0) + data


def vectors(folder: str, entry: str) -> list[Any]:
    """The vectors of a folder that are for this entry point, `decode` or `push`, named for pytest."""
    found = []
    for file in sorted((VECTORS / folder).glob("*.json")):
        for one in json.loads(file.read_text()):
            frame = (
                expand(one["frame"])
                if "frame" in one
                else wrapped(expand(one["body"]), expand(one.get("data", "")))
            )
            limits = hookless.Limits(**one.get("limits", {}))
            vector = Vector(frame, limits, one.get("value"), one.get("code", ""), one.get("offset", -1))
            if one.get("by", entry) == entry:
                found.append(pytest.param(vector, id=f"{file.stem}-{one['name']}"))
    assert found, f"no vectors in {VECTORS / folder}"
    return found


def cuts(vector: Vector) -> Iterator[int]:
    """The first 4096 offsets and every 997th after."""
    yield from range(min(len(vector.frame), 4096))
    yield from range(4096, len(vector.frame), 997)


def check_accepted(vector: Vector, decode: Callable[[], Any]) -> None:
    """The value is the one described, and encodes to the bytes that it came from."""
    lacking = lacking_here(vector.value)
    if lacking:
        with pytest.raises(hookless.DecodeError) as caught:
            decode()
        assert caught.value.code == lacking
        return
    value = decode()
    if vector.value is not None:
        assert describe(value) == normal(vector.value)
    again = hookless.dumps(value, limits=vector.limits)
    # `dumps` writes VALUE frames; kind and call id belong to the frame and not to the value.
    assert again[:5] + vector.frame[5:6] + again[6:8] + vector.frame[8:16] + again[16:] == vector.frame


def check_refusal(error: hookless.DecodeError, code: str, offset: int) -> None:
    """Code and offset, and the exception class that goes with the code."""
    assert (error.code, error.offset) == (code, offset), str(error)
    classes = {"truncated": hookless.Truncated}
    limit = code.endswith("_limit")
    assert type(error) is classes.get(code, hookless.LimitExceeded if limit else hookless.DecodeError)


@pytest.mark.parametrize(
    "vector", [one for one in vectors("reject", "feed") if one.values[0].code == "undelivered_limit"]
)
def test_reject_in_one_feed(vector: Vector) -> None:
    """L10: the frames before it are given first; fed a byte at a time it is never met."""
    decoder = hookless.Decoder(limits=vector.limits)
    assert decoder.feed(vector.frame)
    for call in (lambda: decoder.feed(b""), decoder.finish):
        with pytest.raises(hookless.LimitExceeded) as caught:
            call()
        check_refusal(caught.value, vector.code, vector.offset)
    decoder = hookless.Decoder(limits=vector.limits)
    for byte in vector.frame:
        decoder.feed(bytes([byte]))
    decoder.finish()


@pytest.mark.parametrize("vector", vectors("accept", "decode"))
def test_accept(vector: Vector) -> None:
    check_accepted(vector, lambda: hookless.loads(vector.frame, limits=vector.limits))


@pytest.mark.parametrize("vector", vectors("accept", "decode"))
def test_accept_without_copying(vector: Vector) -> None:
    check_accepted(vector, lambda: hookless.loads(vector.frame, limits=vector.limits, copy=False))


@pytest.mark.parametrize("vector", vectors("accept", "decode"))
def test_accept_cut_at_every_offset(vector: Vector) -> None:
    whole = memoryview(vector.frame)
    for cut in cuts(vector):
        with pytest.raises(hookless.Truncated) as caught:
            hookless.loads(whole[:cut], limits=vector.limits)
        check_refusal(caught.value, "truncated", cut)


@pytest.mark.parametrize("vector", vectors("accept", "push"))
def test_accept_pushed_and_cut_at_every_offset(vector: Vector) -> None:
    """Nothing comes out before the last byte, and a stream that ends there is truncated there."""
    whole = memoryview(vector.frame)
    decoder = hookless.Decoder(limits=vector.limits)
    fed = 0
    # A host that lacks what a frame holds says so at the end of the body, before the region (check_accepted).
    end = 32 + int.from_bytes(whole[16:24]) if lacking_here(vector.value) else len(whole)
    for cut in cuts(vector):
        if cut >= end:
            break
        assert decoder.feed(whole[fed:cut]) == []
        fed = cut
        if cut == 0:
            decoder.finish()
            continue
        with pytest.raises(hookless.Truncated) as caught:
            decoder.finish()
        check_refusal(caught.value, "truncated", cut)


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("vector", vectors("accept", "push"))
def test_accept_in_chunks(vector: Vector, chunk: int) -> None:
    def push() -> Any:
        decoder = hookless.Decoder(limits=vector.limits)
        found: list[hookless.Frame] = []
        for start in range(0, len(vector.frame), chunk):
            assert found == []
            found += decoder.feed(vector.frame[start : start + chunk])
        decoder.finish()
        assert len(found) == 1
        return found[0].value

    check_accepted(vector, push)


@pytest.mark.parametrize("vector", vectors("reject", "decode"))
def test_reject(vector: Vector) -> None:
    with pytest.raises(hookless.DecodeError) as caught:
        hookless.loads(vector.frame, limits=vector.limits)
    check_refusal(caught.value, vector.code, vector.offset)


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("vector", vectors("reject", "push"))
def test_reject_in_chunks(vector: Vector, chunk: int) -> None:
    decoder = hookless.Decoder(limits=vector.limits)

    def feed_all() -> None:
        for start in range(0, len(vector.frame), chunk):
            assert decoder.feed(vector.frame[start : start + chunk]) == []
        decoder.finish()

    with pytest.raises(hookless.DecodeError) as caught:
        feed_all()
    check_refusal(caught.value, vector.code, vector.offset)
