"""Children that die, hang or lie: a distinct error for each, within bounded time, and nothing left behind."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import hookless
import naive
from hookless import Worker

# Far above what anything here takes, far below what a forgotten child would sleep.
PATIENCE = 20.0


def gone(pid: int) -> bool:
    """Neither running nor a zombie."""
    return not os.path.exists(f"/proc/{pid}")


def start(children: str) -> Worker:
    return Worker(paths=[children], isolation="none")


@pytest.mark.parametrize("status", [0, 3, 255])
def test_exit_in_the_middle_of_a_call(children: str, status: int) -> None:
    """Exit 0 is a death too. Status and last words are told, and the session is over."""
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:die", status)
        assert (caught.value.exit_status, caught.value.signal) == (status, None)
        assert "last words" in text(caught.value.stderr)
        assert str(status) in str(caught.value) and "last words" in str(caught.value)
        assert gone(pid)
        with pytest.raises(hookless.HooklessError):
            worker.call("jobs:pid")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGTERM])
def test_death_by_signal(children: str, number: signal.Signals) -> None:
    """By name and number."""
    with start(children) as worker:
        with pytest.raises(hookless.WorkerDied, match=number.name) as caught:
            worker.call("jobs:kill_self", int(number))
        assert (caught.value.exit_status, caught.value.signal) == (None, number)
        assert "last words" in text(caught.value.stderr)


def test_a_crash_of_native_code(children: str) -> None:
    """SIGSEGV of the child is an exception of the host."""
    with start(children) as worker:
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:crash")
        assert caught.value.signal == signal.SIGSEGV


def test_killed_between_calls(children: str) -> None:
    """The next call finds out, also when it has 50 MB to send: no SIGPIPE, no busy loop (C168)."""
    for value in (b"", b"x" * 50_000_000):
        with start(children) as worker:
            os.kill(worker.call("jobs:pid"), signal.SIGKILL)
            with pytest.raises(hookless.WorkerDied) as caught:
                worker.call("jobs:same", value)
            assert caught.value.signal == signal.SIGKILL


def text(stderr: bytes | str) -> str:
    return stderr.decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr


@pytest.mark.parametrize(
    "job", [("jobs:sleep", 60), ("jobs:spin",), ("jobs:stubborn",)], ids=lambda job: job[0]
)
@pytest.mark.parametrize("grace", [PATIENCE, 0.0])
def test_deadline(children: str, job: tuple[str, ...], grace: float) -> None:
    """The call is cancelled, whatever it is doing; without grace the child is stopped, reaped and gone."""
    with Worker(paths=[children], isolation="none", grace=grace) as worker:
        pid = worker.call("jobs:pid")
        began = time.monotonic()
        with pytest.raises(hookless.DeadlineExceeded, match=r"0\.3") as caught:
            worker.options(deadline=0.3).call(*job)
        assert 0.3 <= time.monotonic() - began < PATIENCE
        assert isinstance(caught.value, TimeoutError)
        if grace:
            assert worker.is_alive and worker.call("jobs:pid") == pid
            return
        assert gone(pid) and not worker.is_alive
        with pytest.raises(hookless.HooklessError):
            worker.call("jobs:pid")


@pytest.mark.parametrize("ignores", [False, True])
def test_deadline_of_a_call_that_swallows_its_cancelling(children: str, ignores: bool) -> None:
    """Past the grace the child is asked to end, and killed if it ignores that."""
    with Worker(paths=[children], isolation="none", grace=0.3) as worker:
        pid = worker.call("jobs:pid")
        # Loads the module: the deadline is not to interrupt its import.
        worker.call("telling:was_left")
        with pytest.raises(hookless.DeadlineExceeded, match="child was stopped"):
            worker.options(deadline=0.2).call("telling:swallow", ignores)
        assert gone(pid) and not worker.is_alive
        with pytest.raises(hookless.WorkerDied, match="did not end"):
            worker.call("jobs:pid")


def test_deadline_that_is_met(children: str) -> None:
    """Each call has its own."""
    with start(children) as worker:
        patient = worker.options(deadline=PATIENCE)
        assert [patient.call("jobs:sleep", 0.01) for _ in range(5)] == ["slept"] * 5


def test_deadline_while_sending(children: str) -> None:
    """A child that does not read its argument cannot hold the host."""
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(hookless.DeadlineExceeded):
            worker.options(deadline=0.5).call("jobs:same", b"x" * 50_000_000)
        assert gone(pid)


def test_deadline_during_a_flood(children: str) -> None:
    """Output is no sign of life that would prolong it."""
    with start(children) as worker, pytest.raises(hookless.DeadlineExceeded):
        worker.options(deadline=0.5).call("jobs:flood", 1, 10**15)


FORGED: dict[str, tuple[bytes, str]] = {
    "garbage": (b"\x00garbage" * 100, "bad_magic"),
    "pickle": (pickle.dumps(["x"]), "bad_magic"),
    "json": (b'{"result": 1}\n', "bad_magic"),
    "version": (naive.frame(b"\xc0", kind=naive.RESULT, call_id=1, version=9), "bad_version"),
    "bad body": (naive.frame(b"\xc1", kind=naive.RESULT, call_id=2), "bad_marker"),
    "huge": (naive.frame(b"\xc0", kind=naive.RESULT, call_id=1, body_length=2**60), "body_limit"),
    "no exception": (naive.frame(b"\xc0", kind=naive.ERROR, call_id=2), "bad_type"),
    "value frame": (naive.frame(b"\xc0"), "unexpected_frame"),
    "second hello": (
        naive.frame(b"\x96\x01\x01\x18\x32\xa6worker\x90", kind=naive.HELLO),
        "unexpected_frame",
    ),
    "a call": (naive.frame(naive.array([]), kind=naive.CALL, call_id=1), "unexpected_frame"),
    "other call": (naive.frame(b"\xc0", kind=naive.RESULT, call_id=99), "unknown_call"),
    "earlier call": (naive.frame(b"\xc0", kind=naive.RESULT, call_id=1), "unknown_call"),
    "item": (naive.frame(b"\xc0", kind=naive.ITEM, call_id=2), "unexpected_frame"),
    "cancelled": (naive.frame(b"\x90", kind=naive.CANCELLED, call_id=2), "unexpected_frame"),
    "a cancel": (naive.frame(b"\x90", kind=naive.CANCEL, call_id=2), "unexpected_frame"),
    "progress of another": (naive.frame(b"\x93\x00\xc0\xa0", kind=naive.PROGRESS, call_id=1), "unknown_call"),
    "bad log": (naive.frame(b"\x90", kind=naive.LOG), "bad_control"),
    "unknown kind": (naive.frame(b"\xc0", kind=13, call_id=2), "unknown_frame_kind"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_child_that_writes_its_own_bytes(children: str, name: str) -> None:
    """The session ends with the code of what was wrong; the child is stopped and reaped."""
    data, code = FORGED[name]
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        of_session = code in ("unexpected_frame", "unknown_call")
        with pytest.raises((hookless.DecodeError, hookless.ProtocolError)) as caught:
            worker.options(deadline=PATIENCE).call("jobs:write_to_channel", data)
        error = caught.value
        assert isinstance(error, hookless.ProtocolError if of_session else hookless.DecodeError)
        assert error.code == code
        with pytest.raises(hookless.HooklessError):
            worker.call("jobs:pid")
    assert gone(pid)


def test_a_pickle_gadget_does_not_run(children: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Bad magic on its first byte; nothing of it is loaded here."""
    with start(children) as worker, pytest.raises(hookless.DecodeError) as caught:
        worker.call("jobs:write_pickle")
    assert (caught.value.code, caught.value.offset) == ("bad_magic", 0)
    assert capfd.readouterr() == ("", "")


