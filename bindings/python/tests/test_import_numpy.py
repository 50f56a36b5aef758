"""When NumPy is imported: never because a peer sent an array."""

from __future__ import annotations

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
