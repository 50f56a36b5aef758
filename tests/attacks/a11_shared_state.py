"""A pickle that changes a class of the host for good.

Wants: to set attributes of what all the program shares
Against: a `pickle.Unpickler` that allows one harmless class
Since: 0.1
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

import hookless
import hookless.records
import hookless.remote
from gadgets import carried
from harness import arrives, expose, naive

# BUILD sets each name of a pair's second half as an attribute, of whatever is on the stack: here a class.
PICKLE = (
    pickle.GLOBAL
    + b"fractions\nFraction\n"
    + b"("
    + pickle.NONE
    + b"("
    + pickle.SHORT_BINUNICODE
    + b"\x0a__format__"
    + pickle.GLOBAL
    + b"fractions\nFraction\n"
    + pickle.DICT
    + pickle.TUPLE
    + pickle.BUILD
    + b"."
)
NAMES = (
    "__class__",
    "__traceback__",
    "with_traceback",
    "args",
    "__dict__",
    "__notes__",
    "remote",
    "__setattr__",
)


class Restricted(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        assert (module, name) == ("fractions", "Fraction")
        return super().find_class(module, name)


def victim(data: bytes) -> None:
    from fractions import Fraction

    Restricted(io.BytesIO(data)).load()
    print(vars(Fraction)["__format__"] is Fraction)


def peer() -> str:
    assert expose(__name__, PICKLE).out.strip() == "True"
    return "succeeds: `fractions.Fraction.__format__` is another object from then on"


def snapshot() -> dict[str, dict[str, object]]:
    """All that stands in the classes that decoding can build, and in their modules."""
    modules = ("builtins", "decimal", "fractions", "hookless", "hookless.remote", "hookless.records")
    found = {name: dict(vars(sys.modules[name])) for name in modules}
    for name in modules:
        found |= {
            f"{name}.{key}": dict(vars(one)) for key, one in found[name].items() if isinstance(one, type)
        }
    return found


def ours() -> str:
    told = carried(PICKLE)
    hookless.warm_up()
    fields = [(naive.text(name), naive.text("planted")) for name in NAMES]
    failure = naive.frame(naive.exception(naive.entry("builtins", "OSError", fields=sorted(fields))))
    record = naive.frame(naive.record([(name, naive.text("planted")) for name in NAMES]))
    hookless.loads(failure)
    before = snapshot()
    error = hookless.loads(failure)
    arrives(record)
    assert snapshot() == before
    assert type(error).__mro__[1] is hookless.RemoteError and error.__traceback__ is None
    assert callable(error.with_traceback) and "planted" not in map(str, vars(error).values())
    return f"{told}; {len(NAMES)} such names are keys of a plain mapping, and no class has changed"