def test_a_frame_that_is_never_finished(children: str) -> None:
    """Half a frame and then an exit: truncated or died, never a hang or a value."""
    half = naive.frame(b"\xc0", kind=naive.RESULT, call_id=2, body_length=1000)
    with start(children) as worker:
        worker.call("jobs:pid")
        with pytest.raises((hookless.Truncated, hookless.WorkerDied)):
            worker.call("jobs:write_to_channel_and_exit", half)
    with start(children) as worker, pytest.raises((hookless.DeadlineExceeded, hookless.Stalled)):
        worker.options(deadline=0.5).call(
            "jobs:write_to_channel", naive.frame(b"\xc0", kind=4, call_id=1)[:20]
        )


def test_a_child_that_closes_its_channel(children: str) -> None:
    """End of stream while a call is open."""
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        with pytest.raises((hookless.WorkerDied, hookless.ProtocolError, hookless.Truncated)):
            worker.options(deadline=PATIENCE).call("jobs:close_channel")
    assert gone(pid)


def test_an_early_frame_is_a_violation(children: str) -> None:
    """A VALUE frame before the true answer; the answer is not believed any more."""
    with start(children) as worker, pytest.raises(hookless.ProtocolError) as caught:
        worker.call("jobs:answer_twice", 1)
    assert caught.value.code == "unexpected_frame"


