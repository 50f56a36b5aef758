"""`launcher=`: a program of the host's choice around the child; these are of every system.

test_sandbox_bwrap.py has those with a real sandbox.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import hookless
from conftest import LANDLOCK_UNWANTED
from hookless import Executor, Worker
from hookless._launch import Child
from hookless.aio import Worker as Loop
from processes import holds, is_gone, parent, wait_until

# A shell that waits for the child; a program that becomes it; and one that has it leave the group.
SHELL = ["sh", "-c", '"$@"; exit $?', "sh"]
ENV = ["env", "GIVEN={scratch}/x"]
APART = ["sh", "-c", 'setsid --wait "$@"; exit $?', "sh"]


def start(children: str, launcher: list[str], **options: Any) -> Worker:
    return Worker(paths=[children], launcher=launcher, **{"isolation": "none", **options})


def inner(worker: Worker) -> int:
    """The number of the child itself, as the kernel told it."""
    return worker._session.child.inner


def test_a_program_that_becomes_the_child(children: str) -> None:
    """Its arguments are passed on, and the private folder's name is put into them."""
    with start(children, ENV) as worker:
        found = worker.call("jobs:environment")
        assert found["GIVEN"] == found["TMPDIR"] + "/x"
        assert worker.call("jobs:pid") == inner(worker) == worker._session.child.pid
        assert worker.call("os:getcwd") == found["TMPDIR"]


@pytest.mark.parametrize("launcher", [SHELL, APART])
@pytest.mark.parametrize("isolation", ["none"] if LANDLOCK_UNWANTED else ["none", "strict"])
def test_a_program_that_starts_the_child(children: str, launcher: list[str], isolation: str) -> None:
    """The child is found behind it, and asked for what holds it back."""
    before = holds()
    with start(children, launcher, isolation=isolation) as worker:
        pid = inner(worker)
        assert pid == worker.call("jobs:pid") != worker._session.child.pid
        assert worker.call("jobs:same", [1]) == [1]
        report = worker.isolation
        assert report["launcher"].endswith("/sh: what it does is not checked, but for the namespaces")
        assert report["namespaces"].startswith("not the host's: none; shared with the host: cgroup, ")
        assert report["session"] == "without a terminal"
        assert report["descriptors"].endswith("standard streams and the channel")
        assert ("allowlist" in report["seccomp"]) == (isolation == "strict")
        assert report["no_new_privs"] == "set-user-id programs gain nothing"
    assert is_gone(pid) and holds() == before


def test_without_a_launcher_nothing_is_said_of_one() -> None:
    """An empty list is none."""
    with Worker(launcher=[], isolation="none") as worker:
        assert {"launcher", "namespaces"}.isdisjoint(worker.isolation)


