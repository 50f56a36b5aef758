"""Frames from one Python and NumPy to another: `exchange.py write DIR`, then `exchange.py read DIR` by each.

`write` encodes a fixed list of samples with what this interpreter has into DIR/frames.json: each frame in
hex, and its value as `describing` has it. `read` takes the frames.json of every folder in DIR: each value
must be the one described and encode to the same bytes, or be refused by the code for what this host lacks.
"""

from __future__ import annotations

import argparse
import array
import importlib.util
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hookless
import naive
from describing import describe
from lacking import lacking_here
from samples import ARRAYS, EXCEPTION, PLAIN, RECORDS
from standard_samples import STANDARD

NUMPY_HERE = importlib.util.find_spec("numpy") is not None


def samples() -> dict[str, bytes]:
    """Frames by name, each of one value, of every kind that this interpreter can make."""
    values = dict(PLAIN)
    found = STANDARD | ({"array of w": [array.array("w", "\u6f22")]} if "w" in array.typecodes else {})
    if NUMPY_HERE:
        from numpy_samples import EXTENSIONS, NUMPY

        found = found | NUMPY | EXTENSIONS
    values |= {f"{name} {at}": value for name, line in found.items() for at, value in enumerate(line)}
    frames = {name: hookless.dumps(value) for name, value in values.items()}
    # What no interpreter lacks: records, a failure, and arrays that are written out byte by byte.
    bodies = {
        **RECORDS,
        "exception": EXCEPTION,
        **{f"bytes of {name}": body for name, body in ARRAYS.items()},
    }
    return frames | {name: naive.frame(body) for name, body in bodies.items()}


def host() -> str:
    """Which Python and NumPy this is."""
    numpy = sys.modules["numpy"].__version__ if NUMPY_HERE else "none"
    return f"Python {platform.python_version()}, NumPy {numpy}"


def write(folder: Path) -> str:
    """Write the samples into a folder; returns how many there are."""
    found = [
        {"name": name, "frame": frame.hex(), "value": describe(hookless.loads(frame))}
        for name, frame in samples().items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"by": host(), "frames": found}, indent=0)
    (folder / "frames.json").write_text(text, encoding="utf-8")
    return f"{len(found)} frames by {host()}"


def _decoders(frame: bytes) -> list[Callable[[], Any]]:
    """Every way in."""
    return [
        lambda: hookless.loads(frame),
        lambda: hookless.loads(frame, copy=False),
        lambda: hookless.decode([frame[:33], frame[33:]]),
        lambda: hookless.Decoder().feed(frame)[0].value,
    ]


def _differs(frame: bytes, described: Any, lacking: str) -> str:
    """What is wrong with a frame here; else empty."""
    for decode in _decoders(frame):
        try:
            value = decode()
        except hookless.DecodeError as error:
            if error.code != lacking:
                return f"refused, and {lacking or 'nothing'} is lacking here: {error}"
            continue
        if lacking:
            return f"accepted, though this host lacks what it holds ({lacking})"
        if describe(value) != described:
            return f"another value: {describe(value)!s:.300} is not {described!s:.300}"
        if hookless.dumps(value) != frame:
            return "encodes to other bytes"
    return ""


def read(folder: Path) -> str:
    """Read what every interpreter wrote. Ends the program with a list of what is not as it was."""
    files = sorted(folder.glob("*/frames.json"))
    wrong, count, lacked = [], 0, 0
    for file in files:
        written = json.loads(file.read_text(encoding="utf-8"))
        for one in written["frames"]:
            lacking = lacking_here(one["value"])
            count, lacked = count + 1, lacked + bool(lacking)
            problem = _differs(bytes.fromhex(one["frame"]), one["value"], lacking)
            if problem:
                wrong.append(f"{one['name']}, written by {written['by']}: {problem}")
    if wrong or not count:
        sys.exit("\n".join([f"{host()}:", *(wrong or [f"no frames in the folders of {folder}"])]))
    return f"{count} frames of {len(files)} hosts by {host()}; {lacked} refused for what is lacking here"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["write", "read"])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    hookless.warm_up()
    if NUMPY_HERE:
        # Types of ml_dtypes arrive as such only where it is loaded.
        importlib.import_module("ml_dtypes")
        hookless.use_numpy()
    print((write if options.action == "write" else read)(options.folder))


if __name__ == "__main__":
    main()
