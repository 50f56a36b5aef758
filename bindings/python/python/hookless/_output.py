"""What a child prints: all of it is taken, the end is kept, and who asks is given it, within a budget."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, TypeAlias

__all__ = ["BUDGET", "KEPT", "MARK", "Listener", "Output", "Sink", "drain"]

Listener: TypeAlias = Callable[[Literal["stdout", "stderr"], bytes], object]

# Bytes that are kept of the child's output, and of its standard error.
KEPT = 64 << 10

# What is read of a pipe at once, and in one go at most: what it can hold, so that a child that never stops
# writing cannot hold up its own result.
_PIPE, _DRAIN = 65_536, 1 << 20

# Bytes of one call's output that a listener is given at most, and what it is given in place of the rest.
BUDGET = 16 << 20
MARK = b"\n[hookless: output past 16 MiB dropped]\n"


class _Tail:
    """The end of a stream of bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        self._bytes += data
        if len(self._bytes) > 2 * KEPT:
            del self._bytes[:-KEPT]

    def read(self) -> bytes:
        return bytes(self._bytes[-KEPT:])


class Output:
    """The end of what a child has printed so far."""

    def __init__(self) -> None:
        self._both, self._errors = _Tail(), _Tail()
        # Bytes that listeners were not given.
        self.dropped = 0

    def keep(self, index: int, data: bytes) -> None:
        """Note what came from standard output (0) or standard error (1)."""
        self._both.add(data)
        if index == 1:
            self._errors.add(data)

    @property
    def both(self) -> bytes:
        """The last `KEPT` bytes of both, in the order of their arrival."""
        return self._both.read()

    @property
    def errors(self) -> bytes:
        """The last `KEPT` bytes of standard error."""
        return self._errors.read()


class Sink:
    """Takes the output of one call: keeps its end, and gives it to the listener."""

    def __init__(self, output: Output, listener: Listener | None) -> None:
        self._output, self._listener = output, listener
        self._left = BUDGET
        # What the listener raised. It is given nothing more; the call goes on, so the session stays whole.
        self.error: Exception | None = None

    def __call__(self, index: int, data: bytes) -> None:
        self._output.keep(index, data)
        if self._listener is None or self.error is not None:
            return
        given = data[: max(self._left, 0)]
        dropped = len(data) - len(given)
        self._give(index, given)
        if dropped and self._left >= 0:
            self._give(index, MARK)
            self._left = -1
        else:
            self._left -= len(given)
        self._output.dropped += dropped

    def _give(self, index: int, data: bytes) -> None:
        if self._listener is None or self.error is not None or not data:
            return
        try:
            self._listener("stderr" if index else "stdout", data)
        except Exception as error:  # noqa: BLE001 (raised again when the call is over)
            self.error = error


def drain(outputs: list[int], sink: Sink) -> None:
    """Give the sink what the pipes hold, which are non-blocking; one that ends becomes -1."""
    for index, descriptor in enumerate(outputs):
        drained = 0
        while outputs[index] >= 0 and drained < _DRAIN:
            try:
                data = os.read(descriptor, _PIPE)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                outputs[index] = -1
                break
            drained += len(data)
            sink(index, data)
