"""`hookless.http` without a server: events as frames, one after the other."""

from __future__ import annotations

import random
from typing import Any

import pytest

import hookless
from carried import HOSTILE, LARGE, SHORT, accepted, check_results, limits_at, refused
from hookless import dumps, http
from hookless.http import Event
from same import assert_same
from test_sse import KINDS, drain
from test_vectors import check_refusal


def body(*events: Event) -> bytes:
    return b"".join(bytes(part) for event in events for part in http.encode(event))


def decode(data: bytes, **options: Any) -> list[Event]:
    return drain(http.Decoder(**{"calls": [7], **options}), data)


def test_every_accepted_value() -> None:
    """Within an event, as the result of its own call."""
    known = [one for one in accepted() if one.value is not None]
    numbers = range(1, len(known) + 1)
    values = [hookless.loads(one.frame) for one in known]
    data = body(*(Event("result", n, value) for n, value in zip(numbers, values, strict=True)))
    check_results(http.Decoder(calls=numbers), data, known)


@pytest.mark.parametrize("most", [1, 50, 1 << 20])
def test_any_chunks(most: int) -> None:
    data, chance = body(*KINDS), random.Random(most)
    decoder, found = http.Decoder(calls=[7, 8, 9]), []
    while data:
        size = chance.randrange(1, most + 1)
        found += decoder.feed(data[:size])
        data = data[size:]
    decoder.finish()
    assert [(event.kind, event.call_id) for event in found] == [(one.kind, one.call_id) for one in KINDS]
    assert_same(found[2].value, LARGE)
    assert found[3].value.remote.qualname == "KeyError"


def test_every_refused_frame() -> None:
    for vector in refused():
        with pytest.raises(hookless.DecodeError) as caught:
            decode(vector.frame)
        check_refusal(caught.value, vector.code, vector.offset)


@pytest.mark.parametrize(("name", "data", "code"), [one for one in HOSTILE if one[2] != "truncated"])
def test_what_is_no_frame(name: str, data: bytes, code: str) -> None:
    with pytest.raises(hookless.DecodeError) as caught:
        decode(data)
    # A frame of the wrong form is refused before what follows it.
    assert caught.value.code == ("bad_type" if name == "trailing" else code)


def test_torn_at_every_byte() -> None:
    data = body(Event("result", 7, ["short", 1]))
    for cut in range(len(data)):
        decoder = http.Decoder(calls=[7])
        assert decoder.feed(data[:cut]) == []
        with pytest.raises(hookless.Truncated) as caught:
            decoder.finish()
        assert caught.value.offset == cut


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (("result", 8, 1), "unknown_call"),
        (("result", True, 1), "unknown_call"),
        (("result", 7.0, 1), "unknown_call"),
        (("result", "7", 1), "unknown_call"),
        (("result", 10**3000, 1), "unknown_call"),
        (("results", 7, 1), "unexpected_frame"),
        ((b"result", 7, 1), "unexpected_frame"),
        (([], 7, 1), "unexpected_frame"),
        (("x" * 10_000, 7, 1), "unexpected_frame"),
        (("result", 7), "bad_type"),
        (["result", 7, 1], "bad_type"),
        (("stdout", 7, "text"), "bad_type"),
        (("exception", 7, "KeyError"), "bad_type"),
        (("cancelled", 7, 0), "bad_type"),
    ],
)
def test_events_out_of_turn(value: object, code: str) -> None:
    """A peer's claims are shown escaped and short."""
    with pytest.raises(hookless.HooklessError) as caught:
        decode(dumps(value))
    assert isinstance(caught.value, (hookless.ProtocolError, hookless.DecodeError))
    assert caught.value.code == code and len(str(caught.value)) < 200


def test_two_outcomes() -> None:
    data = body(Event("result", 7, 1), Event("result", 7, 2))
    decoder = http.Decoder(calls=[7])
    assert decoder.feed(data) == [Event("result", 7, 1)]
    for call in (lambda: decoder.feed(b""), decoder.finish):
        with pytest.raises(hookless.ProtocolError, match="unknown_call"):
            call()


def test_limits_at_and_past() -> None:
    """Of the frame, and of the whole body."""
    _, at, past = limits_at()
    inner = len(body(Event("result", 7, "x" * 100))) - len(dumps("x" * 100))
    at, past = hookless.Limits(body=at.body + inner), hookless.Limits(body=past.body + inner)
    data = body(Event("result", 7, "x" * 100))
    assert decode(data, limits=at, total=len(data))[0].value == "x" * 100
    with pytest.raises(hookless.LimitExceeded) as caught:
        decode(data, limits=past)
    check_refusal(caught.value, "body_limit", 16)
    with pytest.raises(hookless.LimitExceeded, match="total") as caught:
        decode(data, total=len(data) - 1)
    assert caught.value.code == "text_limit"


def test_a_body_without_events() -> None:
    """One value is one frame: `dumps` and `loads`, or `Decoder` for chunks."""
    assert hookless.loads(SHORT) == ["short", 1]
    with pytest.raises(hookless.DecodeError, match="bad_type"):
        decode(SHORT)


@pytest.mark.parametrize(
    ("header", "yes"),
    [
        ("application/x-hookless", True),
        ("Application/X-Hookless; v=1", True),
        ("application/x-hookless-2", False),
        ("text/event-stream", False),
        ("", False),
        (None, False),
    ],
)
def test_media_type(header: str | None, yes: bool) -> None:
    assert http.is_frames(header) is yes
