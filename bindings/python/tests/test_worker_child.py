"""What a child starts with: little of the host's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookless import RemoteError, Worker

CHILDREN = str(Path(__file__).parent / "children")


@pytest.mark.parametrize(
    "name", ["HOOKLESS_TEST_SECRET", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD_X", "PYTHONSTARTUP"]
)
def test_environment_is_clean(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the host is in the child's environment or in its process image."""
    monkeypatch.setenv(name, "a-secret-of-the-host")
    with Worker(paths=[CHILDREN], isolation="none") as worker:
        assert name not in worker.call("jobs:environment")
        image = worker.call("jobs:environment_of_the_process")
    assert b"a-secret-of-the-host" not in image
    assert name.encode() not in image


def test_descriptors_are_closed(tmp_path: Path) -> None:
    """A file and a pipe that the host left open and inheritable are not there."""
    secret = tmp_path / "left-open.txt"
    secret.write_text("secret")
    opened = os.open(secret, os.O_RDWR)
    read, write = os.pipe()
    try:
        for descriptor in (opened, read, write):
            os.set_inheritable(descriptor, True)
        with Worker(paths=[CHILDREN], isolation="none") as worker:
            found = worker.call("jobs:descriptors")
        pipe = os.readlink(f"/proc/self/fd/{read}")
    finally:
        for descriptor in (opened, read, write):
            os.close(descriptor)
    assert not any("left-open" in target for target in found.values())
    assert pipe not in found.values()
    # 0, 1, 2, the channel, and what wakes a thread that waits for it.
    assert len(found) <= 5
    assert {0, 1, 2} <= set(found)
    assert found[0] == "/dev/null"


def test_output_goes_through_pipes(shared: Worker) -> None:
    """Not to the terminal of the host."""
    assert shared.call("jobs:modes") == {1: True, 2: True}


def test_no_new_privileges(unconfined: Worker) -> None:
    """A set-user-id program gives the child nothing."""
    assert unconfined.call("jobs:status")["NoNewPrivs"] == "1"


def test_no_core_dumps(shared: Worker) -> None:
    """Arguments of the host do not end in a file."""
    assert shared.call("jobs:core_limit") == [0, 0]


def test_own_session(shared: Worker) -> None:
    """Ctrl-C in the host's terminal is the host's to answer."""
    pid, session, group = shared.call("jobs:session")
    assert pid == session == group


def test_one_thread(unconfined: Worker) -> None:
    """Nothing runs beside the user's code that a fork or a sandbox would have to know of."""
    assert unconfined.call("jobs:threads") == 1


def test_modules_of_the_host_are_not_there(shared: Worker) -> None:
    """A new interpreter: what the host imported, the tests among it, is not loaded."""
    modules = shared.call("jobs:modules")
    assert "pytest" not in modules and "samples" not in modules


def test_search_path(shared: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of `paths` and the interpreter's own: neither the current directory nor an empty entry."""
    (tmp_path / "planted.py").write_text("raise AssertionError('imported from the current directory')\n")
    (tmp_path / "json.py").write_text("raise AssertionError('imported from the current directory')\n")
    monkeypatch.chdir(tmp_path)
    with Worker(paths=[CHILDREN], isolation="none") as worker:
        path = worker.call("jobs:search_path")
        assert worker.call("json:dumps", [1]) == "[1]"
    assert CHILDREN in path
    assert not {"", ".", str(tmp_path)} & set(path)


def test_arguments_do_not_show_values(shared: Worker) -> None:
    """`sys.argv` and the command line carry nothing of the calls."""
    shared.call("jobs:echo", "a-secret-argument")
    line = Path(f"/proc/{shared.call('jobs:pid')}/cmdline").read_bytes()
    assert b"a-secret-argument" not in line
    assert isinstance(shared.call("jobs:arguments"), list)


def test_failures_do_not_keep_memory(unconfined: Worker) -> None:
    """Frames of a failed call are let go, with the 50 MB that they held."""

    def fail() -> None:
        with pytest.raises(RemoteError, match="52428800"):
            unconfined.call("jobs:fail_with_large_local")

    fail()
    before = unconfined.call("jobs:resident")
    for _ in range(10):
        fail()
    assert unconfined.call("jobs:resident") < before + (100 << 20)


ORPHAN = """
import sys, time
import hookless
worker = hookless.Worker(paths=[sys.argv[1]], isolation="none")
print(worker.call("jobs:pid"), flush=True)
time.sleep(60)
"""


def test_the_child_ends_with_the_host() -> None:
    """A host that is killed leaves no idle child: the channel's end is the child's end."""
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN, CHILDREN], stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        pid = int(host.stdout.readline())
        assert os.path.exists(f"/proc/{pid}")
        host.kill()
    deadline = time.monotonic() + 20
    while running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not running(pid)


def running(pid: int) -> bool:
    """Whether the process runs; a zombie that its new parent has not reaped yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
