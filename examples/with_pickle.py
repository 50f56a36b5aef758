"""The usual way, for comparison: a child pickles what came out of a script, the host unpickles it.

`outcome` runs in the child. Run as a program, this file is the trusting host: it unpickles its standard input
and prints each name that the bytes made it look up. The demo runs it only in a throw-away process
and folder.
"""

import pickle
import runpy
import sys
from pathlib import Path
from typing import Any


def outcome(script: str, inputs: dict[str, Any]) -> bytes:
    """Run a script and pickle what came out of it: its `result`, or the exception that ended it."""
    try:
        made = runpy.run_path(script, inputs)["result"]
    except Exception as error:
        made = error
    return pickle.dumps(made)


class Watched(pickle.Unpickler):
    """`pickle.loads` that tells what it is made to look up."""

    def find_class(self, module: str, name: str) -> Any:
        print(f"{module}.{name}")
        return super().find_class(module, name)


if __name__ == "__main__":
    # This host has the classes of traps.py, as it has NumPy's.
    sys.path.append(str(Path(__file__).resolve().parent))
    Watched(sys.stdin.buffer).load()
