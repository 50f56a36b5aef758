"""Exceptions as they are read: one draft for each, its links cut where no report could hold them."""

from __future__ import annotations

from hookless._attributes import attributes_of, denials_of, fields_of
from hookless._frames import frames_of, shortened
from hookless._hookless import Failure, TraceFrame
from hookless._note import Told
from hookless._safe import (
    Broken,
    attempt,
    cap,
    exact_text,
    inherits,
    lineage,
    names,
    sendable,
    short_repr,
    without_addresses,
)
from hookless.remote import RemoteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    from hookless._hookless import Limits

    # What an entry of a report is read from.
    _Source: TypeAlias = BaseException | Failure

__all__ = ["Draft", "collect"]

# Bytes of one argument, and how many arguments, notes and base classes are read.
_DATUM = 65_536
_ARGS = 256
_NOTES = 64
_BASES = 64

_BASE: Any = vars(BaseException)
_MEMBERS: Any = vars(BaseExceptionGroup)["exceptions"]


class Draft:
    """One exception, read. `number` counts in the order of discovery."""

    module: str
    qualname: str
    bases: list[str]
    message: str
    notes: list[str]
    args: list[object]
    fields: dict[str, object]
    frames: list[TraceFrame]
    """Those that are kept."""
    depth: int
    """How many frames there were."""
    suppress_context: bool

    def __init__(self, number: int) -> None:
        self.number = number
        self.cut: list[str] = []
        self.denials: list[str] = []
        # What it links to; None where the link is cut.
        self.links: dict[str, Draft | None] = {}
        self.members: list[Draft | None] = []
        # Whether the walk is still below it; after that, the longest paths that begin here (X5).
        self.open, self.chain, self.groups = True, 1, 1

    def link(self, name: str, target: Draft | None) -> None:
        """Note where a link leads."""
        if name == "members":
            self.members.append(target)
        else:
            self.links[name] = target

    def close(self) -> None:
        """Say that everything below has been read."""
        linked = [one for one in self.links.values() if one is not None]
        members = [one for one in self.members if one is not None]
        self.chain = 1 + max((one.chain for one in linked), default=0)
        self.groups = max([1] + [one.groups for one in linked] + [one.groups + 1 for one in members])
        self.open = False

    def keep(self, value: object, name: str) -> object:
        """Return an argument, or its repr, and then name it."""
        if sendable(value, _DATUM):
            return value
        self.cut.append(name)
        return short_repr(value)


class _Live(Draft):
    """An exception of this process. `told` is the report of one that came from another process."""

    def __init__(self, error: BaseException, number: int, limits: Limits) -> None:
        super().__init__(number)
        told = told_by(error)
        self._read_names(error)
        self._read_message(error, limits.text, told)
        self._read_notes(error, limits.text)
        self._read_args(error, told)
        if told is None and any(one.startswith("args") for one in self.cut):
            # Python made the message of the same reprs.
            self.message = without_addresses(self.message)
        self.fields = {}
        if told is None:
            self.fields, cut = fields_of(error)
            more, cut_too = attributes_of(error)
            self.fields = more | self.fields
            self.cut += cut + cut_too
        else:
            self.fields = {name: self.keep(value, f"fields.{name}") for name, value in told.fields.items()}
        self.denials = denials_of(error)
        trace = _BASE["__traceback__"].__get__(error)
        self.frames, self.depth, whole = frames_of(trace, limits.frames, limits.text)
        self.cut += [] if whole else ["frames"]
        self.suppress_context = _BASE["__suppress_context__"].__get__(error)

    def _read_names(self, error: BaseException) -> None:
        first, *others = lineage(type(error))
        self.module, self.qualname, true = names(first)
        self.cut += [] if true else ["name"]
        self.bases = [".".join(names(kind)[:2]) for kind in others[:_BASES]]
        self.cut += ["bases"] if len(others) > _BASES else []

    def _read_message(self, error: BaseException, most: int, told: Failure | None) -> None:
        # The raw text of a remote error: what `str` gives was escaped for display.
        shown = attempt(str, error) if told is None else told.message
        text = exact_text(shown)
        if text is None:
            reason = shown.type_name if isinstance(shown, Broken) else "no text"
            text = f"<unprintable {self.qualname}: str() gave {reason}>"
            self.cut.append("message")
        self.message = cap(text, most)
        if len(self.message) < len(text):
            self.cut.append("message")

    def _read_notes(self, error: BaseException, most: int) -> None:
        self.notes = []
        if inherits(error, RemoteError):
            # Not made now, if they are not there yet: they would say what the descriptor says.
            found = attempt(lambda: _BASE["__dict__"].__get__(error).get("_notes", ()))
        else:
            found = attempt(object.__getattribute__, error, "__notes__")
        if isinstance(found, Broken):  # There are none.
            found = ()
        elif type(found) not in (list, tuple):
            found = (found,)
            self.cut.append("notes")
        found = [note for note in found if type(note) is not Told]
        for index, note in enumerate(found[:_NOTES]):
            text = exact_text(note)
            kept = short_repr(note) if text is None else cap(text, most)
            if kept != text:
                self.cut.append(f"notes[{index}]")
            self.notes.append(kept)
        if len(found) > _NOTES:
            self.cut.append(f"notes[{_NOTES}:{len(found)}]")

    def _read_args(self, error: BaseException, told: Failure | None) -> None:
        found: tuple[object, ...] = _BASE["args"].__get__(error) if told is None else told.args
        self.args = [self.keep(value, f"args[{index}]") for index, value in enumerate(found[:_ARGS])]
        if len(found) > _ARGS:
            self.cut.append(f"args[{_ARGS}:{len(found)}]")


