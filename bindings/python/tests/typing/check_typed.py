"""What a type checker knows of typed results; checked by test_typing.py, never run."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Annotated, Any, assert_type

from pydantic import TypeAdapter

import hookless
from hookless import ArraySpec, Worker


@dataclass
class Report:
    total: int


def codec(data: bytes) -> None:
    assert_type(hookless.loads(data, type=Report), Report)
    assert_type(hookless.loads(data, type=list[int], copy=False), list[int])
    assert_type(hookless.loads(data), Any)
    assert_type(hookless.loads(data, type=TypeAdapter(list[Report])), list[Report])
    assert_type(hookless.decode([data], type=Report), Report)
    assert_type(hookless.decode([data]), Any)
    assert_type(hookless.load(io.BytesIO(data), type=Report), Report)
    assert_type(hookless.load(io.BytesIO(data)), Any)
    assert_type(hookless.convert({"total": 1}, Report), Report)
    assert_type(hookless.convert([1], TypeAdapter(list[int])), list[int])
    # What is no class can be asked for as well.
    hookless.convert(1, int | None)
    hookless.convert(1, Annotated[object, ArraySpec("float64", (None, 3))])


def worker(running: Worker) -> None:
    assert_type(running.options(returns=Report).call("m:f", 1), Report)
    assert_type(running.options(returns=set[int], deadline=5).run("script.py"), set[int])
    assert_type(running.options(deadline=5).call("m:f"), Any)
    assert_type(running.call("m:f"), Any)
