"""What Rust writes of its own types (`proto/vectors/typed`) is what Python reads, and the other way round."""

from __future__ import annotations

from typing import Any

import pytest

import hookless
from test_vectors import Vector, check_accepted, vectors


def typed(*, fits: bool) -> list[Any]:
    """The typed vectors whose bytes are good: those that fit their Rust type, or those that do not."""
    all_of_them: list[Any] = vectors("typed", "decode")
    wanted = "" if fits else "type_mismatch"
    found = [one for one in all_of_them if one.values[0].code == wanted]
    assert len(found) > 50
    return found


@pytest.mark.parametrize("vector", typed(fits=True))
def test_python_reads_what_rust_types_are_written_as(vector: Vector) -> None:
    assert vector.value is not None
    check_accepted(vector, lambda: hookless.loads(vector.frame, limits=vector.limits))


@pytest.mark.parametrize("vector", typed(fits=False))
def test_a_type_refuses_good_bytes_only_after_they_were_decoded(vector: Vector) -> None:
    value = hookless.loads(vector.frame, limits=vector.limits)
    assert hookless.dumps(value, limits=vector.limits) == vector.frame
