"""A memo that multiplies: the billion laughs.

Wants: to keep the host busy for ever with a few hundred bytes
Against: `pickle.loads` behind a check of opcodes, then a walk over what came
Since: 0.1
"""

from __future__ import annotations

import pickle
import pickletools

import hookless
from gadgets import carried
from harness import expose, quick

DEPTH = 40


def doubled(depth: int) -> object:
    value: object = []
    for _ in range(depth):
        value = [value, value]
    return value


PICKLE = pickle.dumps(doubled(DEPTH))


def count(value: object) -> int:
    """What any validator does that forgets where it has been."""
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


def victim(data: bytes) -> None:
    # As a known sandbox checks its pickles: few opcodes, marks not deep, nothing that names code.
    opcodes = [code.name for code, _, _ in pickletools.genops(data)]
    assert len(opcodes) < 100_000
    assert not {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ"} & set(opcodes)
    count(pickle.loads(data))


def peer() -> str:
    found = expose(__name__, PICKLE, seconds=4)
    assert found.hung, found
    return f"succeeds: {len(PICKLE)} bytes pass the check, and the walk over 2^{DEPTH} lists has no end"


def ours() -> str:
    # The wire has no back-reference: each list is written out, and the honest encoder stops at a limit.
    limits = hookless.Limits(nodes=1 << 16)
    with quick():
        try:
            hookless.dumps(doubled(DEPTH), limits=limits)
        except hookless.EncodeError as error:
            assert error.code == "node_limit"
        else:
            raise AssertionError("2^40 lists were written")
        small = hookless.dumps(doubled(10))
        assert len(small) >= 2**11
    return (
        f"{carried(PICKLE)}; there are no references to multiply by: a tree of 2^10 lists takes "
        f"{len(small)} bytes"
    )
