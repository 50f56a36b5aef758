"""Typed results: arrays by class, type of elements, dtype and shape, and NumPy's scalars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import hookless
from hookless import ArraySpec
from refusing import refused

FLOATS = np.arange(6.0).reshape(2, 3)
Matrix = Annotated[np.ndarray, ArraySpec("float64", (None, 3))]


def taken(value: Any, wanted: Any) -> None:
    assert hookless.convert(value, wanted) is value


def test_any_array() -> None:
    """By class; lists and scalars are none."""
    for value in (FLOATS, np.zeros(()), np.array(["a"]), np.array([1], dtype=object)):
        taken(value, np.ndarray)
        taken(value, npt.NDArray[Any])
    for other in ([1.0], 1.0, np.float64(1), None, b""):
        refused(other, np.ndarray, match="expected ndarray, found")
    refused([FLOATS, 1], list[np.ndarray], "$[1]")


def test_elements() -> None:
    """`NDArray[T]`: the scalar type, or one that it derives from, in any byte order."""
    for value in (FLOATS, FLOATS.astype(">f8"), FLOATS.T):
        taken(value, npt.NDArray[np.float64])
        taken(value, npt.NDArray[np.floating[Any]])
        taken(value, npt.NDArray[np.generic])
        refused(value, npt.NDArray[np.float32], match="an array of float32, found one of [>f]")
        refused(value, npt.NDArray[np.integer[Any]])
    taken(np.zeros(3, "M8[ns]"), npt.NDArray[np.datetime64])


def test_shapes_of_numpys_own_annotations() -> None:
    """The number of dimensions, and lengths as literals."""
    two = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    taken(FLOATS, two)
    refused(np.zeros(3), two, match=r"shape \(any, any\), found one of \(3,\)")
    fixed = np.ndarray[tuple[Any, Literal[3]], np.dtype[Any]]
    taken(FLOATS, fixed)
    refused(FLOATS.T, fixed, match=r"shape \(any, 3\), found one of \(3, 2\)")
    taken(FLOATS, np.ndarray[tuple[int, ...], np.dtype[np.float64]])
    array: Any = np.ndarray
    for wrong in (array[int, Any], array[tuple[str], Any], array[Any, array[Literal[3]]]):
        with pytest.raises(TypeError):
            hookless.convert(FLOATS, wrong)


def test_dtypes() -> None:
    """Byte order included; a code without one is this machine's."""
    swapped = FLOATS.astype(">f8")
    for spec in ("float64", "f8", "=f8", "<f8", np.float64, np.dtype("f8"), float):
        taken(FLOATS, Annotated[np.ndarray, ArraySpec(spec)])
        refused(swapped, Annotated[np.ndarray, ArraySpec(spec)], match="found one of >f8")
        refused(FLOATS.astype("f4"), Annotated[np.ndarray, ArraySpec(spec)])
    taken(swapped, Annotated[np.ndarray, ArraySpec(">f8")])
    records = np.zeros(2, [("a", "i4"), ("b", "f8")])
    taken(records, Annotated[np.ndarray, ArraySpec([("a", "i4"), ("b", "f8")])])
    refused(records, Annotated[np.ndarray, ArraySpec([("a", "i4"), ("c", "f8")])])
    refused(records, Annotated[np.ndarray, ArraySpec("V12")])
    times = np.zeros(2, "M8[ns]")
    taken(times, Annotated[np.ndarray, ArraySpec("M8[ns]")])
    refused(times, Annotated[np.ndarray, ArraySpec("M8[us]")])
    for dtype in ("bool", "int8", "uint16", "complex64", "U3", "S2", "object"):
        taken(np.zeros(1, dtype), Annotated[np.ndarray, ArraySpec(dtype)])


def test_shapes() -> None:
    """Each length exactly, or any."""
    taken(FLOATS, Matrix)
    taken(np.zeros((0, 3)), Matrix)
    for shape in ((3,), (3, 2), (1, 2, 3), (), (2, 4)):
        refused(np.zeros(shape), Matrix, match=r"an array of shape \(any, 3\)")
    taken(np.zeros(()), Annotated[np.ndarray, ArraySpec(shape=())])
    refused(np.zeros(1), Annotated[np.ndarray, ArraySpec(shape=())], match=r"shape \(\), found one of \(1,\)")


