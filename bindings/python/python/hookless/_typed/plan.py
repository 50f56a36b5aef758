"""From an annotation to a tree of nodes. What cannot be asked for is a TypeError, before there is a value."""

from __future__ import annotations

import collections
import collections.abc as abc
import enum
import sys
import types
import typing
from typing import Annotated, Any, Literal, NewType, TypeVar, get_args, get_origin

from hookless._hookless import Array
from hookless._typed import classes, known
from hookless._typed.arrays import Arrays, ArraySpec
from hookless._typed.containers import Lengths, Sequences, Sets, Tables, Tuple
from hookless._typed.enums import Enums
from hookless._typed.hints import meant_by, shown, substituted
from hookless._typed.nodes import Anything, Constrained, Float, Literals, Node, Plain
from hookless._typed.unions import Later, Union

__all__ = ["plan"]

# Classes and places of one annotation. A generic class that holds ever larger ones of itself has no end.
_MOST = 10_000

# What each container takes, by origin; the wire knows no others.
_SEQUENCES: dict[Any, tuple[type, ...]] = {
    list: (list,),
    abc.MutableSequence: (list,),
    abc.Sequence: (list, tuple),
    collections.deque: (collections.deque,),
}
_SETS: dict[Any, tuple[type, ...]] = {
    set: (set,),
    frozenset: (frozenset,),
    abc.MutableSet: (set,),
    abc.Set: (set, frozenset),
}
_TABLES: dict[Any, tuple[type, ...]] = {
    dict: (dict,),
    collections.OrderedDict: (collections.OrderedDict,),
    collections.Counter: (collections.Counter,),
    abc.Mapping: (dict, collections.OrderedDict, collections.Counter),
    abc.MutableMapping: (dict, collections.OrderedDict, collections.Counter),
}


def plan(annotation: Any) -> Node:
    """Return the node of an annotation. Raises TypeError, naming what cannot be asked for."""
    try:
        return _Builder().build(annotation)
    except RecursionError:
        raise TypeError(f"{shown(annotation)} is nested too deeply, or has no end") from None


