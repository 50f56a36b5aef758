"""What can go wrong in a child, for every way to call it, as the table of the README here has it."""

from __future__ import annotations

import builtins
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

import hookless
from faulty import WAYS, nothing_left
from hookless import HooklessError, RemoteError, WorkerDied
from processes import wait_until

README = Path(__file__).parents[1] / "README.md"

# The rows of the table, by what children/faults.py calls them.
FAULTS = {
    "is killed, also by the kernel that has no memory left": "killed",
    "crashes": "crash",
    "exits, also with status 0": "exit",
    "exits in the midst of a frame": "half and exit",
    "exits, while a process that it started holds the channel": "heir",
    "closes the channel": "close",
    "writes to the channel what is no frame": "garbage",
    "sends a frame that is not its turn": "second hello",
    "begins a frame and stands still for `stall` seconds": "half and nothing",
    "asks for more memory than it may have": "memory",
    "closes standard output and standard error": "no output",
    "is late": "late",
    "is late, and does not heed that it is cancelled": "deaf",
}


@dataclass
class Row:
    """What the table says of a fault."""

    raises: str
    says: str
    goes_on: bool


def table() -> dict[str, Row]:
    """The rows, by the child's doings."""
    found = {}
    lines = README.read_text(encoding="utf-8").split("## How a call can end\n", 1)[1].split("\n## ", 1)[0]
    for line in lines.splitlines():
        if line.startswith("| ") and not line.startswith("| the child |"):
            doing, raises, says, worker = (cell.strip() for cell in line.strip("|").split("|"))
            assert worker in ("over", "goes on")
            found[doing] = Row(raises.strip("`"), says.strip("`"), worker == "goes on")
    return found


TABLE = table()


def test_the_table_has_each_fault() -> None:
    """And no other."""
    assert TABLE.keys() == FAULTS.keys()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("doing", FAULTS)
def test_a_fault(children: str, tmp_path: Path, way: str, doing: str) -> None:
    """The outcome is that of the table; items that came before are there; the others have theirs."""
    row, fault, log = TABLE[doing], FAULTS[doing], tmp_path / "log"
    with nothing_left():
        deadline = 1.0 if "late" in doing else None
        found = WAYS[way](children, fault, str(log), deadline)
    if row.raises == "nothing":
        assert found.value == "done"
    else:
        expected = getattr(hookless, row.raises, None) or getattr(builtins, row.raises)
        assert isinstance(found.value, expected) and row.says in str(found.value)
        assert isinstance(found.value, HooklessError) != isinstance(found.value, RemoteError)
        assert isinstance(found.value, HooklessError) == hasattr(hookless, row.raises)
    assert found.items == ([1, 2] if "stream" in way else [])
    assert found.is_alive == row.goes_on
    if row.goes_on or way == "executor":
        assert (found.after, found.other) == (42, list(range(50)))
    else:
        assert isinstance(found.after, WorkerDied) and isinstance(found.other, WorkerDied)
        assert "since an earlier call" in str(found.after)
    assert len(log.read_text().splitlines()) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stops", [False, True])
def test_from_outside(children: str, tmp_path: Path, way: str, stops: bool) -> None:
    """As the kernel kills it when memory is short; one that is stopped first is killed all the same."""
    log = tmp_path / "log"
    log.touch()

    def kill() -> None:
        wait_until(lambda: log.read_text().endswith("\n"))
        time.sleep(0.05)
        pid = int(log.read_text())
        if stops:
            os.kill(pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)

    killing = threading.Thread(target=kill)
    with nothing_left():
        killing.start()
        found = WAYS[way](children, "late", str(log), None)
        killing.join()
    assert isinstance(found.value, WorkerDied) and "was killed by SIGKILL (9)" in str(found.value)
    assert found.value.signal == signal.SIGKILL
    assert len(log.read_text().splitlines()) == 1


@pytest.mark.parametrize("way", ["call", "stream", "aio call", "aio stream", "executor"])
def test_stopped(children: str, tmp_path: Path, way: str) -> None:
    """A child that does not run at all is late, and cannot heed anything."""
    log = tmp_path / "log"
    log.touch()

    def stop() -> None:
        wait_until(lambda: log.read_text().endswith("\n"))
        os.kill(int(log.read_text()), signal.SIGSTOP)

    stopping = threading.Thread(target=stop)
    with nothing_left():
        stopping.start()
        found = WAYS[way](children, "late", str(log), 1.0)
        stopping.join()
    assert isinstance(found.value, hookless.DeadlineExceeded)
    assert "the worker's child was stopped" in str(found.value) and not found.is_alive
