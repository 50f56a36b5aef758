"""Inert records: what instances of a child's own classes become.

A record holds the names that the child gives for its class, and its fields. The names choose nothing: no
class is looked up, imported or made by them. Fields are read as items, `record["x"]`, never as attributes, so
no field can stand in for a method.
"""

from __future__ import annotations

from hookless._record_text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
    from typing import Any, NoReturn

__all__ = ["EnumValue", "NamedRecord", "Record"]

# Levels of containers that a comparison goes into; what the wire brings has at most 512.
_DEEPEST = 2048


class _Inert:
    """What the three classes share: module and qualified name of a class, and parts that never change."""

    __slots__ = ("_hash", "_module", "_qualname")

    _module: str
    _qualname: str
    _hash: int

    @property
    def module(self) -> str:
        """Module of the class, as the child claims."""
        return self._module

    @property
    def qualname(self) -> str:
        """Qualified name of the class, as the child claims."""
        return self._qualname

    @property
    def type_name(self) -> str:
        """Module and qualified name, joined by a dot."""
        return f"{self._module}.{self._qualname}"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return _equal(self, other)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:  # Not asked for yet.
            return _hash(self)

    def __repr__(self) -> str:
        return text_of(self, _parts)


class Record(_Inert):
    """An instance of a dataclass, an attrs or pydantic model, or a msgspec Struct, as an inert value.

    `fields` are its names and values in order; names are text that is not empty. Iteration gives the names,
    as with a dict. Two records are equal when their classes, names, names of fields in order, and values are;
    one whose values are hashable is hashable. Raises TypeError and ValueError for other names.
    """

    __slots__ = ("_fields",)

    _fields: dict[str, Any]

    def __init__(self, module: str, qualname: str, fields: Mapping[str, Any]) -> None:
        found = dict(fields)
        for name in (module, qualname, *found):
            _check_name(name)
        _set_module(self, module)
        _set_qualname(self, qualname)
        _set_fields(self, found)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a field, or `default` when there is none of that name."""
        return self._fields.get(name, default)

    def keys(self) -> KeysView[str]:
        """Return the names of the fields, in order."""
        return self._fields.keys()

    def values(self) -> ValuesView[Any]:
        """Return the values of the fields, in order."""
        return self._fields.values()

    def items(self) -> ItemsView[str, Any]:
        """Return the fields as pairs of name and value, in order."""
        return self._fields.items()

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._module, self._qualname, dict(self._fields))


class NamedRecord(Record):
    """A namedtuple as an inert value: a record whose values are also reached by position.

    `record[0]` is the first value and `record[1:]` a tuple of values; iteration gives names all the same.
    """

    __slots__ = ()

    def __getitem__(self, name: str | int | slice) -> Any:
        if isinstance(name, int | slice):
            return tuple(self._fields.values())[name]
        return self._fields[name]


class EnumValue(_Inert):
    """A member of an enum as an inert value: its class, its name, and its value.

    `name` is None for a combination of flags that has none.
    """

    __slots__ = ("_name", "_value")

    _name: str | None
    _value: Any

    def __init__(self, module: str, qualname: str, name: str | None, value: Any) -> None:
        for text in (module, qualname) if name is None else (module, qualname, name):
            _check_name(text)
        _fill_member(self, module, qualname, name, value)

    @property
    def name(self) -> str | None:
        """Name of the member."""
        return self._name

    @property
    def value(self) -> Any:
        """Value of the member."""
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return EnumValue, (self._module, self._qualname, self._name, self._value)


def _check_name(name: object) -> None:
    if type(name) is not str:
        raise TypeError(f"names of a record are str, not {type(name).__name__}")
    if not name:
        raise ValueError("names of a record are not empty")


# The slots' own setters: `__setattr__` refuses.
_new: Any = object.__new__
_set_module: Any = vars(_Inert)["_module"].__set__
_set_qualname: Any = vars(_Inert)["_qualname"].__set__
_set_hash: Any = vars(_Inert)["_hash"].__set__
_set_fields: Any = vars(Record)["_fields"].__set__
_set_name: Any = vars(EnumValue)["_name"].__set__
_set_value: Any = vars(EnumValue)["_value"].__set__


def _fill_member(member: EnumValue, module: str, qualname: str, name: str | None, value: Any) -> None:
    _set_module(member, module)
    _set_qualname(member, qualname)
    _set_name(member, name)
    _set_value(member, value)


# What the decoder calls for each record, with parts that are checked and that nobody else holds.


def _new_record(module: str, qualname: str, fields: dict[str, Any]) -> Record:
    record: Record = _new(Record)
    _set_module(record, module)
    _set_qualname(record, qualname)
    _set_fields(record, fields)
    return record


def _new_named(module: str, qualname: str, fields: dict[str, Any]) -> NamedRecord:
    record: NamedRecord = _new(NamedRecord)
    _set_module(record, module)
    _set_qualname(record, qualname)
    _set_fields(record, fields)
    return record


def _new_member(module: str, qualname: str, name: str | None, value: Any) -> EnumValue:
    member: EnumValue = _new(EnumValue)
    _fill_member(member, module, qualname, name, value)
    return member


def _parts(value: _Inert) -> tuple[tuple[Any, ...], Any]:
    """Return the names that make a value, and the last argument: its fields, or the member's value."""
    if isinstance(value, Record):
        return (value._module, value._qualname), value._fields
    assert isinstance(value, EnumValue)
    return (value._module, value._qualname, value._name), value._value


