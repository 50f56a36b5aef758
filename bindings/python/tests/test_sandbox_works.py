"""What ordinary code needs works inside a strict worker."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from hookless import RemoteError, Worker


def test_threads(confined: Worker) -> None:
    assert confined.call("work:threads", 16) == list(range(16))


def test_asyncio(confined: Worker) -> None:
    """Its loop wakes itself through a pair of sockets, and uses threads."""
    assert confined.call("work:sleepers", 50) == 50


@pytest.mark.parametrize(("zone", "seconds"), [("Europe/Berlin", 7200), ("Asia/Kolkata", 19_800)])
def test_zoneinfo(confined: Worker, zone: str, seconds: float) -> None:
    assert confined.call("work:offset", zone) == seconds


def test_local_time(confined: Worker) -> None:
    """That of the machine, /etc/localtime."""
    import time

    if "TZ" not in os.environ:
        assert confined.call("work:local_offset") == time.localtime(1_800_000_000).tm_gmtoff


def test_tempfile(children: str) -> None:
    """All of it in a folder below the host's own, which is the current one and goes at the end."""
    with Worker(paths=[children]) as worker:
        found = worker.call("work:temporary")
        folder = found["folder"]
        assert os.path.dirname(folder) == tempfile.gettempdir()
        assert os.stat(folder).st_mode & 0o077 == 0
        assert (found["size"], found["left"]) == (100_000, ["here.txt"])
        assert Path(folder, "here.txt").is_file()
        assert worker.call("work:database") == [4950]
    assert not os.path.exists(folder)


def test_imports(confined: Worker) -> None:
    """Modules of the standard library with extensions, or that look at the system as they load."""
    names = "ssl hashlib lzma bz2 zlib sqlite3 decimal ctypes uuid multiprocessing platform locale email"
    confined.call("work:imports", names.split())


def test_processors(confined: Worker) -> None:
    assert confined.call("work:processors") == (os.cpu_count(), len(os.sched_getaffinity(0)))


def test_programs_are_an_ordinary_error(confined: Worker) -> None:
    assert confined.call("work:refused_program") == "PermissionError"


def test_scripts(confined: Worker, tmp_path: Path) -> None:
    """The host reads the file; the child needs not."""
    script = tmp_path / "script.py"
    script.write_text("import json\nresult = json.loads(text)\n")
    assert confined.run(script, inputs={"text": "[1]"}) == [1]


def test_tracebacks_show_source(confined: Worker) -> None:
    with pytest.raises(RemoteError) as caught:
        confined.call("jobs:fail", "no more")
    assert (caught.value.remote.frames[-1].source or "").strip() == "raise Quota(message, 7)"


def test_large_values(confined: Worker) -> None:
    value = b"x" * (64 << 20)
    assert confined.call("jobs:same", value) == value


def test_many_workers(children: str) -> None:
    """Each has a folder of its own, and cannot look into another's."""
    with Worker(paths=[children]) as one, Worker(paths=[children]) as other:
        assert one.call("attacks:write", "secret", b"x") == 1
        folder = one.call("os:getcwd")
        with pytest.raises(RemoteError, match="Permission denied"):
            other.call("attacks:read", os.path.join(folder, "secret"))
