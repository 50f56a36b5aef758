"""What a type checker knows of typed results; checked by test_typing.py, never run."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Annotated, Any, assert_type

from pydantic import TypeAdapter

import hookless
from hookless import ArraySpec, Stream, Worker, aio


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
    assert_type(running.stream("m:f", 1), Stream[Any])
    for report in running.options(returns=Report).stream("m:f"):
        assert_type(report, Report)
    with running.options(deadline=5).stream("m:f") as items:
        assert_type(next(items), Any)
        assert_type(items.value, Any)


async def in_a_loop() -> None:
    async with aio.Worker(paths=["src"]) as running:
        assert_type(running, aio.Worker)
        assert_type(await running.call("m:f", 1), Any)
        assert_type(await running.options(returns=Report).call("m:f"), Report)
        assert_type(await running.options(returns=set[int], deadline=5).run("script.py"), set[int])
        async for report in running.options(returns=Report).stream("m:f"):
            assert_type(report, Report)
        async with running.stream("m:f") as items:
            assert_type(items, aio.Stream[Any])
