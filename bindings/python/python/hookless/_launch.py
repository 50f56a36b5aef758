"""Starts a worker's child, and ends it."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hookless._hookless import dumps, loads
from hookless._launcher import command
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

# Bytes of a report, which the socket holds: no child waits for its report to be read.
_REPORT = 65_536

# Bytes of output that are read at once, and in a row: a child that never stops writing does not hold up its
# own result.
_READ, _DRAIN = 65_536, 1 << 20

# struct ucred: process, user and group of who wrote, as numbers of the reader's own namespaces.
_CREDENTIALS = struct.Struct("3i")

Drain = Callable[[], object]
# layers and missing are lists of name and text; refused is the layer and the message of an error.
Report: TypeAlias = dict[str, Any]


def launch(settings: Mapping[str, object], launcher: Sequence[str] = ()) -> Child:
    """Start a child with these settings (see `_child.main`), as the leader of a session and a process group.

    With a launcher (see `_launcher.check`) that is the leader, and starts the child. Raises OSError where the
    system refuses.
    """
    if not sys.executable:
        raise HooklessError("sys.executable is empty, so there is no interpreter to start a worker with")
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | ENVIRONMENT
    scratch = Scratch()
    environment |= {"TMPDIR": scratch.path, "HOME": scratch.path}
    ours, theirs = socket.socketpair()
    told, tells = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        told.setblocking(False)
        # A launcher hides which process the child is. The kernel tells who writes.
        told.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BUFFER)
        channel, report = theirs.fileno(), tells.fileno()
        own = {"fd": channel, "report": report, "scratch": scratch.path}
        around = command(launcher, scratch=scratch.path, channel=channel, report=report)
        request = dumps(own | dict(settings)).hex()
        process = subprocess.Popen(
            [*around, sys.executable, *_FLAGS, _HOME, request],
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[channel, report],
            cwd=scratch.path,
            env=environment,
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        told.close()
        scratch.remove()
        raise
    finally:
        theirs.close()
        tells.close()
    return Child(process, ours, told, scratch, is_launched=bool(launcher))


def life_of(pid: int) -> int:
    """Return a descriptor that is ready once a process has ended; -1 if there is none."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


