"""Plain exceptions, which the encoder reads by itself: it says exactly what `describe` says of them."""

from __future__ import annotations

import builtins
import linecache
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hookless.failure
from describing import describe as described
from hookless import Failure, Limits, RemoteError, dumps, loads
from hookless._family import CLASSES
from hookless._frames import _read_lines
from hookless._hookless import plain_failure
from hookless.failure import describe as ask
from test_cases_exceptions import CORPUS
from test_exceptions import caught

NAMES = sorted(name for name in CORPUS if name != "interrupts_when_shown")


def thorough(error: BaseException, limits: Limits) -> Failure:
    """What the Python code says, which decides about exceptions of any kind."""
    with patch.object(hookless.failure, "plain_failure", lambda error, limits: None):
        return ask(error, limits)


def agree(error: BaseException, limits: Limits | None = None) -> bool:
    """Whether the exception is plain; what is sent of it, and said of it, is the same in any case."""
    limits = limits or Limits()
    expected = thorough(error, limits)
    plain = plain_failure(error, limits)
    # A remote error is sent as it came, whatever has happened to it since.
    untyped: Any = error
    sent = untyped.remote if type(error) in CLASSES else expected
    assert outcome(error, limits) == outcome(sent, limits)
    assert outcome([0, error], limits) == outcome([0, sent], limits)
    if plain is not None:
        assert parts(plain) == parts(expected)
        assert parts(ask(error, limits)) == parts(expected)
    return plain is not None


def outcome(value: object, limits: Limits) -> object:
    """The frame, or why there is none and where."""
    try:
        return dumps(value, limits=limits)
    except hookless.EncodeError as error:
        return error.code, str(error)


def parts(failure: Failure) -> list[Any]:
    """Everything in a report, with types."""
    found: list[Any] = []
    todo = [failure]
    while todo:
        one = todo.pop()
        frames = [
            (
                frame.file,
                frame.function,
                frame.source,
                frame.line,
                frame.end_line,
                frame.column,
                frame.end_column,
            )
            for frame in one.frames
        ]
        texts = [one.module, one.qualname, one.bases, one.message, one.notes, one.denials, one.cut, frames]
        values = [described(value) for value in one.args] + [described(dict(one.fields))]
        linked = [one.cause, one.context, *one.members]
        found.append([texts, values, one.suppress_context, [link is not None for link in linked]])
        assert one.context is None or one.cause is None or one.cause is one.context or failure.cut
        todo += [link for link in linked if link is not None]
    return found


# Those of the corpus that are plain: the rest has attributes, fields, notes, a `__str__` of its own.
PLAIN = frozenset(
    [
        "asks_its_argument",
        "bad_base64",
        "bad_csv",
        "bad_struct",
        "bad_zip",
        "cancelled",
        "meta_liar",
        "pandas_style",
        "strange_text",
        "toml_decode",
        "two_arguments",
    ]
)


@pytest.mark.parametrize("name", NAMES)
def test_the_corpus(name: str) -> None:
    """Hard exceptions are told as they are by whoever reads them."""
    assert agree(caught(CORPUS[name])) == (name in PLAIN)


BUILTIN = sorted(
    (kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, BaseException)),
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", dict.fromkeys(BUILTIN))
def test_every_builtin_class(kind: type[BaseException]) -> None:
    """Those that keep nothing beside their arguments are plain."""
    more = (
        OSError,
        SyntaxError,
        ImportError,
        AttributeError,
        NameError,
        StopIteration,
        SystemExit,
        BaseExceptionGroup,
        UnicodeDecodeError,
        UnicodeEncodeError,
        UnicodeTranslateError,
    )
    arguments: dict[Any, tuple[object, ...]] = {
        UnicodeDecodeError: ("ascii", b"\xff", 0, 1, "why"),
        UnicodeEncodeError: ("ascii", "\xff", 0, 1, "why"),
        UnicodeTranslateError: ("\xff", 0, 1, "why"),
        BaseExceptionGroup: ("two", [ValueError(1), KeyError(2)]),
        ExceptionGroup: ("two", [ValueError(1), KeyError(2)]),
    }
    assert agree(kind(*arguments.get(kind, ("why",)))) == (not issubclass(kind, more))


