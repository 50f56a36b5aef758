"""A scanner that has not heard of it.

Wants: past a list of dangerous names
Against: `picklescan`, then `pickle.loads`
Since: 0.1
"""

from __future__ import annotations

import io
import pickle

from picklescan.scanner import scan_pickle_bytes

from gadgets import carried, short
from harness import MARKER, expose

PICKLE = (
    pickle.GLOBAL + b"io\nopen\n" + b"(" + short(MARKER) + short("w") + pickle.TUPLE + pickle.REDUCE + b"."
)


def victim(data: bytes) -> None:
    assert scan_pickle_bytes(io.BytesIO(data), "upload").issues_count == 0
    pickle.loads(data)


def peer() -> str:
    assert expose(__name__, PICKLE).marked
    return "succeeds: `io.open` raises no issue, and empties any file"


def ours() -> str:
    return f"{carried(PICKLE)}; there is one parser, and no scanner that could disagree with it"
