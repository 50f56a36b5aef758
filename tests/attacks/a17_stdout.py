"""A forged result on standard output.

Wants: to answer by print what the honest code answers otherwise
Against: JSON lines on standard output
Since: 0.1
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from harness import call, expose, naive, worker

CHILD = """
import json
print('{"id": 1, "result": "forged"}')   # foreign code prints
print(json.dumps({"id": 1, "result": "honest"}))
"""


def victim(data: bytes) -> None:
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    print(json.loads(done.stdout.splitlines()[0])["result"])


def child(frame: bytes) -> str:
    """Print a whole frame, on both descriptors, and by descriptor as well."""
    for stream in (sys.stdout, sys.stderr):
        stream.buffer.write(frame)
        stream.flush()
    os.write(1, frame)
    return "honest"


def peer() -> str:
    assert expose(__name__).out.strip() == "forged"
    return "succeeds: the first line is believed"


def ours() -> str:
    forged = naive.frame(naive.text("forged"), kind=naive.RESULT, call_id=1)
    assert call(f"{__name__}:child", forged) == "honest"
    with worker() as own:
        assert own.call(f"{__name__}:child", forged) == "honest"
        assert own.output.count(forged) == 3
    return "holds: results have a socket of their own; a whole frame on descriptors 1 and 2 is output"
