"""`describe`: an exception as an inert `Failure`. It never fails: what cannot be sent is cut, and named.

The encoder asks for it when it meets a live exception, and a worker's child when a call has failed.
"""

from __future__ import annotations

import itertools

from hookless._attributes import DENIALS
from hookless._draft import Draft, collect
from hookless._frames import shortened
from hookless._hookless import Failure, Limits, TraceFrame, dumps, encodable, plain_failure
from hookless._safe import Broken, attempt, cap, lineage, names, short_repr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


__all__ = ["describe"]

# Bytes of an argument or a field that stays as it is when space is short.
_SHORT = 256


class _Rung:
    """How much of a report is sent; one that is too large is tried again one rung lower.

    At most so many frames of each exception, bytes of each text, and exceptions; notes, arguments and fields
    all, short or none; base classes or none. The drafts have texts of `limits.text` bytes already.
    """

    __slots__ = ("bases", "data", "entries", "frames", "shortens", "text")

    def __init__(
        self,
        *,
        frames: int,
        text: int,
        entries: int,
        data: str = "all",
        bases: bool = True,
        shortens: bool = True,
    ) -> None:
        self.frames, self.text, self.entries, self.data, self.bases = frames, text, entries, data, bases
        self.shortens = shortens


def _whole(limits: Limits) -> _Rung:
    return _Rung(frames=limits.frames, text=limits.text, entries=limits.exceptions, shortens=False)


def _ladder(limits: Limits) -> list[_Rung]:
    """Return the rungs below that of `_whole`."""
    frames, text, entries = limits.frames, limits.text, limits.exceptions
    return [
        _Rung(frames=min(frames, 32), text=text, entries=entries),
        _Rung(frames=min(frames, 32), text=text, entries=entries, data="short"),
        _Rung(frames=min(frames, 16), text=min(text, 2048), entries=entries, data="short"),
        _Rung(frames=min(frames, 8), text=min(text, 512), entries=8, data="none"),
        _Rung(frames=min(frames, 2), text=min(text, 256), entries=1, data="none"),
        _Rung(frames=0, text=min(text, 128), entries=1, data="none"),
        _Rung(frames=0, text=min(text, 64), entries=1, data="none", bases=False),
    ]


def describe(
    error: BaseException, limits: Limits | None = None, *, denials: Sequence[str] = (), complete: bool = True
) -> Failure:
    """Return what is known of an exception, of its causes and contexts, and of its members if it is a group.

    It fits into `limits` if anything does. Frames go first, then arguments, text, links. `denials` are put
    before those that the exception and its chain carry; unless they are `complete`, `cut` says so.
    """
    limits = limits or Limits()
    if not denials and complete:
        plain = attempt(plain_failure, error, limits)
        if type(plain) is Failure:
            return plain
    found = attempt(_describe, error, limits, denials, complete)
    if not isinstance(found, Broken):
        return found
    # Foreign code has broken what we need, or there is no memory for more.
    module, qualname, _ = names(type(error))
    bases = tuple(".".join(names(kind)[:2]) for kind in lineage(type(error))[1:4])
    message = f"<not described: {found.type_name}>"
    return Failure(cap(module, 64), cap(qualname, 64), bases, message, cut=("message", "args", "frames"))


def _describe(error: BaseException, limits: Limits, denials: Sequence[str], complete: bool) -> Failure:
    drafts = collect(error, limits)
    _gather_denials(drafts, denials, complete)
    failure = _build(drafts, _whole(limits))
    if not isinstance(attempt(_encode, failure, limits), Broken):
        return failure
    ladder = _ladder(limits)
    for rung in ladder[:-1]:
        failure = _build(drafts, rung)
        if not isinstance(attempt(_encode, failure, limits), Broken):
            return failure
    return _build(drafts, ladder[-1])


def _gather_denials(drafts: list[Draft], denials: Sequence[str], complete: bool) -> None:
    """Give the first exception the denials of all, outermost first, each once."""
    outermost = sorted(drafts, key=lambda draft: draft.number)
    first = outermost[0]
    found = dict.fromkeys([*denials, *(text for draft in outermost for text in draft.denials)])
    first.denials = list(found)[:DENIALS]
    if len(found) > DENIALS or not complete:
        first.cut.append("denials")


def _encode(failure: Failure, limits: Limits) -> None:
    dumps(failure, limits=limits)


