"""A dict that looks like a tag.

Wants: user data that changes its type on the way
Against: JSON with `__type__`, by `object_hook`
Since: 0.1
"""

from __future__ import annotations

import json

import hookless
from harness import expose, inert

DATA = {"note": {"__type__": "bytes", "data": "b3duZWQ="}}
LOOKALIKES = [
    {"__type__": "exec", "__numpy__": True, b"nd": True},
    {"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}, {"py/tuple": ["id"]}]},
    {"$type": "System.Diagnostics.Process", "__reduce__": ["os.system", ["id"]], "@class": "x"},
    ["\xd4\x01\x18", b"\xd4\x01\x18", {"\xd4\x01\x01": 1}],
    [1, [24, []], "Record", {"module": "os", "qualname": "system"}],
]


def untag(pairs: dict[str, str]) -> object:
    if pairs.get("__type__") == "bytes":
        import base64

        return base64.b64decode(pairs["data"])
    return pairs


def victim(data: bytes) -> None:
    print(type(json.loads(data, object_hook=untag)["note"]).__name__)


def peer() -> str:
    assert expose(__name__, json.dumps(DATA).encode()).out.strip() == "bytes"
    return "succeeds: a dict goes in, bytes come out"


def ours() -> str:
    for value in (DATA, *LOOKALIKES):
        inert(hookless.dumps(value), value)
    return (
        f"holds: {len(LOOKALIKES) + 1} such values come back as they went; a marker is no value, so no "
        "value is one"
    )
