"""`Worker.attach` and `hookless child`: a session on a stream whose other end somebody else has started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hookless
from conftest import LANDLOCK_UNWANTED
from hookless import Worker
from processes import PATIENCE, holds, wait_until

Process = subprocess.Popen[str]

ISOLATIONS = ["none"] if LANDLOCK_UNWANTED else ["none", "strict"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "hookless", "child", *arguments]


@contextmanager
def served(*arguments: str, isolation: str = "none") -> Iterator[tuple[socket.socket, Process]]:
    """Our end of a socket, and the process that serves the other one."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        given = command("--fd", str(theirs.fileno()), "--isolation", isolation, *arguments)
        with subprocess.Popen(
            given, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True
        ) as process:
            theirs.close()
            try:
                yield ours, process
            finally:
                process.kill()


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_session(children: str, tmp_path: Path, isolation: str) -> None:
    """Calls, scripts and failures as of any worker; to close ends the stream, and so the child."""
    arguments = ["--path", children, "--scratch", str(tmp_path)]
    with served(*arguments, isolation=isolation) as (channel, process):
        with Worker.attach(channel) as worker:
            assert channel.fileno() == -1
            assert worker.call("jobs:echo", 1, name=(2,)) == [[1], {"name": (2,)}]
            assert worker.call("os:getcwd") == str(tmp_path)
            assert worker.call("tempfile:gettempdir") == str(tmp_path)
            assert worker.call("jobs:same", b"x" * 3_000_000) == b"x" * 3_000_000
            assert worker.call("os:getpid") == process.pid
            with pytest.raises(ValueError, match="so"):
                worker.call("jobs:fail", "so")
            with pytest.raises(hookless.EncodeError):
                worker.call("jobs:same", object())
            assert repr(worker) == "<hookless.Worker, attached, open>"
            assert worker.is_alive
            assert list(worker.isolation) == ["mode"]
            assert worker.isolation["mode"].startswith("attached: ")
        assert process.wait(PATIENCE) == 0
        assert repr(worker) == "<hookless.Worker, attached, over>"
        assert not worker.is_alive
        with pytest.raises(hookless.HooklessError, match="closed"):
            worker.call("jobs:same", 1)


@pytest.mark.skipif(LANDLOCK_UNWANTED, reason="HOOKLESS_TEST_NO_LANDLOCK=1 says that no child can be strict")
def test_strict_is_the_default(children: str, tmp_path: Path) -> None:
    """The child applies it to itself, before it says HELLO."""
    secret = tmp_path / "secret"
    secret.touch()
    (scratch := tmp_path / "scratch").mkdir()
    ours, theirs = socket.socketpair()
    given = command("--fd", str(theirs.fileno()), "--path", children, "--scratch", str(scratch))
    with subprocess.Popen(given, pass_fds=[theirs.fileno()]), theirs:
        theirs.close()
        with Worker.attach(ours) as worker:
            with pytest.raises(PermissionError):
                worker.call("io:open", str(secret))
            with pytest.raises(PermissionError):
                worker.call("socket:socket")


