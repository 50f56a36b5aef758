"""Reported problems with structured arrays, records and their scalars, numbered as they were collected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookless
from hookless import Limits, dumps, loads
from same import assert_same
from test_cases_numpy import roundtrip

STRUCTURED = {
    "reordered": np.dtype({"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [4, 0]}),
    "padded": np.dtype({"names": ["A", "B"], "formats": ["f4", "f4"], "offsets": [0, 8], "itemsize": 16}),
    "aligned": np.dtype([("a", "u2"), ("b", "u4"), ("c", "c8"), ("d", "U2")], align=True),
    "titled": np.dtype([(("Title", "x"), "i4"), ("y", "M8[25s]")]),
    "sub-arrays": np.dtype(
        [("n", "i4"), ("v", ">f8", (10,)), ("m", "f4", (2, 3)), ("e", "S0"), ("z", "i1", (0,))]
    ),
    "not ASCII": np.dtype([("\u6f22", "?"), ("a b", "V3")]),
    "empty": np.dtype([]),
    "overlapping": np.dtype({"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [0, 0]}),
    "a union": np.dtype({"names": ["a", "b"], "formats": ["<u4", ("u1", (4,))], "offsets": [2, 2]}),
    "records": np.dtype((np.record, [("a", "i4"), ("b", "f8")])),
    "aligned records": np.dtype((np.record, np.dtype([("a", "i1"), ("b", "f8")], align=True))),
    "records of structures": np.dtype((np.record, [("x", [("a", "i4")]), ("y", "?")])),
    "structures of records": np.dtype([("x", np.dtype((np.record, [("a", "i4")])), (2,))]),
    "records without fields": np.dtype((np.record, [])),
    "long doubles": np.dtype([("a", "i1"), ("b", "g"), ("c", ">G", (2,))], align=True),
    "aligned by numbers": np.dtype("i1,i4,i1", align=True),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_dtypes(name: str) -> None:
    """Names, titles, offsets, itemsize and alignment are kept; what lies under no field is zeroed."""
    dtype = STRUCTURED[name]
    array = np.zeros(7, dtype=dtype)
    roundtrip(array)
    # The same value in memory that holds other bytes in its gaps gives the same frame.
    if dtype.itemsize and dtype.names:
        dirty = np.frombuffer(bytearray(b"\xff" * array.nbytes), dtype=dtype)
        for field in dtype.names:
            dirty[field] = array[field]
        assert dumps(dirty) == dumps(array)


def test_c043_padding_at_the_end() -> None:
    """The itemsize stays 16, and the padding leaves as zeros."""
    dtype = np.dtype({"names": ["A", "B"], "formats": ["f4", "f4"], "offsets": [0, 8], "itemsize": 16})
    array = np.frombuffer(bytearray(b"\x7f" * 48), dtype)
    frame = dumps(array)
    result = loads(frame)
    assert_same(result, array)
    assert result.dtype == dtype and result.dtype.itemsize == 16
    assert result.tobytes() == (b"\x7f" * 4 + bytes(4)) * 2 * 3
    assert b"\x7f" * 5 not in frame


def test_c049_sub_arrays() -> None:
    """Fields of several elements keep their shape and their values."""
    array = np.zeros(2, [("n", "i4"), ("v", "f8", (10,)), ("m", "f4", (2, 3))])
    array["n"], array["v"] = [1, 2], np.arange(20.0).reshape(2, 10)
    array["m"] = np.arange(12).reshape(2, 2, 3)
    roundtrip(array)
    roundtrip(array[0])
    result = loads(dumps(array))
    assert (result["v"].shape, result["m"].shape) == ((2, 10), (2, 2, 3))
    assert result["m"][1].tolist() == [[6, 7, 8], [9, 10, 11]]


@pytest.mark.parametrize(
    ("spec", "offsets", "itemsize"),
    [([("a", "u2"), ("b", "u4")], [0, 4], 8), ("i1,i4,i1", [0, 4, 8], 12)],
    ids=["names", "numbers"],
)
def test_c056_alignment(spec: Any, offsets: list[int], itemsize: int) -> None:
    """Names, offsets and itemsize are those of the aligned structure, which says so of itself."""
    dtype = np.dtype(spec, align=True)
    array = np.zeros(3, dtype)
    array[dtype.names[0]] = [1, 2, 3]
    roundtrip(array)
    found = loads(dumps(array)).dtype
    assert found.isalignedstruct and found.names == dtype.names
    assert ([found.fields[name][1] for name in found.names], found.itemsize) == (offsets, itemsize)
    packed = np.zeros(3, np.dtype(spec))
    assert not loads(dumps(packed)).dtype.isalignedstruct


def test_hidden_columns_are_not_sent() -> None:
    """A multi-field view shows some columns; the bytes of the others stay here."""
    table = np.zeros(3, [("a", "i4"), ("secret", "S8"), ("b", "f8")])
    table["secret"] = b"password"
    view = table[["a", "b"]]
    frame = dumps(view)
    assert b"password" not in frame
    assert loads(frame).dtype == view.dtype


def test_c047_structures_keep_fields_and_values() -> None:
    """From the report: never opaque bytes, never other values."""
    rows = [(39133, 628009281, 4, b"a"), (39198, 628010832, 28, b"b")]
    roundtrip(np.array(rows, dtype=[("a", "u4"), ("b", "u4"), ("c", "u4"), ("d", "S1")]))


def test_c051_multi_field_view() -> None:
    """The visible fields come back where they were, and the hidden ones as zeros."""
    table = np.array([(1, 2.5), (3, 4.5)], [("a", int), ("b", float)])
    view = table[["a"]]
    result = loads(dumps(view))
    assert result.dtype == view.dtype and result.dtype.itemsize == 16
    assert result["a"].tolist() == [1, 3]
    assert result.view("f8")[1::2].tolist() == [0, 0]


def test_c057_metadata_of_a_dtype_is_dropped() -> None:
    """The data cross; what somebody attached to the dtype stays here."""
    dtype = np.dtype({"names": ["a", "b"], "formats": [float, np.dtype("S3", metadata={"k": 1})]})
    array = np.array([(1.5, b"abc")], dtype)
    frame = dumps(array)
    result = loads(frame)
    assert_same(result, array)
    assert result.dtype["b"].metadata is None
    plain = np.array([1.5], np.dtype("f8", metadata={"secret": "token"}))
    assert b"token" not in dumps(plain)
    assert_same(loads(dumps(plain)), np.array([1.5]))


def test_c064_overlapping_reordered_and_titled() -> None:
    """`.descr` has no words for these."""
    array = np.zeros(2, {"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [0, 0]})
    array["a"] = [0x01020304, 7]
    result = loads(dumps(array))
    assert_same(result, array)
    result["b"][0] = 0xFFFF
    assert result["a"][0] == 0x0102FFFF
    roundtrip(np.zeros(2, {"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [4, 0]}))
    roundtrip(np.ones(2, [(("Title", "x"), "i4")]))


def test_overlaps_without_a_form() -> None:
    """Over a gap, over a long double's unused bytes, and seventeen times over one byte: refused by name."""
    padded = np.dtype([("a", "i1"), ("b", "i4")], align=True)
    for dtype in (
        {"names": ["p", "q"], "formats": [padded, "u1"], "offsets": [0, 1]},
        {"names": ["p", "q"], "formats": ["g", "u1"], "offsets": [0, 12]},
        {"names": [f"f{i}" for i in range(17)], "formats": ["u1"] * 17, "offsets": [0] * 17},
    ):
        with pytest.raises(hookless.EncodeError) as caught:
            dumps({"table": np.zeros(2, dtype)})
        assert (caught.value.path, caught.value.code) == ("$.table", "unsupported_type")
    roundtrip(np.zeros(2, {"names": list("abcdefghijklmnop"), "formats": ["u1"] * 16, "offsets": [0] * 16}))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("count", [0, 1, 6, 6000])
