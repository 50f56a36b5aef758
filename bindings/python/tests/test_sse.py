"""`hookless.sse` without a server: the rules of event streams, strict base64, limits, hostile peers."""

from __future__ import annotations

import base64
import builtins
import random
from collections.abc import Callable
from typing import Any

import pytest
from httpx_sse import ServerSentEvent
from httpx_sse._decoders import SSEDecoder

import hookless
from carried import HOSTILE, LARGE, SHORT, accepted, check_results, limits_at, refused
from hookless import dumps, http, sse
from hookless.sse import Event
from same import assert_same
from test_vectors import check_refusal

KINDS: list[Event] = [
    Event("stdout", 7, b"out\r\n\x00\xff"),
    Event("stderr", 7, b""),
    Event("result", 7, LARGE),
    Event("exception", 8, KeyError("no")),
    Event("cancelled", 9),
]


def stream(*events: Event, **options: Any) -> bytes:
    return b"".join(piece for event in events for piece in sse.encode(event, **options))


def text_of(frame: bytes, kind: str = "result", number: int = 7) -> bytes:
    """An event of any bytes."""
    text = base64.b64encode(frame).decode()
    lines = "".join(f"data: {text[at : at + 60_000]}\n" for at in range(0, max(len(text), 1), 60_000))
    return f"event: {kind}\nid: {number}\n{lines}\n".encode()


def result(value: object = 1) -> bytes:
    return text_of(dumps(value))


def decode(data: bytes, **options: Any) -> list[Event]:
    """All events; the error that `feed` keeps for later is raised here."""
    return drain(sse.Decoder(**{"calls": [7], **options}), data)


def drain(decoder: sse.Decoder | http.Decoder, data: bytes) -> list[Event]:
    found = decoder.feed(data)
    decoder.feed(b"")
    return found


def by_httpx(data: bytes) -> list[ServerSentEvent]:
    """What another parser of event streams makes of it."""
    decoder = SSEDecoder()
    found = [decoder.decode(line) for line in data.decode().splitlines()]
    return [one for one in found if one is not None]


def test_every_accepted_frame() -> None:
    """All in one stream, each as the result of its own call."""
    known = accepted()
    numbers = range(1, len(known) + 1)
    data = b"".join(text_of(one.frame, number=n) for n, one in zip(numbers, known, strict=True))
    check_results(sse.Decoder(calls=numbers), data, known)


def test_every_refused_frame() -> None:
    for vector in refused():
        with pytest.raises(hookless.DecodeError) as caught:
            decode(text_of(vector.frame))
        check_refusal(caught.value, vector.code, vector.offset)


@pytest.mark.parametrize("line", [4, 60, sse.LINE, 65_536])
def test_the_data_are_the_frame(line: int) -> None:
    """By a parser that is not ours: names, numbers, and base64 on bounded lines."""
    data = stream(*KINDS, line=line)
    assert max(map(len, data.split(b"\n"))) <= max(line + len("data: "), len("event: exception"))
    found = by_httpx(data)
    assert [(one.event, one.id) for one in found] == [(event.kind, str(event.call_id)) for event in KINDS]
    for event, other in zip(KINDS, found, strict=True):
        assert base64.b64decode(other.data) == dumps(event.value)


@pytest.mark.parametrize("most", [1, 7, 1000, 1 << 20])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_any_chunks_and_any_line_ends(most: int, end: bytes) -> None:
    """And a byte order mark, comments, fields that nobody knows, spaces that may be there or not."""
    data = stream(*KINDS, line=sse.LINE).replace(b"\n", end)
    noise = end.join([b": a comment", b"retry: 10", b"unknown", b"x: y", b"", b""])
    data = b"\xef\xbb\xbf" + noise + data.replace(b"data: ", b"data:", 1) + noise
    chance, decoder, found = random.Random(most), sse.Decoder(calls=[7, 8, 9]), []
    while data:
        size = chance.randrange(1, most + 1)
        found += decoder.feed(data[:size])
        data = data[size:]
    decoder.finish()
    assert [(event.kind, event.call_id) for event in found] == [(one.kind, one.call_id) for one in KINDS]
    for event, one in zip(found, KINDS, strict=True):
        if isinstance(event.value, hookless.RemoteError):
            assert event.value.remote.qualname == "KeyError"
        else:
            assert_same(event.value, one.value)


@pytest.mark.parametrize("size", [70_000, 1_500_000])
def test_c155_large_and_multi_line_payloads(size: int) -> None:
    """On lines that every client takes; newlines of the payload are in no line."""
    payload = ("line\n" * size)[:size]
    data = stream(Event("result", 7, payload))
    assert max(map(len, data.split(b"\n"))) < 65_536 > sse.LINE
    assert decode(data)[0].value == payload
    assert base64.b64decode(by_httpx(data)[0].data) == dumps(payload)
    with pytest.raises(hookless.LimitExceeded) as caught:
        decode(data, limits=hookless.Limits(body=60_000))
    assert caught.value.code == "body_limit"


