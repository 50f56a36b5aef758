"""A dotted name through an allowed module.

Wants: eval, from an allowlist that asks only how a name begins
Against: a `pickle.Unpickler` that allows `numpy`
Since: 0.1
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy  # noqa: F401 (where it is missing there is nothing to attack)

from gadgets import carried, through_builtins
from harness import expose, inert, naive, refused
from hookless import Record

NAME = "linalg.__builtins__.__getitem__"
NAMES = ("numpy.core.numeric.builtins.eval", "a.b.c", "__class__", f"numpy.{NAME}")


PICKLE = through_builtins("numpy", NAME)


class Restricted(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] != "numpy":
            raise pickle.UnpicklingError(f"{module}.{name} is forbidden")
        return super().find_class(module, name)


def victim(data: bytes) -> None:
    Restricted(io.BytesIO(data)).load()


def peer() -> str:
    assert expose(__name__, PICKLE).marked
    return f"succeeds: `numpy` `{NAME}` returns exec"


def ours() -> str:
    for name in NAMES:
        inert(naive.frame(naive.record([], module=name, qualname=name)), Record(name, name, {}))
        # And as a time zone's key.
        zone = naive.ext(14, b"\x02" + name.encode())
        refused(naive.frame(zone), "bad_payload" if "." in name else "zone_unknown", 32)
    dtype = naive.node(naive.NDARRAY, [naive.text(NAMES[0]), b"\0", naive.array([]), naive.binary(b"")])
    told = refused(naive.frame(dtype), "bad_type")
    return (
        f"{carried(PICKLE)}; {len(NAMES)} such names: text of a record, no key of a time zone "
        f"(`bad_payload`, `zone_unknown`), as a dtype {told}"
    )
