"""Paths: made of their parts, and `ForeignPath` for the concrete paths of another system."""

from __future__ import annotations

import os
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["ForeignPath", "made", "split"]

_CLASSES: dict[str, type[PurePath]] = {
    "PurePosixPath": PurePosixPath,
    "PureWindowsPath": PureWindowsPath,
    "PosixPath": PosixPath,
    "WindowsPath": WindowsPath,
}


class ForeignPath:
    """A concrete path of another system, such as a WindowsPath on Linux. It touches no file.

    `flavour` is "posix" or "windows"; `drive`, `root` and `names` are its parts. Two are equal if their pure
    paths are. Encoded again, it is what it was.
    """

    __module__ = "hookless"
    __slots__ = ("_pure",)

    def __init__(self, pure: PurePosixPath | PureWindowsPath) -> None:
        if type(pure) is not PurePosixPath and type(pure) is not PureWindowsPath:
            raise TypeError(f"a ForeignPath is made of a pure path, not of a {type(pure).__name__}")
        self._pure = pure

    @property
    def pure(self) -> PurePosixPath | PureWindowsPath:
        """The path as one that never touches a file."""
        return self._pure

    @property
    def flavour(self) -> str:
        """The system that it belongs to: "posix" or "windows"."""
        return "windows" if type(self._pure) is PureWindowsPath else "posix"

    @property
    def drive(self) -> str:
        """The drive, such as "c:"; empty for posix."""
        return self._pure.drive

    @property
    def root(self) -> str:
        r"""The root: "/", "//", "\\" or empty."""
        return self._pure.root

    @property
    def names(self) -> tuple[str, ...]:
        """What comes after drive and root."""
        return tuple(split(self._pure)[2])

    def __str__(self) -> str:
        return str(self._pure)

    def __eq__(self, other: object) -> bool:
        return self._pure == other._pure if type(other) is ForeignPath else NotImplemented

    def __hash__(self) -> int:
        return hash((ForeignPath, self._pure))

    def __repr__(self) -> str:
        return f"hookless.ForeignPath({self._pure!r})"


def split(path: PurePath) -> tuple[str, str, Sequence[str]]:
    """Return the drive, the root, and the names after them."""
    parts = path.parts
    return path.drive, path.root, parts[1:] if path.anchor else parts


def made(name: str, drive: str, root: str, names: list[str]) -> PurePath | ForeignPath:
    """Make a path of the class of that name, of parts that have been checked."""
    foreign = name == ("PosixPath" if os.name == "nt" else "WindowsPath")
    cls = _CLASSES["Pure" + name if foreign else name]
    path = _by_slots(cls, drive, root, names) if cls in _BY_SLOTS else _by_text(cls, drive, root, names)
    if foreign:
        assert isinstance(path, PurePosixPath | PureWindowsPath)
        return ForeignPath(path)
    return path


def _by_text(cls: type[PurePath], drive: str, root: str, names: list[str]) -> PurePath:
    """Make a path as every user does. It is parsed again, and its names are interned."""
    path = cls(drive + root, *names)
    if (path.drive, path.root, list(split(path)[2])) != (drive, root, names):
        raise ValueError("this Python splits the path otherwise")
    return path


def _by_slots(cls: type[PurePath], drive: str, root: str, names: list[str]) -> PurePath:
    """Make a path without parsing it: Python 3.12 keeps each name that it parses for ever."""
    path: Any = object.__new__(cls)
    path._drv, path._root = drive, root
    if hasattr(cls, "_raw_paths"):
        path._tail_cached = names
        path._raw_paths = [str(path)]
    else:
        path._parts = [drive + root, *names] if drive or root else names
    return path  # type: ignore[no-any-return]


def _works(cls: type[PurePath]) -> bool:
    """Say whether paths of this Python are what `_by_slots` takes them for, by comparing a few."""
    windows = issubclass(cls, PureWindowsPath)
    samples = ["", "a", "a/b", "/a/b", "..", "/"] + (["c:/x", "c:x", "//s/h/x"] if windows else ["//a"])
    try:
        for sample in samples:
            plain = cls(sample)
            drive, root, names = split(plain)
            twin = _by_slots(cls, drive, root, list(names))
            told = [
                (path, str(path), path.parts, hash(path), path / "z", path.parent) for path in (plain, twin)
            ]
            if told[0] != told[1] or repr(plain) != repr(twin):
                return False
    except Exception:  # noqa: BLE001 (a Python whose paths are made otherwise may raise anything)
        return False
    return True


_BY_SLOTS = {cls for cls in (PurePosixPath, PureWindowsPath, type(Path())) if _works(cls)}