def test_recarrays(count: int, order: Any) -> None:
    """Class and record type come back; fields are attributes."""
    array = np.rec.array(np.zeros(count, [("a", "i4"), ("b", "f8")]).reshape(-1, 2 if count % 2 == 0 else 1))
    array.a = np.arange(count).reshape(array.shape)
    array = array.copy(order=order)
    assert type(array) is np.recarray
    roundtrip(array)
    result = loads(dumps(array))
    assert type(result) is np.recarray and result.dtype.type is np.record
    assert result.a.tolist() == array.a.tolist()
    if count:
        roundtrip(array[0, 0])
        assert loads(dumps(array[0, 0])).a == 0
    view = loads(dumps(array), copy=False)
    assert_same(view, array)


def test_recarray_without_fields() -> None:
    """A view of numbers can be one as well; so can a slice, which is compacted."""
    roundtrip(np.arange(3).view(np.recarray))
    array = np.arange(12, dtype="i2").reshape(3, 4).view(np.recarray)
    assert_same(loads(dumps(array[:, ::2])), array[:, ::2].copy())
    roundtrip(np.ndarray((2,), "S0", b"").view(np.recarray))


@pytest.mark.filterwarnings("ignore:Setting the dtype:DeprecationWarning")
def test_recarray_of_plain_structures_is_refused() -> None:
    """NumPy makes records of them wherever it can; one that is forced has no form."""
    array = np.zeros(2, [("a", "i4")]).view(np.recarray)
    np.ndarray.dtype.__set__(array, np.dtype([("a", "i4")]))  # type: ignore[attr-defined]
    with pytest.raises(hookless.EncodeError) as caught:
        dumps([array])
    assert (caught.value.code, caught.value.path) == ("bad_order", "$[0]")


