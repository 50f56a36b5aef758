r"""Text that a child chose, made fit to be shown.

A message may hold terminal sequences, characters that hide or reorder text, and lines that look like the
host's own output. What is shown is escaped; the raw text stays in `RemoteError.remote`.
"""

from __future__ import annotations

__all__ = ["MARK", "escape", "escape_line", "sandboxed"]

# Begins each further line of text that a child chose.
MARK = "  | "

# Invisible, though `str.isprintable` lets them pass: fillers, joiners and selectors of variants.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4"
    + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)


def escape(text: str) -> str:
    """Return text for display: one line stays as it is, each further one begins with `MARK`.

    Control, bidirectional and invisible characters, lone surrogates and unassigned code points become escapes
    such as `\\x1b` and `\\u202e`.
    """
    return f"\n{MARK}".join(map(escape_line, text.split("\n")))


def escape_line(text: str, most: int | None = None) -> str:
    """Return text for display on one line: line ends are escaped too, and it is cut to `most` characters."""
    if most is not None and len(text) > most:
        text = text[: most - 1] + "\u2026"
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one.isprintable() and one not in _INVISIBLE else ascii(one)[1:-1] for one in text)


def sandboxed(file: str, most: int = 500) -> str:
    """Return a child's file name for display: one that exists nowhere, so that nothing opens the file."""
    return f"<sandbox>/{escape_line(file, most=most).lstrip('/')}"
