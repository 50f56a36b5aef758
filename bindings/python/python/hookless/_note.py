"""The remote traceback as text: escaped, each line marked as the child's, at most a few screens long."""

from __future__ import annotations

from hookless._hookless import Failure, TraceFrame
from hookless.display import MARK, escape, escape_line, sandboxed

__all__ = ["Told", "note_of"]

# All of it is in the descriptor; what is shown stays readable.
_LINES = 400
_FRAMES = 24
_LINE = 500
_MESSAGE = 4000
_TEXTS = 8
_CHAIN = 16
_NESTING = 3
# Exceptions shown in all: a small report can link each of its entries many times over.
_SHOWN = 48
# The same of an exception that Python shows below or inside another one: there may be hundreds.
_BRIEF_LINES = 60
_BRIEF_FRAMES = 12
_BRIEF_MESSAGE = 1000

_BY_CAUSE = "The above exception was the direct cause of the following exception:"
_BY_CONTEXT = "During handling of the above exception, another exception occurred:"

# Ours, around text that is escaped: for a terminal.
_COLOURS = {
    "name": "\x1b[1;31m",
    "text": "\x1b[31m",
    "file": "\x1b[36m",
    "source": "\x1b[1m",
    "aside": "\x1b[2m",
}
_RESET = "\x1b[0m"


class Told(str):
    """A note that hookless made, not the user."""

    __slots__ = ()


def note_of(
    failure: Failure,
    *,
    chain: bool = True,
    members: int | None = None,
    brief: bool = False,
    colour: bool = False,
) -> Told:
    """Return the traceback of a failure and of what led to it, what was raised last at the end.

    Without `chain` what led to it is left out, and with `members` that many members, because they are shown
    elsewhere. A `brief` one is short, and tells of members by number. With `colour` it is for a terminal.
    """
    teller = _Teller(colour, brief)
    nesting = 0 if brief else _NESTING
    body = teller.chain(failure, nesting, members) if chain else teller.single(failure, nesting, members)
    lines = [teller.put("aside", "Remote traceback, as the child tells it:")]
    most = _BRIEF_LINES if brief else _LINES
    lines += body[-most:]
    if len(body) > most:
        lines.insert(1, f"({len(body) - most} lines left out)")
    return Told(f"\n{MARK}".join(lines))


class _Teller:
    """Makes the lines. Every text of the child's is escaped before it is coloured."""

    def __init__(self, colour: bool, brief: bool) -> None:
        self.colour = colour
        self.most_frames = _BRIEF_FRAMES if brief else _FRAMES
        self.most_message = _BRIEF_MESSAGE if brief else _MESSAGE
        # Ids of the failures that are told already.
        self.shown: set[int] = set()

    def put(self, what: str, text: str) -> str:
        return f"{_COLOURS[what]}{text}{_RESET}" if self.colour and text else text

    def chain(self, failure: Failure, nesting: int, members: int | None = None) -> list[str]:
        """Lines of an exception and of the causes and contexts behind it."""
        chain = [(failure, "")]
        while len(chain) < _CHAIN:
            last = chain[-1][0]
            if last.cause is not None:
                chain.append((last.cause, _BY_CAUSE))
            elif last.context is not None and not last.suppress_context:
                chain.append((last.context, _BY_CONTEXT))
            else:
                break
        lines: list[str] = []
        for one, joint in reversed(chain):
            lines += self.single(one, nesting, members if one is failure else None)
            if joint:
                lines += ["", joint, ""]
        return lines

    def single(self, failure: Failure, nesting: int, members: int | None = None) -> list[str]:
        """Lines of one exception, with its members unless they are shown elsewhere."""
        name = escape_line(failure.type_name, most=_LINE)
        if id(failure) in self.shown or len(self.shown) >= _SHOWN:
            why = "told above" if id(failure) in self.shown else "not shown"
            return [f"({name}: {why})"]
        self.shown.add(id(failure))
        lines: list[str] = []
        if failure.frames:
            lines.append("Traceback (most recent call last):")
            lines += self.frames(failure.frames)
        first, *others = escape(failure.message[: self.most_message]).split("\n")
        joint = ": " if failure.message else ""
        lines.append(f"{self.put('name', name)}{joint}{self.put('text', first)}")
        lines += [self.put("text", line) for line in others]
        for note in failure.notes[:_TEXTS]:
            lines += escape(note[: self.most_message]).split("\n")
        lines += [f"(denied: {escape_line(text, most=_LINE)})" for text in failure.denials[:_TEXTS]]
        if members is None:
            for number, member in enumerate(failure.members[:_CHAIN], 1):
                lines.append(f"+ member {number} of {len(failure.members)}")
                if nesting and len(self.shown) < _SHOWN:
                    lines += [f"{MARK}{line}" for line in self.chain(member, nesting - 1)[:_LINES]]
        elif members < len(failure.members):
            lines.append(
                f"({len(failure.members) - members} of its {len(failure.members)} members not shown)"
            )
        # Of what is not shown anyway, nothing is missed.
        cut = [one for one in failure.cut if not one.startswith(("args", "fields"))]
        if cut:
            lines.append(escape_line(f"(not sent in full: {', '.join(cut[:_TEXTS])})", most=_LINE))
        return lines

    def frames(self, frames: tuple[TraceFrame, ...]) -> list[str]:
        lines = []
        half = self.most_frames // 2
        middle = max(0, len(frames) - self.most_frames)
        for index, frame in enumerate(frames):
            if middle and half <= index < half + middle:
                if index == half:
                    lines.append(f"  ({middle} frames not shown)")
                continue
            lines += self.frame(frame)
        return lines

    def frame(self, frame: TraceFrame) -> list[str]:
        # Not a name that exists: whoever prints the traceback must not open a file that the child named.
        file = self.put("file", f'"{sandboxed(frame.file)}"')
        function = escape_line(frame.function, most=_LINE)
        lines = [f"  File {file}, line {frame.line if frame.line is not None else '?'}, in {function}"]
        source = escape_line((frame.source or "").strip(), most=_LINE)
        return [*lines, f"    {self.put('source', source)}"] if source else lines
