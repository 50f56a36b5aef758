"""`Executor` is what `concurrent.futures` says of one, with children for threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import math
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future
from pathlib import Path
from typing import Any

import pytest

import hookless
from conftest import LANDLOCK_UNWANTED
from hookless import Executor, RemoteError
from hookless.executor import WorkerOptions

# Far above what anything here takes.
PATIENCE = 60.0


@pytest.fixture
def two(children: str) -> Iterator[Executor]:
    with Executor(2, paths=[children], isolation="none") as executor:
        yield executor


def start(children: str, count: int = 1, *, fresh: bool = False) -> Executor:
    return Executor(count, fresh=fresh, paths=[children], isolation="none")


def wait_for(path: Path) -> None:
    """Wait until a child has made a file."""
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("isolation", ["none"] if LANDLOCK_UNWANTED else ["none", "strict"])
def test_a_task(children: str, isolation: str) -> None:
    """Arguments and result are those of a worker's call."""
    with Executor(paths=[children], isolation=isolation) as executor:
        assert isinstance(executor, concurrent.futures.Executor)
        future = executor.submit("jobs:echo", 1, (2,), name={"fn": 3})
        assert type(future) is Future
        assert future.result(PATIENCE) == [[1, (2,)], {"name": {"fn": 3}}]
        assert executor.submit(math.sqrt, 4.0).result(PATIENCE) == 2.0
        # Names that the method itself has for something.
        assert executor.submit("jobs:echo", self=1, fn=2).result(PATIENCE) == [[], {"self": 1, "fn": 2}]


def test_it_is_there_by_its_name_only() -> None:
    """The module is loaded when it is asked for."""
    assert Executor.__module__ == "hookless" and "Executor" in hookless.__all__


def test_options_are_those_of_a_worker() -> None:
    """One list of options stands in two signatures."""
    worker = inspect.signature(hookless.Worker).parameters
    assert list(WorkerOptions.__annotations__) == list(worker)
    # As text, since that is how they are annotated.
    assert [str(kind) for kind in WorkerOptions.__annotations__.values()] == [
        f"ForwardRef({one.annotation!r}, module='hookless.executor')" for one in worker.values()
    ]


@pytest.mark.parametrize("count", [0, -1])
def test_too_few_workers(count: int) -> None:
    """As for the executors of the standard library."""
    with pytest.raises(ValueError, match="max_workers"):
        Executor(count)


@pytest.mark.parametrize("count", ["2", 2.0, True])
def test_workers_are_counted(count: Any) -> None:
    """No text, and no truth."""
    with pytest.raises(TypeError, match="max_workers"):
        Executor(count)


