"""An int that Python refuses to write out.

Wants: an exception in whoever prints the result, after it was taken as good
Against: `pickle.loads`, then `print`
Since: 0.1
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import hookless
from harness import expose, failure, naive

BIG = 10**5000
SCRIPT = """
from collections import Counter, deque
from fractions import Fraction
big = 10**5000
result = [big, range(big), slice(big), Fraction(big, 3), deque([big]), Counter({"a": big}), {"k": {big}}]
"""


def victim(data: bytes) -> None:
    print(pickle.loads(data))


def child() -> None:
    """Fail with it."""
    raise ValueError(BIG)


def peer() -> str:
    found = expose(__name__, pickle.dumps({"total": BIG}))
    assert "ValueError: Exceeds the limit" in found.err
    return "succeeds: ValueError in `print`, for any int of more than 4300 digits"


def ours() -> str:
    Path("script.py").write_text(SCRIPT)
    for options in ([], ["--json"]):
        command = [sys.executable, "-m", "hookless", "run", "script.py", "--isolation=none", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert json.loads(done.stdout)["ok"] is True
    error = failure(f"{__name__}:child")
    assert isinstance(error, hookless.RemoteError)
    for show in (str, repr, lambda error: error.remote.format()):
        assert len(show(error)) < 10_000
    record = hookless.loads(naive.frame(naive.record([("x", naive.integer(BIG))])))
    assert "bits" in repr(record)
    limits = hookless.Limits(int_bytes=1024)
    try:
        hookless.loads(hookless.dumps(BIG), limits=limits)
    except hookless.LimitExceeded as refused:
        assert refused.code == "int_limit"
    return (
        "not promised: an int of up to 16 KiB is a value, and `print` of it is the host's; `Limits.int_bytes`"
        " refuses it. What hookless itself shows (failures, records, `hookless run`) names its length"
    )
