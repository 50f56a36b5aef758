"""What ordinary code does inside a sandboxed child."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zoneinfo
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any


def threads(count: int) -> list[int]:
    with ThreadPoolExecutor(count) as pool:
        barrier = threading.Barrier(count)

        def one(number: int) -> int:
            barrier.wait(30)
            return number

        return list(pool.map(one, range(count)))


async def sleepers(count: int) -> int:
    async def one() -> int:
        await asyncio.sleep(0.01)
        return await asyncio.to_thread(lambda: 1)

    return sum(await asyncio.gather(*(one() for _ in range(count))))


def offset(zone: str) -> float:
    found = datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo(zone)).utcoffset()
    assert found is not None
    return found.total_seconds()


def local_offset() -> int:
    return time.localtime(1_800_000_000).tm_gmtoff


def temporary() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"x" * 100_000)
        file.flush()
        size = os.path.getsize(file.name)
        os.symlink(file.name, Path(folder, "link"))
        os.rename(Path(folder, "link"), Path(folder, "other"))
    with tempfile.TemporaryFile() as nameless:
        nameless.write(b"y")
    Path("here.txt").write_text("relative to the folder that it starts in")
    return {"folder": tempfile.gettempdir(), "size": size, "left": sorted(os.listdir("."))}


def database() -> list[int]:
    with sqlite3.connect("test.db") as connection:
        connection.execute("create table t (x)")
        connection.executemany("insert into t values (?)", [(i,) for i in range(100)])
        return [row[0] for row in connection.execute("select sum(x) from t")]


def imports(names: list[str]) -> None:
    for name in names:
        __import__(name)


def processors() -> tuple[int | None, int]:
    return os.cpu_count(), len(os.sched_getaffinity(0))


def refused_program() -> str:
    """A program that cannot be started is an ordinary error of subprocess."""
    try:
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    except OSError as error:
        return type(error).__name__
    return "it ran"
