"""A traceback whose file is a pipe that nobody writes to.

Wants: to hang the host when it shows the error, or to have it open a file
Against: `tblib` by pickle, as several sandboxes send tracebacks
Since: 0.1
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from pathlib import Path

import tblib.pickling_support

import hookless
from harness import expose, failure, quick

FIFO = "pipe"


def raised(file: str) -> Exception:
    try:
        exec(compile("raise ValueError('x')", file, "exec"))
    except ValueError as error:
        return error
    raise AssertionError


def victim(data: bytes) -> None:
    tblib.pickling_support.install()
    os.mkfifo(FIFO)
    error = pickle.loads(data)
    print("loaded", flush=True)
    traceback.print_exception(error)


def child(file: str) -> None:
    """Fail in a file of that name."""
    raise raised(file)


def peer() -> str:
    tblib.pickling_support.install()
    found = expose(__name__, pickle.dumps(raised(FIFO)), seconds=4)
    assert found.hung and found.out.startswith("loaded"), found
    return "succeeds: the host hangs in `traceback.print_exception`, which opens the file"


class Auditor:
    """Which files are opened while somebody looks."""

    opened: list[str] | None = None

    @classmethod
    def hook(cls, event: str, arguments: tuple[object, ...]) -> None:
        if cls.opened is not None and event == "open":
            cls.opened.append(str(arguments[0]))


sys.addaudithook(Auditor.hook)


def ours() -> str:
    os.mkfifo(FIFO)
    for file in (str(Path(FIFO).absolute()), FIFO, "/dev/zero", "/etc/shadow"):
        error = failure(f"{__name__}:child", file)
        assert isinstance(error, hookless.RemoteError)
        opened: list[str] = []
        Auditor.opened = opened
        with quick(5):
            shown = "".join(traceback.format_exception(error))
        Auditor.opened = None
        assert f"<sandbox>/{file.lstrip('/')}" in shown, shown
        assert not [name for name in opened if name in (file, FIFO)], opened
    return "holds: it is shown as a note, with files as `<sandbox>/…`; none of them is opened"
