"""What values of the standard library make the host import and open, and when."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from hookless import dumps
from standard_samples import STANDARD


def run(code: str, data: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], input=data, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


FRAMES = {name: "\n".join(dumps(value).hex() for value in found) for name, found in STANDARD.items()}

WATCHED = """
import sys
import hookless
events, on = [], False
def hook(event, arguments):
    if on and event in ("open", "import", "exec", "compile"):
        events.append((event, str(arguments[0])))
sys.addaudithook(hook)
frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
if {warm}:
    hookless.warm_up()
modules = set(sys.modules)
on = True
for frame in frames:
    hookless.loads(frame)
on = False
print({shown})
"""


def test_nothing_is_imported_after_warm_up() -> None:
    """One frame of every sample: no import, no file, no code. A time zone's own file is read, once."""
    code = WATCHED.format(warm=True, shown="events, set(sys.modules) - modules")
    without_zones = [text for name, text in FRAMES.items() if name not in ZONED]
    assert run(code, "\n".join(without_zones)) == "[] set()"


ZONED = ["aware time", "aware datetime", "ZoneInfo"]


def test_a_zone_reads_its_own_file_and_no_other() -> None:
    """One file for each key however often it occurs, with the key at its end."""
    code = WATCHED.format(warm=True, shown="*(f'{event} {name}' for event, name in events), sep='\\n'")
    lines = run(code, "\n".join(FRAMES[name] for name in ZONED * 2)).splitlines()
    opened = [line for line in lines if line.startswith("open ")]
    assert sorted(line.split("zoneinfo/")[-1] for line in opened) == ["America/New_York", "Europe/Paris"]
    # Without the system's files the package tzdata is asked for them.
    assert all("tzdata" in line or "importlib" in line for line in lines if line not in opened)


FIXED = """
import sys
import hookless
before = set(sys.modules)
import array, collections, datetime, decimal, fractions, ipaddress, pathlib, time, uuid, zoneinfo
import hookless.paths, hookless._standard
hookless.loads(hookless.dumps(None))
zoneinfo.available_timezones()
zoneinfo.ZoneInfo("Europe/Paris")
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize("name", STANDARD)
def test_the_fixed_list_of_imports(name: str) -> None:
    """Without `warm_up`, the first such value brings in modules of a fixed list, whatever it says."""
    allowed = set(run(FIXED).split())
    code = WATCHED.format(warm=False, shown="*sorted(set(sys.modules) - modules)")
    imported = set(run(code, FRAMES[name]).split())
    assert imported <= allowed


def test_plain_values_import_nothing_of_it() -> None:
    """Who sends numbers and text pays for none of these modules, when encoding nor when decoding."""
    code = """
import sys, hookless
hookless.loads(hookless.dumps({"a": [1, 2.5, "x", b"y", (None, {1})]}))
heavy = {"datetime", "zoneinfo", "uuid", "decimal", "fractions", "ipaddress", "pathlib", "array"}
print(sorted(heavy & set(sys.modules)))
"""
    assert run(code) == "[]"


def test_a_refused_payload_calls_no_constructor() -> None:
    """Fields are checked before a class is looked up: a bad date does not even import datetime."""
    code = """
import sys, hookless
head = b"HKLS\\x01\\x01" + bytes(10)
for body in sys.stdin.read().split():
    raw = bytes.fromhex(body)
    try:
        hookless.loads(head + len(raw).to_bytes(8, "big") + bytes(8) + raw)
    except hookless.DecodeError as error:
        print(error.code)
print("datetime" in sys.modules, "pathlib" in sys.modules)
"""
    bodies = ["d60a07e80d01", "c7060e024142434400", "c70a15000000000000000000ff"[:26], "d41003"]
    answers: list[Any] = run(code, "\n".join(bodies)).split()
    assert answers == ["bad_payload"] * 4 + ["False", "False"]
