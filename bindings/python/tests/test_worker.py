"""`Worker`: calls, scripts, options, results and failures of a child that behaves."""

from __future__ import annotations

import math
import statistics
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import hookless
from hookless import RemoteError, Worker
from same import assert_same
from samples import PLAIN


def test_call(shared: Worker) -> None:
    """Arguments by place and by name; the result as a value."""
    assert shared.call("jobs:add", 2) == 3
    assert shared.call("jobs:add", 2, right=40) == 42
    assert shared.call("jobs:Counter.step") == 1
    assert shared.call("jobs:Counter.step") == 2


@pytest.mark.parametrize("name", PLAIN)
def test_values_both_ways(shared: Worker, name: str) -> None:
    """Types and bits survive host to child to host."""
    assert_same(shared.call("jobs:same", PLAIN[name]), PLAIN[name])


def test_arguments_never_clash_with_options(shared: Worker) -> None:
    """A function may have a parameter of any name."""
    names = {
        name: index
        for index, name in enumerate(
            ["self", "function", "deadline", "on_output", "name", "args", "kwargs", "target"]
        )
    }
    assert_same(shared.call("jobs:echo", 1, **names), [[1], names])


def test_function_objects(shared: Worker) -> None:
    """A function of an importable module is named by where it is found."""
    assert shared.call(math.sqrt, 4) == 2.0
    assert shared.call(statistics.mean, [1, 2, 3, 4]) == 2.5


def test_functions_that_cannot_be_named(shared: Worker) -> None:
    """A lambda, a nested function, a method of an instance, a number: refused here, nothing is sent."""

    def nested() -> None: ...

    wrong: list[Any] = [lambda: 1, nested, [].append, 5, None, b"jobs:add"]
    for function in wrong:
        with pytest.raises((TypeError, ValueError)):
            shared.call(function)
    for text in ("jobs", "jobs:", ":add", "", "jobs:add:add"):
        with pytest.raises((ValueError, RemoteError)):
            shared.call(text)
    assert shared.call("jobs:add", 1) == 2


@pytest.mark.parametrize(
    ("target", "qualname"),
    [
        ("no_such_module:f", "ModuleNotFoundError"),
        ("jobs:no_such_function", "AttributeError"),
        ("jobs:Counter.total", "TypeError"),
    ],
)
def test_functions_that_are_not_there(shared: Worker, target: str, qualname: str) -> None:
    """The child's own failure, in the child's words."""
    with pytest.raises(RemoteError) as caught:
        shared.call(target)
    assert caught.value.remote.qualname == qualname


def test_errors_are_raised(shared: Worker) -> None:
    """As RemoteError with the descriptor: class, arguments, and the child's own frames only."""
    with pytest.raises(RemoteError, match="no more") as caught:
        shared.call("jobs:fail", "no more")
    remote = caught.value.remote
    assert (remote.module, remote.qualname) == ("jobs", "Quota")
    assert remote.bases[0] == "builtins.ValueError"
    assert list(remote.args) == ["no more", 7]
    assert [frame.function for frame in remote.frames] == ["fail"]
    assert (remote.frames[0].source or "").strip() == "raise Quota(message, 7)"
    assert not isinstance(caught.value, hookless.HooklessError)


def test_cause_is_carried(shared: Worker) -> None:
    """With its own traceback."""
    with pytest.raises(RemoteError) as caught:
        shared.call("jobs:fail_with_cause")
    cause = caught.value.remote.cause
    assert cause is not None
    assert cause.qualname == "KeyError"
    assert cause.frames[-1].function == "fail_with_cause"


@pytest.mark.parametrize(
    ("kind", "qualname"),
    [
        ("exit", "SystemExit"),
        ("exit text", "SystemExit"),
        ("interrupt", "KeyboardInterrupt"),
        ("generator", "GeneratorExit"),
        ("stop", "StopIteration"),
        ("async stop", "StopAsyncIteration"),
        ("base", "BaseException"),
    ],
)
def test_base_exceptions_are_outcomes(shared: Worker, kind: str, qualname: str) -> None:
    """The host does not exit, and neither does the child."""
    before = shared.call("jobs:pid")
    with pytest.raises(RemoteError) as caught:
        shared.call("jobs:leave", kind)
    assert caught.value.remote.qualname == qualname
    assert shared.call("jobs:pid") == before


def test_a_result_that_cannot_be_encoded(shared: Worker) -> None:
    """The call fails with hookless's own EncodeError as a remote type; the child lives on (rule S8)."""
    with pytest.raises(RemoteError) as caught:
        shared.call("jobs:unsendable", "here")
    remote = caught.value.remote
    assert remote.qualname == "EncodeError"
    assert remote.module.startswith("hookless")
    assert "$.deep[1].here" in remote.message and "function" in remote.message
    assert shared.call("jobs:add", 1) == 2


