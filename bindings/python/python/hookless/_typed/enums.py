"""Enums: by value, never by the name or the class that the wire gives."""

from __future__ import annotations

import enum
import functools
import operator
from typing import Any

from hookless._typed.mismatch import Mismatch
from hookless._typed.nodes import Node
from hookless.records import EnumValue

__all__ = ["Enums"]


class Enums(Node):
    """An enum: an enum value of the wire, or a plain value, that is a member's by type and contents."""

    def __init__(self, cls: type[enum.Enum], text: str) -> None:
        self.cls, self.text = cls, text
        values = [member.value for member in cls.__members__.values()]
        # Bits that some member has. An enum keeps each value that it was ever asked for, so no other gets in.
        self._bits = functools.reduce(operator.or_, values) if issubclass(cls, enum.Flag) else None
        # Whether the class has an answer of its own to values that no member has.
        self._asks = self._bits is None and _missing(cls) is not _missing(enum.Enum)
        self._types = {type(value) for value in values}
        self._by_value: dict[tuple[type, Any], enum.Enum] = {}
        self._others: list[enum.Enum] = []
        for member in cls.__members__.values():
            try:
                self._by_value[type(member.value), member.value] = member
            except TypeError:  # Not hashable.
                self._others.append(member)

    def takes(self, kind: type) -> bool:
        return kind is EnumValue or kind in self._types

    def prefers(self, kind: type) -> bool:
        return kind is EnumValue

    def run(self, value: Any) -> Any:
        if not self.takes(type(value)):
            raise Mismatch.of(self.text, value)
        plain = value.value if type(value) is EnumValue else value
        kind = type(plain)
        try:
            found = self._by_value.get((kind, plain))
        except TypeError:
            found = None
        # `(1,)` is found by `(True,)`.
        if found is not None and not _same(found.value, plain):
            found = None
        if found is None:
            found = next((one for one in self._others if _same(one.value, plain)), None)
        if found is None and self._bits is not None and kind is int and plain == plain & self._bits:
            found = self.cls(plain)
        if found is None and self._asks and kind in self._types:
            try:
                found = self.cls(plain)
            except (TypeError, ValueError):
                pass
        if found is None:
            raise Mismatch(f"no member of {self.text} has this value")
        return found


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, and of equal types inside of tuples too."""
    if type(one) is not type(other) or one != other:
        return False
    return type(one) is not tuple or all(map(_same, one, other))


def _missing(cls: type[enum.Enum]) -> Any:
    return getattr(cls._missing_, "__func__", None)
