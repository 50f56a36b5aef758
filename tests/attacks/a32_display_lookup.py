"""A NameError that is looked up when it is shown.

Wants: a property of a host's object run by the display of an error
Against: `traceback` of an exception that came by pickle
Since: 0.1
"""

from __future__ import annotations

import pickle
import sys
import traceback

import harness
import hookless
from harness import expose, failure

# From CPython 3.12 on, the display asks whether `self` of the host's own frame has that name.
WOULD = sys.version_info >= (3, 12)


class Store:
    """An object of the host, whose method decodes."""

    @property
    def drop_all(self) -> None:
        harness.mark()

    def load(self, error: BaseException) -> str:
        try:
            raise error
        except NameError as caught:
            return "".join(traceback.format_exception(caught))


def claim() -> NameError:
    return NameError("name 'drop_all' is not defined", name="drop_all")


def victim(data: bytes) -> None:
    error = pickle.loads(data)
    # Pickle keeps no `name`; a transport that keeps the fields of exceptions, as several do, sets it.
    error.name = "drop_all"
    Store().load(error)


def child() -> None:
    """Raise it in the child."""
    raise claim()


def peer() -> str:
    assert expose(__name__, pickle.dumps(claim())).marked == WOULD
    return "succeeds: the property runs, from CPython 3.12 on, where the transport keeps the fields"


def ours() -> str:
    error = failure(f"{__name__}:child")
    assert isinstance(error, NameError) and isinstance(error, hookless.RemoteError)
    shown = Store().load(error)
    assert "drop_all" in shown and "Did you mean" not in shown
    assert error.name is None and error.remote.fields["name"] == "drop_all"
    return "holds: `name` is in `e.remote.fields` alone; the property is not touched"
