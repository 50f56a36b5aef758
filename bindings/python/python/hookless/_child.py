"""The start of a worker's child: gives up what it can, says HELLO, and lets the driver answer calls.

It trusts the host. Nobody trusts the code that it calls, which may break its loop, but only in this process.
"""

from __future__ import annotations

import io
import os
import sys

import hookless.worker
from hookless._driver import Driver, flush
from hookless._hookless import Channel, Limits, close_descriptors, dumps, loads, lockdown
from hookless._invoke import run_function
from hookless._readable import readable
from hookless._safe import never_interrupted
from hookless.errors import IsolationError

# Each module that is imported here is a part of each child's start: json and traceback, with the regular
# expressions that they load, take as long as all the rest; logging takes that long again.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import ITIMER_REAL, SIG_DFL, SIGALRM, setitimer, signal
    from typing import Any
else:
    from _signal import ITIMER_REAL, SIG_DFL, SIGALRM, setitimer, signal  # `signal` loads `enum`

__all__ = ["main", "run_function"]


# Seconds. A host takes a stream's items when it likes, and may let a large one stand half read meanwhile;
# when it is gone, the stream ends.
_FOREVER = 1e9

# Seconds that code has to clean up when the stream has ended. More than any host waits: this is for code that
# heeds nothing and whose host is gone, so that nobody else ends it.
_LAST = 10.0


def main(request: str) -> None:
    """Be the child, to the end of the process.

    `request` is a VALUE frame in hexadecimal, of a dict: isolation, paths, limits and rlimits, as the
    host's `Worker` was given them; fd, the channel; write_fd, what is written to, if that is another one;
    report, the socket that is told how the isolation went, or -1 to tell it on standard error; and scratch,
    the folder to write to.
    """
    status = 1
    try:
        channel, hears = _prepare(loads(bytes.fromhex(request)))
        channel.hello()
        driver = Driver(channel, channel.peer_limits, hears=hears)
        hookless.worker._driver = driver
        driver.at_end = _end_soon
        driver.heed_signals()
        driver.run()
        status = 0
    except BaseException:  # noqa: BLE001 (the host is told by the exit status and by standard error)
        import traceback

        traceback.print_exc()
    finally:
        flush()
        # At once: threads that foreign code left behind could hold up an orderly end for ever.
        os._exit(status)


def _end_soon() -> None:
    """Have the kernel end this process, whatever its code does then."""
    try:
        signal(SIGALRM, SIG_DFL)
        setitimer(ITIMER_REAL, _LAST)
    except (OSError, ValueError):
        pass  # A sandbox around this one may forbid it.


def _prepare(settings: dict[str, Any]) -> tuple[Channel, bool]:
    """Give up what foreign code shall not have; return the channel, and whether it can raise signals."""
    descriptor: int = settings["fd"]
    report: int = settings["report"]
    ours: list[int] = [descriptor, *([settings["write_fd"]] if "write_fd" in settings else [])]
    close_descriptors([*ours, *([report] if report >= 0 else [])])
    # It leads a session of its own: no Ctrl-C comes here.
    never_interrupted()
    # What foreign code starts must not hold the channel open when this process is gone.
    for one in ours:
        os.set_inheritable(one, False)
    os.register_at_fork(after_in_child=lambda: _cut_off(ours))
    limits, write_fd = Limits(**settings["limits"]), settings.get("write_fd")
    channel = Channel(descriptor, "worker", limits=limits, stall=_FOREVER, write_fd=write_fd)
    try:
        channel.listen_setup()
        hears = True
    except OSError:
        # A sandbox around this one may forbid it. Then the host's patience ends what it has cancelled.
        hears = False
    _lock_down(settings, report)
    hookless.worker._channel = descriptor
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    sys.argv[:] = ["hookless"]
    sys.path[:0] = settings["paths"]
    return channel, hears


def _lock_down(settings: dict[str, Any], report: int) -> None:
    """Put the isolation in force, and tell the host of it while this process runs no code but ours."""
    told: dict[str, Any] = {}
    try:
        layers, missing = lockdown(
            settings["isolation"],
            readable=readable(),
            required=settings["paths"],
            writable=[settings["scratch"]],
            **settings["rlimits"],
        )
        told = {"layers": layers, "missing": missing}
    except IsolationError as error:
        told = {"refused": [error.layer, str(error)]}
        raise
    finally:
        if report >= 0:
            os.write(report, dumps(told))
            os.close(report)
        else:
            for layer, reason in told.get("missing", ()):
                sys.stderr.write(f"hookless child: no {layer}: {reason}\n")


def _cut_off(descriptors: list[int]) -> None:
    """Take the channel from a fork of this process."""
    driver = hookless.worker._driver
    if driver is not None:
        driver.is_fork = True
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(null, descriptor, inheritable=False)
    os.close(null)
