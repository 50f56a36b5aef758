"""Events over a real web server and client, as server-sent events and as frames."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

import hookless
from carried import HOSTILE, LARGE, accepted, check_value, limits_at
from hookless import http, sse
from hookless.events import Event
from same import assert_same
from test_sse import KINDS, text_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "event_stream.py"

Pieces = Callable[[], Iterable[Any]]
Decoder = sse.Decoder | http.Decoder


def pieces_of(carrier: str, *events: Event) -> list[Any]:
    encode: Callable[[Event], Iterable[Any]] = sse.encode if carrier == "sse" else http.encode
    return [piece for event in events for piece in encode(event)]


def decoder_of(carrier: str, calls: Iterable[int] = (7, 8, 9), **options: Any) -> Decoder:
    return (sse.Decoder if carrier == "sse" else http.Decoder)(calls=calls, **options)


async def serve(pieces: Pieces, use: Callable[[str], Awaitable[Any]], *, torn: bool = False) -> Any:
    """Answer every request with these pieces, each flushed by itself; torn ones without an end."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in pieces():
            await response.write(bytes(piece))
            await asyncio.sleep(0)
        if torn and request.transport is not None:
            request.transport.close()
        return response

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return await use(f"http://127.0.0.1:{runner.addresses[0][1]}/")
    finally:
        await runner.cleanup()


async def fetch(address: str, decoder: Decoder) -> list[Event]:
    found: list[Event] = []
    async with aiohttp.ClientSession() as session, session.get(address) as response:
        async for chunk in response.content.iter_any():
            found += decoder.feed(chunk)
    decoder.finish()
    return found


def exchanged(pieces: list[Any], decoder: Decoder) -> list[Event]:
    """What a client gets."""
    found: list[Event] = asyncio.run(serve(lambda: pieces, lambda address: fetch(address, decoder)))
    return found


@pytest.mark.parametrize("carrier", ["sse", "http"])
def test_every_accepted_value(carrier: str) -> None:
    """Each as the result of its own call, over one connection."""
    known = [one for one in accepted() if one.value is not None]
    numbers = range(1, len(known) + 1)
    events = [Event("result", n, hookless.loads(one.frame)) for n, one in zip(numbers, known, strict=True)]
    found = exchanged([b"".join(map(bytes, pieces_of(carrier, *events)))], decoder_of(carrier, numbers))
    for vector, event in zip(known, found, strict=True):
        check_value(vector, event.value)


@pytest.mark.parametrize("carrier", ["sse", "http"])
def test_every_kind(carrier: str) -> None:
    found = exchanged(pieces_of(carrier, *KINDS), decoder_of(carrier))
    assert [(event.kind, event.call_id) for event in found] == [(one.kind, one.call_id) for one in KINDS]
    assert_same(found[2].value, LARGE)
    assert found[3].value.remote.qualname == "KeyError"


@pytest.mark.parametrize("carrier", ["sse", "http"])
def test_c155_large_events(carrier: str) -> None:
    """aiohttp's own reader of lines stops at 64 KiB or so; no line of ours comes near that."""
    value = ["x" * 70_000, b"\n" * 1_500_000]
    assert_same(
        exchanged(pieces_of(carrier, Event("result", 7, value)), decoder_of(carrier, [7]))[0].value, value
    )
    assert max(map(len, b"".join(pieces_of("sse", Event("result", 7, value))).split(b"\n"))) < 10_000


@pytest.mark.parametrize("carrier", ["sse", "http"])
@pytest.mark.parametrize(("name", "data", "code"), HOSTILE)
def test_what_is_no_frame(carrier: str, name: str, data: bytes, code: str) -> None:
    with pytest.raises(hookless.DecodeError) as caught:
        exchanged([text_of(data) if carrier == "sse" else data], decoder_of(carrier))
    expected = {"empty": "not_canonical" if carrier == "sse" else code}
    if carrier == "http":
        expected["trailing"] = "bad_type"
    assert caught.value.code == expected.get(name, code)


@pytest.mark.parametrize("carrier", ["sse", "http"])
def test_torn_at_every_byte(carrier: str) -> None:
    """The server closes the connection: the client's error, or ours; and no value."""
    data = b"".join(map(bytes, pieces_of(carrier, Event("result", 7, "torn"))))

    async def all_cuts(address: str) -> None:
        for _ in range(len(data)):
            decoder = decoder_of(carrier, [7])
            with pytest.raises((aiohttp.ClientPayloadError, hookless.Truncated)):
                await fetch(address, decoder)
            with pytest.raises(hookless.Truncated):
                decoder.finish()

    cuts = iter(range(len(data)))
    asyncio.run(serve(lambda: [data[: next(cuts)]], all_cuts, torn=True))
    assert next(cuts, None) is None


@pytest.mark.parametrize("carrier", ["sse", "http"])
def test_limits_at_and_past(carrier: str) -> None:
    _, at, past = limits_at()
    inner = 0
    event = Event("result", 7, "x" * 100)
    if carrier == "http":
        inner = sum(len(bytes(part)) for part in http.encode(event)) - len(hookless.dumps(event.value))
    pieces = pieces_of(carrier, event)
    limits = [hookless.Limits(body=one.body + inner) for one in (at, past)]
    assert exchanged(pieces, decoder_of(carrier, [7], limits=limits[0])) == [event]
    with pytest.raises(hookless.LimitExceeded, match="body_limit"):
        exchanged(pieces, decoder_of(carrier, [7], limits=limits[1]))


@pytest.mark.parametrize("carrier", ["sse", "http"])
def test_a_flood_ends_at_the_total(carrier: str) -> None:
    """A server that never ends its answer: output for ever."""
    piece = pieces_of(carrier, Event("stdout", 7, b"x" * 1000))[0]

    def endless() -> Iterable[bytes]:
        while True:
            yield bytes(piece)

    with pytest.raises(hookless.LimitExceeded, match="total"):
        asyncio.run(serve(endless, lambda address: fetch(address, decoder_of(carrier, total=100_000))))


@pytest.mark.parametrize("carrier", ["sse", "http"])
def test_c157_two_connections_at_once(carrier: str) -> None:
    """Each has a decoder of its own."""
    pieces = pieces_of(carrier, *KINDS)

    async def twice(address: str) -> list[list[Event]]:
        return await asyncio.gather(*(fetch(address, decoder_of(carrier)) for _ in range(4)))

    for found in asyncio.run(serve(lambda: pieces, twice)):
        assert [event.kind for event in found] == [one.kind for one in KINDS]
        assert_same(found[2].value, LARGE)


def test_the_example_runs() -> None:
    """What is reported of an event stream of pickles, without them."""
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "result    (0, 1, 4, 9) and 1000000 bytes"
    assert lines[1].endswith("'square of 3']")
    assert lines[2].startswith("exception LookupError ('no such row', 7) from")
    assert lines[3] == "cancelled call 3"
    codes = [line.split(": ")[:2] for line in lines[4:]]
    assert [(name, error.split()[1]) for name, error in codes] == [
        ("pickle", "bad_magic"),
        ("twice", "unknown_call"),
        ("another call", "unknown_call"),
        ("torn", "truncated"),
        ("endless line", "text_limit"),
    ]
