"""The contenders across two processes: each asks a child of its own for a value by name."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import across_values as values
import hookless
from peers import scan_loads

HERE = str(Path(__file__).resolve().parent)


class Contender(ABC):
    """A child process and a way to get values from it."""

    name: ClassVar[str]
    label: ClassVar[str]
    # What it can carry; all by default.
    carries: ClassVar[tuple[str, ...]] = values.NAMES

    @abstractmethod
    def fetch(self, name: str) -> Any:
        """Return the value of that name, made by the child."""

    @abstractmethod
    def stop(self) -> None:
        """End the child."""

    def timed(self, name: str, loops: int) -> float:
        """Return the seconds of so many fetches; each value is freed inside the clock."""
        fetch, began = self.fetch, time.perf_counter()
        for _ in range(loops):
            fetch(name)
        return time.perf_counter() - began


class Hookless(Contender):
    """`Worker.call`."""

    name, label = "hookless", "hookless.Worker, isolation strict"

    def __init__(self) -> None:
        self._worker = hookless.Worker(paths=[HERE])

    def fetch(self, name: str) -> Any:
        return self._worker.call("across_values:give", name)

    def stop(self) -> None:
        self._worker.close()


class HooklessAsync(Contender):
    """`aio.Worker.call`, one after the other on one loop."""

    name, label = "hookless-aio", "hookless.aio.Worker, isolation strict"

    def __init__(self) -> None:
        from hookless import aio

        self._loop = asyncio.new_event_loop()
        self._worker = self._loop.run_until_complete(aio.Worker(paths=[HERE]).__aenter__())

    def fetch(self, name: str) -> Any:
        return self._loop.run_until_complete(self._worker.call("across_values:give", name))

    def timed(self, name: str, loops: int) -> float:
        async def run() -> float:
            began = time.perf_counter()
            for _ in range(loops):
                await self._worker.call("across_values:give", name)
            return time.perf_counter() - began

        return self._loop.run_until_complete(run())

    def stop(self) -> None:
        self._loop.run_until_complete(self._worker.__aexit__(None, None, None))
        self._loop.close()


class _Connection(Contender):
    """A child at the other end of a `multiprocessing.Pipe`."""

    @abstractmethod
    def _serves(self) -> Callable[..., None]:
        """Return what the child runs, with its end."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=self._serves(), args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()


class HooklessPipe(_Connection):
    """The recipe of CARRIERS.md: what the codec does where no session is."""

    name = "hookless-pipe"
    label = "hookless frames by multiprocessing.Pipe: no session, no deadline, no sandbox"
    # Larger ones would be copied at both ends, which a worker does not.
    carries = ("8 B", "1 KiB", "16 KiB", "64 KiB", *values.RECORDS)

    def _serves(self) -> Callable[..., None]:
        return values.serve_frames

    def fetch(self, name: str) -> Any:
        self._connection.send_bytes(hookless.dumps(name))
        return hookless.loads(self._connection.recv_bytes(values.MIB))

    def stop(self) -> None:
        self._connection.send_bytes(hookless.dumps(None))
        self._process.join()


class MultiprocessingPipe(_Connection):
    """`multiprocessing.Pipe`, whose ends pickle."""

    name, label = "mp-pipe", "multiprocessing.Pipe (pickle)"

    def _serves(self) -> Callable[..., None]:
        return values.serve_connection

    def fetch(self, name: str) -> Any:
        self._connection.send(name)
        return self._connection.recv()

    def stop(self) -> None:
        self._connection.send(None)
        self._process.join()


class _Served(Contender):
    """A child of `across_values.py` with a way in and a way out."""

    serves: ClassVar[str]

    def __init__(self) -> None:
        self._asks, self._out, theirs = self._ends()
        command = [sys.executable, values.__file__, self.serves, *map(str, theirs)]
        self._process = subprocess.Popen(command, pass_fds=theirs)
        for end in set(theirs):
            os.close(end)

    def _ends(self) -> tuple[int, int, tuple[int, int]]:
        """Return where to ask, where to read, and the child's two ends: those of a socket pair."""
        ours, theirs = (end.detach() for end in values.socket_pair())
        return ours, ours, (theirs, theirs)

    def stop(self) -> None:
        for end in {self._asks, self._out}:
            os.close(end)
        self._process.wait()


class RawSocket(_Served):
    """The bytes alone, into memory of the same kind: what no codec can be faster than."""

    name, label, serves = "raw-socket", "raw socketpair, no codec", "raw"

    def fetch(self, name: str) -> Any:
        values.ask(self._asks, name)
        into: Any
        if values.SIZES.get(name, 0) >= values.KIB:
            into = np.empty(values.SIZES[name] // 8)
        else:
            into = bytearray(len(values.raw(name)))
        values.read_into(self._out, memoryview(into).cast("B"))
        return into


class RawPipe(RawSocket):
    """Likewise, through a pipe of the most that root or anybody may have."""

    name, label = "raw-pipe", "raw pipe of 1 MiB, no codec"

    def _ends(self) -> tuple[int, int, tuple[int, int]]:
        (their_asks, asks), (out, their_out) = os.pipe(), os.pipe()
        fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, values.MIB)
        return asks, out, (their_asks, their_out)


class Scanned(_Served):
    """pickle whose opcodes are walked before it is loaded, with an allow-list."""

    name, label, serves = "pickle-scan", "pickle with opcode scan, over a socketpair", "pickle"
    carries = ("8 B", "1 KiB", "16 KiB", "64 KiB", *values.RECORDS)

    def fetch(self, name: str) -> Any:
        values.ask(self._asks, name)
        return scan_loads(bytes(values.read_exactly(self._out)))


class Lines(_Served):
    """pickle as base85 in lines of server-sent events."""

    name, label, serves = "b85-lines", "pickle as base85 in SSE lines", "lines"
    carries = ("8 B", "1 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", *values.RECORDS)

    def fetch(self, name: str) -> Any:
        values.ask(self._asks, name)
        found = bytearray()
        while not found.endswith(b"\n\n"):
            found += os.read(self._out, values.MIB)
        return pickle.loads(base64.b85decode(b"".join(line[6:] for line in found.split(b"\n"))))


class Zmq(Contender):
    """pyzmq over ipc://, arrays out of band and as views of what was received."""

    name, label = "pyzmq", "pyzmq ipc://, pickle 5 out of band"

    def __init__(self) -> None:
        import zmq

        self._folder = tempfile.TemporaryDirectory()
        address = f"ipc://{self._folder.name}/socket"
        self._socket: Any = zmq.Context.instance().socket(zmq.PAIR)
        self._socket.bind(address)
        self._process = subprocess.Popen([sys.executable, values.__file__, "zmq", address])

    def fetch(self, name: str) -> Any:
        self._socket.send(name.encode())
        head, *buffers = self._socket.recv_multipart(copy=False)
        return pickle.loads(head.buffer, buffers=[one.buffer for one in buffers])

    def stop(self) -> None:
        self._socket.send(b"")
        self._process.wait()
        self._socket.close()
        self._folder.cleanup()


class Copy(Contender):
    """No second process: a copy of the array, the limit of the machine."""

    name, label = "copy", "src.copy() in one process"
    carries = tuple(name for name, size in values.SIZES.items() if size >= values.KIB)

    def fetch(self, name: str) -> Any:
        return values.value(name).copy()

    def stop(self) -> None:
        pass


CONTENDERS: tuple[type[Contender], ...] = (
    Hookless,
    HooklessAsync,
    HooklessPipe,
    MultiprocessingPipe,
    Zmq,
    RawSocket,
    RawPipe,
    Copy,
    Scanned,
    Lines,
)
