"""A few bytes that announce gigabytes.

Wants: memory that is reserved on the word of a length
Against: `execnet.loads`, `pickle.load`
Since: 0.1
"""

from __future__ import annotations

import io
import pickle
import re
from pathlib import Path

import execnet

from harness import expose, naive, refused, within

# A list of 50 million entries, of which none is there.
LIST = b"\x02\x4b" + (50_000_000).to_bytes(4)
BYTES = b"\x80\x05" + pickle.BYTEARRAY8 + (2 << 30).to_bytes(8, "little")


def victim(data: bytes) -> None:
    try:
        if data[0] == 0x80:
            pickle.load(io.BytesIO(data))
        else:
            execnet.loads(data)
    except (EOFError, pickle.UnpicklingError, execnet.LoadError, IndexError) as error:
        del error
    peak = re.search(r"VmPeak:\s+(\d+)", Path("/proc/self/status").read_text())
    assert peak
    print(int(peak[1]) / 1024)


def peer() -> str:
    told = []
    for name, data in (("execnet", LIST), ("pickle", BYTES)):
        found = expose(__name__, data)
        assert found.status == 0, found.err
        assert float(found.out) > 400
        told.append(f"{name}: {len(data)} bytes reserve {within(float(found.out), 'MiB', most=4096)}")
    return f"succeeds: {'; '.join(told)}"


def ours() -> str:
    told = ""
    for head in (b"\xdd", b"\xdf", b"\xc6", b"\xdb", b"\xc9"):
        for length in (1_633_255_424, 0x7FFFFFFF, 0xFFFFFFFF):
            told = refused(naive.frame(head + length.to_bytes(4)), "truncated")
    for length in (2**63, 2**64 - 1):
        refused(naive.frame(b"\xc0", body_length=length), "body_limit", 16)
    refused(naive.frame(b"\xc0", data_length=2**60), "region_limit", 24)
    refused(naive.frame(b"\xdc\xff\xff" * 24_000), "truncated")
    return f"holds: {told}; lengths of the head stop at a limit; nothing is reserved before it has come"