class Own(Exception):
    """A class of a program."""


class Lower(Own, LookupError):
    """One of two bases."""


def named(module: str, qualname: str) -> type[Exception]:
    return type("Named", (Own,), {"__module__": module, "__qualname__": qualname})


TEXTS = st.text(
    st.one_of(
        st.characters(max_codepoint=0x7F),
        st.characters(exclude_categories=[]),
        st.sampled_from("\ud800\udfff"),
    )
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.floats(),
    TEXTS.filter(lambda text: len(text) < 60),
    st.binary(max_size=255),
)
KINDS = st.one_of(
    st.sampled_from([ValueError, KeyError, Exception, BaseException, RuntimeError, Own, Lower, UnicodeError]),
    st.builds(
        named,
        TEXTS.filter(lambda text: bool(text) and text != "builtins"),
        TEXTS.filter(lambda text: bool(text) and "\0" not in text),
    ),
)
LINKS = st.sampled_from(["none", "cause", "context", "both"])


def thrown(error: BaseException, file: str, function: str, line: int, depth: int) -> None:
    """Give an exception a traceback through code that says such things of itself."""
    scope: dict[str, Any] = {"error": error}
    code = compile("\n" * line + "raise error", file.replace("\0", "") or "?", "exec").replace(
        co_name=function
    )
    assert caught(lambda: _through(lambda: exec(code, scope), depth)) is error


def _through(call: Callable[[], object], depth: int) -> None:
    if depth:
        _through(call, depth - 1)
    else:
        call()


FILES = st.one_of(st.sampled_from([__file__, "<string>", "", "a/b.py"]), TEXTS)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            KINDS,
            st.lists(LEAVES, max_size=8),
            LINKS,
            st.booleans(),
            FILES,
            TEXTS,
            st.integers(0, 80),
            st.integers(0, 9),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_chains(line: list[tuple[Any, ...]]) -> None:
    """Whatever texts, leaves and links there are."""
    below: BaseException | None = None
    for kind, args, link, suppressed, file, function, number, depth in line:
        error = kind(*args)
        if depth:
            thrown(error, file, function, number, depth)
        error.__cause__ = below if link in ("cause", "both") else None
        error.__context__ = below if link in ("context", "both") else None
        error.__suppress_context__ = suppressed
        below = error
    assert below is not None
    assert agree(below)
    assert type(loads(dumps(below))).__mro__[-3:] == (Exception, BaseException, object)


def failed(depth: int = 3) -> BaseException:
    """A plain chain of two with frames that have lines."""

    def both() -> None:
        try:
            _through(lambda: _raise(KeyError("row")), depth)
        except KeyError as error:
            raise Lower("no row", 3, None, b"\xff", "\u6f22") from error

    return caught(both)


def with_own(**attributes: object) -> BaseException:
    error = Own("x")
    vars(error).update(attributes)
    return error


def linked(first: BaseException, **links: BaseException) -> BaseException:
    for name, target in links.items():
        setattr(first, f"__{name}__", target)
    return first


def noted() -> BaseException:
    error = Own("x")
    error.add_note("n")
    return error


class Shown(Exception):
    def __str__(self) -> str:
        return "mine"


class NotedByClass(Exception):
    __notes__ = ["of the class"]


class DeniedByClass(Exception):
    __denials__ = ("of the class",)


class Text(str):
    __slots__ = ()


class Odd(dict[str, object]):
    def items(self) -> Any:
        raise KeyError("items")


def with_odd_dict() -> BaseException:
    error = Own("x")
    error.__dict__ = Odd()
    return error


