"""Reported problems with masked, object and text arrays and long doubles, numbered as they were collected."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.ma
import pytest

import hookless
from hookless import Decoder, Limits, decode, dumps, encode, loads
from same import assert_same
from test_cases_numpy import roundtrip

# Its type hints know little of what lies inside.
ma: Any = np.ma
NUMPY_2 = not np.__version__.startswith("1.")

MASKED = {
    "no mask": ma.masked_array([1, 2, 3]),
    "mask": ma.masked_array([1, 2], [True, False]),
    "all masked": ma.masked_array(np.ones(10, "f4"), mask=True, fill_value=1e20),
    "hard mask": ma.masked_array([1, 2], [True, False], hard_mask=True),
    "no dimensions": ma.masked_array(1.5, mask=True),
    "empty": ma.masked_array([], mask=[]),
    "big-endian": ma.masked_array(np.arange(3, dtype=">i2"), [0, 1, 0], fill_value=7),
    "bytes": ma.masked_array([b"ab", b"c"], [0, 1], fill_value=b"N/A"),
    "text": ma.masked_array(["ab", "c"], [0, 1], fill_value="N/A"),
    "times": ma.masked_array(np.array(["2020", "NaT"], "M8[ns]"), [0, 1], fill_value=np.datetime64(0, "ns")),
    "structured": ma.masked_array([(1, 2.5), (3, 4.5)], [(0, 1), (1, 0)], dtype=[("a", "i4"), ("b", ">f8")]),
    "sub-arrays": ma.masked_array(np.zeros(2, [(("T", "a"), "i4", (2,)), ("b", [("c", "U2")])])),
    "F order": ma.masked_array(np.asfortranarray(np.arange(6.0).reshape(2, 3)), [[0, 1, 0], [1, 0, 1]]),
    "large": ma.masked_array(np.arange(30_000.0), np.arange(30_000) % 3 == 0, fill_value=-1),
    "over a recarray": ma.masked_array(np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])),
    "records of bools": ma.masked_array(np.zeros(2, np.dtype((np.record, [("a", "?")]))), mask=True),
    "half floats of ml_dtypes": ma.masked_array(np.arange(3).astype(ml_dtypes.bfloat16), [0, 1, 0]),
}


@pytest.mark.parametrize("name", MASKED)
def test_c053_masked_arrays(name: str) -> None:
    """Data, mask, fill value and hard mask, by every way in and out."""
    array = MASKED[name]
    frame = dumps([array, array])
    for result in (
        loads(frame),
        decode([frame[:40], frame[40:]]),
        Decoder().feed(frame)[0].value,
        loads(frame, copy=False),
    ):
        assert_same(result, [array, array])
        assert dumps(result) == frame
    assert b"".join(bytes(part) for part in encode([array, array])) == frame
    (result, _) = loads(frame)
    assert_same(result.filled(), array.filled())
    if result.size and array.dtype.names is None:
        result[...] = array
        result.mask = False


def test_c053_masked_values_are_kept() -> None:
    """What lies under the mask is part of the value: taking the mask off shows it."""
    result = loads(dumps(ma.masked_array([10, 20], [True, False])))
    assert result.tolist() == [None, 20]
    result.mask = ma.nomask
    assert result.tolist() == [10, 20]


def test_c053_the_mask_is_its_own() -> None:
    """A result shares its mask with nobody, whatever the original did."""
    array = ma.masked_array([1, 2], [True, False])
    array.unshare_mask()
    one, two = loads(dumps([array, array]))
    one[0] = 5
    assert (one.tolist(), two.tolist(), one.sharedmask) == ([5, 2], [None, 2], False)


def test_masked_structures_for_which_numpy_has_no_fill_value() -> None:
    """Decoding does not ask for one: nothing is computed and nothing is warned of."""
    dtype = np.dtype([("half", "f2"), ("bits", "f4", (2,)), ("x", ml_dtypes.int4)])
    frame = dumps(ma.masked_array(np.zeros(2, [("a", "i4")])))
    data, mask = dumps(np.zeros(2, dtype))[32:], dumps(np.ones(2, ma.make_mask_descr(dtype)))[32:]
    body = b"\x95\xd4\x01\x11" + data + mask + b"\xc0\xc2"
    result = loads(frame[:16] + len(body).to_bytes(8) + bytes(8) + body)
    assert type(result) is ma.MaskedArray and result.dtype == dtype
    assert result._fill_value is None and result.mask["bits"].all()
    assert dumps(result)[32:] == body


def test_c053_strided() -> None:
    """A slice is compacted, and its mask with it, each as it lies."""
    array = ma.masked_array(np.arange(24).reshape(4, 6), np.arange(24).reshape(4, 6) % 5 == 0)
    for view in (array[:, ::2], array[::-1], array.T, array[1:3]):
        result = loads(dumps(view))
        assert_same(result.filled(-1), np.array(view.filled(-1), order="K"))
        assert result._mask.tolist() == view._mask.tolist()


@pytest.mark.parametrize("code", ["f4", ">f8", "i2", "U5", "S3", "M8[D]", "c8", "?"])
def test_c042_fill_values(code: str) -> None:
    """Set or not; reading the default sets it, in NumPy's own dtype for it, and then it travels."""
    data = np.zeros(3, code)
    array = ma.masked_array(data, [0, 1, 0])
    assert loads(dumps(array))._fill_value is None
    fill = array.fill_value
    result = loads(dumps(array))
    assert_same(result._fill_value, array._fill_value)
    assert_same(result.fill_value, fill)
    structured = ma.masked_array(np.zeros(2, [("a", code), ("b", "i4")]), fill_value=(data[0], 7))
    roundtrip_masked(structured)


