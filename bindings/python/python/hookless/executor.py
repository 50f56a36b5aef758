"""`Executor`: sandboxed children behind the interface of `concurrent.futures`."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Any, TypedDict, Unpack

from hookless._builders import Errors
from hookless._hookless import Limits
from hookless._launcher import Launcher
from hookless._request import Path, plan, seconds
from hookless._slots import Pool
from hookless._target import Target, check_names, name_of
from hookless.errors import HooklessError
from hookless.process import Worker

__all__ = ["Executor", "WorkerOptions"]

# Children of an executor that is not told how many: a child takes five descriptors, of which a process may
# often have 1024.
_MOST = 61

_numbers = itertools.count()


class WorkerOptions(TypedDict, total=False):
    """The options of `Worker`, as `Executor` passes them on."""

    paths: Iterable[Path]
    isolation: str
    limits: Limits | None
    stall: float
    start_timeout: float
    grace: float
    errors: Errors
    memory: int | None
    cpu_seconds: int | None
    file_size: int | None
    open_files: int | None
    threads: int | None
    launcher: Launcher


class Executor(concurrent.futures.Executor):
    """A pool of sandboxed children, as a `concurrent.futures.Executor`.

    Up to `max_workers` tasks run at a time, each in a child of its own, that is started when it is wanted;
    None: as many as there are processors, and at most 61. A child is kept for later tasks, which it could
    then falsify; with `fresh=True` each task has a new one. `deadline` is that of `Worker.options`, for each
    task, from when it begins in its child. `options` are those of `Worker`.

    What goes wrong with a task is its own future's exception: what the function raised, EncodeError, a broken
    rule, a deadline, WorkerDied, also when no child could be started for it. A child that died is replaced
    for the next task. No task is run twice, and no failure touches another one.

    When the interpreter exits, it waits for all tasks, as for those of a ThreadPoolExecutor; children end
    with it, and when the executor is collected.

        with hookless.Executor(4, paths=["src"]) as executor:
            for result in executor.map("analysis:fit", inputs):
                ...

    Raises ValueError or TypeError for options that cannot be used.
    """

    __module__ = "hookless"

    def __init__(
        self,
        max_workers: int | None = None,
        *,
        fresh: bool = False,
        deadline: float | None = None,
        **options: Unpack[WorkerOptions],
    ) -> None:
        if max_workers is None:
            max_workers = min(_MOST, os.cpu_count() or 1)
        if isinstance(max_workers, bool) or not isinstance(max_workers, int):
            raise TypeError(f"max_workers is an int, not a {type(max_workers).__name__}")
        if max_workers < 1:
            raise ValueError(f"max_workers is 1 or more, not {max_workers}")
        unknown = options.keys() - WorkerOptions.__annotations__.keys()
        if unknown:
            raise TypeError(f"Worker has no option {', '.join(sorted(unknown))}")
        if deadline is not None:
            deadline = seconds("deadline", deadline)
        if "paths" in options:
            # One iterator would be empty for the second child.
            paths = options["paths"]
            options["paths"] = paths if isinstance(paths, str | bytes | os.PathLike) else list(paths)
        defaults: dict[str, Any] = Worker.__init__.__kwdefaults__ or {}
        plan(**{**defaults, **options})
        self._most, self._process = max_workers, os.getpid()
        self._lock = threading.RLock()
        name = f"hookless-{next(_numbers)}"
        self._pool = Pool(name, lambda: Worker(**options), deadline, fresh=fresh)

    def submit(self, fn: Target, /, *args: object, **kwargs: object) -> Future[Any]:
        """Have a function called in a child: `fn` and the arguments are those of `Worker.call`.

        They are encoded when the task begins. Raises ValueError or TypeError for what names no function, and
        RuntimeError after `shutdown`.
        """
        check_names("keyword arguments", kwargs)
        name = name_of(fn)
        if os.getpid() != self._process:
            raise HooklessError(
                "this executor belongs to the process that was forked from: make one in this process"
            )
        with self._lock:
            if self._pool.closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if self._pool.is_late:
                raise RuntimeError("cannot schedule new futures after interpreter shutdown")
            future: Future[Any] = Future()
            self._pool.add((future, name, args, kwargs), self._most)
            # The exit may have come in between, and the slots may be gone.
            if self._pool.is_late and future.cancel():
                raise RuntimeError("cannot schedule new futures after interpreter shutdown")
            return future

    def map(
        self, fn: Target, *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[Any]:
        """Return the results of calls with an item of each iterable, in order, as they come.

        A result that is not there `timeout` seconds after this call raises TimeoutError. `chunksize` changes
        nothing: each call is a task. A failure is raised in its turn, and cancels what has not begun.
        """
        return super().map(fn, *iterables, timeout=timeout, chunksize=chunksize)  # type: ignore[arg-type]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks, and end each child when there is nothing left for it to do. Twice is fine.

        With `wait` this returns when the children are gone. `cancel_futures` cancels what has not begun.
        """
        if os.getpid() != self._process:
            return  # In a fork, which has let go of the children.
        with self._lock:
            self._pool.closed = True
            if cancel_futures:
                self._pool.cancel()
            self._pool.end()
        if wait:
            for slot in self._pool.slots:
                # A callback of a future runs in a slot, which cannot wait for itself.
                if slot is not threading.current_thread():
                    slot.wait()

    def terminate_workers(self) -> None:
        """Take no more tasks, cancel what has not begun, and end the children now.

        Tasks that run fail with a HooklessError.
        """
        self.shutdown(wait=False, cancel_futures=True)
        if os.getpid() == self._process:
            self._pool.stop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Do as `shutdown` does; an interrupt, such as Ctrl-C, ends the tasks and does not wait for them."""
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.terminate_workers()
        self.shutdown(wait=True)

    def __del__(self) -> None:
        pool: Pool | None = getattr(self, "_pool", None)
        if pool is not None:
            pool.end()

    def __repr__(self) -> str:
        state = "closed" if self._pool.closed else "open"
        return f"<hookless.Executor, up to {self._most} children, {state}>"
