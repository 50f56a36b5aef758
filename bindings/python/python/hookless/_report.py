"""What holds a child back, as the kernel tells it from outside."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable

__all__ = ["in_force", "is_confined"]

_RLIMITS = {
    "core": resource.RLIMIT_CORE,
    "fsize": resource.RLIMIT_FSIZE,
    "nofile": resource.RLIMIT_NOFILE,
    "as": resource.RLIMIT_AS,
    "cpu": resource.RLIMIT_CPU,
    "nproc": resource.RLIMIT_NPROC,
}
# What each mode comes to; and what follows from a barrier that is not there.
_MODES = {
    "strict": "strict: all layers are in force",
    "auto": "auto: the layers that this kernel has are in force",
    "none": "none: the child may do all that the user who runs it may do",
}
# The same, of a child that has a launcher: what that leaves it is not known here.
_MODES_INSIDE = {**_MODES, "none": "none: the child may do all that its launcher leaves it"}
_OPEN_INSIDE = {
    "capabilities": "kept: what the launcher leaves it",
    "landlock": "none of its own: it may open any file that the launcher leaves it",
    "seccomp": "none of its own: it may make any system call that the launcher leaves it",
}
_OPEN = {
    "capabilities": "kept: what the host has",
    "landlock": "none: it may open any file of the user",
    "seccomp": "none: it may make any system call, open sockets, start processes",
}


# What is added to the word of a child that the kernel cannot be asked about.
_CLAIM = ", as the child reported"


def in_force(pid: int, mode: str, layers: Iterable[tuple[str, str]], launcher: str = "") -> dict[str, str]:
    """Return the layers around a child by name, with what each does or does not do.

    To be asked when the child has said HELLO and runs no foreign code yet: it will start with that. The
    child's own bootstrap told of `layers`; the others the kernel tells from outside. Where a launcher keeps
    the kernel from telling which process the child is, `pid` is 0.
    """
    told = dict(layers)
    modes, lacking = (_MODES_INSIDE, _OPEN_INSIDE) if launcher else (_MODES, _OPEN)
    found = {
        "mode": modes[mode],
        **{name: told.get(name, without) for name, without in lacking.items()},
        "session": _told(_session if not launcher else _session_of_a_launcher, pid),
        "descriptors": _told(_descriptors, pid),
        "environment": _told(_environment, pid),
        "no_new_privs": _told(_no_new_privs, pid),
        "rlimits": _told(_rlimits, pid),
    }
    if launcher:
        found["launcher"] = f"{launcher}: what it does is not checked, but for the namespaces"
        found["namespaces"] = _told(_namespaces, pid)
    if pid == 0:
        for name in ("mode", *_OPEN):
            found[name] += _CLAIM
    return found


def is_confined(pid: int) -> bool:
    """Whether the kernel filters the system calls of a process, which can then gain no privilege either."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            status = file.read()
    except OSError:  # It has just ended, or is none of this user's to see.
        return False
    return b"\nSeccomp:\t2\n" in status and b"\nNoNewPrivs:\t1\n" in status


def _told(ask: Callable[[int], str], pid: int) -> str:
    if pid == 0:
        return "not known: the kernel does not tell which process the child is"
    try:
        return ask(pid)
    except OSError as error:
        return f"not known: {error}"


def _session(pid: int) -> str:
    leads = os.getsid(pid) == pid == os.getpgid(pid)
    return "leads its own, without a terminal" if leads else "none: it shares that of another process"


def _session_of_a_launcher(pid: int) -> str:
    # The launcher was made the leader of a session of its own.
    return "without a terminal" if os.getsid(pid) != os.getsid(0) else "none: it shares that of the host"


def _namespaces(pid: int) -> str:
    own: list[str] = []
    shared: list[str] = []
    for name in sorted(os.listdir("/proc/self/ns")):
        if not name.endswith("_for_children"):
            same = os.readlink(f"/proc/{pid}/ns/{name}") == os.readlink(f"/proc/self/ns/{name}")
            (shared if same else own).append(name)
    return f"not the host's: {', '.join(own) or 'none'}; shared with the host: {', '.join(shared) or 'none'}"


def _descriptors(pid: int) -> str:
    found = sorted(map(int, os.listdir(f"/proc/{pid}/fd")))
    return f"open are {', '.join(map(str, found))}: standard streams and the channel"


def _environment(pid: int) -> str:
    with open(f"/proc/{pid}/environ", "rb") as file:
        variables = file.read().split(b"\0")
    names = [one.partition(b"=")[0].decode("utf-8", "backslashreplace") for one in variables if one]
    return f"holds {', '.join(names) or 'nothing'}"


def _no_new_privs(pid: int) -> str:
    with open(f"/proc/{pid}/status", "rb") as file:
        on = b"NoNewPrivs:\t1\n" in file.read()
    return "set-user-id programs gain nothing" if on else "none"


def _rlimits(pid: int) -> str:
    hard = {name: resource.prlimit(pid, number)[1] for name, number in _RLIMITS.items()}
    finite = [f"{name} {most}" for name, most in hard.items() if most != resource.RLIM_INFINITY]
    return ", ".join(finite) or "none"
