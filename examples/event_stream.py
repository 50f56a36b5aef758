"""Calls over HTTP whose replies are server-sent events of frames; it starts event_server.py for itself.

The host's side is `call`: an open call, its events as they come, one outcome. See CARRIERS.md.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

import hookless
from hookless import http, sse

FRAMES = {"Content-Type": http.MEDIA_TYPE}
LIMITS = hookless.Limits(body=64 << 20)


class Cancelled(Exception):
    """The server says that the call was cancelled."""


async def post(session: aiohttp.ClientSession, path: str, value: object) -> AsyncIterator[bytes]:
    """Send one frame; yield the body of the answer as it comes."""
    async with session.post(path, data=hookless.dumps(value), headers=FRAMES) as response:
        response.raise_for_status()
        async for chunk in response.content.iter_any():
            yield chunk


async def call(
    session: aiohttp.ClientSession,
    number: int,
    request: object,
    *,
    path: str = "/call",
    show: Callable[[bytes], object] = lambda data: None,
) -> Any:
    """Make a call, and return its result.

    Raises RemoteError for what the call raised, Cancelled, and HooklessError for an answer that is none.
    """
    decoder = sse.Decoder(calls=[number], limits=LIMITS, total=256 << 20)
    outcome = None
    async for chunk in post(session, path, request):
        for event in decoder.feed(chunk):
            if event.kind in ("stdout", "stderr"):
                show(event.value)
            else:
                outcome = event
    decoder.finish()
    assert outcome is not None, "finish() says so otherwise"
    if outcome.kind == "cancelled":
        raise Cancelled
    if outcome.kind == "exception":
        raise outcome.value
    return outcome.value


@asynccontextmanager
async def server() -> AsyncIterator[str]:
    """Start the server; give its address."""
    path = Path(__file__).with_name("event_server.py")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, str(path), stdin=pipe, stdout=pipe)
    assert process.stdin is not None and process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.stdin.close()
        await process.wait()


async def honest(session: aiohttp.ClientSession) -> None:
    """A result, a failure, and a call that is cancelled."""
    said: list[bytes] = []
    result = await call(session, 1, (1, "squares", (4,)), show=said.append)
    print("result   ", result["squares"], "and", len(result["raw"]), "bytes")
    print("stdout   ", b"".join(said).decode().splitlines())
    try:
        await call(session, 2, (2, "fails", ()))
    except hookless.RemoteError as error:
        print("exception", error.remote.type_name, error.remote.args, "from", error.remote.cause)
    started = asyncio.Event()
    task = asyncio.create_task(call(session, 3, (3, "sleeps", ()), show=lambda data: started.set()))
    await started.wait()
    async for _ in post(session, "/cancel", 3):
        pass
    try:
        await task
    except Cancelled:
        print("cancelled call 3")


async def main() -> None:
    """Show what arrives."""
    async with server() as address, aiohttp.ClientSession(address) as session:
        await honest(session)
        for number, trick in enumerate(("pickle", "twice", "another call", "torn", "endless line"), start=10):
            try:
                await call(session, number, (number, trick), path="/hostile")
            except hookless.HooklessError as error:
                print(f"{trick}: {type(error).__name__} {error}")


if __name__ == "__main__":
    asyncio.run(main())
