"""Paths: exact parts, no interned names, no parsing of what the wire says, and `ForeignPath`."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import uuid4

import pytest

import hookless
import naive
from hookless import ForeignPath, dumps, loads
from same import assert_same

PURE_POSIX, PURE_WINDOWS, POSIX, WINDOWS = range(4)


def path(number: int, drive: str, root: str, *names: str) -> bytes:
    texts = [text.encode("utf-8", "surrogatepass") for text in (drive, root, *names)]
    return naive.ext(21, bytes([number]) + b"".join(len(text).to_bytes(4) + text for text in texts))


@pytest.mark.parametrize("number", [PURE_POSIX, PURE_WINDOWS, POSIX, WINDOWS])
def test_names_are_not_interned(number: int) -> None:
    """CPython 3.12 never forgets an interned str, so a name of the wire must not become one."""
    names = [f"{uuid4().hex}-{index}" for index in range(3)]
    result = loads(naive.frame(path(number, "", "", *names)))
    hash(result), str(result), repr(result)
    assert dumps(result) == naive.frame(path(number, "", "", *names))
    for name in names:
        # A twin that is interned now is the first one of its kind: else `intern` would give the other.
        twin = "".join(list(name))
        assert sys.intern(twin) is twin


def test_a_decoded_path_works() -> None:
    """Everything that a path does, on one that was not parsed."""
    result = loads(dumps(PurePosixPath("/a/b.tar.gz")))
    assert (result.name, result.suffixes, result.parent) == (
        "b.tar.gz",
        [".tar", ".gz"],
        PurePosixPath("/a"),
    )
    assert result / "c" == PurePosixPath("/a/b.tar.gz/c")
    assert result.with_suffix(".x") == PurePosixPath("/a/b.tar.x")
    assert result.relative_to("/a") == PurePosixPath("b.tar.gz")
    assert list(result.parents) == [PurePosixPath("/a"), PurePosixPath("/")]
    assert result.is_absolute() and result.match("*.gz") and result < PurePosixPath("/z")
    windows = loads(dumps(PureWindowsPath("c:\\A\\b")))
    assert windows == PureWindowsPath("C:/a/B")
    assert windows.as_posix() == "c:/A/b"
    assert windows.as_uri() == PureWindowsPath("c:\\A\\b").as_uri()
    assert (windows / "\\x", windows / "d:y") == (PureWindowsPath("c:\\x"), PureWindowsPath("d:y"))


def test_a_decoded_path_touches_files_when_it_is_asked_to(tmp_path: Path) -> None:
    """A concrete path is what the sender's was, and nothing is resolved on the way."""
    file = tmp_path / "here" / ".." / "file"
    result = loads(dumps(file))
    assert type(result) is PosixPath
    assert str(result) == str(file)
    (tmp_path / "here").mkdir()
    result.write_text("x")
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize("number", [PURE_POSIX, PURE_WINDOWS, POSIX, WINDOWS])
@pytest.mark.parametrize("names", [(), ("a",), ("..", "a"), ("\udc80",), ("\u6f22", " ", "~")], ids=repr)
def test_parts_as_they_were(number: int, names: tuple[str, ...]) -> None:
    """Rootless and rooted; on Windows with a drive and a share too."""
    windows = number in (PURE_WINDOWS, WINDOWS)
    starts = [("", ""), ("", "\\"), ("c:", ""), ("C:", "\\"), ("\\\\s\\h", "\\")] if windows else [
        ("", ""), ("", "/"), ("", "//")]  # fmt: skip
    for drive, root in starts:
        frame = naive.frame(path(number, drive, root, *names))
        result = loads(frame)
        pure = result.pure if number == WINDOWS else result
        assert isinstance(pure, PurePath)
        anchor = [drive + root] if drive + root else []
        assert (pure.drive, pure.root, list(pure.parts)) == (drive, root, [*anchor, *names])
        assert dumps(result) == frame
        twin = type(pure)(str(pure))
        assert (twin, hash(twin), str(twin), repr(twin)) == (pure, hash(pure), str(pure), repr(pure))


def test_foreign_path() -> None:
    """A WindowsPath on this system: inert, and encoded as the WindowsPath that it was."""
    frame = naive.frame(path(WINDOWS, "C:", "\\", "Users", "x"))
    result = loads(frame)
    assert type(result) is ForeignPath is hookless.ForeignPath
    assert (result.flavour, result.drive, result.root, result.names) == (
        "windows",
        "C:",
        "\\",
        ("Users", "x"),
    )
    assert result.pure == PureWindowsPath("C:\\Users\\x")
    assert type(result.pure) is PureWindowsPath
    assert str(result) == "C:\\Users\\x"
    assert repr(result) == "hookless.ForeignPath(PureWindowsPath('C:/Users/x'))"
    assert dumps(result) == frame
    for method in ("exists", "open", "stat", "unlink", "read_text", "__fspath__"):
        assert not hasattr(result, method)


def test_foreign_path_compares_as_its_pure_path() -> None:
    """Equal and hashed alike without regard to case; equal to no other kind of path."""
    one, two = (ForeignPath(PureWindowsPath(text)) for text in ("c:\\A", "C:\\a"))
    assert one == two and hash(one) == hash(two)
    assert one != ForeignPath(PureWindowsPath("c:\\b"))
    assert one != PureWindowsPath("c:\\A") and PureWindowsPath("c:\\A") != one
    assert one != "c:\\A"
    assert {one: 1}[two] == 1


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_foreign_path_in_the_host(protocol: int) -> None:
    """It copies and pickles as a value does."""
    one = ForeignPath(PureWindowsPath("c:\\A"))
    for twin in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one, protocol))):
        assert_same(twin, one)


@pytest.mark.parametrize("wrong", ["c:\\a", PosixPath("a"), None, b"a"], ids=repr)
def test_foreign_path_is_made_of_a_pure_path(wrong: Any) -> None:
    """Nothing is guessed from text, and a concrete path of this system needs no stand-in."""
    with pytest.raises(TypeError, match=type(wrong).__name__):
        ForeignPath(wrong)


def test_foreign_path_of_posix() -> None:
    """What a PosixPath becomes on Windows; here it can be made by hand, and comes back as a PosixPath."""
    frame = dumps(ForeignPath(PurePosixPath("/a")))
    assert frame == naive.frame(path(POSIX, "", "/", "a")) == dumps(PosixPath("/a"))
    assert_same(loads(frame), PosixPath("/a"))


@pytest.mark.parametrize("other", ["A", "\u00c9", "\u0130", "\u03a3\u03a3"])
def test_k7_windows_paths_that_differ_in_case(other: str) -> None:
    """One key, by Python's own lower case."""
    lower = other.lower()
    for left, right in ((other, lower), (lower, other)):
        body = naive.mapping([(path(PURE_WINDOWS, "", "", name), naive.NIL) for name in (left, right)])
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(body))
        assert caught.value.code == "duplicate_key"
    body = naive.mapping([(path(PURE_POSIX, "", "", name), naive.NIL) for name in (other, lower)])
    assert len(loads(naive.frame(body))) == 2
