"""Coroutines and asynchronous generators of calls, as tasks of one loop that lasts as long as the child.

Loaded with the first of them. The loop runs while there is nothing plain to do, and stands still otherwise.
"""

from __future__ import annotations

import asyncio
import select
from contextvars import copy_context
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from hookless._calls import CURRENT
from hookless._safe import inherits

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookless._calls import Call
    from hookless._driver import Driver

__all__ = ["Tasks"]

# Seconds that tasks have to clean up when the session has ended.
_PATIENCE = 1.0


class Tasks:
    """The loop, and a task for each call that has one."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.loop = asyncio.new_event_loop()
        self._descriptor = driver.channel.fileno()
        self.loop.add_reader(self._descriptor, self._guarded, self._take)
        self._open: set[Call] = set()
        # What went wrong in a callback, where asyncio would only log it.
        self._error: BaseException | None = None

    def is_closed(self) -> bool:
        """Whether foreign code has closed the loop, and no call waits to be told of it."""
        return self.loop.is_closed() and not self._open

    def has_open(self) -> bool:
        """Whether a call waits for its task."""
        return bool(self._open)

    def has_any(self) -> bool:
        """Whether there is a task at all: those that foreign code has left behind go on as well."""
        return bool(self._open) or (not self.loop.is_closed() and bool(asyncio.all_tasks(self.loop)))

    def is_host_gone(self) -> bool:
        """Whether the stream has ended; what it holds is not taken."""
        # Its own each time: a signal handler asks, and may come while another one does.
        ends = select.poll()
        ends.register(self._descriptor, select.POLLRDHUP)
        return bool(ends.poll(0))

    def start(self, call: Call, what: Any) -> None:
        """Make a coroutine, or the items of an asynchronous iterator, the task of a call."""
        context = copy_context()
        context.run(CURRENT.set, call)
        coroutine = what if type(what) is CoroutineType else self._stream(call, what)
        try:
            task = self.loop.create_task(coroutine, context=context)
        except BaseException:
            coroutine.close()
            raise
        call.task = task
        self._open.add(call)
        task.add_done_callback(lambda task: self._guarded(self._finish, call, task))
        if call.cancelled:
            task.cancel()

    def run(self, *, once: bool = False) -> None:
        """Run the loop until there is something else to do, or only for what can be done at once."""
        driver = self.driver
        driver.in_loop = True
        try:
            # After the flag: a thread that has not seen it has left its entry before. And what the channel
            # holds already makes no descriptor readable.
            driver.post()
            self._take()
            if once:
                self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()
        except BaseException as error:
            # asyncio lets SystemExit and KeyboardInterrupt of any task out; a call's own has its outcome. And
            # RuntimeError says that foreign code has closed the loop, here or for a CANCEL in `_take`.
            if driver.is_end(error):
                raise
            if isinstance(error, OSError):
                # It has closed descriptors of the loop, which can wait for nothing any more.
                self._abandon()
        finally:
            driver.in_loop = False
        if self._error is not None:
            raise self._error
        if self.loop.is_closed():
            self._give_up()

    def nudge(self) -> None:
        """Have the loop post what another thread has left."""
        try:
            self.loop.call_soon_threadsafe(self._guarded, self.driver.post)
        except RuntimeError:
            pass  # Foreign code has closed the loop; `run` will see.

    def close(self) -> None:
        """Cancel what is left, give it a moment to clean up, and close the loop."""
        if self.loop.is_closed():
            return
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                self.loop.run_until_complete(asyncio.wait(tasks, timeout=_PATIENCE))
        except BaseException:  # noqa: BLE001 (whatever foreign code does, this is the end)
            pass
        finally:
            self.loop.close()

    def _guarded(self, action: Callable[..., None], *arguments: Any) -> None:
        try:
            action(*arguments)
        except BaseException as error:  # noqa: BLE001 (raised again by `run`)
            self._error = error
            self.loop.stop()

    def _take(self) -> None:
        """Take frames, and leave the loop if the driver has something else to do."""
        driver = self.driver
        driver.collect()
        driver.follow()
        if driver.ready or driver.ended or (driver.shut and not driver.calls):
            self.loop.stop()

    def _finish(self, call: Call, task: asyncio.Task[Any]) -> None:
        """Send the outcome of a task that is done."""
        self._open.discard(call)
        try:
            call.error = task.exception()
            if call.error is None:
                call.value = task.result()
        except asyncio.CancelledError as cancelled:
            call.error = cancelled
        is_cancelled = call.cancelled and inherits(call.error, asyncio.CancelledError)
        self.driver.finish(call, is_cancelled=is_cancelled)
        self._take()
        if not self._open:
            self.loop.stop()

    def _abandon(self) -> None:
        """Close what is left of the loop."""
        try:
            self.loop.close()
        except OSError:
            # For the same reason, and then it is not marked as closed.
            assert isinstance(self.loop, asyncio.BaseEventLoop)
            asyncio.BaseEventLoop.close(self.loop)

    def _give_up(self) -> None:
        """Foreign code has closed the loop."""
        self.driver.tasks = None
        for call in list(self._open):
            call.error = RuntimeError(
                "other code in this child has closed the loop that its coroutines share"
            )
            self.driver.finish(call)

    async def _stream(self, call: Call, source: Any) -> None:
        """Send the items of an asynchronous iterator, one for each credit."""
        try:
            while True:
                while not call.credit:
                    await self._credit(call)
                try:
                    item = await anext(source)
                except StopAsyncIteration:
                    return
                if call.cancelled:
                    # It has swallowed what cancelled it.
                    raise asyncio.CancelledError
                call.credit -= 1
                self.driver.channel.item(call.id, item)
                del item
                self._take()
                # One that never waits would keep all others from going on.
                await asyncio.sleep(0)
        except BaseException as error:
            try:
                await _close(source)
            except BaseException as other:
                # While it is cancelled this is what is to be told, otherwise what came first.
                if call.cancelled and not inherits(other, GeneratorExit):
                    raise other from None
            raise error

    async def _credit(self, call: Call) -> None:
        call.waiter = self.loop.create_future()
        try:
            await call.waiter
        finally:
            call.waiter = None


async def _close(source: Any) -> None:
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()
