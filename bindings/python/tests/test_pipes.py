"""C148: results of more than a pipe or a socket holds, through two small pipes and through a worker."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hookless import Limits, Worker
from hookless._hookless import Channel

PATIENCE = 60.0


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    """Host and worker over two pipes of 4096 bytes."""
    (worker_reads, host_writes), (host_reads, worker_writes) = os.pipe(), os.pipe()
    for end in (host_writes, worker_writes):
        assert fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096) == 4096
    host = Channel(host_reads, "host", write_fd=host_writes)
    worker = Channel(worker_reads, "worker", write_fd=worker_writes)
    yield host, worker
    host.close()
    worker.close()


def serve(worker: Channel) -> None:
    """Answer each call with its first argument, until the stream ends."""
    worker.hello(PATIENCE)
    while True:
        event: Any = worker.step(PATIENCE)
        if event[0] != "call":
            return
        worker.result(event[1], event[2][3][0])


@pytest.mark.parametrize("size", [4095, 4096, 65_536, 65_537, 262_144, 5_000_000])
def test_c148_through_pipes_of_one_page(ends: tuple[Channel, Channel], size: int) -> None:
    """Both ways at once is no deadlock either: an end that sends takes in what comes."""
    host, worker = ends
    thread = threading.Thread(target=serve, args=(worker,))
    thread.start()
    try:
        host.hello(PATIENCE)
        values = [b"x" * size, bytearray(b"y" * size), "z" * size]
        numbers = [host.begin(0, "m:f", None, (value,), {}) for value in values]
        for number, value in zip(numbers, values, strict=True):
            event: Any = host.step(PATIENCE)
            assert event[:2] == ("result", number)
            assert type(event[2]) is type(value) and event[2] == value
            host.release(event[3])
        host.shutdown()
        assert host.flush(PATIENCE) is not False
    finally:
        host.close()
        thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.mark.parametrize("size", [65_536, 65_537, 262_144, 100_000_000])
def test_c148_results_of_a_worker(shared: Worker, size: int) -> None:
    """Whatever the kernel holds, the host reads while it waits."""
    value = shared.call("jobs:filled", size)
    assert type(value) is bytes and value == b"x" * size


def test_l10_hello_is_handed_on() -> None:
    """The first answer is bounded by its own limits alone, for nothing else is held then."""
    ours, theirs = socket.socketpair()
    host = Channel(ours.detach(), "host", limits=Limits(undelivered=1000))
    worker = Channel(theirs.detach(), "worker")
    thread = threading.Thread(target=serve, args=(worker,))
    thread.start()
    try:
        host.hello(PATIENCE)
        for _ in range(2):
            host.begin(0, "m:f", None, (b"x" * 50_000,), {})
            event: Any = host.step(PATIENCE)
            assert (event[0], event[2]) == ("result", b"x" * 50_000)
            host.release(event[3])
    finally:
        host.close()
        thread.join(PATIENCE)
    worker.close()
