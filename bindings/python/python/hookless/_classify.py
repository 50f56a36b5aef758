"""What an instance of a class becomes on the wire: an inert record, if its class says what its fields are.

A class is known by what its library leaves behind in it (proto/records.md). That is read through the getters
of `type` itself, and the fields by `object.__getattribute__`: no metaclass, no `__class__` and no
`__getattr__` is asked. What runs of the value's own is the properties that it declares as fields.
"""

from __future__ import annotations

import sys

from hookless._safe import exact_text, names
from hookless.records import EnumValue, NamedRecord, Record, _new_member, _new_named, _new_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["classify", "parts_of"]

_OF_TYPE: Any = type.__dict__
_MRO = _OF_TYPE["__mro__"].__get__
_DICT = _OF_TYPE["__dict__"].__get__
_BASE = _OF_TYPE["__base__"].__get__
_SIZE = _OF_TYPE["__basicsize__"].__get__
_ITEM = _OF_TYPE["__itemsize__"].__get__
_DICT_AT = _OF_TYPE["__dictoffset__"].__get__
_WEAK_AT = _OF_TYPE["__weakrefoffset__"].__get__
_read = object.__getattribute__

_INERT = (Record, NamedRecord, EnumValue)

# A slot of a class that was written in Python, or a member of a C class; and the size of one.
_SLOT = type(Record.__dict__["_fields"])
_WORD = 8

_STRUCT_FIELDS = "__struct_fields__"


class _Unreadable(Exception):
    """A field cannot be read: its name, and what reading it raised."""

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(name, error)
        self.name, self.error = name, error


