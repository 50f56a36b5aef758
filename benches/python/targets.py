"""The times to reach, as ratios to a peer; the plots and the tables mark each one as met or missed.

They come from a prototype that was tuned on these workloads, plus 5 to 20 %. Whoever beats one writes the new
figure here.
"""

from __future__ import annotations

from results import Op

Bound = float | None

# workload: encode and decode against pickle5, decode against pickle-scan, encode and decode against msgspec.
_TABLE: dict[str, tuple[Bound, Bound, Bound, Bound, Bound]] = {
    "W1": (0.32, 0.45, 0.03, 1.0, 1.0),
    "W2": (0.30, 0.82, 0.045, 0.8, 0.9),
    "W3": (0.42, 0.92, 0.09, 0.8, 1.0),
    "W4": (0.35, 0.82, 0.035, 1.1, 0.95),
    "W5": (0.10, 0.68, 0.055, 0.9, 0.85),
    "W5r": (0.20, 0.75, 0.055, 0.9, 0.85),
    "W6": (0.33, 0.72, 0.12, 1.1, 1.1),
    "W7": (0.025, 0.035, 0.006, 0.08, 0.08),
    "W8": (0.60, 0.90, 0.20, 0.55, None),
    "W10": (0.03, 0.20, 0.045, 0.05, 0.2),
    "W11": (0.40, 1.0, 0.14, 1.1, 1.1),
    "W12": (0.31, 0.97, 0.10, 0.9, 0.95),
    "W13": (None, None, None, 0.15, None),
    "W13s": (0.25, None, None, 0.2, None),
}

# (workload, ours, peer, op): the bounds that are not about dumps and loads against those three.
_MORE: dict[tuple[str, str, str, Op], float] = {
    ("W3", "hookless", "tolist", "decode"): 1.2,
    ("W4", "hookless", "tolist", "decode"): 1.2,
    # A view against a copy: it says that nothing is copied, not that copying is fast.
    ("W8", "hookless-view", "pickle5", "decode"): 0.01,
    ("W10", "hookless-view", "pickle5", "decode"): 0.1,
}

_COLUMNS: tuple[tuple[str, Op], ...] = (
    ("pickle5", "encode"),
    ("pickle5", "decode"),
    ("pickle-scan", "decode"),
    ("msgspec", "encode"),
    ("msgspec", "decode"),
)


def targets(workload: str) -> dict[tuple[str, str, Op], float]:
    """Return the bounds of a workload by (ours, peer, op)."""
    found = {(ours, peer, op): bound for (name, ours, peer, op), bound in _MORE.items() if name == workload}
    row = _TABLE.get(workload, (None,) * len(_COLUMNS))
    for (peer, op), bound in zip(_COLUMNS, row, strict=True):
        if bound is not None:
            found["hookless", peer, op] = bound
    return found
