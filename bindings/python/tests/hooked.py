"""Decodes the whole corpus in a fresh process under every hook, and says in JSON what was seen.

hooked.py corpus             all vectors, samples and pairs of keys
hooked.py mutations N SEED   N frames made of these by chance
hooked.py typed              results as types of the host
hooked.py traced             the corpus without a hook of Python's, for a trace of system calls
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import gc
import importlib.util
import itertools
import json
import os
import random
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import hookless
import naive
from samples import frames
from test_hostile import mutations
from test_vectors import Vector, vectors

if importlib.util.find_spec("numpy") is not None:
    importlib.import_module("ml_dtypes")
    hookless.use_numpy()

__all__ = ["corpus", "decode", "pairs"]


def _keys() -> list[Any]:
    """Keys of every kind, many of which hash alike."""
    from standard_samples import STANDARD

    found: list[Any] = [None, True, 1, 0, -1, -2, 1.0, 0.5, 1 + 0j, 0.5 + 0j, 2**64, "1", b"1", (1,), (1.0,)]
    found += [frozenset({1}), frozenset({1.0}), ..., float("nan"), 10**30, "safe", "unknown"]
    for values in STANDARD.values():
        found += [value for value in values if _is_key(value)]
    found += [hookless.Record("m", "q", {"x": one}) for one in (1, 1.0)] + [
        hookless.EnumValue("m", "q", "A", 1)
    ]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kinds = "bool_ int8 uint64 float16 float32 float64 complex64 complex128".split()
        found += [getattr(numpy, kind)(1) for kind in kinds]
        found += [numpy.float64(0.5), numpy.str_("1"), numpy.bytes_(b"1")]
    return found


def _is_key(value: object) -> bool:
    try:
        hookless.dumps({value: None})
    except (hookless.EncodeError, TypeError):
        return False
    return True


def pairs() -> Iterator[bytes]:
    """Tables of every two keys, equal ones too: so tables compare what hashes alike."""
    bodies = [hookless.dumps(key)[32:] for key in _keys()]
    for one, two in itertools.product(bodies, bodies):
        yield naive.frame(naive.mapping([(one, naive.NIL), (two, naive.NIL)]))


def corpus() -> list[tuple[bytes, hookless.Limits]]:
    """Frames, and the limits to decode them under."""
    found: list[tuple[bytes, hookless.Limits]] = []
    for folder in ("accept", "reject"):
        for one in vectors(folder, "decode"):
            vector: Vector = one.values[0]
            found.append((vector.frame, vector.limits))
    plain = hookless.Limits()
    found += [(frame, plain) for frame in frames().values()]
    found += [(frame, plain) for frame in pairs()]
    return found


def decode(frame: bytes, limits: hookless.Limits) -> int:
    """Every way in which bytes are decoded; how many of them gave a value."""
    good = 0
    for copy in (True, False):
        try:
            hookless.loads(frame, limits=limits, copy=copy)
            hookless.decode([frame[:40], frame[40:]], limits=limits, copy=copy)
            good += 1
        except hookless.DecodeError:
            pass
    decoder = hookless.Decoder(limits=limits)
    try:
        for start in range(0, len(frame), 1 + len(frame) // 3):
            good += len(decoder.feed(frame[start : start + 1 + len(frame) // 3]))
        decoder.finish()
    except hookless.DecodeError:
        pass
    return good


def warm() -> None:
    """What the first decode of a process does once: the fixed list of imports."""
    hookless.warm_up()
    decode(b"", hookless.Limits())


def mutated(count: int, seed: str) -> Iterator[bytes]:
    """Frames of the corpus with bits flipped, bytes cut, inserted, doubled. It imports at once."""
    chance = random.Random(seed)
    sources = [frame for frame, _ in corpus() if 33 < len(frame) < 2000]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        from numpy_samples import NUMPY

        sources += [hookless.dumps(value) for values in NUMPY.values() for value in values]
    return (frame for _ in range(count) for frame in mutations(chance.choice(sources), chance, 1))


def netmasks() -> set[str]:
    """The keys of what `ipaddress` keeps."""
    import ipaddress

    kinds: Any = ipaddress
    return {repr(key) for kind in (kinds._BaseV4, kinds._BaseV6) for key in kind._netmask_cache}


def under_hooks(cases: Iterator[tuple[bytes, hookless.Limits]]) -> None:
    """Decode with hooks and between two snapshots; what cannot be told apart afterwards fails here."""
    from entered import listed, strangers
    from snapshot import take
    from watching import watched

    before, good, count, zones, entered = take(), 0, 0, set[str](), set[tuple[str, str]]()
    masks = netmasks()
    # In parts, between which garbage is collected.
    while part := list(itertools.islice(cases, 5000)):
        with watched(functions=True) as seen:
            good += sum(decode(frame, limits) for frame, limits in part)
        count += len(part)
        assert not zones & set(seen.zones), "a file of a time zone was opened twice"
        zones |= set(seen.zones)
        entered |= strangers(seen.entered)
    changes = before.changes(take())
    told = {"good": good, "count": count, "zones": sorted(zones), "changes": changes}
    told["netmasks"] = sorted(netmasks() - masks)
    told |= {"unlisted": sorted(entered - listed()), "unseen": sorted(listed() - entered)}
    print(json.dumps(told))


@dataclasses.dataclass
class Point:
    """A class of the host's own."""

    x: float
    when: datetime.datetime | None = None
    tags: frozenset[str] = frozenset()


