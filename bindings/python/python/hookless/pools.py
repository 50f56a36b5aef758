"""A context of multiprocessing with which the standard `ProcessPoolExecutor` gets its results as frames.

    with ProcessPoolExecutor(2, mp_context=pool_context()) as executor:
        executor.submit(math.sqrt, 2.0).result()

The executor's own queue of results is unpickled in the host. This one is not: results are values of the
closed set, failures arrive as RemoteError. It is no sandbox, and one child can stop the pool or answer for
another; `hookless.Executor` has neither gap. See CARRIERS.md.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures.process import _ResultItem
from multiprocessing import context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Literal

from hookless import Limits, RemoteError, encode
from hookless._framing import OneFrame
from hookless.errors import ProtocolError, Stalled

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["pool_context"]

# At most so much is asked of the pipe at once.
_CHUNK = 1 << 18


def pool_context(
    method: Literal["spawn", "forkserver"] = "spawn", *, limits: Limits | None = None, stall: float = 30.0
) -> context.BaseContext:
    """Return a context for `ProcessPoolExecutor(mp_context=)`, and for one executor alone.

    method: how children start; "fork" would hand them a copy of the host. limits: of each result. stall:
    seconds that a result which has begun may stand still, and a child go on that says it exits; then, and
    when what comes is no result, the pool is broken, as it is when a child dies, and its children are killed.
    Raises ValueError for another method.
    """
    if method not in _PROCESSES:
        raise ValueError(f"{method!r}: children are started by spawn or forkserver")
    made = type(multiprocessing.get_context(method))()
    processes: list[BaseProcess] = []

    def process(*args: Any, **kwargs: Any) -> BaseProcess:
        one = _PROCESSES[method](*args, **kwargs)
        processes.append(one)
        return one

    vars(made).update(
        Process=process, SimpleQueue=lambda: _ResultQueue(made, limits or Limits(), stall, processes)
    )
    return made


class _Spawned(context.SpawnProcess):
    """A child that the executor can end: what it does when the pool is broken waits for each without end."""

    def terminate(self) -> None:
        self.kill()


class _OfForkserver(context.ForkServerProcess):
    """The same."""

    def terminate(self) -> None:
        self.kill()


_PROCESSES: dict[str, Callable[..., BaseProcess]] = {"spawn": _Spawned, "forkserver": _OfForkserver}


class _Results:
    """The host's end of the pipe. The executor waits for it to be readable, and calls `recv`."""

    def __init__(
        self, pipe: Connection[Any, Any], limits: Limits, stall: float, processes: list[BaseProcess]
    ) -> None:
        self._pipe, self._limits, self._stall, self._processes = pipe, limits, stall, processes

    def fileno(self) -> int:
        return self._pipe.fileno()

    def close(self) -> None:
        self._pipe.close()

    def recv(self) -> object:
        """Return one of the executor's result items. What is raised here breaks the pool."""
        value = self._frame()
        if type(value) is not tuple or [type(part) for part in value[:2]] != [str, int] or len(value) != 4:
            raise ProtocolError("what a child of the pool has sent is no result")
        kind, work_id, content, pid = value
        if pid is not None:
            self._leaves(pid)
        if kind == "exit" and pid is not None:
            return pid
        if kind == "result":
            return _ResultItem(work_id, result=content, exit_pid=pid)
        if kind == "exception" and isinstance(content, RemoteError):
            return _ResultItem(work_id, exception=content, exit_pid=pid)
        raise ProtocolError("what a child of the pool has sent is no result")

    def _leaves(self, pid: object) -> None:
        """Take a child's word that it exits; no other process's number, and none a second time.

        The executor waits for its end without end, so it is waited for here.
        """
        known = [one for one in self._processes if type(pid) is int and one.pid == pid]
        if not known:
            raise ProtocolError(
                "a child of the pool spoke of a process that is none of it", code="unknown_call"
            )
        self._processes.remove(known[0])
        if not wait([known[0].sentinel], self._stall):
            raise Stalled("a child of the pool has said that it exits, and goes on")

    def _frame(self) -> Any:
        incoming = OneFrame(self._limits)
        while True:
            if not wait([self._pipe], self._stall):
                raise Stalled("a result of the pool has begun, and stands still")
            chunk = os.read(self._pipe.fileno(), min(incoming.wanted, _CHUNK))
            frame = incoming.take(chunk)
            if frame is not None:
                return frame.value
            if not chunk:
                raise EOFError  # as a Connection: nobody has the other end


class _ResultQueue:
    """What the executor takes for its queue of results."""

    def __init__(
        self, made: context.BaseContext, limits: Limits, stall: float, processes: list[BaseProcess]
    ) -> None:
        reader, self._writer = made.Pipe(duplex=False)
        self._reader = _Results(reader, limits, stall, processes)
        self._lock = made.Lock()
        self._limits = {name: getattr(limits, name) for name in Limits.TABLE}

    def __getstate__(self) -> object:
        """For the child, while it is started: it gets no end to read from."""
        context.assert_spawning(self)
        return (self._writer, self._lock, self._limits)

    def __setstate__(self, state: Any) -> None:
        self._writer, self._lock, self._limits = state

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def put(self, item: Any) -> None:
        """Child: send a result item, or the process's number before it exits. Raises EncodeError."""
        parts = encode(_described(item), limits=Limits(**self._limits))
        with self._lock:
            for part in parts:
                view = memoryview(part).cast("B")
                while view:
                    view = view[os.write(self._writer.fileno(), view) :]


def _described(item: Any) -> tuple[str, int, object, int | None]:
    if isinstance(item, int):
        return ("exit", 0, None, item)
    if item.exception is None:
        return ("result", item.work_id, item.result, item.exit_pid)
    error, trace = item.exception.exc, item.exception.tb
    # The executor has taken its traceback off, and kept the text.
    BaseException.add_note(error, trace.strip().strip('"').strip())
    return ("exception", item.work_id, error, item.exit_pid)
