"""Nodes of a plan that have no other nodes below them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from hookless._typed.mismatch import Mismatch, kind_text
from hookless.records import EnumValue

__all__ = ["Anything", "Constrained", "Family", "Float", "Literals", "Node", "Plain"]


class Node:
    """One place of an annotation."""

    text: str
    """The type as messages name it."""

    kinds: frozenset[type] = frozenset()
    """Exact types that it takes, if it has others below it; two such nodes of a union must differ in them."""

    inert: frozenset[type] = frozenset()
    """Exact types whose values it gives back as they are, without another look."""

    def takes(self, kind: type) -> bool:
        """Return whether a value of exactly this type may fit."""
        return kind in self.kinds

    def prefers(self, kind: type) -> bool:
        """Return whether it leaves values of this type as they are: it comes first in a union then."""
        return True

    def differs(self, other: Node) -> bool:
        """Return whether `fits` tells it from another of the same kinds, in a union of both."""
        return False

    def fits(self, value: Any) -> bool:
        """Return whether a value of its kinds has the outward form that it wants."""
        return True

    def run(self, value: Any) -> Any:
        """Return the value as the annotation wants it. Raises Mismatch."""
        raise NotImplementedError

    def every(self, values: Collection[Any]) -> bool:
        """Return True only if `run` would give each of these back as it is; False where that takes a look."""
        return False


class Anything(Node):
    """`Any` and `object`: the inert value, whatever it is."""

    text = "any value"

    def takes(self, kind: type) -> bool:
        return True

    def run(self, value: Any) -> Any:
        return value

    def every(self, values: Collection[Any]) -> bool:
        return True


class Plain(Node):
    """One exact type, with nothing inside: a subclass is not that type, and nothing is made of another."""

    def __init__(self, kind: type, text: str | None = None) -> None:
        self.kind, self.inert = kind, frozenset({kind})
        self.text = text or ("None" if kind is type(None) else kind.__qualname__)

    def takes(self, kind: type) -> bool:
        return kind is self.kind

    def run(self, value: Any) -> Any:
        if type(value) is not self.kind:
            raise Mismatch.of(self.text, value)
        return value

    def every(self, values: Collection[Any]) -> bool:
        return set(map(type, values)) <= {self.kind}


class Family(Node):
    """A class that others of the closed set derive from, such as `tzinfo`, `Path` or `numpy.floating`."""

    def __init__(self, kind: type, within: type = object) -> None:
        """`within` is a second base that a value must have."""
        self.kind, self.within, self.text = kind, within, kind.__qualname__

    def takes(self, kind: type) -> bool:
        return self.kind in kind.__mro__ and self.within in kind.__mro__

    def run(self, value: Any) -> Any:
        if not self.takes(type(value)):
            raise Mismatch.of(self.text, value)
        return value

    def every(self, values: Collection[Any]) -> bool:
        return all(map(self.takes, set(map(type, values))))


class Float(Node):
    """float: also an int that a float holds exactly, as Python's own annotations mean it."""

    text = "float"
    inert = frozenset({float})

    def takes(self, kind: type) -> bool:
        return kind is float or kind is int

    def prefers(self, kind: type) -> bool:
        return kind is float

    def run(self, value: Any) -> Any:
        kind = type(value)
        if kind is float:
            return value
        if kind is not int:
            raise Mismatch.of("float", value)
        try:
            converted = float(value)
        except OverflowError:
            converted = float("inf")
        if converted != value:
            raise Mismatch("expected float, found an int that no float is equal to")
        return converted

    def every(self, values: Collection[Any]) -> bool:
        return set(map(type, values)) <= {float}


class Literals(Node):
    """`Literal`: these values, by type as well; members of an enum by the enum's own node."""

    def __init__(self, values: Iterable[Any], enums: Iterable[tuple[Any, Node]], text: str) -> None:
        self.values = {(type(value), value): value for value in values}
        self.enums = list(enums)
        self.text = text
        self._kinds = {kind for kind, _ in self.values}

    def takes(self, kind: type) -> bool:
        return kind in self._kinds or any(node.takes(kind) for _, node in self.enums)

    def prefers(self, kind: type) -> bool:
        return kind in self._kinds or kind is EnumValue

    def run(self, value: Any) -> Any:
        kind = type(value)
        if kind in self._kinds and (kind, value) in self.values:
            return self.values[kind, value]
        for member, node in self.enums:
            if node.takes(kind):
                try:
                    found = node.run(value)
                except Mismatch:
                    continue
                if found is member:
                    return member
        if self.takes(kind):
            raise Mismatch(f"expected {self.text}, found another value of type {kind_text(value)}")
        raise Mismatch.of(self.text, value)


class Constrained(Node):
    """A scalar within the bounds of a `msgspec.Meta`: its type is checked here, its bounds by msgspec."""

    def __init__(self, base: Node, annotation: Any) -> None:
        """Raises TypeError where the bounds do not belong to the type."""
        import msgspec

        self._msgspec: Any = msgspec
        self.base, self.annotation, self.text = base, annotation, base.text
        self._many: Any = list.__class_getitem__(annotation)
        # msgspec looks at the annotation first, and only then at the value.
        try:
            self._check(None, annotation)
        except msgspec.ValidationError:
            pass

    def _check(self, value: Any, annotation: Any) -> None:
        self._msgspec.convert(value, annotation, strict=True, builtin_types=_builtin_types())

    def takes(self, kind: type) -> bool:
        return self.base.takes(kind)

    def prefers(self, kind: type) -> bool:
        return self.base.prefers(kind)

    def run(self, value: Any) -> Any:
        converted = self.base.run(value)
        try:
            self._check(converted, self.annotation)
        except self._msgspec.ValidationError as error:
            raise Mismatch(str(error)) from None
        return converted

    def every(self, values: Collection[Any]) -> bool:
        if not self.base.every(values):
            return False
        try:
            self._check(list(values), self._many)
        except self._msgspec.ValidationError:
            return False
        return True


def _builtin_types() -> list[type]:
    """Return the types that msgspec must take as they are, and make of nothing else."""
    global _BUILTIN_TYPES
    if not _BUILTIN_TYPES:
        import datetime
        import decimal
        import uuid

        times = [datetime.datetime, datetime.date, datetime.time, datetime.timedelta]
        _BUILTIN_TYPES = [bytes, bytearray, *times, decimal.Decimal, uuid.UUID]
    return _BUILTIN_TYPES


_BUILTIN_TYPES: list[type] = []
