"""Values as text for a person, and as JSON for a program; arrays are summarised in both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from hookless._hookless import Array, Failure, Scalar
from hookless._safe import Broken, attempt
from hookless._show_arrays import items_of, kind_of, shape_text, special
from hookless.display import escape_line
from hookless.records import EnumValue, NamedRecord, Record
from hookless.remote import RemoteError

__all__ = ["failure_as_json", "is_array", "key_text", "summary", "to_json", "to_lines"]

_ITEMS = 20
_DEPTH = 6
_TEXT = 200
_BYTES = 24
_WIDTH = 88

# Shown in a line with others.
_SIMPLE = (type(None), bool, int, float, complex, str)

# Elements that the ends of an array show.
_ENDS = 3


def to_lines(value: Any) -> Iterator[str]:
    """Yield the lines that show a value: containers indented and capped, arrays summarised."""
    yield from _lines(value, "", "", _DEPTH)


def _lines(value: Any, label: str, indent: str, depth: int) -> Iterator[str]:
    kind = type(value)
    if kind in (Record, NamedRecord):
        yield from _record_lines(value, label, indent, depth)
        return
    if kind not in (list, tuple, dict, set, frozenset):
        yield f"{indent}{label}{_single(value)}"
        return
    short = _on_one_line(value)
    if short is not None and len(indent) + len(label) + len(short) <= _WIDTH:
        yield f"{indent}{label}{short}"
        return
    if kind is not dict and len(value) > _ITEMS and (begin := _beginning(value)):
        yield f"{indent}{label}{kind.__name__} of {len(value)}: {begin}, …"
        return
    yield f"{indent}{label}{kind.__name__} of {len(value)}" + ("" if depth else ": …")
    if not depth:
        return
    inner = indent + "  "
    for number, item in enumerate(value):
        if number == _ITEMS:
            yield f"{inner}… and {len(value) - _ITEMS} more"
            return
        if kind is dict:
            yield from _lines(value[item], f"{key_text(item)}: ", inner, depth - 1)
        else:
            yield from _lines(item, "", inner, depth - 1)


def _record_lines(record: Record, label: str, indent: str, depth: int) -> Iterator[str]:
    """Yield a record like a dict of its fields, headed by its class."""
    name = escape_line(record.type_name, most=_TEXT)
    if all(type(one) in _SIMPLE for one in record.values()) and len(record) <= _ITEMS:
        inside = ", ".join(f"{_field(field)}={_single(one)}" for field, one in record.items())
        if len(indent) + len(label) + len(name) + len(inside) + 2 <= _WIDTH:
            yield f"{indent}{label}{name}({inside})"
            return
    yield f"{indent}{label}{name} of {len(record)}" + ("" if depth else ": …")
    for number, (field, one) in enumerate(record.items() if depth else ()):
        if number == _ITEMS:
            yield f"{indent}  … and {len(record) - _ITEMS} more"
            return
        yield from _lines(one, f"{_field(field)}: ", indent + "  ", depth - 1)


def _field(name: str) -> str:
    return name if name.isidentifier() and len(name) <= _TEXT and name.isascii() else _single(name)


def _beginning(value: Any) -> str:
    """Return the first items of a long container on one line, if they are short and simple."""
    first = list(itertools.islice(value, _ITEMS // 2))
    shown = ", ".join(map(_single, first)) if all(type(one) in _SIMPLE for one in first) else ""
    return shown if len(shown) <= _WIDTH else ""


def _on_one_line(value: Any) -> str | None:
    """Return a container as Python writes it, if it is short and holds no container or array."""
    if len(value) > _ITEMS:
        return None
    if not all(type(one) in _SIMPLE for one in value):
        return None
    if type(value) is not dict:
        body = ", ".join(map(_single, value))
        if type(value) is list:
            return f"[{body}]"
        if type(value) is tuple:
            return f"({body}{',' * (len(value) == 1)})"
        name = type(value).__name__
        return f"{name}()" if not value else f"{{{body}}}" if name == "set" else f"{name}({{{body}}})"
    if not all(type(one) in _SIMPLE for one in value.values()):
        return None
    return "{" + ", ".join(f"{_single(key)}: {_single(one)}" for key, one in value.items()) + "}"


def key_text(key: Any) -> str:
    """Return a dict's key on one line."""
    if type(key) in (tuple, frozenset):
        short = _on_one_line(key)
        return short if short is not None and len(short) <= _WIDTH else f"{type(key).__name__} of {len(key)}"
    return _single(key)


def _single(value: Any) -> str:
    """Return one value that is no container on one line."""
    if type(value) is int:
        bits = value.bit_length()
        return str(value) if bits <= 400 else f"{hex(value)[:20]}… (int of {bits} bits)"
    if type(value) is str:
        if len(value) <= _TEXT:
            return escape_line(repr(value))
        return f"{escape_line(repr(value[:_TEXT]))}… (str of {len(value)})"
    if type(value) in (bytes, bytearray):
        if len(value) <= _BYTES:
            return repr(value)
        return f"{value[:_BYTES]!r}… ({type(value).__name__} of {len(value)})"
    if (shown := special(value, _single)) is not None:
        return shown
    if is_array(value):
        return summary(value)
    if isinstance(value, RemoteError | Failure):
        failure = value.remote if isinstance(value, RemoteError) else value
        return escape_line(f"{failure.type_name}: {failure.message}", most=_TEXT)
    if type(value) is EnumValue and type(value.value) in _SIMPLE:
        name = "" if value.name is None else f".{_field(value.name)}"
        return f"{escape_line(value.type_name, most=_TEXT)}{name} ({_single(value.value)})"
    if isinstance(value, Scalar):
        return f"{escape_line(repr(value.item()), most=_TEXT)} ({value.dtype})"
    text = attempt(repr, value)
    return escape_line(_unprintable(value) if isinstance(text, Broken) else text, most=_TEXT)


