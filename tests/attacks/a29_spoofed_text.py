"""A message that paints over the terminal.

Wants: words that pass for the host's own
Against: an exception that came by pickle, shown by `traceback`
Since: 0.1
"""

from __future__ import annotations

import pickle
import traceback

import hookless
from harness import expose, failure, naive

BAD_LINE = "Traceback (most recent call last):\nHost: all is well\r\x07"
TEXT = f"x\x1b[2J\x1b[31m\u202e\u2066\u200b\udcff\x9b\n{BAD_LINE}"
BAD = "\x1b\u202e\u2066\u200b\udcff\x9b\r\x07"


def victim(data: bytes) -> None:
    try:
        raise pickle.loads(data)
    except Exception:
        print(ascii(traceback.format_exc()))


def child(text: str) -> None:
    """Raise, chain, note and print it."""
    error = OSError(5, text, text)
    error.add_note(text)
    raise type("E" + text[1:8], (Exception,), {})(text) from error


def peer() -> str:
    shown = expose(__name__, pickle.dumps(ValueError(TEXT))).out
    assert r"\x1b[2J" in shown and r"\u202e" in shown and r"\nHost: all is well" in shown
    return "succeeds: escapes and overrides are shown raw, and a line of the text stands by itself"


def ours() -> str:
    error = failure(f"{__name__}:child", TEXT)
    assert isinstance(error, hookless.RemoteError)
    shown = "".join(traceback.format_exception(error))
    for text in (shown, str(error), repr(error), error.remote.format()):
        assert not set(text) & set(BAD), ascii(text)
    forged = [line for line in shown.splitlines() if line.startswith(("Host:", "Traceback"))]
    assert forged == ["Traceback (most recent call last):"], forged
    # The raw text is there for whoever asks for it.
    assert error.remote.message == TEXT
    try:
        hookless.loads(naive.frame(naive.mapping([(naive.text(TEXT.replace("\udcff", "")), b"\xc1")])))
    except hookless.DecodeError as refusal:
        assert not set(f"{refusal} {refusal.path}") & set(BAD)
    return (
        "holds: control, bidi and invisible characters are escaped, further lines marked; errors of the "
        "decoder escape keys too"
    )