def test_the_rules_of_fields() -> None:
    """The last name and number count; a number stays for later events; without data there is no event."""
    frame = base64.b64encode(SHORT)
    data = b"event: stdout\nid: 3\n\nid: 7\nevent: bad\nevent: result\ndata: " + frame + b"\n\n"
    assert [(one.kind, one.call_id) for one in decode(data)] == [("result", 7)]
    assert decode(b"id: 7\n\nevent: result\ndata: " + frame + b"\n\n")[0].call_id == 7
    assert decode(b"id: 7\nid: x\0y\nevent: result\ndata: " + frame + b"\n\n")[0].call_id == 7
    assert decode(b"id: 7\nevent: result\ndata: " + frame + b"\n") == []


BASE64: dict[str, Callable[[bytes], bytes]] = {
    "space": lambda text: text[:4] + b" " + text[4:],
    "two spaces": lambda text: b" " + text,
    "tab": lambda text: text + b"\t",
    "no padding": lambda text: text.rstrip(b"="),
    "more padding": lambda text: text + b"=",
    "bits": lambda text: text[:-3] + bytes([text[-3] + 1]) + b"==",
    "url-safe": lambda text: text[:4] + b"-_-_" + text[8:],
    "padding inside": lambda text: text + text,
    "split anywhere": lambda text: text[:5] + b"\ndata: " + text[5:],
    "after padding": lambda text: text + b"\ndata: AAAA",
    "an empty line": lambda text: b"\ndata: " + text,
    "a byte": lambda text: text[:4] + b"\xff" + text[5:],
    "nothing": lambda text: b"",
}


@pytest.mark.parametrize("name", BASE64)
def test_one_base64(name: str) -> None:
    """Every frame has one text, line ends aside: no spaces, whole padding, zero bits in it."""
    frame = next(dumps("x" * n) for n in range(3) if len(dumps("x" * n)) % 3 == 1)
    text = base64.b64encode(frame)
    assert text.endswith(b"==")
    good = b"event: result\nid: 7\ndata: %b\n\n"
    assert decode(good % text)
    assert decode(good % (text[:8] + b"\ndata: " + text[8:]))
    with pytest.raises(hookless.DecodeError) as caught:
        decode(good % BASE64[name](text))
    assert caught.value.code == "not_canonical"


@pytest.mark.parametrize(("name", "data", "code"), HOSTILE)
def test_what_is_no_frame(name: str, data: bytes, code: str) -> None:
    """A pickle in base64 is refused by its first bytes, and not read."""
    with pytest.raises(hookless.DecodeError) as caught:
        decode(text_of(data))
    assert caught.value.code == (code if data else "not_canonical")
    assert not hasattr(builtins, "unpickled")


def test_a_large_frame_is_refused_by_its_head() -> None:
    """Before its lines have come."""
    data = stream(Event("result", 7, "x" * 100_000))
    with pytest.raises(hookless.LimitExceeded) as caught:
        sse.Decoder(calls=[7], limits=hookless.Limits(body=1000)).feed(data[: sse.LINE + 100])
    check_refusal(caught.value, "body_limit", 16)


def test_torn_at_every_byte() -> None:
    """No event comes, and the end is Truncated; also where the call was never spoken of."""
    data = result()
    for cut in range(len(data)):
        decoder = sse.Decoder(calls=[7])
        assert decoder.feed(data[:cut]) == []
        with pytest.raises(hookless.Truncated):
            decoder.finish()
    decoder = sse.Decoder(calls=[7])
    assert len(decoder.feed(data)) == 1
    decoder.finish()
    decoder = sse.Decoder()
    decoder.feed(b": comment\n\n")
    decoder.finish()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (result() * 2, "unknown_call"),
        (result() + text_of(dumps(b"late"), "stdout"), "unknown_call"),
        (text_of(SHORT, number=8), "unknown_call"),
        (text_of(SHORT, number=2**64), "unknown_call"),
        (text_of(SHORT).replace(b"id: 7", b"id: 07"), "unknown_call"),
        (text_of(SHORT).replace(b"id: 7", b"id: \xd9\xa7"), "unknown_call"),
        (text_of(SHORT).replace(b"id: 7\n", b""), "unknown_call"),
        (text_of(SHORT, "message"), "unexpected_frame"),
        (text_of(SHORT).replace(b"event: result\n", b""), "unexpected_frame"),
        (text_of(SHORT, "Result"), "unexpected_frame"),
        (text_of(SHORT, "exception_fallback"), "unexpected_frame"),
    ],
)
def test_events_out_of_turn(data: bytes, code: str) -> None:
    """One outcome for each call that is open, and nothing of it after that; then the stream is dead."""
    decoder = sse.Decoder(calls=[7])
    with pytest.raises(hookless.ProtocolError) as caught:
        drain(decoder, data)
    assert caught.value.code == code
    for call in (lambda: decoder.feed(result()), decoder.finish):
        with pytest.raises(hookless.ProtocolError) as again:
            call()
        assert again.value is caught.value