def _build(drafts: list[Draft], rung: _Rung) -> Failure:
    """Make the failures of a report, those that others link to first; return that of the first exception."""
    made: dict[int, Failure] = {}
    for draft in drafts:
        if draft.number < rung.entries:
            made[draft.number] = _Entry(draft, rung, made).build()
    return made[0]


class _Entry:
    """One exception on its way from draft to failure; `cut` names what is lost."""

    def __init__(self, draft: Draft, rung: _Rung, made: dict[int, Failure]) -> None:
        self.draft, self.rung, self.made = draft, rung, made
        self.cut: list[str] = []

    def build(self) -> Failure:
        draft, rung = self.draft, self.rung
        bases = draft.bases if rung.bases else []
        frames = self.frames()
        notes, args, fields = self.data()
        denials = self.denials()
        parts = (
            self.text(draft.module, "module"),
            self.text(draft.qualname, "qualname"),
            tuple(self.text(base, "bases") for base in bases),
            self.text(draft.message, "message"),
            args,
        )
        cause, context = self.link("cause"), self.link("context")
        members = self.members()
        return Failure(
            *parts,
            notes=notes,
            fields=fields,
            denials=denials,
            frames=frames,
            cause=cause,
            context=context,
            suppress_context=draft.suppress_context,
            members=members,
            cut=tuple(dict.fromkeys(self.cut)),
        )

    def text(self, value: str, name: str) -> str:
        kept = cap(value, self.rung.text)
        if len(kept) < len(value):
            self.cut.append(name)
        return kept

    def data(self) -> tuple[tuple[str, ...], tuple[object, ...], dict[str, object]]:
        """Notes, arguments and fields."""
        draft, parts = self.draft, ("notes", "args", "fields")
        if self.rung.data == "none":
            self.cut += [one for one in draft.cut if not one.startswith(parts)]
            self.cut += [one for one in parts if getattr(draft, one)]
            return (), (), {}
        self.cut += draft.cut
        notes = tuple(self.text(note, f"notes[{index}]") for index, note in enumerate(draft.notes))
        if self.rung.data == "all":
            return notes, tuple(draft.args), draft.fields
        args = tuple(self.short(value, f"args[{index}]") for index, value in enumerate(draft.args))
        fields = {name: self.short(value, f"fields.{name}") for name, value in draft.fields.items()}
        return notes, args, fields

    def denials(self) -> tuple[str, ...]:
        """As many as there is room for: they are short, and say what an answer to the failure may be."""
        most = len(self.draft.denials) if self.rung.data == "all" else 8 if self.rung.bases else 0
        if most < len(self.draft.denials):
            self.cut.append("denials")
        return tuple(self.text(one, "denials") for one in self.draft.denials[:most])

    def short(self, value: object, name: str) -> object:
        if encodable(value, _SHORT):
            return value
        self.cut.append(name)
        return short_repr(value)

    def frames(self) -> tuple[TraceFrame, ...]:
        found, most = self.draft.frames, self.rung.frames
        if self.draft.depth > most:
            # The first and the last ones say most; a recursion fills the middle.
            first, last = most // 2, most - most // 2
            found = found[:first] + found[len(found) - last :]
            self.cut.append(f"frames[{first}:{self.draft.depth - last}]")
        return tuple(self.frame(one) for one in found) if self.rung.shortens else tuple(found)

    def frame(self, frame: TraceFrame) -> TraceFrame:
        kept = shortened(frame, self.rung.text)
        if kept is not frame:
            self.cut.append("frames")
        return kept

    def link(self, name: str) -> Failure | None:
        if name not in self.draft.links:
            return None
        target = self.draft.links[name]
        found = None if target is None else self.made.get(target.number)
        if found is None:
            self.cut.append(name)
        return found

    def members(self) -> tuple[Failure, ...]:
        found = [None if one is None else self.made.get(one.number) for one in self.draft.members]
        self.cut += [f"members[{first}:{end}]" for first, end in _gaps(found)]
        return tuple(one for one in found if one is not None)


def _gaps(found: list[Failure | None]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of members that are missing."""
    missing = [index for index, one in enumerate(found) if one is None]
    for _, run in itertools.groupby(enumerate(missing), lambda pair: pair[1] - pair[0]):
        indices = [index for _, index in run]
        yield indices[0], indices[-1] + 1
