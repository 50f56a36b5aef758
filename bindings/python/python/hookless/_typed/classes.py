"""Classes of the host that a record can become: how each kind of class tells its fields."""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Callable
from typing import Any

from hookless._typed.fields import Field, Fields, Positions
from hookless._typed.hints import hints_of, without_qualifiers
from hookless._typed.nodes import Node

__all__ = ["fill", "node_for"]

# Makes the node of a field's annotation.
Build = Callable[[Any], Node]


def node_for(cls: type, text: str) -> Node | None:
    """Return the node of such a class, without its fields yet; None if it is none."""
    if typing.is_typeddict(cls):
        return Fields(text, dict)
    if _is_struct(cls):
        config = cls.__struct_config__  # type: ignore[attr-defined]
        tag = None if config.tag is None else (config.tag_field, config.tag)
        return Fields(text, cls, tag=tag, open=not config.forbid_unknown_fields)
    if issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        return Positions(text, cls)
    if dataclasses.is_dataclass(cls) or isinstance(getattr(cls, "__attrs_attrs__", None), tuple):
        return Fields(text, cls)
    return None


def fill(node: Node, cls: Any, arguments: tuple[Any, ...], build: Build) -> None:
    """Give a node of `node_for` its fields. Raises TypeError where a class cannot be made of them."""
    hints = hints_of(cls, arguments)

    def of(name: str, **more: Any) -> Field:
        annotation, _ = without_qualifiers(hints.get(name, Any))
        return Field(name, build(annotation), **more)

    if isinstance(node, Positions):
        defaults = cls._field_defaults
        node.fields = [of(name, required=name not in defaults) for name in cls._fields]
        return
    assert isinstance(node, Fields)
    if typing.is_typeddict(cls):
        node.fill([of(name, required=_is_required(cls, name, hints[name])) for name in hints])
    elif _is_struct(cls):
        node.fill(_of_struct(cls, of))
    elif dataclasses.is_dataclass(cls):
        node.fill(_of_dataclass(cls, of))
    else:
        node.fill(_of_attrs(cls, of))


def _is_struct(cls: type) -> bool:
    msgspec = sys.modules.get("msgspec")
    return msgspec is not None and issubclass(cls, msgspec.Struct)


def _is_required(cls: Any, name: str, annotation: Any) -> bool:
    # Asked of the annotation first: before 3.13 `__required_keys__` is wrong where annotations are text.
    _, qualifiers = without_qualifiers(annotation)
    if qualifiers & {"Required", "NotRequired"}:
        return "Required" in qualifiers
    return name in cls.__required_keys__


def _of_struct(cls: Any, of: Callable[..., Field]) -> list[Field]:
    names, keys, defaults = cls.__struct_fields__, cls.__struct_encode_fields__, cls.__struct_defaults__
    import msgspec

    missing = len(names) - len(defaults)
    found = []
    for index, (name, key) in enumerate(zip(names, keys, strict=True)):
        required = index < missing or defaults[index - missing] is msgspec.NODEFAULT
        found.append(of(name, required=required, key=key))
    return found


def _of_dataclass(cls: Any, of: Callable[..., Field]) -> list[Field]:
    if not cls.__dataclass_params__.init and "__init__" not in cls.__dict__:
        raise TypeError(f"{cls.__qualname__} cannot be made of its fields: it has no __init__ of its own")
    for one in cls.__dataclass_fields__.values():
        is_init_var = one._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
        if is_init_var and one.default is dataclasses.MISSING:
            raise TypeError(f"{cls.__qualname__} cannot be made of its fields: {one.name} is an InitVar")
    found = []
    for one in dataclasses.fields(cls):
        has_default = one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING
        found.append(of(one.name, required=one.init and not has_default, computed=not one.init))
    return found


def _of_attrs(cls: Any, of: Callable[..., Field]) -> list[Field]:
    import attrs

    found = []
    for one in cls.__attrs_attrs__:
        field = of(one.name, required=one.init and one.default is attrs.NOTHING, computed=not one.init)
        field.attribute = field.key = one.name
        field.name = one.alias
        found.append(field)
    return found