def test_c042_the_fill_value_of_the_report() -> None:
    """A float32, as NumPy has made it of 1e20: no float and no float64."""
    result = loads(dumps(np.ma.MaskedArray(np.ones(10, "f4"), mask=True, fill_value=1e20)))
    assert type(result.fill_value) is np.float32
    assert result.fill_value.tobytes() == np.float32(1e20).tobytes()
    assert result.mask.all() and result.data.tobytes() == np.ones(10, "f4").tobytes()


def roundtrip_masked(array: Any) -> None:
    frame = dumps(array)
    assert_same(loads(frame), array)
    assert dumps(loads(frame)) == frame


def test_masked_arrays_that_are_refused() -> None:
    """Over objects, over another class, with a fill value that has fields, the constant."""
    forced = ma.masked_array([1.0])
    forced._fill_value = np.zeros((), [("a", "i4")])
    matrix = ma.masked_array([[1.0]])
    matrix._baseclass = np.matrix
    bare = ma.masked_array(np.zeros(1, [("a", "i4")]))
    bare._mask = ma.nomask
    for value in (ma.masked_array([None, 1], dtype=object), ma.masked, matrix, forced, bare):
        with pytest.raises(hookless.EncodeError) as caught:
            dumps({"m": value})
        assert (caught.value.code, caught.value.path) == ("unsupported_type", "$.m")
    with pytest.raises(hookless.EncodeError) as caught:
        dumps({"m": ma.masked_array(np.frombuffer(b"\x02", "?"))})
    assert caught.value.code == "bad_element"


OBJECTS = {
    "from the report": np.array(["ab", None, 1, 2.5], dtype=object),
    "two dimensions": np.array([[1, "a"], [None, b"x"], [2**70, 1j]], dtype=object),
    "no dimensions": np.array(None, dtype=object),
    "empty": np.array([], dtype=object),
    "empty of two dimensions": np.zeros((3, 0), dtype=object),
    "never set": np.empty((2, 2), dtype=object),
    "F order": np.asfortranarray(np.arange(6).reshape(2, 3).astype(object)),
    "containers": np.array([None, {"a": [1, (2,)]}, {3}, [np.arange(3)]], dtype=object),
    "numpy scalars": np.array([np.float32(1), np.int8(2), np.str_("s")], dtype=object),
    "large": np.arange(20_000).astype(object),
}
OBJECTS["nested"] = np.array([None, None], dtype=object)
OBJECTS["nested"][0] = OBJECTS["two dimensions"]
OBJECTS["nested"][1] = ma.masked_array(np.arange(20_000), np.arange(20_000) % 2 == 0)


