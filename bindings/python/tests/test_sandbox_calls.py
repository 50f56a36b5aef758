"""From inside a strict worker: no network, no other process, no new process, no change to the system."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookless import RemoteError, Worker
from sandboxed import denied

X86 = platform.machine() == "x86_64"


# Sockets.


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_tcp(confined: Worker, family: socket.AddressFamily) -> None:
    """No connection arrives at a server of the host."""
    address = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()
        denied(confined, "attacks:connect", int(family), int(socket.SOCK_STREAM), server.getsockname())
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        (socket.AF_INET, socket.SOCK_DGRAM),
        (socket.AF_INET6, socket.SOCK_DGRAM),
        (socket.AF_INET, socket.SOCK_RAW),
        (socket.AF_PACKET, socket.SOCK_RAW),
        (socket.AF_NETLINK, socket.SOCK_RAW),
        (socket.AF_UNIX, socket.SOCK_STREAM),
        (socket.AF_UNIX, socket.SOCK_DGRAM),
        (socket.AF_VSOCK, socket.SOCK_STREAM),
        (socket.AF_ALG, socket.SOCK_SEQPACKET),
    ],
    ids=lambda value: value.name,
)
def test_no_socket_of_any_family(
    confined: Worker, family: socket.AddressFamily, kind: socket.SocketKind
) -> None:
    denied(confined, "attacks:make_socket", int(family), int(kind))


@pytest.fixture(params=["pathname", "abstract"])
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A datagram socket of the host, as a system's log has one."""
    address = str(tmp_path / "log") if request.param == "pathname" else f"\0hookless-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(address)
        server.setblocking(False)
        yield server, address


def test_unix_sockets(confined: Worker, listener: tuple[socket.socket, str], children: str) -> None:
    """Nothing arrives, not from one of a pair either, which needs no `socket`. Without isolation it does."""
    server, address = listener
    denied(confined, "attacks:connect", int(socket.AF_UNIX), int(socket.SOCK_DGRAM), address)
    denied(confined, "attacks:send_from_a_pair", address)
    with pytest.raises(BlockingIOError):
        server.recv(100)
    with Worker(paths=[children], isolation="none") as worker:
        worker.call("attacks:send_from_a_pair", address)
    assert server.recv(100) == b"from the child"


def test_out_of_band_bytes(confined: Worker) -> None:
    """Neither sent nor received: code of the kernel that nothing here needs."""
    for name in ("send", "sendmsg", "recv", "recvmsg"):
        denied(confined, "attacks:out_of_band", name)
    confined.call("attacks:out_of_band", "send", 0)


# Other processes.


def test_kill(confined: Worker) -> None:
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        denied(confined, "os:kill", os.getpid(), int(number))
        denied(confined, "os:killpg", os.getpgid(0), int(number))
        denied(confined, "os:kill", -1, int(number))
    denied(confined, "os:pidfd_open", os.getpid())


def test_signals_by_the_kernel(confined: Worker) -> None:
    """F_SETOWN and F_SETSIG send a signal of choice to a process of choice, without kill."""
    denied(confined, "attacks:own_signals_to", os.getpid())
    # F_SETOWN, F_SETSIG and F_SETOWN_EX; F_GETFL is answered.
    number = 72 if X86 else 25
    for command in (8, 10, 15):
        assert confined.call("attacks:syscall", number, 0, command, 0) == "EPERM"
    assert confined.call("attacks:syscall", number, -1, 3, 0) == "EBADF"


def test_process_vm_readv(confined: Worker) -> None:
    secret = ctypes.create_string_buffer(b"secret!")
    assert confined.call("attacks:vm_readv", os.getpid(), ctypes.addressof(secret)) == "EPERM"


def test_setpriority(confined: Worker) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    denied(confined, "os:setpriority", os.PRIO_PROCESS, os.getpid(), 19)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_sched_setaffinity(confined: Worker) -> None:
    before = os.sched_getaffinity(0)
    denied(confined, "attacks:affinity_of", os.getpid())
    denied(confined, "os:sched_getaffinity", os.getpid())
    assert os.sched_getaffinity(0) == before