def _unprintable(value: Any) -> str:
    """Return the text of a value whose own repr fails: Python writes out no int of more than 4300 digits."""
    kind = type(value)
    for names in (("start", "stop", "step"), ("numerator", "denominator")):
        if all(hasattr(kind, name) for name in names):
            return f"{kind.__name__}({', '.join(_single(getattr(value, name)) for name in names)})"
    return f"{kind.__name__} of {len(value)}" if hasattr(kind, "__len__") else kind.__name__


def is_array(value: Any) -> bool:
    """Whether a value is an array of plain elements, NumPy's or hookless's own."""
    if isinstance(value, Array):
        return True
    return kind_of(value) in ("ndarray", "recarray") and items_of(value) is None


def summary(array: Any) -> str:
    """Return dtype, shape and what is in an array: its range, or its ends where there is no order."""
    return f"array {_dtype(array)} {shape_text(array.shape)}{_contents(array)}"


def _dtype(array: Any) -> str:
    if isinstance(array, Array):
        return array.dtype
    # Names of fields are the sender's.
    return escape_line(str(array.dtype), most=_TEXT) if array.dtype.names else str(array.dtype.str)


def _contents(array: Any) -> str:
    if isinstance(array, Array) or array.size == 0:
        return ""
    if array.size <= 2 * _ENDS:
        return ": " + _elements(array.ravel())
    import numpy as np

    if array.dtype.kind in "iufmM":
        if array.dtype.kind == "f":
            known = array[np.isfinite(array)]
        else:
            known = array[~np.isnat(array)] if array.dtype.kind in "mM" else array
        if known.size:
            missing = array.size - known.size
            what = "not finite" if array.dtype.kind == "f" else "NaT"
            note = f" ({missing} {what})" if missing else ""
            return f", {_element(known.min())} to {_element(known.max())}{note}"
    if array.dtype.kind == "b":
        return f", {int(array.sum())} of {array.size} true"
    # Flat indexing copies only what is shown.
    first, last = array.flat[:_ENDS], array.flat[array.size - _ENDS :]
    return f": {_elements(first)} … {_elements(last)}"


def _elements(flat: Any) -> str:
    return " ".join(map(_element, flat))


def _element(value: Any) -> str:
    if value.dtype.kind == "f":
        # A float of ml_dtypes has no format of its own.
        value = value if value.dtype.num < 256 else float(value)
        return f"{value:.6g}"
    text = repr(value.item()) if value.dtype.kind in "SUV" else str(value)
    return escape_line(text, most=40)


def to_json(value: Any) -> Any:
    """Return what `json.dumps` takes. What JSON lacks becomes an object with a `type`."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if value.bit_length() <= 1024 else {"type": "int", "hex": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"type": "float", "text": repr(value)}
    if kind is list:
        return [to_json(one) for one in value]
    if kind is dict:
        if all(type(key) is str for key in value):
            return {key: to_json(one) for key, one in value.items()}
        return {"type": "dict", "pairs": [[to_json(key), to_json(one)] for key, one in value.items()]}
    if kind in (tuple, set, frozenset):
        return {"type": kind.__name__, "items": [to_json(one) for one in value]}
    if kind in (bytes, bytearray):
        cut = {"cut": True} if len(value) > 4096 else {}
        return {"type": kind.__name__, "bytes": len(value), "hex": value[:4096].hex(), **cut}
    if is_array(value):
        return {"type": "array", "dtype": _dtype(value), "shape": list(value.shape), "text": summary(value)}
    if isinstance(value, RemoteError | Failure):
        failure = value.remote if isinstance(value, RemoteError) else value
        return {"type": "exception", **failure_as_json(failure)}
    if kind in (Record, NamedRecord):
        fields = {name: to_json(one) for name, one in value.items()}
        return {"type": "record", "name": value.type_name, "fields": fields}
    if kind is EnumValue:
        member = {"name": value.type_name, "member": value.name, "value": to_json(value.value)}
        return {"type": "enum member", **member}
    if (items := items_of(value)) is not None:
        return {"type": "array", "shape": list(value.shape), "items": [to_json(one) for one in items]}
    return {"type": kind.__name__, "text": _single(value)}


# Exceptions in the JSON of one: a report may link each of its entries many times over.
_FAILURES = 256


def failure_as_json(failure: Failure) -> dict[str, Any]:
    """Return an exception as JSON: its names, message, arguments, frames and what led to it.

    Where there are too many, `more` is true in the one whose links are left out.
    """
    found = _failure(failure)
    # A queue: however long the links are, nothing recurses, and the nearest come first.
    queue, made = [(failure, found)], 1
    for one, shown in queue:
        cause = one.cause or (None if one.suppress_context else one.context)
        name = "cause" if one.cause else "context"
        linked = [(name, cause)] if cause is not None else []
        for place, below in linked + [("members", member) for member in one.members]:
            if made >= _FAILURES:
                shown["more"] = True
                break
            below_shown = _failure(below)
            if place == "members":
                shown.setdefault(place, []).append(below_shown)
            else:
                shown[place] = below_shown
            queue.append((below, below_shown))
            made += 1
    return found


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "name": failure.type_name,
        "bases": list(failure.bases),
        "message": failure.message,
        "args": [to_json(one) for one in failure.args],
        "notes": list(failure.notes),
        "denials": list(failure.denials),
        "frames": [
            {"file": one.file, "line": one.line, "function": one.function, "source": one.source}
            for one in failure.frames
        ],
    }
