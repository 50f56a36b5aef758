"""Exceptions as values: they arrive as `RemoteError` with the inert descriptor `.remote`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest

import hookless
from hookless import Limits, RemoteError, dumps, loads
from watching import watched


def arrive(error: BaseException, **limits: int) -> RemoteError:
    """Across the wire and once more: the descriptor encodes to the same bytes."""
    wide = Limits(**limits)
    frame = dumps(error, limits=wide)
    result = loads(frame, limits=wide)
    assert isinstance(result, RemoteError)
    assert dumps(result, limits=wide) == frame
    assert dumps(loads(dumps([result], limits=wide), limits=wide)[0], limits=wide) == frame
    return result


def caught(action: Callable[[], object]) -> BaseException:
    """The exception that the call raises, with its traceback."""
    try:
        action()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


class Quota(ValueError):
    """A user's class; the host never imports it."""


def test_names_message_and_args() -> None:
    """What nearly everyone asks an exception for."""
    remote = arrive(ValueError("x", 3)).remote
    assert isinstance(remote, hookless.Failure)
    assert (remote.module, remote.qualname) == ("builtins", "ValueError")
    assert tuple(remote.bases) == ("builtins.Exception", "builtins.BaseException", "builtins.object")
    assert remote.message == "('x', 3)"
    assert list(remote.args) == ["x", 3]
    assert remote.cause is None and remote.context is None and not remote.suppress_context
    assert not remote.frames and not remote.notes and not remote.members and not remote.cut


def test_user_classes() -> None:
    """Module, qualified name and the classes behind it, as text."""
    remote = arrive(Quota("over")).remote
    assert (remote.module, remote.qualname) == (__name__, "Quota")
    assert "Quota" in remote.type_name
    assert remote.bases[0] == "builtins.ValueError"


def test_it_can_be_raised_and_caught() -> None:
    """It is an exception of the host, not a dict that looks like one."""
    error = arrive(KeyError("k"))
    with pytest.raises(RemoteError) as found:
        raise error
    assert found.value is error
    assert "KeyError" in repr(error) or "KeyError" in str(error)
    assert arrive(error).remote.qualname == "KeyError"


@pytest.mark.parametrize(
    "kind",
    [kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, BaseException)],
    ids=lambda kind: kind.__name__,
)
def test_every_builtin_exception(kind: type[BaseException]) -> None:
    """All of them arrive under their name, those that are no `Exception` too."""
    samples: dict[type[BaseException], BaseException] = {
        UnicodeDecodeError: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        UnicodeEncodeError: UnicodeEncodeError("utf-8", "\ud800", 0, 1, "bad"),
        UnicodeTranslateError: UnicodeTranslateError("x", 0, 1, "bad"),
        BaseExceptionGroup: BaseExceptionGroup("g", [KeyboardInterrupt()]),
        ExceptionGroup: ExceptionGroup("g", [ValueError(1)]),
    }
    error = samples.get(kind) or kind("text")
    remote = arrive(error).remote
    assert (remote.module, remote.qualname) == ("builtins", kind.__name__)
    assert remote.message == str(error)


def outer() -> None:
    middle(3)


def middle(number: int) -> None:
    raise Quota("deep", number)


def test_frames() -> None:
    """File, line, function and source text of each frame, outermost first."""
    remote = arrive(caught(outer)).remote
    functions = [frame.function for frame in remote.frames]
    assert functions[-2:] == ["outer", "middle"]
    last = remote.frames[-1]
    assert last.file == __file__
    assert last.line == last.end_line == middle.__code__.co_firstlineno + 1
    assert last.source is not None and last.source.strip() == 'raise Quota("deep", number)'
    assert last.column is not None and last.end_column is not None and last.column < last.end_column


def chain(length: int) -> BaseException:
    error: BaseException = ValueError(0)
    for number in range(1, length):
        following = ValueError(number)
        following.__cause__ = error
        error = following
    return error


