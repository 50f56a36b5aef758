"""The same round trips for arrays and NumPy scalars, alone and among all other kinds."""

from __future__ import annotations

import os
from typing import Any

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import numpy.ma
from hypothesis import HealthCheck, given, reject, settings

from hookless import Decoder, EncodeError, decode, dumps, encode, loads
from same import assert_same
from strategies import leaves, splits, values

# Its type hints know little of what lies inside.
ma: Any = np.ma
Array = np.ndarray[Any, np.dtype[Any]]
# HOOKLESS_EXAMPLES=10000 for a long run.
EXAMPLES = int(os.environ.get("HOOKLESS_EXAMPLES", "200"))
thorough = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# The keyable scalars (A11).
KEYS = {
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128, np.str_, np.bytes_),
}
TIMES = (np.datetime64, np.timedelta64)
EXTENSIONS = [
    getattr(ml_dtypes, name)
    for name in sorted(dir(ml_dtypes))
    if isinstance(getattr(ml_dtypes, name), type) and issubclass(getattr(ml_dtypes, name), np.generic)
]
UNITS = "Y M W D h m s ms us ns ps fs as".split()


@st.composite
def dtypes(draw: st.DrawFn) -> np.dtype[Any]:
    """Every dtype without fields, in both byte orders."""
    order: Any = draw(st.sampled_from("<>"))
    match draw(st.sampled_from(["number", "time", "text", "long", "extension"])):
        case "long":
            code = draw(st.sampled_from("gG"))
        case "extension":
            dtype: np.dtype[Any] = np.dtype(draw(st.sampled_from(EXTENSIONS)))
            return dtype if dtype.itemsize == 1 else dtype.newbyteorder(order)
        case "number":
            code = draw(st.sampled_from("b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()))
        case "time":
            unit = draw(st.sampled_from(UNITS))
            count = draw(st.sampled_from(["", "25", "2147483647"]))
            code = draw(st.sampled_from(["M8", "m8"])) + draw(st.sampled_from(["", f"[{count}{unit}]"]))
        case _:
            code = f"{draw(st.sampled_from('SUV'))}{draw(st.integers(0 if order == '<' else 1, 9))}"
    found: np.dtype[Any] = np.dtype(order + code)
    return found


@st.composite
def structures(draw: st.DrawFn, depth: int = 2) -> np.dtype[Any]:
    """Fields of every dtype, with titles, gaps and sub-arrays; aligned, packed or records."""
    inner = structures(depth - 1) if depth else st.nothing()
    shapes = st.lists(st.integers(0, 3), max_size=2).map(tuple)
    # NumPy cannot print times without a unit, and takes no sub-array of a dtype without size.
    flat = dtypes().filter(lambda dtype: dtype.type not in TIMES or np.datetime_data(dtype)[0] != "generic")
    fields = draw(st.lists(st.tuples(flat | inner, shapes, st.booleans()), max_size=4))
    spec = [
        (
            (f"title {number}", f"f{number}") if titled else f"f{number}",
            dtype,
            *([shape] if dtype.itemsize else []),
        )
        for number, (dtype, shape, titled) in enumerate(fields)
    ]
    # Without fields NumPy 1 has no alignment.
    dtype = np.dtype(spec, align=bool(spec) and draw(st.booleans()))
    # NumPy takes no size for that of a record.
    return np.dtype((np.record, dtype)) if dtype.itemsize and draw(st.booleans()) else dtype


def overlaid(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same dtype twice, the second time over the second half of the first."""
    half = dtype.itemsize // 2
    return np.dtype({"names": ["one", "two"], "formats": [dtype, dtype], "offsets": [0, half]})


def admitted(dtype: np.dtype[Any], raw: bytes, size: int) -> bytes:
    """As many bytes, all of which the dtype admits."""
    if dtype.names is not None or dtype.type in (np.longdouble, np.clongdouble):
        # By values: they leave alone what must be zero.
        array = np.zeros(size // max(dtype.itemsize, 1), dtype)
        for index, name in enumerate(dtype.names or ()):
            if array.dtype[name].base.str[1] in "iufc" and array.dtype[name].base.isbuiltin:
                array[name] = (index + raw[0]) % 100
        return array.tobytes()
    data = (raw * (size // max(len(raw), 1) + 1))[:size]
    most = MOST.get(dtype.type.__name__)
    return data if most is None else data.translate(bytes(byte & most for byte in range(256)))


# The largest byte of an element, where not every byte is one.
MOST = {"bool": 1, "bool_": 1, "int1": 1, "uint1": 1, "int2": 3, "uint2": 3, "int4": 15, "uint4": 15}
MOST |= {"float4_e2m1fn": 15, "float6_e2m3fn": 63, "float6_e3m2fn": 63}


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    """Arrays of raw bytes, so of every bit pattern that the dtype admits; in any memory order."""
    dtype = draw(st.one_of(dtypes(), structures()))
    shape = draw(npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    if draw(st.integers(0, 9)) == 0:
        shape = (*shape, 16_384)
    count = int(np.prod(shape))
    if dtype.kind == "U":
        points = draw(st.lists(st.integers(0, 0x10FFFF), min_size=1, max_size=64))
        raw = np.array(points, dtype.byteorder.replace("=", "<") + "u4").tobytes()
    else:
        raw = draw(st.binary(min_size=1, max_size=512))
    size = count * dtype.itemsize
    data = bytearray(admitted(dtype, raw, size))
    array: Array = np.ndarray(shape, dtype, data)
    if dtype.type is np.record and draw(st.booleans()):
        array = array.view(np.recarray)
    match draw(st.integers(0, 3)):
        case 0:
            return array.copy(order="F")
        case 1:
            return array.transpose(draw(st.permutations(range(array.ndim))))
        case 2 if array.ndim:
            return array[:: draw(st.sampled_from([1, 2, -1, -3]))]
        case _:
            return array


@st.composite
def scalars(draw: st.DrawFn) -> Any:
    """Scalars of every type, by their raw bits."""
    kind = draw(st.sampled_from(["text", "bytes", "void", "number"]))
    if kind == "text":
        return np.str_(draw(st.text(st.characters(), max_size=20)))
    if kind == "bytes":
        return np.bytes_(draw(st.binary(max_size=20)))
    if kind == "void":
        return np.void(draw(st.binary(min_size=1, max_size=20)))
    plain = dtypes().filter(lambda found: found.type not in (np.str_, np.bytes_, np.void))
    dtype = draw(st.one_of(plain.map(lambda found: found.newbyteorder("=")), structures()))
    raw = draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize))
    return np.ndarray((1,), dtype, bytearray(admitted(dtype, raw or b"\0", dtype.itemsize)))[0]


@st.composite
def masked_arrays(draw: st.DrawFn) -> Any:
    """With and without mask, fill value and hard mask, over arrays of every dtype."""
    data = draw(arrays().filter(lambda array: array.size < 100))
    try:
        result = ma.masked_array(arrived(data), hard_mask=draw(st.booleans()))
    except (TypeError, ValueError, RuntimeWarning):
        # numpy.ma finds no fill value for some structures.
        reject()
    if data.dtype.names is None and draw(st.booleans()):
        mask = draw(st.lists(st.booleans(), min_size=data.size, max_size=data.size))
        result._mask = np.array(mask, bool).reshape(data.shape)
    if data.size and draw(st.booleans()):
        result._fill_value = np.array(data.reshape(-1)[:1], subok=False).reshape(())
    return result


@st.composite
def object_arrays(draw: st.DrawFn, items: st.SearchStrategy[Any] = leaves) -> Array:
    """Arrays of values, in both orders."""
    shape = draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    array = np.empty(shape, object, draw(st.sampled_from("CF")))
    for index in np.ndindex(shape):
        array[index] = draw(items)
    return array


@st.composite
def text_arrays(draw: st.DrawFn) -> Array:
    """Arrays of StringDType, in both orders; before NumPy 2 of objects."""
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    options: dict[str, Any] = draw(
        st.sampled_from([{}, *({"na_object": one} for one in (None, np.nan, "x"))])
    )
    items = draw(st.lists(texts | st.just(options["na_object"]) if options else texts, max_size=6))
    if np.__version__.startswith("1."):
        return np.array(items, object)
    array = np.array(items, np.dtypes.StringDType(coerce=draw(st.booleans()), **options))
    return array.reshape(2, -1, order="F") if len(items) % 2 == 0 else array


def arrived(array: Array) -> Array:
    """What is neither C nor F contiguous comes back in C order (A12); all else as it was."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array
    return array.copy(order="C")


@thorough
@given(arrays())
def test_arrays(array: Array) -> None:
    """dtype with byte order, shape, bytes and memory order."""
    frame = dumps(array)
    result = loads(frame)
    assert_same(result, arrived(array))
    assert dumps(result) == frame
    assert result.flags.writeable and result.flags.aligned


@thorough
@given(st.one_of(masked_arrays(), object_arrays(), text_arrays()))
def test_arrays_of_other_kinds(array: Any) -> None:
    """Masked ones, and those of objects and texts."""
    frame = dumps(array)
    result = loads(frame)
    assert_same(result, array)
    assert dumps(result) == frame


@thorough
@given(structures())
def test_overlapping_fields(dtype: np.dtype[Any]) -> None:
    """Any structure over itself comes back, or is refused by name."""
    array = np.zeros(2, overlaid(dtype))
    try:
        frame = dumps(array)
    except EncodeError as error:
        code = error.code
    else:
        assert_same(loads(frame), array)
        return
    assert code == "unsupported_type"


@thorough
@given(scalars())
def test_scalars(scalar: Any) -> None:
    """Type and raw bits, NaN payloads and trailing NULs included."""
    frame = dumps(scalar)
    result = loads(frame)
    assert_same(result, scalar)
    assert dumps(result) == frame


KEYABLE = scalars().filter(lambda scalar: type(scalar) in KEYS and scalar == scalar)


KINDS = st.one_of(leaves, arrays().map(arrived), scalars(), masked_arrays(), object_arrays(), text_arrays())


@thorough
@given(values(KINDS), st.data())
def test_among_all_kinds(value: Any, data: st.DataObject) -> None:
    """Nested in every container; all ways in and out agree."""
    frame = dumps(value)
    assert_same(loads(frame), value)
    assert b"".join(encode(value)) == frame
    assert_same(decode(data.draw(splits(frame))), value)
    decoder = Decoder()
    found = [one for part in data.draw(splits(frame)) for one in decoder.feed(part)]
    assert_same(found[0].value, value)
    assert dumps(found[0].value) == frame


@thorough
@given(KEYABLE, st.integers())
def test_scalars_as_keys(scalar: Any, other: int) -> None:
    """One beside a plain int, unless the two are one key."""
    value: dict[Any, Any] = {scalar: other}
    value.setdefault(other, scalar)
    for table in (value, set(value), frozenset(value), {(key, 1): key for key in value}):
        assert_same(loads(dumps(table)), table)
