"""What code with NumPy and pandas does inside a sandboxed child."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def blas(size: int) -> tuple[float, int]:
    """The largest error of a product, and how many threads run after it: BLAS has started its own."""
    rng = np.random.default_rng(1)
    left, right = rng.random((size, size)), rng.random((size, size))
    product = left @ right
    rows = [0, size // 2, size - 1]
    exact = np.array([[sum(left[i, k] * right[k, j] for k in range(size)) for j in rows] for i in rows])
    np.linalg.svd(left[:200, :200])
    return float(abs(product[np.ix_(rows, rows)] - exact).max()), len(os.sched_getaffinity(0))


def saved(path: str) -> Any:
    array = np.arange(100_000.0)
    np.save(path, array)
    mapped = np.load(path, mmap_mode="r")
    return mapped[::1000].sum()


def frame(rows: int) -> dict[str, Any]:
    import pandas as pd

    table = pd.DataFrame({"key": np.arange(rows) % 7, "value": np.arange(rows, dtype="f8")})
    table["when"] = pd.date_range("2026-01-01", periods=rows, freq="min", tz="Europe/Berlin")
    table.to_csv("table.csv", index=False)
    again = pd.read_csv("table.csv")
    means = again.groupby("key")["value"].mean()
    return {"rows": len(again), "means": means.to_numpy(), "zone": str(table["when"].dt.tz)}
