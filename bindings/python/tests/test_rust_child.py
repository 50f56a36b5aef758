"""A host in Python, and a child that is written in Rust: the example of crates/hookless-tokio, attached."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hookless
from conftest import LANDLOCK_UNWANTED
from hookless import _launch
from processes import PATIENCE, holds

ROOT = Path(__file__).parents[3]


def test_children_of_both_hosts_start_alike() -> None:
    """Environment and socket are chosen twice, in Rust and in Python: what one changes, the other has to."""
    source = (ROOT / "crates/hookless-tokio/src/host/launch.rs").read_text(encoding="utf-8")

    def texts(name: str) -> list[str]:
        (found,) = re.findall(rf"const {name}: .*? =\s*\[(.*?)\];", source, re.DOTALL)
        return re.findall(r'"([^"]*)"', found)

    ours = _launch.ENVIRONMENT
    assert texts("ENVIRONMENT") == [text for pair in ours.items() for text in pair] != []
    assert texts("PASSED_ON") == list(_launch.PASSED_ON)
    (shift,) = re.findall(r"const SOCKET_BUFFER: usize = 512 << (\d+);", source)
    assert 512 << int(shift) == _launch._SOCKET_BUFFER


@pytest.fixture(scope="module")
def program() -> str:
    """The example, built. Without cargo there is nothing to test with, and that is a failure."""
    if shutil.which("cargo") is None:
        pytest.fail("cargo is not on PATH, which builds the child of these tests: install Rust by rustup")
    build = ["cargo", "build", "--locked", "-p", "hookless-tests", "--bin", "example_worker"]
    made = subprocess.run(
        [*build, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    messages = [json.loads(line) for line in made.stdout.splitlines()]
    found: list[str] = [one["executable"] for one in messages if one.get("executable")]
    return found[-1]


@pytest.fixture
def worker(program: str, tmp_path: Path) -> Iterator[hookless.Worker]:
    """The example as a worker; it ends by itself, and leaves nothing behind."""
    before = holds()
    ours, theirs = socket.socketpair()
    # Strict, where this kernel can be.
    arguments = [program, "--open"] if LANDLOCK_UNWANTED else [program]
    with subprocess.Popen(arguments, stdin=theirs.fileno(), env={"TMPDIR": str(tmp_path)}) as process:
        theirs.close()
        with hookless.Worker.attach(ours) as worker:
            yield worker
        assert process.wait(PATIENCE) == 0
    assert holds() == before


def test_calls_and_failures(worker: hookless.Worker) -> None:
    """What a function in Rust returns, and what it fails with, arrives as of any child."""
    rows = np.arange(3_000_000, dtype="f8").reshape(1000, 3000)
    assert worker.call("example:mean", rows) == rows.mean()
    with pytest.raises(ValueError, match="the mean of nothing") as raised:
        worker.call("example:mean", np.zeros(0))
    assert isinstance(raised.value, hookless.RemoteError)
    with pytest.raises(hookless.RemoteError, match="expected"):
        worker.call("example:mean", rows.astype("f4"))
    with pytest.raises(LookupError, match="there is no function"):
        worker.call("absent:function")
    assert worker.call("example:mean", rows) == rows.mean()


def test_a_stream(worker: hookless.Worker) -> None:
    """Items come while there is credit; one that is left is cancelled, and the worker goes on."""
    heard: list[tuple[int, int | None, str]] = []
    told = worker.options(on_progress=lambda *progress: heard.append(progress))
    assert list(told.stream("example:count", 100)) == list(range(100))
    assert heard[0] == (0, 100, "counting")
    with worker.stream("example:count", 1 << 31) as items:
        assert next(items) == 0
    assert list(worker.stream("example:count", 2)) == [0, 1]


@pytest.mark.skipif(LANDLOCK_UNWANTED, reason="HOOKLESS_TEST_NO_LANDLOCK=1 says that no child can be strict")
def test_it_is_held_back(worker: hookless.Worker, tmp_path: Path) -> None:
    """The sandbox is in force before a function runs."""
    secret = tmp_path.parent / "secret"
    secret.write_text("secret")
    with pytest.raises(PermissionError, match="Permission denied"):
        worker.call("example:peek", str(secret))
