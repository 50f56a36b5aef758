"""Failures of a worker's child: every builtin by its own name, denials, the `errors` option, broken tools."""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hookless
from hookless import Failure, RemoteError, RemoteErrorGroup, Worker, worker

CHILDREN = __file__.rpartition("/")[0] + "/children"
BUILTIN = [
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException) and kind.__name__ == name
]
PLAIN = {"StopIteration", "StopAsyncIteration", "InterruptedError", "BlockingIOError", "BaseException"}
PLAIN |= {"KeyboardInterrupt", "GeneratorExit", "BaseExceptionGroup"}


@pytest.fixture(scope="module")
def child() -> Iterator[Worker]:
    with Worker(paths=[CHILDREN], isolation="none") as running:
        yield running


@pytest.mark.parametrize("name", BUILTIN)
def test_every_builtin_is_caught_by_its_own_name(child: Worker, name: str) -> None:
    """Raised for real in the child; with its allowed attributes where it has some."""
    kind = getattr(builtins, name)
    if name in PLAIN or name == "SystemExit":
        with pytest.raises(RemoteError) as plain:
            child.call("failing:builtin", name)
        assert type(plain.value) is (hookless.RemoteExit if name == "SystemExit" else RemoteError)
        assert plain.value.remote.type_name == name
        return
    with pytest.raises(kind) as found:
        child.call("failing:builtin", name)
    assert isinstance(found.value, RemoteError) and found.value.remote.type_name == name
    error: Any = found.value
    if issubclass(kind, OSError):
        assert (error.errno, error.strerror, error.filename, error.filename2) == (5, "said so", "one", "two")
    elif issubclass(kind, SyntaxError):
        assert (error.msg, error.filename, error.lineno) == ("bad", "<sandbox>/f.py", 3)
        assert (error.offset, error.text, error.end_lineno, error.end_offset) == (2, "a b", 3, 4)
    elif name == "UnicodeDecodeError":
        assert (error.encoding, error.object, error.start, error.end) == ("utf-8", b"a\xff", 1, 2)
    elif name == "UnicodeEncodeError":
        assert (error.encoding, error.object, error.start, error.end) == ("utf-8", "a\ud800", 1, 2)
    elif name == "UnicodeTranslateError":
        assert (error.object, error.start, error.end, error.reason) == ("ab", 0, 1, "bad")
    elif name == "ExceptionGroup":
        assert type(error) is RemoteErrorGroup and isinstance(error.exceptions[0], ValueError)
    else:
        assert str(error) == ("'text'" if name == "KeyError" else "text")


@pytest.mark.parametrize("kind", ["object", "cycle", "deep", "pointer", "key"])
def test_results_that_cannot_be_encoded(child: Worker, kind: str) -> None:
    """Arrive as hookless's own EncodeError of the child, which is no HooklessError of this process."""
    before = child.call("failing:pid")
    with pytest.raises(TypeError) as found:
        child.call("failing:unsendable_results", kind)
    error = found.value
    assert isinstance(error, RemoteError) and not isinstance(error, hookless.HooklessError)
    assert error.remote.type_name == "hookless.EncodeError" and error.remote.matches("hookless.HooklessError")
    assert error.fields["code"] in ("unsupported_type", "depth_limit", "not_keyable")
    assert child.call("failing:pid") == before


def test_denials(child: Worker) -> None:
    """In the order in which they were recorded; of this call only; lost when it succeeds."""
    with pytest.raises(PermissionError) as found:
        child.call("failing:denied", ["connect 10.0.0.1", "open /etc/shadow \x1b[31m"])
    error = found.value
    assert isinstance(error, RemoteError)
    assert error.denials == error.remote.denials == ("connect 10.0.0.1", "open /etc/shadow \x1b[31m")
    assert "(denied: open /etc/shadow \\x1b[31m)" in error.__notes__[0]
    assert child.options().call("failing:denied", ["lost"], fails=False) == "went on"
    with pytest.raises(PermissionError) as later:
        child.call("failing:denied", [])
    assert later.value.denials == ()  # type: ignore[attr-defined]


