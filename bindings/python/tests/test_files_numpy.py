"""Arrays of a mapped file: views that keep it, and that nobody writes through."""

from __future__ import annotations

import gc
import mmap
from pathlib import Path

import numpy as np
import pytest

import hookless
from hookless import dumps
from hookless._hookless import view_mapped
from same import assert_same

SMALL = np.arange(10.0)
LARGE = np.arange(100_000.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "arrays.frames"
    path.write_bytes(dumps([LARGE, SMALL, LARGE.reshape(250, 400).T, b"x" * 20_000]))
    return path


def test_large_arrays_are_read_only_views(file: Path) -> None:
    """What is written to the file is seen in them (so nobody else may write to it); the others are copies."""
    one, small, other, data = hookless.load(file, mmap=True)
    assert_same([one, small, other], [LARGE, SMALL, LARGE.reshape(250, 400).T])
    for view in (one, other):
        assert not view.flags.writeable and not view.flags.owndata
        with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
            view.flags.writeable = True
    assert small.flags.writeable and small.flags.owndata and data == b"x" * 20_000
    content = file.read_bytes()
    with file.open("r+b") as opened:
        opened.seek(content.index(LARGE.tobytes()))
        opened.write(np.float64(7.5).tobytes())
    assert one[0] == 7.5


def test_views_outlive_the_file(file: Path) -> None:
    """The name may go, and every other reference."""
    one = hookless.load(file, mmap=True)[0]
    file.unlink()
    gc.collect()
    assert_same(one, LARGE)


def test_the_mapping_goes_with_the_last_view(file: Path) -> None:
    values = hookless.load(file, mmap=True)
    assert str(file) in Path("/proc/self/maps").read_text()
    del values
    gc.collect()
    assert str(file) not in Path("/proc/self/maps").read_text()


def test_a_mapping_with_views_stays(file: Path) -> None:
    """It can be neither closed nor resized under them."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    view = view_mapped(mapped, 0, size)[0]
    with pytest.raises(BufferError):
        mapped.close()
    assert not hasattr(view.base, "release")
    del view
    mapped.close()


@pytest.mark.parametrize("access", [mmap.ACCESS_WRITE, mmap.ACCESS_COPY])
def test_no_views_of_what_can_be_written_to(file: Path, access: int) -> None:
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0, access=access) as mapped:
        with pytest.raises(ValueError, match="read-only"):
            view_mapped(mapped, 0, len(mapped))


def test_elements_are_checked(tmp_path: Path) -> None:
    """As anywhere: a bool is 0 or 1."""
    data = bytearray(dumps(np.zeros(20_000, "?")))
    data[-1] = 2
    path = tmp_path / "bools"
    path.write_bytes(data)
    with pytest.raises(hookless.DecodeError) as caught:
        hookless.load(path, mmap=True)
    assert (caught.value.code, caught.value.offset) == ("bad_element", len(data) - 1)


def test_several_frames_of_one_mapping(tmp_path: Path) -> None:
    """Each value keeps the file for itself."""
    path = tmp_path / "many"
    path.write_bytes(b"".join(dumps(LARGE + i) for i in range(3)))
    for i, array in enumerate(hookless.load_all(path, mmap=True)):
        assert_same(array, LARGE + i)
        assert not array.flags.owndata
