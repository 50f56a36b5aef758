"""Workers inside bubblewrap: a real sandbox around the child, with and without the child's own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookless
from hookless import Executor, Worker
from processes import has_ended, holds, is_gone, parent, wait_until

# All that the host can read, for reading; namespaces of its own; and an end when the host ends.
BWRAP = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev"]
BWRAP += ["--proc", "/proc", "--bind", "{scratch}", "{scratch}"]


def _why_not() -> str:
    """Why bubblewrap cannot be used here; empty if it can."""
    if shutil.which("bwrap") is None:
        return "there is no bubblewrap. Debian, Ubuntu: sudo apt-get install bubblewrap"
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"bubblewrap can make no sandbox here: {done.stderr.strip()}" if done.returncode else ""


WHY_NOT = _why_not()
pytestmark = pytest.mark.skipif(WHY_NOT != "", reason=WHY_NOT)


def start(children: str, launcher: list[str] = BWRAP, **options: Any) -> Worker:
    return Worker(paths=[children], launcher=launcher, **options)


@pytest.mark.parametrize("isolation", ["strict", "none"])
def test_inside(children: str, isolation: str) -> None:
    """The child is alone with bubblewrap's own first process; the host names it by another number."""
    before = holds()
    with start(children, isolation=isolation) as worker:
        inner = worker._session.child.inner
        assert worker.call("jobs:pid") == 2
        assert parent(parent(inner)) == worker._session.child.pid
        assert parent(worker._session.child.pid) == os.getpid()
        assert worker.call("jobs:same", b"x" * 5_000_000) == b"x" * 5_000_000
        assert worker.call("jobs:add", 1, right=2) == 3
        assert os.path.basename(worker.call("tempfile:mkdtemp")).startswith("tmp")
        report = worker.isolation
        own, shared = re.fullmatch(
            r"not the host's: (.*); shared with the host: (.*)", report["namespaces"]
        ).groups()  # type: ignore[union-attr]
        assert set(own.split(", ")) >= {"cgroup", "ipc", "mnt", "net", "pid", "uts"}
        assert "pid" not in shared.split(", ")
        assert ("allowlist" in report["seccomp"]) == (isolation == "strict")
        assert report["descriptors"].endswith("standard streams and the channel")
    assert is_gone(inner) and holds() == before


def test_what_it_sees(children: str) -> None:
    """Its own processes, its own network, and no descriptor but its own."""
    with start(children, isolation="none") as worker:
        processes = [name for name in worker.call("os:listdir", "/proc") if name.isdecimal()]
        assert sorted(processes) == ["1", "2"]
        assert worker.call("socket:if_nameindex") == [(1, "lo")]
        found = worker.call("jobs:descriptors")
        # What it waits with is the channel's own.
        own = sorted(one.partition(":")[0] for number, one in found.items() if number > 2)
        assert own == ["anon_inode", "socket"]
        with pytest.raises(OSError, match="Read-only file system"):
            worker.call("os:mkdir", os.path.join(children, "new"))


def test_only_what_it_needs(children: str, tmp_path: Path) -> None:
    """A sandbox in which the host's files are not even there; as LAUNCHERS.md has it."""
    (tmp_path / "secret").touch()
    shown = {sys.prefix, sys.base_prefix, children, *map(os.path.dirname, hookless.__path__)}
    launcher = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib64", "bin"):
        if os.path.islink(f"/{name}"):
            launcher += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            launcher += ["--ro-bind-try", f"/{name}", f"/{name}"]
    launcher += ["--proc", "/proc", "--dev", "/dev", "--bind", "{scratch}", "{scratch}"]
    for folder in shown:
        launcher += ["--ro-bind", folder, folder]
    before = holds()
    with start(children, launcher) as worker:
        inner = worker._session.child.inner
        assert worker.call("jobs:add", 1) == 2
        assert worker.call("os.path:exists", str(tmp_path / "secret")) is False
        assert worker.call("os.path:exists", "/etc/passwd") is False
        with pytest.raises(hookless.DeadlineExceeded):
            worker.options(deadline=0.2).call("pool:stuck")
        # Whoever adopts it may take a moment to reap it.
        assert has_ended(inner)
    assert holds() == before


@pytest.mark.parametrize("more", [[], ["--new-session"], ["--as-pid-1"]])
def test_a_child_that_has_to_be_stopped(children: str, more: list[str]) -> None:
    """By the end of its namespace; nothing is left behind, the private folder least of all."""
    before = holds()
    with start(children, [*BWRAP, *more], isolation="none") as worker:
        inner, scratch = worker._session.child.inner, worker.call("os:getcwd")
        assert worker.call("jobs:pid") == (1 if more == ["--as-pid-1"] else 2)
        with pytest.raises(hookless.DeadlineExceeded):
            worker.options(deadline=0.2).call("pool:stuck")
        assert has_ended(inner)
    assert holds() == before and not os.path.exists(scratch)


def test_deaths(children: str) -> None:
    """Bubblewrap passes the status on, and tells of a signal as a shell does."""
    for target, argument, status in (("jobs:die", 0, 0), ("jobs:die", 3, 3)):
        with start(children) as worker, pytest.raises(hookless.WorkerDied) as caught:
            worker.call(target, argument)
        assert (caught.value.exit_status, caught.value.signal) == (status, None)
    with start(children, isolation="none") as worker:
        inner = worker._session.child.inner
        os.kill(inner, signal.SIGKILL)
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:pid")
        assert (caught.value.exit_status, caught.value.signal) == (128 + signal.SIGKILL, None)


def test_a_sandbox_that_hides_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is told by the interpreter, or by bubblewrap."""
    with pytest.raises(hookless.WorkerDied, match="bwrap: "):
        Worker(launcher=["bwrap", "--ro-bind", "/usr", "/usr"])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    hidden = [*BWRAP[:-3], "--tmpfs", str(tmp_path)]
    with pytest.raises(hookless.IsolationError, match="hookless-"):
        Worker(launcher=hidden)


HOST = """\
import sys, hookless
worker = hookless.Worker(paths=[sys.argv[1]], launcher=sys.argv[2:], isolation="none")
print(worker._session.child.inner, flush=True)
worker.call("jobs:stubborn")
"""


def test_the_host_is_killed(children: str) -> None:
    """The kernel ends bubblewrap, and that its namespace, whatever the child does."""
    command = [sys.executable, "-c", HOST, children, *BWRAP]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        inner = int(host.stdout.readline())
        assert not has_ended(inner)
        host.kill()
    wait_until(lambda: has_ended(inner))


def test_an_executor(children: str) -> None:
    """Its slots live as long as their children: `--die-with-parent` counts the thread that started it."""
    before = holds()
    with Executor(2, paths=[children], launcher=BWRAP) as executor:
        assert list(executor.map("jobs:same", range(6))) == list(range(6))
        died = executor.submit("jobs:die", 5)
        assert executor.submit("jobs:pid").result(30) == 2
        assert isinstance(died.exception(30), hookless.WorkerDied)
        assert executor.submit("jobs:pid").result(30) == 2
    assert holds() == before
