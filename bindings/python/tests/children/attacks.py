"""What foreign code tries from inside a sandboxed child. Imported there; the host only names it."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from typing import Any, NoReturn

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def syscall(number: int, *args: int) -> str:
    """The name of the error that a system call gives; its result, as text, if it gives none."""
    found = LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, args))
    return errno.errorcode.get(ctypes.get_errno(), "?") if found == -1 else str(found)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(path: str, data: bytes) -> int:
    with open(path, "wb") as file:
        return file.write(data)


def chmod_of_descriptor(path: str) -> None:
    with open(path, "rb") as file:
        os.fchmod(file.fileno(), 0o777)


def set_attribute(path: str) -> None:
    os.setxattr(path, "user.hookless", b"was here")


def move_here(path: str) -> None:
    os.rename(path, os.path.join(os.environ["TMPDIR"], "taken"))


def link_here(path: str) -> bytes:
    """A second name for a file of the host, in a folder that can be written."""
    name = os.path.join(os.environ["TMPDIR"], "link")
    os.link(path, name)
    return read(name)


def symlink_here(path: str) -> bytes:
    name = os.path.join(os.environ["TMPDIR"], "symbolic")
    os.symlink(path, name)
    return read(name)


def make_socket(family: int, kind: int) -> None:
    socket.socket(family, kind).close()


def connect(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as opened:
        opened.connect(tuple(address) if isinstance(address, list) else address)


def send_from_a_pair(address: str) -> None:
    """One of a pair of datagram sockets can send to any address that it names."""
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with left, right:
        left.sendto(b"from the child", address)


def out_of_band(name: str, flags: int = int(socket.MSG_OOB)) -> None:
    """One call on a pair of its own."""
    arguments: dict[str, tuple[Any, ...]] = {
        "send": (b"x", flags),
        "sendmsg": ([b"x"], [], flags),
        "recv": (1, flags | socket.MSG_DONTWAIT),
        "recvmsg": (1, 0, flags | socket.MSG_DONTWAIT),
    }
    left, right = socket.socketpair()
    with left, right:
        getattr(left, name)(*arguments[name])


def own_signals_to(pid: int) -> None:
    """Lets the kernel signal another process, when the socket has something to read."""
    import fcntl

    left, right = socket.socketpair()
    with left, right:
        fcntl.fcntl(left, fcntl.F_SETOWN, pid)
        fcntl.fcntl(left, 10, 9)  # F_SETSIG, SIGKILL
        fcntl.fcntl(left, fcntl.F_SETFL, fcntl.fcntl(left, fcntl.F_GETFL) | os.O_ASYNC)
        right.send(b"x")


def affinity_of(pid: int) -> None:
    os.sched_setaffinity(pid, {0})


def limits_of(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (16, 16))


def fork() -> NoReturn:
    if os.fork() == 0:
        os._exit(0)
    raise AssertionError("it forked")


def run(program: str) -> int:
    return subprocess.run([program]).returncode


def execute(program: str) -> NoReturn:
    os.execv(program, [program])


def vm_readv(pid: int, address: int) -> str:
    """Reads 8 bytes of another process's memory."""
    here = ctypes.create_string_buffer(8)
    local = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(here), 8))
    remote = ctypes.create_string_buffer(struct.pack("PN", address, 8))
    number = 310 if os.uname().machine == "x86_64" else 270
    return syscall(number, pid, ctypes.addressof(local), 1, ctypes.addressof(remote), 1, 0)


def read_descriptor(number: int) -> bytes:
    return os.read(number, 100)


# Bombs.


def fill_memory() -> NoReturn:
    held = []
    while True:
        held.append(bytearray(64 << 20))


def fill_shared_memory() -> NoReturn:
    """Mappings that the limit on data does not count."""
    import mmap

    held = []
    block = b"x" * (1 << 20)
    while True:
        held.append(mmap.mmap(-1, 32 << 20))
        for _ in range(32):
            held[-1].write(block)


def burn() -> NoReturn:
    while True:
        pass


def burn_on() -> NoReturn:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    burn()


def fill_file() -> None:
    with open("large", "wb", buffering=0) as file:
        while file.write(b"x" * (1 << 20)):
            pass


def open_many() -> None:
    held = []
    while True:
        held.append(open("/dev/null"))  # noqa: SIM115


def start_threads() -> NoReturn:
    stop = threading.Event()
    threads = []
    try:
        while True:
            threads.append(threading.Thread(target=stop.wait))
            threads[-1].start()
    finally:
        count = len(threads)
        stop.set()
        print(count, file=sys.stderr)


def nest_folders(depth: int) -> None:
    """Deeper than any path can be long."""
    for _ in range(depth):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
    os.mkdir("closed", 0)
    write("file", b"x")
    os.symlink("/etc", "link")
