"""The error classes: which is which, what they carry, and that their messages teach."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

import hookless
import naive
from hookless import EncodeError, Limits, dumps, loads

TREE = {
    "HooklessError": Exception,
    "EncodeError": TypeError,
    "DecodeError": ValueError,
    "LimitExceeded": ValueError,
    "Truncated": ValueError,
    "ProtocolError": Exception,
    "WorkerDied": Exception,
    "Stalled": Exception,
    "DeadlineExceeded": TimeoutError,
    "IsolationError": Exception,
}


@pytest.mark.parametrize(("name", "base"), TREE.items())
def test_class_tree(name: str, base: type[Exception]) -> None:
    """Each is a HooklessError and the builtin that fits, found under its own name."""
    error = getattr(hookless, name)
    assert issubclass(error, hookless.HooklessError)
    assert issubclass(error, base)
    assert (error.__name__, error.__module__) == (name, "hookless")


def test_limits_and_truncation_are_decode_errors() -> None:
    """One `except DecodeError` catches everything that is wrong with bytes."""
    assert issubclass(hookless.LimitExceeded, hookless.DecodeError)
    assert issubclass(hookless.Truncated, hookless.DecodeError)


def test_remote_errors_are_never_transport_errors() -> None:
    """Nothing that a child sends can be caught as a failure of hookless itself."""
    assert issubclass(hookless.RemoteError, Exception)
    assert not issubclass(hookless.RemoteError, hookless.HooklessError)


def decode_error(frame: bytes, **limits: int) -> hookless.DecodeError:
    with pytest.raises(hookless.DecodeError) as caught:
        loads(frame, limits=Limits(**limits))
    return caught.value


WRONG = [
    (b"", "truncated", 0),
    (pickle.dumps([1]), "bad_magic", 0),
    (b'{"json": 1}', "bad_magic", 0),
    (b"gASVBQAAAAAAAABdlEsBYS4=", "bad_magic", 0),
    (naive.frame(b"\xc0", version=0), "bad_version", 4),
    (naive.frame(b"\xc0", version=2), "bad_version", 4),
    (naive.frame(b"\xc0", kind=0), "unknown_frame_kind", 5),
    (naive.frame(b"\x90", kind=12), "unknown_frame_kind", 5),
    (naive.frame(b"\xc0", kind=13), "unknown_frame_kind", 5),
    (naive.frame(b"\xc0", flags=1), "bad_flags", 6),
    (naive.frame(b"\xc0", call_id=1), "bad_call_id", 8),
    (naive.frame(b"", body_length=0), "bad_length", 16),
    (naive.frame(b"\xc0\xc0"), "trailing_bytes", 33),
    (naive.frame(b"\xc0", b"x"), "region_mismatch", 24),
    (naive.frame(b"\xc1"), "bad_marker", 32),
    (naive.frame(b"\xca\0\0\0\0"), "bad_marker", 32),
    (naive.frame(b"\xcc\x01"), "not_canonical", 32),
    (naive.frame(b"\xd0\xec"), "not_canonical", 32),
    (naive.frame(b"\xa2\xff\xfe"), "bad_utf8", 33),
    (naive.frame(b"\xa3\xed\xa0\xbd"), "bad_utf8", 33),
    (naive.frame(b"\x93\x01\x02"), "truncated", 32),
    (naive.frame(b"\xdd\xff\xff\xff\xff"), "truncated", 32),
    (naive.frame(b"\xd4\x01\x01"), "misplaced_marker", 32),
    (naive.frame(b"\x91\xd4\x01\x63"), "unknown_kind", 33),
    (naive.frame(b"\xd4\x63\x00"), "unknown_ext", 32),
    (naive.frame(naive.array([naive.ext(23, b"x")])), "unknown_ext", 33),
    (naive.frame(b"\x82\x01\xc0\x01\xc0"), "duplicate_key", 35),
    (naive.frame(b"\x81\x90\xc0"), "not_keyable", 33),
    (naive.frame(b"\x93\xd4\x01\x02\x02\x01"), "unordered_set", 37),
]


@pytest.mark.parametrize(
    ("frame", "code", "offset"), WRONG, ids=lambda value: value if isinstance(value, str) else None
)
def test_code_and_offset(frame: bytes, code: str, offset: int) -> None:
    """The three facts that a program or a person needs, also in the message."""
    error = decode_error(frame)
    assert type(error) is (hookless.Truncated if code == "truncated" else hookless.DecodeError)
    assert (error.code, error.offset) == (code, offset)
    assert isinstance(error.path, str)
    assert code in str(error)
    assert re.search(rf"\b{offset}\b", str(error))


def test_path_of_a_decode_error() -> None:
    """Where in the value, beside where in the bytes."""
    rows = naive.array([b"\x01", b"\x02", naive.mapping([(naive.text("key"), b"\xc1")])])
    error = decode_error(naive.frame(naive.mapping([(naive.text("rows"), rows)])))
    assert error.path == "$.rows[2].key"
    assert error.path in str(error)


def test_hostile_keys_are_escaped_and_short_in_the_path() -> None:
    """A key of the wire cannot fake a terminal sequence or fill the log through an error's path."""
    for key in ("\x1b[2J\n\u202eforged", "x" * 100_000):
        error = decode_error(naive.frame(naive.mapping([(naive.text(key), b"\xc1")])))
        assert error.path.startswith("$")
        assert len(str(error)) < 2000
        assert str(error).isprintable()


