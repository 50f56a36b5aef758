"""What the decoder needs of the standard library and finds no public function for."""

from __future__ import annotations

import array
import warnings
from fractions import Fraction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["coprime", "empty_arrays"]


def _coprime_by_slots(numerator: int, denominator: int) -> Fraction:
    """Make a fraction of two ints that are known to be in lowest terms, without looking for a divisor."""
    made: Any = object.__new__(Fraction)
    made._numerator = numerator
    made._denominator = denominator
    return made  # type: ignore[no-any-return]


def _by_slots_works() -> bool:
    """Say whether fractions of this Python are what `_coprime_by_slots` takes them for."""
    try:
        made = _coprime_by_slots(-3, 7)
        return (made, repr(made), made * 2) == (Fraction(-3, 7), "Fraction(-3, 7)", Fraction(-6, 7))
    except Exception:  # noqa: BLE001 (a Python whose fractions are made otherwise may raise anything)
        return False


# Public construction looks for a common divisor once more, in quadratic time.
coprime = _coprime_by_slots if _by_slots_works() else Fraction


def empty_arrays() -> dict[tuple[str, int], array.array[Any]]:
    """Return an empty array of each type code of this Python, by code and itemsize."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of "u", which some still send
        for code in array.typecodes:
            empty: array.array[Any] = array.array(code)
            found[code, empty.itemsize] = empty
    return found
