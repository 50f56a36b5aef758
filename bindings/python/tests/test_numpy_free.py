"""Arrays in a host that has no NumPy, or did not load it: `hookless.Array` and `hookless.Scalar`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import naive
from describing import expand, normal
from samples import ARRAYS, REGION_ARRAY
from test_vectors import VECTORS, wrapped

PROGRAM = """
import json, sys
mode = sys.argv[1]
if mode == "blocked":
    sys.modules["numpy"] = None
import hookless
found = []
for line in sys.stdin.read().split():
    frame = bytes.fromhex(line)
    pushed = hookless.Decoder().feed(frame)[0].value
    for value in (hookless.loads(frame), hookless.loads(frame, copy=False), pushed):
        one = {"type": type(value).__name__, "same": hookless.dumps(value) == frame}
        one["parts"] = b"".join(hookless.encode([value])) == hookless.dumps([value])
        one["nested"] = hookless.dumps(hookless.loads(hookless.dumps([value]))[0]) == frame
        one["dtype"] = value.dtype
        if type(value) is hookless.Array:
            view = memoryview(value)
            one |= {"shape": value.shape, "order": value.order, "nbytes": value.nbytes}
            one["readonly"] = view.readonly
            one |= {"view": [view.format, view.itemsize, view.ndim, view.shape, view.nbytes]}
            one["data"] = view.tobytes("A").hex()
        found.append(one)
assert sys.modules.get("numpy") is None
print(json.dumps(found))
"""


def run(frames: list[bytes], mode: str) -> list[list[dict[str, Any]]]:
    text = "\n".join(frame.hex() for frame in frames)
    command = [sys.executable, "-W", "error", "-c", PROGRAM, mode]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return [found[i : i + 3] for i in range(0, len(found), 3)]


MODES = pytest.mark.parametrize("mode", ["blocked", "not loaded"])

EXPECTED = {
    "inline": ("<f8", [2, 3], "C", 48),
    "fortran": (">i2", [2, 3], "F", 12),
    "zero-d": ("|b1", [], "C", 1),
    "empty": ("<c16", [0, 3], "C", 0),
    "text": ("<U1", [2], "C", 8),
    "opaque": ("|V3", [2], "C", 6),
    "times": ("<M8[25ns]", [1], "C", 8),
}


@MODES
def test_arrays(mode: str) -> None:
    """dtype, shape, order and size as attributes; the buffer protocol; the same frame again."""
    names = list(EXPECTED)
    for name, results in zip(names, run([naive.frame(ARRAYS[name]) for name in names], mode), strict=True):
        dtype, shape, order, nbytes = EXPECTED[name]
        for one in results:
            assert one["type"] == "Array"
            assert one["same"] and one["parts"] and one["nested"]
            assert (one["dtype"], one["shape"], one["order"], one["nbytes"]) == (dtype, shape, order, nbytes)
            assert one["view"][-1] == nbytes


@MODES
def test_data_of_arrays(mode: str) -> None:
    """The bytes are the array's, in its own order."""
    ((inline, *_), (fortran, *_)) = run([naive.frame(ARRAYS["inline"]), naive.frame(ARRAYS["fortran"])], mode)
    assert inline["data"] == bytes(range(48)).hex()
    assert fortran["data"] == bytes(range(12)).hex()


@MODES
def test_region_arrays(mode: str) -> None:
    """Large arrays take the same way as with NumPy; with copy=False they are read-only."""
    ((owned, viewed, pushed),) = run([REGION_ARRAY], mode)
    for one in (owned, viewed, pushed):
        assert one["same"] and one["nbytes"] == 16_384
        assert one["data"] == (bytes(range(256)) * 64).hex()
    assert viewed["readonly"]


SCALARS = {
    "bool_": "|b1",
    "float32": "<f4",
    "timedelta64": "<m8[ns]",
    "bytes_": "S",
    "str_": "U",
    "void": "V",
}


@MODES
def test_scalars(mode: str) -> None:
    """They stay what they are, a signalling NaN and trailing NULs included, and encode to the same bytes."""
    for name, results in zip(
        SCALARS, run([naive.frame(ARRAYS[name]) for name in SCALARS], mode), strict=True
    ):
        for one in results:
            assert one["type"] == "Scalar"
            assert one["same"] and one["parts"] and one["nested"]
            assert SCALARS[name].strip("<|") in one["dtype"]


KEYS = """
import sys
sys.modules["numpy"] = None
import hookless
value = hookless.loads(bytes.fromhex(sys.stdin.read()))
(key,) = value
print(type(key).__name__, value[key], hookless.dumps(value).hex())
"""


def test_scalars_as_keys() -> None:
    """A float32 key is found again by an equal scalar; the table encodes to the same bytes."""
    frame = naive.frame(naive.mapping([(naive.scalar(42, b"\x3f\xc0\0\0"), naive.integer(7))]))
    done = subprocess.run(
        [sys.executable, "-c", KEYS], input=frame.hex(), capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["Scalar", "7", frame.hex()], done.stderr


EVERY_VECTOR = """
import json, sys
sys.path[:0] = sys.argv[2:]
if sys.argv[1] == "blocked":
    sys.modules["numpy"] = None
import hookless
from describing import describe
found = []
for line in sys.stdin.read().split():
    frame = bytes.fromhex(line)
    values = [hookless.loads(frame), hookless.loads(frame, copy=False)]
    values.append(hookless.Decoder().feed(frame)[0].value)
    assert values[0] == values[1] == values[2] and repr(values[0])
    assert all(hookless.dumps(value) == frame for value in values)
    assert b"".join(map(bytes, hookless.encode(values[0]))) == frame
    found.append(describe(values[0]))
assert sys.modules.get("numpy") is None
print(json.dumps(found))
"""


@MODES
@pytest.mark.parametrize("file", ["structures", "numbered", "masked", "flat"])
def test_every_kind_of_array(file: str, mode: str) -> None:
    """Each vector is kept inert, with all of its parts, and encodes to the same bytes."""
    chosen = [one for one in json.loads((VECTORS / f"accept/{file}.json").read_text()) if "limits" not in one]
    frames = [wrapped(expand(one["body"]), expand(one.get("data", ""))) for one in chosen]
    text = "\n".join(frame.hex() for frame in frames)
    command = [sys.executable, "-W", "error", "-c", EVERY_VECTOR, mode, str(Path(__file__).parent)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for one, found in zip(chosen, json.loads(done.stdout), strict=True):
        assert found == normal(one["value"]), one["name"]
