"""An exception that was raised in a child, as one that the host can raise.

It is made from an inert descriptor. No class is looked up, no constructor of the child's choice is called,
and nothing that it shows can drive a terminal or make Python open a file.
"""

from __future__ import annotations

from hookless._hookless import Failure
from hookless._note import Told, note_of
from hookless.display import escape, escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hookless._hookless import TraceFrame

__all__ = ["RemoteError", "RemoteErrorGroup", "RemoteExit"]


class RemoteError(Exception):
    """An exception of a child. `remote` has it as raw text; `str` and the traceback show it escaped.

    What was a ValueError in the child, or derived from one, arrives as a class that derives from RemoteError
    and from ValueError, and likewise for every builtin Exception, but for StopIteration, StopAsyncIteration,
    InterruptedError and BlockingIOError: those would be taken for signals of the host's own. Exceptions of no
    such kind, KeyboardInterrupt among them, are a plain RemoteError.

    Catch it before any builtin exception. It is no HooklessError: a child cannot fake a failure of hookless.
    """

    # Users know the class by the package's name.
    __module__ = "hookless"

    remote: Failure
    """The descriptor: type by name, message, arguments, frames, cause, context."""

    def __init__(self, failure: Failure, /) -> None:
        if type(failure) is not Failure:
            raise TypeError(f"a RemoteError is made of a hookless.Failure, not of {type(failure).__name__}")
        # Not `super()`: the builtin class beside this one would take the failure for an argument of its own.
        Exception.__init__(self, failure)
        self.remote = failure

    def __str__(self) -> str:
        return escape(self.remote.message)

    def __repr__(self) -> str:
        shown = escape_line(f"{self.remote.type_name}: {self.remote.message}", most=200)
        return f"<hookless.{type(self).__name__} {shown}>"

    # Their names are no attributes of any builtin exception, which would be hidden by them otherwise.

    @property
    def type_name(self) -> str:
        """Name of the class in the child, such as `app.Quota`, raw."""
        return self.remote.type_name

    @property
    def fields(self) -> dict[str, Any]:
        """What the exception holds beside its arguments, raw."""
        return self.remote.fields

    @property
    def frames(self) -> tuple[TraceFrame, ...]:
        """The traceback in the child, outermost frame first, raw."""
        return self.remote.frames

    @property
    def denials(self) -> tuple[str, ...]:
        """What the sandbox denied, as the child claims, raw."""
        return self.remote.denials

    @property
    def cut(self) -> tuple[str, ...]:
        """What the child could not send in full."""
        return self.remote.cut

    @property
    def __notes__(self) -> list[str]:
        # Made when a traceback is shown, since most errors are caught and never shown; then kept, so that
        # `add_note` adds to it.
        notes: list[str] | None = self.__dict__.get("_notes")
        if notes is None:
            notes = self.__dict__["_notes"] = [self._told()]
        return notes

    @__notes__.setter
    def __notes__(self, notes: list[str]) -> None:
        self.__dict__["_notes"] = notes

    def _told(self) -> Told:
        """Return the remote traceback, without what Python will show of this object anyway."""
        remote, members = self.remote, None
        if isinstance(self, RemoteErrorGroup):
            members = len(self.exceptions)
        linked = remote.cause or (None if remote.suppress_context else remote.context)
        shown = self.__cause__ or (None if self.__suppress_context__ else self.__context__)
        chained = isinstance(shown, RemoteError) and shown.remote is linked
        # One that stands below or inside another tells less; see `_family`.
        brief = bool(self.__dict__.get("_brief"))
        return note_of(remote, chain=not (chained or brief), members=members, brief=brief)

    def __reduce__(self) -> tuple[Any, ...]:
        from hookless._family import restore, stored

        kept = {
            name: value for name, value in self.__dict__.items() if name not in ("remote", "_notes", "_brief")
        }
        notes = self.__dict__.get("_notes")
        if notes is not None and not (len(notes) == 1 and type(notes[0]) is Told):
            kept["_notes"] = [self._told() if type(note) is Told else note for note in notes]
        return restore, stored(self), kept or None


class RemoteErrorGroup(RemoteError, ExceptionGroup[Exception]):
    """An exception group of a child. Its `exceptions` are RemoteErrors; `except*` works as for any group."""

    __module__ = "hookless"

    def __new__(cls, failure: Failure, exceptions: Sequence[Exception], /) -> RemoteErrorGroup:
        """Make a group of the live members; raises ValueError if there are none."""
        if type(failure) is not Failure:
            raise TypeError(f"a RemoteError is made of a hookless.Failure, not of {type(failure).__name__}")
        title = failure.args[0] if failure.args and type(failure.args[0]) is str else failure.message
        return ExceptionGroup.__new__(cls, escape(title), exceptions)

    def __init__(self, failure: Failure, exceptions: Sequence[Exception], /) -> None:
        super().__init__(failure)

    def derive(self, exceptions: Sequence[Any], /) -> RemoteErrorGroup:  # type: ignore[override]
        """Return a group of the same report with these members: what `split` and `except*` make parts with.

        Members that are no RemoteError are described for `remote`.
        """
        from hookless._family import with_members

        return RemoteErrorGroup(with_members(self.remote, exceptions), exceptions)


class RemoteExit(RemoteError):
    """A SystemExit of a child. The child lives on, and so does the host."""

    __module__ = "hookless"

    @property
    def code(self) -> Any:
        """What the child gave to `sys.exit`: an int or None by custom, but any value may stand here."""
        return self.remote.fields.get("code")
