"""Classes with named fields: dataclass, attrs, msgspec Struct, TypedDict, NamedTuple.

A record of the wire is nothing but names and values here. The name of its class is never looked at: what is
made is what the annotation says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hookless._typed.mismatch import Mismatch, kind_text, step
from hookless._typed.nodes import Node
from hookless.display import escape_line
from hookless.records import NamedRecord, Record

__all__ = ["Field", "Fields", "Positions"]


@dataclass
class Field:
    """One field of a class."""

    name: str
    """What its constructor calls it."""
    node: Node
    required: bool = True
    attribute: str = ""
    """What a record calls it, if that is not `name`."""
    key: str = ""
    """What a dict calls it, if that is not `name`."""
    computed: bool = False
    """The class makes it by itself: checked, and then left to the class."""


@dataclass(eq=False)
class Fields(Node):
    """A class that is made of named fields; a record or a dict with the same names is one."""

    text: str
    make: Callable[..., Any]
    tag: tuple[str, object] | None = None
    """Field of a dict that tells tagged Structs apart, and the value of this one."""
    open: bool = False
    """Whether fields that the class does not have are passed over."""
    fields: list[Field] = field(default_factory=list)
    _in_record: dict[str, Field] = field(default_factory=dict)
    _in_dict: dict[str, Field] = field(default_factory=dict)

    kinds = frozenset({Record, dict})

    def fill(self, fields: list[Field]) -> None:
        """Add the fields: a class may refer to itself, so its node is there before them."""
        self.fields = fields
        self._in_record = {one.attribute or one.name: one for one in fields}
        self._in_dict = {one.key or one.name: one for one in fields}

    def differs(self, other: Node) -> bool:
        return isinstance(other, Fields)

    def fits(self, value: Any) -> bool:
        """Return whether a record or dict has the fields of this class, by their names and the tag."""
        table = self._in_record if type(value) is Record else self._in_dict
        tag = self.tag
        if tag is not None and tag[0] in value:
            return self._is_tagged(value)
        if tag is not None and type(value) is dict:
            return False
        if not self.open and not all(name in table for name in value):
            return False
        return all(not one.required or name in value for name, one in table.items())

    def _is_tagged(self, value: Any) -> bool:
        assert self.tag is not None
        name, wanted = self.tag
        return type(value[name]) is type(wanted) and value[name] == wanted

    def run(self, value: Any) -> Any:
        if type(value) not in self.kinds:
            raise Mismatch.of(self.text, value)
        table = self._in_record if type(value) is Record else self._in_dict
        found: dict[str, Any] = {}
        for index, (name, one) in enumerate(value.items()):
            if type(name) is not str:
                error = Mismatch(f"{self.text} has named fields, found a key of type {kind_text(name)}")
                error.steps.append(f".keys[{index}]")
                raise error
            known = table.get(name)
            if known is None:
                self._unknown(name, value)
                continue
            try:
                converted = known.node.run(one)
            except Mismatch as error:
                error.steps.append(step(name, index))
                raise
            if not known.computed:
                found[known.name] = converted
        for one in self.fields:
            if one.required and one.name not in found:
                raise Mismatch(f"{self.text} needs a field {one.name!r}, which is not there")
        return made(self.text, self.make, found)

    def _unknown(self, name: str, value: Any) -> None:
        if self.tag is not None and name == self.tag[0]:
            if not self._is_tagged(value):
                raise Mismatch(f"the tag is not that of {self.text}")
        elif not self.open:
            shown = escape_line(name, most=40)
            raise Mismatch(f'{self.text} has no field "{shown}"')


class Positions(Node):
    """A NamedTuple: a tuple of as many values, or a named record with the same names in the same order."""

    kinds = frozenset({NamedRecord, tuple})

    def __init__(self, text: str, make: Callable[..., Any]) -> None:
        self.text, self.make = text, make
        self.fields: list[Field] = []

    def run(self, value: Any) -> Any:
        if type(value) not in self.kinds:
            raise Mismatch.of(self.text, value)
        values = tuple(value.values()) if type(value) is NamedRecord else value
        least = sum(one.required for one in self.fields)
        if not least <= len(values) <= len(self.fields):
            wanted = str(least) if least == len(self.fields) else f"{least} to {len(self.fields)}"
            raise Mismatch(f"{self.text} has {wanted} fields, found {len(values)}")
        if type(value) is NamedRecord and any(
            name != one.name for name, one in zip(value.keys(), self.fields, strict=False)
        ):
            raise Mismatch(f"{self.text} has other fields, or in another order")
        found: dict[str, Any] = {}
        for index, (one, item) in enumerate(zip(self.fields, values, strict=False)):
            try:
                found[one.name] = one.node.run(item)
            except Mismatch as error:
                error.steps.append(f".{one.name}" if type(value) is NamedRecord else f"[{index}]")
                raise
        return made(self.text, self.make, found)


def made(text: str, make: Callable[..., Any], fields: dict[str, Any]) -> Any:
    """Make an instance of a class of the host. Its code may refuse by ValueError or TypeError.

    Whatever else it raises is an error of the host, and none of the value: it comes out as it is.
    """
    try:
        return make(**fields)
    except (TypeError, ValueError) as error:
        raise Mismatch(f"{text} refused its fields: {escape_line(str(error), most=500)}") from error