@pytest.mark.parametrize("name", OBJECTS)
def test_c065_object_arrays(name: str) -> None:
    """Items are values of the closed set, written one by one: no pointer and no pickle."""
    array = OBJECTS[name]
    frame = dumps(array)
    for result in (loads(frame), Decoder().feed(frame)[0].value, decode([frame[:33], frame[33:]])):
        assert_same(result, array)
        assert dumps(result) == frame
        assert result.flags.writeable and result.flags.owndata
    assert b"".join(bytes(part) for part in encode(array)) == frame


def test_c065_object_arrays_in_any_memory_order() -> None:
    """Strided ones are compacted; c039: without dimensions it stays an array."""
    array = np.arange(24).reshape(2, 3, 4).astype(object)
    for view in (
        array[:, ::2],
        array.transpose(1, 0, 2),
        array[..., ::-1],
        np.broadcast_to(array[0], (2, 3, 4)),
    ):
        assert_same(loads(dumps(view)), view.copy(order="C"))
    assert type(loads(dumps(np.array(None, dtype=object)))) is np.ndarray


@pytest.mark.parametrize(
    ("shape", "order", "at", "step"),
    [((4,), "C", 2, "[2]"), ((2, 3), "C", 4, "[1, 1]"), ((2, 3), "F", 4, "[0, 2]"), ((), "C", 0, "[()]")],
)
def test_c065_an_item_outside_the_set(shape: Any, order: Any, at: int, step: str) -> None:
    """The error names its index, in the encoder and in the decoder."""
    array = np.empty(shape, object, order)
    flat = array.reshape(-1, order=order)
    flat[:] = 0
    flat[at] = lambda: 0
    with pytest.raises(hookless.EncodeError) as caught:
        dumps({"a": array})
    assert (caught.value.path, caught.value.type_name) == ("$.a" + step, "function")
    flat[at] = []
    frame = bytearray(dumps({"a": array}))
    frame[36 + 4 + len(shape) + 1 + at] = 0xC1
    with pytest.raises(hookless.DecodeError) as refused:
        loads(bytes(frame))
    assert (refused.value.code, refused.value.path) == ("bad_marker", "$.a" + step)


def test_c065_an_array_that_holds_itself() -> None:
    """Stops at the depth limit."""
    array = np.empty(1, object)
    array[0] = array
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(array)
    assert caught.value.code == "depth_limit"
    array[0] = None


def test_c065_an_array_resized_while_it_is_written() -> None:
    """Code that runs under the walk cannot make it read memory that is gone."""
    array = np.empty(1000, object)

    class Shrinking(Exception):
        def __str__(self) -> str:
            array.resize(1, refcheck=False)
            return "shrunk"

    array[1] = Shrinking()
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(array)
    assert caught.value.code == "mutated"


def test_l5_items_of_object_and_text_arrays_are_counted() -> None:
    """At the limit, and one past it."""
    arrays = [np.zeros(10, object)]
    if NUMPY_2:
        arrays.append(np.array(["a"] * 10, dtype=np.dtypes.StringDType()))
    for array in arrays:
        assert_same(loads(dumps(array, limits=Limits(nodes=11)), limits=Limits(nodes=11)), array)
        with pytest.raises(hookless.EncodeError) as caught:
            dumps(array, limits=Limits(nodes=10))
        assert caught.value.code == "node_limit"


def test_hollow_object_arrays_are_charged_their_elements() -> None:
    """As other arrays without bytes."""
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(np.zeros((2**40, 0), object))
    assert caught.value.code == "memory_limit"


TEXTS = ["hello", "", "NUL\0x", "\0\0", "\u6f22\u5b57", "\U0001f600", "x" * 15, "x" * 16, "y" * 300]


