"""When NumPy is imported: never because a peer sent an array."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hookless
from test_import import run

FRAME = hookless.dumps(np.zeros(1))


def test_decoding_an_array_does_not_import_numpy() -> None:
    """The peer cannot make the host import NumPy by sending an array."""
    code = """
import sys, hookless
value = hookless.loads(sys.stdin.buffer.read())
print(type(value) is hookless.Array, "numpy" in sys.modules)
"""
    assert run(code, data=FRAME) == "True False"


@pytest.mark.parametrize("first", ["import numpy", "import hookless; hookless.use_numpy()"])
def test_numpy_when_it_is_loaded_or_asked_for(first: str) -> None:
    """Loaded before the first decode, or named by the host: arrays are ndarrays."""
    code = f"""
import sys
{first}
import hookless
value = hookless.loads(sys.stdin.buffer.read())
print(type(value).__module__, type(value).__name__)
"""
    assert run(code, data=FRAME) == "numpy ndarray"


def test_encoding_arrays_works_without_use_numpy() -> None:
    """Whoever has an array to send has NumPy loaded."""
    code = "import hookless, numpy; print(type(hookless.loads(hookless.dumps(numpy.zeros(3)))).__name__)"
    assert run(code) == "ndarray"


WATCHED = """
import sys
sys.path.insert(0, sys.argv[1])
import json, numpy, ml_dtypes, hookless
from watching import watched
from describing import expand
from test_vectors import VECTORS, wrapped
frames = []
for file in ("arrays", "scalars", "structures", "numbered", "masked", "flat"):
    for one in json.loads((VECTORS / f"accept/{file}.json").read_text()):
        frames.append(wrapped(expand(one["body"]), expand(one.get("data", ""))))
hookless.loads(hookless.dumps(None))
with watched():
    for frame in frames:
        try:
            hookless.loads(frame)
        except hookless.DecodeError as error:
            assert error.code == "dtype_unsupported", error
print(len(frames) > 150)
"""


def test_decoding_arrays_imports_and_opens_nothing() -> None:
    """The first decode of a process loads what it may need; an array of any kind loads no more."""
    command = [sys.executable, "-W", "error", "-c", WATCHED, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "True\n", done.stderr