def test_a_child_that_the_kernel_does_not_tell(children: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is claimed then that was not checked, and nothing of the launcher is taken for the child's."""
    monkeypatch.setattr(Child, "_meet", lambda self, extra: None)
    isolation = "none" if LANDLOCK_UNWANTED else "strict"
    with start(children, SHELL, isolation=isolation) as worker:
        report = worker.isolation
        for name in ("session", "descriptors", "environment", "no_new_privs", "rlimits", "namespaces"):
            assert report[name] == "not known: the kernel does not tell which process the child is"
        for name in ("mode", "capabilities", "landlock", "seccomp"):
            assert report[name].endswith(", as the child reported")


@pytest.mark.skipif(LANDLOCK_UNWANTED, reason="HOOKLESS_TEST_NO_LANDLOCK=1 says that no child can be strict")
def test_strict_is_what_the_kernel_confirms(children: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child behind the launcher is asked about, and not the launcher: that one is not confined."""
    before = holds()
    real = Child._meet

    def mistaken(self: Child, extra: list[tuple[int, int, bytes]]) -> None:
        real(self, extra)
        self.inner = self.pid

    monkeypatch.setattr(Child, "_meet", mistaken)
    with pytest.raises(hookless.IsolationError, match="does not confirm"):
        start(children, SHELL, isolation="strict")
    assert holds() == before


@pytest.mark.parametrize("launcher", [SHELL, APART])
def test_a_child_that_has_to_be_stopped(children: str, launcher: list[str]) -> None:
    """Also one that has left its launcher's group; nothing is left behind."""
    before = holds()
    with start(children, launcher) as worker:
        pid = inner(worker)
        scratch = worker.call("os:getcwd")
        with pytest.raises(hookless.DeadlineExceeded):
            worker.options(deadline=0.2).call("pool:stuck")
        wait_until(lambda: is_gone(pid) or parent(pid) == 1)
    wait_until(lambda: is_gone(pid))
    assert holds() == before
    assert not os.path.exists(scratch)


def test_deaths(children: str) -> None:
    """The status is the launcher's, which has its own way to tell of a signal."""
    with start(children, SHELL) as worker:
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:die", 3)
        assert (caught.value.exit_status, caught.value.signal) == (3, None)
    with start(children, SHELL) as worker:
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:kill_self", int(signal.SIGKILL))
        assert (caught.value.exit_status, caught.value.signal) == (128 + signal.SIGKILL, None)
        assert caught.value.stderr.startswith(b"last words")


def test_a_launcher_that_is_killed(children: str) -> None:
    """It is the process that was started: its end is that of the worker, and the child's."""
    before = holds()
    with start(children, SHELL) as worker:
        pid = inner(worker)
        os.kill(parent(pid), signal.SIGKILL)
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:sleep", 60)
        assert caught.value.signal == signal.SIGKILL
        wait_until(lambda: is_gone(pid))
    assert holds() == before


def test_launchers_that_start_nothing() -> None:
    """Their last words are told."""
    before = holds()
    with pytest.raises(hookless.WorkerDied) as caught:
        Worker(launcher=["sh", "-c", "echo no such sandbox >&2; exit 4", "sh"])
    assert caught.value.exit_status == 4 and "no such sandbox" in str(caught.value)
    # One that passes no descriptor on.
    closing = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], close_fds=True))"
    with pytest.raises(hookless.WorkerDied, match="did not start") as caught:
        Worker(launcher=[sys.executable, "-c", closing])
    assert caught.value.exit_status == 1
    assert holds() == before


@pytest.mark.parametrize(
    ("launcher", "error"),
    [
        ("bwrap", TypeError),
        (b"bwrap", TypeError),
        (Path("/usr/bin/env"), TypeError),
        (7, TypeError),
        ({"env"}, TypeError),
        ([b"env"], TypeError),
        (["env", 7], TypeError),
        (["env", "A=\0"], ValueError),
        (["no-such-program-at-all"], FileNotFoundError),
        (["/etc/passwd"], FileNotFoundError),
    ],
)
def test_what_is_no_launcher(launcher: Any, error: type[Exception]) -> None:
    """Refused before anything is started, by both."""
    with pytest.raises(error, match="launcher="):
        Worker(launcher=launcher)
    with pytest.raises(error, match="launcher="):
        Executor(launcher=launcher)


def test_paths_are_arguments(children: str) -> None:
    """Of the program, and of what follows."""
    with Worker(paths=[children], isolation="none", launcher=(Path("/usr/bin/env"), "A=1")) as worker:
        assert worker.call("jobs:environment")["A"] == "1"


def test_a_program_that_closes_descriptors(children: str) -> None:
    """It can be told which ones to keep."""
    keeping = "import subprocess, sys; fds = map(int, sys.argv[1].split(',')); "
    keeping += "sys.exit(subprocess.call(sys.argv[2:], pass_fds=list(fds)))"
    with start(children, [sys.executable, "-c", keeping, "{channel},{report}"]) as worker:
        assert worker.call("jobs:pid") == inner(worker) != worker._session.child.pid


def test_in_an_event_loop(children: str) -> None:
    """The option is the same."""
    before = holds()

    async def main() -> None:
        async with Loop(paths=[children], isolation="none", launcher=SHELL) as worker:
            assert "/sh: " in worker.isolation["launcher"]
            assert await worker.call("jobs:add", 1) == 2

    asyncio.run(main())
    assert holds() == before
    with pytest.raises(FileNotFoundError, match="launcher="):
        Loop(launcher=["no-such-program-at-all"])


def test_an_executor(children: str) -> None:
    """Each child has a launcher of its own."""
    before = holds()
    with Executor(2, paths=[children], isolation="none", launcher=ENV) as executor:
        assert list(executor.map("jobs:same", range(5))) == [0, 1, 2, 3, 4]
        assert executor.submit("jobs:environment").result(30)["GIVEN"].endswith("/x")
    assert holds() == before