def test_denials_of_exceptions(child: Worker) -> None:
    """Those recorded, then those found on the exception and its chain, outermost first, each once."""
    with pytest.raises(RemoteError) as found:
        child.call("failing:denied_by_exceptions")
    remote = found.value.remote
    assert remote.denials == ("recorded", "open", "5", "connect")
    assert remote.cause is not None and remote.cause.denials == ("connect", "open")


def test_denials_are_bounded(child: Worker) -> None:
    """64 of 2048 bytes; that there were more is said."""
    with pytest.raises(PermissionError) as found:
        child.call("failing:denied", [f"{number} " + "x" * 5000 for number in range(65)])
    remote: Failure = found.value.remote  # type: ignore[attr-defined]
    assert len(remote.denials) == 64 and all(len(one) == 2048 for one in remote.denials)
    assert "denials" in remote.cut
    with pytest.raises(PermissionError) as found:
        child.call("failing:denied", [str(number) for number in range(64)])
    assert len(found.value.denials) == 64 and "denials" not in found.value.cut  # type: ignore[attr-defined]
    for wrong in (5, None, b"text"):
        with pytest.raises(TypeError, match="str"):
            child.call("failing:wrong_denial", wrong)


def test_deny_outside_a_child() -> None:
    """There is no call that it could belong to."""
    with pytest.raises(RuntimeError, match="child"):
        worker.deny("text")


def test_errors_option() -> None:
    """Of the worker, and of one call of it."""

    class Mine(Exception):
        pass

    with Worker(paths=[CHILDREN], isolation="none", errors="plain") as child:
        with pytest.raises(RemoteError) as found:
            child.call("failing:builtin", "KeyError")
        assert type(found.value) is RemoteError
        with pytest.raises(KeyError):
            child.options(errors="builtin").call("failing:builtin", "KeyError")
        with pytest.raises(Mine) as built:
            child.options(errors={"LookupError": Mine}).call("failing:builtin", "KeyError")
        assert isinstance(built.value.args[0], Failure)
        assert isinstance(built.value.__cause__, KeyError)

        def asks(failure: Failure) -> Exception:
            """A builder may use the worker: the call is over."""
            return Mine(child.call("failing:pid"))

        with pytest.raises(Mine):
            child.options(errors={"KeyError": asks}).call("failing:builtin", "KeyError")
        for wrong in ("raw", 5):
            with pytest.raises((TypeError, ValueError), match="errors="):
                child.options(errors=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="errors="):
        Worker(errors="raw")


def test_foreign_code_that_breaks_what_describes_it() -> None:
    """It ends its own child at worst, and here not even that: type and message arrive."""
    with Worker(paths=[CHILDREN], isolation="none") as child:
        for _ in range(2):
            with pytest.raises(RemoteError) as found:
                child.call("failing:breaks_our_tools")
            assert found.value.remote.type_name == "failing.Own" and found.value.remote.cut


def test_source_lines_are_read_from_ordinary_files_only(child: Worker, tmp_path: Path) -> None:
    """Code may say that it is of any file: the child reads no pipe and no device for it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    real = tmp_path / "real.py"
    real.write_text("first line\nsecond line\n")
    for name, source in (
        (str(pipe), None),
        ("/dev/zero", None),
        (str(real), "second line"),
        ("no such", None),
    ):
        with pytest.raises(KeyError) as found:
            child.options(deadline=60.0).call("failing:named_file", name)
        last = found.value.remote.frames[-1]  # type: ignore[attr-defined]
        assert (last.file, last.line, last.source) == (name, 2, source)


def test_threads_get_their_own_failures(child: Worker) -> None:
    """Calls of several threads are open at once; denials and failures do not mix."""
    found: dict[str, tuple[str, ...]] = {}

    def work(name: str) -> None:
        try:
            child.call("failing:denied", [name])
        except PermissionError as error:
            found[name] = error.denials  # type: ignore[attr-defined]

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {str(number): (str(number),) for number in range(8)}
