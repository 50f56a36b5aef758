"""What the tables of one conversion cost together: many small ones add up, as in a decoder."""

from __future__ import annotations

import threading

from hookless._hookless import KeyCosts

__all__ = ["costs", "running"]


class _Running(threading.local):
    """The costs of the conversion that this thread runs, once it has built a table."""

    costs: KeyCosts | None = None


running = _Running()


def costs() -> KeyCosts:
    """Return what the conversion that this thread runs has cost so far."""
    if running.costs is None:
        running.costs = KeyCosts()
    return running.costs
