"""Children that use up what they can: a distinct error within the limits, and the host goes on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from hookless import RemoteError, Worker, WorkerDied


@pytest.mark.parametrize("bomb", ["fill_memory", "fill_shared_memory"])
def test_memory(children: str, bomb: str) -> None:
    """MemoryError, or the same from mmap; the child lives on, since what filled it is let go."""
    with Worker(paths=[children], memory=512 << 20) as worker:
        with pytest.raises(RemoteError) as caught:
            worker.call(f"attacks:{bomb}")
        remote = caught.value.remote
        assert remote.qualname == ("MemoryError" if bomb == "fill_memory" else "OSError")
        if bomb == "fill_shared_memory":
            assert remote.fields["errno"] == 12
        assert worker.call("jobs:add", 1) == 2
        peak = [line for line in status(worker) if line.startswith("VmPeak")]
        assert int(peak[0].split()[1]) <= 512 << 10


def status(worker: Worker) -> list[str]:
    return Path(f"/proc/{worker.call('os:getpid')}/status").read_text().splitlines()


def test_memory_is_bounded_by_default(children: str) -> None:
    """All workers have a bound."""
    with Worker(paths=[children]) as worker:
        limits = Path(f"/proc/{worker.call('os:getpid')}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max address space")]
    assert 1 << 30 < int(line.split()[3]) < 1 << 40


def test_processor_time(children: str) -> None:
    """SIGXCPU, by its name, well before any deadline."""
    began = time.monotonic()
    with Worker(paths=[children], cpu_seconds=1) as worker:
        with pytest.raises(WorkerDied, match="SIGXCPU") as caught:
            worker.options(deadline=60).call("attacks:burn")
        assert caught.value.signal == signal.SIGXCPU
    assert time.monotonic() - began < 50


def test_processor_time_when_the_signal_is_ignored(children: str) -> None:
    """SIGKILL comes a second later."""
    with Worker(paths=[children], cpu_seconds=1) as worker:
        with pytest.raises(WorkerDied, match="SIGKILL"):
            worker.options(deadline=60).call("attacks:burn_on")


def test_file_size(children: str) -> None:
    """EFBIG, not a full disk."""
    with Worker(paths=[children], file_size=8 << 20) as worker:
        with pytest.raises(RemoteError, match="File too large") as caught:
            worker.call("attacks:fill_file")
        assert caught.value.remote.fields["errno"] == 27
        assert worker.call("os.path:getsize", "large") == 8 << 20


def test_open_files(children: str) -> None:
    with Worker(paths=[children], open_files=50) as worker:
        with pytest.raises(RemoteError, match="Too many open files"):
            worker.call("attacks:open_many")
        assert worker.call("jobs:add", 1) == 2


def test_threads(children: str) -> None:
    """Stacks fill the address space, also for root, whose threads the kernel does not count."""
    with Worker(paths=[children], memory=1 << 30) as worker:
        with pytest.raises(RemoteError, match="can't start new thread") as caught:
            worker.call("attacks:start_threads")
        assert caught.value.remote.qualname == "RuntimeError"
        assert worker.call("jobs:add", 1) == 2
        assert int(worker.output.split()[-1]) < 1000


@pytest.mark.skipif(os.getuid() == 0, reason="the kernel does not count root's threads")
def test_threads_are_counted(children: str) -> None:
    with Worker(paths=[children], threads=30) as worker:
        with pytest.raises(RemoteError, match="can't start new thread"):
            worker.call("attacks:start_threads")
        # As far as other processes of the same user did not end meanwhile.
        assert int(worker.output.split()[-1]) < 100


def test_output(children: str) -> None:
    """A flood is counted and dropped, and the result arrives."""
    got = 0

    def on_output(stream: str, data: bytes) -> None:
        nonlocal got
        got += len(data)

    with Worker(paths=[children]) as worker:
        assert worker.options(on_output=on_output).call("jobs:flood", 1, 40 << 20) == 7
        assert got <= 17 << 20
        assert worker.output_dropped >= 23 << 20
        assert len(worker.output) <= 64 << 10


def test_own_limits_cannot_be_raised(children: str) -> None:
    with (
        Worker(paths=[children], open_files=50) as worker,
        pytest.raises(RemoteError, match=r"maximum|permitted"),
    ):
        worker.call("resource:setrlimit", 7, (500, 500))


def test_the_folder_goes(children: str) -> None:
    """However deep it is nested and whatever modes it has; links in it are not followed."""
    with Worker(paths=[children]) as worker:
        folder = worker.call("os:getcwd")
        worker.call("attacks:nest_folders", 3000)
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)
    assert os.path.isdir("/etc")


def test_the_folder_goes_with_a_child_that_dies(children: str) -> None:
    with Worker(paths=[children]) as worker:
        folder = worker.call("os:getcwd")
        with pytest.raises(WorkerDied):
            worker.call("jobs:die", 3)
        assert not os.path.exists(folder)
