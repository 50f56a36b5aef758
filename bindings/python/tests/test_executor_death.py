"""Children of an executor that die, executors that end: one outcome for each task, nothing left behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import hookless
from hookless import Executor
from processes import PATIENCE, has_ended, holds, is_gone, wait_until


def start(children: str, count: int = 2, *, fresh: bool = False) -> Executor:
    return Executor(count, fresh=fresh, paths=[children], isolation="none")


def interrupt_soon() -> None:
    """Have Ctrl-C come to the main thread while it waits."""
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()


@pytest.mark.parametrize("how", ["exit", "kill"])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_death_is_one_task_s_own(children: str, tmp_path: Path, how: str, fresh: bool) -> None:
    """It is not run again, also when it said that all is well; the others get their results."""
    log = tmp_path / "log"
    before = holds()
    with start(children, fresh=fresh) as executor:
        dies = [executor.submit("pool:count_and_die", str(log), how) for _ in range(3)]
        lives = [executor.submit("pool:later", 0.05, number) for number in range(10)]
        assert [future.result(PATIENCE) for future in lives] == list(range(10))
        for future in dies:
            error = future.exception(PATIENCE)
            assert isinstance(error, hookless.WorkerDied)
            expected = (0, None) if how == "exit" else (None, signal.SIGKILL)
            assert (error.exit_status, error.signal) == expected
        assert executor.submit("jobs:same", 1).result(PATIENCE) == 1
    assert log.read_text() == "xxx"
    assert holds() == before


def test_killed_from_outside(children: str, tmp_path: Path) -> None:
    """As the kernel does when there is no memory left: that task alone, not the one beside it."""
    mine, other = str(tmp_path / "a"), str(tmp_path / "b")
    with start(children) as executor:
        pid = executor.submit("jobs:pid").result(PATIENCE)
        # Whichever of the two children gets it, it is told by its own mark.
        waits = executor.submit("pool:meet_as", mine, other)
        wait_until(lambda: Path(mine).exists())
        lives = executor.submit("pool:later", 0.5, 7)
        os.kill(int(Path(mine).read_text()), signal.SIGKILL)
        error = waits.exception(PATIENCE)
        assert isinstance(error, hookless.WorkerDied) and error.signal == signal.SIGKILL
        assert lives.result(PATIENCE) == 7
        assert pid > 0


def test_out_of_memory(children: str) -> None:
    """Past its own bound the function gets a MemoryError, and the child lives on."""
    with Executor(1, paths=[children], isolation="none", memory=1 << 30) as executor:
        pid = executor.submit("jobs:pid").result(PATIENCE)
        error = executor.submit("pool:fill", 4 << 30).exception(PATIENCE)
        assert isinstance(error, MemoryError) and isinstance(error, hookless.RemoteError)
        assert executor.submit("jobs:pid").result(PATIENCE) == pid


def test_killed_while_it_waits(children: str) -> None:
    """A child that dies between two tasks fails neither."""
    with start(children, 1) as executor:
        for _ in range(3):
            pid = executor.submit("jobs:pid").result(PATIENCE)
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: has_ended(pid))  # type: ignore[misc]
            assert executor.submit("jobs:pid").result(PATIENCE) != pid
        pid = executor.submit("jobs:pid").result(PATIENCE)
        executor.submit("pool:die_later", 0.05).result(PATIENCE)
        wait_until(lambda: has_ended(pid))
        assert executor.submit("jobs:same", 1).result(PATIENCE) == 1


@pytest.mark.parametrize("target", ["jobs:write_pickle", "jobs:close_channel"])
def test_a_broken_rule_is_one_task_s_own(children: str, target: str) -> None:
    """One frame that cannot be decoded among good tasks (C153)."""
    with start(children) as executor:
        bad = executor.submit(target)
        good = [executor.submit("pool:later", 0.05, number) for number in range(10)]
        assert [future.result(PATIENCE) for future in good] == list(range(10))
        error = bad.exception(PATIENCE)
        assert isinstance(error, hookless.DecodeError | hookless.WorkerDied)
        assert isinstance(error, hookless.DecodeError) == (target == "jobs:write_pickle")


def test_no_child_can_be_started(children: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task says why, and the next one tries again."""
    with start(children, 1) as executor:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", "/bin/false")
            failed = executor.submit("jobs:same", 1)
            assert isinstance(failed.exception(PATIENCE), hookless.WorkerDied)
        assert executor.submit("jobs:same", 2).result(PATIENCE) == 2


def test_a_hundred_that_crash(children: str) -> None:
    """No zombie, and no descriptor (C151)."""
    before = holds()
    with start(children) as executor:
        futures = [executor.submit("jobs:die", number % 3) for number in range(100)]
        statuses = [future.exception(PATIENCE).exit_status for future in futures]  # type: ignore[union-attr]
    assert statuses == [number % 3 for number in range(100)]
    assert holds() == before


def test_terminate_workers(children: str, tmp_path: Path) -> None:
    """Each task has one outcome: done, cancelled or failed."""
    before = holds()
    mine = str(tmp_path / "a")
    executor = start(children)
    done = executor.submit("jobs:same", 1)
    assert done.result(PATIENCE) == 1
    running = executor.submit("pool:meet", mine, str(tmp_path / "b"))
    wait_until(lambda: os.path.exists(mine))
    busy = executor.submit("jobs:spin")
    wait_until(busy.running)
    queued = [executor.submit("jobs:same", 1) for _ in range(3)]
    executor.terminate_workers()
    executor.terminate_workers()
    executor.shutdown()
    assert [type(future.exception(PATIENCE)) for future in (running, busy)] == [hookless.HooklessError] * 2
    assert [future.cancelled() for future in queued] == [True] * 3
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit("jobs:same", 1)
    assert holds() == before


