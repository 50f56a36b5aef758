"""Which class an exception of a child gets in the host: a fixed table, made once, and never from a name.

For each builtin Exception B there is a class that derives from RemoteError and B, so that `except B` works.
"""

from __future__ import annotations

import builtins

from hookless._fields import FILLERS, HIDDEN
from hookless._hookless import Failure, Limits, dumps, loads
from hookless.remote import RemoteError, RemoteErrorGroup, RemoteExit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["CLASSES", "error_of", "restore", "stored", "with_members"]

# Raised in the host they would be taken for something else: the end of an iteration, a call to be tried
# again, a task that was cancelled.
_PLAIN = {
    "builtins.StopIteration",
    "builtins.StopAsyncIteration",
    "builtins.InterruptedError",
    "builtins.BlockingIOError",
    "asyncio.exceptions.CancelledError",
    "concurrent.futures._base.CancelledError",
}

# The bit of `__flags__` that says that a class was made at run time.
_HEAP_TYPE = 1 << 9

# Exceptions that Python may show of a group. A report links each of its entries as often as it likes, but an
# honest one has no more to show than it has entries.
_SHOWN = 256

_GROUP: type[RemoteError] = RemoteErrorGroup


def _make() -> tuple[dict[str, type[RemoteError]], dict[type[RemoteError], Callable[[Any, Failure], None]]]:
    """Make the family; return its classes by the name of the builtin, and what sets their attributes."""
    table: dict[str, type[RemoteError]] = dict.fromkeys(_PLAIN, RemoteError)
    fillers: dict[type[RemoteError], Callable[[Any, Failure], None]] = {}
    for name, kind in vars(builtins).items():
        # Python's own and no alias: what a program adds to `builtins` is a class made at run time.
        if not isinstance(kind, type) or not issubclass(kind, BaseException) or kind.__name__ != name:
            continue
        full = f"builtins.{name}"
        if full in table or kind.__flags__ & _HEAP_TYPE:
            continue
        if kind is Exception or not issubclass(kind, Exception):
            table[full] = RemoteError
            continue
        body: dict[str, Any] = {"__module__": "hookless", "__doc__": f"A {name} of a child."}
        for base, hidden in HIDDEN.items():
            if issubclass(kind, base):
                body |= {field: hidden[field] for field in hidden if hasattr(kind, field)}
        made = type(f"Remote{name}", (RemoteError, kind), body)
        table[full] = made
        for base, fill in FILLERS.items():
            if issubclass(kind, base):
                fillers[made] = fill
    table["builtins.SystemExit"] = RemoteExit
    table["builtins.ExceptionGroup"] = RemoteErrorGroup
    return table, fillers


_TABLE, _FILLERS = _make()

CLASSES: tuple[type[RemoteError], ...] = tuple(dict.fromkeys(_TABLE.values()))
"""Every class of the family. What is exactly one of them is encoded as its descriptor."""


def _class_of(failure: Failure) -> type[RemoteError]:
    """Choose by the nearest class in the MRO, as told, that is in the table."""
    found = _TABLE.get(f"{failure.module}.{failure.qualname}")
    if found is not None:
        return found
    for name in failure.bases:
        found = _TABLE.get(name)
        if found is not None:
            return found
    return RemoteError


def error_of(failure: Failure, plain: bool = False) -> RemoteError:
    """Return the exception of a failure, with its causes, contexts and members, ready to be raised.

    With `plain` all of them are a RemoteError and nothing more.
    """
    kind = RemoteError if plain else _class_of(failure)
    if failure.cause is None and failure.context is None and kind is not _GROUP:
        return _single(failure, kind)
    return _line(failure, kind, plain) or _Builder(failure, plain).build()


def _line(failure: Failure, kind: type[RemoteError], plain: bool) -> RemoteError | None:
    """Return the exception of a failure that no group and no fork led to, as most are; None for any other."""
    line: list[tuple[Failure, type[RemoteError], bool, bool]] = []
    at: Failure | None = failure
    while at is not None:
        cause, context = at.cause, at.context
        if kind is _GROUP or (cause is not None and context is not None and context is not cause):
            return None
        line.append((at, kind, cause is not None, context is not None))
        at = cause or context
        if at is not None:
            kind = RemoteError if plain else _class_of(at)
    error: RemoteError | None = None
    while line:
        one, kind, caused, has_context = line.pop()
        below, error = error, _single(one, kind)
        if below is not None:
            _link(error, one, below if has_context else None, below if caused else None)
            below.__dict__["_brief"] = True
    return error


