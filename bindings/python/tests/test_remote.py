"""`RemoteError` and its family: which class, which attributes, groups, copies, builders."""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import copy
import pickle
import threading
import traceback
from typing import Any

import pytest

import hookless
import naive
from hookless import Failure, RemoteError, RemoteErrorGroup, RemoteExit, dumps, loads
from hookless._builders import check_errors, raise_remote
from hookless._family import CLASSES, error_of

BUILTIN = [
    kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException) and kind.__name__ == name
]
PLAIN = {"StopIteration", "StopAsyncIteration", "InterruptedError", "BlockingIOError"}


def told(
    name: str = "builtins.KeyError",
    *bases: str,
    message: str = "told",
    args: tuple[object, ...] = (),
    **rest: Any,
) -> Failure:
    module, _, qualname = name.rpartition(".")
    return Failure(module, qualname, bases, message, args, **rest)


def decoded(failure: Failure) -> RemoteError:
    """As it comes out of the decoder."""
    result = loads(dumps(RemoteError(failure)))
    assert isinstance(result, RemoteError) and result.remote == failure
    return result


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.__name__)
def test_class_by_name(kind: type[BaseException]) -> None:
    """A class for each builtin Exception but four; whatever else is plain."""
    error = decoded(told(f"builtins.{kind.__name__}"))
    if kind is SystemExit:
        assert type(error) is RemoteExit and not isinstance(error, SystemExit)
    elif kind.__name__ in PLAIN or not issubclass(kind, Exception) or kind in (Exception, ExceptionGroup):
        assert type(error) is RemoteError
    else:
        assert isinstance(error, kind) and isinstance(error, RemoteError)
        assert type(error).__bases__ == (RemoteError, kind)
        assert type(error).__name__ == f"Remote{kind.__name__}"
        assert type(decoded(told("app.E", "app.F", f"builtins.{kind.__name__}"))) is type(error)
    assert not isinstance(error, hookless.HooklessError)
    assert type(error) in CLASSES


def test_the_family_has_a_class_for_each() -> None:
    """No builtin is forgotten, and no class is both a failure of the child and one of the transport."""
    wanted = {kind for kind in BUILTIN if issubclass(kind, Exception) and kind.__name__ not in PLAIN}
    found = {base for one in CLASSES for base in one.__bases__ if base.__module__ == "builtins"}
    assert {kind.__name__ for kind in wanted - found} == set()
    for one in CLASSES:
        assert issubclass(one, RemoteError) and not issubclass(one, hookless.HooklessError)
        assert not issubclass(one, StopIteration | StopAsyncIteration | InterruptedError | BlockingIOError)


def test_nearest_name_decides() -> None:
    """In the order of the MRO, and by whole names only."""
    assert isinstance(decoded(told("a.E", "builtins.KeyError", "builtins.ValueError")), KeyError)
    for name in (
        "a.KeyError",
        "builtins.KeyError.x",
        "builtins.eval",
        "builtins.__import__",
        "x.builtins.KeyError",
    ):
        assert type(decoded(told(name))) is RemoteError
    assert type(decoded(told("a.E", "builtins.SystemExit", "builtins.KeyError"))) is RemoteExit
    assert type(decoded(told("asyncio.exceptions.CancelledError", "builtins.ValueError"))) is RemoteError


def test_cancelled_errors_are_plain() -> None:
    """Both of Python's, so that no task and no future takes one for its own."""
    for kind in (asyncio.CancelledError, concurrent.futures.CancelledError):
        assert type(loads(dumps(kind()))) is RemoteError


def test_a_class_that_a_program_puts_into_builtins_is_none_of_the_family(monkeypatch: Any) -> None:
    """The table holds Python's own classes only."""

    class Foreign(Exception):
        def __new__(cls, *_: object) -> Foreign:
            raise AssertionError("entered")

    from hookless._family import _make

    monkeypatch.setattr(builtins, "Foreign", Foreign, raising=False)
    table, _ = _make()
    assert "builtins.Foreign" not in table and len(table) > 60


