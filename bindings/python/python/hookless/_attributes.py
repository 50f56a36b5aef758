"""What an exception holds beside its arguments: builtin fields, attributes of its own, and denials."""

from __future__ import annotations

from hookless._safe import (
    Broken,
    attempt,
    cap,
    exact_text,
    inherits,
    names,
    sendable,
    short_repr,
    without_addresses,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DENIALS", "DENIAL_BYTES", "attributes_of", "denials_of", "fields_of"]

# Bytes of one value, of one that is cut to its beginning, and of a name; how many attributes are read.
_DATUM = 65_536
_BEGINNING = 4096
_NAME = 256
_ATTRIBUTES = 64

DENIALS = 64
"""How many denials are kept of one exception, and of one call."""
DENIAL_BYTES = 2048
"""Bytes of one of them."""

_DICT: Any = vars(BaseException)["__dict__"]

# What builtin classes keep beside their arguments. Of an AttributeError's `obj` only the type is told.
_FIELDS: dict[type[BaseException], tuple[str, ...]] = {
    OSError: ("errno", "strerror", "filename", "filename2", "characters_written"),
    SyntaxError: ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset"),
    UnicodeDecodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeEncodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeTranslateError: ("object", "start", "end", "reason"),
    ImportError: ("name", "path"),
    AttributeError: ("name", "obj"),
    NameError: ("name",),
    StopIteration: ("value",),
    SystemExit: ("code",),
}

# Kept by hookless or by Python itself, and sent as what they are.
_OWN = frozenset({"__notes__", "__denials__"})


def fields_of(error: BaseException) -> tuple[dict[str, object], list[str]]:
    """Return what builtin classes keep, and the names of what was cut."""
    fields: dict[str, object] = {}
    cut: list[str] = []
    for kind, known in _FIELDS.items():
        if not inherits(error, kind):
            continue
        for name in known:
            value = attempt(vars(kind)[name].__get__, error)
            if value is None or isinstance(value, Broken):
                continue
            if name == "obj":
                # No more than its type, and no code of it.
                fields[name] = ".".join(names(type(value))[:2])
                cut.append("fields.obj")
                continue
            fields[name] = kept = _beginning(value)
            if kept is not value:
                cut.append(f"fields.{name}")
    return fields, cut


def attributes_of(error: BaseException) -> tuple[dict[str, object], list[str]]:
    """Return what lies in the exception's own `__dict__`, and the names of what was cut.

    What cannot be sent is named only: no code of it runs. An exception becomes a failure without links.
    """
    found = attempt(lambda: list(_DICT.__get__(error).items()))
    if isinstance(found, Broken):
        return {}, []
    fields: dict[str, object] = {}
    cut: list[str] = []
    named = [(exact_text(name), value) for name, value in found]
    known = [(name, value) for name, value in named if name is not None and name not in _OWN]
    for name, value in known[:_ATTRIBUTES]:
        shown = cap(name, _NAME)
        kept: object = Broken("")
        if sendable(value, _DATUM):
            kept = value
        elif type(value) in (str, bytes, bytearray):
            kept = _beginning(value)
        elif value is not error and inherits(value, BaseException):
            kept = attempt(_nested, value)
        if not isinstance(kept, Broken):
            fields[shown] = kept
        if kept is not value:
            cut.append(f"fields.{shown}")
    if len(known) > _ATTRIBUTES:
        cut.append(f"fields[{_ATTRIBUTES}:{len(known)}]")
    return fields, cut


def _nested(error: BaseException) -> object:
    """Return an exception in an attribute as a failure: its names, message, arguments and fields."""
    from hookless._hookless import Failure
    from hookless._safe import lineage

    module, qualname, _ = names(type(error))
    args: Any = vars(BaseException)["args"].__get__(error)
    fields, cut = fields_of(error)
    message = exact_text(attempt(str, error))
    kept = [value if sendable(value, _BEGINNING) else short_repr(value) for value in args[:_ATTRIBUTES]]
    if message is not None and any(one is not value for one, value in zip(kept, args, strict=False)):
        message = without_addresses(message)
    return Failure(
        module,
        qualname,
        tuple(".".join(names(kind)[:2]) for kind in lineage(type(error))[1:16]),
        "" if message is None else cap(message, _BEGINNING),
        tuple(kept),
        fields=fields,
        cut=(*cut, "links"),
    )


def _beginning(value: object) -> object:
    """Return a field: as it is, or the beginning of a long text, or a repr."""
    if sendable(value, _DATUM):
        return value
    if type(value) is str:
        return cap(value, _BEGINNING)
    if type(value) in (bytes, bytearray):
        return value[:_BEGINNING]  # type: ignore[index]
    return short_repr(value)


def denials_of(error: BaseException) -> list[str]:
    """Return the texts of `__denials__`; what is no text is shown as its repr."""
    found = attempt(object.__getattribute__, error, "__denials__")
    if isinstance(found, Broken) or type(found) not in (list, tuple):
        return []
    texts = [exact_text(one) for one in found[:DENIALS]]
    return [
        short_repr(one) if text is None else cap(text, DENIAL_BYTES)
        for one, text in zip(found, texts, strict=False)
    ]
