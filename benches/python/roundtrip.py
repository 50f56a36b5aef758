"""What a round trip loses: a comparison by type and bits that names each loss and refuses a wrong value."""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

Losses = Counter[str]


class Mismatch(Exception):
    """The value that came back is another value, not the same one in a poorer type."""


def losses(sent: object, got: object) -> list[str]:
    """Return what `got` lost against `sent`, most frequent first: "tuple becomes list (3 796)".

    Raises Mismatch, with the path, if the values differ by more than their types.
    """
    found: Losses = Counter()
    _compare(sent, got, "$", found)
    return [
        what if count == 1 else f"{what} ({count:,})".replace(",", " ") for what, count in found.most_common()
    ]


def keeps_sharing(round_trip: Callable[[object], Any]) -> bool:
    """Whether an object that is reached twice arrives as one object."""
    shared = ["shared"]
    got = round_trip([shared, shared])
    return got[0] is got[1]


def _type(value: object) -> str:
    return type(value).__name__


def _compare(sent: Any, got: Any, path: str, found: Losses) -> None:
    if isinstance(sent, np.ndarray):
        _compare_arrays(sent, got, path, found)
        return
    if type(sent) is not type(got):
        found[f"{_type(sent)} becomes {_type(got)}"] += 1
    if isinstance(sent, dict):
        _compare_dicts(sent, got, path, found)
    elif isinstance(sent, set | frozenset):
        same_types = isinstance(got, Collection) and Counter(map(type, sent)) == Counter(map(type, got))
        if not same_types or sent != set(got):
            raise Mismatch(f"{path}: the members differ")
    elif isinstance(sent, list | tuple):
        _compare_sequences(sent, got, path, found)
    elif isinstance(sent, float):
        if not isinstance(got, float) or struct.pack("<d", sent) != struct.pack("<d", got):
            raise Mismatch(f"{path}: {sent!r} became {got!r}")
    elif sent != got:
        raise Mismatch(f"{path}: {sent!r:.60} became {got!r:.60}")


def _same_in_one_go(sent: Sequence[Any], got: Sequence[Any]) -> bool:
    """Whether two long flat sequences are equal to the bit; False means only: compare them one by one."""
    kinds = set(map(type, sent))
    if len(kinds) != 1 or kinds != set(map(type, got)):
        return False
    if kinds == {float}:
        return array("d", sent).tobytes() == array("d", got).tobytes()
    return kinds <= {int, str, np.int32} and list(sent) == list(got)


def _compare_sequences(sent: Sequence[Any], got: Any, path: str, found: Losses) -> None:
    if not isinstance(got, list | tuple) or len(sent) != len(got):
        raise Mismatch(f"{path}: {len(sent)} members became {got!r:.60}")
    if _same_in_one_go(sent, got):
        return
    for at, (one, other) in enumerate(zip(sent, got, strict=True)):
        _compare(one, other, f"{path}[{at}]", found)


def _compare_dicts(sent: Mapping[Any, Any], got: Any, path: str, found: Losses) -> None:
    if not isinstance(got, Mapping) or len(sent) != len(got):
        raise Mismatch(f"{path}: {len(sent)} entries became {got!r:.60}")
    if list(sent) != list(got) and set(sent) == set(got):
        found["order of keys changes"] += 1
        got = {key: got[key] for key in sent}
    for (key, one), (other_key, other) in zip(sent.items(), got.items(), strict=True):
        if type(key) is not type(other_key) and str(key) == other_key:
            found[f"{_type(key)} key becomes str"] += 1
        elif type(key) is not type(other_key) or key != other_key:
            raise Mismatch(f"{path}: key {key!r:.60} became {other_key!r:.60}")
        _compare(one, other, f"{path}[{key!r:.40}]", found)


def _compare_arrays(sent: np.ndarray[Any, Any], got: Any, path: str, found: Losses) -> None:
    if not isinstance(got, np.ndarray):
        found[f"array becomes {_type(got)}"] += 1
        got = np.asarray(got)
    if sent.dtype != got.dtype or sent.shape != got.shape:
        raise Mismatch(f"{path}: {sent.dtype}{list(sent.shape)} became {got.dtype}{list(got.shape)}")
    if np.ascontiguousarray(sent).tobytes() != np.ascontiguousarray(got).tobytes():
        raise Mismatch(f"{path}: the elements differ")
    if sent.flags.f_contiguous and not got.flags.f_contiguous:
        found["Fortran order becomes C"] += 1
    if not got.flags.writeable:
        found["array is read-only"] += 1
    if np.may_share_memory(sent, got):
        found["array is the sender's own memory"] += 1
