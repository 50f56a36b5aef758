"""`isolation=`: what each mode promises, and what it does where the kernel lacks a layer."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from typing import Any

import pytest

import hookless
from hookless import Worker


def test_strict_is_the_default(children: str) -> None:
    with Worker(paths=[children]) as worker:
        layers = worker.isolation
    assert layers["mode"].startswith("strict")
    assert layers["landlock"].startswith("ABI ")
    assert layers["seccomp"].startswith("allowlist of ") and "instructions" in layers["seccomp"]
    assert layers["capabilities"].startswith("none")
    assert "as " in layers["rlimits"] and "nofile 256" in layers["rlimits"]


def test_auto_is_strict_where_nothing_is_missing(children: str) -> None:
    """No warning: those are errors here."""
    with Worker(paths=[children], isolation="auto") as auto, Worker(paths=[children]) as strict:
        for layer in ("landlock", "seccomp", "capabilities", "no_new_privs"):
            assert auto.isolation[layer] == strict.isolation[layer]
        with pytest.raises(hookless.RemoteError, match="Permission denied"):
            auto.call("attacks:read", "/etc/passwd")


@pytest.mark.parametrize("isolation", ["", "None", "Strict", None, True, 1])
def test_other_names(isolation: Any) -> None:
    """A misspelt mode is no mode."""
    with pytest.raises(ValueError, match="strict"):
        Worker(isolation=isolation)


# Makes the kernel look as one without these system calls, to this process and its children.
WITHOUT = """
import ctypes, json, struct, sys, warnings
import hookless

def without(*numbers):
    code = struct.pack("HBBI", 0x20, 0, 0, 0)
    for number in numbers:
        code += struct.pack("HBBI", 0x15, 0, 1, number) + struct.pack("HBBI", 0x06, 0, 0, 0x50000 | 38)
    code += struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
    program = ctypes.create_string_buffer(code)
    filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, filter, 0, 0) == 0

numbers, mode, children = json.loads(sys.argv[1])
without(*numbers)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        with hookless.Worker(paths=[children], isolation=mode) as worker:
            found = {"layers": worker.isolation, "sum": worker.call("jobs:add", 1)}
            try:
                worker.call("attacks:read", "/etc/passwd")
                found["read"] = True
            except hookless.RemoteError:
                found["read"] = False
    except hookless.IsolationError as error:
        found = {"error": str(error), "layer": error.layer}
found["warnings"] = [[type(one.message).__name__, str(one.message), one.filename] for one in caught]
print(json.dumps(found))
"""

X86 = platform.machine() == "x86_64"
LANDLOCK = [444, 445, 446]
SECCOMP = [317 if X86 else 277]


def on_a_kernel_without(numbers: list[int], mode: str, children: str) -> dict[str, Any]:
    command = [sys.executable, "-c", WITHOUT, json.dumps([numbers, mode, children])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("layer", "numbers"), [("landlock", LANDLOCK), ("seccomp", SECCOMP)])
def test_strict_where_a_layer_is_missing(children: str, layer: str, numbers: list[int]) -> None:
    """No child, and an error that says which layer and what to do."""
    found = on_a_kernel_without(numbers, "strict", children)
    assert found["layer"] == layer
    assert layer in found["error"] and "auto" in found["error"]
    assert found["warnings"] == []


@pytest.mark.parametrize(("layer", "numbers"), [("landlock", LANDLOCK), ("seccomp", SECCOMP)])
def test_auto_where_a_layer_is_missing(children: str, layer: str, numbers: list[int]) -> None:
    """The other layers are in force, and there is one warning, which names the caller's line."""
    found = on_a_kernel_without(numbers, "auto", children)
    assert found["sum"] == 2
    ((kind, text, file),) = found["warnings"]
    assert (kind, file) == ("IsolationWarning", "<string>") and layer in text
    assert found["layers"][layer].startswith("none")
    other = "seccomp" if layer == "landlock" else "landlock"
    assert not found["layers"][other].startswith("none")
    assert found["read"] is (layer == "landlock")


def test_none_needs_neither(children: str) -> None:
    found = on_a_kernel_without(LANDLOCK + SECCOMP, "none", children)
    assert found["sum"] == 2 and found["warnings"] == []
    assert found["layers"]["landlock"].startswith("none")
