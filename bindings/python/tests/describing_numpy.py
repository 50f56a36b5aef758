"""NumPy's arrays and scalars, as `describing` has values. NumPy is passed in: it may not be there."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any

from describing_inert import missing

UNITS = ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
# The formats of A18.
LONG_FORMATS = {"x87", "x87-12", "binary128", "double-double"}


def describe(value: Any, numpy: Any, describe_any: Callable[[Any], Any]) -> Any:
    """An array of any kind, or a NumPy scalar."""
    kind = type(value)
    if kind is numpy.ma.MaskedArray:
        data = numpy.ndarray.view(value, value._baseclass)
        mask = None if value._mask is numpy.ma.nomask else _array(value._mask, numpy)
        fill_value = None if value._fill_value is None else _array(value._fill_value, numpy)
        parts = {"data": _array(data, numpy), "mask": mask, "fill_value": fill_value}
        return ["masked", parts | {"hard_mask": value._hardmask}]
    if kind is numpy.ndarray and value.dtype == object:
        items = [describe_any(item) for item in flat(value)]
        return ["objects", {"shape": list(value.shape), "order": order(value), "items": items}]
    if kind is numpy.ndarray and value.dtype.kind == "T":
        dtype, shape = value.dtype, {"shape": list(value.shape), "order": order(value)}
        spec = {"missing": missing(dtype.na_object) if hasattr(dtype, "na_object") else False}
        na_object = getattr(dtype, "na_object", None)
        items = [
            None if item is na_object or item != item or item == na_object else item for item in flat(value)
        ]
        return ["strings", spec | {"coerce": dtype.coerce} | shape | {"items": items}]
    if kind in (numpy.ndarray, numpy.recarray):
        return ["ndarray", _array(value, numpy)]
    if isinstance(value, numpy.generic):
        dtype = dtype_text(value.dtype, numpy)
        if value.dtype.names is not None or _is_long(value.dtype, numpy) or _is_extension(value.dtype):
            return ["element", {"dtype": dtype, "data": contents(value, numpy).hex()}]
        return _scalar(value, numpy)
    raise AssertionError(f"not of the closed set: {kind!r}")


def flat(array: Any) -> list[Any]:
    """The items, in the order in which they lie."""
    return list(array.reshape(-1, order=order(array)))


def order(array: Any) -> str:
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _array(array: Any, numpy: Any) -> Any:
    found = {
        "dtype": dtype_text(array.dtype, numpy),
        "shape": list(array.shape),
        "order": order(array),
        "data": contents(array, numpy).hex(),
    }
    return found | ({"class": "recarray"} if type(array) is numpy.recarray else {})


def contents(value: Any, numpy: Any) -> bytes:
    """The bytes of an array or scalar, with zeros under no field and where long doubles use none."""
    data: bytes = value.tobytes(order="A") if isinstance(value, numpy.ndarray) else value.tobytes()
    if not data:
        return data
    elements = numpy.frombuffer(bytearray(data), "u1").reshape(-1, value.dtype.itemsize)
    elements[:, ~_used(value.dtype, numpy)] = 0
    return bytes(elements.tobytes())


def _used(dtype: Any, numpy: Any) -> Any:
    """Which bytes of an element hold something, as bools."""
    used = numpy.zeros(dtype.itemsize, bool)
    if _is_long(dtype, numpy) and long_format(numpy).startswith("x87"):
        parts = used.reshape(-1, numpy.longdouble(0).nbytes)
        parts[:, slice(10) if _byte_order(dtype) == "<" else slice(-10, None)] = True
    elif dtype.names is None:
        used[:] = True
    for name in dtype.names or ():
        whole, offset = dtype.fields[name][:2]
        if whole.itemsize:
            count = whole.itemsize // whole.base.itemsize
            used[offset : offset + whole.itemsize] |= numpy.tile(_used(whole.base, numpy), count)
    return used


def _is_long(dtype: Any, numpy: Any) -> bool:
    return dtype.type in (numpy.longdouble, numpy.clongdouble)


def _is_extension(dtype: Any) -> bool:
    return bool(dtype.type.__module__ == "ml_dtypes")


def dtype_text(dtype: Any, numpy: Any) -> Any:
    """NumPy's `.str` and what stands for it, or itemsize, flags and fields of a structured dtype."""
    if _is_extension(dtype):
        order = "|" if dtype.itemsize == 1 else _byte_order(dtype)
        return order + dtype.type.__name__
    if _is_long(dtype, numpy):
        return f"{_byte_order(dtype)}{dtype.char}[{long_format(numpy)}]"
    if dtype.names is None:
        return dtype.str
    fields = []
    for name in dtype.names:
        whole, offset, *title = dtype.fields[name]
        base = dtype_text(whole.base, numpy)
        fields.append([name, title[0] if title else None, offset, list(whole.shape), base])
    flags = dtype.isalignedstruct + 2 * (dtype.type is numpy.record)
    return {"itemsize": dtype.itemsize, "flags": flags, "fields": fields}


def long_format(numpy: Any) -> str:
    """The format of this machine's long doubles, by what a one looks like."""
    one = numpy.longdouble(1).tobytes()
    if sys.byteorder == "big":
        one = one[::-1]
    if one[:10] == bytes.fromhex("0000000000000080ff3f"):
        return "x87" if len(one) == 16 else "x87-12"
    return {bytes(14) + b"\xff\x3f": "binary128"}.get(one, "double-double" if len(one) == 16 else "double")


def _byte_order(dtype: Any) -> str:
    native = "<" if sys.byteorder == "little" else ">"
    return native if dtype.byteorder == "=" else str(dtype.byteorder)


def _scalar(value: Any, numpy: Any) -> Any:
    """The payload as on the wire: text and bytes as they are, numbers big-endian part by part."""
    dtype = value.dtype.newbyteorder("<").str
    if isinstance(value, numpy.str_):
        # Not `str(value)`: NumPy's own forgets trailing NULs.
        text = str.__str__(value)
        return ["scalar", {"dtype": "U", "data": text.encode("utf-8", "surrogatepass").hex()}]
    if isinstance(value, numpy.bytes_):
        return ["scalar", {"dtype": "S", "data": bytes(value).hex()}]
    # `tobytes` copies the scalar's memory, in the host's order; a conversion could touch the bits of a NaN.
    raw = value.tobytes()
    if isinstance(value, numpy.void):
        return ["scalar", {"dtype": "V", "data": raw.hex()}]
    parts = (
        [raw[: len(raw) // 2], raw[len(raw) // 2 :]] if isinstance(value, numpy.complexfloating) else [raw]
    )
    data = b"".join(part[::-1] if sys.byteorder == "little" else part for part in parts)
    if isinstance(value, numpy.datetime64 | numpy.timedelta64):
        unit, count = numpy.datetime_data(value.dtype)
        data = struct.pack(">BI", UNITS.index(unit), count) + data
    return ["scalar", {"dtype": dtype, "data": data.hex()}]
