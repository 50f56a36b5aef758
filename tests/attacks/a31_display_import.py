"""An ImportError that is imported when it is shown.

Wants: a module of the attacker's choice run by the display of an error
Against: `traceback` of an exception that came by pickle
Since: 0.1
"""

from __future__ import annotations

import pickle
import sys
import traceback
from pathlib import Path

import hookless
from gadgets import CODE
from harness import expose, failure, quick

# From CPython 3.12 on, the display looks for names that are like the missing one, in the module itself.
WOULD = sys.version_info >= (3, 12)
MODULE = "planted"


class Planted(ImportError):
    """A pickle keeps the state of an ImportError, in which the names are."""


def claim() -> ImportError:
    error = ImportError(f"cannot import name 'x' from '{MODULE}'", name=MODULE)
    if WOULD:
        error = ImportError(error.msg, name=MODULE, name_from="mark")  # type: ignore[call-arg]
    return error


def victim(data: bytes) -> None:
    Path(f"{MODULE}.py").write_text(CODE)
    sys.path.insert(0, "")
    error = pickle.loads(data)
    traceback.format_exception(error)


def child() -> None:
    """Raise it in the child."""
    raise claim()


def peer() -> str:
    assert expose(__name__, pickle.dumps(claim())).marked == WOULD
    return "succeeds: the module is imported and runs, from CPython 3.12 on"


def ours() -> str:
    Path(f"{MODULE}.py").write_text(CODE)
    sys.path.insert(0, "")
    error = failure(f"{__name__}:child")
    assert isinstance(error, hookless.RemoteError) and isinstance(error, ImportError)
    with quick():
        shown = "".join(traceback.format_exception(error))
    assert MODULE in shown and MODULE not in sys.modules
    assert (error.name, error.path, getattr(error, "name_from", None)) == (None, None, None)
    assert error.remote.fields["name"] == MODULE
    return (
        "holds: the fields are in `e.remote.fields`, and never on the exception, where the display would look"
    )
