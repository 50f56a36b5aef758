"""The private temporary folder of a child: made, and removed, by the host."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import tempfile

__all__ = ["Scratch"]

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Scratch:
    """A new empty folder that only this user can enter."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="hookless-")

    def remove(self) -> None:
        """Remove the folder with all that is in it; more than once is fine.

        A child chose what is in it: folders nested deeper than a path can be long or a program can recurse,
        folders that nobody may enter, links to anywhere. Nothing is followed, and the depth costs nothing.
        What cannot be removed, such as a mount that somebody put there, stays.
        """
        try:
            top = os.open(self.path, _OPEN)
        except OSError:
            return
        with contextlib.suppress(OSError):
            try:
                _empty(top)
            finally:
                os.close(top)
            os.rmdir(self.path)


def _empty(top: int) -> None:
    """Empty a folder: what lies in a folder below is either removed, or moved up here to have its turn."""
    numbers = itertools.count()
    while folders := _unlink_all(top):
        for name in folders:
            below = _enter(top, name)
            try:
                for inner in _unlink_all(below):
                    # A folder can only be moved by who may write to it.
                    os.close(_enter(below, inner))
                    os.rename(inner, _unused(top, numbers), src_dir_fd=below, dst_dir_fd=top)
            finally:
                os.close(below)
            os.rmdir(name, dir_fd=top)


def _unlink_all(folder: int) -> list[str]:
    """Remove all but the folders from a folder; return those."""
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
    return [name for name, is_folder in found if is_folder]


def _enter(parent: int, name: str) -> int:
    """Open a folder, whatever its mode was."""
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if stat.S_IMODE(mode) & stat.S_IRWXU == stat.S_IRWXU:
            return os.open(name, _OPEN, dir_fd=parent)
    except PermissionError:
        pass
    held = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        # By its descriptor: what has this name now may not be what has it next.
        os.chmod(f"/proc/self/fd/{held}", stat.S_IRWXU)
        return os.open(".", _OPEN, dir_fd=held)
    finally:
        os.close(held)


def _unused(folder: int, numbers: itertools.count[int]) -> str:
    while True:
        name = f"{next(numbers)}"
        try:
            os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return name
