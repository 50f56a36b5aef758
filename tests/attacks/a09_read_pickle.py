"""A data frame that is a gadget.

Wants: code in whoever opens a table
Against: `pandas.read_pickle`
Since: 0.1
"""

from __future__ import annotations

import io

import pandas

from gadgets import carried, reduced
from harness import expose, naive, refused


def victim(data: bytes) -> None:
    pandas.read_pickle(io.BytesIO(data))


def peer() -> str:
    assert expose(__name__, reduced()).marked
    return "succeeds: the command runs"


def ours() -> str:
    # Kind 28 is kept for tables, and no decoder reads it yet.
    table = naive.frame(naive.node(28, [naive.binary(reduced())]))
    return f"{carried(reduced())}; the number that is kept for tables is {refused(table, 'unknown_kind')}"
