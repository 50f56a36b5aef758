"""Reported attacks on decoders of arrays: C120, C129, C135 and C142."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hookless
import naive
from hookless import dumps, loads
from test_cases_hostile import refused
from test_cases_hostile_values import DOTTED
from test_hostile import Gadget
from watching import watched

hookless.loads(hookless.dumps(np.zeros(1)))


def test_c120_no_function_of_numpys_is_chosen() -> None:
    """A record that calls itself poly1d and has a shape is asked for nothing, and is no array."""
    fields = [("shape", naive.integer(3)), ("ndim", naive.integer(1))]
    frame = naive.frame(naive.record(fields, qualname="poly1d"))
    with watched():
        value = loads(frame)
    assert type(value) is hookless.Record
    look: Any = value
    assert np.size(look) != 3
    assert dumps(value) == frame


@pytest.mark.parametrize("unit", [0x110000, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000])
@pytest.mark.parametrize("order", ["<", ">"])
def test_c129_code_points_past_the_last(unit: int, order: str) -> None:
    """Each code unit is checked, inline and in the region, in both byte orders, and in a field."""
    raw = unit.to_bytes(4, "little" if order == "<" else "big")
    kind = naive.dtype("U", order, 4)
    assert refused(naive.ndarray(kind, [1], raw)) == "bad_element"
    assert refused(naive.ndarray(kind, [3], bytes(8) + raw)) == "bad_element"
    count = 5000
    frame = bytearray(dumps(np.zeros(count, f"{order}U1")))
    frame[-4:] = raw
    with pytest.raises(hookless.DecodeError) as caught:
        loads(bytes(frame))
    assert (caught.value.code, len(frame) - caught.value.offset) == ("bad_element", 4)
    fields = bytearray(dumps(np.zeros(1, [("a", "u1"), ("b", f"{order}U1")])))
    fields[-4:] = raw
    with pytest.raises(hookless.DecodeError) as caught:
        loads(bytes(fields))
    assert caught.value.code == "bad_element"


def test_c135_objects_are_a_list_of_values() -> None:
    """The map of another format is a dict; raw bytes of objects are refused wherever there is a dtype."""
    blob = pickle.dumps(Gadget())
    look_alike: dict[Any, Any] = {b"nd": True, b"type": "|O", b"kind": b"O", b"shape": (1,), b"data": blob}
    with watched():
        value = loads(dumps(look_alike))
    assert value == look_alike and type(value[b"data"]) is bytes
    for letter in "Oo?\0":
        kind = naive.dtype(letter, "|", 8)
        assert refused(naive.ndarray(kind, [1], blob[:8])) == "bad_dtype"
        assert refused(naive.node(23, [kind, naive.binary(blob[:8])])) in ("bad_dtype", "not_canonical")
        field = naive.array([naive.text("f"), naive.NIL, naive.integer(0), naive.array([]), kind])
        structure = naive.array([naive.integer(8), naive.integer(0), naive.array([field])])
        assert refused(naive.ndarray(structure, [1], blob[:8])) == "bad_dtype"
    array = np.array([b"x", None, {"a": blob}], dtype=object)
    with watched():
        found = loads(dumps(array))
    assert [type(one) for one in found] == [bytes, type(None), dict]


@pytest.mark.parametrize("name", DOTTED)
def test_c142_names_of_fields_are_text(name: str) -> None:
    """A field of any name, of a plain array and of one of records: nothing is looked up by it."""
    for flags in (0, 2):
        field = naive.array(
            [naive.text(name), naive.NIL, naive.integer(0), naive.array([]), naive.dtype("u", "|", 1)]
        )
        structure = naive.array([naive.integer(1), naive.integer(flags), naive.array([field])])
        body = naive.ndarray(structure, [1], b"\1", order=2 if flags else 0)
        with watched():
            try:
                value = loads(naive.frame(body))
            except hookless.DecodeError as error:
                code = error.code
            else:
                code = ""
        assert code == ("" if name else "bad_name")
        if name:
            assert value.dtype.names == (name,)
            assert dumps(value) == naive.frame(body)


LOOKED_FOR = "_optinfo _basedict __dict__ _mask _fill_value _hardmask _sharedmask _isfield dtype".split()


def structure(size: int, flags: int, kind: bytes, name: str, shape: list[int]) -> bytes:
    """A structured dtype of one field."""
    extents = naive.array(list(map(naive.integer, shape)))
    field = naive.array([naive.text(name), naive.NIL, naive.integer(0), extents, kind])
    return naive.array([naive.integer(size), naive.integer(flags), naive.array([field])])


@pytest.mark.parametrize("name", LOOKED_FOR)
@pytest.mark.parametrize("kind", ["V0", "S0", "U0", "i4"])
@pytest.mark.parametrize("shape", [[], [2], [1, 2]])
def test_c142_fields_that_numpy_looks_for(name: str, kind: str, shape: list[int]) -> None:
    """A recarray gives its fields for attributes, and a masked array of it was asked for such names."""
    for count in range(4):
        assert outcome(name, kind, shape, count) == outcome("innocent", kind, shape, count)


def outcome(name: str, kind: str, shape: list[int], count: int) -> object:
    """What becomes of a masked recarray with such a field: a code, or what NumPy keeps of the array."""
    items = int(np.prod(shape))
    size = items * int(kind[1])
    letter = naive.dtype(kind[0], "<" if kind[0] in "Ui" else "|", int(kind[1]))
    bools = structure(items, 0, naive.dtype("b", "|", 1), name, shape)
    parts = [
        [
            structure(size, 2, letter, name, shape),
            b"\2",
            naive.array([naive.integer(count)]),
            naive.binary(bytes(count * size)),
        ],
        [bools, b"\0", naive.array([naive.integer(count)]), naive.binary(bytes(count * items))],
    ]
    data, mask = (naive.node(naive.NDARRAY, part) for part in parts)
    frame = naive.frame(naive.node(17, [data, mask, naive.NIL, naive.FALSE]))
    try:
        with watched():
            value = loads(frame)
    except hookless.DecodeError as error:
        return error.code
    assert dumps(value) == frame
    assert value.dtype.names == (name,)
    assert value._optinfo == {} and value._basedict == {}
    return sorted(vars(value)), type(value.data), value._hardmask, value._fill_value, value._baseclass
