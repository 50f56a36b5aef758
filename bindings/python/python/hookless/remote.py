"""An exception that was raised in a child, as one that the host can raise.

It is made from an inert descriptor. No class is looked up, no constructor of the child's choice is called,
and nothing that it shows can drive a terminal or make Python open a file.
"""

from __future__ import annotations

from hookless._hookless import Failure
from hookless._note import note_of
from hookless.display import escape, escape_line

__all__ = ["RemoteError"]


class RemoteError(Exception):
    """An exception of a child. `remote` has it as raw text; `str` and the traceback show it escaped.

    Catch it before any builtin exception. It is no HooklessError: a child cannot fake a failure of hookless.
    """

    # Users know the class by the package's name.
    __module__ = "hookless"

    remote: Failure
    """The descriptor: type by name, message, arguments, frames, cause, context."""

    def __init__(self, failure: Failure, /) -> None:
        if type(failure) is not Failure:
            raise TypeError(f"a RemoteError is made of a hookless.Failure, not of {type(failure).__name__}")
        super().__init__(failure)
        self.remote = failure

    def __str__(self) -> str:
        return escape(self.remote.message)

    def __repr__(self) -> str:
        shown = escape_line(f"{self.remote.type_name}: {self.remote.message}", most=200)
        return f"<hookless.RemoteError {shown}>"

    @property
    def __notes__(self) -> list[str]:
        # Made when a traceback is shown, since most errors are caught and never shown; then kept, so that
        # `add_note` adds to it.
        notes: list[str] | None = self.__dict__.get("_notes")
        if notes is None:
            notes = self.__dict__["_notes"] = [note_of(self.remote)]
        return notes

    @__notes__.setter
    def __notes__(self, notes: list[str]) -> None:
        self.__dict__["_notes"] = notes
