"""Frames in a file that is mapped into memory: large arrays are read-only views of it."""

from __future__ import annotations

import mmap
import os

from hookless._framing import HEAD, frame_length
from hookless._hookless import loads, view_mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Protocol

    from hookless._hookless import Limits

    class _Mappable(Protocol):
        def fileno(self) -> int: ...


__all__ = ["load_mapped", "load_mapped_all"]


def load_mapped(file: str | os.PathLike[str] | _Mappable, limits: Limits | None) -> Any:
    """Return the value of a file of exactly one frame."""
    found = _map(file)
    if found is None:
        return loads(b"")
    return view_mapped(found, 0, len(found), limits=limits)


def load_mapped_all(file: str | os.PathLike[str] | _Mappable, limits: Limits | None) -> Iterator[Any]:
    """Yield the values of a file of frames."""
    found, start = _map(file), 0
    while found is not None and start < len(found):
        # Lengths that are lies do no harm: the frame is then refused within the file's bytes.
        end = min(start + frame_length(found[start : start + HEAD]), len(found))
        yield view_mapped(found, start, end, limits=limits)
        start = end


def _map(file: str | os.PathLike[str] | _Mappable) -> mmap.mmap | None:
    """Map a whole file for reading; None where it is empty. Nobody closes it: its views keep it."""
    if not isinstance(file, str | os.PathLike):
        return _mapping(file.fileno())
    with open(file, "rb") as opened:
        return _mapping(opened.fileno())


def _mapping(descriptor: int) -> mmap.mmap | None:
    if os.fstat(descriptor).st_size == 0:
        return None
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
