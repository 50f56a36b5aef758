"""The slots of an executor: threads that do tasks of one queue, each with a child of its own.

A slot knows its pool and not the executor, so that the executor can be collected while children run.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from hookless.process import Configured, Worker

__all__ = ["Pool", "Task"]

# A task's future, the target by name, and the arguments by place and by name.
Task: TypeAlias = tuple[Future[Any], str, tuple[object, ...], dict[str, Any]]

# Slots of all pools. A key is added and removed in one step of the interpreter: no lock has to survive a
# fork, and none can be held by the collector's victim.
_running: dict[Slot, Pool] = {}
_exiting = False


class Slot(threading.Thread):
    """A thread that does tasks of a pool."""

    def __init__(self, pool: Pool, name: str) -> None:
        super().__init__(name=name)
        self._pool = pool
        # CPython up to 3.12 takes a thread for ended when an interrupt comes to one that joins it.
        self._over = threading.Event()

    def run(self) -> None:
        """Do tasks until there are none any more."""
        try:
            self._pool.serve()
        finally:
            self._over.set()
            _running.pop(self, None)

    def wait(self) -> None:
        """Wait until the slot and its child are gone."""
        self._over.wait()
        self.join()


class Pool:
    """Tasks, and the slots that do them. The executor calls `add` and `cancel` one at a time."""

    def __init__(
        self, name: str, start: Callable[[], Worker], deadline: float | None, *, fresh: bool
    ) -> None:
        self.name, self._start, self._deadline, self._fresh = name, start, deadline, fresh
        self.closed = False
        self.slots: list[Slot] = []
        # None ends a slot. To put is safe in a destructor that interrupts another put.
        self._queue: SimpleQueue[Task | None] = SimpleQueue()
        # Slots that wait for a task that is not queued yet.
        self._idle = threading.Semaphore(0)
        self._stopping = False
        self._workers: dict[int, Worker] = {}

    @property
    def is_late(self) -> bool:
        """Whether the interpreter is about to exit."""
        return _exiting

    def add(self, task: Task, most: int) -> None:
        """Queue a task; starts another slot if none is idle and there may be more."""
        # A callback of a future runs in a slot that counts as idle; it may wait for what it submits.
        inside = threading.current_thread() in self.slots
        if (inside or not self._idle.acquire(blocking=False)) and len(self.slots) < most:
            slot = Slot(self, f"{self.name}_{len(self.slots)}")
            slot.start()
            self.slots.append(slot)
            _running[slot] = self
            if _exiting:  # Either this is seen here, or the slot was seen there.
                self.end()
        self._queue.put(task)

    def cancel(self) -> None:
        """Cancel what waits in the queue."""
        with contextlib.suppress(Empty):
            while True:
                task = self._queue.get_nowait()
                # One that is cancelled already is only told so.
                if task is not None and task[0].cancel():
                    task[0].set_running_or_notify_cancel()

    def end(self) -> None:
        """Let the slots end when the queue is empty."""
        self._queue.put(None)

    def stop(self) -> None:
        """End the children now; what they were doing fails."""
        self._stopping = True
        for worker in list(self._workers.values()):
            worker.close()

    def serve(self) -> None:
        """Be a slot: do tasks until there is none any more, then end the child and wake the next slot."""
        number = threading.get_ident()
        try:
            while (task := self._queue.get()) is not None:
                self._do(number, *task)
                # Arguments and result are let go before the next task comes.
                del task
        finally:
            self.end()
            self._drop(number)

    def _do(
        self, number: int, future: Future[Any], name: str, args: tuple[object, ...], kwargs: dict[str, Any]
    ) -> None:
        """Do one task. No outcome of it, of any kind, ends the slot."""
        if not future.set_running_or_notify_cancel():
            self._idle.release()
            return
        value, error = self._outcome(number, name, args, kwargs)
        worker = self._workers.get(number)
        over = self._fresh or self._stopping or worker is None or not worker.is_alive
        if not over:
            # Before the outcome is seen: what is submitted then finds this slot, and starts no other child.
            self._idle.release()
        # Who set an outcome from outside has broken a rule of futures, but this slot has to go on.
        with contextlib.suppress(InvalidStateError):
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)
        del future, value, error, worker, args, kwargs
        if over:
            self._drop(number)
            self._idle.release()

    def _outcome(
        self, number: int, name: str, args: tuple[object, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, BaseException | None]:
        """Return the result of a task, or what it failed with; its traceback does not hold the future."""
        try:
            return self._child(number).call(name, *args, **kwargs), None
        except BaseException as error:  # noqa: BLE001 (it is the outcome of the task)
            return None, error

    def _child(self, number: int) -> Configured[Any]:
        """Return the child of a slot, in the place of one that has died since its last task."""
        worker = self._workers.get(number)
        if worker is None or not worker.is_alive:
            self._drop(number)
            worker = self._workers[number] = self._start()
            if self._stopping:
                worker.close()
        return worker.options(deadline=self._deadline)

    def _drop(self, number: int) -> None:
        worker = self._workers.pop(number, None)
        if worker is not None:
            worker.close()

    def disown(self) -> None:
        """Let go of the children in a fork of the process that they belong to."""
        self.closed = True
        for worker in self._workers.values():
            # The thread that was in the midst of a call is not there to let go of it.
            with contextlib.suppress(Exception):
                worker.close()
        self._workers.clear()


def _at_exit() -> None:
    """Let every slot do what is queued, and end: the interpreter waits for their threads otherwise."""
    global _exiting
    _exiting = True
    found = list(_running.items())
    for _, pool in found:
        pool.end()
    for slot, _ in found:
        slot.wait()


def _in_fork() -> None:
    for pool in set(_running.values()):
        pool.disown()
    _running.clear()


# Before the interpreter joins its threads: `atexit` is too late for that. `concurrent.futures` does the same.
threading._register_atexit(_at_exit)  # type: ignore[attr-defined]
os.register_at_fork(after_in_child=_in_fork)