def cycle() -> BaseException:
    first, second = Own(1), Own(2)
    first.__cause__, second.__context__ = second, first
    return first


def line_of(length: int) -> BaseException:
    error = Own(0)
    for number in range(1, length):
        error = linked(Own(number), cause=error)  # type: ignore[assignment]
    return error


UNUSUAL: dict[str, Callable[[], BaseException]] = {
    "attribute": lambda: with_own(code=3),
    "denials": lambda: with_own(__denials__=["x"]),
    "denials of the class": DeniedByClass,
    "note": noted,
    "notes of the class": NotedByClass,
    "dict of another type": with_odd_dict,
    "own str": Shown,
    "field": lambda: FileNotFoundError(2, "no", "file"),
    "field below": lambda: linked(Own(), cause=NameError("x", name="x")),
    "group": lambda: ExceptionGroup("g", [Own()]),
    "remote error raised again": lambda: caught(lambda: _raise(loads(dumps(Own("x"))))),
    "remote error below": lambda: linked(Own(), context=loads(dumps(Own("x")))),
    "remote subclass": lambda: type("Mine", (RemoteError,), {})(thorough(Own("x"), Limits())),
    "cause and context": lambda: linked(Own(), cause=Own(1), context=Own(2)),
    "cycle": cycle,
    "cycle of one": lambda: _itself(Own()),
    "long line": lambda: line_of(17),
    "many arguments": lambda: Own(*range(9)),
    "long text": lambda: Own("x" * 256),
    "long bytes": lambda: Own(b"x" * 256),
    "wide text": lambda: Own("\u6f22" * 64),
    "big int": lambda: Own(1 << 64),
    "container": lambda: Own([1]),
    "text subclass": lambda: Own(Text("x")),
    "bool of another kind": lambda: Own(...),
    "exception among arguments": lambda: Own(ValueError()),
    "says it is Python's own": lambda: named("builtins", "ValueError")("x"),
    "no module": lambda: named("", "x")(),
    "module of another type": lambda: named(Text("m"), "x")(),
    "text of no type": lambda: named(3, "x")(),  # type: ignore[arg-type]
    "many bases": lambda: _many_bases(),
}


def _raise(error: BaseException) -> None:
    raise error


def _itself(error: BaseException) -> BaseException:
    # Python sets no cause of its own to itself, but a program can.
    error.__cause__ = error
    return error


def _many_bases() -> BaseException:
    kind: type[Exception] = Own
    for number in range(32):
        kind = type(f"K{number}", (kind,), {})
    return kind("x")


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_ones_are_described(name: str) -> None:
    """They are not plain, and what is told of them is the same."""
    assert not agree(UNUSUAL[name]())


USUAL: dict[str, Callable[[], BaseException]] = {
    "eight arguments": lambda: Own(*range(8)),
    "255 characters": lambda: Own("x" * 255),
    "255 bytes": lambda: Own(b"x" * 255),
    "63 wide characters": lambda: Own("\u6f22" * 63),
    "ints": lambda: Own((1 << 64) - 1, -(1 << 63)),
    "line of 16": lambda: line_of(16),
    "nothing": Own,
    "frames": failed,
}


@pytest.mark.parametrize("name", USUAL)
def test_the_last_that_are_plain(name: str) -> None:
    """One more of each is among the unusual ones."""
    assert agree(USUAL[name]())


@pytest.mark.parametrize("name", sorted(Limits.TABLE))
def test_limits(name: str) -> None:
    """However small a limit is, both ways say the same; by default the exception is far from all."""
    error = failed()
    assert agree(error)
    most = Limits.TABLE[name][1]
    values = [value for value in (*range(40), *range(40, 2000, 97), 4096, 10_000, 40_000) if value <= most]
    plain = [agree(error, Limits(**{name: value})) for value in values]
    # What no plain exception has, and what there is room for in any case.
    unlimited = {"region", "dtype_fields", "dtype_depth", "undelivered"}
    assert all(plain) if name in unlimited else not plain[0]


