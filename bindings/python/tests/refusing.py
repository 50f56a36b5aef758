"""What the tests of typed results share: a value that is refused, and one that comes back as it is."""

from __future__ import annotations

from typing import Any

import pytest

import hookless
from same import assert_same

__all__ = ["kept", "refused"]


def refused(
    value: object, wanted: Any, path: str = "$", match: str | None = None, code: str = "type_mismatch"
) -> None:
    """The value does not fit the type: the one documented error, with this path."""
    with pytest.raises(hookless.DecodeError, match=match) as caught:
        hookless.convert(value, wanted)
    assert (caught.value.code, caught.value.path) == (code, path)


def kept(value: object, wanted: Any) -> None:
    """The value fits, and comes back with the same types and bits."""
    assert_same(hookless.convert(value, wanted), value)