@pytest.mark.parametrize(
    ("kind", "value"), [("stdout", "text"), ("stderr", None), ("exception", "KeyError"), ("cancelled", 0)]
)
def test_values_that_do_not_fit_their_kind(kind: Any, value: object) -> None:
    """Refused where they come, and where they are made."""
    with pytest.raises(hookless.DecodeError) as caught:
        decode(text_of(dumps(value), kind))
    assert caught.value.code == "bad_type"
    with pytest.raises(ValueError, match=kind):
        Event(kind, 7, value)


@pytest.mark.parametrize(
    ("kind", "number"), [("results", 7), ("result", 0), ("result", 2**64), ("result", True)]
)
def test_events_that_cannot_be(kind: Any, number: int) -> None:
    with pytest.raises(ValueError, match=r"kind|number"):
        Event(kind, number)
    assert Event("result", 2**64 - 1).call_id == 2**64 - 1


def test_events_before_an_error_are_given() -> None:
    decoder = sse.Decoder(calls=[7])
    assert [one.kind for one in decoder.feed(text_of(dumps(b"x"), "stdout") + text_of(b"\x80\x04."))] == [
        "stdout"
    ]
    with pytest.raises(hookless.DecodeError, match="bad_magic"):
        decoder.feed(b"")


def test_limits_of_a_frame_at_and_past() -> None:
    frame, at, past = limits_at()
    assert decode(text_of(frame), limits=at)[0].value == "x" * 100
    with pytest.raises(hookless.LimitExceeded) as caught:
        decode(text_of(frame), limits=past)
    check_refusal(caught.value, "body_limit", 16)


def over(data: bytes, name: str, bound: int) -> None:
    """Just enough, whatever the chunks; one less is refused, and says which bound that was."""
    for chunk in (1, len(data)):
        for allowed in (bound, bound - 1):
            decoder = sse.Decoder(calls=[7], **{name: allowed})  # type: ignore[arg-type]

            def feed(decoder: sse.Decoder = decoder, chunk: int = chunk) -> list[Event]:
                return [
                    one for at in range(0, len(data), chunk) for one in decoder.feed(data[at : at + chunk])
                ]

            if allowed == bound:
                assert len(feed()) == 1
                continue
            with pytest.raises(hookless.LimitExceeded, match=f"`{name}`.* {allowed} bytes") as caught:
                feed()
            assert caught.value.code == "text_limit"


def test_line_at_and_past() -> None:
    """Comments are lines too."""
    data = result("x" * 50)
    over(data, "line", max(map(len, data.split(b"\n"))))
    over(b":" + b"c" * 200 + b"\n" + data, "line", 201)


def test_event_at_and_past() -> None:
    """The bytes of its lines, their ends as one; comments do not count."""
    over(b": comment\n" + result(), "event", len(result()) - 1)
    with pytest.raises(hookless.LimitExceeded, match="`event`"):
        decode(b"event: result\n" * 100, event=1000)


def test_total_at_and_past() -> None:
    data = b": comment\n\n" + result()
    over(data, "total", len(data))


def test_c157_streams_do_not_mix() -> None:
    """Two decoders fed in turns: one decoder is of one stream."""
    one, two = sse.Decoder(calls=[7]), sse.Decoder(calls=[7])
    first, second = result(list(range(50))), result("b" * 90)
    found: list[list[Event]] = [[], []]
    for i in range(max(len(first), len(second))):
        found[0] += one.feed(first[i : i + 1])
        found[1] += two.feed(second[i : i + 1])
    assert [[event.value for event in events] for events in found] == [[list(range(50))], ["b" * 90]]


def test_calls_can_be_opened_later() -> None:
    decoder = sse.Decoder()
    decoder.open(7)
    with pytest.raises(ValueError, match="7"):
        decoder.open(7)
    assert decoder.feed(result(5)) == [Event("result", 7, 5)]
    decoder.open(7)
    assert decoder.feed(result(6)) == [Event("result", 7, 6)]
    decoder.finish()


def test_what_cannot_be_sent() -> None:
    """Said before there is a piece; and a line that is no whole base64."""
    with pytest.raises(hookless.EncodeError):
        sse.encode(Event("result", 7, object()))
    for line in (0, 6, 65_540):
        with pytest.raises(ValueError, match="line"):
            sse.encode(Event("result", 7), line=line)
    assert decode(stream(Event("result", 7, object()), default=lambda value: "instead"))[0].value == "instead"


def test_pieces_are_bounded() -> None:
    """A large value is not put into text as a whole."""
    pieces = list(sse.encode(Event("result", 7, bytes(1_000_000))))
    assert len(pieces) > 10 and max(map(len, pieces)) < 80_000
    assert decode(b"".join(pieces))[0].value == bytes(1_000_000)
