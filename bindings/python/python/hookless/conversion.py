"""`convert`: an inert value as what the host's own annotation asks for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, overload

    from hookless._hookless import _Adapter

    _T = TypeVar("_T")

__all__ = ["convert"]

if TYPE_CHECKING:

    @overload
    def convert(value: object, type: type[_T] | _Adapter[_T]) -> _T: ...
    @overload
    def convert(value: object, type: Any) -> Any: ...


def convert(value: object, type: Any) -> Any:
    """Return a decoded value as what a type asks for. `loads(type=)` and `options(returns=)` do the same.

    The type is an annotation of the host, and nothing of the value chooses it: the names that a record claims
    for its class are never looked at. It is walked once and kept. What is no type of the list below, such as
    a function, is a TypeError that names it, before a byte is read or a call is sent.

    A value fits by its exact type; nothing is parsed, coerced or merged. What does not fit is a DecodeError
    with the code `type_mismatch` and the path, such as `$.rows[3].key`.

    - `Any`, `object`: every value, as it is.
    - `None`, `bool`, `int`, `complex`, `str`, `bytes`, `bytearray`, `range`, `slice`; date and time types,
      `Decimal`, `Fraction`, `UUID`, `ZoneInfo`, ip addresses, `array.array`: that type. `float` takes an int
      as well, if a float is equal to it. `tzinfo`, `Path`, NumPy's scalar classes and exception classes take
      what derives from them. Text is never read as a date, number, UUID or bytes.
    - `list[T]` takes lists, `tuple[...]` tuples, `set[T]` and `frozenset[T]` sets of the wire, `dict[K, V]`
      dicts, `deque`, `OrderedDict` and `Counter` their own; `Sequence` takes lists and tuples, `Mapping` all
      dicts. Keys or members that become equal are refused, and so are ones whose hashes were chosen.
    - Dataclass, attrs class, `TypedDict`, msgspec `Struct`: a `Record` or a dict with these fields. A field
      that the class does not have is refused, but a Struct decides that by `forbid_unknown_fields`. The class
      is made by its constructor, defaults and `__post_init__` included.
    - `NamedTuple`: a tuple of that length, or a `NamedRecord` with the same names.
    - `Enum`: an `EnumValue`, or a plain value, of a member's value; of flags, any combination of members.
    - `Literal`, `X | Y`: the value's type decides, so a union of two list types is a TypeError. Of tuples the
      length decides; of classes the fields, or the tag of a Struct: the first that has all those of the value
      and gets all that it needs.
    - `Annotated[int, msgspec.Meta(ge=0)]`: bounds, checked by msgspec (`pip install hookless[typed]`).
    - `numpy.ndarray`, `NDArray[numpy.float64]`, `Annotated[numpy.ndarray, ArraySpec("f8", (None, 3))]`: by
      class, type of elements, dtype and shape. `Annotated[hookless.Array, ArraySpec(...)]` without NumPy.
    - A pydantic model, dataclass or `TypeAdapter`: records become dicts, and pydantic does the rest by its
      own rules. Unless it is strict it makes a set of a list, so a list of chosen hashes is refused before;
      but it reads text as numbers too, whose hashes nobody knows before. Be strict with hostile values.
    - `NewType`, `TypeVar`, type aliases, generic classes, and classes that hold themselves.

    The value may be used in the result. Where code of the host refuses it by ValueError or TypeError (from
    `__post_init__`, a validator, `_missing_`), that is a mismatch; what else it raises comes out unchanged.
    """
    from hookless._typed.conversion import conversion

    return conversion(type)(value)
