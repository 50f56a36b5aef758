"""An honest script that hands back an object of a class of its own.

It runs in the child with `rows`, as analysis.py does. The host has no such class; it says by one of its own
what it wants to have.
"""
# ruff: noqa: F821 (the input is defined by the host; mypy checks the name)

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

rows: list[dict[str, str]]  # given by the host: an input is a global of that name


@dataclass
class Summary:
    """What there is to say of a colony."""

    first_egg: datetime
    mean_mass: Decimal  # kg
    sizes: NDArray[np.float64]  # one row for each bird: flipper in mm, mass in g


measured = [row for row in rows if row["Body Mass (g)"] != "NA"]
grams = [Decimal(row["Body Mass (g)"]) for row in measured]
result = Summary(
    first_egg=min(datetime.fromisoformat(row["Date Egg"]).replace(tzinfo=UTC) for row in measured),
    mean_mass=(sum(grams, Decimal()) / len(grams) / 1000).quantize(Decimal("0.0001")),
    sizes=np.array([[float(row["Flipper Length (mm)"]), float(row["Body Mass (g)"])] for row in measured]),
)
