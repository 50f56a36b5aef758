"""What `import hookless` brings in, and what the first decode does."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str, *, data: bytes = b"") -> str:
    """Runs the code in a fresh interpreter; `data` is its standard input."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], input=data, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


IMPORTED = """
import sys
before = set(sys.modules)
import hookless
print(*sorted(set(sys.modules) - before))
"""

HEAVY = [
    "numpy",
    "datetime",
    "decimal",
    "fractions",
    "uuid",
    "zoneinfo",
    "ipaddress",
    "pathlib",
    "msgspec",
    "pandas",
]
CARRIERS = [
    *("hookless._framing", "hookless._mapped", "hookless.events"),
    *("hookless.http", "hookless.pools", "hookless.sse", "hookless.streams", "hookless.zmq"),
    *("zmq", "aiohttp", "asyncio", "binascii", "mmap", "dataclasses", "concurrent"),
]
UNSAFE = ["pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "ctypes", "multiprocessing"]


@pytest.mark.parametrize("module", HEAVY + UNSAFE + CARRIERS)
def test_import_is_light(module: str) -> None:
    """`import hookless` alone imports no value module, and nothing that could unpickle."""
    assert module not in run(IMPORTED).split()


def test_import_starts_nothing() -> None:
    """No thread, no descriptor, no signal handler."""
    code = """
import os, signal, threading
def state():
    handlers = [signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT)]
    return sorted(os.listdir("/proc/self/fd")), handlers
before = state()
import hookless
print(before == state(), threading.active_count(), len(os.listdir("/proc/self/task")))
"""
    assert run(code) == "True 1 1"


def test_use_numpy_without_numpy_is_an_import_error() -> None:
    """Asked for and absent: said at once, not at the first array."""
    code = """
import sys, hookless
sys.modules["numpy"] = None
try:
    hookless.use_numpy()
except ImportError as error:
    print("numpy" in str(error).lower())
"""
    assert run(code) == "True"


WARM = """
import sys
import hookless
events, on = [], False
def hook(event, arguments):
    if on and event in ("open", "import", "exec", "compile"):
        events.append((event, arguments[0]))
sys.addaudithook(hook)
frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
try:
    hookless.loads(b"")
except hookless.Truncated:
    pass
on, modules = True, set(sys.modules)
for frame in frames:
    try:
        hookless.loads(frame)
    except hookless.DecodeError:
        pass
on = False
print(events, set(sys.modules) - modules)
"""


def test_everything_is_imported_before_the_first_byte() -> None:
    """After one decode, even of nothing, no value makes the host open or import anything."""
    from samples import frames

    text = "\n".join(frame.hex() for frame in frames().values())
    assert run(WARM, data=text.encode()) == "[] set()"


def test_public_names() -> None:
    """`__all__` names what exists, and nothing private."""
    import hookless

    assert len(hookless.__all__) == len(set(hookless.__all__))
    for name in hookless.__all__:
        assert not name.startswith("_") or name == "__version__"
        assert hasattr(hookless, name)
    wanted = {
        "dumps",
        "loads",
        "encode",
        "decode",
        "dump",
        "load",
        "Decoder",
        "Limits",
        "Worker",
        "RemoteError",
        "use_numpy",
    }
    assert wanted <= set(hookless.__all__)
