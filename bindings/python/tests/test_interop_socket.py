"""Rust at one end of a socket, Python at the other: every vector in both directions."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import BinaryIO

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
    """What Rust sends Python describes as Rust does; what Python sends back is the value that Rust had."""
    address = str(tmp_path / "peer")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        with subprocess.Popen([peer, address], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as stream:
                count, last = serve(connection, stream)
            assert process.wait() == 0, process.stderr and process.stderr.read()
    assert last == count > 300


def serve(connection: socket.socket, stream: BinaryIO) -> tuple[int, object]:
    """Answer each frame by its description and its value; return how many came before the last, and that.

    A frame that this host cannot hold, for want of a time zone say, is answered by the code of its refusal.
    """
    count, last = 0, None
    while head := stream.read(32):
        body, data = int.from_bytes(head[16:24]), int.from_bytes(head[24:32])
        frame = head + stream.read(body + (-(32 + body) % 64 + data if data else 0))
        try:
            last = hookless.loads(frame)
            answer: object = describe(last)
        except hookless.DecodeError as error:
            if error.code not in ("zone_unknown", "dtype_unsupported"):
                raise
            last = answer = error.code
        connection.sendall(hookless.dumps(json.dumps(answer)) + hookless.dumps(last))
        count += 1
    return count - 1, last
