"""A pickle that calls os.system.

Wants: to run a command in the host
Against: `pickle.loads`
Since: 0.1
"""

from __future__ import annotations

import pickle

from gadgets import carried, reduced
from harness import expose

PICKLES = [reduced(protocol=protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]


def victim(data: bytes) -> None:
    pickle.loads(data)


def peer() -> str:
    assert all(expose(__name__, data).marked for data in PICKLES)
    return f"succeeds: the command runs, in all {len(PICKLES)} protocols"


def ours() -> str:
    return carried(*PICKLES)
