"""Exceptions as they are read: one draft for each, its links cut where no report could hold them."""

from __future__ import annotations

from hookless._frames import RawFrame, frames_of
from hookless._safe import Broken, attempt, cap, exact_text, inherits, lineage, names, sendable, short_repr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hookless._hookless import Limits

__all__ = ["Draft", "collect"]

# Bytes of one argument or field, and how many arguments, notes and base classes are read.
_DATUM = 65_536
_ARGS = 256
_NOTES = 64
_BASES = 64

_BASE: Any = vars(BaseException)
_MEMBERS: Any = vars(BaseExceptionGroup)["exceptions"]

# What builtin classes keep beside their arguments. An AttributeError's `obj` may be anything: not read.
_FIELDS: dict[type[BaseException], tuple[str, ...]] = {
    OSError: ("errno", "strerror", "filename", "filename2", "characters_written"),
    SyntaxError: ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset"),
    UnicodeDecodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeEncodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeTranslateError: ("object", "start", "end", "reason"),
    ImportError: ("name", "path"),
    AttributeError: ("name",),
    NameError: ("name",),
    StopIteration: ("value",),
    SystemExit: ("code",),
}


class Draft:
    """One exception, read. `number` counts in the order of discovery."""

    def __init__(self, error: BaseException, number: int, limits: Limits) -> None:
        self.number = number
        self.cut: list[str] = []
        # What it links to; None where the link is cut.
        self.links: dict[str, Draft | None] = {}
        self.members: list[Draft | None] = []
        # Whether the walk is still below it; after that, the longest paths that begin here (X5).
        self.open, self.chain, self.groups = True, 1, 1
        self._read_names(error)
        self._read_message(error, limits.text)
        self._read_notes(error, limits.text)
        self._read_args(error)
        self._read_fields(error)
        # The frames that are kept, and how many there were.
        self.frames: list[RawFrame]
        self.frames, self.depth = frames_of(_BASE["__traceback__"].__get__(error), limits.frames)
        self.suppress_context: bool = _BASE["__suppress_context__"].__get__(error)

    def _read_names(self, error: BaseException) -> None:
        first, *others = lineage(type(error))
        self.module, self.qualname, true = names(first)
        self.cut += [] if true else ["name"]
        self.bases = [".".join(names(kind)[:2]) for kind in others[:_BASES]]
        self.cut += ["bases"] if len(others) > _BASES else []

    def _read_message(self, error: BaseException, most: int) -> None:
        shown = attempt(str, error)
        text = exact_text(shown)
        if text is None:
            reason = shown.type_name if isinstance(shown, Broken) else "no text"
            text = f"<unprintable {self.qualname}: str() gave {reason}>"
            self.cut.append("message")
        self.message = cap(text, most)
        if len(self.message) < len(text):
            self.cut.append("message")

    def _read_notes(self, error: BaseException, most: int) -> None:
        found = attempt(object.__getattribute__, error, "__notes__")
        if isinstance(found, Broken):  # There are none.
            found = ()
        elif type(found) not in (list, tuple):
            found = (found,)
            self.cut.append("notes")
        self.notes: list[str] = []
        for index, note in enumerate(found[:_NOTES]):
            text = exact_text(note)
            kept = short_repr(note) if text is None else cap(text, most)
            if kept != text:
                self.cut.append(f"notes[{index}]")
            self.notes.append(kept)
        if len(found) > _NOTES:
            self.cut.append(f"notes[{_NOTES}:{len(found)}]")

    def _read_args(self, error: BaseException) -> None:
        found: tuple[object, ...] = _BASE["args"].__get__(error)
        self.args = [self._datum(value, f"args[{index}]") for index, value in enumerate(found[:_ARGS])]
        if len(found) > _ARGS:
            self.cut.append(f"args[{_ARGS}:{len(found)}]")

    def _read_fields(self, error: BaseException) -> None:
        self.fields: dict[str, object] = {}
        for kind, fields in _FIELDS.items():
            if inherits(error, kind):
                for name in fields:
                    value = attempt(vars(kind)[name].__get__, error)
                    if value is not None and not isinstance(value, Broken):
                        self.fields[name] = self._datum(value, f"fields.{name}")

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

    def _datum(self, value: object, name: str) -> object:
        if sendable(value, _DATUM):
            return value
        self.cut.append(name)
        return short_repr(value)


def collect(error: BaseException, limits: Limits) -> list[Draft]:
    """Read an exception and what it leads to. Each draft stands behind those it links to, the first last.

    A link is cut, and named, when it leads back to an exception above (a cycle), when the path would be too
    long, and when there are too many exceptions.
    """
    first = Draft(error, 0, limits)
    # By address. The exceptions are held, so that no address is used twice.
    seen: dict[int, tuple[BaseException, Draft]] = {id(error): (error, first)}
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
            found = Draft(target, len(seen), limits)
            seen[id(target)] = (target, found)
            draft.link(name, found)
            stack.append((found, chain + 1, groups, _links(target)))
        else:
            draft.link(name, None)
    return done


def _links(error: BaseException) -> Iterator[tuple[str, BaseException]]:
    """Yield the exceptions that one leads to."""
    for name in ("cause", "context"):
        target: BaseException | None = _BASE[f"__{name}__"].__get__(error)
        if target is not None:
            yield name, target
    if inherits(error, BaseExceptionGroup):
        for target in _MEMBERS.__get__(error):
            yield "members", target
