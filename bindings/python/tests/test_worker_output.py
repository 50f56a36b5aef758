"""What a child prints: events for the host, never the host's own output."""

from __future__ import annotations

import sys
from collections import defaultdict

import pytest

import hookless
from hookless import RemoteError, Worker


class Heard:
    """Collects what `on_output` is given."""

    def __init__(self) -> None:
        self.streams: dict[str, bytes] = defaultdict(bytes)

    def __call__(self, stream: str, data: bytes) -> None:
        assert stream in ("stdout", "stderr")
        assert type(data) is bytes and data
        self.streams[stream] += data


def test_output_is_not_the_hosts(children: str, capfd: pytest.CaptureFixture[str]) -> None:
    """By default nothing reaches the host's descriptors; the last of it is kept."""
    with Worker(paths=[children], isolation="none") as worker:
        assert worker.call("jobs:speak", "to stdout", "to stderr") == 1
        assert b"to stdout" in worker.output and b"to stderr" in worker.output
    assert capfd.readouterr() == ("", "")


def test_on_output(children: str, capfd: pytest.CaptureFixture[str]) -> None:
    """All of it has been given before the call returns, by stream."""
    heard = Heard()
    with Worker(paths=[children], isolation="none") as worker:
        for _ in range(20):
            heard.streams.clear()
            worker.options(on_output=heard).call("jobs:speak", "caf\u00e9", "err")
            assert sorted(heard.streams["stdout"].splitlines()) == sorted([b"raw", "caf\u00e9".encode()])
            assert heard.streams["stderr"] == b"err\n"
        heard.streams.clear()
        worker.call("jobs:speak", "silent", "again")
        assert not heard.streams
    assert capfd.readouterr() == ("", "")


def test_text_without_a_line_end_is_flushed(children: str) -> None:
    """What sits in the child's own buffers belongs to the call too, also when it fails."""
    heard = Heard()
    with Worker(paths=[children], isolation="none") as worker:
        worker.options(on_output=heard).call("jobs:unflushed", "no line end")
    assert heard.streams["stdout"] == b"no line end"


@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_flood_neither_blocks_nor_kills(children: str, descriptor: int) -> None:
    """100 MB are drained while the call runs; only the last 64 KiB stay."""
    with Worker(paths=[children], isolation="none") as worker:
        pid = worker.call("jobs:pid")
        assert worker.call("jobs:flood", descriptor, 100_000_000) == 7
        assert 0 < len(worker.output) <= 65_536
        assert worker.call("jobs:pid") == pid


def test_a_flood_is_given_in_full_up_to_the_budget(children: str) -> None:
    """The first MiB arrives byte for byte; a reader that lags never gets unbounded memory."""
    heard = Heard()
    with Worker(paths=[children], isolation="none") as worker:
        worker.options(on_output=heard).call("jobs:flood", 1, 1 << 20)
        assert heard.streams["stdout"] == b"x" * (1 << 20)
        heard.streams.clear()
        assert worker.options(on_output=heard).call("jobs:flood", 1, 40 << 20) == 7
        assert len(heard.streams["stdout"]) >= 1 << 20


def test_output_and_result_at_once(children: str) -> None:
    """A thread that prints does not disturb the channel: they are different descriptors."""
    with Worker(paths=[children], isolation="none") as worker:
        assert worker.call("jobs:flood_from_a_thread", 0.5) == "z" * 1_000_000


def test_large_argument_while_the_child_prints(children: str) -> None:
    """The host reads while it writes: a child that prints before it reads its argument is no deadlock."""
    with Worker(paths=[children], isolation="none") as worker:
        worker.call("jobs:flood", 1, 1_000_000)
        data = b"a" * (20 << 20)
        assert worker.call("jobs:same", data) == data


def test_an_error_of_on_output_comes_out(children: str) -> None:
    """A bug in the host's own function is not swallowed, and does not leave a child behind."""

    def broken(stream: str, data: bytes) -> None:
        raise LookupError("in the host's function")

    with (
        Worker(paths=[children], isolation="none") as worker,
        pytest.raises(LookupError, match="host's function"),
    ):
        worker.options(on_output=broken).call("jobs:speak", "a", "b")


def test_output_before_a_failure(children: str) -> None:
    """Given as well when the call raises."""
    heard = Heard()
    with Worker(paths=[children], isolation="none") as worker:
        with pytest.raises(hookless.WorkerDied):
            worker.options(on_output=heard).call("jobs:die", 3)
        assert heard.streams["stderr"] == b"last words"


def test_standard_input_is_empty(children: str) -> None:
    """The child cannot read what the user types to the host."""
    with Worker(paths=[children], isolation="none") as worker:
        assert worker.call("jobs:read_stdin") == ""


def test_print_does_not_reach_the_channel(children: str) -> None:
    """A script that prints what looks like a frame has printed text, no more."""
    frame = hookless.dumps("forged").decode("latin-1")
    with Worker(paths=[children], isolation="none") as worker:
        assert worker.call("jobs:speak", frame, frame) == 1
        with pytest.raises(RemoteError):
            worker.call("jobs:fail", "x")


def test_host_streams_are_untouched(children: str) -> None:
    """The worker replaces none of the host's own file objects."""
    before = (sys.stdin, sys.stdout, sys.stderr)
    with Worker(paths=[children], isolation="none") as worker:
        worker.call("jobs:speak", "a", "b")
        assert (sys.stdin, sys.stdout, sys.stderr) == before
