"""Unions, and types that refer to themselves."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

from hookless._typed.mismatch import Mismatch, kind_text
from hookless._typed.nodes import Node

__all__ = ["Later", "Union"]


class Union(Node):
    """Several types. The type of the value chooses, so a wrong part deep inside is looked at once.

    Of scalars that take one type, as `Literal["a"] | str` do, the first that fits is taken. Of tuples the one
    of that length; of classes the first that has all fields of the value, and whose fields without a default
    the value has.
    """

    def __init__(self, members: list[Node], text: str) -> None:
        """Raises TypeError where the type of a value does not choose."""
        self.members, self.text = members, text
        self.kinds = frozenset().union(*(member.kinds for member in members))
        for member, other in itertools.combinations(members, 2):
            both = member.kinds & other.kinds
            if both and not member.differs(other):
                takers = f"{member.text} and {other.text} both take a {min(kind.__name__ for kind in both)}"
                raise TypeError(f"{takers}, so {text} does not say which one it is")
        self.inert = frozenset().union(*(member.inert for member in members))
        self._chosen: dict[type, list[Node]] = {}

    def takes(self, kind: type) -> bool:
        return any(member.takes(kind) for member in self.members)

    def prefers(self, kind: type) -> bool:
        return any(member.takes(kind) and member.prefers(kind) for member in self.members)

    def run(self, value: Any) -> Any:
        kind = type(value)
        chosen = self._chosen.get(kind)
        if chosen is None:
            taking = [member for member in self.members if member.takes(kind)]
            # A stable sort: int before float for an int, whatever the order of the annotation.
            chosen = self._chosen[kind] = sorted(taking, key=lambda member: not member.prefers(kind))
        if len(chosen) == 1:
            return chosen[0].run(value)
        if not chosen:
            raise Mismatch.of(self.text, value)
        if kind in self.kinds:
            for member in chosen:
                if member.fits(value):
                    return member.run(value)
            what = "length" if kind is tuple else "fields"
            raise Mismatch(f"no part of {self.text} has the {what} of this {kind_text(value)}")
        first: Mismatch | None = None
        for member in chosen:
            try:
                return member.run(value)
            except Mismatch as error:
                first = first or error
        raise Mismatch(f"fits no part of {self.text}; for one: {first and first.text}")

    def every(self, values: Collection[Any]) -> bool:
        kinds = set(map(type, values))
        by_type = [member for member in self.members if any(map(member.takes, kinds))]
        if len(by_type) == 1:
            return by_type[0].every(values)
        # Several plain types side by side, such as `int | str`: each value is of one of them.
        return kinds <= self.inert


class Later(Node):
    """Stands for a type alias inside its own definition."""

    node: Node

    def __init__(self, text: str) -> None:
        self.text = text

    def takes(self, kind: type) -> bool:
        return self.node.takes(kind)

    def run(self, value: Any) -> Any:
        return self.node.run(value)
