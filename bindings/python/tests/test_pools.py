"""`hookless.pools`: the standard library's executor, and that nothing is unpickled in its host."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookless.pools import pool_context

PROGRAMS = Path(__file__).with_name("pooling.py")


def run(*arguments: str) -> Any:
    command = [sys.executable, "-W", "error", str(PROGRAMS), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "a pickle ran" not in done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_an_executor_works_and_unpickles_nothing(method: str) -> None:
    """Results, failures, what cannot be sent, initializers, children that are replaced."""
    found = run("honest", method)
    assert found["unpickled"] == []
    assert found["value"] is True and found["map"] == [1.0, 2.0, 3.0] and found["after"] == 4
    kind, name, message, note = found["fails"]
    assert (kind, name, message) == ("RemoteError", "__mp_main__.Quota", "('no more', 7)")
    assert note.startswith("Traceback") and "in fails" in note
    assert found["private"][:2] == ["RemoteError", "hookless.EncodeError"]
    assert found["initializer"] == ["hello"] and found["pids"] == 2


def test_the_watch_sees_what_the_executor_does_otherwise() -> None:
    assert "loads" in run("stock")["unpickled"]


@pytest.mark.parametrize(
    ("trick", "words"),
    [
        ("pickle", "bad_magic"),
        ("connection's pickle", "bad_magic"),
        ("torn", "Stalled"),
        ("promise", "body_limit"),
        ("past the limit", "body_limit"),
        ("no tuple", "no result"),
        ("no exception", "no result"),
        ("another process", "unknown_call"),
        ("a bool", "no result"),
    ],
)
def test_what_is_no_result_breaks_the_pool(trick: str, words: str) -> None:
    """And nothing of it is run; every future says so, as when a child dies."""
    kind, cause = run("hostile", trick)
    assert kind == "BrokenProcessPool" and words in cause


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_child_that_does_not_end_holds_up_no_end_of_the_pool(method: str) -> None:
    """It has said that it exits, or what is no result, and ignores SIGTERM."""
    found = run("lasting", method)
    assert [kind for kind, _ in found] == ["BrokenProcessPool"] * 3
    for word, (_, cause) in zip(("goes on", "goes on", "bad_magic"), found, strict=True):
        assert word in cause


def test_limits_at_and_past() -> None:
    """A child that keeps to them answers by an EncodeError."""
    at, past = run("limited")
    assert at == ["value", repr(list(range(5000)))]
    assert past[:2] == ["RemoteError", "hookless.EncodeError"] and "body_limit" in past[2]


@pytest.mark.parametrize("method", ["fork", "", "thread"])
def test_children_are_no_copies_of_the_host(method: Any) -> None:
    with pytest.raises(ValueError, match="spawn or forkserver"):
        pool_context(method)
