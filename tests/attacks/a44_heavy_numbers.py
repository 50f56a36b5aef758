"""Numbers that take for ever.

Wants: arithmetic that is quadratic, or that writes out an exponent
Against: `pickle.loads` of a Fraction, `int()` of a Decimal
Since: 0.1
"""

from __future__ import annotations

import pickle
import time
from decimal import Decimal
from fractions import Fraction

import hookless
from gadgets import Reduced
from harness import expose, inert, naive, refused, within

BIG = (3**400_000, 7**220_000)
PICKLE = pickle.dumps(Reduced(Fraction, BIG), 4)


def victim(data: bytes) -> None:
    began = time.perf_counter()
    pickle.loads(data)
    print(time.perf_counter() - began)


def peer() -> str:
    # The steps of a common divisor of two such ints, by digits of 30 bits.
    assert BIG[0].bit_length() // 30 * (BIG[1].bit_length() // 30) > 10**8
    took = float(expose(__name__, PICKLE, seconds=60).out)
    return (
        f"succeeds: {len(PICKLE) // 1000} kB take {within(took, 's', most=60)}, and ten times the bytes a "
        "hundred times as long"
    )


def magnitude(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8)


def ours() -> str:
    heads = [magnitude(number) for number in BIG]
    fraction = b"\0" + len(heads[0]).to_bytes(4) + b"".join(heads)
    told = refused(naive.frame(naive.ext(18, fraction)), "memory_limit", 32)
    refused(naive.frame(naive.integer(1 << (8 * 16_385))), "int_limit", 32)
    refused(hookless.dumps(Decimal("9" * 60_000), limits=hookless.Limits(int_bytes=1 << 20)), "int_limit", 32)
    for number in (
        Fraction(1, 3),
        Decimal("1E+999999"),
        Decimal("-Infinity"),
        Decimal("1E-999999999999999999"),
    ):
        inert(hookless.dumps(number), number)
    # As a key it would be compared by its exact value.
    keys = {Decimal("1E+999999"): 1, Decimal("1E+999998"): 2, 5: 3}
    inert(hookless.dumps(keys), keys)
    return (
        f"holds: {told}; its charge grows with the square of its size; ints and Decimals past 16 KiB are "
        "`int_limit`, before any arithmetic; an exponent is never written out"
    )