@pytest.mark.parametrize("frames", [1, 2, 5, 256])
def test_frames_at_their_limit(frames: int) -> None:
    """One more is cut, and that is described."""
    error = caught(lambda: _through(lambda: _raise(Own("deep")), 300))
    depth = len(thorough(error, Limits(frames=4096)).frames)
    trace = error.__traceback__
    for _ in range(depth - frames):
        assert isinstance(trace, TracebackType)
        trace = trace.tb_next
    assert agree(error.with_traceback(trace), Limits(frames=frames))
    assert not agree(error, Limits(frames=frames - 1))
    assert not agree(error, Limits(frames=frames - 1)) and len(thorough(error, Limits()).frames) == frames


def test_long_lines(tmp_path: Any) -> None:
    """Of 512 characters a line is kept whole; of one more, and of wide ones, so many are."""
    for letter in ("x", "\xe9", "\u6f22", "\U0001f600"):
        for length in (511, 512, 513, 2000):
            path = tmp_path / f"{ord(letter)}-{length}.py"
            start = "raise error  # "
            path.write_text(start + letter * (length - len(start)) + "\r\n", newline="")
            error = Own("x")
            thrown_by(error, str(path))
            assert agree(error)
            frame = thorough(error, Limits()).frames[-1]
            assert frame.source == (start + letter * (length - len(start)))[:512]


def thrown_by(error: BaseException, file: str) -> None:
    try:
        exec(compile("raise error", file, "exec"), {"error": error})
    except Own:
        pass


def test_nothing_of_the_class_runs() -> None:
    """Not its metaclass, not its attributes, not its comparison."""
    ran: list[str] = []

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            ran.append(name)
            return super().__getattribute__(name)

        def __eq__(cls, other: object) -> bool:
            ran.append("==")
            return cls is other

        def __hash__(cls) -> int:
            ran.append("hash")
            return 1

    class Watched(Exception, metaclass=Meta):
        def __getattribute__(self, name: str) -> Any:
            ran.append(name)
            return super().__getattribute__(name)

        def __repr__(self) -> str:
            ran.append("repr")
            return ""

    error = caught(lambda: _raise(Watched("x")))
    ran.clear()
    assert plain_failure(error, Limits()) is not None
    assert not ran


def test_an_interrupt_while_lines_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C gets out; any other failure leaves frames without lines."""
    error = caught(lambda: _raise(Own("x")))

    def fails(file: str, scope: object = None) -> list[str]:
        raise stops

    monkeypatch.setattr(linecache, "getlines", fails)
    stops: BaseException = KeyboardInterrupt()
    for call in (dumps, ask):
        with pytest.raises(KeyboardInterrupt):
            call(error)
    stops = ZeroDivisionError()
    assert agree(error)
    assert [frame.source for frame in ask(error).frames] == [None] * len(ask(error).frames)


def test_names_that_are_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as `<string>` have lines where linecache holds them, or where a program answers for linecache."""
    assert _read_lines("<w14>", {}) == []
    monkeypatch.setitem(linecache.cache, "<w14>", (2, None, ["a\n"], "<w14>"))
    assert _read_lines("<w14>", {}) == ["a\n"]
    monkeypatch.delitem(linecache.cache, "<w14>")
    for name in ("getlines", "updatecache"):
        with monkeypatch.context() as patch:
            patch.setattr(linecache, name, lambda file, scope=None: ["patched\n"])
            assert _read_lines("<w14>", {}) == ["patched\n"]
    assert "linecache" in sys.modules and _read_lines("<w14>", {}) == []


def test_recorded_denials_are_told() -> None:
    """Those of the call are no part of the exception, and stand in its report."""
    error = Own("x")
    assert ask(error, denials=["no network"]).denials == ("no network",)
    assert ask(error, complete=False).cut == ("denials",)
