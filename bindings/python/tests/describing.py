"""Values as JSON lists, in the form of `proto/vectors/README.md`.

NumPy is never imported here: without it, arrays are `hookless.Array` and NumPy scalars `hookless.Scalar`.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

import describing_inert
import describing_numpy
import hookless
from describing_standard import describe_standard, normal_standard

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
        return [kind, _normal_int(value[1])]
    if kind in ("surrogates", "bytes", "bytearray"):
        return [kind, expand(value[1]).hex()]
    if kind in ("list", "tuple", "set", "frozenset"):
        return [kind, [normal(item) for item in value[1]]]
    if kind == "dict":
        return [kind, [[normal(key), normal(item)] for key, item in value[1]]]
    if kind in ("ndarray", "scalar", "element"):
        return [kind, _normal_data(value[1])]
    if kind == "masked":
        parts = {name: value[1][name] for name in ("data", "mask", "fill_value")}
        return [kind, value[1] | {name: part and _normal_data(part) for name, part in parts.items()}]
    if kind == "objects":
        return [kind, value[1] | {"items": [normal(item) for item in value[1]["items"]]}]
    if kind == "strings":
        return value
    if kind in ("record", "named record", "enum member"):
        return [kind, {name: _normal_part(name, part) for name, part in value[1].items()}]
    if kind == "array":
        return [kind, value[1], value[2], expand(value[3]).hex()]
    standard = normal_standard(value, normal, _normal_int)
    if standard is not None:
        return standard
    assert kind == "exception", f"no such kind in a described value: {kind}"
    return [kind, [{name: _normal_field(name, field) for name, field in entry.items()} for entry in value[1]]]


def _normal_int(text: str) -> str:
    digits = text.removeprefix("-")
    number = int.from_bytes(expand(digits[2:])) if digits.startswith("0x") else int(digits)
    return _int(-number if text.startswith("-") else number)


def _normal_part(name: str, part: Any) -> Any:
    if name == "fields":
        return [[normal(key), normal(item)] for key, item in part]
    return None if part is None else normal(part)


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


def _normal_data(array: Any) -> Any:
    return array | {"data": expand(array["data"]).hex()}


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
    if kind in (hookless.Record, hookless.NamedRecord):
        fields = [[_text(name), describe(item)] for name, item in value.items()]
        name = "record" if kind is hookless.Record else "named record"
        return [name, {"module": _text(value.module), "qualname": _text(value.qualname), "fields": fields}]
    if kind is hookless.EnumValue:
        names = {"module": _text(value.module), "qualname": _text(value.qualname)}
        member = None if value.name is None else _text(value.name)
        return ["enum member", {**names, "name": member, "value": describe(value.value)}]
    if isinstance(value, hookless.RemoteError):
        return [
            "exception",
            [_entry(failure, numbers) for numbers in [_numbered(value.remote)] for failure in numbers],
        ]
    if kind.__module__ == "hookless" and kind is not hookless.ForeignPath:
        return describing_inert.describe(value, describe)
    standard = describe_standard(value, describe, _int)
    if standard is not None:
        return standard
    numpy = sys.modules.get("numpy")
    assert numpy is not None, f"not of the closed set: {kind!r}"
    return describing_numpy.describe(value, numpy, describe)


def _int(number: int) -> str:
    magnitude = abs(number).to_bytes((abs(number).bit_length() + 7) // 8)
    return ("-" if number < 0 else "") + "0x" + magnitude.hex()


def _text(text: str) -> Any:
    raw = text.encode("utf-8", "surrogatepass")
    lone = any(0xD800 <= ord(character) <= 0xDFFF for character in text)
    return ["surrogates", raw.hex()] if lone else ["str", text]


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
