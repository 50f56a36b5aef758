"""Hypothesis strategies for every kind that needs no NumPy, with the corners that are easy to lose."""

from __future__ import annotations

import struct
import sys
from collections import Counter, OrderedDict, deque
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

import hookless
import strategies_standard as standard

__all__ = ["keys", "leaves", "records", "splits", "values"]


def _of_bits(bits: int) -> float:
    return float(struct.unpack(">d", bits.to_bytes(8))[0])


# By bits, so that NaN payloads, signalling NaNs and both zeros occur.
floats = st.one_of(
    st.integers(0, 2**64 - 1).map(_of_bits), st.floats(), st.sampled_from([0.0, -0.0, 1.0, -1.0])
)
complexes = st.builds(complex, floats, floats)
integers = st.one_of(
    st.integers(-40, 300),
    st.integers(-(2**64), 2**65),
    st.integers(-(2**600), 2**600),
    st.builds(
        lambda k, d, s: s * (2**k + d), st.integers(0, 130), st.integers(-1, 1), st.sampled_from([1, -1])
    ),
)
# All code points, lone surrogates included.
texts = st.one_of(
    st.text(), st.text(st.characters(categories=["Cs", "Lu", "So"])), st.text(alphabet="ab", max_size=300)
)
binaries = st.one_of(st.binary(max_size=300), st.integers(16_380, 16_390).map(bytes))

_atoms = st.one_of(st.none(), st.booleans(), integers, floats, complexes, texts, binaries, standard.keyables)
leaves = st.one_of(_atoms, binaries.map(bytearray), standard.others)


def _distinct(members: list[Any]) -> list[Any]:
    """Drops what is one key with an earlier one (K3), and what does not stand beside it (K8)."""
    found: dict[Any, Any] = {}
    marks: set[str] = set()
    for member in members:
        if len(marks | _marks(member)) < 2:
            marks |= _marks(member)
            found.setdefault(_key_form(member), member)
    return list(found.values())


def _marks(key: Any) -> set[str]:
    """Which of the two kinds that K8 keeps apart lie in a key."""
    if isinstance(key, tuple | frozenset):
        return {mark for item in key for mark in _marks(item)}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(key, numpy.generic):
        return {"numpy"}
    return {"decimal"} if type(key) is Decimal else set()


def _key_form(key: Any) -> Any:
    if isinstance(key, float) and key != key:
        return ("nan", struct.pack(">d", key))
    if isinstance(key, complex) and key != key:
        # Adding 0.0 makes the sign of a zero part positive; a NaN keeps its bits.
        parts = (part if part != part else part + 0.0 for part in (key.real, key.imag))
        real, imaginary = (struct.pack(">d", part) for part in parts)
        return ("nan", real, imaginary)
    if type(key) is Decimal and key.is_nan():
        return ("decimal nan", key.as_tuple())
    if type(key) is hookless.ForeignPath:
        return key.pure
    if type(key) is tuple:
        return ("tuple", tuple(_key_form(item) for item in key))
    if type(key) is frozenset:
        return ("frozenset", frozenset(_key_form(member) for member in key))
    if type(key) in (hookless.Record, hookless.NamedRecord):
        fields = tuple((name, _key_form(part)) for name, part in key.items())
        return (type(key), key.module, key.qualname, fields)
    if type(key) is hookless.EnumValue:
        return ("member", key.module, key.qualname, key.name, _key_form(key.value))
    return key


# Names of classes and fields: few, so that equal ones come up, and now and then any text.
names = st.one_of(st.sampled_from(["a", "b", "Q.<locals>.R"]), st.text(min_size=1, max_size=12))


def records(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Records, named records and enum members around other values."""
    fields = st.dictionaries(names, inner, max_size=4)
    return st.one_of(
        st.builds(hookless.Record, names, names, fields),
        st.builds(hookless.NamedRecord, names, names, fields),
        st.builds(hookless.EnumValue, names, names, st.one_of(st.none(), names), inner),
    )


def keys(atoms: st.SearchStrategy[Any] = _atoms) -> st.SearchStrategy[Any]:
    """Keyable values, nested in tuples, frozensets and records."""
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4).map(tuple),
            st.lists(inner, max_size=4).map(_distinct).map(frozenset),
            records(inner),
        ),
        max_leaves=8,
    ).filter(lambda key: len(_marks(key)) < 2)


def values(
    items: st.SearchStrategy[Any] = leaves, atoms: st.SearchStrategy[Any] = _atoms
) -> st.SearchStrategy[Any]:
    """Any value of the closed set: containers of each other, with keys of every keyable kind."""
    keyed = keys(atoms)
    counts = st.lists(st.one_of(integers, st.booleans(), floats), max_size=5)

    def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.lists(inner, max_size=6)
        tables = st.lists(keyed, max_size=5).map(_distinct)
        return st.one_of(
            lists,
            lists.map(tuple),
            tables.map(set),
            tables.map(frozenset),
            records(inner),
            *(
                st.builds(
                    lambda found, held, kind=kind: kind(zip(found, held, strict=False)),
                    tables,
                    st.lists(inner),
                )
                for kind in (dict, OrderedDict)
            ),
            st.builds(lambda found, held: Counter(dict(zip(found, held, strict=False))), tables, counts),
            st.builds(deque, lists, st.sampled_from([None, 0, 1, 4, 2**63 - 1])),
            st.builds(slice, inner, inner, inner),
        )

    return st.recursive(items, containers, max_leaves=25)


@st.composite
def splits(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The data in any pieces, empty ones included."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=12)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
