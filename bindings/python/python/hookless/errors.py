"""What can go wrong, as classes. `except HooklessError` catches all of them and nothing that a child sends.

An exception that was raised in a child arrives as `hookless.RemoteError`, which is not a HooklessError.
"""

from __future__ import annotations

from hookless.display import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookless._hookless import _Code

__all__ = [
    "DeadlineExceeded",
    "DecodeError",
    "EncodeError",
    "HooklessError",
    "IsolationError",
    "IsolationWarning",
    "LimitExceeded",
    "ProtocolError",
    "Stalled",
    "Truncated",
    "WorkerDied",
]


class HooklessError(Exception):
    """Base of the errors that hookless itself raises."""

    # Users know these classes by the package's name, and a worker's EncodeError travels under it.
    __module__ = "hookless"


class EncodeError(HooklessError, TypeError):
    """A value cannot be sent: its type is not of the closed set, or it is past a limit."""

    __module__ = "hookless"

    code: str
    """Stable code of proto/errors.md."""
    path: str
    """Where in the value, such as `$.rows[3].key`."""
    type_name: str
    """Type of what cannot be sent; empty where the type is not at fault."""

    def __init__(
        self,
        message: str,
        *,
        code: _Code = "unsupported_type",
        path: str | None = None,
        type_name: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.path, self.type_name = code, path or "$", type_name or ""

    def __str__(self) -> str:
        return f"{self.code} in {self.path}: {self.args[0]}"


class DecodeError(HooklessError, ValueError):
    """Bytes are no frame of the closed set. Nothing in them was imported, opened, looked up or called."""

    __module__ = "hookless"

    code: str
    """Stable code of proto/errors.md."""
    offset: int
    """Byte at fault, counted from the first byte of its frame; 0 for a value that has been decoded."""
    path: str
    """Where in the value, such as `$.rows[3].key`; empty outside a body."""

    def __init__(
        self, message: str, *, code: _Code = "bad_type", offset: int | None = None, path: str | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.offset, self.path = code, offset or 0, path or ""

    def __str__(self) -> str:
        place = f" in {self.path}" if self.path else ""
        # No body begins at byte 0: a value that was decoded, and cannot be converted, has no offset any more.
        at = "" if self.path and not self.offset else f" at byte {self.offset}"
        return f"{self.code}{at}{place}: {self.args[0]}"


class LimitExceeded(DecodeError):
    """The bytes go past one of `hookless.Limits`; a larger limit may let them in."""

    __module__ = "hookless"


class Truncated(DecodeError):
    """The bytes end inside a frame."""

    __module__ = "hookless"


class ProtocolError(HooklessError):
    """The peer sent a frame that the session does not allow now, or an object was entered while busy."""

    __module__ = "hookless"

    code: str
    """Stable code of proto/errors.md."""

    def __init__(self, message: str, *, code: _Code = "unexpected_frame") -> None:
        super().__init__(message)
        self.code = code

    def __str__(self) -> str:
        return f"{self.code}: {self.args[0]}"


class WorkerDied(HooklessError):
    """The child of a worker ended while it was needed."""

    __module__ = "hookless"

    exit_status: int | None
    """What it exited with; None when a signal ended it, or when hookless stopped it."""
    signal: int | None
    """Number of the signal that ended it; None when it exited, or when hookless stopped it."""
    stderr: bytes
    """The last 64 KiB that it wrote to standard error."""

    def __init__(
        self,
        message: str,
        *,
        exit_status: int | None = None,
        signal: int | None = None,
        stderr: bytes = b"",
    ) -> None:
        super().__init__(message)
        self.exit_status, self.signal, self.stderr = exit_status, signal, stderr

    def __str__(self) -> str:
        # The child's words: shown escaped, the last of them, each line marked.
        last = self.stderr[-2000:].decode("utf-8", "backslashreplace").strip("\n")
        return f"{self.args[0]}; its last words:\n  | {escape(last)}" if last else str(self.args[0])


class Stalled(HooklessError):
    """The peer began a frame, or stopped reading one, and then stood still for too long."""

    __module__ = "hookless"


class DeadlineExceeded(HooklessError, TimeoutError):
    """A call was not answered in time."""

    __module__ = "hookless"


class IsolationError(HooklessError):
    """The isolation that was asked for cannot be put in force; no foreign code has run."""

    __module__ = "hookless"

    layer: str
    """The layer at fault, such as `landlock`; empty if none is."""

    def __init__(self, message: str, *, layer: str = "") -> None:
        super().__init__(message)
        self.layer = layer


class IsolationWarning(UserWarning):
    """With `isolation="auto"`: a layer is missing, and the child can do what it would have stopped."""

    __module__ = "hookless"
