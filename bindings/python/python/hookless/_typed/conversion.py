"""What `type=`, `returns=` and `hookless.convert` come to: a conversion that is planned once and kept."""

from __future__ import annotations

import threading
from typing import Any

from hookless._typed.costs import running
from hookless._typed.foreign import Adapted, is_adapter
from hookless._typed.mismatch import Mismatch
from hookless._typed.nodes import Node
from hookless._typed.plan import plan
from hookless.errors import DecodeError, LimitExceeded

__all__ = ["Conversion", "conversion"]

# Conversions that are kept. Types that a program writes are few; those that it makes in a loop are not.
_MOST = 256

_kept: dict[Any, Conversion] = {}
# Not a Lock: a signal handler or a finaliser may convert as well, and come while it is held.
_lock = threading.RLock()


class Conversion:
    """From an inert value to a value of the type that was asked for."""

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def __call__(self, value: Any) -> Any:
        """Return the value as that type. Raises DecodeError, with the path to what does not fit."""
        # A class of the host may convert something else while it is made.
        outer, running.costs = running.costs, None
        try:
            return self._node.run(value)
        except Mismatch as error:
            raise DecodeError(error.text, code=error.code, path=error.path) from error.__cause__
        except RecursionError:
            message = "the value is nested more deeply than this thread's stack lets a conversion go"
            raise LimitExceeded(message, code="depth_limit", path="$") from None
        finally:
            running.costs = outer


def conversion(wanted: Any) -> Conversion:
    """Return the conversion to a type. Raises TypeError, naming what cannot be asked for."""
    if is_adapter(wanted):
        return Conversion(Adapted(wanted, "what the TypeAdapter takes"))
    # Types compare equal that do not mean the same, such as unions in another order.
    key = (wanted, repr(wanted))
    try:
        kept = _kept.get(key)
    except TypeError:  # Not hashable: `Annotated[int, [1]]`, or no type at all.
        return Conversion(plan(wanted))
    if kept is None:
        made = Conversion(plan(wanted))
        with _lock:
            if len(_kept) >= _MOST:
                del _kept[next(iter(_kept))]  # The oldest.
            kept = _kept.setdefault(key, made)
    return kept