def test_short_properties_hide_nothing() -> None:
    """None of their names is an attribute of a builtin exception."""
    own = {name for name in vars(RemoteError) if not name.startswith("_")}
    assert own == {"type_name", "fields", "frames", "denials", "cut"}
    for name in own | {"remote"}:
        assert not [kind for kind in BUILTIN if hasattr(kind, name)]
    error = decoded(told("app.E", fields={"a": 1}, denials=("no",), cut=("frames",)))
    assert (error.type_name, error.fields["a"], error.denials, error.cut) == (
        "app.E",
        1,
        ("no",),
        ("frames",),
    )
    assert error.frames == ()


OS_FIELDS: list[tuple[dict[str, object], tuple[object, ...]]] = [
    ({"errno": 2, "strerror": "s", "filename": "f", "filename2": b"g"}, (2, "s", "f", b"g")),
    ({"errno": None, "filename": 7}, (None, None, 7, None)),
    ({"errno": True, "strerror": b"s", "filename": ["f"], "filename2": 1.5}, (None,) * 4),
    ({"errno": "2", "strerror": 5, "filename": {"f": 1}}, (None,) * 4),
    ({"errno": 1 << 31}, (None,) * 4),
    ({"errno": 10**1000, "filename": 10**1000}, (None,) * 4),
    ({"errno": -(1 << 31)}, (-(1 << 31), None, None, None)),
]


@pytest.mark.parametrize(("fields", "expected"), OS_FIELDS)
def test_attributes_of_os_errors(fields: dict[str, object], expected: tuple[object, ...]) -> None:
    """Of the right type or not set."""
    error: Any = decoded(told("builtins.ConnectionResetError", fields=fields))
    assert (error.errno, error.strerror, error.filename, error.filename2) == expected
    assert str(error) == "told"


def test_characters_written() -> None:
    """An int from 0 on that the class can hold."""
    for value, kept in ((0, True), (7, True), (-1, False), (1 << 63, False), ("7", False), (True, False)):
        error: Any = decoded(told("builtins.OSError", fields={"characters_written": value}))
        assert hasattr(error, "characters_written") == kept
        assert not kept or error.characters_written == value


UNICODE_FIELDS: list[tuple[dict[str, object], bool]] = [
    ({}, True),
    ({"end": 3}, True),
    ({"start": 0, "end": 1}, True),
    ({"start": -1}, False),
    ({"start": 2, "end": 2}, False),
    ({"start": 3, "end": 4}, False),
    ({"end": 4}, False),
    ({"end": 1 << 70}, False),
    ({"start": True}, False),
    ({"start": 1.0}, False),
    ({"object": bytearray(b"abc")}, False),
    ({"object": b""}, False),
    ({"reason": None}, False),
    ({"encoding": b"utf-8"}, False),
]


@pytest.mark.parametrize(("change", "kept"), UNICODE_FIELDS)
def test_attributes_of_unicode_errors(change: dict[str, object], kept: bool) -> None:
    """All five or none: 0 <= start < end <= len(object)."""
    whole = {"encoding": "utf-8", "object": b"abc", "start": 1, "end": 2, "reason": "why"} | change
    error: Any = decoded(told("builtins.UnicodeDecodeError", fields=whole))
    found = {name: getattr(error, name) for name in whole}
    assert (found == whole) if kept else (found["object"] is None and found["reason"] is None)
    text = {"object": "abc", "start": 1, "end": 2, "reason": "why", "encoding": "ascii"} | change
    if type(text["object"]) is str:
        for name in ("UnicodeEncodeError", "UnicodeTranslateError"):
            error = decoded(told(f"builtins.{name}", fields=text))
            # The latter has no encoding.
            assert (error.object == "abc") == (
                kept or (name == "UnicodeTranslateError" and "encoding" in change)
            )
            assert error.encoding is None or name == "UnicodeEncodeError"


def test_a_cut_object_sets_nothing() -> None:
    """The places are those of the whole text."""
    fields = {"object": "abc", "start": 1, "end": 2, "reason": "why", "encoding": "ascii"}
    error: Any = decoded(told("builtins.UnicodeEncodeError", fields=fields, cut=("fields.object",)))
    assert error.object is None