def test_an_argument_that_cannot_be_encoded(shared: Worker) -> None:
    """Raised in the host, before anything is sent."""
    for argument in (object(), [object()], {"a": object()}):
        with pytest.raises(hookless.EncodeError, match="object"):
            shared.call("jobs:echo", argument)
        with pytest.raises(hookless.EncodeError, match="object"):
            shared.call("jobs:echo", argument=argument)
    assert shared.call("jobs:add", 1) == 2


def test_run(shared: Worker, tmp_path: Path) -> None:
    """A script's text: inputs are its names, `result` is what comes back, None if it assigns none."""
    script = tmp_path / "script.py"
    script.write_text("result = [value + 1 for value in values]\nassert __name__\n")
    assert shared.run(str(script), inputs={"values": [1, 2]}) == [2, 3]
    assert shared.run(script, inputs={"values": (True,)}) == [2]
    script.write_text("other = 1\n")
    assert shared.run(script) is None
    # A second run starts afresh.
    script.write_text("result = 'other' in dir()\n")
    assert shared.run(script) is False


def test_run_does_not_need_the_file_in_the_child(shared: Worker, tmp_path: Path) -> None:
    """The text travels, so the file's encoding and line ends are honoured, and functions see its globals."""
    script = tmp_path / "script.py"
    lines = ["# -*- coding: latin-1 -*-", "name = 'caf\xe9'", "def f():", "    return name", "result = f()"]
    script.write_bytes("\r\n".join(lines).encode("latin-1"))
    assert shared.run(script) == "caf\xe9"


def test_errors_in_scripts(shared: Worker, tmp_path: Path) -> None:
    """File name, line and source of the script, though the child has no such file."""
    script = tmp_path / "broken.py"
    script.write_text("x = 1\n\ndef f():\n    return x / 0\n\nf()\n")
    with pytest.raises(RemoteError) as caught:
        shared.run(script)
    remote = caught.value.remote
    assert remote.qualname == "ZeroDivisionError"
    assert [(frame.line, frame.function) for frame in remote.frames] == [(6, "<module>"), (4, "f")]
    assert all(frame.file.endswith("broken.py") for frame in remote.frames)
    assert (remote.frames[-1].source or "").strip() == "return x / 0"
    script.write_text("def\n")
    with pytest.raises(RemoteError) as caught:
        shared.run(script)
    assert caught.value.remote.qualname == "SyntaxError"
    with pytest.raises(FileNotFoundError):
        shared.run(tmp_path / "absent.py")


def test_large_values_both_ways(shared: Worker) -> None:
    """Far more than any socket buffer holds, in the body and in the region."""
    for value in (b"x" * (64 << 20), "y" * 5_000_000, list(range(10**6)), [b"z" * 20_000] * 500):
        assert shared.call("jobs:same", value) == value


def test_many_calls(shared: Worker) -> None:
    """Ids rise, answers match."""
    assert [shared.call("jobs:add", i, 0) for i in range(2000)] == list(range(2000))


def test_the_interpreter_lock_is_released(shared: Worker) -> None:
    """Another thread of the host runs while a call waits."""
    thread = threading.Thread(target=shared.call, args=("jobs:sleep", 1.0))
    thread.start()
    ticks = 0
    while thread.is_alive() and ticks < 10:
        time.sleep(0.01)
        ticks += 1
    assert ticks == 10
    thread.join()


def test_threads_get_their_own_answers(shared: Worker) -> None:
    """Calls from several threads, all of them open at once."""
    found: dict[int, int] = {}

    def work(number: int) -> None:
        for _ in range(50):
            found[number] = shared.call("jobs:add", number, 0)
            assert found[number] == number

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: number for number in range(8)}


def test_options(shared: Worker) -> None:
    """They make a view of the same worker and leave it as it was."""
    quick = shared.options(deadline=30)
    assert quick.call("jobs:pid") == shared.call("jobs:pid")
    with pytest.raises(TypeError):
        shared.options(deadlin=3)  # type: ignore[call-overload]
    values: list[Any] = [-1, float("nan"), "5"]
    for wrong in values:
        with pytest.raises((TypeError, ValueError)):
            shared.options(deadline=wrong).call("jobs:pid")


def test_isolation_is_reported_honestly(unconfined: Worker) -> None:
    """What is in force by name; nothing claims a file or network barrier that is not there."""
    layers = unconfined.isolation
    assert layers and all(type(name) is type(state) is str for name, state in layers.items())
    for layer in ("landlock", "seccomp"):
        assert layers.get(layer, "none").lower().startswith(("none", "no", "off", "not"))


def test_a_closed_worker_says_so(children: str) -> None:
    """Closing twice is fine; calling is an error of ours, not a hang."""
    worker = Worker(paths=[children], isolation="none")
    assert worker.call("jobs:add", 1) == 2
    worker.close()
    worker.close()
    with pytest.raises(hookless.HooklessError, match="closed"):
        worker.call("jobs:add", 1)


def test_paths_must_be_folders(tmp_path: Path) -> None:
    """A misspelt folder is said at the start, not as a missing module later."""
    with pytest.raises((FileNotFoundError, NotADirectoryError, ValueError)):
        Worker(paths=[str(tmp_path / "absent")], isolation="none").close()
