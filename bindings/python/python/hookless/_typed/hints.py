"""Annotations of a class's fields, with forward references and type variables resolved."""

from __future__ import annotations

import typing
from typing import Annotated, Any, ClassVar, Final, TypeVar, Union, get_args, get_origin

__all__ = ["hints_of", "meant_by", "shown", "substituted", "unaliased", "without_qualifiers"]

Variables = dict[Any, Any]


def hints_of(cls: Any, arguments: tuple[Any, ...] = ()) -> dict[str, Any]:
    """Return the annotations of a class and its bases. Raises TypeError for a name that cannot be resolved.

    `arguments` are what a generic class was subscripted with.
    """
    try:
        try:
            hints = typing.get_type_hints(cls, include_extras=True)
        except NameError:
            # A class inside a function is not found by its module; its own name and its parameters are known.
            local = {cls.__name__: cls} | {one.__name__: one for one in getattr(cls, "__type_params__", ())}
            hints = typing.get_type_hints(cls, localns=local, include_extras=True)
    except NameError as error:
        message = f"a field of {cls.__qualname__} has an annotation that cannot be resolved: {error}"
        raise TypeError(message) from None
    variables = _variables(cls, arguments)
    return {name: substituted(hint, variables) for name, hint in hints.items()} if variables else hints


def _variables(cls: Any, arguments: tuple[Any, ...]) -> Variables:
    """Return what the type variables of a class and of its generic bases stand for."""
    own = getattr(cls, "__parameters__", ())
    found: Variables = dict(zip(own, arguments, strict=False))
    for base in getattr(cls, "__orig_bases__", ()):
        origin = get_origin(base)
        if isinstance(origin, type) and origin is not typing.Generic:
            given = tuple(substituted(one, found) for one in get_args(base))
            found = _variables(origin, given) | found
    for base in getattr(cls, "__bases__", ()):
        if hasattr(base, "__orig_bases__"):
            found = _variables(base, ()) | found
    return found


def substituted(annotation: Any, variables: Variables) -> Any:
    """Return an annotation with type variables replaced."""
    if isinstance(annotation, TypeVar):
        return variables.get(annotation, annotation)
    if isinstance(annotation, type) or not (own := getattr(annotation, "__parameters__", ())):
        return annotation
    if not any(one in variables for one in own):
        return annotation
    return annotation[tuple(variables.get(one, one) for one in own)]


def unaliased(annotation: Any) -> Any:
    """Return what a type alias without parameters stands for; any other annotation as it is."""
    for _ in range(100):  # One may stand for itself.
        if type(annotation).__name__ != "TypeAliasType":
            break
        annotation = annotation.__value__
    return annotation


def meant_by(variable: TypeVar) -> Any:
    """Return what a type variable stands for by itself: its default, bound or constraints, or Any."""
    has_default = getattr(variable, "has_default", None)
    if has_default is not None and has_default():
        # An attribute since Python 3.13.
        return getattr(variable, "__default__", None)
    if variable.__constraints__:
        return Union[variable.__constraints__]  # noqa: UP007
    return Any if variable.__bound__ is None else variable.__bound__


def without_qualifiers(annotation: Any) -> tuple[Any, set[str]]:
    """Return a field's annotation without what is about the field: Required, NotRequired, ReadOnly, Final."""
    found: set[str] = set()
    while True:
        origin = get_origin(annotation)
        name = getattr(origin, "_name", None)
        if origin in (Final, ClassVar) or name in ("Required", "NotRequired", "ReadOnly"):
            found.add(str(name))
            (annotation,) = get_args(annotation)
        elif annotation is Final:
            return Any, found
        elif origin is Annotated and getattr(get_origin(annotation.__origin__), "_name", None) in (
            "Required",
            "NotRequired",
            "ReadOnly",
        ):
            inner, more = without_qualifiers(annotation.__origin__)
            found |= more
            annotation = Annotated[(inner, *annotation.__metadata__)]
        else:
            return annotation, found


def shown(annotation: Any) -> str:
    """Return an annotation as messages name it."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return "None" if annotation is type(None) else annotation.__qualname__
    text = repr(annotation).replace("typing.", "").replace("collections.abc.", "")
    return text if len(text) <= 200 else text[:199] + "…"
