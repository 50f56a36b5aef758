"""Values as JSON lists, in the form of `proto/vectors/README.md`.

NumPy is never imported here: without it, arrays are `hookless.Array` and NumPy scalars `hookless.Scalar`.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from typing import Any

import hookless

__all__ = ["describe", "expand", "normal"]


def expand(text: str) -> bytes:
    """Bytes of hex tokens: `hh`, `hh*N` for N times, `aa..bb` for each number from the first to the last."""
    out = bytearray()
    for token in text.split():
        if ".." in token:
            first, last = token.split("..")
            for number in range(int(first, 16), int(last, 16) + 1):
                out += number.to_bytes(len(first) // 2, "big")
        else:
            unit, _, times = token.partition("*")
            out += bytes.fromhex(unit) * int(times or 1)
    return bytes(out)


def normal(value: Any) -> Any:
    """The `value` of a vector with each hex written out and each int as hex, as `describe` has them."""
    kind = value[0]
    if kind in ("none", "bool", "float", "complex", "str"):
        return value
    if kind == "int":
        digits = value[1].removeprefix("-")
        number = int.from_bytes(expand(digits[2:])) if digits.startswith("0x") else int(digits)
        return [kind, _int(-number if value[1].startswith("-") else number)]
    if kind in ("surrogates", "bytes", "bytearray"):
        return [kind, expand(value[1]).hex()]
    if kind in ("list", "tuple", "set", "frozenset"):
        return [kind, [normal(item) for item in value[1]]]
    if kind == "dict":
        return [kind, [[normal(key), normal(item)] for key, item in value[1]]]
    if kind in ("ndarray", "scalar"):
        return [kind, value[1] | {"data": expand(value[1]["data"]).hex()}]
    assert kind == "exception", f"no such kind in a described value: {kind}"
    return [kind, [{name: _normal_field(name, field) for name, field in entry.items()} for entry in value[1]]]


def _normal_field(name: str, field: Any) -> Any:
    if name in ("module", "qualname", "message"):
        return normal(field)
    if name in ("bases", "notes", "denials", "cut", "args"):
        return [normal(item) for item in field]
    if name == "fields":
        return [[normal(key), normal(item)] for key, item in field]
    if name == "frames":
        return [[normal(item) if isinstance(item, list) else item for item in frame] for frame in field]
    return field


def describe(value: Any) -> Any:
    """A decoded value as a JSON list that shows every type and bit. Sets are in the order of their bytes."""
    kind = type(value)
    if value is None:
        return ["none"]
    if kind is bool:
        return ["bool", value]
    if kind is int:
        return ["int", _int(value)]
    if kind is float:
        return ["float", struct.pack(">d", value).hex()]
    if kind is complex:
        return ["complex", struct.pack(">d", value.real).hex(), struct.pack(">d", value.imag).hex()]
    if kind is str:
        return _text(value)
    if kind in (bytes, bytearray):
        return [kind.__name__, value.hex()]
    if kind in (list, tuple):
        return [kind.__name__, [describe(item) for item in value]]
    if kind in (set, frozenset):
        # A body begins behind the 32 bytes of the head, and a set member is never in the data region.
        return [
            kind.__name__,
            [describe(item) for item in sorted(value, key=lambda item: hookless.dumps({item})[32:])],
        ]
    if kind is dict:
        return ["dict", [[describe(key), describe(item)] for key, item in value.items()]]
    if isinstance(value, hookless.RemoteError):
        return [
            "exception",
            [_entry(failure, numbers) for numbers in [_numbered(value.remote)] for failure in numbers],
        ]
    if kind is hookless.Array:
        structure = value.structure
        dtype = value.dtype if structure is None else _plain(structure)
        return _array(dtype, value.shape, value.order, value.tobytes())
    if kind is hookless.Scalar:
        return ["scalar", {"dtype": value.dtype, "data": value.tobytes().hex()}]
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray:
        flags = value.flags
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
        return _array(_dtype(value.dtype), value.shape, order, value.tobytes(order="A"))
    if numpy is not None and isinstance(value, numpy.generic):
        return _numpy_scalar(value, numpy)
    raise AssertionError(f"not of the closed set: {kind!r}")


def _int(number: int) -> str:
    magnitude = abs(number).to_bytes((abs(number).bit_length() + 7) // 8)
    return ("-" if number < 0 else "") + "0x" + magnitude.hex()


def _text(text: str) -> Any:
    raw = text.encode("utf-8", "surrogatepass")
    lone = any(0xD800 <= ord(character) <= 0xDFFF for character in text)
    return ["surrogates", raw.hex()] if lone else ["str", text]


def _dtype(dtype: Any) -> Any:
    """NumPy's `.str`, or itemsize, align and fields of a structured dtype."""
    if dtype.names is None:
        return dtype.str
    fields = []
    for name in dtype.names:
        whole, offset, *title = dtype.fields[name]
        fields.append([name, title[0] if title else None, offset, list(whole.shape), _dtype(whole.base)])
    return {"itemsize": dtype.itemsize, "align": dtype.isalignedstruct, "fields": fields}


