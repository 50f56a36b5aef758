"""One line of a terminal that tells how far a script is. Its text is the script's word, and escaped."""

from __future__ import annotations

import os
from typing import TextIO

from hookless.display import escape_line

__all__ = ["columns", "line", "width_of"]

# Columns of the bar itself, and of what is left for a text to be worth showing.
_BAR, _LEAST = 20, 8

# Of a terminal that does not tell its width.
_USUAL = 80


def width_of(stream: TextIO) -> int:
    """Return how many columns may be written without a line break."""
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = 0
    # In the last column some terminals break the line.
    return (width or _USUAL) - 1


def line(head: str, progress: tuple[int, int | None, str] | None, width: int) -> str:
    """Return `head`, and after it how much is done of how much, with the script's text if there is room.

    `head` is fit to be shown. What is past `width` columns is cut off.
    """
    if progress is None:
        return _cut(head, width)
    done, total, text = progress
    if total is None:
        told = f"{head}  {done} done"
    else:
        # More than all is all; nothing of nothing is all too.
        part = min(done, total) / total if total else 1.0
        filled = int(part * _BAR)
        told = f"{head}  [{'#' * filled}{'.' * (_BAR - filled)}] {int(part * 100):3}% {done}/{total}"
    # A long text is not escaped as a whole, ten times a second.
    shown = escape_line(text[: 2 * width])
    if shown and columns(told) + _LEAST <= width:
        told = f"{told}  {shown}"
    return _cut(told, width)


def _cut(text: str, width: int) -> str:
    if columns(text) <= width:
        return text
    # By the widest characters first, then one after another.
    kept = text[:width]
    while kept and columns(kept) >= width:
        kept = kept[:-1]
    return f"{kept}…" if width > 0 else ""


def columns(text: str) -> int:
    """Return how many columns a line takes up."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )
