"""Values that between them use every kind that needs no NumPy, for tests that cut, split and bend frames."""

from __future__ import annotations

from typing import Any

import naive

PLAIN: dict[str, Any] = {
    "none": None,
    "bools": [True, False],
    "ints": [0, -1, 127, 128, -32, -33, 2**31, -(2**63), 2**64 - 1, 2**64, -(10**40)],
    "floats": [0.0, -0.0, 1.5, float("inf"), float("nan")],
    "complex": [1j, complex(float("nan"), -0.0)],
    "text": ["", "ascii", "\u6f22\u5b57\U0001f600", "lone \ud800", "x" * 300],
    "bytes": [b"", b"\x00\xff", bytearray(b"abc"), bytes(300)],
    "region": [bytes(range(256)) * 64, bytearray(16_385)],
    "containers": [[], (), {}, set(), frozenset(), [[1], (2, (3,)), {"a": {"b": []}}]],
    "keys": {
        None: 1,
        True: 2,
        2: 3,
        2.5: 4,
        1j: 5,
        "s": 6,
        b"b": 7,
        (1, "t"): 8,
        frozenset({1, 2}): 9,
        "\udc80": 0,
    },
    "sets": [{1, "a", (2, 3), frozenset({4}), b"x", None}, frozenset({1.5})],
}

# Arrays and scalars as bodies: these need no NumPy to be written.
ARRAYS: dict[str, bytes] = {
    "inline": naive.ndarray(naive.dtype("f", "<", 8), [2, 3], bytes(range(48))),
    "fortran": naive.ndarray(naive.dtype("i", ">", 2), [2, 3], bytes(range(12)), order=1),
    "zero-d": naive.ndarray(naive.dtype("b", "|", 1), [], b"\x01"),
    "empty": naive.ndarray(naive.dtype("c", "<", 16), [0, 3], b""),
    "text": naive.ndarray(naive.dtype("U", "<", 4), [2], b"a\0\0\0\x22\x6f\0\0"),
    "opaque": naive.ndarray(naive.dtype("V", "|", 3), [2], b"abcdef"),
    "times": naive.node(
        naive.NDARRAY,
        [
            naive.ext(8, b"M<" + bytes([10, 0]) + (25).to_bytes(4)),
            b"\x00",
            naive.array([b"\x01"]),
            naive.binary(bytes(8)),
        ],
    ),
    "bool_": naive.scalar(32, b"\x01"),
    "float32": naive.scalar(42, b"\x7f\x80\x00\x01"),
    "timedelta64": naive.scalar(47, bytes([10]) + (1).to_bytes(4) + b"\x80" + bytes(7)),
    "bytes_": naive.scalar(48, b"a\x00"),
    "str_": naive.scalar(49, "\u6f22".encode()),
    "void": naive.scalar(50, b"\x00\x01\x02"),
}

RECORDS: dict[str, bytes] = {
    "record": naive.record([("x", naive.integer(1)), ("\u6f22", naive.array([naive.text("y")]))]),
    "named record": naive.record([("x", naive.NIL), ("y", naive.floating(0.5))], kind=naive.NAMED),
    "enum member": naive.member("A", naive.integer(1)),
    "records as keys": naive.mapping(
        [
            (naive.record([("x", naive.integer(1))]), naive.member(None, naive.integer(3))),
            (naive.member("B", naive.node(naive.TUPLE, [])), naive.record([])),
        ]
    ),
}

EXCEPTION = naive.exception(
    naive.entry(
        "app.errors",
        "Quota.Exceeded",
        bases=["builtins.ValueError", "builtins.Exception"],
        message="over the \x1b[31mlimit",
        frames=[
            naive.trace_frame("/srv/app.py", 12, "work", "raise Quota"),
            naive.trace_frame("<string>", 1, "<module>"),
        ],
        cause=1,
        context=2,
        args=[naive.text("over"), naive.integer(3)],
        fields=[(naive.text("code"), naive.integer(7))],
    ),
    naive.entry("builtins", "KeyError", message="'k'", args=[naive.text("k")], context=2),
    naive.entry("builtins", "OSError", message="[Errno 2] gone"),
)

REGION_ARRAY = naive.frame(naive.ndarray(naive.dtype("u", "|", 1), [16_384], b""), bytes(range(256)) * 64)


def frames() -> dict[str, bytes]:
    """Whole frames by name, of every kind of value."""
    import hookless

    result = {name: hookless.dumps(value) for name, value in PLAIN.items()}
    result |= {name: naive.frame(body) for name, body in (ARRAYS | RECORDS).items()}
    return result | {"exception": naive.frame(EXCEPTION), "region array": REGION_ARRAY}
