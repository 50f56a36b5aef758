"""`hookless.streams` over real connections of asyncio."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import hookless
from carried import HOSTILE, LARGE, SHORT, accepted, check_value, limits_at, refused
from hookless import dumps
from hookless.streams import FrameReader, FrameWriter
from same import assert_same
from test_vectors import check_refusal

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def connect(peer: Peer, use: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]]) -> Any:
    """Run `use` at one end of a connection whose other end `peer` has; give what it returns."""

    async def main() -> Any:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await peer(reader, writer)
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            return await use(reader, writer)
        finally:
            writer.close()
            server.close()
            await server.wait_closed()

    return asyncio.run(main())


def sent(data: bytes, size: int = 1 << 20) -> Peer:
    """A peer that sends some bytes, so many at a time, and closes the connection."""

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await writer.drain()
            await asyncio.sleep(0)

    return peer


def values_of(data: bytes, size: int = 1 << 20, **options: Any) -> list[Any]:
    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[Any]:
        return [value async for value in FrameReader(reader, **options)]

    found: list[Any] = connect(sent(data, size), use)
    return found


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    values = FrameWriter(writer)
    async for value in FrameReader(reader):
        await values.write(value)


def test_every_accepted_frame() -> None:
    """Back and forth."""
    known = accepted()

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        values = FrameReader(reader)
        for vector in known:
            writer.write(vector.frame)
            check_value(vector, await values.read())

    connect(echo, use)


def test_every_refused_frame() -> None:
    for vector in refused():
        with pytest.raises(hookless.DecodeError) as caught:
            values_of(vector.frame)
        check_refusal(caught.value, vector.code, vector.offset)


@pytest.mark.parametrize("size", [1, 33, 70_000])
def test_any_chunks(size: int) -> None:
    value = LARGE if size > 1 else ["short", 1]
    assert_same(values_of(dumps(value) * 3, size), [value] * 3)


@pytest.mark.parametrize("size", [70_000, 5_000_000])
def test_c160_no_line_and_no_limit_on_one(size: int) -> None:
    """Without a newline, through a StreamReader whose own limit is 64 KiB; both ways."""
    value = ["x" * size, b"y" * size]

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        write = asyncio.create_task(FrameWriter(writer).write(value))
        found = await FrameReader(reader).read()
        await write
        return found

    assert b"\n" not in dumps(value)
    assert_same(connect(echo, use), value)


def test_torn_at_every_byte() -> None:
    """The value before it, then Truncated where the bytes end; and again for who asks again."""

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> hookless.Truncated:
        values = FrameReader(reader)
        assert await values.read() == ["short", 1]
        with pytest.raises(hookless.Truncated) as caught:
            await values.read()
        with pytest.raises(hookless.Truncated) as again:
            await values.read()
        assert caught.value is again.value or caught.value.offset == 0
        return caught.value

    for cut in range(len(SHORT)):
        check_refusal(connect(sent(SHORT + SHORT[:cut]), use), "truncated", cut)


@pytest.mark.parametrize(
    ("name", "data", "code"), [one for one in HOSTILE if one[0] not in ("empty", "trailing")]
)
def test_what_is_no_frame(name: str, data: bytes, code: str) -> None:
    with pytest.raises(hookless.DecodeError) as caught:
        values_of(data)
    assert caught.value.code == code and not hasattr(builtins, "unpickled")


def test_dead_after_an_error() -> None:
    """The place is lost: a frame that follows is not looked for."""

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        values = FrameReader(reader)
        for _ in range(2):
            with pytest.raises(hookless.DecodeError, match="bad_magic"):
                await values.read()

    connect(sent(b"HKLT" + SHORT), use)


def test_limits_at_and_past() -> None:
    frame, at, past = limits_at()
    assert values_of(frame * 3, limits=at) == ["x" * 100] * 3
    with pytest.raises(hookless.LimitExceeded) as caught:
        values_of(frame, limits=past)
    check_refusal(caught.value, "body_limit", 16)


def test_nothing_is_read_past_the_frame() -> None:
    """What follows it may be another protocol's."""

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[Any, bytes]:
        return await FrameReader(reader).read(), await reader.read()

    assert connect(sent(SHORT + b"HTTP/1.1"), use) == (["short", 1], b"HTTP/1.1")


def test_a_deadline_loses_nothing() -> None:
    """A read that is cancelled in the midst of a frame goes on there; another task meanwhile is told so."""
    go = asyncio.Event()

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in (SHORT[:36], SHORT[36:] + dumps(2)):
            writer.write(part)
            await go.wait()

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        values = FrameReader(reader)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await values.read()
        waiting = asyncio.create_task(values.read())
        await asyncio.sleep(0)
        with pytest.raises(hookless.ProtocolError, match="busy"):
            await values.read()
        go.set()
        assert await waiting == ["short", 1]
        assert await values.read(type=int) == 2

    connect(peer, use)


def test_as_a_type() -> None:
    """A value that does not fit is gone, and the stream goes on."""

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        values = FrameReader(reader)
        with pytest.raises(hookless.DecodeError, match="type_mismatch"):
            await values.read(type=list[int])
        assert await values.read(type=list[str | int]) == ["short", 1]

    connect(sent(SHORT * 2), use)


def test_many_tasks_write() -> None:
    """Their frames do not mix, and keep the order of each task (C156)."""

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        values, back = FrameWriter(writer), FrameReader(reader)

        async def write(task: int) -> None:
            for number in range(10):
                await values.write((task, number, b"x" * (number * 60_000)))

        writing = asyncio.gather(*map(write, range(4)))
        seen: dict[int, list[int]] = {}
        for _ in range(40):
            task, number, data = await back.read()
            assert data == b"x" * (number * 60_000)
            seen.setdefault(task, []).append(number)
        await writing
        assert seen == {task: list(range(10)) for task in range(4)}

    connect(echo, use)


def test_a_write_that_is_cut_short() -> None:
    """The peer does not read; a deadline ends the write, and with it the connection."""
    ended = asyncio.Event()
    got: list[BaseException] = []

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()
        try:
            await FrameReader(reader).read()
        except (hookless.Truncated, ConnectionError) as error:
            got.append(error)

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        values = FrameWriter(writer)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await values.write(b"x" * 50_000_000)
        ended.set()
        with pytest.raises(hookless.ProtocolError, match="unexpected_frame"):
            await values.write(1)
        while not got:
            await asyncio.sleep(0.01)

    connect(peer, use)


def test_what_cannot_be_sent() -> None:
    """Nothing of it is written."""

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        values, back = FrameWriter(writer), FrameReader(reader)
        with pytest.raises(hookless.EncodeError):
            await values.write([1, object()])
        await FrameWriter(writer, default=lambda value: "instead").write([1, object()])
        assert await back.read() == [1, "instead"]

    connect(echo, use)
