"""Typed results: where a type can be asked for, what is raised when, and what a worker makes of it."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

import hookless
from hookless import Worker
from hookless._typed import conversion
from same import assert_same


@dataclass
class Report:
    total: int
    rows: list[tuple[str, float]]


VALUE = {"total": 2, "rows": [("a", 1.5), ("b", 2)]}
REPORT = Report(2, [("a", 1.5), ("b", 2.0)])


def test_everywhere_a_value_comes_out() -> None:
    """`loads`, `decode`, `load` and `convert` do the same."""
    frame = hookless.dumps(VALUE)
    assert hookless.loads(frame, type=Report) == REPORT
    assert hookless.loads(memoryview(frame), type=Report, copy=False) == REPORT
    assert hookless.decode([frame[:7], frame[7:]], type=Report) == REPORT
    assert hookless.decode([frame], type=Report, copy=False) == REPORT
    assert hookless.load(io.BytesIO(frame), type=Report) == REPORT
    assert hookless.convert(hookless.loads(frame), Report) == REPORT
    assert_same(hookless.loads(frame), VALUE)
    assert_same(hookless.loads(frame, type=None), VALUE)


def test_errors_of_the_bytes_come_first() -> None:
    """A frame that is none is refused as it is without a type; so is one past a limit."""
    for read in (hookless.loads, lambda data, **more: hookless.decode([data], **more)):
        with pytest.raises(hookless.Truncated):
            read(b"", type=Report)
        with pytest.raises(hookless.LimitExceeded):
            read(hookless.dumps([[1]]), type=Report, limits=hookless.Limits(depth=1))
    with pytest.raises(hookless.Truncated):
        hookless.load(io.BytesIO(b""), type=Report)


def test_a_type_that_is_none_comes_before_the_bytes() -> None:
    """Nothing is read: not a byte, not a file."""

    class Unread(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise AssertionError("it was read")

    wanted: Any = list[print]  # type: ignore[valid-type]
    asks: list[Callable[[], Any]] = [
        lambda: hookless.loads(b"no frame", type=wanted),
        lambda: hookless.decode([b"no frame"], type=wanted),
        lambda: hookless.load(Unread(), type=wanted),
        lambda: hookless.convert(None, wanted),
    ]
    for ask in asks:
        with pytest.raises(TypeError, match=r"print.* is no type"):
            ask()


def test_the_error() -> None:
    """Code, path and sentence; no offset, since the bytes were right."""
    with pytest.raises(hookless.DecodeError) as caught:
        hookless.loads(hookless.dumps({"total": 2, "rows": [("a", 1.5), ("b", "2")]}), type=Report)
    error = caught.value
    assert type(error) is hookless.DecodeError
    assert (error.code, error.path, error.offset) == ("type_mismatch", "$.rows[1][1]", 0)
    assert str(error) == "type_mismatch in $.rows[1][1]: expected float, found str"
    assert error.__cause__ is None and error.__suppress_context__


def test_conversions_are_kept_but_not_without_end() -> None:
    """One that is asked for again is not planned again; types that compare equal are told apart."""
    wanted: Any = dict[str, list[Report]]
    assert conversion.conversion(wanted) is conversion.conversion(dict[str, list[Report]])
    for number in range(1000):
        hookless.convert((1,) * (number % 300), tuple[(int,) * (number % 300)])  # type: ignore[misc]
    assert len(conversion._kept) <= 256
    assert hookless.convert((True, 1), tuple[bool, int]) == (True, 1)
    first, second = hookless.convert(1, Literal[1, True]), hookless.convert(True, Literal[True, 1])
    assert (type(first), type(second)) == (int, bool)


def test_results_of_a_worker(shared: Worker) -> None:
    """Of calls and of scripts; a mismatch is an error of that call alone."""
    typed = shared.options(returns=Report)
    assert typed.call("jobs:same", VALUE) == REPORT
    with pytest.raises(hookless.DecodeError) as caught:
        typed.call("jobs:same", {"total": "2", "rows": []})
    assert (caught.value.code, caught.value.path) == ("type_mismatch", "$.total")
    assert typed.call("jobs:same", VALUE) == REPORT
    assert_same(shared.call("jobs:same", VALUE), VALUE)
    with pytest.raises(hookless.RemoteError):
        typed.call("jobs:fail", "its own error")


def test_scripts_of_a_worker(shared: Worker, tmp_path: Any) -> None:
    """What `result` is, as the type."""
    script = tmp_path / "script.py"
    script.write_text("result = {1, 2}\n")
    assert shared.options(returns=set[int], deadline=30).run(script) == {1, 2}
    script.write_text("result = [1, 1, 2]\n")
    with pytest.raises(hookless.DecodeError, match=r"expected set\[int\], found list"):
        shared.options(returns=set[int]).run(script)
    assert_same(shared.options(returns=list[int]).run(script), [1, 1, 2])


def test_a_worker_refuses_what_is_no_type(unconfined: Worker) -> None:
    """At `options`, before a call is sent."""
    before = unconfined.call("jobs:Counter.step")
    with pytest.raises(TypeError, match="is no type"):
        unconfined.options(returns=print).call("jobs:Counter.step")
    assert unconfined.call("jobs:Counter.step") == before + 1


def test_a_worker_survives_errors_of_the_hosts_own_code(unconfined: Worker) -> None:
    """`__post_init__` may raise anything: the call was complete before."""

    @dataclass
    class Faulty:
        x: int

        def __post_init__(self) -> None:
            raise KeyError("a bug of the host")

    with pytest.raises(KeyError, match="a bug of the host"):
        unconfined.options(returns=Faulty).call("jobs:same", {"x": 1})
    assert unconfined.call("jobs:add", 1) == 2