def test_prlimit(confined: Worker) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    denied(confined, "attacks:limits_of", os.getpid())
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


# New processes.


@pytest.mark.parametrize("attack", ["fork", "execute", "run"])
def test_processes(confined: Worker, attack: str) -> None:
    """`subprocess` takes vfork or posix_spawn, which are clone or clone3."""
    arguments = () if attack == "fork" else ("/bin/true",)
    denied(confined, f"attacks:{attack}", *arguments)


def test_system(confined: Worker) -> None:
    """The C library says that no shell could be started."""
    assert os.waitstatus_to_exitcode(confined.call("os:system", "true")) == 127


# By their numbers: kernels give them the same one on each architecture from 424 on.

CALLS = {
    "clone3": (435, "ENOSYS"),
    "openat2": (437, "ENOSYS"),
    "io_uring_setup": (425, "EPERM"),
    "pidfd_send_signal": (424, "EPERM"),
    "pidfd_open": (434, "EPERM"),
    "pidfd_getfd": (438, "EPERM"),
    "process_madvise": (440, "EPERM"),
    "open_tree": (428, "EPERM"),
    "move_mount": (429, "EPERM"),
    "fsopen": (430, "EPERM"),
    "mount_setattr": (442, "EPERM"),
    "landlock_restrict_self": (446, "EPERM"),
    "memfd_secret": (447, "EPERM"),
    "fchmodat2": (452, "EPERM"),
    "setxattrat": (463, "EPERM"),
    "not given out": (999, "ENOSYS"),
}
CALLS_X86 = {
    "clone": (56, "EPERM"),
    "fork": (57, "EPERM"),
    "vfork": (58, "EPERM"),
    "execve": (59, "EPERM"),
    "execveat": (322, "EPERM"),
    "ptrace": (101, "EPERM"),
    "process_vm_writev": (311, "EPERM"),
    "kcmp": (312, "EPERM"),
    "tkill": (200, "EPERM"),
    "tgkill": (234, "EPERM"),
    "rt_sigqueueinfo": (129, "EPERM"),
    "rt_tgsigqueueinfo": (297, "EPERM"),
    "ioprio_set": (251, "EPERM"),
    "sched_setscheduler": (144, "EPERM"),
    "sched_setattr": (314, "EPERM"),
    "migrate_pages": (256, "EPERM"),
    "move_pages": (279, "EPERM"),
    "bpf": (321, "EPERM"),
    "userfaultfd": (323, "EPERM"),
    "perf_event_open": (298, "EPERM"),
    "add_key": (248, "EPERM"),
    "request_key": (249, "EPERM"),
    "keyctl": (250, "EPERM"),
    "shmget": (29, "EPERM"),
    "shmat": (30, "EPERM"),
    "semget": (64, "EPERM"),
    "msgget": (68, "EPERM"),
    "mq_open": (240, "EPERM"),
    "memfd_create": (319, "EPERM"),
    "mount": (165, "EPERM"),
    "umount2": (166, "EPERM"),
    "pivot_root": (155, "EPERM"),
    "chroot": (161, "EPERM"),
    "unshare": (272, "EPERM"),
    "setns": (308, "EPERM"),
    "sethostname": (170, "EPERM"),
    "setdomainname": (171, "EPERM"),
    "reboot": (169, "EPERM"),
    "init_module": (175, "EPERM"),
    "kexec_load": (246, "EPERM"),
    "settimeofday": (164, "EPERM"),
    "clock_settime": (227, "EPERM"),
    "adjtimex": (159, "EPERM"),
    "swapon": (167, "EPERM"),
    "acct": (163, "EPERM"),
    "quotactl": (179, "EPERM"),
    "syslog": (103, "EPERM"),
    "iopl": (172, "EPERM"),
    "personality": (135, "EPERM"),
    "seccomp": (317, "EPERM"),
    "setuid": (105, "EPERM"),
    "setgroups": (116, "EPERM"),
    "capset": (126, "EPERM"),
    "socket": (41, "EPERM"),
    "connect": (42, "EPERM"),
    "bind": (49, "EPERM"),
    "listen": (50, "EPERM"),
    "accept4": (288, "EPERM"),
    "setsockopt": (54, "EPERM"),
    "name_to_handle_at": (303, "EPERM"),
    "open_by_handle_at": (304, "EPERM"),
    "inotify_init1": (294, "EPERM"),
    "fanotify_init": (300, "EPERM"),
    "utimensat": (280, "EPERM"),
    "futimesat": (261, "EPERM"),
    "utime": (132, "EPERM"),
    "fsetxattr": (190, "EPERM"),
    "removexattr": (197, "EPERM"),
    "fchmodat": (268, "EPERM"),
    "fchownat": (260, "EPERM"),
    "mknod": (133, "EPERM"),
    # The ABI with 32-bit pointers: write, and execve by its own number.
    "x32 write": (0x4000_0001, "ENOSYS"),
    "x32 execve": (0x4000_0208, "ENOSYS"),
}
EXPECTED = CALLS | (CALLS_X86 if X86 else {})


