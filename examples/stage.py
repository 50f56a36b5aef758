"""What the parts of the demo share: how they print, what they expect, and the throw-away unpickling."""

import os
import reprlib
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import hookless

HERE = Path(__file__).resolve().parent
COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ
RED, GREEN, BLUE, GREY = 31, 32, 34, 90

surprises: list[str] = []  # what was not as expected
went_off: list[str] = []  # what a pickle or a trap made this process do


def watch(event: str, args: tuple[Any, ...]) -> None:
    """An audit hook: note what an unpickler looks up and which trap goes off in this process."""
    if event == "pickle.find_class" or (event == "open" and "UNPICKLED" in str(args[0])):
        went_off.append(f"{event} {args}")


def say(label: str, *lines: str, colour: int = GREY) -> None:
    """Print lines beside a label. Unprintable characters are escaped, since a child may have sent them."""
    for line in lines:
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
        print(f"  \x1b[{colour}m{label:<14}\x1b[0m{text}" if COLOUR else f"  {label:<14}{text}")
        label = ""


def expect(claim: str, holds: bool) -> None:
    say("as expected" if holds else "NOT EXPECTED", claim, colour=GREEN if holds else RED)
    if not holds:
        surprises.append(claim)


class Short(reprlib.Repr):
    """`repr` on one line, however large the value."""

    def repr_ndarray(self, array: Any, level: int) -> str:
        return np.array2string(array.ravel(), threshold=2, edgeitems=1, precision=3)


SHORT = Short()
SHORT.maxdict, SHORT.maxset, SHORT.maxlong, SHORT.maxstring, SHORT.maxother = 2, 2, 30, 40, 70


def describe(name: str, value: Any) -> str:
    """One aligned line: name, type, shape or length, and the value in short."""
    array = isinstance(value, np.ndarray)
    kind = f"{value.dtype} array" if array else type(value).__name__
    size = value.shape if array else len(value) if hasattr(value, "__len__") else ""
    return f"{name:<10} {kind:<20} {size!s:<13} {SHORT.repr(value)}"


def unpickle(script: str, **inputs: Any) -> tuple[str, list[str]]:
    """Unpickle a script's outcome in a throw-away process: the names looked up, the files left there."""
    with hookless.Worker(paths=[str(HERE)]) as worker:
        data: bytes = worker.call("with_pickle:outcome", str(HERE / script), inputs)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-I", str(HERE / "with_pickle.py")]
        done = subprocess.run(command, input=data, cwd=folder, stdout=subprocess.PIPE, timeout=60, check=True)
        files = [path.name for path in Path(folder).iterdir()]
    return ", ".join(sorted(set(done.stdout.decode().split()))), files
