"""The attributes that an exception of a child may have as its builtin class has them, and no others.

CPython's display of a traceback acts upon some: it imports an ImportError's `name`, looks up a NameError's
`name`, reads a Unicode error's `object` from `start`, prints a SyntaxError's text. So each value is checked
here, and those attributes are never set.
"""

from __future__ import annotations

import sys

from hookless.display import escape, sandboxed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from hookless._hookless import Failure

__all__ = ["FILLERS", "HIDDEN"]

# An escaped line of source and its carets stay this short.
_TEXT = 2000


def _never(name: str) -> property:
    """Return an attribute that is None and stays None.

    CPython sets `name` and `obj` of an AttributeError that leaves a `__getattr__`, and then searches `obj`.
    """
    return property(
        lambda error: None, lambda error, value: None, doc=f"None: see `remote.fields[{name!r}]`."
    )


HIDDEN: dict[type[Exception], dict[str, property]] = {
    AttributeError: {name: _never(name) for name in ("name", "obj")},
    NameError: {"name": _never("name")},
    ImportError: {name: _never(name) for name in ("name", "path", "name_from")},
}


def _os(error: Any, failure: Failure) -> None:
    fields = failure.fields
    number = fields.get("errno")
    if _is_int(number, -(1 << 31), 1 << 31):
        error.errno = number
    strerror = fields.get("strerror")
    if type(strerror) is str:
        error.strerror = strerror
    for name in ("filename", "filename2"):
        value = fields.get(name)
        if type(value) in (str, bytes) or _is_int(value, -(1 << 63), 1 << 63) or _is_path(value):
            setattr(error, name, value)
    written = fields.get("characters_written")
    if _is_int(written, 0, 1 << 63):
        error.characters_written = written


def _unicode(error: Any, failure: Failure) -> None:
    """All of them or none: CPython reads `object` from `start` to `end`."""
    fields = failure.fields
    # CPython gives a UnicodeTranslateError an `encoding`, but nothing to put there.
    first = () if isinstance(error, UnicodeTranslateError) else ("encoding",)
    names = (*first, "object", "start", "end", "reason")
    source: Any = fields.get("object")
    start: Any = fields.get("start")
    end: Any = fields.get("end")
    if type(source) is not (bytes if isinstance(error, UnicodeDecodeError) else str):
        return
    # Of what was cut nothing is known at those places.
    if "fields.object" in failure.cut:
        return
    if not (_is_int(start, 0, len(source)) and _is_int(end, 0, len(source) + 1) and start < end):
        return
    if all(type(fields.get(name)) is str for name in names if name in ("encoding", "reason")):
        for name in names:
            setattr(error, name, fields[name])


def _syntax(error: Any, failure: Failure) -> None:
    fields = failure.fields
    msg, file, text = fields.get("msg"), fields.get("filename"), fields.get("text")
    error.msg = escape(msg if type(msg) is str else failure.message)
    if type(file) is str:
        error.filename = sandboxed(file)
    if type(text) is str:
        error.text = escape(text[:_TEXT].rstrip("\r\n"))
    for name in ("lineno", "end_lineno"):
        _set_int(error, name, fields, 1 << 31)
    # They draw carets under the text, as many as they say.
    for name in ("offset", "end_offset"):
        _set_int(error, name, fields, len(error.text or "") + 2)


def _set_int(error: Any, name: str, fields: Mapping[str, object], below: int) -> None:
    if _is_int(fields.get(name), 0, below):
        setattr(error, name, fields[name])


def _is_int(value: Any, least: int, below: int) -> bool:
    return type(value) is int and least <= value < below


def _is_path(value: object) -> bool:
    # A value can only be a path where the module is there already.
    pathlib = sys.modules.get("pathlib")
    return pathlib is not None and isinstance(value, pathlib.PurePath)


FILLERS: dict[type[Exception], Callable[[Any, Failure], None]] = {
    OSError: _os,
    UnicodeDecodeError: _unicode,
    UnicodeEncodeError: _unicode,
    UnicodeTranslateError: _unicode,
    SyntaxError: _syntax,
}
"""What sets the attributes of the classes that derive from a builtin one."""
