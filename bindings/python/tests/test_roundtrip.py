"""Any value of the closed set: types and bits come back, and every way in and out agrees."""

from __future__ import annotations

import os
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from hookless import Decoder, decode, dumps, encode, loads
from same import assert_same
from strategies import keys, splits, values

# HOOKLESS_EXAMPLES=10000 for a long run.
EXAMPLES = int(os.environ.get("HOOKLESS_EXAMPLES", "200"))
thorough = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@thorough
@given(values())
def test_values(value: Any) -> None:
    """loads(dumps(x)) is x by type and bit, and dumps(loads(b)) is b."""
    frame = dumps(value)
    result = loads(frame)
    assert_same(result, value)
    assert dumps(result) == frame


@thorough
@given(keys())
def test_keys(key: Any) -> None:
    """Every keyable value as a value, as a key and as a member."""
    for value in (key, {key: 1}, {key}, [frozenset({key})]):
        assert_same(loads(dumps(value)), value)


@thorough
@given(values(), st.data())
def test_all_ways_agree(value: Any, data: st.DataObject) -> None:
    """encode joins to dumps; decode takes any split; Decoder takes any chunks, two frames at once."""
    frame = dumps(value)
    parts = encode(value)
    assert b"".join(parts) == frame
    assert_same(decode(parts), value)
    assert_same(decode(data.draw(splits(frame)), copy=False), value)
    decoder = Decoder()
    found = [one for part in data.draw(splits(frame * 2)) for one in decoder.feed(part)]
    decoder.finish()
    assert_same([one.value for one in found], [value, value])