@pytest.mark.skipif(not NUMPY_2, reason="StringDType comes with NumPy 2")
@pytest.mark.parametrize("coerce", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"na_object": None},
        {"na_object": np.nan},
        {"na_object": struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0]},
        {"na_object": "missing"},
        {"na_object": ""},
    ],
    ids=repr,
)
def test_c055_texts_of_any_length(options: dict[str, Any], coerce: bool) -> None:
    """All texts, missing ones and the dtype, by every way in and out."""
    dtype = np.dtypes.StringDType(coerce=coerce, **options)
    missing = [options["na_object"]] * 2 if options else []
    for array in (
        np.array(TEXTS + missing, dtype),
        np.array([TEXTS[:4], TEXTS[4:8]], dtype),
        np.asfortranarray(np.array([TEXTS[:4], TEXTS[4:8]], dtype)),
        np.array("one", dtype),
        np.array([], dtype),
        np.array(TEXTS + missing, dtype)[::-2],
        np.array(["text"] * 5000, dtype),
    ):
        expected = array if array.flags.c_contiguous or array.flags.f_contiguous else array.copy()
        frame = dumps([array])
        for result in (loads(frame), Decoder().feed(frame)[0].value, loads(frame, copy=False)):
            assert_same(result, [expected])
            assert dumps(result) == frame
            assert result[0].flags.writeable


@pytest.mark.skipif(not NUMPY_2, reason="StringDType comes with NumPy 2")
def test_c055_missing_texts_without_a_form() -> None:
    """Any object can stand for a missing text; those that are not values of the wire are refused."""
    for na_object in (1.5, 7, object(), np.float64("nan")):
        with pytest.raises(hookless.EncodeError) as caught:
            dumps([np.array(["a"], np.dtypes.StringDType(na_object=na_object))])
        assert (caught.value.code, caught.value.path) == ("unsupported_type", "$[0]")


@pytest.mark.skipif(NUMPY_2, reason="NumPy 2 has StringDType")
def test_c055_texts_of_any_length_under_numpy_1() -> None:
    """Of class environment: another host can read the frame."""
    body = bytes.fromhex("96d40113c2c3009101a161")
    frame = b"HKLS\x01\x01" + bytes(10) + len(body).to_bytes(8) + bytes(8) + body
    with pytest.raises(hookless.DecodeError) as caught:
        loads(frame)
    assert caught.value.code == "dtype_unsupported"


LONG = [np.longdouble("1.1"), np.clongdouble("1.1") + np.clongdouble("2.3") * 1j, np.longdouble("nan")]


@pytest.mark.parametrize("scalar", LONG, ids=repr)
def test_c062_long_doubles(scalar: Any) -> None:
    """All digits, never by a Python float; in both byte orders, in fields, inline and in the region."""
    assert str(loads(dumps(scalar))) == str(scalar)
    roundtrip(scalar)
    for count in (0, 3, 2000):
        array = np.repeat(scalar, count)
        roundtrip(array)
        roundtrip(array.astype(array.dtype.newbyteorder(">")))
        roundtrip(np.asfortranarray(np.tile(array, (2, 1))))


def test_c062_unused_bytes_leave_as_zeros() -> None:
    """Memory that is no part of a number stays here."""
    if np.dtype("g").itemsize == 16 and np.finfo("g").nmant == 63:
        dirty = np.frombuffer(b"\x00" * 7 + b"\x80\xff\x3f" + b"secret", "g")
        frame = dumps([dirty, dirty[0], np.frombuffer(dirty.tobytes()[::-1], ">g")])
        assert b"secret" not in frame and b"terces" not in frame
        assert [float(np.asarray(one).reshape(())) for one in loads(frame)] == [1.0, 1.0, 1.0]
    else:
        assert np.finfo("g").nmant != 63


def test_c062_a_format_of_another_machine() -> None:
    """Refused with the reason, of class environment; a Rust host keeps it."""
    body = bytes.fromhex("95d40110d608673c0400009101c40c") + bytes(12)
    frame = b"HKLS\x01\x01" + bytes(10) + len(body).to_bytes(8) + bytes(8) + body
    with pytest.raises(hookless.DecodeError, match="x87-12") as caught:
        loads(frame)
    assert (caught.value.code, caught.value.offset) == ("dtype_unsupported", 32)