def test_a_pickle_is_called_a_pickle_or_at_least_no_frame() -> None:
    """The message for the commonest mistake says what the bytes are not."""
    assert "hookless frame" in str(decode_error(pickle.dumps(1)))


def test_limit_messages_name_the_numbers() -> None:
    """What was asked for and what was allowed."""
    error = decode_error(dumps(2**4000), int_bytes=100)
    assert isinstance(error, hookless.LimitExceeded)
    assert error.code == "int_limit"
    assert "501" in str(error) and "100" in str(error)


class Custom:
    """Not in the closed set."""


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Custom(), "$"),
        ([Custom()], "$[0]"),
        ((1, [2, Custom()]), "$[1][1]"),
        ({"rows": [0, 1, 2, {"key": Custom()}]}, "$.rows[3].key"),
    ],
    ids=["top", "list", "nested", "dict"],
)
def test_encode_errors(value: Any, path: str) -> None:
    """Type, path and code, as attributes and in the text."""
    with pytest.raises(EncodeError) as caught:
        dumps(value)
    error = caught.value
    assert error.path == path
    assert error.code == "unsupported_type"
    assert "Custom" in error.type_name
    assert path in str(error) and "Custom" in str(error)


@pytest.mark.parametrize("key", [Custom(), (1, Custom()), frozenset({Custom()})], ids=repr)
def test_encode_errors_in_keys(key: Any) -> None:
    """Keys and members have a place too."""
    for value in ({"a": {key: 1}}, {"a": {key}}):
        with pytest.raises(EncodeError) as caught:
            dumps(value)
        assert caught.value.path.startswith("$.a")
        assert "Custom" in caught.value.type_name


def test_two_equal_nans_are_a_duplicate_key() -> None:
    """A dict that Python allows and the wire does not."""
    one, two = float("nan"), float("nan")
    for value in ({one: 1, two: 2}, {one, two}):
        with pytest.raises(EncodeError) as caught:
            dumps(value)
        assert caught.value.code == "duplicate_key"


def test_an_object_that_changes_while_it_is_encoded() -> None:
    """No other thread can make the encoder write a length that it does not keep: the frame decodes."""
    import threading

    shared: dict[str, list[int]] = {"a": list(range(5000))}
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            shared["a"].append(1)
            del shared["a"][100:]
            shared[str(len(shared) % 7)] = [1]

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(500):
            try:
                frame = dumps(shared)
            except (EncodeError, RuntimeError):
                continue
            assert isinstance(loads(frame), dict)
    finally:
        stop.set()
        thread.join()
