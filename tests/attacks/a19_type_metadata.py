"""A table's type with parameters in pickle.

Wants: code from what describes the columns
Against: a registry of extension types, as of Arrow, whose parameters are a pickle
Since: 0.1
"""

from __future__ import annotations

import pickle
from typing import Any

import msgpack

from gadgets import reduced
from harness import expose, inert, naive, refused

FIELDS: dict[str, Any] = {"ARROW:extension:name": "tensor", "ARROW:extension:metadata": reduced()}


def build(metadata: bytes) -> object:
    """How a known engine's type came back from the schema."""
    return pickle.loads(metadata)


REGISTRY = {"tensor": build}


def victim(data: bytes) -> None:
    schema = msgpack.unpackb(data)
    REGISTRY[schema["ARROW:extension:name"]](schema["ARROW:extension:metadata"])


def peer() -> str:
    assert expose(__name__, msgpack.packb(FIELDS)).marked
    return "succeeds: opening the schema runs it"


def ours() -> str:
    pairs = [
        (naive.text(name), naive.text(text) if isinstance(text, str) else naive.binary(text))
        for name, text in FIELDS.items()
    ]
    inert(naive.frame(naive.mapping(pairs)), FIELDS)
    for kind in (25, 26, 27, 28, 200):
        refused(naive.frame(naive.node(kind, [naive.mapping(pairs)])), "unknown_kind", 33)
    return (
        "holds: such metadata is a dict of text and bytes; there is no registry, and no number is free "
        "for one (`unknown_kind`)"
    )