def test_tcp(children: str) -> None:
    """A stream socket of any family will do."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        given = command("--fd", str(theirs.fileno()), "--path", children, "--isolation", "none")
        with subprocess.Popen(given, pass_fds=[theirs.fileno()]), theirs:
            theirs.close()
            ours, _ = server.accept()
            with Worker.attach(ours.detach()) as worker:
                assert worker.call("jobs:add", 1) == 2


def test_what_it_prints_goes_where_it_was_started(children: str) -> None:
    """Its standard streams are those it was given."""
    heard: list[object] = []
    with served("--path", children) as (channel, process):
        with Worker.attach(channel) as worker:
            call = worker.options(on_output=lambda *given: heard.append(given))
            assert call.call("jobs:speak", "", "to standard error") == 1
            assert worker.output == b""
        assert process.stderr is not None
        assert process.stderr.read() == "to standard error\n"
    assert heard == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_standard_input(children: str, tmp_path: Path, isolation: str) -> None:
    """The channel is standard input, which the code finds empty; the outputs stay, and it leads a group."""
    before = holds()
    ours, theirs = socket.socketpair()
    given = command("--stdin", "--isolation", isolation, "--path", children, "--scratch", str(tmp_path))
    with subprocess.Popen(
        given, stdin=theirs.fileno(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        theirs.close()
        with Worker.attach(ours) as worker:
            assert worker.call("jobs:read_stdin") == ""
            assert worker.call("jobs:speak", "to standard output", "to standard error") == 1
            assert worker.call("os:getpgid", 0) == process.pid
        assert process.wait(PATIENCE) == 0
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read() == "to standard output\nraw\n"
        assert process.stderr.read() == "to standard error\n"
    assert holds() == before


def test_standard_input_that_is_no_socket() -> None:
    """A terminal, a pipe or a file is none."""
    refused = subprocess.run(command("--stdin"), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert refused.returncode == 2
    assert refused.stderr == "hookless child: --stdin: standard input is no socket\n"


@contextmanager
def piped(*arguments: str, isolation: str = "none") -> Iterator[tuple[int, int, Process]]:
    """What to read from and to write to, and the process at the other ends of two pipes."""
    reading, their_writing = os.pipe()
    their_reading, writing = os.pipe()
    given = command("--stdio", "--isolation", isolation, *arguments)
    with subprocess.Popen(
        given, stdin=their_reading, stdout=their_writing, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(their_reading)
        os.close(their_writing)
        try:
            yield reading, writing, process
        finally:
            process.kill()


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_standard_streams(children: str, isolation: str) -> None:
    """The channel is two pipes; what the code prints, by whatever way, does not get into it."""
    before = holds()
    with piped("--path", children, isolation=isolation) as (reading, writing, process):
        with Worker.attach(reading, write_fd=writing) as worker:
            assert worker.call("jobs:speak", "to standard output", "to standard error") == 1
            assert worker.call("jobs:read_stdin") == ""
            assert worker.call("jobs:same", b"x" * 3_000_000) == b"x" * 3_000_000
            with pytest.raises(ValueError, match="so"):
                worker.call("jobs:fail", "so")
            assert list(worker.stream("pool:count", 5)) == [0, 1, 2, 3, 4]
            with pytest.raises(hookless.DeadlineExceeded, match="cancelled"):
                worker.options(deadline=0.2).call("jobs:sleep", 60)
            assert worker.call("jobs:add", 1) == 2
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == "to standard output\nto standard error\nraw\n"
    assert holds() == before


def test_standard_streams_that_are_one_socket(children: str) -> None:
    """As inetd and its like have it, and a program between that copies; the host has one socket then."""
    ours, theirs = socket.socketpair()
    given = command("--stdio", "--isolation", "none", "--path", children)
    with subprocess.Popen(given, stdin=theirs.fileno(), stdout=theirs.fileno()) as process:
        theirs.close()
        with Worker.attach(ours) as worker:
            assert worker.call("jobs:speak", "", "") == 1
            assert worker.call("jobs:same", b"x" * 3_000_000) == b"x" * 3_000_000
        assert process.wait(PATIENCE) == 0


def test_to_close_pipes_under_a_call(children: str) -> None:
    """Nothing can be shut down under the thread that waits; it is woken."""
    with piped("--path", children) as (reading, writing, _):
        worker = Worker.attach(reading, write_fd=writing)
        found: list[BaseException] = []

        def work() -> None:
            try:
                worker.call("jobs:spin")
            except BaseException as error:
                found.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        wait_until(lambda: worker._session.channel.open_calls == 1)
        worker.close()
        thread.join(PATIENCE)
        assert [type(one) for one in found] == [hookless.HooklessError]


def test_a_death_behind_pipes(children: str) -> None:
    """Both ends of the stream are gone then."""
    with piped("--path", children) as (reading, writing, _):
        with Worker.attach(reading, write_fd=writing) as worker:
            with pytest.raises(hookless.WorkerDied, match="other end closed"):
                worker.call("jobs:die", 0)
            with pytest.raises(hookless.WorkerDied):
                worker.call("jobs:same", b"x" * 1_000_000)


def test_limits(children: str) -> None:
    """Each side has its own."""
    with served("--path", children, "--limits", "depth=5", "--limits", "nodes=1000") as (channel, _):
        with Worker.attach(channel, limits=hookless.Limits(nodes=2000)) as worker:
            with pytest.raises((hookless.RemoteError, hookless.EncodeError), match="depth"):
                worker.call("pool:nest", 6)
            assert worker.call("pool:nest", 1) == [[]]
            with pytest.raises(hookless.EncodeError, match="node_limit"):
                worker.call("jobs:same", [0] * 2001)


def test_a_deadline(children: str) -> None:
    """There is no process to stop: the stream ends, and what serves it is for others to stop."""
    with served("--path", children) as (channel, process):
        with Worker.attach(channel, grace=0.2) as worker:
            with pytest.raises(hookless.DeadlineExceeded, match="call was cancelled"):
                worker.options(deadline=0.2).call("jobs:spin")
            assert worker.call("jobs:same", 1) == 1
            with pytest.raises(hookless.DeadlineExceeded, match="channel was closed"):
                worker.options(deadline=0.2).call("pool:stuck")
            with pytest.raises(hookless.WorkerDied):
                worker.call("jobs:same", 1)
        assert process.poll() is None


@pytest.mark.parametrize(("target", "argument"), [("jobs:die", 0), ("jobs:kill_self", int(signal.SIGKILL))])
def test_a_death(children: str, target: str, argument: int) -> None:
    """How it ended is not told, since nobody here has waited for it."""
    with served("--path", children) as (channel, _), Worker.attach(channel) as worker:
        with pytest.raises(hookless.WorkerDied, match="other end closed") as caught:
            worker.call(target, argument)
        assert (caught.value.exit_status, caught.value.signal, caught.value.stderr) == (None, None, b"")
        assert not worker.is_alive


def test_somebody_else(children: str) -> None:
    """What answers is held to the rules before a worker is made; and in time."""
    before = holds()
    for said, error in (
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", hookless.DecodeError),
        (b"", hookless.Truncated),
    ):
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.sendall(said)
            theirs.shutdown(socket.SHUT_WR)
            with pytest.raises((error, hookless.WorkerDied)):
                Worker.attach(ours)
        assert ours.fileno() == -1
    ours, theirs = socket.socketpair()
    with theirs, pytest.raises(hookless.DeadlineExceeded):
        Worker.attach(ours, start_timeout=0.1)
    assert holds() == before


def test_what_is_no_stream(tmp_path: Path) -> None:
    """It is left to the caller."""
    for given in ("3", None, 3.0, True):
        with pytest.raises(TypeError, match="socket"):
            Worker.attach(given)  # type: ignore[arg-type]
    with (tmp_path / "file").open("w") as file:
        with pytest.raises(ValueError, match="no socket"):
            Worker.attach(file.fileno())
        file.write("still open")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        with pytest.raises(ValueError, match="no stream"):
            Worker.attach(datagrams.fileno())
        assert datagrams.getsockname()
    with pytest.raises(OSError, match="Bad file descriptor"):
        Worker.attach(12_345)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(ValueError, match="stall"):
            Worker.attach(ours, stall=-1)
        with pytest.raises(TypeError, match="limits"):
            Worker.attach(ours, limits=1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="errors"):
            Worker.attach(ours, errors="none")
        assert ours.fileno() >= 0


def test_nothing_stays(children: str) -> None:
    """No descriptor, whether it is closed or forgotten."""
    before = holds()
    with served("--path", children) as (channel, _), Worker.attach(channel) as worker:
        assert worker.call("jobs:same", 1) == 1
    assert holds() == before
    with served("--path", children) as (channel, process):
        worker = Worker.attach(channel)
        with pytest.warns(ResourceWarning, match="attached"):
            del worker
        process.wait(PATIENCE)
    assert holds() == before


def test_the_host_goes(children: str) -> None:
    """The child ends with its channel."""
    with served("--path", children) as (channel, process):
        channel.close()
        wait_until(lambda: process.poll() is not None)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "--fd"),
        (["--fd", "1", "--stdio"], "not allowed with"),
        (["--fd", "x"], "no count"),
        (["--fd", "0"], "no socket"),
        (["--fd", "99"], "Bad file descriptor"),
        (["--stdio", "--path", "/no/such/folder"], "there is no such folder"),
        (["--stdio", "--limits", "depth"], "NAME=NUMBER"),
        (["--stdio", "--limits", "deep=1"], "the limits are depth, body, "),
        (["--stdio", "--limits", "depth=99999"], "depth"),
        (["--stdio", "--scratch", "/no/such/folder"], "No such file"),
        (["--stdio", "--isolation", "some"], "invalid choice"),
    ],
)
def test_usage(arguments: list[str], text: str) -> None:
    """Two words to say, and nothing begun."""
    done = subprocess.run(command(*arguments), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and done.stdout == ""
    assert text in done.stderr and "Traceback" not in done.stderr


def test_a_file_is_no_channel(tmp_path: Path) -> None:
    """Nothing is written to it."""
    with (tmp_path / "file").open("w") as file:
        given = command("--fd", str(file.fileno()))
        done = subprocess.run(given, pass_fds=[file.fileno()], capture_output=True, text=True)
    assert done.returncode == 2 and "no socket" in done.stderr
    assert os.path.getsize(tmp_path / "file") == 0
