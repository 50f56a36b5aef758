"""Frames in binary files: one after the other, each read to its last byte and no further."""

from __future__ import annotations

import io

from hookless._hookless import encode, loads
from hookless.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from typing import Any, Protocol, TypeVar, overload

    from hookless._hookless import Frame, Limits, _Adapter

    _T = TypeVar("_T")

    class _Readable(Protocol):
        def read(self, size: int, /) -> bytes | None: ...

    class _Writable(Protocol):
        def write(self, data: memoryview, /) -> object: ...

    _File = str | PathLike[str] | _Readable


__all__ = ["dump", "load", "load_all"]

# At most so much is asked of a file at once, whatever length a head announces.
_CHUNK = 1 << 20


def dump(
    value: object,
    file: _Writable,
    *,
    limits: Limits | None = None,
    default: Callable[[Any], object] | None = None,
) -> None:
    """Write a value as one frame to a binary file. Large arrays are not copied. `default` is as in `dumps`.

    Raises EncodeError before anything is written.
    """
    for part in encode(value, limits=limits, default=default):
        view = memoryview(part).cast("B")
        while view:
            written = file.write(view)
            if isinstance(written, int):
                view = view[written:]
            elif isinstance(file, io.RawIOBase):
                raise BlockingIOError("the file is non-blocking and full; hookless.dump needs one that waits")
            else:
                break  # A writer that does not count has taken it all.


if TYPE_CHECKING:

    @overload
    def load(
        file: _File, *, type: type[_T] | _Adapter[_T], limits: Limits | None = None, mmap: bool = False
    ) -> _T: ...
    @overload
    def load(file: _File, *, type: Any = None, limits: Limits | None = None, mmap: bool = False) -> Any: ...


def load(file: _File, *, type: Any = None, limits: Limits | None = None, mmap: bool = False) -> Any:
    """Read one frame from a binary file, and return its value; as a `type`, if given (`convert`).

    An open file is read to the frame's last byte and no further. A file that is given by its name has to be
    exactly one frame. With `mmap=True` the file, which may be open or named, is one frame that is mapped into
    memory: arrays of 16 384 bytes and more are read-only views of it, and all else is copied. **Only for
    files that nobody who is not trusted may write to**: elements of an array that was checked once change
    when the file is written to, and when it is cut short, reading them ends the process (SIGBUS).

    Raises DecodeError: Truncated where the file ends too soon, and so at its end. `load_all` reads all.
    """
    if type is None:
        return _load(file, limits, mmap)
    from hookless._typed.conversion import conversion

    convert = conversion(type)
    return convert(_load(file, limits, mmap))


if TYPE_CHECKING:

    @overload
    def load_all(
        file: _File, *, type: type[_T] | _Adapter[_T], limits: Limits | None = None, mmap: bool = False
    ) -> Iterator[_T]: ...
    @overload
    def load_all(
        file: _File, *, type: Any = None, limits: Limits | None = None, mmap: bool = False
    ) -> Iterator[Any]: ...


def load_all(
    file: _File, *, type: Any = None, limits: Limits | None = None, mmap: bool = False
) -> Iterator[Any]:
    """Yield the values of a binary file's frames, one by one, up to its end. Arguments are as in `load`.

    An open file is read from where it stands, unless it is mapped. Raises DecodeError at the first frame that
    is refused, after the values of those before it; Truncated where the file ends inside a frame.
    """
    if type is None:
        return _load_all(file, limits, mmap)
    from hookless._typed.conversion import conversion

    return map(conversion(type), _load_all(file, limits, mmap))


def _load(file: Any, limits: Limits | None, mmap: bool) -> Any:
    if mmap:
        from hookless._mapped import load_mapped

        return load_mapped(file, limits)
    if not _is_path(file):
        return _one(file, limits)
    with open(file, "rb") as opened:
        value = _one(opened, limits)
        if opened.read(1):
            message = "bytes after the end; `load_all` reads a file of several frames"
            raise DecodeError(message, code="trailing_bytes", offset=opened.tell() - 1)
        return value


def _load_all(file: Any, limits: Limits | None, mmap: bool) -> Iterator[Any]:
    if mmap:
        from hookless._mapped import load_mapped_all

        yield from load_mapped_all(file, limits)
    elif _is_path(file):
        with open(file, "rb") as opened:
            yield from _load_all(opened, limits, mmap)
    else:
        while (frame := _frame(file, limits)) is not None:
            yield frame.value


def _is_path(file: object) -> bool:
    # As isinstance(file, os.PathLike), of whatever has been imported.
    return isinstance(file, str) or hasattr(file, "__fspath__")


def _one(file: _Readable, limits: Limits | None) -> Any:
    frame = _frame(file, limits)
    # A file that ends before a first byte is called what `loads` calls it.
    return loads(b"") if frame is None else frame.value


def _frame(file: _Readable, limits: Limits | None) -> Frame | None:
    """Read one frame; None where the file ends before its first byte."""
    # Whoever reads no file does not pay for the import.
    from hookless._framing import OneFrame

    incoming = OneFrame(limits)
    while incoming.wanted:
        chunk = file.read(min(incoming.wanted, _CHUNK))
        if chunk is None:
            raise BlockingIOError("the file is non-blocking and empty; hookless.load needs one that waits")
        if not chunk:
            break
        frame = incoming.take(chunk)
        if frame is not None:
            return frame
    incoming.finish()
    return None
