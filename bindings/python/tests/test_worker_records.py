"""Instances of a child's classes as results, as arguments, and in failures."""

from __future__ import annotations

import dataclasses
import enum

import pytest

from hookless import EnumValue, Record, RemoteError, Worker
from same import assert_same


@dataclasses.dataclass
class Mine:
    x: int


class Shade(enum.IntEnum):
    DARK = 1


def test_results_arrive_as_records(shared: Worker) -> None:
    """Named as the child names them; the host has no such classes."""
    inner = Record("jobs", "Point", {"x": 2.0, "y": None})
    red = EnumValue("jobs", "Color", "RED", 1)
    expected = [Record("jobs", "Point", {"x": 1.0, "y": inner}), {red: red}]
    assert_same(shared.call("jobs:records"), expected)


def test_arguments_arrive_as_records(shared: Worker) -> None:
    """The child gets no class of the host's either."""
    assert shared.call("jobs:kinds", [Mine(1), Shade.DARK]) == [
        f"Record {__name__}.Mine",
        f"EnumValue {__name__}.Shade",
    ]


def test_records_go_back_and_forth(shared: Worker) -> None:
    """What came from the child is sent again as it came."""
    found = shared.call("jobs:records")
    assert_same(shared.call("jobs:same", found), found)


def test_arguments_of_an_exception_are_records(shared: Worker) -> None:
    """In the report of a failure, as values."""
    with pytest.raises(RemoteError) as caught:
        shared.call("jobs:raise_point")
    assert caught.value.remote.args == (
        Record("jobs", "Point", {"x": 1.0, "y": None}),
        EnumValue("jobs", "Color", "RED", 1),
    )