EXTENSIONS = [
    getattr(ml_dtypes, name)
    for name in sorted(dir(ml_dtypes))
    if isinstance(getattr(ml_dtypes, name), type) and issubclass(getattr(ml_dtypes, name), np.generic)
]


@pytest.mark.parametrize("kind", EXTENSIONS, ids=lambda kind: kind.__name__)
def test_ml_dtypes(kind: Any) -> None:
    """Every type that the package has: arrays, fields, scalars, by their bytes."""
    dtype = np.dtype(kind)
    whole = np.arange(256, dtype="u1") if dtype.itemsize == 1 else np.arange(1024, dtype="u2").view("u1")
    limit = {"int1": 2, "int2": 4, "int4": 16, "floa": 256}.get(kind.__name__.replace("uint", "int")[:4], 256)
    limit = 16 if kind.__name__.startswith("float4") else 64 if kind.__name__.startswith("float6") else limit
    array = whole[:limit].view(dtype)
    roundtrip(array)
    roundtrip(np.tile(array, (300, 1)))
    roundtrip(np.zeros(3, [("a", "?"), ("b", dtype, (2,))]))
    roundtrip(list(array[:16]))
    if dtype.itemsize > 1:
        roundtrip(array.astype(dtype.newbyteorder(">")))
    if limit < 256:
        with pytest.raises(hookless.EncodeError) as caught:
            dumps([np.array([limit], "u1").view(dtype)])
        assert (caught.value.code, caught.value.path) == ("bad_element", "$[0]")


def test_scalars_of_other_packages_are_refused() -> None:
    """A subclass of a scalar type is not that type."""
    kind = type("Meters", (np.float64,), {})
    with pytest.raises(hookless.EncodeError, match="Meters"):
        dumps(kind(1.5))


def test_c044_arrays_past_four_gib() -> None:
    """The length is a 64-bit number; nothing is copied, and pages that were never touched are not touched."""
    array = np.zeros(2**32 + 8, "u1")
    parts = encode(array, limits=Limits(region=2**33))
    assert [len(memoryview(part)) for part in parts[1:]] == [2**32 + 8]
    assert np.shares_memory(np.frombuffer(memoryview(parts[1]), "u1"), array)
    head = bytes(memoryview(parts[0])[:32])
    assert int.from_bytes(head[24:]) == 2**32 + 8
    with pytest.raises(hookless.EncodeError) as caught:
        encode(array, limits=Limits(region=2**32 + 7))
    assert caught.value.code == "region_limit"


def test_c044_the_array_of_the_report(tmp_path: Path) -> None:
    """More than 10 GB of float64, on a file that is all hole: sent by reference, its length in 64 bits."""
    shape, size = (500, 500, 2620, 2), 500 * 500 * 2620 * 2 * 8
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(size)
    mapped = np.memmap(tmp_path / "hole", "f8", "r", shape=shape)
    parts = encode([mapped], limits=Limits(region=2**34))
    assert [len(memoryview(part)) for part in parts[1:]] == [size]
    assert np.shares_memory(np.frombuffer(memoryview(parts[1]), "u1"), mapped)
    assert int.from_bytes(bytes(memoryview(parts[0])[24:32])) == size > 2**33


def test_c044_a_decoder_takes_an_array_past_four_gib() -> None:
    """It waits for all that the head announces, or stops at its limit; memory is reserved, not touched."""
    parts = encode(np.zeros(2**32 + 8, "u1"))
    head = bytes(memoryview(parts[0]))
    decoder = Decoder()
    assert decoder.feed(head + bytes(1000)) == []
    with pytest.raises(hookless.Truncated) as caught:
        decoder.finish()
    assert caught.value.offset == len(head) + 1000
    with pytest.raises(hookless.LimitExceeded):
        Decoder(limits=Limits(region=2**32 + 7)).feed(head)