class _Builder:
    def __init__(self) -> None:
        # Classes and aliases that have been met, so that one may hold itself.
        self._met: dict[Any, Node] = {}
        self._places = 0

    def build(self, annotation: Any) -> Node:
        self._places += 1
        if self._places > _MOST:
            raise TypeError("the annotation has more than 10 000 places, or no end")
        if annotation is Any or annotation is object:
            return Anything()
        if annotation is None:
            return Plain(type(None))
        if isinstance(annotation, TypeVar):
            return self.build(meant_by(annotation))
        if isinstance(annotation, NewType):
            return self.build(annotation.__supertype__)
        if type(annotation).__name__ == "TypeAliasType":
            return self._alias(annotation, annotation, ())
        origin = get_origin(annotation)
        if origin is not None:
            return self._subscripted(annotation, origin, get_args(annotation))
        if isinstance(annotation, type):
            return self._class(annotation, annotation, ())
        raise _unsupported(annotation)

    def _alias(self, alias: Any, annotation: Any, arguments: tuple[Any, ...]) -> Node:
        key = (alias, arguments)
        if (met := self._met.get(key)) is not None:
            return met
        later = self._met[key] = Later(shown(annotation))
        variables = dict(zip(alias.__type_params__, arguments, strict=False))
        node = self.build(substituted(alias.__value__, variables))
        if isinstance(node, Later):
            raise TypeError(f"{shown(annotation)} stands for itself")
        later.node = self._met[key] = node
        return node

    def _subscripted(self, annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> Node:
        if origin is Annotated:
            return self._annotated(annotation)
        if origin is typing.Union or origin is types.UnionType:
            return self._union(arguments, shown(annotation))
        if origin is Literal:
            return self._literal(arguments, shown(annotation))
        if type(origin).__name__ == "TypeAliasType":
            return self._alias(origin, annotation, arguments)
        if isinstance(origin, type):
            return self._class(origin, annotation, arguments)
        raise _unsupported(annotation)

    def _class(self, cls: type, annotation: Any, arguments: tuple[Any, ...]) -> Node:
        text = shown(annotation)
        if cls is float:
            return Float()
        if cls is tuple:
            return self._tuple(annotation, arguments, text)
        if cls in _SEQUENCES:
            (item,) = _count(annotation, arguments, 1)
            return Sequences(_SEQUENCES[cls], self.build(item), text)
        if cls in _SETS:
            (member,) = _count(annotation, arguments, 1)
            return Sets(_SETS[cls], self.build(member), text)
        if cls in _TABLES:
            if cls is collections.Counter and arguments:
                arguments = (*arguments, int)
            key, value = _count(annotation, arguments, 2)
            return Tables(_TABLES[cls], self.build(key), self.build(value), text)
        if known.is_array(cls):
            return known.array(cls, annotation, arguments)
        if (leaf := known.leaf(cls, text)) is not None:
            return leaf
        return self._of_host(cls, annotation, arguments, text)

    def _tuple(self, annotation: Any, arguments: tuple[Any, ...], text: str) -> Node:
        if not arguments and (annotation is tuple or annotation is typing.Tuple):  # noqa: UP006
            return Sequences((tuple,), Anything(), text)
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return Sequences((tuple,), self.build(arguments[0]), text)
        return Tuple([self.build(one) for one in arguments], text)

    def _union(self, arguments: tuple[Any, ...], text: str) -> Node:
        members = [self.build(one) for one in arguments]
        if any(isinstance(one, Anything) for one in members):
            return Anything()
        if any(isinstance(one, Later) for one in members):
            raise TypeError(f"{text} is a part of itself")
        return Union(members, text)

    def _literal(self, arguments: tuple[Any, ...], text: str) -> Node:
        enums = [(one, self.build(type(one))) for one in arguments if isinstance(one, enum.Enum)]
        return Literals([one for one in arguments if not isinstance(one, enum.Enum)], enums, text)

    def _annotated(self, annotation: Any) -> Node:
        base, metadata = annotation.__origin__, annotation.__metadata__
        node = self.build(base)
        specs = [one for one in metadata if isinstance(one, ArraySpec)]
        if specs:
            node = _specified(node, specs, annotation)
        bounds = []
        for one in metadata:
            package = type(one).__module__.partition(".")[0]
            if package in ("annotated_types", "pydantic"):
                raise TypeError(
                    f"{shown(annotation)}: only a pydantic.TypeAdapter checks bounds of {package}"
                )
            if package == "msgspec" and type(one).__name__ == "Meta" and _bounds(one):
                bounds.append(one)
        return _bounded(node, bounds, annotation) if bounds else node

    def _of_host(self, cls: type, annotation: Any, arguments: tuple[Any, ...], text: str) -> Node:
        key = (cls, arguments)
        try:
            met = self._met.get(key)
        except TypeError:  # A Callable has a list among its arguments.
            raise _unsupported(annotation) from None
        if met is not None:
            return met
        if isinstance(cls, enum.EnumMeta):
            if not cls.__members__:
                raise TypeError(f"{text} has no members")
            node: Node | None = Enums(typing.cast(type[enum.Enum], cls), text)
        else:
            node = known.of_pydantic(cls, text)
        if node is not None:
            self._met[key] = node
            return node
        node = classes.node_for(cls, text)
        if node is None:
            raise _unsupported(annotation)
        self._met[key] = node
        classes.fill(node, cls, arguments, self.build)
        return node


# What a `msgspec.Meta` can ask for; the rest of it describes.
_LENGTHS = {"min_length", "max_length"}
_BOUNDS = {"gt", "ge", "lt", "le", "multiple_of", "pattern", "tz"} | _LENGTHS


def _bounds(meta: Any) -> set[str]:
    return {name for name in _BOUNDS if getattr(meta, name) is not None}


def _bounded(node: Node, metas: list[Any], annotation: Any) -> Node:
    if isinstance(node, Sequences | Sets | Tables):
        for meta in metas:
            if wrong := _bounds(meta) - _LENGTHS:
                raise TypeError(f"{shown(annotation)}: no {min(wrong)} of a container")
            node = Lengths(node, meta.min_length, meta.max_length)
        return node
    scalar = float if isinstance(node, Float) else node.kind if isinstance(node, Plain) else None
    if scalar is None:
        raise TypeError(f"{shown(annotation)}: bounds belong to one scalar or container, inside of a union")
    return Constrained(node, Annotated[(scalar, *metas)])


def _specified(node: Node, specs: list[ArraySpec], annotation: Any) -> Node:
    if isinstance(node, Anything):
        numpy = sys.modules.get("numpy")
        return Arrays([Array] if numpy is None else [numpy.ndarray, Array], None, specs)
    if not isinstance(node, Arrays):
        raise TypeError(f"{shown(annotation)}: an ArraySpec belongs to an array, inside of a union")
    return Arrays(sorted(node.accepted, key=repr), node.family, node.specs + specs)


def _count(annotation: Any, arguments: tuple[Any, ...], wanted: int) -> tuple[Any, ...]:
    """Return the arguments of a generic type; Any for each where it has none."""
    if arguments and len(arguments) != wanted:
        raise TypeError(f"{shown(annotation)} has {len(arguments)} arguments, not {wanted}")
    return arguments or (Any,) * wanted


def _unsupported(annotation: Any) -> TypeError:
    if isinstance(annotation, str | typing.ForwardRef):
        return TypeError(f"{annotation!r} is text: give the type itself")
    return TypeError(f"{shown(annotation)} is no type that a value can be asked to have")