def test_attributes_of_syntax_errors() -> None:
    """Text escaped, a file name that exists nowhere, numbers that draw no more carets than there is text."""
    fields: dict[str, object] = {
        "msg": "m\x1b[31m\nn",
        "filename": "/etc/\x1b[2Jpasswd",
        "text": "a\u202eb\n",
        "lineno": 3,
        "end_lineno": 1 << 31,
        "offset": 1 << 30,
        "end_offset": -5,
        "print_file_and_line": "x",
    }
    error: Any = decoded(told("builtins.TabError", fields=fields))
    assert error.msg == "m\\x1b[31m\n  | n"
    assert error.filename == "<sandbox>/etc/\\x1b[2Jpasswd"
    assert error.text == "a\\u202eb"
    assert (error.lineno, error.end_lineno, error.offset, error.end_offset) == (3, None, None, None)
    assert error.print_file_and_line is None
    fields = {"text": "abc", "offset": 4, "end_offset": 5, "lineno": True}
    error = decoded(told("builtins.SyntaxError", fields=fields, message="said"))
    assert (error.offset, error.end_offset, error.lineno, error.msg) == (4, None, None, "said")


@pytest.mark.parametrize("kind", ["AttributeError", "NameError", "ImportError", "ModuleNotFoundError"])
def test_what_python_acts_upon_is_never_set(kind: str) -> None:
    """Not from the wire, and not by CPython, which sets `name` and `obj` of what leaves `__getattr__`."""
    names = ("name", "name_from", "path", "obj")
    error: Any = decoded(told(f"builtins.{kind}", fields=dict.fromkeys(names, "os")))

    class Asked:
        def __getattr__(self, name: str) -> object:
            raise error

    with pytest.raises(RemoteError):
        _ = Asked().anything
    assert [getattr(error, name, None) for name in names] == [None] * 4
    assert error.remote.fields["name"] == "os"


def chain(length: int) -> Failure:
    failure = told(message="0")
    for number in range(1, length):
        failure = told(message=str(number), cause=failure, suppress_context=True)
    return failure


def test_chain() -> None:
    """Cause and context are exceptions too, as long as a report may be."""
    error: BaseException | None = decoded(chain(64))
    count = 0
    while error is not None:
        assert isinstance(error, RemoteError) and isinstance(error, KeyError)
        assert error.__cause__ is None or error.__suppress_context__
        count, error = count + 1, error.__cause__
    assert count == 64
    context, cause = told("builtins.OSError"), told("builtins.ValueError")
    error = decoded(told(cause=cause, context=context))
    assert isinstance(error.__cause__, ValueError) and isinstance(error.__context__, OSError)
    assert not error.__suppress_context__
    shared = told("builtins.OSError")
    error = decoded(told(cause=shared, context=shared, suppress_context=True))
    assert error.__cause__ is error.__context__
    for flag in (False, True):
        assert decoded(told(suppress_context=flag)).__suppress_context__ is flag
        error = decoded(told(context=shared, suppress_context=flag))
        assert error.__suppress_context__ is flag and isinstance(error.__context__, OSError)
    mixed = told(context=group(told(), context=shared), cause=shared, suppress_context=True)
    error = decoded(told(context=mixed))
    assert isinstance(error.__context__, KeyError) and error.__context__.__suppress_context__
    assert isinstance(error.__context__.__context__, RemoteErrorGroup)
    assert error.__context__.__cause__ is error.__context__.__context__.__context__


def group(*members: Failure, name: str = "builtins.ExceptionGroup", **rest: Any) -> Failure:
    return told(name, args=("title\x1b", 1), members=members, **rest)


def test_group() -> None:
    """`except*` finds the members by their builtin classes; `message` is for display."""
    error = decoded(group(told("builtins.ValueError"), told("app.E", "builtins.OSError"), group(told())))
    assert type(error) is RemoteErrorGroup and isinstance(error, ExceptionGroup)
    assert error.message == "title\\x1b" and str(error) == "told"
    found: list[tuple[type, list[str]]] = []
    try:
        raise error
    except* OSError as caught:
        found.append((type(caught), [type(one).__name__ for one in caught.exceptions]))
    except* KeyError as caught:
        found.append((type(caught), [type(one).__name__ for one in caught.exceptions]))
    except* ValueError as caught:
        found.append((type(caught), [type(one).__name__ for one in caught.exceptions]))
    assert found == [
        (RemoteErrorGroup, ["RemoteOSError"]),
        (RemoteErrorGroup, ["RemoteErrorGroup"]),
        (RemoteErrorGroup, ["RemoteValueError"]),
    ]


