"""A hostile script: it prints without end, begins a frame that it never finishes, and kills itself."""
# ruff: noqa: F821 (the inputs are defined by the host; mypy checks the names)

import os
import signal

import hookless
import hookless.worker

mebibytes: int  # given by the host

line = b"all work and no play \x1b]0;your title\x07".ljust(63) + b"\n"
for _ in range(16 * mebibytes):
    os.write(1, line * 1024)

# Its call's own kind of frame, RESULT for call 1, with a list that promises 100 000 items.
body = hookless.dumps(list(range(100_000)))[32:]
head = b"HKLS\x01\x04\x00\x00" + (1).to_bytes(8) + len(body).to_bytes(8) + bytes(8)
os.write(hookless.worker.channel_fd(), head + body[: len(body) // 2])
os.kill(os.getpid(), signal.SIGKILL)