def _head(value: Any) -> tuple[Any, ...]:
    """Return what two equal records have in common beside their values."""
    if type(value) is EnumValue:
        return EnumValue, value._module, value._qualname, value._name
    return type(value), value._module, value._qualname, *value._fields


def _values(value: Any) -> tuple[Any, ...]:
    return (value._value,) if type(value) is EnumValue else tuple(value._fields.values())


def _equal(left: object, right: object) -> bool:
    """Compare records, and the lists, tuples and dicts in them, without recursion."""
    stack: list[tuple[Any, Any, int]] = [(left, right, 0)]
    while stack:
        one, two, depth = stack.pop()
        if one is two:
            continue
        kind, other = type(one), type(two)
        if kind not in _WALKED and other not in _WALKED:
            if one != two:
                return False
            continue
        if kind is not other or depth > _DEEPEST:
            if depth > _DEEPEST:
                raise RecursionError("a record holds itself, or is too deep to be compared")
            return False
        if kind is dict:
            if len(one) != len(two) or any(key not in two for key in one):
                return False
            pairs = [(value, two[key]) for key, value in one.items()]
        elif kind in (list, tuple):
            if len(one) != len(two):
                return False
            pairs = list(zip(one, two, strict=True))
        else:
            if _head(one) != _head(two):
                return False
            pairs = list(zip(_values(one), _values(two), strict=True))
        stack += [(a, b, depth + 1) for a, b in reversed(pairs)]
    return True


_WALKED = frozenset({Record, NamedRecord, EnumValue, list, tuple, dict})


def _hash(value: _Inert) -> int:
    """Hash a record, and the records and tuples in it, without recursion; each record remembers its own."""
    # A container, its parts not yet hashed, and the hashes so far.
    open_: list[tuple[Any, Iterator[Any], list[int]]] = [_opened(value)]
    while True:
        container, rest, found = open_[-1]
        for part in rest:
            kind = type(part)
            if kind is tuple or (kind in _RECORDS and not hasattr(part, "_hash")):
                open_.append(_opened(part))
                break
            number = hash(part)
            found.append(_MINUS_ONE if number == -2 and part == -1 else number)
        else:
            result = hash(tuple(found))
            if type(container) is not tuple:
                _set_hash(container, result)
            open_.pop()
            if not open_:
                return result
            open_[-1][2].append(result)


_RECORDS = frozenset({Record, NamedRecord, EnumValue})

# Stands for the hash of -1, which Python gives to -2 as well: honest records have hashes of their own.
_MINUS_ONE = 0x1F123BB5


def _opened(value: Any) -> tuple[Any, Iterator[Any], list[int]]:
    if type(value) is tuple:
        return value, iter(value), []
    kind, *names = _head(value)
    return value, iter(_values(value)), [hash((kind.__name__, *names))]