def test_derive() -> None:
    """A part has the report of its own members, and travels as that."""
    error = decoded(group(told("builtins.ValueError"), told("builtins.OSError"), notes=("n",)))
    assert isinstance(error, RemoteErrorGroup)
    error.add_note("of the host")
    part, rest = error.split(ValueError)
    assert isinstance(part, RemoteErrorGroup) and isinstance(rest, RemoteErrorGroup)
    assert [one.remote.type_name for one in (part, rest)] == ["ExceptionGroup"] * 2
    assert [one.type_name for one in part.remote.members] == ["ValueError"]
    assert part.remote.notes == ("n",) and part.__notes__[-1] == "of the host"
    again = loads(dumps(part))
    assert isinstance(again, RemoteErrorGroup) and len(again.exceptions) == 1
    mixed = error.derive([KeyError("of the host"), part.exceptions[0]])
    assert [one.type_name for one in mixed.remote.members] == ["KeyError", "ValueError"]
    with pytest.raises(ValueError, match="non-empty"):
        error.derive([])
    with pytest.raises(TypeError):
        error.derive([KeyboardInterrupt()])


def test_groups_that_are_none() -> None:
    """Without members, or of exceptions that are no Exception: plain, with everything in `remote`."""
    assert type(decoded(group())) is RemoteError
    mixed = decoded(group(told("builtins.KeyboardInterrupt"), name="builtins.BaseExceptionGroup"))
    assert type(mixed) is RemoteError and len(mixed.remote.members) == 1


def test_groups_that_share_members_are_bounded() -> None:
    """Each member twice, sixteen deep: no more is shown than there is; all of it stays in the report."""
    failure = told()
    for _ in range(15):
        failure = group(failure, failure)
    error = decoded(failure)
    assert len(traceback.format_exception(error)) < 3000
    wide = decoded(group(*[told()] * 100_000))
    assert isinstance(wide, RemoteErrorGroup)
    assert len(wide.exceptions) == 255 and len(wide.remote.members) == 100_000
    honest = decoded(group(told(), *[told(message=str(number)) for number in range(254)]))
    assert isinstance(honest, RemoteErrorGroup) and len(honest.exceptions) == 255


@pytest.mark.parametrize("code", [None, 0, 3, "text", [1], True])
def test_exit(code: object) -> None:
    """What was given to `sys.exit`, as a value."""
    error = loads(dumps(SystemExit(code)))
    assert type(error) is RemoteExit
    assert error.code == code and type(error.code) is type(code)


def test_copies() -> None:
    """`copy`, `deepcopy` and `pickle` keep the class, the report, the chain and the host's own notes."""
    cause = told("builtins.OSError", fields={"errno": 5})
    errors: list[Any] = [
        decoded(told("app.E", "builtins.ValueError", cause=cause)),
        decoded(group(told(), told("builtins.OSError"))),
        loads(dumps(SystemExit(3))),
        error_of(told("builtins.ValueError", cause=cause), plain=True),
        RemoteError(told()),
    ]
    for error in errors:
        error.add_note("of the host")
        error.extra = 5
        for one in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
            assert type(one) is type(error) and one is not error
            assert one.remote == error.remote and one.extra == 5
            assert one.__notes__ == error.__notes__
            assert type(one.__cause__) is type(error.__cause__) or type(error) is RemoteError
            assert dumps(one) == dumps(error)


def test_builders() -> None:
    """The nearest name with a builder, which is given the descriptor; the error is then the cause."""

    class Quota(Exception):
        pass

    given = []

    def build(failure: Failure) -> Exception:
        given.append(failure)
        return Quota(failure.message)

    error = decoded(told("app.Sub", "app.Quota", "builtins.ValueError"))
    with pytest.raises(Quota, match="told") as found:
        raise_remote(error, check_errors({"app.Quota": build}))
    assert found.value.__cause__ is error and given == [error.remote]
    for builders in ({"app.Other": build}, {}, {"KeyError": build}):
        with pytest.raises(ValueError, match="told") as other:
            raise_remote(error, check_errors(builders))
        assert id(other.value) == id(error)
    with pytest.raises(Quota):
        raise_remote(error, check_errors({"ValueError": build}))
    with pytest.raises(Quota):
        raise_remote(error, check_errors({"app.Quota": build, "app.Other": build}))