@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_scalars(name: str) -> None:
    """A void with fields, or a record, keeps dtype and bytes; it has memory of its own."""
    dtype = STRUCTURED[name]
    if name == "sub-arrays":
        dtype = np.dtype([("n", "i4"), ("v", ">f8", (10,)), ("e", "S0")])
    array = np.zeros(2, dtype)
    scalar = array[0]
    assert type(scalar) is dtype.type
    roundtrip([scalar, {"x": scalar}])
    result = loads(dumps(scalar))
    assert type(result) is type(scalar)
    if dtype.names:
        result[0] = result[0]


def test_structured_scalars_with_gaps_send_zeros() -> None:
    """Padding of a scalar stays here too."""
    dtype = np.dtype([("a", "u1"), ("b", "u4")], align=True)
    dirty = np.frombuffer(b"\xff" * 8, dtype)[0]
    result = loads(dumps(dirty))
    assert result.tobytes() == b"\xff\0\0\0\xff\xff\xff\xff"
    assert dumps(result) == dumps(dirty)


def test_structured_scalars_that_are_refused() -> None:
    """Objects inside, a bool that is none, a key, a subclass."""
    bad = np.frombuffer(b"\x02", [("a", "?")])[0]
    for value, code in (
        (np.zeros(1, [("a", object)])[0], "unsupported_type"),
        (bad, "bad_element"),
        (np.zeros(1, np.dtype((np.record, "V3")))[0], "unsupported_type"),
    ):
        with pytest.raises(hookless.EncodeError) as caught:
            dumps([value])
        assert (caught.value.code, caught.value.path) == (code, "$[0]")


def test_objects_inside_a_structure_are_refused_by_name() -> None:
    """O is a dtype of whole arrays only."""
    with pytest.raises(hookless.EncodeError, match=r"object|O") as caught:
        dumps({"table": np.zeros(2, [("a", object)])})
    assert (caught.value.path, caught.value.code) == ("$.table", "unsupported_type")


def test_charge_of_a_structured_scalar() -> None:
    """720 and twice its bytes, the field with its name: at the limit, and one byte past it."""
    scalar = np.zeros(1, [("a", "i4")])[0]
    cost = 720 + 2 * 4 + 640 + 72 + 1
    frame = dumps(scalar, limits=Limits(memory=cost))
    assert_same(loads(frame, limits=Limits(memory=cost)), scalar)
    with pytest.raises(hookless.LimitExceeded):
        loads(frame, limits=Limits(memory=cost - 1))
    with pytest.raises(hookless.EncodeError):
        dumps(scalar, limits=Limits(memory=cost - 1))
