"""No code of the sender's choice, proved from outside: `hooked.py` decodes under every hook."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookless
import snapshot
from entered import listed, strangers
from watching import watched

HERE = Path(__file__).parent

# A million in `make long`.
# How a host's own enum tells a member's value and its name in a message.
ENUMS = {("enum", "Enum.value"), ("enum", "property.__get__"), ("enum", "EnumType.__repr__")}

# Lengths of a prefix, under which `ipaddress` keeps netmasks.
PREFIXES = set(map(str, range(129)))
FRAMES = os.environ.get("HOOKLESS_FRAMES", "5000")


def told(*arguments: str) -> dict[str, Any]:
    """What `hooked.py` saw; it fails by itself on any audit event but the opening of a zone's file."""
    command = [sys.executable, "-W", "error", str(HERE / "hooked.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1700)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def unexplained(changes: list[str]) -> list[str]:
    """Changes but that of the netmasks that `ipaddress` keeps: of them there are 33 and 129."""
    return [
        one
        for one in changes
        if not (one.startswith("class ipaddress._Base") and one.endswith(" _netmask_cache"))
    ]


def test_c120_c125_c145_c146_the_corpus_under_every_hook() -> None:
    """No import, no file but a zone's, nothing changed; the functions entered are those that are listed."""
    seen = told("corpus")
    assert seen["count"] > 9000 and seen["good"] > seen["count"]
    assert unexplained(seen["changes"]) == []
    assert len(seen["zones"]) > 3
    assert all("zoneinfo/" in file for file in seen["zones"])
    assert seen["unlisted"] == []
    assert seen["unseen"] == []
    assert set(seen["netmasks"]) <= PREFIXES


def test_c134_mutations_under_every_hook() -> None:
    """Bent frames: a value or a DecodeError; no more is entered, opened or changed than by honest ones."""
    seen = told("mutations", FRAMES, "hooks")
    assert seen["count"] == int(FRAMES)
    assert seen["good"] > seen["count"] // 20
    assert unexplained(seen["changes"]) == []
    assert seen["unlisted"] == []
    assert set(seen["netmasks"]) <= PREFIXES


def test_typed_results_under_every_hook() -> None:
    """To make instances of the host's own classes, their own code is entered, and no other."""
    seen = told("typed")
    assert seen["good"] >= 7 and seen["count"] > 10_000
    assert unexplained(seen["changes"]) == []
    assert {tuple(one) for one in seen["unlisted"]} <= ENUMS


def test_the_watch_sees_an_event() -> None:
    """A file that is opened, and code that is compiled."""
    with pytest.raises(AssertionError, match="/dev/null"), watched(), open(os.devnull):
        pass
    with pytest.raises(AssertionError, match="compile"), watched():
        compile("1 + 1", "x", "eval")
    with (
        pytest.raises(AssertionError, match="zoneinfo"),
        watched(),
        open("/usr/share/zoneinfo/../../../dev/null"),
    ):
        pass


def test_the_watch_sees_an_import() -> None:
    """A module that is loaded."""
    sys.modules.pop("colorsys", None)
    with pytest.raises(AssertionError, match="colorsys"), watched():
        importlib.import_module("colorsys")


def test_the_watch_sees_a_function() -> None:
    """One that is not in the list, entered by C code: a key's own equality."""
    import fractions
    import textwrap

    hookless.warm_up()
    with watched(functions=True) as seen:
        textwrap.dedent("a")
        hookless.loads(hookless.dumps({fractions.Fraction(1, 3): None}))
    assert ("textwrap", "dedent") in strangers(seen.entered) - listed()
    assert ("fractions", "Fraction.__hash__") in strangers(seen.entered) & listed()


def test_snapshots_tell_a_change() -> None:
    """An attribute of a class, a name of a module, a setting, and a flag of the decimal context."""
    import decimal
    import fractions

    before = snapshot.take()
    quiet = before.changes(snapshot.take())
    fractions.Fraction.planted = 1  # type: ignore[attr-defined]
    decimal.planted = 1  # type: ignore[attr-defined]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 1)
    try:
        with decimal.localcontext() as context:
            context.flags[decimal.FloatOperation] = not context.flags[decimal.FloatOperation]
            changes = before.changes(snapshot.take())
    finally:
        sys.setrecursionlimit(limit)
        del fractions.Fraction.planted  # type: ignore[attr-defined]
        del decimal.planted  # type: ignore[attr-defined]
    for wanted in (
        "class fractions.Fraction",
        "module decimal: planted",
        "recursion limit",
        "decimal context",
    ):
        assert any(one.startswith(wanted) for one in changes), wanted
        # Other tests leave garbage, which may go in between; nothing of this kind.
        assert not any(one.startswith(wanted) for one in quiet), wanted


@pytest.mark.parametrize("trapped", [False, True])
@pytest.mark.parametrize("up", [False, True])
def test_comparing_keys_leaves_the_decimal_context(up: bool, trapped: bool) -> None:
    """That a float and a decimal are compared raises a flag of the context: it is lowered again."""
    import decimal

    import naive

    bodies = [hookless.dumps(key)[32:] for key in (decimal.Decimal("0.5"), 0.5)]
    frame = naive.frame(naive.mapping([(body, naive.NIL) for body in bodies]))
    with decimal.localcontext(decimal.Context()) as context:
        context.traps[decimal.FloatOperation] = trapped
        context.flags[decimal.FloatOperation] = up
        with pytest.raises(hookless.DecodeError) as caught:
            hookless.loads(frame)
        assert caught.value.code == "duplicate_key"
        assert context.flags[decimal.FloatOperation] is up
        assert [signal for signal, raised in context.flags.items() if raised] == [decimal.FloatOperation] * up
