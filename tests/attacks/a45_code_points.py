"""Text of an array past the last character.

Wants: an interpreter's internal error, or a crash, where the host looks at it
Against: `pickle.loads` of a NumPy array
Since: 0.1
"""

from __future__ import annotations

import pickle

import numpy

from harness import expose, naive, refused

POINTS = (0x7FFFFFFF, 0x110000, 0xFFFFFFFF)


def victim(data: bytes) -> None:
    pickle.loads(data)[0]


def peer() -> str:
    for point in POINTS:
        array = numpy.array([point], "<u4").view("<U1")
        found = expose(__name__, pickle.dumps(array))
        assert found.status != 0, found
        assert "SystemError" in found.err or "ValueError" in found.err or found.status < 0, found
    return "succeeds: an exception, SystemError among them, at the first look"


def ours() -> str:
    told = ""
    for point in POINTS:
        for order, letter in (("little", "<"), ("big", ">")):
            data = point.to_bytes(4, order)  # type: ignore[arg-type]
            body = naive.ndarray(naive.dtype("U", letter, 4), [1], data)
            told = refused(naive.frame(body), "bad_element")
    boolean = naive.ndarray(naive.dtype("b", "|", 1), [1], b"\x02")
    return (
        f"holds: {told}; each character is checked, as is each byte of a bool "
        f"({refused(naive.frame(boolean), 'bad_element')})"
    )
