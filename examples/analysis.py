"""An honest script, as a data scientist or a language model would write it. The host does not trust it.

It runs in the child with `rows`, one dict for each line of the CSV file. The host receives what it leaves in
`result`.
"""
# ruff: noqa: F821 (the inputs are defined by the host; mypy checks the names)

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
rows: list[dict[str, str]]  # given by the host: an input is a global of that name


def density(x: Floats, y: Floats, grid_x: Floats, grid_y: Floats) -> Floats:
    """Spread each point as a Gaussian over the grid. Shape (len(grid_y), len(grid_x)); the volume is 1."""
    scott = len(x) ** (-1 / 6)  # Scott's rule for the width in two dimensions
    width_x, width_y = x.std() * scott, y.std() * scott
    kernel_x = np.exp(-0.5 * ((grid_x[:, None] - x) / width_x) ** 2)
    kernel_y = np.exp(-0.5 * ((grid_y[:, None] - y) / width_y) ** 2)
    total: Floats = kernel_y @ kernel_x.T / (2 * math.pi * width_x * width_y * len(x))
    return total


measured = [row for row in rows if row["Body Mass (g)"] != "NA"]
print(f"{len(measured)} of {len(rows)} birds were measured")

species = np.array([row["Species"].split()[0] for row in measured])
flipper = np.array([float(row["Flipper Length (mm)"]) for row in measured])
mass = np.array([int(row["Body Mass (g)"]) for row in measured])
female = np.array([row["Sex"] == "FEMALE" for row in measured])
laid = np.array([row["Date Egg"] for row in measured], dtype="datetime64[D]")

grid_x, grid_y = np.linspace(165, 240, 160), np.linspace(2400, 6600, 120)
maps: list[Floats] = []
lines: list[Floats] = []
for name in np.unique(species):
    x, y = flipper[species == name], mass[species == name].astype(float)
    maps.append(density(x, y, grid_x, grid_y))
    lines.append(np.polyfit(x, y, 1))
    print(f"{name:<10}{len(x):>4} birds, {lines[-1][0]:.0f} g more for each mm of flipper")

homes: dict[str, set[str]] = {}
for row in rows:
    homes.setdefault(row["Species"].split()[0], set()).add(row["Island"])
heaviest = max((int(row["Body Mass (g)"]), row["Species"], row["Individual ID"]) for row in measured)

result = {
    "title": f"Palmer penguins with eggs laid from {laid.min()} to {laid.max()}",
    "birds": len(rows),
    "taggings": math.comb(
        len(measured), int(female.sum())
    ),  # ways to tag as many as female: an int of 338 bits
    "mean_mass": mass.mean(),  # a NumPy scalar
    "counts": dict(Counter((row["Species"].split()[0], row["Island"]) for row in rows)),  # keys are tuples
    "homes": homes,  # sets in a dict
    "heaviest": heaviest,  # a tuple
    "species": species,
    "flipper": flipper,
    "mass": mass,
    "female": female,
    "laid": laid,
    "lines": np.array(lines),  # slope in g/mm and intercept in g of each species
    "grid": (grid_x, grid_y),  # mm and g
    "density": np.array(maps),  # (species, y, x), ready to be drawn
}
