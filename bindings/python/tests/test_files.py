"""`dump`, `load`, `load_all`: files of frames, read or mapped into memory."""

from __future__ import annotations

import builtins
import gc
import io
import mmap
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hookless
from carried import HOSTILE, LARGE, SHORT, accepted, check_value, limits_at, refused
from hookless import dumps
from same import assert_same
from test_vectors import check_refusal

Reader = Callable[..., Any]


def read_open(path: Path, **options: Any) -> list[Any]:
    with path.open("rb") as file:
        return list(hookless.load_all(file, **options))


WAYS: dict[str, Reader] = {
    "by name": lambda path, **options: list(hookless.load_all(str(path), **options)),
    "open": read_open,
    "mapped": lambda path, **options: list(hookless.load_all(path, mmap=True, **options)),
}
ONE: dict[str, Reader] = {
    "by name": lambda path, **options: hookless.load(path, **options),
    "mapped": lambda path, **options: hookless.load(path, mmap=True, **options),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.frames"


@pytest.mark.parametrize("way", WAYS)
def test_every_accepted_frame_in_one_file(file: Path, way: str) -> None:
    """One after the other, without anything between them."""
    known = accepted()
    file.write_bytes(b"".join(one.frame for one in known))
    found = WAYS[way](file)
    assert len(found) == len(known) > 200
    for vector, value in zip(known, found, strict=True):
        check_value(vector, value)


@pytest.mark.parametrize("way", ONE)
def test_every_refused_frame(file: Path, way: str) -> None:
    """Code and offset are those of `loads`."""
    for vector in refused():
        file.write_bytes(vector.frame)
        with pytest.raises(hookless.DecodeError) as caught:
            ONE[way](file)
        check_refusal(caught.value, vector.code, vector.offset)


@pytest.mark.parametrize("way", WAYS)
def test_the_end_of_a_file(file: Path, way: str) -> None:
    """Between frames it ends the iterator; an empty file has no values."""
    file.write_bytes(b"")
    assert WAYS[way](file) == []
    file.write_bytes(SHORT * 3)
    assert WAYS[way](file) == [["short", 1]] * 3


@pytest.mark.parametrize("way", ONE)
def test_one_value_of_a_file(file: Path, way: str) -> None:
    """`load` wants one frame: at the end of the file it is Truncated, as `loads(b"")` is."""
    file.write_bytes(dumps(LARGE))
    assert_same(ONE[way](file), LARGE)
    file.write_bytes(b"")
    with pytest.raises(hookless.Truncated) as caught:
        ONE[way](file)
    check_refusal(caught.value, "truncated", 0)
    file.write_bytes(SHORT + SHORT)
    with pytest.raises(hookless.DecodeError) as refusal:
        ONE[way](file)
    check_refusal(refusal.value, "trailing_bytes", len(SHORT))


def test_load_at_the_end_of_an_open_file() -> None:
    """One frame for each call, and then Truncated at byte 0."""
    file = io.BytesIO(SHORT * 2)
    assert hookless.load(file) == hookless.load(file)
    with pytest.raises(hookless.Truncated) as caught:
        hookless.load(file)
    assert caught.value.offset == 0
    assert list(hookless.load_all(file)) == []


@pytest.mark.parametrize("way", WAYS)
def test_torn_at_every_byte(file: Path, way: str) -> None:
    """The values before it come; then Truncated, where the frame's bytes end."""
    for cut in range(1, len(SHORT)):
        file.write_bytes(SHORT + SHORT[:cut])
        values = iter_of(way, file)
        assert next(values) == ["short", 1]
        with pytest.raises(hookless.Truncated) as caught:
            next(values)
        check_refusal(caught.value, "truncated", cut)


def iter_of(way: str, file: Path) -> Iterator[Any]:
    if way == "open":
        return hookless.load_all(io.BytesIO(file.read_bytes()))
    return hookless.load_all(file, mmap=way == "mapped")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cut", [1, 31, 32, 40, 63, 64, 1000, -1])
def test_large_ones_torn(file: Path, way: str, cut: int) -> None:
    """Inside head, body, padding and region."""
    frame = dumps(LARGE)
    file.write_bytes(frame[:cut])
    with pytest.raises(hookless.Truncated) as caught:
        WAYS[way](file)
    check_refusal(caught.value, "truncated", cut % len(frame))


@pytest.mark.parametrize("way", ONE)
@pytest.mark.parametrize(("name", "data", "code"), HOSTILE)
def test_what_is_no_frame(file: Path, way: str, name: str, data: bytes, code: str) -> None:
    """Refused with its code; a pickle is not read."""
    file.write_bytes(data)
    with pytest.raises(hookless.DecodeError) as caught:
        ONE[way](file)
    assert caught.value.code == code
    assert not hasattr(builtins, "unpickled")


@pytest.mark.parametrize("way", WAYS)
def test_garbage_after_the_last_frame(file: Path, way: str) -> None:
    """It has to be a frame; its offset counts from where it begins."""
    file.write_bytes(SHORT + b"\n")
    values = iter_of(way, file)
    next(values)
    with pytest.raises(hookless.DecodeError) as caught:
        next(values)
    check_refusal(caught.value, "bad_magic", 0)
    assert list(values) == []


@pytest.mark.parametrize("way", WAYS)
def test_limits_at_and_past(file: Path, way: str) -> None:
    """For each frame alone: many at the limit are fine."""
    frame, at, past = limits_at()
    file.write_bytes(frame * 5)
    assert WAYS[way](file, limits=at) == ["x" * 100] * 5
    with pytest.raises(hookless.LimitExceeded) as caught:
        WAYS[way](file, limits=past)
    check_refusal(caught.value, "body_limit", 16)


@pytest.mark.parametrize("way", WAYS)
def test_as_a_type(file: Path, way: str) -> None:
    """Each value is converted; what does not fit is its own frame's error."""
    file.write_bytes(dumps([1, 2]) + dumps(["x"]))
    with pytest.raises(hookless.DecodeError) as caught:
        WAYS[way](file, type=list[int])
    assert (caught.value.code, caught.value.path) == ("type_mismatch", "$[0]")
    file.write_bytes(dumps([1, 2]))
    assert ONE["mapped"](file, type=list[int]) == [1, 2]


def test_a_wrong_type_is_said_at_once(file: Path) -> None:
    """Before the file is opened."""
    with pytest.raises(TypeError):
        hookless.load_all(file, type=lambda: 1)


def test_an_open_file_can_be_mapped(file: Path) -> None:
    """Whole, wherever it stands."""
    file.write_bytes(dumps(LARGE))
    with file.open("rb") as opened:
        opened.seek(10)
        assert_same(hookless.load(opened, mmap=True), LARGE)


def held(file: Path) -> int:
    """How often this process has a file open or mapped."""
    links = [one.readlink() for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    maps = Path("/proc/self/maps").read_text().splitlines()
    return links.count(file) + sum(line.endswith(f" {file}") for line in maps)


def test_no_descriptor_is_left(file: Path) -> None:
    """Neither of a file that was read nor of one that was mapped, with and without errors."""
    file.write_bytes(SHORT + b"\n")
    for way in WAYS:
        with pytest.raises(hookless.DecodeError):
            WAYS[way](file)
    for _ in range(3):
        with pytest.raises(hookless.DecodeError):
            hookless.load(file, mmap=True)
    # The file, its copy for the mapping, and the mapping.
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ):
        assert held(file) == 3
    values = hookless.load_all(file)
    next(values)
    assert held(file) == 1
    del values
    gc.collect()
    assert held(file) == 0


WRITER = """
import sys, hookless
with open(int(sys.argv[1]), "wb") as file:
    hookless.dump({"data": b"x" * 100_000}, file)
"""


def test_c161_a_file_outlives_its_writer(file: Path) -> None:
    """The host makes the file, a child writes to its descriptor and exits, and the host removes it, once."""
    with file.open("w+b") as made:
        command = [sys.executable, "-c", WRITER, str(made.fileno())]
        subprocess.run(command, pass_fds=[made.fileno()], check=True, timeout=60)
    value = hookless.load(file, mmap=True)
    file.unlink()
    assert value == {"data": b"x" * 100_000}
    # The name of a segment is a text, and nobody looks it up.
    assert hookless.loads(dumps("/psm_1234")) == "/psm_1234"
