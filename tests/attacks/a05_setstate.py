"""A class of the host whose `__setstate__` does something.

Wants: a side effect of the host's own code, with a state of the attacker's choice
Against: `pickle.loads`
Since: 0.1
"""

from __future__ import annotations

import pickle

import harness
from gadgets import carried
from harness import MARKER, expose, inert, naive
from hookless import Record


class Lease:
    """Opens its file again when it comes back, as loggers and locks do."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __setstate__(self, state: dict[str, str]) -> None:
        self.path = state["path"]
        with open(self.path, "w"):
            pass


PICKLE = pickle.dumps(Lease(MARKER))


def victim(data: bytes) -> None:
    pickle.loads(data)


def peer() -> str:
    assert expose(__name__, PICKLE).marked
    return "succeeds: the file of the attacker's choice is opened and emptied"


def ours() -> str:
    found = inert(
        naive.frame(naive.record([("path", naive.text(MARKER))], module=__name__, qualname="Lease")),
        Record(__name__, "Lease", {"path": MARKER}),
    )
    assert not isinstance(found, Lease)
    assert found["path"] == harness.MARKER
    return f"{carried(PICKLE)}; a record of that name is a `Record`, though the class is loaded"
