"""`hookless child`: the other end of `Worker.attach`, started by whatever starts programs elsewhere."""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
import sys
import tempfile

from hookless._bounds import default_memory, processes
from hookless._hookless import Limits, dumps

__all__ = ["serve"]


def serve(options: argparse.Namespace) -> int:
    """Be the child that the options describe, to the end of the process; return 2 if they cannot be used."""
    try:
        request = dumps(_settings(options)).hex()
    except _UsageError as error:
        sys.stderr.write(f"hookless child: {error}\n")
        return 2
    from hookless._child import main

    main(request)
    return 1  # It does not come back.


class _UsageError(Exception):
    """What the user gave cannot be used."""


def _settings(options: argparse.Namespace) -> dict[str, object]:
    """Return the settings of `_child.main`."""
    paths = [os.path.abspath(path) for path in options.path]
    for given, path in zip(options.path, paths, strict=True):
        if not os.path.isdir(path):
            raise _UsageError(f"--path {given}: there is no such folder")
    limits = _limits(options.limits)
    if options.fd is not None:
        channel = {"fd": _socket(options.fd)}
    else:
        channel = _standard_input() if options.stdin else _pipes()
    return {
        **channel,
        "report": -1,
        "scratch": _scratch(options.scratch),
        "isolation": options.isolation,
        "paths": paths,
        "limits": {name: getattr(limits, name) for name in Limits.TABLE},
        "rlimits": {
            "memory": default_memory() if options.memory is None else options.memory,
            "cpu_seconds": None,
            "file_size": 1 << 30,
            "open_files": 256,
            "processes": processes(1024),
        },
    }


def _limits(given: list[str]) -> Limits:
    found: dict[str, int] = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not equals or not text.isdecimal() or not text.isascii():
            raise _UsageError(f"--limits {one}: write NAME=NUMBER, such as depth=256")
        if name not in Limits.TABLE:
            raise _UsageError(f"--limits {one}: the limits are {', '.join(Limits.TABLE)}")
        found[name] = int(text)
    try:
        return Limits(**found)
    except (ValueError, OverflowError) as error:
        raise _UsageError(f"--limits: {error}") from None


def _socket(descriptor: int) -> int:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError as error:
        raise _UsageError(f"--fd {descriptor}: {error.strerror}") from None
    if descriptor < 3 or not stat.S_ISSOCK(mode):
        raise _UsageError(f"--fd {descriptor}: that is no socket beside the standard streams")
    return descriptor


def _standard_input() -> dict[str, int]:
    """Take the channel from standard input, where a host put it that started this process, and end with that.

    Such a host, as hookless-tokio has it, stops this process and what that has started by their group.
    """
    if not stat.S_ISSOCK(os.fstat(0).st_mode):
        raise _UsageError("--stdin: standard input is no socket")
    channel = _take_standard_input()
    with contextlib.suppress(PermissionError):  # It leads a group already.
        os.setsid()
    return {"fd": channel}


def _take_standard_input() -> int:
    """Return another number of standard input, and put an empty one in its place."""
    taken = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return taken


def _pipes() -> dict[str, int]:
    """Take the channel from standard input and output, and put what cannot break it in their place."""
    read, write = _take_standard_input(), os.dup(1)
    # What the code prints goes to standard error.
    os.dup2(2, 1)
    return {"fd": read, "write_fd": write}


def _scratch(given: str | None) -> str:
    """Return the folder to write to, and make it the one where temporary files go."""
    try:
        path = os.path.abspath(given) if given else tempfile.mkdtemp(prefix="hookless-")
        os.chdir(path)
    except OSError as error:
        raise _UsageError(f"--scratch {given or tempfile.gettempdir()}: {error.strerror}") from None
    os.environ |= {"TMPDIR": path, "HOME": path}
    # It has been asked for, and would be kept.
    tempfile.tempdir = None
    return path
