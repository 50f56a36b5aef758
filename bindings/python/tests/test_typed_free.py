"""Typed results in a host without NumPy: `hookless.Array` by dtype and shape."""

from __future__ import annotations

import naive
from samples import ARRAYS
from test_import import run

PROGRAM = """
import sys
sys.modules["numpy"] = None
from typing import Annotated, Any
import hookless
from hookless import Array, ArraySpec
value = hookless.loads(sys.stdin.buffer.read())
def ask(wanted):
    try:
        return "taken" if hookless.convert(value, wanted) is value else "changed"
    except (hookless.DecodeError, TypeError) as error:
        return type(error).__name__ + ": " + str(error)
for spec in {specs}:
    print(ask(Annotated[Array, spec]))
print(ask(Array), ask(Annotated[Any, ArraySpec()]), ask(list[int]))
try:
    ArraySpec("no dtype")
except TypeError as error:
    print(error)
"""

LAST = [
    "taken taken DecodeError: type_mismatch in $: expected list[int], found hookless.Array",
    "no dtype that is known without NumPy: 'no dtype'",
]


def ask(name: str, specs: str) -> list[str]:
    return run(PROGRAM.replace("{specs}", f"[{specs}]"), data=naive.frame(ARRAYS[name])).splitlines()


def test_dtypes_and_shapes() -> None:
    """Written as with NumPy."""
    specs = "ArraySpec(), ArraySpec('float64', (2, 3)), ArraySpec('<f8', (None, 3)), ArraySpec('f4')"
    specs += ", ArraySpec('>f8'), ArraySpec('f8', (3, 2)), ArraySpec(shape=(None,))"
    assert ask("inline", specs) == [
        "taken",
        "taken",
        "taken",
        "DecodeError: type_mismatch in $: expected an array of f4, found one of <f8",
        "DecodeError: type_mismatch in $: expected an array of >f8, found one of <f8",
        "DecodeError: type_mismatch in $: expected an array of shape (3, 2), found one of (2, 3)",
        "DecodeError: type_mismatch in $: expected an array of shape (any,), found one of (2, 3)",
        *LAST,
    ]


def test_codes() -> None:
    """Each as `Array.dtype` has it."""
    for name, code, wrong in [
        ("fortran", ">i2", "int16"),
        ("zero-d", "bool", "int8"),
        ("empty", "complex128", "complex64"),
        ("text", "U1", "U2"),
        ("opaque", "V3", "S3"),
        ("times", "M8[25ns]", "M8[ns]"),
    ]:
        first, second, *rest = ask(name, f"ArraySpec({code!r}), ArraySpec({wrong!r})")
        assert (first, second[:38]) == ("taken", "DecodeError: type_mismatch in $: expec")
        assert rest == LAST
