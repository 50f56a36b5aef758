"""Starts a child and greets it: what a worker of either kind begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hookless._hookless import Channel, Limits
from hookless._launch import Child, launch
from hookless._output import Output
from hookless._peer import ISOLATION, Peer
from hookless._report import in_force, is_confined
from hookless._verdict import died
from hookless.errors import DeadlineExceeded, HooklessError, IsolationError

__all__ = ["Started", "attach", "start"]

# Seconds that a child has to end by itself if it could not start.
_PATIENCE = 2.0


@dataclass(frozen=True)
class Started:
    """A child that has said HELLO."""

    child: Child | Peer
    channel: Channel
    output: Output
    isolation: dict[str, str]
    # Layers that are not in force, with the reason; none in strict mode.
    missing: list[tuple[str, str]]


def start(
    settings: Mapping[str, object],
    limits: Limits | None,
    stall: float,
    start_timeout: float,
    launcher: Sequence[str] = (),
) -> Started:
    """Start a child. `settings` are those of `_child.main`, but for what `launch` adds to them.

    Raises IsolationError, WorkerDied, DeadlineExceeded and what a broken channel raises; no child is left
    then. OSError where the system refuses.
    """
    child, output = launch(settings, launcher), Output()
    try:
        channel = Channel(child.take_channel(), "host", limits=limits, stall=stall)
    except BaseException:
        child.end(0.0, lambda: None)
        raise
    try:
        _greet(child, channel, output, start_timeout)
        mode = str(settings["isolation"])
        report = child.report()
        # A launcher may be all that the kernel shows; then the child's own word has to do.
        pid = child.inner
        isolation = in_force(pid, mode, report.get("layers", []), *launcher[:1])
        if mode == "strict" and pid and not is_confined(pid):
            raise IsolationError("the kernel does not confirm that the child's system calls are filtered")
    except BaseException:
        channel.close()
        child.hang_up()
        # A second time, after `_greet`, is fine.
        child.end(0.0, lambda: child.drain(output.keep))
        raise
    missing = [(name, reason) for name, reason in report.get("missing", [])]
    return Started(child, channel, output, isolation, missing)


def attach(peer: Peer, limits: Limits | None, stall: float, start_timeout: float) -> Started:
    """Greet whoever serves the other end of a stream. Raises as `start` does; the stream is closed then."""
    try:
        channel = peer.make_channel(limits, stall)
    except BaseException:
        peer.forget()
        raise
    try:
        channel.hello(start_timeout)
    except BaseException as error:
        channel.close()
        peer.forget()
        if isinstance(error, DeadlineExceeded):
            text = f"the other end of the channel did not answer within {start_timeout:g} s"
            raise DeadlineExceeded(text) from None
        raise
    return Started(peer, channel, Output(), dict(ISOLATION), [])


def _greet(child: Child, channel: Channel, output: Output, seconds: float) -> None:
    try:
        channel.hello(seconds)
    except DeadlineExceeded:
        raise DeadlineExceeded(f"the worker's child did not start within {seconds:g} s") from None
    except (HooklessError, OSError) as error:
        # Most likely it could not import hookless, or could not lock itself down: its last words tell.
        channel.close()
        child.hang_up()
        status = child.end(_PATIENCE, lambda: child.drain(output.keep))
        if refused := child.report().get("refused"):
            layer, message = refused
            raise IsolationError(
                f"{message}. isolation='auto' goes without it, and warns", layer=layer
            ) from None
        if status is None:
            raise
        raise died("the worker's child did not start: it", status, output.errors) from error