class _Plan:
    """How instances of one class are read; it holds as long as the MRO and the mark are those that it saw."""

    __slots__ = ("kind", "mark", "mark_name", "module", "mro", "names", "owner", "qualname", "read")

    def __init__(
        self,
        kind: type,
        mro: tuple[type, ...],
        read: Callable[[Any, _Plan], Record | EnumValue | None],
        owner: type | None = None,
        mark_name: str = "",
        fields: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.mro, self.read = kind, mro, read
        self.owner, self.mark_name, self.names = owner, mark_name, fields
        self.mark = None if owner is None else _DICT(owner).get(mark_name)
        self.module, self.qualname, _ = names(kind)

    def holds(self, kind: type) -> bool:
        if self.kind is not kind or _MRO(kind) is not self.mro:
            return False
        return self.owner is None or _DICT(self.owner).get(self.mark_name) is self.mark


# By the address of the class: its metaclass would hash a class as a key. A plan keeps its class alive.
_plans: dict[int, _Plan] = {}
_MOST_PLANS = 512


def classify(value: object) -> Record | EnumValue | tuple[str, Exception] | None:
    """Return the record that an instance becomes, and None for one whose class is of none of the known kinds.

    Where a field cannot be read, return its name and what reading it raised.
    """
    kind = type(value)
    plan = _plans.get(id(kind))
    if plan is None or not plan.holds(kind):
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        plan = _plans[id(kind)] = _plan(kind)
    try:
        return plan.read(value, plan)
    except _Unreadable as error:
        return error.name, error.error


def parts_of(value: object) -> list[Any] | None:
    """Return the values in a record, or in what becomes one; None for anything else."""
    found = value if type(value) in _INERT else classify(value)
    if isinstance(found, EnumValue):
        return [found.value]
    return list(found.values()) if isinstance(found, Record) else None


def _plan(kind: type) -> _Plan:
    mro = _MRO(kind)
    enum = vars(sys.modules["enum"]).get("Enum") if "enum" in sys.modules else None
    if enum is not None and any(one is enum for one in mro):
        return _Plan(kind, mro, _member)
    extra = [one for one in mro if _stores_more(one)]
    if any(one is tuple for one in extra):
        fields = _namedtuple_fields(mro) if len(extra) == 1 else None
        return _Plan(kind, mro, _nothing if fields is None else _named, *(fields or ()))
    if not extra:
        for one in mro:
            found = _DICT(one)
            for mark, (fields_of, read) in _MARKS.items():
                if mark in found:
                    names_ = fields_of(found[mark])
                    return _Plan(kind, mro, _nothing if names_ is None else read, one, mark, names_ or ())
        struct = _struct_fields(kind)
        if struct is not None:
            return _Plan(kind, mro, _fields, fields=struct)
    return _Plan(kind, mro, _nothing)


def _stores_more(kind: type) -> bool:
    """Return whether instances keep more than slots, a dict and weak references: content of C's."""
    base = _BASE(kind)
    if base is None:
        return False
    if _ITEM(kind) != _ITEM(base):
        return True
    slots = sum(1 for found in _DICT(kind).values() if type(found) is _SLOT)
    weak = _WEAK_AT(kind) > 0 and _WEAK_AT(base) == 0
    expected = _SIZE(base) + _WORD * (slots + weak)
    # Python 3.11 keeps a word for the dict where instances vary in length.
    has_dict = _DICT_AT(kind) != 0 and _DICT_AT(base) == 0
    size: int = _SIZE(kind)
    return size != expected and not (has_dict and size == expected + _WORD)


def _texts(found: Iterable[object]) -> tuple[str, ...] | None:
    """Return names of fields, if that is what they are: text, no two equal."""
    texts = [exact_text(one) for one in found]
    kept = tuple(one for one in texts if one is not None)
    return kept if len(set(kept)) == len(texts) else None


def _dataclass_fields(mark: Any) -> tuple[str, ...] | None:
    """Return the names of a dataclass's fields, without those of class variables and init-only ones."""
    ordinary = vars(sys.modules["dataclasses"]).get("_FIELD") if "dataclasses" in sys.modules else None
    if type(mark) is not dict or ordinary is None:
        return None
    try:
        return _texts(name for name, field in mark.items() if _read(field, "_field_type") is ordinary)
    except AttributeError:
        return None


def _attrs_fields(mark: Any) -> tuple[str, ...] | None:
    if not any(one is tuple for one in _MRO(type(mark))):
        return None
    try:
        return _texts(_read(one, "name") for one in tuple.__iter__(mark))
    except AttributeError:
        return None


def _pydantic_fields(mark: Any) -> tuple[str, ...] | None:
    return _texts(mark) if type(mark) is dict else None


def _struct_fields(kind: type) -> tuple[str, ...] | None:
    """Return the names of a msgspec Struct's fields, which its metaclass, of C, keeps."""
    for one in _MRO(type(kind)):
        member = _DICT(one).get(_STRUCT_FIELDS)
        if member is not None:
            found = _SLOT.__get__(member, kind) if type(member) is _SLOT else None
            return _texts(found) if type(found) is tuple else None
    return None


def _namedtuple_fields(mro: tuple[type, ...]) -> tuple[type, str, tuple[str, ...]] | None:
    for one in mro:
        found = _DICT(one).get("_fields")
        if found is not None:
            fields = _texts(found) if type(found) is tuple else None
            return None if fields is None else (one, "_fields", fields)
    return None


def _get(value: object, name: str) -> Any:
    try:
        return _read(value, name)
    except Exception as error:
        raise _Unreadable(name, error) from error


def _nothing(value: object, plan: _Plan) -> None:
    return None


def _fields(value: object, plan: _Plan) -> Record:
    fields, name = {}, ""
    try:
        for name in plan.names:
            fields[name] = _read(value, name)
    except Exception as error:
        raise _Unreadable(name, error) from error
    return _new_record(plan.module, plan.qualname, fields)


def _model(value: object, plan: _Plan) -> Record:
    """A pydantic model: its fields are in its dict, where no property is asked, and then come its extras."""
    held = _get(value, "__dict__")
    fields = {}
    for name in plan.names:
        if type(held) is not dict or name not in held:
            raise _Unreadable(name, AttributeError(f"the model has no value for {name!r}"))
        fields[name] = held[name]
    extra = _get(value, "__pydantic_extra__")
    if type(extra) is dict:
        for name, item in extra.items():
            text = exact_text(name)
            if text is None or text in fields:
                raise _Unreadable("__pydantic_extra__", TypeError("an extra has no name of its own"))
            fields[text] = item
    return _new_record(plan.module, plan.qualname, fields)


def _named(value: object, plan: _Plan) -> Record | EnumValue | None:
    items: list[Any] = list(tuple.__iter__(value))  # type: ignore[arg-type]
    if len(items) != len(plan.names):
        return None
    return _new_named(plan.module, plan.qualname, dict(zip(plan.names, items, strict=True)))


def _member(value: object, plan: _Plan) -> Record | EnumValue | None:
    name = _get(value, "_name_")
    text = None if name is None else exact_text(name)
    if text is None and name is not None:
        return None
    return _new_member(plan.module, plan.qualname, text, _get(value, "_value_"))


_MARKS: dict[
    str, tuple[Callable[[Any], tuple[str, ...] | None], Callable[[Any, _Plan], Record | EnumValue | None]]
] = {
    "__dataclass_fields__": (_dataclass_fields, _fields),
    "__attrs_attrs__": (_attrs_fields, _fields),
    "__pydantic_fields__": (_pydantic_fields, _model),
}
