"""A program of the host's choice around a child, such as a sandbox: the start of the child's command."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import TypeAlias

__all__ = ["Launcher", "check", "command"]

Launcher: TypeAlias = Sequence[str | os.PathLike[str]]


def check(launcher: Launcher) -> tuple[str, ...]:
    """Return a launcher's arguments as text, with the path of its program; nothing for no launcher.

    Raises TypeError or ValueError for what is no such list, FileNotFoundError if there is no such program.
    """
    if isinstance(launcher, str | bytes | os.PathLike) or not isinstance(launcher, Sequence):
        raise TypeError("launcher= takes a list of arguments, such as ['bwrap', '--unshare-pid', …]")
    given = []
    for one in launcher:
        if not isinstance(one, str | os.PathLike):
            raise TypeError(f"launcher= takes arguments that are text, not {type(one).__name__}")
        text = os.fspath(one)
        if "\0" in text:
            raise ValueError("launcher= takes arguments without a NUL in them")
        given.append(text)
    if not given:
        return ()
    # Here, and not in the child's environment, which has no PATH.
    program = shutil.which(given[0])
    if program is None:
        raise FileNotFoundError(2, "launcher= names a program that is not there", given[0])
    return (os.path.abspath(program), *given[1:])


def command(launcher: Sequence[str], *, scratch: str, channel: int, report: int) -> list[str]:
    """Return the arguments for one child: with its private folder and the descriptors that it has to inherit.

    {scratch}, {channel} and {report} stand for them in any argument.
    """
    names = {"{scratch}": scratch, "{channel}": str(channel), "{report}": str(report)}
    found = list(launcher)
    for name, value in names.items():
        found = [one.replace(name, value) for one in found]
    return found
