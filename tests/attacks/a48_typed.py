"""A record that claims to be of the type that the host asks for.

Wants: a subclass, a constructor or a coercion of its own choice, by way of typed results
Against: `msgspec.convert` without `strict`, of what came
Since: 0.1
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

import hookless
from harness import MARKER, expose, naive, quick


class Meta(type):
    """Makes a marker for any instance that is made of it."""

    def __call__(cls, *arguments: object, **named: object) -> object:
        Path(MARKER).touch()
        return super().__call__(*arguments, **named)


@dataclass
class Report:
    total: int
    rows: list[int] = field(default_factory=list)


class Evil(Report, metaclass=Meta):
    """A subclass that is loaded in the host, and that nobody asked for."""


def victim(data: bytes) -> None:
    print(msgspec.convert({"total": "7", "rows": ["1"]}, Report, strict=False))


def peer() -> str:
    out = expose(__name__).out
    assert "Report(total=7, rows=[1])" in out, out
    return "succeeds: text becomes numbers"


CLAIMS = [
    [("total", naive.text("7"))],
    [("total", naive.TRUE)],
    [("total", naive.floating(7.0))],
    [("total", b"\x07"), ("rows", naive.array([naive.TRUE]))],
    [("total", b"\x07"), ("rows", naive.node(naive.TUPLE, [b"\x01"]))],
    [("total", b"\x07"), ("__class__", naive.text("Evil"))],
    [("rows", naive.array([]))],
]


def ours() -> str:
    honest = naive.frame(naive.record([("total", b"\x07")], module=__name__, qualname="Evil"))
    with quick():
        found = hookless.loads(honest, type=Report)
        assert type(found) is Report and found == Report(7)
        for fields in CLAIMS:
            try:
                taken = hookless.loads(
                    naive.frame(naive.record(fields, module=__name__, qualname="Report")), type=Report
                )
            except hookless.DecodeError as error:
                assert error.code == "type_mismatch"
            else:
                raise AssertionError(f"{taken} was made of {fields}")
        assert "Evil" in vars(sys.modules[__name__])
    return (
        f"holds: the host's own annotation chooses the class, the claimed name nothing; {len(CLAIMS)} "
        "near misses are `type_mismatch`"
    )