def _link(
    error: RemoteError, failure: Failure, context: RemoteError | None, cause: RemoteError | None
) -> None:
    if context is not None:
        error.__context__ = context
    if cause is not None:
        error.__cause__ = cause
    error.__suppress_context__ = failure.suppress_context


def _single(failure: Failure, kind: type[RemoteError]) -> RemoteError:
    error = kind(failure)
    fill = _FILLERS.get(kind)
    if fill is not None:
        fill(error, failure)
    if failure.suppress_context:
        # Also of one without a context: that may come when it is raised here.
        error.__suppress_context__ = True
    return error


class _Builder:
    """Makes the exceptions of one report, those that others link to first. It does not recurse."""

    def __init__(self, top: Failure, plain: bool) -> None:
        self.plain = plain
        self.top = top
        # By the address of the failure; `top` holds all of them.
        self.kinds: dict[int, type[RemoteError]] = {}
        self.made: dict[int, RemoteError] = {}
        # How many exceptions Python shows for a member, its own members included.
        self.sizes: dict[int, int] = {}
        # What Python shows by itself, and not inside a group.
        self.roots = {id(top)}

    def build(self) -> RemoteError:
        order = self._order()
        # How many exceptions one group may show, and how many more all of `roots` may.
        self.most = max(_SHOWN, len(order))
        self.left = 2 * self.most
        for failure in order:
            error = self.made[id(failure)] = self._one(failure)
            if failure is not self.top:
                error.__dict__["_brief"] = True
        return self.made[id(self.top)]

    def _order(self) -> list[Failure]:
        done: list[Failure] = []
        stack = [(self.top, False)]
        while stack:
            failure, ready = stack.pop()
            if ready:
                done.append(failure)
            elif id(failure) not in self.kinds:
                kind = self.kinds[id(failure)] = RemoteError if self.plain else _class_of(failure)
                stack.append((failure, True))
                for linked in (failure.cause, failure.context):
                    if linked is not None:
                        self.roots.add(id(linked))
                        stack.append((linked, False))
                if kind is _GROUP:
                    stack += [(member, False) for member in failure.members if id(member) not in self.kinds]
        return done

    def _one(self, failure: Failure) -> RemoteError:
        kind = self.kinds[id(failure)]
        members = self._members(failure) if kind is _GROUP else []
        if members:
            error: RemoteError = RemoteErrorGroup(failure, members)
        else:
            error = _single(failure, RemoteError if kind is _GROUP else kind)
        context, cause = failure.context, failure.cause
        _link(
            error,
            failure,
            None if context is None else self.made[id(context)],
            None if cause is None else self.made[id(cause)],
        )
        return error

    def _members(self, failure: Failure) -> list[RemoteError]:
        """Return the members that Python can show in bounded time. All of them are in `remote`."""
        kept, size = [], 1
        for member in failure.members:
            more = self.sizes.get(id(member), 1)
            if size + more > self.most:
                break
            kept.append(self.made[id(member)])
            size += more
        if id(failure) in self.roots:
            self.left -= size
            if self.left < 0:
                return []
        self.sizes[id(failure)] = size
        return kept


def with_members(failure: Failure, errors: Sequence[BaseException]) -> Failure:
    """Return the report of a group with other members."""
    from hookless.failure import describe

    members = tuple(one.remote if isinstance(one, RemoteError) else describe(one) for one in errors)
    return Failure(
        failure.module,
        failure.qualname,
        failure.bases,
        failure.message,
        failure.args,
        notes=failure.notes,
        fields=dict(failure.fields),
        denials=failure.denials,
        frames=failure.frames,
        cause=failure.cause,
        context=failure.context,
        suppress_context=failure.suppress_context,
        members=members,
        cut=failure.cut,
    )


def _widest() -> Limits:
    return Limits(**{name: most for name, (_, most) in Limits.TABLE.items()})


def stored(error: RemoteError) -> tuple[bytes, bool]:
    """Return what `restore` takes: the report as a frame, and whether the error is plain."""
    return dumps(error.remote, limits=_widest()), type(error) is RemoteError


def restore(frame: bytes, plain: bool) -> RemoteError:
    """Return the copy of an error: `copy` and `pickle` call it in the host, on what the host stored."""
    error: RemoteError = loads(frame, limits=_widest())
    return error_of(error.remote, plain=True) if plain and type(error) is not RemoteError else error