def _plain(value: Any) -> Any:
    """Tuples as lists, for JSON."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


def _array(dtype: Any, shape: Iterable[int], order: str, data: bytes) -> Any:
    return ["ndarray", {"dtype": dtype, "shape": list(shape), "order": order, "data": data.hex()}]


def _numpy_scalar(value: Any, numpy: Any) -> Any:
    """The payload as on the wire: text and bytes as they are, numbers big-endian part by part."""
    dtype = value.dtype.newbyteorder("<").str
    if isinstance(value, numpy.str_):
        return ["scalar", {"dtype": "U", "data": str(value).encode("utf-8", "surrogatepass").hex()}]
    if isinstance(value, numpy.bytes_):
        return ["scalar", {"dtype": "S", "data": bytes(value).hex()}]
    # `tobytes` copies the scalar's memory, in the host's order; a conversion could touch the bits of a NaN.
    raw = value.tobytes()
    if isinstance(value, numpy.void):
        return ["scalar", {"dtype": "V", "data": raw.hex()}]
    parts = (
        [raw[: len(raw) // 2], raw[len(raw) // 2 :]] if isinstance(value, numpy.complexfloating) else [raw]
    )
    data = b"".join(part[::-1] if sys.byteorder == "little" else part for part in parts)
    if isinstance(value, numpy.datetime64 | numpy.timedelta64):
        unit, count = numpy.datetime_data(value.dtype)
        data = struct.pack(">BI", UNITS.index(unit), count) + data
    return ["scalar", {"dtype": dtype, "data": data.hex()}]


UNITS = ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


def _numbered(failure: hookless.Failure) -> list[hookless.Failure]:
    """X4: reverse postorder of the walk that visits members from last to first, then context, then cause."""
    order: list[hookless.Failure] = []
    seen: set[int] = set()

    def walk(one: hookless.Failure) -> None:
        seen.add(id(one))
        for link in [*reversed(one.members), one.context, one.cause]:
            if link is not None and id(link) not in seen:
                walk(link)
        order.append(one)

    walk(failure)
    return order[::-1]


def _entry(failure: hookless.Failure, numbers: list[hookless.Failure]) -> Any:
    def number(link: hookless.Failure | None) -> int | None:
        return None if link is None else next(i for i, one in enumerate(numbers) if one is link)

    def frame(one: hookless.TraceFrame) -> Any:
        source = None if one.source is None else _text(one.source)
        return [
            _text(one.file),
            one.line,
            one.end_line,
            one.column,
            one.end_column,
            _text(one.function),
            source,
        ]

    return {
        "module": _text(failure.module),
        "qualname": _text(failure.qualname),
        "bases": [_text(base) for base in failure.bases],
        "message": _text(failure.message),
        "notes": [_text(note) for note in failure.notes],
        "denials": [_text(denial) for denial in failure.denials],
        "cut": [_text(cut) for cut in failure.cut],
        "frames": [frame(one) for one in failure.frames],
        "suppress_context": failure.suppress_context,
        "cause": number(failure.cause),
        "context": number(failure.context),
        "members": [number(member) for member in failure.members],
        "args": [describe(argument) for argument in failure.args],
        "fields": [[_text(name), describe(field)] for name, field in failure.fields.items()],
    }
