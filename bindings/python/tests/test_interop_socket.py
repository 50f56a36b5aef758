"""Rust at one end of a socket, Python at the other: every vector in both directions."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import hookless
from describing import describe

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def peer() -> Path:
    """The Rust program `tests/peer.rs`, built."""
    build = ["cargo", "build", "--locked", "-p", "hookless-tests", "--example", "peer"]
    made = subprocess.run(
        [*build, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    messages = [json.loads(line) for line in made.stdout.splitlines()]
    return Path(next(one["executable"] for one in messages if one.get("executable")))


def test_every_vector_both_ways(peer: Path, tmp_path: Path) -> None:
    """What Rust sends Python describes as Rust does, and what Python sends back is the value that Rust had."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and numpy.__version__.startswith("1."):
        pytest.skip("NumPy 1 has neither 64 dimensions nor StringDType; the newest NumPy and none run this")
    address = str(tmp_path / "peer")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        with subprocess.Popen([peer, address], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = listener.accept()
            with connection:
                count, last = serve(connection)
            assert process.wait() == 0, process.stderr and process.stderr.read()
    assert last == count > 300


def serve(connection: socket.socket) -> tuple[int, object]:
    """Answer each frame by its description and its value; return how many there were before the last, and that."""
    decoder = hookless.Decoder()
    count, last = 0, None
    waiting: list[object] = []
    while chunk := connection.recv(1 << 16):
        waiting += [frame.value for frame in decoder.feed(chunk)]
        while waiting:
            last = waiting.pop(0)
            connection.sendall(hookless.dumps(json.dumps(describe(last))) + hookless.dumps(last))
            count += 1
    return count - 1, last
