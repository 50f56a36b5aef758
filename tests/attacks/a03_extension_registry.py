"""A pickle's extension code, and every ext type of MessagePack.

Wants: to name by a number what another library registered
Against: `copyreg.add_extension`, `pickle.loads`
Since: 0.1
"""

from __future__ import annotations

import copyreg
import pickle

import harness
import hookless
from harness import expose, naive, quick

# What a pickle of two bytes and an argument calls where some library has registered it.
PICKLE = pickle.EXT1 + b"\x07" + pickle.EMPTY_TUPLE + pickle.REDUCE + b"."
PAYLOADS = [b"\x07", b"mark", b"harness\0mark", bytes(16), bytes(40)]


def victim(data: bytes) -> None:
    copyreg.add_extension("harness", "mark", 7)
    pickle.loads(data)


def peer() -> str:
    assert expose(__name__, PICKLE).marked
    return f"succeeds: {len(PICKLE)} bytes run what is registered"


def ours() -> str:
    copyreg.add_extension("harness", "mark", 7)
    taken, refused = set(), 0
    with quick():
        for code in range(256):
            for payload in PAYLOADS:
                try:
                    value = hookless.loads(naive.frame(naive.ext(code, payload)))
                except hookless.DecodeError:
                    refused += 1
                else:
                    taken.add(type(value).__module__)
    assert refused > 1000
    assert taken <= {
        "builtins",
        "datetime",
        "decimal",
        "fractions",
        "uuid",
        "ipaddress",
        "pathlib",
        "numpy",
        "hookless",
    }
    assert harness.refused(naive.frame(naive.ext(200, b"\x07")), "unknown_ext", 32)
    return "holds: no registry is asked; each of 256 types is a fixed kind or refused (`unknown_ext`)"