class Colour(enum.Enum):
    """Another."""

    RED = 1


def typed() -> None:
    """Frames that fit types of the host, and bent ones; the types have been looked at before."""
    from entered import listed, strangers
    from snapshot import take
    from watching import watched

    sent = [
        (list[int], [1, 2]), (dict[str, float], {"a": 1.5}), (Point, Point(1.5, None, frozenset({"a"}))),
        (tuple[Point, ...], (Point(0.5, datetime.datetime(2024, 1, 1)),)), (Colour, Colour.RED),
        (int | str | None, None), (dict[decimal.Decimal, uuid.UUID], {decimal.Decimal(1): uuid.UUID(int=1)}),
    ]  # fmt: skip
    wanted: list[Any] = [kind for kind, _ in sent]
    own = [hookless.dumps(value) for _, value in sent]
    chance = random.Random("typed")
    bent = [frame for one in own for frame in mutations(one, chance, 300)]

    def convert(frame: bytes) -> int:
        good = 0
        for kind in wanted:
            try:
                hookless.loads(frame, type=kind)
                good += 1
            except hookless.DecodeError:
                pass
        return good

    for frame in own:
        convert(frame)
    before = take()
    with watched(functions=True) as seen:
        good = sum(convert(frame) for frame in [*own, *bent])
    changes = before.changes(take())
    entered = sorted(strangers(seen.entered) - listed())
    print(
        json.dumps(
            {
                "good": good,
                "count": len(wanted) * (len(own) + len(bent)),
                "changes": changes,
                "unlisted": entered,
            }
        )
    )


def traced() -> None:
    """Decode the corpus between two marks on standard error."""
    cases = corpus()
    gc.disable()
    os.write(2, b"decoding begins\n")
    good = sum(decode(frame, limits) for frame, limits in cases)
    os.write(2, b"decoding has ended\n")
    print(json.dumps({"good": good, "count": len(cases)}))


def main() -> None:
    """See above."""
    match sys.argv[1:]:
        case ["corpus"]:
            cases = corpus()
            warm()
            under_hooks(iter(cases))
        case ["mutations", count, seed]:
            warm()
            changed, plain = mutated(int(count), seed), hookless.Limits()
            under_hooks((frame, plain) for frame in changed)
        case ["typed"]:
            warm()
            typed()
        case ["traced"]:
            warm()
            traced()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
