"""An object array with a pickle inside.

Wants: code behind what looks like numbers
Against: `numpy.load(allow_pickle=True)`, `joblib.load`
Since: 0.1
"""

from __future__ import annotations

import io
import os

import joblib
import numpy

from gadgets import SHELL, Reduced, carried, reduced
from harness import expose, naive, refused


def files() -> dict[str, bytes]:
    """One file of each format, with the same gadget in an object array."""
    array = numpy.array([Reduced(os.system, (SHELL,))], dtype=object)
    saved, dumped = io.BytesIO(), io.BytesIO()
    numpy.save(saved, array, allow_pickle=True)
    joblib.dump(array, dumped)
    return {"numpy.load": saved.getvalue(), "joblib.load": dumped.getvalue()}


def victim(data: bytes) -> None:
    if data.startswith(b"\x93NUMPY"):
        numpy.load(io.BytesIO(data), allow_pickle=True)
    else:
        joblib.load(io.BytesIO(data))


def peer() -> str:
    for name, data in files().items():
        assert expose(__name__, data).marked, name
    return "succeeds: both run it"


def ours() -> str:
    told = carried(*files().values())
    # An array whose dtype says object, and whose bytes are the pickle.
    node = naive.node(
        naive.NDARRAY, [naive.dtype("O", "|", 8), b"\0", naive.array([b"\1"]), naive.binary(reduced())]
    )
    return f"{told}; an array of that dtype is {refused(naive.frame(node), 'bad_dtype')}"
