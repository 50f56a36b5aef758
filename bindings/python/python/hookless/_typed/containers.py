"""Nodes for lists, tuples, deques, sets and dicts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from hookless._typed.costs import costs
from hookless._typed.mismatch import Mismatch, step
from hookless._typed.nodes import Node
from hookless.display import escape_line
from hookless.errors import DecodeError

__all__ = ["Lengths", "Sequences", "Sets", "Tables", "Tuple", "hashed"]


class Sequences(Node):
    """Lists, deques, and tuples of any length: each takes its own kind only."""

    def __init__(self, kinds: Iterable[type], item: Node, text: str) -> None:
        self.kinds, self.item, self.text = frozenset(kinds), item, text

    def run(self, value: Any) -> Any:
        kind = type(value)
        if kind not in self.kinds:
            raise Mismatch.of(self.text, value)
        if self.item.every(value):
            return value
        run, items = self.item.run, []
        try:
            for item in value:
                items.append(run(item))
        except Mismatch as error:
            error.steps.append(f"[{len(items)}]")
            raise
        if kind is tuple:
            return _tuple(value, items)
        return items if kind is list else kind(items, value.maxlen)


class Tuple(Node):
    """A tuple of a fixed length."""

    kinds = frozenset({tuple})

    def __init__(self, items: list[Node], text: str) -> None:
        self.items, self.text = items, text

    def differs(self, other: Node) -> bool:
        return isinstance(other, Tuple) and len(other.items) != len(self.items)

    def fits(self, value: Any) -> bool:
        return len(value) == len(self.items)

    def run(self, value: Any) -> Any:
        if type(value) is not tuple:
            raise Mismatch.of(self.text, value)
        if len(value) != len(self.items):
            raise Mismatch(f"expected {self.text}, found a tuple of length {len(value)}")
        items: list[Any] = []
        try:
            for node, item in zip(self.items, value, strict=True):
                items.append(node.run(item))
        except Mismatch as error:
            error.steps.append(f"[{len(items)}]")
            raise
        return _tuple(value, items)


class Sets(Node):
    """Sets of the wire, and nothing else: a list could hold a member twice, or chosen hashes."""

    def __init__(self, kinds: Iterable[type], member: Node, text: str) -> None:
        self.kinds, self.member, self.text = frozenset(kinds), member, text

    def run(self, value: Any) -> Any:
        if type(value) not in self.kinds:
            raise Mismatch.of(self.text, value)
        if self.member.every(value):
            return value
        run, members = self.member.run, []
        try:
            for member in value:
                members.append(run(member))
        except Mismatch as error:
            error.steps.append(f"{{{len(members)}}}")
            raise
        if all(map(operator.is_, value, members)):
            return value
        made: Any = hashed(type(value), members, is_set=True)
        if len(made) != len(members):
            raise Mismatch(f"two members become one as {self.text}")
        return made


class Tables(Node):
    """Dicts, and their kin by the same name: OrderedDict takes OrderedDict, Counter takes Counter."""

    def __init__(self, kinds: Iterable[type], key: Node, value: Node, text: str) -> None:
        self.kinds, self.key, self.value, self.text = frozenset(kinds), key, value, text

    def run(self, value: Any) -> Any:
        kind = type(value)
        if kind not in self.kinds:
            raise Mismatch.of(self.text, value)
        same_keys = self.key.every(value)
        if same_keys and self.value.every(value.values()):
            return value
        keys = list(value) if same_keys else self._keys(value)
        run, values = self.value.run, []
        try:
            for one in value.values():
                values.append(run(one))
        except Mismatch as error:
            error.steps.append(step(list(value)[len(values)], len(values)))
            raise
        if same_keys or all(map(operator.is_, value, keys)):
            # The wire's own keys in their own order: as many probes as have been counted already.
            return _filled(kind, zip(keys, values, strict=True))
        made = hashed(lambda keys: _filled(kind, zip(keys, values, strict=True)), keys, is_set=False)
        if len(made) != len(keys):
            raise Mismatch(f"two keys become one as {self.text}")
        return made

    def _keys(self, value: Any) -> list[Any]:
        run, keys = self.key.run, []
        try:
            for key in value:
                keys.append(run(key))
        except Mismatch as error:
            error.steps.append(f".keys[{len(keys)}]")
            raise
        return keys


class Lengths(Node):
    """A container whose length a `msgspec.Meta` bounds."""

    def __init__(self, base: Node, least: int | None, most: int | None) -> None:
        self.base, self.least, self.most = base, least or 0, most
        self.kinds, self.text = base.kinds, base.text

    def run(self, value: Any) -> Any:
        converted = self.base.run(value)
        length = len(converted)
        if length < self.least:
            raise Mismatch(f"expected {self.text} of length >= {self.least}, found {length}")
        if self.most is not None and length > self.most:
            raise Mismatch(f"expected {self.text} of length <= {self.most}, found {length}")
        return converted


def _tuple(value: tuple[Any, ...], items: list[Any]) -> tuple[Any, ...]:
    # A key that is the wire's own needs no second count of its table.
    return value if all(map(operator.is_, value, items)) else tuple(items)


def _filled(kind: type, pairs: Iterable[tuple[Any, Any]]) -> Any:
    made = kind()
    for key, value in pairs:  # Not `kind(pairs)`: a Counter would count them.
        made[key] = value
    return made


def hashed(make: Callable[[list[Any]], Any], keys: list[Any], *, is_set: bool) -> Any:
    """Make a table of keys that are not the wire's own, after the probes that it will take were counted."""
    try:
        costs().check(keys, is_set)
        return make(keys)
    except DecodeError as error:
        raise Mismatch(str(error.args[0]), code="key_collision") from None
    except (TypeError, ValueError) as error:
        raise Mismatch(f"no key or member: {escape_line(str(error), most=500)}") from error
