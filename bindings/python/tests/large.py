"""Large values: made, told apart from wrong ones, and weighed; here, and in a child that imports this."""

from __future__ import annotations

import array
import gc
import os
from typing import Any

import numpy as np

__all__ = ["KINDS", "LONG", "OCTETS", "Weighed", "available", "check", "make"]

MIB = 1 << 20
# `make long`: what takes gigabytes.
LONG = os.environ.get("HOOKLESS_LONG") == "1"
KINDS = ("contiguous", "Fortran", "strided", "padded", "bytes", "bytearray", "array.array")
# Of bytes: as they lie, and backwards.
OCTETS = ("octets", "backwards")

# Values in steps of a MiB, each of which begins with its number, so that none can stand for another.
_STEP = np.random.default_rng(5).integers(0, 256, MIB, "u1").view("u8")
_PADDED = np.dtype([("a", "u1"), ("b", "u8")], align=True)


def _fill(words: Any) -> None:
    for start in range(0, len(words), len(_STEP)):
        part = words[start : start + len(_STEP)]
        part[:] = _STEP[: len(part)]
        part[:1] = start


def _is_filled(row: Any) -> bool:
    count = MIB // row.itemsize
    for start in range(0, len(row), count):
        part = np.ascontiguousarray(row[start : start + count]).view("u8")
        number = start * row.itemsize // 8
        if not (part[0] == number and np.array_equal(part[1:], _STEP[1 : len(part)])):
            return False
    return True


def _words(value: Any) -> Any:
    """The values of what `make` has made, as one row of 64-bit numbers, without a copy."""
    if isinstance(value, np.ndarray):
        if value.dtype == _PADDED:
            return value["b"]
        if value.dtype == "u1":
            return value
        return (value.T if value.flags.f_contiguous else value).view("u8").reshape(-1)
    return np.frombuffer(value, "u8")


def make(kind: str, size: int) -> Any:
    """A value with a payload of `size` bytes."""
    match kind:
        case "contiguous":
            value: Any = np.empty(size // 8, "f8")
        case "Fortran":
            value = np.empty((size // 8192, 1024), "i8", order="F")
        case "octets" | "backwards":
            value = np.empty(size, "u1")
            _fill(value.view("u8"))
            return value if kind == "octets" else value[::-1]
        case "strided":
            value = np.empty(size // 4, "f8")[::2]
        case "padded":
            value = np.empty(size // _PADDED.itemsize, _PADDED)
            value["a"] = 7
        case "bytes":
            return make("contiguous", size).tobytes()
        case "bytearray":
            value = bytearray(size)
        case "array.array":
            value = array.array("Q")
            value.frombytes(memoryview(make("contiguous", size)).cast("B"))
            return value
        case _:
            raise ValueError(kind)
    words = value.view("u8") if kind == "strided" else _words(value)
    _fill(words)
    return value


def check(kind: str, size: int, value: Any) -> None:
    """Compare type, dtype and every bit with those of `make`'s, without a second one of it."""
    if kind in ("bytes", "bytearray", "array.array"):
        assert type(value).__name__ == kind.removeprefix("array.")
        assert memoryview(value).nbytes == size
    else:
        assert value.nbytes == size
        own = {"Fortran": "i8", "padded": _PADDED, "octets": "u1", "backwards": "u1"}
        assert value.dtype == own.get(kind, "f8")
        assert value.flags.f_contiguous and (value.ndim == 2) == (kind == "Fortran")
    assert kind != "padded" or (value["a"] == 7).all()
    words = _words(value)
    assert _is_filled(words[::-1] if kind == "backwards" else words)


def _status(name: str) -> int:
    with open("/proc/self/status") as file:
        (line,) = [line for line in file if line.startswith(f"{name}:")]
    return int(line.split()[1]) << 10


def available() -> int:
    """Bytes that the machine could still give."""
    with open("/proc/meminfo") as file:
        (line,) = [line for line in file if line.startswith("MemAvailable:")]
    return int(line.split()[1]) << 10


class Weighed:
    """How much memory this process has in use at the most from here on, beyond what it has now."""

    def __init__(self) -> None:
        gc.collect()
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self._before = _status("VmRSS")

    def growth(self) -> int:
        return _status("VmHWM") - self._before


_held: Any = None
_weighed = None


def hold(kind: str, size: int) -> None:
    """Child: make a value, and keep it."""
    global _held
    _held = None
    _held = make(kind, size)


def send() -> Any:
    """Child: send what is kept."""
    return _held


def begin() -> None:
    """Child: weigh from here on."""
    global _held, _weighed
    _weighed = Weighed()


def growth() -> int:
    """Child: what it had in use at the most since `begin`."""
    assert _weighed is not None
    return _weighed.growth()


def take(value: Any) -> None:
    """Child: keep what was sent, to be looked at later."""
    global _held
    _held = value


def check_taken(kind: str, size: int) -> None:
    """Child: look at what was sent, and let it go."""
    global _held
    check(kind, size, _held)
    _held = None


def count() -> int:
    """Child: how many items were sent."""
    return len(_held)
