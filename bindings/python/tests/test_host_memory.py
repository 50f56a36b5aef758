"""C126 without NumPy: what goes to the child depends on the value only, not on memory."""

from __future__ import annotations

import array
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookless
from hookless import Worker, dumps, encode, loads

HERE = Path(__file__).parent
SECRET = b"SECRET_" * 5000


def shrunk(kind: str) -> Any:
    """A value in memory that held more before: at its end, or at its beginning."""
    match kind:
        case "bytearray":
            value = bytearray(SECRET)
            del value[7:]
            return value
        case "bytearray, from the front":
            value = bytearray(SECRET)
            del value[:-7]
            return value
        case "array":
            numbers = array.array("B", SECRET)
            del numbers[7:]
            return numbers
        case "large bytearray":
            value = bytearray(SECRET)
            value[:] = bytes(20_000)
            return value
        case "list":
            items: list[Any] = [SECRET] * 100
            del items[1:]
            items[0] = 1
            return items
        case _:
            table: dict[Any, Any] = dict.fromkeys(range(100), SECRET)
            for number in range(99):
                del table[number]
            table[99] = 1
            return table


FRESH: dict[str, Any] = {
    "bytearray": bytearray(b"SECRET_"),
    "bytearray, from the front": bytearray(b"SECRET_"),
    "array": array.array("B", b"SECRET_"),
    "large bytearray": bytearray(20_000),
    "list": [1],
    "dict": {99: 1},
}


@pytest.mark.parametrize("kind", FRESH)
def test_c126_spare_room(kind: str) -> None:
    """Bytes that a container has room for, and that it held before, stay here."""
    frame = dumps(shrunk(kind))
    assert frame == dumps(FRESH[kind]) == b"".join(map(bytes, encode(shrunk(kind))))
    assert frame.count(b"SECRET_") == dumps(FRESH[kind]).count(b"SECRET_")


def test_c126_spellings_in_memory() -> None:
    """How CPython holds a str or an int does not show: its width, its cached UTF-8, its spare digits."""
    wide = "aé\u6f22\U0001f600"
    for one, two in ((wide[:1], "a"), (wide[:2], "aé"), (wide[:3], "aé\u6f22")):
        before = dumps(one)
        one.encode()
        hash(one)
        assert dumps(one) == dumps(two) == before
    assert dumps((1 << 200) - (1 << 200) + 5) == dumps(5)
    assert dumps((1 << 200) - (1 << 199)) == dumps(1 << 199)
    assert dumps(bool(1)) == dumps(True)


def test_c126_views_of_memory_are_refused() -> None:
    """A memoryview has no wire form: nobody has to think about what lies beside it."""
    with pytest.raises(hookless.EncodeError):
        dumps(memoryview(SECRET)[:7])


def test_c126_head_and_padding_are_zero() -> None:
    """Reserved bits of the head, and what lies between the entries of the region."""
    sizes = (16_385, 20_001, 16_384)
    frame = dumps([bytes([255]) * size for size in sizes])
    body, region = int.from_bytes(frame[16:24]), int.from_bytes(frame[24:32])
    assert frame[6:16] == bytes(10)
    used = bytearray(len(frame))
    used[: 32 + body] = b"\1" * (32 + body)
    at = len(frame) - region
    assert at % 64 == 0
    for size in sizes:
        at += -at % 64
        used[at : at + size] = b"\1" * size
        at += size
    assert at == len(frame)
    gaps = bytes(byte for byte, taken in zip(frame, used, strict=True) if not taken)
    assert len(gaps) > 64
    assert gaps == bytes(len(gaps))


class Own:
    """An object that cannot be sent, with a repr that tells its address."""


class Failed(Exception):
    """An exception of the host's own."""


def raised(*arguments: Any) -> Failed:
    secret_of_a_local = SECRET
    try:
        try:
            raise KeyError(arguments[0])
        except KeyError as error:
            raise Failed(*arguments) from error
    except Failed as error:
        error.held = arguments  # type: ignore[attr-defined]
        error.inner = ValueError(arguments)  # type: ignore[attr-defined]
        assert secret_of_a_local
        return error


ADDRESS = re.compile(rb"0x[0-9a-f]{6}")


@pytest.mark.parametrize("count", [1, 3])
def test_c126_exceptions_tell_no_address_and_no_local(count: int) -> None:
    """What stands for an object that cannot be sent is its repr without the address."""
    objects = [Own(), [Own(), {1: Own()}], lambda: Own()][:count]
    others = [Own(), [Own(), {1: Own()}], lambda: Own()][:count]
    assert ADDRESS.search(repr(objects).encode())
    frame, other = dumps(raised(*objects)), dumps(raised(*others))
    assert not ADDRESS.search(frame)
    assert b"SECRET" not in frame
    told = loads(frame).remote
    assert told.args[0] == f"<{__name__}.Own object at 0x...>"
    # But for the name of the lambda's place they are the same.
    assert told.message == loads(other).remote.message
    assert told.cause.message == f"<{__name__}.Own object at 0x...>"
    # A text of the program's own is what it is.
    assert loads(dumps(ValueError("see <x> at 0x7f00aa"))).remote.message == "see <x> at 0x7f00aa"


def test_c126_stand_ins_tell_no_address() -> None:
    """Nor does `lossy`."""
    made = loads(dumps([Own(), lambda: 1], default=hookless.lossy))
    shown = [one["repr"] for one in made]
    assert shown[0] == f"<{__name__}.Own object at 0x...>"
    assert all("at 0x..." in one and not ADDRESS.search(one.encode()) for one in shown)


def test_c126_arguments_of_a_call_tell_no_address(shared: Worker) -> None:
    """The same holds for what a call carries."""
    ((error,), _) = shared.call("jobs:echo", raised(Own(), 2))
    assert not ADDRESS.search(repr(error.remote.args).encode() + error.remote.format().encode())


PERTURBED = """
import importlib.util, json, sys
sys.path.insert(0, sys.argv[1])
import hookless
from samples import PLAIN
from standard_samples import STANDARD
from test_host_memory import raised
values = [*PLAIN.values(), *STANDARD.values(), raised(1, "two"), hookless.Record("m", "q", {"x": 1.5})]
if importlib.util.find_spec("numpy") is not None:
    from numpy_samples import NUMPY
    values += [one for some in NUMPY.values() for one in some]
found = []
for value in values:
    garbage = [bytes(size) for size in (24, 100, 1000, 20_000)]
    del garbage
    found.append([hookless.dumps(value).hex(), *(bytes(part).hex() for part in hookless.encode(value))])
print(json.dumps(found))
"""


def test_c126_the_allocator_does_not_show() -> None:
    """Processes that fill what they allocate with other bytes, and hash otherwise, write the same frames."""
    found = []
    for pattern in ("170", "85"):
        env = os.environ | {"MALLOC_PERTURB_": pattern, "PYTHONMALLOC": "malloc", "PYTHONHASHSEED": pattern}
        command = [sys.executable, "-c", PERTURBED, str(HERE)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert len(found[0]) > 30
    assert found[0] == found[1]


def test_the_allocator_is_perturbed() -> None:
    """The variable does what the test above needs: fresh memory holds the byte's complement."""
    code = "import ctypes as c; libc = c.CDLL(None); libc.malloc.restype = c.c_void_p\n"
    code += "print(c.string_at(libc.malloc(4096), 64).hex())"
    for pattern in (170, 85):
        env = os.environ | {"MALLOC_PERTURB_": str(pattern)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60
        )
        assert done.stdout.strip() == bytes([pattern ^ 255] * 64).hex()