class Child:
    """A child process, the pipes of its output, and the host's end of the channel to it."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        channel: socket.socket,
        told: socket.socket,
        scratch: Scratch,
        *,
        is_launched: bool,
    ) -> None:
        assert process.stdout is not None and process.stderr is not None
        # The process that was started: the child, or its launcher.
        self.pid = process.pid
        self.is_launched = is_launched
        # The child itself, known once it has reported; 0 if the kernel does not tell.
        self.inner = 0 if is_launched else self.pid
        self._inner_life = -1
        # Descriptors of its standard output and standard error; -1 for one that has ended.
        self.outputs: tuple[int, ...] = (process.stdout.fileno(), process.stderr.fileno())
        self._poll = select.poll()
        for descriptor in self.outputs:
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        # Ready once it has ended; -1 where the kernel is too old to tell.
        self.life = life_of(self.pid)
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
        if self._told.fileno() >= 0:
            try:
                text, extra, *_ = self._told.recvmsg(_REPORT, socket.CMSG_SPACE(_CREDENTIALS.size))
            except OSError:  # Nothing is there, or nobody is.
                text, extra = b"", []
            self._told.close()
            self._report = loads(text) if text else {}
            if text and self.is_launched:
                self._meet(extra)
        return self._report

    def _meet(self, extra: list[tuple[int, int, bytes]]) -> None:
        """Take from the kernel which process wrote the report."""
        for level, kind, data in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                self.inner = _CREDENTIALS.unpack_from(data)[0]
        if self.inner > 0:
            self._inner_life = life_of(self.inner)

    def hang_up(self) -> None:
        """End the stream, also for a thread that waits for an answer."""
        try:
            self._channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The child was first.

    def drain(self, take: Callable[[int, bytes], object]) -> None:
        """Read what the pipes hold, without waiting: `take` is given 0 or 1, and bytes."""
        if max(self.outputs, default=-1) < 0 or not self._poll.poll(0):
            return
        for index in range(len(self.outputs)):
            left = _DRAIN
            while left > 0 and (descriptor := self.outputs[index]) >= 0:
                try:
                    data = os.read(descriptor, _READ)
                except BlockingIOError:
                    break
                if not data:
                    self.end_output(index)
                    break
                take(index, data)
                left -= len(data)

    def end_output(self, index: int) -> None:
        """Note that a pipe has ended: nobody holds its other end any more."""
        descriptor = self.outputs[index]
        if descriptor >= 0:
            self._poll.unregister(descriptor)
            self.outputs = tuple(-1 if at == index else one for at, one in enumerate(self.outputs))

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the child and its process group, unless the child has been reaped."""
        with self._lock:
            if self._process.returncode is None:
                try:
                    if self.life >= 0:
                        # By the descriptor first: a host that waits for all of its children may have reaped
                        # this one, and its number may be that of another.
                        signal.pidfd_send_signal(self.life, number)
                    os.killpg(self.pid, number)
                except (ProcessLookupError, PermissionError):
                    pass  # Nobody is left who could take it.
            if self._inner_life >= 0:
                try:
                    # It may have left the group of its launcher.
                    signal.pidfd_send_signal(self._inner_life, number)
                except (ProcessLookupError, PermissionError):
                    pass

    def nudge(self) -> None:
        """Send the signal that a frame raises in the child once more; it is ignored by whoever knows none.

        One that came just before the code began to wait, but after the interpreter had looked, interrupts
        nothing. To be called by who may end the child.
        """
        for life in (self.life, self._inner_life):
            if life >= 0:
                try:
                    signal.pidfd_send_signal(life, signal.SIGURG)
                except (ProcessLookupError, PermissionError):
                    pass

    def wait(self, seconds: float, drain: Drain) -> bool:
        """Wait for the child's end; return whether it came. Its output is drained: it may wait for that."""
        end, pause = time.monotonic() + seconds, 0.0005
        while True:
            # Asked before draining, so that nothing written before the end is missed.
            ended = self.has_ended()
            drain()
            left = end - time.monotonic()
            if ended or left <= 0:
                return ended
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.05)

    def has_ended(self) -> bool:
        """Whether the process is gone, or waits to be reaped."""
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True  # It has been reaped, by us or by a host that waits for all of its children.

    def end(self, patience: float, drain: Drain, asked: float | None = None) -> int | None:
        """Make the child end, and reap it. Return its status as `Popen` has it; None if it had to be stopped.

        For `patience` seconds it may end by itself; then SIGTERM asks it to, and, `asked` seconds later,
        SIGKILL makes it. With 0 seconds that step is left out; `asked` is 1 where there is patience, else 0.
        """
        # If it could not start, this is the first to ask which process it is.
        self.report()
        if asked is None:
            asked = 1.0 if patience else 0.0
        by_itself = self.wait(patience, drain)
        if asked and not by_itself:
            self.signal(signal.SIGTERM)
            self.wait(asked, drain)
        # Also to what the child has started: the number of its group is not free before it is reaped.
        self.signal(signal.SIGKILL)
        # Killed is not yet gone: gigabytes of memory take a moment to be freed.
        if self.wait(10.0, drain):
            with self._lock:
                self._process.wait()
        if self._inner_life >= 0:
            # Whoever adopted it reaps it; but what it held shall be free.
            inner = select.poll()
            inner.register(self._inner_life, select.POLLIN)
            inner.poll(10_000)
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
        if self._inner_life >= 0:
            os.close(self._inner_life)
            self._inner_life = -1
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def disown(self) -> None:
        """Leave the child to the process that started it; this one is a fork of it."""
        self.forget()
        self._process.returncode = 0  # Otherwise `Popen` would say that nobody waits for the child.
