"""Work that would keep an event loop waiting, in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["in_thread"]

_T = TypeVar("_T")


def in_thread(work: Callable[[], _T], undo: Callable[[_T], object] | None = None) -> asyncio.Future[_T]:
    """Run something in a thread of its own; `undo` is given what comes of it if nobody waits any more."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 (raised again by who waits)
            # Without this frame, which holds the future that is to hold the error.
            below = error.__traceback__.tb_next if error.__traceback__ is not None else None
            tell(fail, error.with_traceback(below))
        else:
            if not tell(finish, result) and undo is not None:
                undo(result)

    def tell(how: Callable[[Any], None], what: Any) -> bool:
        try:
            loop.call_soon_threadsafe(how, what)
        except RuntimeError:  # The loop is closed.
            return False
        return True

    def finish(result: _T) -> None:
        if not future.done():
            future.set_result(result)
        elif undo is not None:
            threading.Thread(target=undo, args=(result,)).start()

    def fail(error: BaseException) -> None:
        if not future.done():
            future.set_exception(error)

    threading.Thread(target=run, name="hookless").start()
    return future