@pytest.mark.parametrize("call_id", [1, 2, 3])
def test_s6_bytes_that_came_between_calls_are_no_answer(children: str, call_id: int) -> None:
    """Not even with the id that the next call will have: nobody had asked."""
    forged = naive.frame(naive.text("forged"), kind=naive.RESULT, call_id=call_id)
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        assert worker.call("jobs:answer_later", "true", forged) == "true"
        time.sleep(0.6)
        with pytest.raises(hookless.ProtocolError) as caught:
            worker.options(deadline=PATIENCE).call("jobs:same", "honest")
        assert caught.value.code == "unknown_call"
    assert gone(pid)


@pytest.mark.parametrize("begun", [b"", naive.frame(b"\xc0", kind=naive.RESULT, call_id=2)[:-1]])
def test_a_child_that_ends_while_a_fork_of_it_holds_the_channel(children: str, begun: bytes) -> None:
    """Its end is the stream's end; the host does not wait for who else has the descriptor."""
    with start(children) as worker:
        worker.call("jobs:pid")
        began = time.monotonic()
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:exit_with_an_heir", 3 * PATIENCE, begun)
        assert caught.value.exit_status == 7
        assert time.monotonic() - began < PATIENCE


def test_descriptors_of_the_child_are_not_taken_in(children: str) -> None:
    """SCM_RIGHTS beside the bytes: the bytes are judged, the descriptor is dropped."""
    with start(children) as worker:
        worker.call("jobs:pid")
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(hookless.DecodeError):
            worker.call("jobs:send_descriptor", b"garbage")
        assert len(os.listdir("/proc/self/fd")) <= before


ENDINGS: dict[str, Callable[[Worker], object]] = {
    "nothing": lambda worker: None,
    "a call": lambda worker: worker.call("jobs:add", 1),
    "a failure": lambda worker: worker.call("jobs:fail", "x"),
    "exit": lambda worker: worker.call("jobs:die", 3),
    "deadline": lambda worker: worker.options(deadline=0.05).call("jobs:sleep", 60),
    "garbage": lambda worker: worker.call("jobs:write_to_channel", b"garbage"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_behind(children: str, ending: str) -> None:
    """No descriptor, no zombie, no thread, however the worker ended."""

    def once() -> None:
        with start(children) as worker:
            try:
                ENDINGS[ending](worker)
            except (hookless.HooklessError, hookless.RemoteError):
                pass

    once()
    gc.collect()
    before = (fds(), offspring(), len(os.listdir("/proc/self/task")))
    for _ in range(5):
        once()
    gc.collect()
    assert (fds(), offspring(), len(os.listdir("/proc/self/task"))) == before


def fds() -> int:
    return len(os.listdir("/proc/self/fd"))


def offspring() -> list[str]:
    """Children of this process, zombies included."""
    tasks = Path("/proc/self/task").iterdir()
    found: list[str] = []
    for task in tasks:
        with contextlib.suppress(FileNotFoundError):  # A thread that has ended meanwhile.
            found += (task / "children").read_text().split()
    return sorted(found)


def test_a_forgotten_worker_is_closed(children: str) -> None:
    """Dropped without `close`: its child does not outlive it."""
    worker = start(children)
    pid = worker.call("jobs:pid")
    with warnings.catch_warnings():
        # It may say that it was forgotten, as files do.
        warnings.simplefilter("ignore", ResourceWarning)
        del worker
        gc.collect()
    deadline = time.monotonic() + PATIENCE
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert gone(pid)
