"""From inside a strict worker: files of the host cannot be read, written or changed in any way."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookless import RemoteError, Worker
from sandboxed import denied

SECRET = b"a secret of the host"


@pytest.fixture
def host_file(tmp_path: Path) -> Iterator[Path]:
    """A file of the user who runs the host; afterwards it has to be exactly as it was."""
    path = tmp_path / "secret.txt"
    path.write_bytes(SECRET)
    path.chmod(0o644)
    os.utime(path, ns=(10**18, 10**18))
    before = path.stat()
    yield path
    after = path.stat()
    assert path.read_bytes() == SECRET
    for name in (
        "st_mode",
        "st_uid",
        "st_gid",
        "st_nlink",
        "st_size",
        "st_mtime_ns",
        "st_ctime_ns",
        "st_ino",
    ):
        assert getattr(after, name) == getattr(before, name), name
    assert os.listxattr(path) == []


def test_etc_shadow(confined: Worker) -> None:
    denied(confined, "attacks:read", "/etc/shadow")


def test_etc_passwd(confined: Worker) -> None:
    """Readable for everyone, but not for a child."""
    denied(confined, "attacks:read", "/etc/passwd")


def test_a_file_of_the_host(confined: Worker, host_file: Path) -> None:
    denied(confined, "attacks:read", str(host_file))


def test_the_current_directory_of_the_host(
    confined: Worker, host_file: Path, monkeypatch: pytest.MonkeyPatch, children: str
) -> None:
    """Neither by its path, nor as the child's own current directory, nor listed."""
    monkeypatch.chdir(host_file.parent)
    with Worker(paths=[children]) as worker:
        for path in (str(host_file), host_file.name, f"../{host_file.name}"):
            with pytest.raises(RemoteError) as caught:
                worker.call("attacks:read", path)
            assert caught.value.remote.qualname in ("PermissionError", "FileNotFoundError")
        denied(worker, "os:listdir", str(host_file.parent))
        assert worker.call("os:listdir", ".") == []


@pytest.mark.parametrize("name", ["environ", "mem", "maps", "status", "cmdline", "fd/0"])
def test_proc_of_the_parent(confined: Worker, name: str) -> None:
    denied(confined, "attacks:read", f"/proc/{os.getpid()}/{name}")


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/meminfo", "/proc/sys/kernel/hostname"])
def test_proc(confined: Worker, path: str) -> None:
    denied(confined, "attacks:read", path)


def test_the_root_of_the_parent(confined: Worker) -> None:
    """/proc/PID/root and cwd lead out of any folder."""
    denied(confined, "os:listdir", f"/proc/{os.getpid()}/cwd")
    denied(confined, "os:readlink", f"/proc/{os.getpid()}/exe")


@pytest.mark.parametrize("path", ["/", "/etc", "/home", "/tmp", "/var", "/proc", "/dev"])
def test_folders_cannot_be_listed(confined: Worker, path: str) -> None:
    if os.path.isdir(path):
        denied(confined, "os:listdir", path)


def test_write(confined: Worker, host_file: Path) -> None:
    denied(confined, "attacks:write", str(host_file), b"x")
    denied(confined, "attacks:write", str(host_file.parent / "new"), b"x")
    assert os.listdir(host_file.parent) == [host_file.name]


def test_write_where_it_may_read(confined: Worker, children: str) -> None:
    """The folders of `paths` are for reading."""
    before = sorted(os.listdir(children))
    denied(confined, "attacks:write", os.path.join(children, "planted.py"), b"x")
    denied(confined, "attacks:write", os.path.join(children, "attacks.py"), b"x")
    assert sorted(os.listdir(children)) == before


CHANGES: dict[str, Callable[[Worker, str], object]] = {
    "mkdir": lambda worker, path: worker.call("os:mkdir", f"{path}.folder"),
    "symlink": lambda worker, path: worker.call("os:symlink", "/", f"{path}.link"),
    "mkfifo": lambda worker, path: worker.call("os:mkfifo", f"{path}.fifo"),
    "unlink": lambda worker, path: worker.call("os:unlink", path),
    "rename": lambda worker, path: worker.call("os:rename", path, f"{path}.old"),
    "truncate": lambda worker, path: worker.call("os:truncate", path, 0),
    "chmod": lambda worker, path: worker.call("os:chmod", path, 0o777),
    "fchmod": lambda worker, path: worker.call("attacks:chmod_of_descriptor", path),
    "chown": lambda worker, path: worker.call("os:chown", path, 0, 0),
    "lchown": lambda worker, path: worker.call("os:lchown", path, 0, 0),
    "utime": lambda worker, path: worker.call("os:utime", path, (1, 1)),
    "setxattr": lambda worker, path: worker.call("attacks:set_attribute", path),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes(confined: Worker, host_file: Path, change: str) -> None:
    """Each fails, and the fixture sees that nothing has changed."""
    path = str(host_file)
    with pytest.raises(RemoteError) as caught:
        CHANGES[change](confined, path)
    assert caught.value.remote.qualname == "PermissionError"
    assert os.listdir(host_file.parent) == [host_file.name]


def test_changes_where_it_may_read(children: str, tmp_path: Path, host_file: Path) -> None:
    """Landlock says nothing of modes, owners and times: without seccomp, who reads could change them."""
    with Worker(paths=[children, str(tmp_path)]) as worker:
        path = str(host_file)
        assert worker.call("attacks:read", path) == SECRET
        denied(worker, "os:chmod", path, 0o777)
        denied(worker, "attacks:chmod_of_descriptor", path)
        denied(worker, "os:chown", path, os.getuid(), os.getgid())
        denied(worker, "os:utime", path, (1, 1))
        denied(worker, "attacks:set_attribute", path)
        denied(worker, "os:truncate", path, 0)


@pytest.mark.parametrize("way", ["move_here", "link_here", "symlink_here"])
def test_no_way_through_its_own_folder(confined: Worker, host_file: Path, way: str) -> None:
    """What lies outside cannot be moved, linked or reached through a link."""
    with pytest.raises(RemoteError) as caught:
        confined.call(f"attacks:{way}", str(host_file))
    remote = caught.value.remote
    # EXDEV: Landlock's answer to a move or link between folders of different rights; then a copy fails.
    assert remote.qualname in ("PermissionError", "OSError"), remote
    assert remote.fields["errno"] in (1, 13, 18)


def test_devices(confined: Worker) -> None:
    """The two that the interpreter needs."""
    assert len(confined.call("os:urandom", 8)) == 8
    assert confined.call("attacks:read", "/dev/null") == b""
    assert confined.call("attacks:write", "/dev/null", b"x") == 1
    denied(confined, "attacks:read", "/dev/zero")
    denied(confined, "attacks:read", "/dev/tty")
    denied(confined, "attacks:write", "/dev/urandom", b"x")


def test_without_isolation_the_same_succeeds(children: str, host_file: Path) -> None:
    """So that the tests above test the sandbox."""
    with Worker(paths=[children], isolation="none") as worker:
        path = str(host_file)
        assert worker.call("attacks:read", path) == SECRET
        assert worker.call("attacks:symlink_here", path) == SECRET
        copy = f"{path}.copy"
        worker.call("attacks:write", copy, b"x")
        worker.call("attacks:chmod_of_descriptor", copy)
        assert stat.S_IMODE(os.stat(copy).st_mode) == 0o777
        worker.call("os:truncate", copy, 0)
        assert os.path.getsize(copy) == 0
        worker.call("os:unlink", copy)