def test_builders_that_fail() -> None:
    """Nothing of the remote error is lost."""

    def fails(failure: Failure) -> Exception:
        raise LookupError("in the builder")

    error = decoded(told())
    with pytest.raises(LookupError, match="in the builder") as found:
        raise_remote(error, check_errors({"KeyError": fails}))
    assert found.value.__context__ is error
    wrong: Any = {"KeyError": lambda failure: None}
    with pytest.raises(TypeError, match="NoneType") as typed:
        raise_remote(error, check_errors(wrong))
    assert typed.value.__cause__ is error


def test_plain() -> None:
    """The whole of a report without the family."""
    error = decoded(group(told(), cause=told("builtins.ValueError")))
    with pytest.raises(RemoteError) as found:
        raise_remote(error, check_errors("plain"))
    assert type(found.value) is RemoteError and type(found.value.__cause__) is RemoteError
    assert found.value.remote is error.remote


def test_wrong_errors_option() -> None:
    """Said at once, and how it should be."""
    wrong: list[Any] = ["raw", "", 5, ["plain"], {5: print}, {"a.B": 5}, {"": print}]
    for one in wrong:
        with pytest.raises((TypeError, ValueError), match="errors"):
            check_errors(one)


def test_it_is_made_of_a_failure() -> None:
    """And of nothing else."""
    wrong: Any = "text"
    for kind in (RemoteError, RemoteExit):
        with pytest.raises(TypeError, match=r"hookless\.Failure"):
            kind(wrong)
    with pytest.raises(TypeError, match=r"hookless\.Failure"):
        RemoteErrorGroup(wrong, [ValueError()])


def test_a_subclass_of_the_host_is_the_hosts_own() -> None:
    """It is described like any exception, with the report that it carries as its cause."""

    class Mine(RemoteError):
        pass

    remote = loads(dumps(Mine(told("app.E", message="m\x1b")))).remote
    assert remote.qualname.endswith("Mine") and remote.message == "m\x1b"
    assert remote.cause is not None and remote.cause.type_name == "app.E"


def test_format() -> None:
    """All of it as text: escaped, with colour only when asked."""
    failure = told(
        "app.E", message="m\x1b[31m", cause=told(message="first"), denials=("connect",), notes=("n",)
    )
    text = failure.format()
    assert type(text) is str
    assert text.splitlines() == [
        "Remote traceback, as the child tells it:",
        "  | KeyError: first",
        "  | ",
        "  | The above exception was the direct cause of the following exception:",
        "  | ",
        "  | app.E: m\\x1b[31m",
        "  | n",
        "  | (denied: connect)",
    ]
    coloured = failure.format(colour=True)
    assert coloured != text and "\x1b[1;31mapp.E\x1b[0m" in coloured and "m\\x1b[31m" in coloured


@pytest.mark.parametrize("size", [128, 1024])
def test_the_longest_path_is_made_shown_and_dropped_on_a_small_stack(size: int) -> None:
    """A path through all entries of the largest report, in a thread with 256 KiB."""
    limits = hookless.Limits(chain=128, exceptions=1024, group_depth=64, descriptor=1 << 26)
    failure = told()
    for number in range(1, size):
        # A member link every hundred entries begins a new chain.
        linked: dict[str, Any] = {"members": (failure,)} if number % 100 == 0 else {"cause": failure}
        failure = told("builtins.ExceptionGroup" if number % 100 == 0 else "builtins.KeyError", **linked)
    frame = dumps(RemoteError(failure), limits=limits)
    done: list[int] = []

    def work() -> None:
        error = loads(frame, limits=limits)
        report = error.remote
        assert dumps(error, limits=limits) == frame
        del error
        done.append(len(report.format()))
        del report

    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(done) == 1 and done[0] > 100


def test_claims_of_the_wire() -> None:
    """A frame that claims to be any class, ours included, is inert text."""
    for module, name in (
        ("hookless", "RemoteError"),
        ("hookless", "DecodeError"),
        ("hookless._family", "error_of"),
        ("builtins", "eval"),
        ("builtins", "ExceptionGroup"),
        ("builtins", "KeyboardInterrupt"),
    ):
        frame = naive.frame(naive.exception(naive.entry(module, name, bases=["builtins.MemoryError"])))
        error = loads(frame)
        assert isinstance(error, RemoteError) and not isinstance(error, hookless.HooklessError)
        assert dumps(error) == frame
