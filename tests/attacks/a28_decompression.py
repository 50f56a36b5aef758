"""A frame that unpacks to a thousand times its size.

Wants: memory by way of a compressed message
Against: `zlib.decompress` of a message
Since: 0.1
"""

from __future__ import annotations

import gzip
import resource
import zlib

from harness import expose, naive, refused, within

BOMB = zlib.compress(bytes(256 << 20), 9)


def victim(data: bytes) -> None:
    assert len(zlib.decompress(data)) == 256 << 20
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def peer() -> str:
    found = expose(__name__, BOMB)
    return f"succeeds: {len(BOMB) // 1000} kB become {within(float(found.out), 'MiB', most=4096)}"


def ours() -> str:
    told = refused(BOMB, "bad_magic", 0)
    refused(gzip.compress(naive.frame(b"\xc0")), "bad_magic", 0)
    for flags in (1, 2, 0x8000, 0xFFFF):
        refused(naive.frame(b"\xc0", flags=flags), "bad_flags", 6)
    return f"holds: {told}; nothing is compressed, and a flag that said so is `bad_flags`"
