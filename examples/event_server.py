"""The side that is not trusted: a web server that runs functions, and tells by events how that goes.

It is started by event_stream.py, and prints its port. What it sends are the events of `hookless.sse`: no
pickle, and no line that a result could be too long for.
"""

import asyncio
import contextvars
import io
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

import hookless
from hookless import sse

Queue = asyncio.Queue[sse.Event]

OPEN: dict[int, asyncio.Task[None]] = {}
OUTPUT: contextvars.ContextVar[tuple[int, Queue]] = contextvars.ContextVar("OUTPUT")


class Tee(io.TextIOBase):
    """Standard output: what is printed is an event of the call that prints it."""

    def write(self, text: str) -> int:
        number, queue = OUTPUT.get()
        queue.put_nowait(sse.Event("stdout", number, text.encode()))
        return len(text)


async def squares(count: int) -> dict[str, Any]:
    """An honest function: prints, and returns what JSON cannot hold."""
    for number in range(count):
        print("square of", number)
        await asyncio.sleep(0)
    return {"squares": tuple(number**2 for number in range(count)), "raw": b"\x00" * 1_000_000}


async def fails() -> None:
    """Raises, with a cause."""
    try:
        dict[str, int]()["key"]
    except KeyError as error:
        raise LookupError("no such row", 7) from error


async def sleeps() -> None:
    """Does not end by itself."""
    print("sleeping")
    await asyncio.sleep(3600)


FUNCTIONS: dict[str, Callable[..., Awaitable[object]]] = {
    "squares": squares,
    "fails": fails,
    "sleeps": sleeps,
}


async def outcome(number: int, name: str, args: tuple[Any, ...], queue: Queue) -> None:
    """Run a function as a call; the last event is its outcome."""
    OUTPUT.set((number, queue))
    try:
        event = sse.Event("result", number, await FUNCTIONS[name](*args))
        hookless.encode(event.value)
    except asyncio.CancelledError:
        event = sse.Event("cancelled", number)
    except Exception as error:  # what cannot be sent is a failure as well
        event = sse.Event("exception", number, error)
    queue.put_nowait(event)


async def call(request: web.Request) -> web.StreamResponse:
    """POST /call: a frame of (number, name, arguments); the answer is a stream of events."""
    number, name, args = hookless.loads(await request.read())
    queue: Queue = asyncio.Queue()
    OPEN[number] = asyncio.create_task(outcome(number, name, args, queue))
    response = web.StreamResponse(headers={"Content-Type": sse.MEDIA_TYPE, "Cache-Control": "no-store"})
    await response.prepare(request)
    kind = "stdout"
    while kind in ("stdout", "stderr"):
        event = await queue.get()
        kind = event.kind
        for piece in sse.encode(event):
            await response.write(piece)
    del OPEN[number]
    return response


async def cancel(request: web.Request) -> web.Response:
    """POST /cancel: a frame of the call's number."""
    OPEN[hookless.loads(await request.read())].cancel()
    return web.Response()


async def hostile(request: web.Request) -> web.Response:
    """POST /hostile: what a server can try that has been taken over; the frame names the trick."""
    number, trick = hookless.loads(await request.read())
    result = b"".join(sse.encode(sse.Event("result", number, "fine")))
    answers = {
        "pickle": b"event: result\nid: %d\ndata: gASVIgAAAAAAAACMCGJ1aWx0aW5z\n\n" % number,
        "twice": result + result,
        "another call": b"".join(sse.encode(sse.Event("result", number + 1, "not asked for"))),
        "torn": result[:-10],
        "endless line": b"data: " + b"A" * 1_000_000,
    }
    return web.Response(body=answers[trick], content_type=sse.MEDIA_TYPE)


async def main() -> None:
    """Serve until standard input ends."""
    app = web.Application(client_max_size=1 << 30)
    app.add_routes([web.post("/call", call), web.post("/cancel", cancel), web.post("/hostile", hostile)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    sys.stdout = Tee()
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