def test_both() -> None:
    """NumPy's annotation and a spec hold together, and two specs do."""
    wanted = Annotated[npt.NDArray[np.floating[Any]], ArraySpec(shape=(3,))]
    taken(np.zeros(3, "f4"), wanted)
    refused(np.zeros(3, "i4"), wanted)
    refused(np.zeros(4, "f4"), wanted)
    both = Annotated[np.ndarray, ArraySpec("f8"), ArraySpec(shape=(3,))]
    taken(np.zeros(3), both)
    refused(np.zeros(3, "f4"), both)
    refused(np.zeros(4), both)
    taken(np.zeros(3), Annotated[Any, ArraySpec("f8")])


def test_specs_that_are_none() -> None:
    """Where they are written, not where a value comes."""
    for error, dtype, shape in [
        (TypeError, "no dtype", None),
        (TypeError, None, [3]),
        (TypeError, None, 3),
        (ValueError, None, (-1,)),
        (ValueError, None, (True,)),
        (ValueError, None, ("n",)),
    ]:
        with pytest.raises(error):
            ArraySpec(dtype, shape)  # type: ignore[arg-type]
    for wanted in (Annotated[int, ArraySpec("f8")], Annotated[np.ndarray | None, ArraySpec("f8")]):
        with pytest.raises(TypeError, match="ArraySpec belongs to an array"):
            hookless.convert(None, wanted)
    assert (str(ArraySpec("f8", (None,))), str(ArraySpec())) == (
        "f8 and shape (any,)",
        "any dtype and any shape",
    )


@dataclass
class Fit:
    matrix: Matrix
    weights: npt.NDArray[np.float32] | None = None
    by_name: dict[str, np.ndarray | float] | None = None


def test_arrays_in_classes_and_unions() -> None:
    """At any depth, beside any other type."""
    weights = np.zeros(2, "f4")
    frame = hookless.dumps({"matrix": FLOATS, "weights": weights, "by_name": {"a": FLOATS, "b": 1}})
    fit = hookless.loads(frame, type=Fit)
    assert np.array_equal(fit.matrix, FLOATS) and fit.by_name is not None
    assert type(fit.by_name["b"]) is float
    refused({"matrix": FLOATS.T}, Fit, "$.matrix", "shape")
    refused({"matrix": FLOATS, "weights": FLOATS}, Fit, "$.weights")
    refused(
        {"matrix": FLOATS, "by_name": {"a": "x"}}, Fit, "$.by_name.a", r"expected numpy\.ndarray \| float"
    )


def test_views_are_arrays_too() -> None:
    """With copy=False nothing is copied by the conversion either."""
    frame = hookless.dumps(np.zeros((4096, 3)))
    view = hookless.loads(frame, type=Matrix, copy=False)
    assert not view.flags.owndata and not view.flags.writeable


def test_scalars() -> None:
    """Their own classes, or those that they derive from; never for a float, nor a float for one."""
    one = np.float64(1.5)
    for wanted in (np.float64, np.floating, np.number, np.generic):
        taken(one, wanted)
        refused(1.5, wanted)
    refused(one, float, match=r"expected float, found numpy\.float64")
    refused(np.float32(1), np.float64)
    refused(np.int64(1), int)
    refused(np.bool_(True), bool)
    refused(np.str_("a"), str)
    taken(np.int8(1), np.integer | np.floating)
    taken({np.int8(1): "a"}, dict[np.int8, str])


def test_structured_arrays_without_a_spec_of_theirs() -> None:
    """No scalar type of NumPy but `void` says anything of fields."""
    records = np.zeros(2, [("a", "i4")])
    taken(records, npt.NDArray[np.void])
    refused(records, npt.NDArray[np.int32])


def test_an_array_of_a_host_that_loaded_numpy_too_late() -> None:
    """The error says what to do."""
    from test_import import run

    code = """
import sys, hookless
value = hookless.loads(sys.stdin.buffer.read())
import numpy
try:
    hookless.convert(value, numpy.ndarray)
except hookless.DecodeError as error:
    print(error)
"""
    found = run(code, data=hookless.dumps(FLOATS))
    assert found.endswith("found hookless.Array; call hookless.use_numpy() before decoding")
