"""Starts a worker's child, and ends it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from hookless._hookless import dumps, loads
from hookless._scratch import Scratch
from hookless.errors import HooklessError

__all__ = ["ENVIRONMENT", "PASSED_ON", "Child", "launch"]

# All that a child finds in its environment, with its scratch folder, and how many threads the host wants to
# compute with. glibc makes many arenas otherwise, each of which reserves 64 MiB that count as memory in use.
ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "4"}
PASSED_ON = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# Isolated mode: no PYTHON* variable, no user site, not the current folder. The first argument is the folder
# that hookless itself was imported from; it comes last, so that it hides no module of the interpreter.
_PROGRAM = (
    "import sys; sys.argv[1] in sys.path or sys.path.append(sys.argv[1]); "
    "from hookless._child import main; main(sys.argv[2])"
)
_FLAGS = ("-I", "-B", "-X", "faulthandler", "-c", _PROGRAM)
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What is in flight stays in the processor's cache between one copy and the next, and is enough that an end
# which waits is not woken all too often. The kernel doubles it, for what it needs beside the bytes.
_SOCKET_BUFFER = 512 << 10

# A pipe holds that much, so that no child waits for its report to be read.
_REPORT = 65_536

Drain = Callable[[], object]
# layers and missing are lists of name and text; refused is the layer and the message of an error.
Report: TypeAlias = dict[str, Any]


def launch(settings: Mapping[str, object]) -> Child:
    """Start a child with these settings (see `_child.main`), as the leader of a session and a process group.

    Raises OSError where the system refuses.
    """
    if not sys.executable:
        raise HooklessError("sys.executable is empty, so there is no interpreter to start a worker with")
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | ENVIRONMENT
    scratch = Scratch()
    environment |= {"TMPDIR": scratch.path, "HOME": scratch.path}
    ours, theirs = socket.socketpair()
    told, tells = os.pipe()
    try:
        os.set_blocking(told, False)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BUFFER)
        own = {"fd": theirs.fileno(), "report": tells, "scratch": scratch.path}
        request = dumps(own | dict(settings)).hex()
        process = subprocess.Popen(
            [sys.executable, *_FLAGS, _HOME, request],
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno(), tells],
            cwd=scratch.path,
            env=environment,
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        os.close(told)
        scratch.remove()
        raise
    finally:
        theirs.close()
        os.close(tells)
    return Child(process, ours, told, scratch)


def _life(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


class Child:
    """A child process, the pipes of its output, and the host's end of the channel to it."""

    def __init__(
        self, process: subprocess.Popen[bytes], channel: socket.socket, told: int, scratch: Scratch
    ) -> None:
        assert process.stdout is not None and process.stderr is not None
        self.pid = process.pid
        # Descriptors of its standard output and standard error, as long as they are open.
        self.outputs: tuple[int, ...] = (process.stdout.fileno(), process.stderr.fileno())
        for descriptor in self.outputs:
            os.set_blocking(descriptor, False)
        # Ready once it has ended; -1 where the kernel is too old to tell.
        self.life = _life(self.pid)
        self._process = process
        self._channel = channel
        self._told = told
        self._report: Report = {}
        self._scratch = scratch
        # Held while the process is signalled or reaped: no signal may go to whoever has its number next.
        # Not a Lock: a signal handler that closes the worker may come while it is held.
        self._lock = threading.RLock()

    def take_channel(self) -> int:
        """Return a descriptor of the channel, for the caller to own; another one stays here for `hang_up`."""
        return self._channel.dup().detach()

    def report(self) -> Report:
        """Return what the child told of its isolation; nothing if it did not come so far.

        It tells it before it says HELLO, and runs no foreign code before that.
        """
        if self._told >= 0:
            try:
                text = os.read(self._told, _REPORT)
            except BlockingIOError:
                text = b""
            os.close(self._told)
            self._told = -1
            self._report = loads(text) if text else {}
        return self._report

    def hang_up(self) -> None:
        """End the stream, also for a thread that waits for an answer."""
        try:
            self._channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The child was first.

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the child's process group, unless the child has been reaped."""
        with self._lock:
            if self._process.returncode is None:
                try:
                    os.killpg(self.pid, number)
                except (ProcessLookupError, PermissionError):
                    pass  # Nobody is left who could take it.

    def wait(self, seconds: float, drain: Drain) -> bool:
        """Wait for the child's end; return whether it came. Its output is drained: it may wait for that."""
        end, pause = time.monotonic() + seconds, 0.0005
        while True:
            # Asked before draining, so that nothing written before the end is missed.
            ended = self._has_ended()
            drain()
            left = end - time.monotonic()
            if ended or left <= 0:
                return ended
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.05)

    def _has_ended(self) -> bool:
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True  # It has been reaped, by us or by a host that waits for all of its children.

    def end(self, patience: float, drain: Drain) -> int | None:
        """Make the child end, and reap it. Return its status as `Popen` has it; None if it had to be stopped.

        For `patience` seconds it may end by itself; then SIGTERM asks it to, and SIGKILL makes it.
        """
        by_itself = self.wait(patience, drain)
        if patience and not by_itself:
            self.signal(signal.SIGTERM)
            self.wait(1.0, drain)
        # Also to what the child has started: the number of its group is not free before it is reaped.
        self.signal(signal.SIGKILL)
        # Killed is not yet gone: gigabytes of memory take a moment to be freed.
        if self.wait(10.0, drain):
            with self._lock:
                self._process.wait()
        self.forget()
        self._scratch.remove()
        return self._process.returncode if by_itself else None

    @property
    def is_held(self) -> bool:
        """Whether it has still to be reaped, or descriptors of it closed."""
        return self._process.returncode is None or self._channel.fileno() >= 0

    def forget(self) -> None:
        """Close the descriptors that this process holds."""
        # Their numbers may soon be those of other files.
        self.outputs = ()
        if self.life >= 0:
            os.close(self.life)
            self.life = -1
        self._channel.close()
        self.report()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def disown(self) -> None:
        """Leave the child to the process that started it; this one is a fork of it."""
        self.forget()
        self._process.returncode = 0  # Otherwise `Popen` would say that nobody waits for the child.
