"""JSON that says which object it is.

Wants: import and call by keys such as `py/object` and `py/reduce`
Against: `jsonpickle.decode`
Since: 0.1
"""

from __future__ import annotations

import json

import jsonpickle

import hookless
from gadgets import SHELL
from harness import expose, inert

TAGGED = {"py/reduce": [{"py/function": "os.system"}, {"py/tuple": [SHELL]}]}


def victim(data: bytes) -> None:
    jsonpickle.decode(data.decode())


def peer() -> str:
    assert expose(__name__, json.dumps(TAGGED).encode()).marked
    return "succeeds: the command runs"


def ours() -> str:
    inert(hookless.dumps(TAGGED), TAGGED)
    return "holds: a dict is a dict"
