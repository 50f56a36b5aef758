"""Records as plain values, for a converter that knows nothing of them: by shape, whatever their names say."""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from typing import Any

from hookless._hashing import KEYED
from hookless._hookless import KeyCosts
from hookless._typed.containers import hashed
from hookless._typed.costs import costs
from hookless._typed.mismatch import Mismatch, step
from hookless.errors import DecodeError
from hookless.records import EnumValue, NamedRecord, Record

__all__ = ["lowered"]

# Keys of one table that may share a hash, and fewer than have a guard, as in the wire's own tables.
_ALIKE = _FEW = 64

# Nothing to lower; and of these, what nobody can choose the hash of, or what is too few to matter.
_LEAVES = frozenset({type(None), bool, int, float, complex, str, bytes})
_KEYED = frozenset({type(None), bool, str, bytes} if KEYED else {type(None), bool})


def lowered(value: Any) -> Any:
    """Return a value with dicts for records, tuples for named records, and their values for enum values.

    Lists and tuples whose items would degrade a set that is made of them are refused: a converter may make
    one.
    """
    kind = type(value)
    if kind is Record:
        return {name: _at(step(name, index), one) for index, (name, one) in enumerate(value.items())}
    if kind is NamedRecord:
        items = [_at(step(name, index), one) for index, (name, one) in enumerate(value.items())]
        _check_items(items)
        return tuple(items)
    if kind is EnumValue:
        return lowered(value.value)
    if kind is list or kind is tuple or kind is deque:
        kinds = set(map(type, value))
        if kinds <= _LEAVES:
            if not kinds <= _KEYED:
                _check_items(value)
            return value
        items = [_at(f"[{index}]", one) for index, one in enumerate(value)]
        _check_items(items)
        if all(map(operator.is_, value, items)):
            return value
        return items if kind is list else tuple(items) if kind is tuple else deque(items, value.maxlen)
    if kind is set or kind is frozenset:
        members = [_at(f"{{{index}}}", one) for index, one in enumerate(value)]
        if all(map(operator.is_, value, members)):
            return value
        return _whole(hashed(kind, members, is_set=True), len(value), "members")
    if kind is dict or kind is OrderedDict or kind is Counter:
        return _table(value)
    return value


def _table(value: dict[Any, Any]) -> Any:
    keys = [_at(f".keys[{index}]", key) for index, key in enumerate(value)]
    values = [_at(step(key, index), one) for index, (key, one) in enumerate(value.items())]
    same = all(map(operator.is_, value, keys))
    if same and all(map(operator.is_, value.values(), values)):
        return value
    if same:
        return dict(zip(keys, values, strict=True))
    table = hashed(lambda keys: dict(zip(keys, values, strict=True)), keys, is_set=False)
    return _whole(table, len(value), "keys")


def _at(place: str, value: Any) -> Any:
    try:
        return lowered(value)
    except Mismatch as error:
        error.steps.append(place)
        raise


def _whole(table: Any, length: int, what: str) -> Any:
    if len(table) != length:
        raise Mismatch(f"two {what} become one as plain values")
    return table


def _check_items(items: Sequence[Any]) -> None:
    try:
        hashes = list(map(hash, items))
    except TypeError:
        return  # No set can be made of it.
    if len(hashes) < _FEW:
        if len(set(hashes)) == len(hashes):
            return
    else:
        try:
            KeyCosts().check(items, True)
            return
        except DecodeError:
            pass  # Perhaps because items are equal, which costs a set nothing.
    try:
        keys = list(items)
        costs().check([keys[index] for index in _distinct(keys, hashes)], True)
    except DecodeError as error:
        raise Mismatch(str(error.args[0]), code="key_collision") from None


def _distinct(items: list[Any], hashes: list[int]) -> list[int]:
    """Return where each item stands first, in order; by sorting, since a table is what must not be made."""
    found: list[int] = []
    alike: list[int] = []
    for index in sorted(range(len(hashes)), key=hashes.__getitem__):
        if alike and hashes[alike[0]] != hashes[index]:
            alike = []
        if any(_equal(items[one], items[index]) for one in alike):
            continue
        alike.append(index)
        if len(alike) > _ALIKE:
            raise Mismatch(f"{len(alike)} items with one hash", code="key_collision")
        found.append(index)
    return sorted(found)


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError, ArithmeticError):
        return False  # As between a NumPy scalar and a Decimal: no set can hold both.
