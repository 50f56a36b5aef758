"""What a sandboxed child may read: the interpreter, what it loads, and nothing of the user's."""

from __future__ import annotations

import os
import sys

import hookless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["readable"]

# One that is not on this system is passed over.
_SYSTEM = (
    # Shared libraries, and the loader's index of them. The stores are where Nix and Guix keep theirs.
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    # Time zones: the machine's own, and the folders that `zoneinfo` searches.
    "/etc/localtime",
    "/etc/zoneinfo",
    "/usr/share/zoneinfo",
    "/usr/share/lib/zoneinfo",
    "/dev/urandom",
    # How many processors there are, and how large their caches: BLAS chooses by that.
    "/sys/devices/system/cpu",
)

# Of an interpreter's prefix. Not all of it: a virtual environment may be made in a project's own folder.
_PARTS = ("lib", "lib64", "share", "ssl", "pyvenv.cfg")
_PACKAGES = ("site-packages", "dist-packages", "lib-dynload")


def readable() -> list[str]:
    """Return the files and folders, absolute. To be asked in the child, where `sys.path` is the child's."""
    return list(dict.fromkeys([*_SYSTEM, *_interpreter()]))


def _interpreter() -> Iterator[str]:
    for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
        for part in _PARTS:
            yield os.path.join(prefix, part)
    yield os.path.dirname(os.path.abspath(os.__file__))
    for path in sys.path:
        # Not what a .pth file adds, such as the source folder of an editable install: that takes `paths`.
        if os.path.basename(path) in _PACKAGES or path.endswith(".zip"):
            yield os.path.abspath(path)
    # Wherever hookless itself was imported from, but nothing beside it.
    yield from map(os.path.abspath, hookless.__path__)
