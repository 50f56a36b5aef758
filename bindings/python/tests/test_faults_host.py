"""A host that is killed, whatever its child is doing: the child is gone in bounded time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from processes import has_ended, wait_until

# How the host uses the child when it is killed: target, and how it is called.
DOINGS = {
    "idle": "pass",
    "plain code": "worker.call('faults:busy', log)",
    "asleep": "worker.call('faults:asleep', log)",
    "a stream that waits for credit": "stream = worker.stream('faults:endless', log); next(stream)",
    "a stream that is read": "for _ in worker.stream('faults:endless', log): pass",
    "a stream that makes an item": "list(worker.stream('faults:stuck_stream', log))",
    "a coroutine": "worker.call('faults:waiting', log)",
    "a coroutine that holds up its loop": "worker.call('faults:blocking', log)",
    "code that heeds nothing": "worker.call('faults:call', 'deaf', log)",
    "a large result": "while True: worker.call('faults:flooding', log)",
    "a large argument": "worker.call('faults:note', log)\nworker.call('jobs:same', bytes(1 << 30))",
}

PROGRAM = """
import os, sys, threading, time
import hookless
children, log = sys.argv[1:]
worker = hookless.Worker(paths=[children], isolation="none")
print(worker.call("jobs:pid"), flush=True)
def work():
{doing}
threading.Thread(target=work, daemon=True).start()
time.sleep(600)
"""

LOOP = """
import asyncio, sys
from hookless import aio
children, log = sys.argv[1:]
async def main():
    async with aio.Worker(paths=[children], isolation="none") as worker:
        print(await worker.call("jobs:pid"), flush=True)
        async def read():
            async for _ in worker.stream("faults:endless", log):
                pass
        await asyncio.gather(read(), worker.call("faults:waiting", log))
asyncio.run(main())
"""

EXECUTOR = """
import sys
import hookless
children, log = sys.argv[1:]
with hookless.Executor(2, paths=[children], isolation="none") as executor:
    print(*{executor.submit("jobs:pid").result() for _ in range(2)}, flush=True)
    executor.submit("faults:busy", log)
    executor.submit("faults:asleep", log).result()
"""


def killed(program: str, children: str, log: Path, *, marks: int) -> None:
    """Kill a host once so many calls have left their mark; its children have to end."""
    log.touch()
    command = [sys.executable, "-c", program, children, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        pids = {int(pid) for pid in host.stdout.readline().split()}
        wait_until(lambda: len(log.read_text().splitlines()) >= marks)
        pids |= {int(pid) for pid in log.read_text().split()}
        assert pids and all(os.path.exists(f"/proc/{pid}") for pid in pids)
        host.send_signal(signal.SIGKILL)
    wait_until(lambda: all(map(has_ended, pids)))


@pytest.mark.parametrize("doing", DOINGS)
def test_c165_the_host_is_killed(children: str, tmp_path: Path, doing: str) -> None:
    """Idle or busy, in a call or a stream: no child works on for nobody, or stays for ever."""
    body = "\n".join(f"    {line}" for line in DOINGS[doing].splitlines())
    killed(PROGRAM.format(doing=body), children, tmp_path / "log", marks=int(doing != "idle"))


def test_c165_the_host_of_a_loop_is_killed(children: str, tmp_path: Path) -> None:
    killed(LOOP, children, tmp_path / "log", marks=2)


def test_c165_the_host_of_an_executor_is_killed(children: str, tmp_path: Path) -> None:
    killed(EXECUTOR, children, tmp_path / "log", marks=2)