def test_an_interrupt(children: str) -> None:
    """Ctrl-C in the thread that waits: the block is left at once, each task has one outcome (C159)."""
    before = holds()
    futures: list[Future[Any]] = []
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), start(children) as executor:  # noqa: PT012 (what follows waits)
        futures += [executor.submit("jobs:sleep", 600) for _ in range(8)]
        wait_until(futures[1].running)
        interrupt_soon()
        futures[0].result()
    assert time.monotonic() - began < PATIENCE
    assert [future.done() for future in futures] == [True] * 8
    assert {future.cancelled() for future in futures[2:]} == {True}
    for future in futures[:2]:
        assert type(future.exception()) is hookless.HooklessError
    assert holds() == before


def test_an_interrupt_of_the_shutdown(children: str) -> None:
    """It can be called again."""
    executor = start(children)
    future = executor.submit("pool:later", 1.0, 7)
    wait_until(future.running)
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        executor.shutdown()
    executor.shutdown()
    assert future.result(0) == 7


def test_collected(children: str) -> None:
    """Whoever forgets an executor leaves no child behind; what it was given is done, without a warning."""
    before = holds()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        executor = start(children)
        pids = {executor.submit("jobs:pid").result(PATIENCE) for _ in range(2)}
        last = executor.submit("pool:later", 0.2, 7)
        del executor
        gc.collect()
        assert last.result(PATIENCE) == 7
        wait_until(lambda: all(map(is_gone, pids)))
        wait_until(lambda: holds() == before)


def test_a_fork(children: str) -> None:
    """It has no executor, and holds no descriptor of the children; the one that forked goes on."""

    def sockets() -> set[str]:
        return {one for one in map(link, os.listdir("/proc/self/fd")) if one.startswith("socket")}

    # Of other tests, which the collector has not come to.
    before = sockets()
    with start(children) as executor:
        assert executor.submit("jobs:same", 1).result(PATIENCE) == 1
        found, told = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # 3.12 warns of forks beside threads
            pid = os.fork()
        if pid == 0:
            text = "nothing"
            try:
                executor.submit("jobs:same", 2)
            except hookless.HooklessError as error:
                executor.shutdown()
                text = f"{len(sockets() - before)} {error}"
            finally:
                os.write(told, text.encode())
                os._exit(0)
        os.waitpid(pid, 0)
        text = os.read(found, 1000).decode()
        os.close(found)
        os.close(told)
        assert text.startswith("0 this executor belongs to the process that was forked from")
        assert executor.submit("jobs:same", 3).result(PATIENCE) == 3


def link(name: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        return ""


PROGRAM = """\
import os, sys, threading
import hookless

executor = hookless.Executor(2, paths=[sys.argv[1]], isolation="none", fresh={fresh})
pids = [executor.submit("jobs:pid").result() for _ in range(2)]
print(*pids, flush=True)
for number in range(4):
    # In one write: the callbacks are of several threads.
    done = lambda one: print(f"{{one.result()}}\\n", end="", flush=True)
    executor.submit("pool:later", 0.1, number).add_done_callback(done)
{end}
"""


def run(children: str, end: str, *, fresh: bool = False) -> tuple[set[int], list[str], int]:
    """Run a program; return the children that it had, what they answered later, and its status."""
    program = PROGRAM.format(end=textwrap.dedent(end), fresh=fresh)
    command = [sys.executable, "-W", "error", "-c", program, children]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    pids, *answers = done.stdout.splitlines()
    assert done.stderr == ""
    return {int(pid) for pid in pids.split()}, sorted(answers), done.returncode


@pytest.mark.parametrize("fresh", [False, True])
def test_the_interpreter_exits(children: str, fresh: bool) -> None:
    """What was submitted is done first, as for the executors of the standard library."""
    pids, answers, status = run(children, "", fresh=fresh)
    assert (answers, status) == (["0", "1", "2", "3"], 0)
    wait_until(lambda: all(map(is_gone, pids)))


def test_the_process_ends_at_once(children: str) -> None:
    """Nobody is left to end the children; they see the end of their channels."""
    pids, _, status = run(children, "os._exit(7)")
    assert status == 7
    wait_until(lambda: all(map(is_gone, pids)))


def test_a_fork_exits(children: str) -> None:
    """It does not wait for threads that it does not have, and repeats nothing of what the other prints."""
    fork = """
    import warnings
    warnings.simplefilter("ignore")
    if (pid := os.fork()) == 0:
        sys.exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    """
    _, answers, status = run(children, fork)
    assert (answers, status) == (["0", "1", "2", "3"], 0)


def test_no_task_after_the_exit(children: str) -> None:
    """A thread that goes on while the interpreter exits is told."""
    late = """
    def work():
        threading.main_thread().join()
        try:
            while True:
                executor.submit("jobs:same", 1).result()
        except RuntimeError as error:
            print("9", error, flush=True)
    threading.Thread(target=work).start()
    """
    _, answers, status = run(children, late)
    assert answers[:4] == ["0", "1", "2", "3"]
    assert answers[4].startswith("9 cannot schedule new futures after")
    assert status == 0
