"""Foreign code that breaks the loop which coroutines of all calls share."""

from __future__ import annotations

import os
from typing import Any

import pytest

from scripted import bring, call, cancel, credit, run, stream
from test_driver_tasks import LOOPS, answers, numbers


@pytest.fixture(autouse=True)
def _empty() -> None:
    LOOPS.clear()


def stops_the_loop(how: str) -> None:
    loop: Any = LOOPS[0]
    if how == "descriptor":
        os.close(loop._selector.fileno())
    else:
        getattr(loop, how)()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("stop", ("result", 1)),
        ("close", ("error", "RuntimeError")),
        ("descriptor", ("error", "RuntimeError")),
    ],
)
def test_foreign_code_that_breaks_the_loop(how: str, end: tuple[Any, ...]) -> None:
    """Its tasks have an outcome all the same, and the next ones have a new loop if need be."""
    found = run([call(1, answers, 1, 0.1), call(2, stops_the_loop, how)], call(3, answers, 3))
    ends = found.ends()
    outcome = ends[1] if ends[1][0] == "result" else (ends[1][0], ends[1][1][0])
    assert outcome == end and ends[2] == ("result", None) and ends[3] == ("result", 3)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:coroutine")
def test_cancel_and_credit_after_the_loop_was_closed() -> None:
    """Each call has its outcome nevertheless, and the child lives on."""
    found = run(
        [
            call(1, answers, 1, 0.1),
            stream(2, numbers, 3),
            call(3, plain_that_closes, 1, 2),
            call(4, answers, 4),
        ],
        call(5, answers, 5),
    )
    ends = found.ends()
    assert {ends[1][0], ends[2][0]} <= {"error", "cancelled"}
    assert [ends[number] for number in (3, 4, 5)] == [("result", None), ("result", 4), ("result", 5)]


def plain_that_closes(*numbers: int) -> None:
    loop: Any = LOOPS[0]
    loop.close()
    bring(credit(numbers[1], 3), *map(cancel, numbers))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_loop_that_is_closed_while_no_task_is_open() -> None:
    found = run(call(1, answers, 1), call(2, stops_the_loop, "close"), call(3, answers, 3))
    assert found.ends() == {1: ("result", 1), 2: ("result", None), 3: ("result", 3)}
