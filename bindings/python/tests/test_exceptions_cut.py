"""Exceptions that misbehave: encoding one always succeeds, and says in `cut` what it lost."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import pytest

from hookless import dumps
from test_exceptions import Quota, arrive, caught


def boom(*_: object) -> NoReturn:
    raise ZeroDivisionError("while shown")


class BadText(Exception):
    __str__ = __repr__ = boom


class NotText(Exception):
    def __str__(self) -> Any:
        return 5


class Endless(Exception):
    def __str__(self) -> str:
        return str(self)


@pytest.mark.parametrize("kind", [BadText, NotText, Endless])
def test_str_that_fails(kind: type[Exception]) -> None:
    """The type and the arguments still arrive, and `cut` names the message."""
    remote = arrive(kind("kept", 5)).remote
    assert remote.qualname == kind.__name__
    assert list(remote.args) == ["kept", 5]
    assert any("message" in item for item in remote.cut)


class Unprintable:
    __repr__ = __str__ = boom


class Long:
    def __repr__(self) -> str:
        return "long" * 10**6


def test_arguments_outside_the_set() -> None:
    """Replaced by their repr, escaped and short, each named in `cut`; the others are kept."""
    remote = arrive(ValueError("kept", object(), {"a": [lambda: 1]}, Unprintable(), Long(), 7)).remote
    assert remote.args[0] == "kept" and remote.args[5] == 7
    assert isinstance(remote.args[1], str) and "object object" in remote.args[1]
    assert "Unprintable" in remote.args[3]
    assert len(remote.args[4]) <= 65_536
    assert set(remote.cut) >= {"args[1]", "args[2]", "args[3]", "args[4]"}
    assert not {"args[0]", "args[5]"} & set(remote.cut)


def test_no_code_of_an_argument_runs_but_its_repr() -> None:
    """An argument's own `__reduce__` and friends are never asked."""
    ran: list[str] = []

    class Trap:
        def __reduce_ex__(self, protocol: Any) -> Any:
            ran.append("reduce")
            raise AssertionError

        def __getstate__(self) -> object:
            ran.append("state")
            raise AssertionError

    arrive(ValueError(Trap()))
    assert ran == []


def recurse(depth: int) -> None:
    if depth == 0:
        raise RecursionError("deep")
    recurse(depth - 1)


def test_a_thousand_frames_are_elided() -> None:
    """The first and the last ones stay, the middle is folded, and `cut` says how many."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)
    try:
        error = caught(lambda: recurse(1000))
    finally:
        sys.setrecursionlimit(before)
    remote = arrive(error).remote
    assert 50 < len(remote.frames) <= 256
    assert remote.frames[0].function == "caught"
    assert remote.frames[-1].function == "recurse"
    assert (remote.frames[-1].source or "").strip() == 'raise RecursionError("deep")'
    assert any("frames" in item for item in remote.cut)


def test_true_recursion_error() -> None:
    """Encoded at the bottom of the stack's own trouble."""

    def endless() -> None:
        endless()

    assert arrive(caught(endless)).remote.qualname == "RecursionError"


MESSAGE = "caf\u00e9 \u6f22\u5b57 \udcff \x00 \x1b[31m \u202e\u200b\nTraceback (most recent call last):"


def test_strange_text_is_kept_as_data_and_escaped_for_display() -> None:
    """The raw message is data; what `str` shows cannot drive a terminal, hide or reorder text."""
    error = arrive(ValueError(MESSAGE))
    assert error.remote.message == MESSAGE
    assert list(error.remote.args) == [MESSAGE]
    shown = str(error)
    assert "caf\u00e9 \u6f22\u5b57" in shown
    for bad in ("\udcff", "\x00", "\x1b", "\u202e", "\u200b", "\nTraceback"):
        assert bad not in shown
    shown.encode()
    assert repr(error).isprintable()


def test_huge_messages_are_cut() -> None:
    """10 MB of text, ASCII and not: within the text limit, its beginning kept, the cut named."""
    for text in ("x" * 10_000_000, "\u6f22" * 3_000_000, "\udcff" * 3_000_000):
        remote = arrive(ValueError(text)).remote
        assert 1000 < len(remote.message.encode("utf-8", "surrogatepass")) <= 65_536
        assert remote.message[:1000] == text[:1000]
        assert any("message" in item for item in remote.cut)
        assert len(dumps(ValueError(text))) <= (1 << 20) + 32


def test_the_whole_report_is_capped() -> None:
    """Many long texts together stay under the descriptor limit."""
    error = ValueError(*["y" * 60_000 for _ in range(200)])
    for number in range(200):
        error.add_note(f"{number}" * 10_000)
    error.__cause__ = ValueError(bytes(5_000_000))
    remote = arrive(error).remote
    assert len(dumps(error)) <= (1 << 20) + 32
    assert remote.qualname == "ValueError" and remote.cut


@pytest.mark.parametrize(
    "limits", [{"text": 100}, {"chain": 1}, {"exceptions": 1}, {"frames": 1}, {"descriptor": 600}]
)
def test_encoding_degrades_to_the_limits(limits: dict[str, int]) -> None:
    """An exception is cut down to what the receiver takes; its type and message stay."""

    def work() -> None:
        try:
            recurse(20)
        except RecursionError as error:
            raise Quota("m" * 200, bytes(200)) from error

    remote = arrive(caught(work), **limits).remote
    assert remote.qualname == "Quota"
    assert "m" in remote.message
    assert remote.cut


def test_notes() -> None:
    """Text is kept; what is no text is shown as such, and a broken `__notes__` breaks nothing."""
    error = ValueError("x")
    error.add_note("first")
    error.add_note("second \ud800")
    assert list(arrive(error).remote.notes) == ["first", "second \ud800"]
    for broken in ([1, None, "text"], "text", 5, [Unprintable()]):
        error.__notes__ = broken  # type: ignore[assignment]
        remote = arrive(error).remote
        assert all(type(note) is str for note in remote.notes)
        assert remote.message == "x"


def test_fields_of_builtin_classes() -> None:
    """What a builtin class keeps beside its arguments."""
    fields = dict(arrive(caught(lambda: os.mkdir("/no/such/folder"))).remote.fields)
    assert (fields["errno"], fields["filename"]) == (2, "/no/such/folder")
    fields = dict(arrive(caught(lambda: compile("a b", "<s>", "exec"))).remote.fields)
    assert (fields["filename"], fields["lineno"]) == ("<s>", 1)
    fields = dict(arrive(UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "bad")).remote.fields)
    assert (fields["encoding"], fields["start"], fields["end"], fields["reason"]) == ("utf-8", 1, 2, "bad")


def test_the_object_of_an_attribute_error_is_not_sent() -> None:
    """`obj` may be anything; nothing of it runs and nothing of it travels."""
    error = caught(lambda: Unprintable().missing)  # type: ignore[attr-defined]
    fields = dict(arrive(error).remote.fields)
    assert fields.get("name", "missing") == "missing"
    assert "obj" not in fields or isinstance(fields["obj"], str)
