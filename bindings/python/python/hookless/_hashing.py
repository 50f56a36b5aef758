"""Whether this process hashes text and bytes with a secret, so that nobody can choose keys that collide."""

from __future__ import annotations

import os
import sys

__all__ = ["KEYED"]

# A seed that was set may be known: it is set so that runs can be repeated, and `0` turns the secret off.
KEYED = bool(sys.flags.hash_randomization) and (
    bool(sys.flags.ignore_environment) or os.environ.get("PYTHONHASHSEED", "") in ("", "random")
)
