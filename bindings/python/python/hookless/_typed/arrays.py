"""Arrays by dtype and shape."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

from hookless._hookless import Array
from hookless._typed.mismatch import Mismatch, kind_text
from hookless._typed.nodes import Node

__all__ = ["ArraySpec", "Arrays"]

_PLAIN = re.compile(
    r"[<>=|]?(b1|\?|i[1248]|u[1248]|f(2|4|8|16)|c(8|16|32)|[SUV]\d+|[mM]8(\[\d*[A-Za-zμ]+\])?|O)"
)

# Names of dtypes without a size in bytes.
_NAMED = {
    "bool": "?",
    **{f"int{bits}": f"i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits // 8}" for bits in (16, 32, 64)},
    **{f"complex{bits}": f"c{bits // 8}" for bits in (64, 128)},
    "object": "O",
}


@dataclass(frozen=True)
class ArraySpec:
    """What an array must be, in an annotation: `Annotated[numpy.ndarray, ArraySpec("float64", (None, 3))]`.

    `dtype` is NumPy's name or code, such as "float64", "<f8" or "M8[ns]", or anything else that `numpy.dtype`
    takes if NumPy is loaded; it is compared byte order included, and a code without one means this machine's.
    `shape` has an int for each dimension, or None where any length will do. Without a dtype, or without a
    shape, that is not checked. Raises TypeError or ValueError for what is neither.
    """

    dtype: Any = None
    shape: tuple[int | None, ...] | None = None

    # Users know the class by the package's name.
    __module__ = "hookless"

    def __post_init__(self) -> None:
        if self.shape is not None:
            if not isinstance(self.shape, tuple):
                raise TypeError(f"shape= is a tuple, not a {type(self.shape).__name__}")
            for length in self.shape:
                if length is not None and (type(length) is not int or length < 0):
                    raise ValueError(f"a shape has ints from 0 on, or None, not {length!r}")
        self.code()

    def code(self) -> str | None:
        """Return the dtype as NumPy's `dtype.str`; None where only NumPy can compare it, or nothing is asked.

        Raises TypeError for what is no dtype.
        """
        if self.dtype is None:
            return None
        if isinstance(self.dtype, str):
            code = _NAMED.get(self.dtype, self.dtype)
            if _PLAIN.fullmatch(code):
                return _ordered(code)
        if (numpy := sys.modules.get("numpy")) is None:
            raise TypeError(f"no dtype that is known without NumPy: {self.dtype!r}")
        numpy.dtype(self.dtype)
        return None

    def __str__(self) -> str:
        shape = "any shape" if self.shape is None else f"shape {shape_text(self.shape)}"
        return f"{'any dtype' if self.dtype is None else self.dtype} and {shape}"


def _ordered(code: str) -> str:
    """Write a code's byte order out."""
    order, bare = (code[0], code[1:]) if code[0] in "<>=|" else ("=", code)
    bare = "b1" if bare == "?" else bare
    if bare in ("b1", "i1", "u1", "O") or bare[0] in "SV":
        return f"|{bare}"
    return ("<" if sys.byteorder == "little" else ">") + bare if order in "=|" else order + bare


def shape_text(shape: tuple[int | None, ...]) -> str:
    """Return a shape as messages have it: `(any, 3)`."""
    lengths = ["any" if length is None else str(length) for length in shape]
    return f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


class Arrays(Node):
    """An array, by class, by dtype and by shape."""

    def __init__(self, kinds: list[type], family: Any, specs: list[ArraySpec]) -> None:
        """`family` is a scalar type of NumPy that the elements must be of, such as `np.floating`; or None."""
        self.accepted, self.family, self.specs = frozenset(kinds), family, specs
        self.text = " or ".join(kind.__qualname__ for kind in kinds)

    def takes(self, kind: type) -> bool:
        return kind in self.accepted

    def run(self, value: Any) -> Any:
        if type(value) not in self.accepted:
            numpy_loads = type(value) is Array and "numpy" in sys.modules
            hint = "; call hookless.use_numpy() before decoding" if numpy_loads else ""
            raise Mismatch(f"expected {self.text}, found {kind_text(value)}{hint}")
        if self.family is not None and not issubclass(value.dtype.type, self.family):
            raise Mismatch(f"expected an array of {self.family.__name__}, found one of {value.dtype}")
        for spec in self.specs:
            if not _same_dtype(spec, value):
                raise Mismatch(f"expected an array of {spec.dtype}, found one of {value.dtype}")
            if spec.shape is not None and not _fits(spec.shape, value.shape):
                wanted, found = shape_text(spec.shape), shape_text(value.shape)
                raise Mismatch(f"expected an array of shape {wanted}, found one of {found}")
        return value


def _same_dtype(spec: ArraySpec, value: Any) -> bool:
    if spec.dtype is None:
        return True
    if type(value) is Array:
        return value.structure is None and value.dtype == spec.code()
    numpy = sys.modules["numpy"]
    code = spec.code()
    return bool(value.dtype == numpy.dtype(spec.dtype if code is None else code))


def _fits(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    if len(wanted) != len(shape):
        return False
    return all(want is None or want == length for want, length in zip(wanted, shape, strict=True))
