"""Values of NumPy and ml_dtypes, by the names that TYPES.md has for their types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.ma

from lacking import extensions

__all__ = ["EXTENSIONS", "NUMPY", "NUMPY_2"]

NUMPY_2 = not np.__version__.startswith("1.")

# Its type hints know little of what lies inside.
ma: Any = np.ma
_NAT = bytes(7) + b"\x80"
_ALIGNED = np.dtype([("a", "u2"), ((("T", "b")), ">f8"), ("s", "S3"), ("m", "i2", (2, 2))], align=True)
_RECORD = np.dtype((np.record, [("a", "i4"), ("b", "U2")]))

_PLAIN = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 g G M8[D] m8[25us]".split()
_ARRAYS: list[Any] = [np.arange(6).astype(code) for code in _PLAIN]
_ARRAYS += [array.astype(array.dtype.newbyteorder(">")) for array in _ARRAYS if array.dtype.byteorder != "|"]
_ARRAYS += [
    np.array([b"ab\0", b""], "S3"), np.array(["\u6f22", "\ud800x", ""], "U2"), np.array([b"\0\1\2\3"], "V4"),
    np.array(["\U0001f600"], ">U2"), np.array(0), np.zeros((0, 3)), np.arange(5000.0), np.zeros((2, 0), "S0"),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.asfortranarray(np.arange(5000).reshape(50, 100)),
    np.frombuffer(_NAT, "M8"), np.array([0x7FF0000000000001], "u8").view("f8"),
    np.ones((1,) * 32), *([np.ones((1,) * 40), np.zeros(2, np.dtype([], align=True))] if NUMPY_2 else []),
    np.zeros(3, _ALIGNED), np.ones(2000, _ALIGNED), np.zeros(2, [("x", [("y", "?"), ("z", "g")], (2,))]),
    np.zeros(2, np.dtype([])), np.ones(2, {"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [0, 0]}),
    np.ones(2, {"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [8, 0], "itemsize": 16}),
    np.zeros(2, _RECORD),
]  # fmt: skip
_OBJECTS = [
    np.array(["ab", None, 1, 2.5], dtype=object), np.array(None, dtype=object), np.zeros((0, 2), object),
    np.asfortranarray(np.array([[1, "a"], [{"k": [1]}, np.arange(3)]], dtype=object)),
]  # fmt: skip
_MASKED = [
    ma.masked_array([1, 2, 3]), ma.masked_array([1.5, 2.5], [True, False], hard_mask=True, fill_value=1e20),
    ma.masked_array(["ab", "c"], [0, 1], fill_value="N/A"),
    ma.masked_array(np.arange(5000), np.arange(5000) % 2),
    ma.masked_array([(1, 2.5)], [(0, 1)], dtype=[("a", "i4"), ("b", ">f8")], fill_value=(7, 0.5)),
    ma.masked_array(np.asfortranarray([[1, 2], [3, 4]]), [[0, 1], [0, 0]]), ma.masked_array(1.5, mask=True),
]  # fmt: skip


def _strings() -> dict[str, list[Any]]:
    """Arrays of texts of any length, by their dtype; NumPy 1 has none."""
    if not NUMPY_2:
        return {}
    of = np.dtypes.StringDType
    texts = ["hello", "", "NUL\0x", "\u6f22", "y" * 300]
    missing: list[Any] = [None, np.nan, "N/A"]
    arrays = [np.array([*texts, one], of(na_object=one)) for one in missing]
    arrays += [
        np.array(texts, of()),
        np.array("one", of(coerce=False)),
        np.asfortranarray([texts[:2], texts[2:4]], of()),
    ]
    return {"numpy.ndarray of StringDType": arrays}


NUMPY: dict[str, list[Any]] = {
    "numpy.ndarray": _ARRAYS,
    "numpy.ndarray of object": _OBJECTS,
    **_strings(),
    "numpy.recarray": [np.rec.array(np.zeros(3, _RECORD)), np.arange(3).view(np.recarray)],
    "numpy.ma.MaskedArray": _MASKED,
    "numpy.bool": [np.bool_(True), np.bool_(False)],
    **{f"numpy.int{bits}": [getattr(np, f"int{bits}")(-3)] for bits in (8, 16, 32, 64)},
    **{f"numpy.uint{bits}": [getattr(np, f"uint{bits}")(2**bits - 1)] for bits in (8, 16, 32, 64)},
    "numpy.float16": [np.float16(0.1), np.array([0x7C01], "u2").view("f2")[0]],
    "numpy.float32": [np.float32(0.1), np.array([0x7F800001], "u4").view("f4")[0]],
    "numpy.float64": [np.float64(0.1), np.float64(-0.0)],
    "numpy.complex64": [np.complex64(2 + 3j)],
    "numpy.complex128": [np.complex128(complex(-0.0, 2.5))],
    "numpy.longdouble": [np.longdouble("1.1"), np.longdouble("-inf")],
    "numpy.clongdouble": [np.clongdouble("1.1") * 1j],
    "numpy.datetime64": [
        np.datetime64("1969-12-31T23:59:59.999"), np.datetime64("NaT", "ns"), np.frombuffer(_NAT, "M8")[0],
    ],
    "numpy.timedelta64": [np.timedelta64(25, "D"), np.timedelta64("NaT", "s")],
    "numpy.bytes_": [np.bytes_(b"x\0"), np.bytes_(b"")],
    "numpy.str_": [np.str_("\u6f22"), np.str_("lone \ud800"), np.str_("x\0")],
    "numpy.void": [np.void(b"\0\1\2"), np.void(b""), np.ones(1, _ALIGNED)[0]],
    "numpy.record": [np.zeros(1, _RECORD)[0]],
}  # fmt: skip


def _extension(name: str) -> list[Any]:
    """Two scalars of a type, made of bytes that every type can hold."""
    dtype = np.dtype(getattr(ml_dtypes, name))
    array = (np.arange(4 * dtype.itemsize) % 2).astype("u1").view(dtype)
    return list(array[:2])


# Types of ml_dtypes: those that the one which is loaded has.
EXTENSIONS: dict[str, list[Any]] = {f"ml_dtypes.{name}": _extension(name) for name in extensions(here=True)}
for _found in EXTENSIONS.values():
    _dtype = np.array(_found).dtype
    NUMPY["numpy.ndarray"] += [np.array(_found), np.zeros(2, [("a", "?"), ("b", _dtype, (2,))])]
    if _dtype.itemsize > 1:
        NUMPY["numpy.ndarray"].append(np.array(_found).astype(_dtype.newbyteorder(">")))