@pytest.mark.parametrize("name", EXPECTED)
def test_system_calls(confined: Worker, name: str) -> None:
    """The filter answers before the kernel looks at arguments; these matter only if it lets a call pass."""
    number, expected = EXPECTED[name]
    arguments = {
        "ptrace": (16, os.getpid(), 0, 0),
        "pidfd_open": (os.getpid(), 0),
        "tkill": (os.getpid(), 0),
        "tgkill": (os.getpid(), os.getpid(), 0),
        "clone": (17, 0, 0, 0, 0),
        "ioprio_set": (1, os.getpid(), 0),
        "add_key": (0, 0, 0, 0, 0),
    }.get(name, (0,) * 6)
    assert confined.call("attacks:syscall", number, *arguments) == expected


def test_host_name(confined: Worker) -> None:
    before = os.uname().nodename
    denied(confined, "socket:sethostname", "hookless")
    assert os.uname().nodename == before


def test_requests_to_devices(confined: Worker) -> None:
    """ioctl is for flags of descriptors and asks for terminals; TIOCSTI would type, FIOSETOWN and
    SIOCSPGRP signal."""
    number = 16 if X86 else 29
    for request in (0x5412, 0x8901, 0x8902, 0x5452, 0x541D, 0x1_0000_5412):
        assert confined.call("attacks:syscall", number, 0, request, 0) == "EPERM"
    # Asked of /dev/null, the kernel itself answers: it looks at 32 bits of a request, and so does the filter.
    assert confined.call("attacks:syscall", number, 0, 0x5401, 0) == "ENOTTY"
    assert confined.call("attacks:syscall", number, 0, 0x1_0000_5401, 0) == "ENOTTY"


def test_the_filter_cannot_be_undone(confined: Worker) -> None:
    """prctl: neither seccomp, nor securebits, nor being debugged by others."""
    number = 157 if X86 else 167
    for request in (22, 28, 4, 0x5961_6D61, 38, 35):
        assert confined.call("attacks:syscall", number, request, 0, 0, 0, 0) == "EPERM"


# Descriptors.


def test_descriptors_of_the_host(tmp_path: Path, children: str) -> None:
    """A file that the host left open and inheritable is not there under its number."""
    secret = tmp_path / "secret.txt"
    secret.write_bytes(b"secret")
    opened = os.open(secret, os.O_RDWR)
    high = os.dup2(opened, 200, inheritable=True)
    os.close(opened)
    try:
        with Worker(paths=[children]) as worker:
            with pytest.raises(RemoteError, match="Bad file descriptor"):
                worker.call("attacks:read_descriptor", high)
            pid = worker.call("os:getpid")
            # 0, 1, 2, the channel, and what wakes a thread that waits for it.
            assert len(os.listdir(f"/proc/{pid}/fd")) == 5
    finally:
        os.close(high)


# Privileges.


def test_no_capability_is_left(confined: Worker) -> None:
    """Also as root; asked of the kernel from outside."""
    pid = confined.call("os:getpid")
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
    )
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[name], 16) == 0, name
    if os.getuid() == 0:
        assert int(status["CapBnd"], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"], status["Seccomp_filters"]) == ("1", "2", "2")
