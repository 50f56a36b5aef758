"""The remote traceback as text: escaped, each line marked as the child's, at most a few screens long."""

from __future__ import annotations

from hookless._hookless import Failure, TraceFrame
from hookless.display import MARK, escape, escape_line

__all__ = ["note_of"]

# All of it is in the descriptor; what is shown stays readable.
_LINES = 400
_FRAMES = 24
_LINE = 500
_MESSAGE = 4000
_CHAIN = 16
_NESTING = 3
# Exceptions shown in all: a small report can link each of its entries many times over.
_SHOWN = 48

_BY_CAUSE = "The above exception was the direct cause of the following exception:"
_BY_CONTEXT = "During handling of the above exception, another exception occurred:"


def note_of(failure: Failure) -> str:
    """Return the traceback of a failure and of what led to it, what was raised last at the end."""
    lines = ["Remote traceback, as the child tells it:"]
    body = _chain(failure, _NESTING, set())
    lines += body[-_LINES:]
    if len(body) > _LINES:
        lines.insert(1, f"({len(body) - _LINES} lines left out)")
    return f"\n{MARK}".join(lines)


def _chain(failure: Failure, nesting: int, shown: set[int]) -> list[str]:
    """Lines of an exception and of the causes and contexts behind it; `shown` are the ids told already."""
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
        lines += _single(one, nesting, shown)
        if joint:
            lines += ["", joint, ""]
    return lines


def _single(failure: Failure, nesting: int, shown: set[int]) -> list[str]:
    lines: list[str] = []
    if id(failure) in shown or len(shown) >= _SHOWN:
        why = "told above" if id(failure) in shown else "not shown"
        return [f"({escape_line(failure.type_name, most=_LINE)}: {why})"]
    shown.add(id(failure))
    if failure.frames:
        lines.append("Traceback (most recent call last):")
        lines += _frames(failure.frames)
    name, message = escape_line(failure.type_name, most=_LINE), escape(failure.message[:_MESSAGE])
    lines += f"{name}: {message}".split("\n") if message else [name]
    for note in failure.notes[:8]:
        lines += escape(note[:_MESSAGE]).split("\n")
    for number, member in enumerate(failure.members[:_CHAIN], 1):
        lines.append(f"+ member {number} of {len(failure.members)}")
        if nesting and len(shown) < _SHOWN:
            lines += [f"{MARK}{line}" for line in _chain(member, nesting - 1, shown)[:_LINES]]
    # Of what is not shown anyway, nothing is missed.
    cut = [name for name in failure.cut if not name.startswith(("args", "fields"))]
    if cut:
        lines.append(escape_line(f"(not sent in full: {', '.join(cut[:8])})", most=_LINE))
    return lines


def _frames(frames: tuple[TraceFrame, ...]) -> list[str]:
    lines = []
    half = _FRAMES // 2
    middle = max(0, len(frames) - _FRAMES)
    for index, frame in enumerate(frames):
        if middle and half <= index < half + middle:
            if index == half:
                lines.append(f"  ({middle} frames not shown)")
            continue
        lines += _frame(frame)
    return lines


def _frame(frame: TraceFrame) -> list[str]:
    # Not a name that exists: whoever prints the traceback must not open a file that the child named.
    file = f"<sandbox>/{escape_line(frame.file, most=_LINE).lstrip('/')}"
    function = escape_line(frame.function, most=_LINE)
    lines = [f'  File "{file}", line {frame.line if frame.line is not None else "?"}, in {function}']
    source = escape_line((frame.source or "").strip(), most=_LINE)
    return [*lines, f"    {source}"] if source else lines
