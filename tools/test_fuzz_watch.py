"""What the fuzz targets that embed Python watch over: each kind of change is seen."""

from __future__ import annotations

import builtins
import runpy
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

import hookless
from steps import ROOT

Changed = Callable[[], str]


@pytest.fixture
def changed() -> Changed:
    hookless.warm_up()
    namespace = runpy.run_path(str(ROOT / "tests" / "fuzz" / "python" / "watch.py"))
    look: Changed = namespace["changed"]
    assert look() == ""
    assert look() == ""
    return look


def test_decoding_changes_nothing(changed: Changed) -> None:
    frame = hookless.dumps([{"a": 1}, 2.5, {"b"}, hookless.Record("m", "C", {"x": 1})])
    for _ in range(5000):
        hookless.loads(frame)
    assert changed() == ""


def test_a_module(changed: Changed) -> None:
    sys.modules["planted"] = ModuleType("planted")
    assert "planted" in changed()
    del sys.modules["planted"]
    assert changed() == ""


def test_a_builtin(changed: Changed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "len", lambda of: 0)
    assert "len" in changed()


def test_an_attribute_of_a_class(changed: Changed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hookless.RemoteError, "planted", 1, raising=False)
    assert "planted" in changed()


def test_references(changed: Changed) -> None:
    leaked = [hookless.RemoteError] * 5000
    assert "RemoteError" in changed()
    del leaked
    assert changed() == ""


def test_blocks(changed: Changed) -> None:
    leaked = [[0.5] for _ in range(200_000)]
    assert "blocks" in changed()
    del leaked
    assert changed() == ""