def test_cause_context_and_suppression() -> None:
    """`raise B from A` inside an except block that handles C."""

    def work() -> None:
        try:
            raise KeyError("context")
        except KeyError:
            raise Quota("outer") from OSError(2, "cause")

    remote = arrive(caught(work)).remote
    assert remote.suppress_context
    assert remote.cause is not None and remote.context is not None
    assert remote.cause.qualname == "FileNotFoundError"
    assert remote.context.qualname == "KeyError"
    assert remote.context.frames[-1].function == "work"
    assert not remote.context.suppress_context


def test_shared_context_is_sent_once() -> None:
    """A diamond stays a diamond: the same exception reached twice is one entry."""
    shared, left, right = KeyError("shared"), ValueError("left"), TypeError("right")
    left.__context__ = right.__context__ = shared
    left.__cause__ = right
    remote: Any = arrive(left).remote
    assert remote.context.message == remote.cause.context.message == "'shared'"
    big = KeyError("s" * 10_000)
    left.__context__ = right.__context__ = big
    assert len(dumps(left)) < 15_000 + 10_000


@pytest.mark.parametrize("link", ["__context__", "__cause__"])
def test_cycles_are_cut(link: str) -> None:
    """To itself, and around two corners; what was left out is named."""
    alone = ValueError("alone")
    setattr(alone, link, alone)
    remote = arrive(alone).remote
    assert remote.message == "alone"
    one, two = ValueError("one"), TypeError("two")
    setattr(one, link, two)
    setattr(two, link, one)
    remote = arrive(one).remote
    following = getattr(remote, link.strip("_"))
    assert following.message == "two"
    assert getattr(following, link.strip("_")) is None
    assert following.cut


def test_cycle_through_args() -> None:
    """An exception among its own arguments."""
    error = Quota("x")
    error.args = (error, [error])
    remote = arrive(error).remote
    assert remote.qualname == "Quota"
    assert remote.cut


def test_long_chains_are_cut() -> None:
    """Past the limit the rest is left out, said so, and the first stays."""
    remote = arrive(chain(500)).remote
    count, last = 1, remote
    while last.cause is not None:
        count, last = count + 1, last.cause
    assert remote.message == "499"
    assert 1 < count <= 64
    assert last.cut


def test_groups() -> None:
    """Members in order, nested groups too."""
    group = ExceptionGroup(
        "g", [ValueError(1), ExceptionGroup("inner", [KeyError(2), OSError(3)]), TypeError(4)]
    )
    remote = arrive(group).remote
    assert [member.qualname for member in remote.members] == ["ValueError", "ExceptionGroup", "TypeError"]
    assert [member.message for member in remote.members[1].members] == ["2", "3"]
    deep: Exception = ValueError("core")
    for _ in range(100):
        deep = ExceptionGroup("g", [deep])
    assert arrive(deep).remote.members
    wide = arrive(ExceptionGroup("wide", [ValueError(i) for i in range(1000)])).remote
    assert 100 < len(wide.members) < 256
    assert wide.cut


def test_descriptors_hold_nothing_alive_and_open_nothing() -> None:
    """No traceback comes with them, and showing them reads no file."""
    error = arrive(caught(outer))
    assert error.__traceback__ is None and error.__cause__ is None and error.__context__ is None
    with watched():
        assert f"{error!r}{error}{error.remote!r}"


def test_the_descriptor_is_inert() -> None:
    """Neither it nor its frames can be changed or made by hand into something else."""
    remote = arrive(caught(outer)).remote
    for target, name in ((remote, "message"), (remote, "new"), (remote.frames[0], "file")):
        with pytest.raises(AttributeError):
            setattr(target, name, "x")


def test_exceptions_among_values() -> None:
    """In lists and dict values; as keys they are refused."""
    result: Any = loads(dumps({"a": [ValueError(1), (KeyError(2),)]}))
    assert [result["a"][0].remote.qualname, result["a"][1][0].remote.qualname] == ["ValueError", "KeyError"]
    with pytest.raises(hookless.EncodeError) as found:
        dumps({ValueError(1)})
    assert found.value.code == "not_keyable"