def test_options_that_cannot_be_used() -> None:
    """They are refused here, and not in each future."""
    with pytest.raises(TypeError, match="isolaton"):
        Executor(isolaton="none")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="isolation"):
        Executor(isolation="some")
    with pytest.raises(ValueError, match="deadline"):
        Executor(deadline=-1)
    with pytest.raises(TypeError, match="deadline"):
        Executor(deadline="1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="paths"):
        Executor(paths="src")
    with pytest.raises(FileNotFoundError):
        Executor(paths=["/nowhere/at/all"])


def test_targets_are_checked_at_once(two: Executor) -> None:
    """What could not be called in any child is no task."""
    with pytest.raises(TypeError):
        two.submit(7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="names no function"):
        two.submit("jobs.same")
    with pytest.raises(ValueError, match="inside a function"):
        two.submit(lambda: None)
    with pytest.raises(ValueError, match="surrogate"):
        two.submit("jobs:same", **{"\ud800": 1})
    with pytest.raises(TypeError):
        two.map(7, [1])  # type: ignore[arg-type]


def test_one_bad_task_fails_alone(two: Executor) -> None:
    """Argument, result or function: each is its own future's exception, and the child is kept (C153)."""
    pid = two.submit("jobs:pid").result(PATIENCE)
    bad = [
        two.submit("jobs:same", object()),
        two.submit("jobs:unsendable", "there"),
        two.submit("jobs:fail", "so"),
        two.submit("jobs:no_such_function"),
    ]
    good = [two.submit("jobs:same", number) for number in range(4)]
    assert [future.result(PATIENCE) for future in good] == [0, 1, 2, 3]
    assert isinstance(bad[0].exception(PATIENCE), hookless.EncodeError)
    for future, name in zip(bad[1:], ("hookless.EncodeError", "jobs.Quota", "AttributeError"), strict=True):
        error = future.exception(PATIENCE)
        assert isinstance(error, RemoteError)
        assert error.type_name == name
    assert isinstance(bad[2].exception(), ValueError)  # by its class in the child
    with pytest.raises(ValueError, match="so"):
        bad[2].result()
    assert pid in {two.submit("jobs:pid").result(PATIENCE) for _ in range(4)}


def test_builders(children: str) -> None:
    """`errors` is that of `Worker`."""

    class QuotaError(Exception):
        pass

    built = {"jobs.Quota": lambda failure: QuotaError(*failure.args)}
    with Executor(1, paths=[children], isolation="none", errors=built) as executor:
        error = executor.submit("jobs:fail", "so").exception(PATIENCE)
    assert type(error) is QuotaError and error.args == ("so", 7)


def test_a_child_is_kept(children: str) -> None:
    """Tasks one after another share one child, however many there may be."""
    with start(children, 8) as executor:
        assert len({executor.submit("jobs:pid").result(PATIENCE) for _ in range(20)}) == 1


def test_a_child_for_each_task(children: str) -> None:
    """With `fresh` none sees what another left behind."""
    with start(children, 2, fresh=True) as executor:
        futures = [executor.submit("jobs:Counter.step") for _ in range(4)]
        pids = [executor.submit("jobs:pid") for _ in range(3)]
        assert [future.result(PATIENCE) for future in futures] == [1] * 4
        assert len({future.result(PATIENCE) for future in pids}) == 3
    with start(children) as executor:
        futures = [executor.submit("jobs:Counter.step") for _ in range(4)]
        assert [future.result(PATIENCE) for future in futures] == [1, 2, 3, 4]


def test_paths_from_an_iterator(children: str) -> None:
    """Each child gets them."""
    with Executor(1, fresh=True, paths=iter([children]), isolation="none") as executor:
        assert [executor.submit("jobs:same", 1).result(PATIENCE) for _ in range(2)] == [1, 1]


def test_tasks_run_side_by_side(two: Executor, tmp_path: Path) -> None:
    """Two tasks that wait for each other both end."""
    names = [str(tmp_path / name) for name in "ab"]
    futures = [two.submit("pool:meet", mine, other) for mine, other in (names, reversed(names))]
    assert [future.result(PATIENCE) for future in futures] == [True, True]


def test_wait(two: Executor) -> None:
    """By the standard library's own functions."""
    futures = [two.submit("jobs:same", 1), two.submit("jobs:fail", "so")]
    done, rest = concurrent.futures.wait(futures, PATIENCE)
    assert (done, rest) == (set(futures), set())
    futures = [two.submit("jobs:sleep", 30), two.submit("jobs:fail", "so")]
    done, rest = concurrent.futures.wait(futures, PATIENCE, FIRST_EXCEPTION)
    assert (done, rest) == ({futures[1]}, {futures[0]})
    done, rest = concurrent.futures.wait(futures, 0)
    assert (done, rest) == ({futures[1]}, {futures[0]})
    two.terminate_workers()
    assert type(futures[0].exception(PATIENCE)) is hookless.HooklessError


def test_as_completed(two: Executor, tmp_path: Path) -> None:
    """The one that is done first comes first."""
    mine, other = str(tmp_path / "a"), str(tmp_path / "b")
    waits = two.submit("pool:meet", mine, other)
    first = two.submit("jobs:same", 1)
    found = concurrent.futures.as_completed([waits, first], PATIENCE)
    assert next(found) is first
    Path(other).touch()
    assert list(found) == [waits]


def test_callbacks(two: Executor) -> None:
    """They are called once each; one that raises harms nothing, and one may wait for a task of its own."""
    called: list[object] = []
    over = threading.Event()

    def nested(future: Future[Any]) -> None:
        called.append(future.result())
        called.append(two.submit("jobs:same", 2).result(PATIENCE))
        over.set()

    two.submit("jobs:same", 1).add_done_callback(nested)
    assert over.wait(PATIENCE)
    assert called == [1, 2]
    future = two.submit("jobs:same", 3)
    future.add_done_callback(lambda _: 1 // 0)
    assert future.result(PATIENCE) == 3
    assert two.submit("jobs:same", 4).result(PATIENCE) == 4


def test_shutdown_from_a_callback(children: str) -> None:
    """A slot does not wait for itself."""
    executor = start(children)
    over = threading.Event()

    def close(_: Future[Any]) -> None:
        executor.shutdown()
        over.set()

    executor.submit("jobs:same", 1).add_done_callback(close)
    assert over.wait(PATIENCE)
    executor.shutdown()


def test_map(two: Executor) -> None:
    """In the order of the arguments; the shortest iterable ends it."""
    assert list(two.map("pool:later", [0.3, 0.0, 0.1], range(9))) == [0, 1, 2]
    assert list(two.map(math.hypot, [3, 6], [4, 8], chunksize=2)) == [5.0, 10.0]
    assert list(two.map("jobs:same", [])) == []


def test_map_raises_in_its_turn(two: Executor) -> None:
    """What comes before the failure arrives."""
    found = two.map("pool:but_two", range(4), timeout=PATIENCE)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(RemoteError, match="two"):
        next(found)


def test_map_in_time(two: Executor, tmp_path: Path) -> None:
    """What has not begun is cancelled when the time is over."""
    mine, other = tmp_path / "a", tmp_path / "b"
    found = two.map("pool:meet", [str(mine)] * 5, [str(other)] * 5, timeout=0.2)
    with pytest.raises(TimeoutError):
        next(found)
    other.touch()


def test_cancel(children: str, tmp_path: Path) -> None:
    """Before a task has begun, and not after."""
    mine, other = tmp_path / "a", tmp_path / "b"
    with start(children) as executor:
        running = executor.submit("pool:meet", str(mine), str(other))
        queued = executor.submit("pool:touch", str(tmp_path / "c"))
        wait_for(mine)
        assert running.running() and not running.cancel()
        assert queued.cancel() and queued.cancelled()
        with pytest.raises(CancelledError):
            queued.result()
        other.touch()
        assert running.result(PATIENCE) is True
        assert executor.submit("jobs:same", 1).result(PATIENCE) == 1
    assert not (tmp_path / "c").exists()


def test_shutdown(children: str, tmp_path: Path) -> None:
    """Takes no more, finishes what was given, and may be repeated."""
    executor = start(children)
    futures = [executor.submit("pool:touch", str(tmp_path / str(number))) for number in range(3)]
    executor.shutdown(wait=False)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit("jobs:same", 1)
    executor.shutdown()
    executor.shutdown()
    assert [future.done() for future in futures] == [True] * 3
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2"]
    Executor().shutdown()  # without having done anything


def test_shutdown_with_cancelling(children: str, tmp_path: Path) -> None:
    """What has begun is finished, and nothing else is begun."""
    mine, other = tmp_path / "a", tmp_path / "b"
    executor = start(children)
    running = executor.submit("pool:meet", str(mine), str(other))
    queued = [executor.submit("pool:touch", str(tmp_path / "c")) for _ in range(3)]
    wait_for(mine)
    executor.shutdown(wait=False, cancel_futures=True)
    assert [future.cancelled() for future in queued] == [True] * 3
    assert concurrent.futures.wait(queued, PATIENCE).not_done == set()
    other.touch()
    executor.shutdown()
    assert running.result(0) is True
    assert not (tmp_path / "c").exists()


def test_a_deadline_ends_one_task(children: str) -> None:
    """It is counted from when the task begins; the others do not notice (C162)."""
    with Executor(2, deadline=1.0, paths=[children], isolation="none") as executor:
        # Both slots have a child, which the deadline would count otherwise.
        list(executor.map("jobs:sleep", [0.2, 0.2]))
        late = executor.submit("jobs:spin")
        others = [executor.submit("jobs:sleep", 0.3) for _ in range(5)]
        assert [future.result(PATIENCE) for future in others] == ["slept"] * 5
        assert isinstance(late.exception(PATIENCE), hookless.DeadlineExceeded)
        assert executor.submit("jobs:same", 1).result(PATIENCE) == 1


def test_in_asyncio(two: Executor) -> None:
    """`run_in_executor` takes it; so awaiting needs no other interface."""

    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        return await asyncio.gather(*(loop.run_in_executor(two, math.sqrt, one) for one in (1.0, 4.0)))

    assert asyncio.run(main()) == [1.0, 2.0]


def test_many_threads_submit(two: Executor) -> None:
    """Each gets its own answers."""
    found: dict[int, list[int]] = {}

    def work(number: int) -> None:
        futures = [two.submit("jobs:same", 100 * number + one) for one in range(20)]
        found[number] = [future.result(PATIENCE) for future in futures]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [100 * number + one for one in range(20)] for number in range(8)}


def test_arrays(two: Executor) -> None:
    """Large values take the same way."""
    data = bytes(range(256)) * 20_000
    assert list(two.map("jobs:same", [data] * 4)) == [data] * 4


def test_repr(two: Executor) -> None:
    """Says how many, and whether it is over."""
    assert repr(two) == "<hookless.Executor, up to 2 children, open>"
    two.shutdown()
    assert repr(two) == "<hookless.Executor, up to 2 children, closed>"