class _Told(Draft):
    """An exception that came from another process, as it came."""

    def __init__(self, failure: Failure, number: int, limits: Limits) -> None:
        super().__init__(number)
        self.cut += failure.cut
        self.module, self.qualname, self.bases = failure.module, failure.qualname, list(failure.bases)
        self.message, self.notes, self.denials = failure.message, list(failure.notes), list(failure.denials)
        self.args = [self.keep(value, f"args[{index}]") for index, value in enumerate(failure.args)]
        self.fields = {name: self.keep(value, f"fields.{name}") for name, value in failure.fields.items()}
        found, most = failure.frames, limits.frames
        self.depth = len(found)
        if self.depth > most:
            found = found[: most // 2] + found[self.depth - (most - most // 2) :]
        self.frames = [shortened(one, limits.text) for one in found]
        if any(one is not kept for one, kept in zip(found, self.frames, strict=True)):
            self.cut.append("frames")
        self.suppress_context = failure.suppress_context


def told_by(error: BaseException) -> Failure | None:
    """Return the report that a remote error was made from."""
    if not inherits(error, RemoteError):
        return None
    found = attempt(lambda: _BASE["__dict__"].__get__(error).get("remote"))
    return found if type(found) is Failure else None


def draft_of(source: _Source, number: int, limits: Limits) -> Draft:
    """Read one exception, without what it leads to."""
    return _Told(source, number, limits) if type(source) is Failure else _Live(source, number, limits)


def collect(error: BaseException, limits: Limits) -> list[Draft]:
    """Read an exception and what it leads to. Each draft stands behind those it links to, the first last.

    A link is cut, and named, when it leads back to an exception above (a cycle), when the path would be too
    long, and when there are too many exceptions.
    """
    first = draft_of(error, 0, limits)
    # By address. The exceptions are held, so that no address is used twice.
    seen: dict[int, tuple[_Source, Draft]] = {id(error): (error, first)}
    # With the number of exceptions on the path that leads there by cause and context, and by members.
    stack = [(first, 1, 1, _links(error))]
    done: list[Draft] = []
    while stack:
        draft, chain, groups, links = stack[-1]
        link = next(links, None)
        if link is None:
            draft.close()
            done.append(draft)
            stack.pop()
            continue
        name, target = link
        if name == "members":
            chain, groups = 0, groups + 1
        if id(target) in seen:
            _, found = seen[id(target)]
            fits = not found.open and chain + found.chain <= limits.chain
            draft.link(name, found if fits and groups + found.groups - 1 <= limits.group_depth else None)
        elif len(seen) < limits.exceptions and chain < limits.chain and groups <= limits.group_depth:
            found = draft_of(target, len(seen), limits)
            seen[id(target)] = (target, found)
            draft.link(name, found)
            stack.append((found, chain + 1, groups, _links(target)))
        else:
            draft.link(name, None)
    return done


def _links(source: _Source) -> Iterator[tuple[str, _Source]]:
    """Yield what an exception leads to."""
    if type(source) is Failure:
        for name, linked in (("cause", source.cause), ("context", source.context)):
            if linked is not None:
                yield name, linked
        for member in source.members:
            yield "members", member
        return
    assert isinstance(source, BaseException)
    yield from _chain(source)
    if inherits(source, BaseExceptionGroup):
        for target in _MEMBERS.__get__(source):
            yield "members", as_it_came(target)


def _chain(error: BaseException) -> Iterator[tuple[str, _Source]]:
    told = told_by(error)
    found: dict[str, BaseException | None] = {
        name: _BASE[f"__{name}__"].__get__(error) for name in ("cause", "context")
    }
    if told is None:
        for name, target in found.items():
            if target is not None:
                yield name, as_it_came(target)
        return
    # Raised again in this process, it is a new failure, and what came before is its cause. Another cause that
    # the program has given it takes the place of the context.
    yield "cause", told
    for name, target in found.items():
        if target is not None and told_by(target) is not getattr(told, name):
            yield "context", as_it_came(target)
            return


def as_it_came(error: BaseException) -> _Source:
    """Return the report of a remote error that was not raised in this process; any other as it is."""
    if _BASE["__traceback__"].__get__(error) is not None:
        return error
    return told_by(error) or error
