"""Bytes that an attacker chose: only documented errors, nothing opened or imported, memory as promised."""

from __future__ import annotations

import builtins
import json
import pickle
import random
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import hookless
import naive
from describing import expand
from hookless import Decoder, Limits, decode, dumps, loads
from samples import frames
from test_vectors import vectors
from watching import watched

FRAMES = frames()
hookless.warm_up()
WARM_UP = dumps([1, {"a": (2.5, b"x")}])


class Refused(NamedTuple):
    """A documented error, reduced to what all decoders must agree on."""

    code: str
    offset: int


def outcome(call: Callable[[], object]) -> object:
    """What a decoder may do: return a value, or raise a DecodeError with code, offset and path."""
    try:
        return call()
    except hookless.DecodeError as found:
        error = found
    assert type(error) in (hookless.DecodeError, hookless.LimitExceeded, hookless.Truncated)
    assert isinstance(error.offset, int) and error.offset >= 0
    assert isinstance(error.path, str)
    return Refused(error.code, error.offset)


def check(data: bytes) -> None:
    """All three ways agree, and what is accepted is canonical."""
    result = outcome(lambda: loads(data))
    again = outcome(lambda: decode([data[:40], data[40:]]))
    if type(result) is Refused:
        assert again == result
    else:
        # The oracle that finds two readings of one frame: only one encoding is accepted.
        assert dumps(result) == dumps(again) == data
    pushed = outcome(lambda: [frame.kind for frame in Decoder().feed(data)])
    if type(result) is not Refused:
        assert pushed == ["value"]


def mutations(frame: bytes, chance: random.Random, count: int) -> Iterator[bytes]:
    interesting = bytes(
        [0, 1, 0x7F, 0x80, 0x90, 0xC0, 0xC1, 0xC4, 0xC7, 0xD4, 0xD9, 0xDC, 0xDD, 0xDF, 0xE0, 0xFF]
    )
    for _ in range(count):
        data = bytearray(frame)
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            # Mostly in the body: the head refuses nearly everything.
            at = chance.randrange(32 if chance.random() < 0.9 and len(data) > 33 else 0, len(data))
            at = min(at, chance.randrange(at, at + 200))
            match chance.randrange(5):
                case 0:
                    data[at] ^= 1 << chance.randrange(8)
                case 1:
                    data[at] = chance.choice(interesting)
                case 2:
                    del data[at : at + chance.randrange(1, 9)]
                case 3:
                    data[at:at] = chance.randbytes(chance.randrange(1, 9))
                case _:
                    piece = slice(at, at + chance.randrange(1, 20))
                    data[at:at] = data[piece]
            if len(data) <= 33:
                break
        if chance.random() < 0.8 and len(data) > 32:
            # Makes the lengths true again, so that more than the head is tried.
            region = int.from_bytes(data[24:32])
            body = len(data) - 32 - region - (-int.from_bytes(data[16:24]) % 64 if region else 0)
            data[16:24] = struct.pack(">Q", max(body, 1))
        yield bytes(data)


@pytest.mark.parametrize("name", FRAMES)
def test_mutated_frames(name: str) -> None:
    """Bits flipped, bytes cut, inserted and doubled."""
    chance = random.Random(f"mutate {name}")
    loads(WARM_UP)
    with watched():
        for data in mutations(FRAMES[name], chance, 400 if len(FRAMES[name]) < 2000 else 60):
            check(data)


def test_random_bodies() -> None:
    """Random bytes, and random bytes that are mostly heads."""
    chance = random.Random("bodies")
    heads = bytes(range(0x80, 0xA0)) + bytes(range(0xC0, 0xE0))
    loads(WARM_UP)
    with watched():
        for _ in range(20_000):
            size = chance.randrange(1, 40)
            data = chance.randbytes(size) if chance.random() < 0.5 else bytes(chance.choices(heads, k=size))
            check(naive.frame(data))
            check(naive.frame(naive.node(chance.randrange(30), [data])))


def test_random_bytes() -> None:
    """Without even a head."""
    chance = random.Random("bytes")
    for size in range(100):
        check(chance.randbytes(size))
        check(b"HKLS\x01" + chance.randbytes(size))


class Gadget:
    """What a pickle does to a host that loads it."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (builtins.exec, ("raise SystemExit('the gadget ran')",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_inside_a_frame_it_is_bytes(protocol: int) -> None:
    """As the whole message: bad magic at 0. As a value: bytes and nothing more."""
    gadget = pickle.dumps(Gadget(), protocol)
    loads(WARM_UP)
    with watched():
        for call in (lambda: loads(gadget), lambda: decode([gadget]), lambda: Decoder().feed(gadget)):
            assert outcome(call) == Refused("bad_magic", 0)
        assert loads(dumps([gadget])) == [gadget]
        for kind in ("O", "g"):
            node = naive.node(
                naive.NDARRAY, [naive.dtype(kind, "|", 8), b"\0", naive.array([]), naive.binary(gadget)]
            )
            assert outcome(lambda body=node: loads(naive.frame(body))) == Refused("bad_dtype", 36)  # type: ignore[misc]


NAMES = [
    ("os", "system", "id"),
    ("subprocess", "Popen", "id"),
    ("this_module_does_not_exist", "E", "x"),
    ("antigravity", "X.__init__.__globals__", "x"),
    ("builtins", "eval", "__import__('this')"),
    ("numpy.core.numeric.builtins", "eval", "1"),
    ("../../etc/passwd", "__class__", "x"),
]


@pytest.mark.parametrize(("module", "name", "argument"), NAMES)
def test_c123_names_of_classes_are_text(module: str, name: str, argument: str) -> None:
    """An exception that claims any class imports, looks up and calls nothing, also when it is shown."""
    attributes = ["__class__", "__traceback__", "with_traceback", "args", "__dict__", "name", "path", "obj"]
    frame = naive.frame(
        naive.exception(
            naive.entry(
                module,
                name,
                bases=["builtins.Exception", "os.system", "builtins.ImportError"],
                message="shown",
                frames=[naive.trace_frame("/etc/passwd", 1, "f", "root")],
                args=[naive.text(argument)],
                fields=[(naive.text(attribute), naive.text("os")) for attribute in attributes],
            )
        )
    )
    loads(naive.frame(naive.exception(naive.entry())))
    with watched():
        error = loads(frame)
        shown = f"{error} {error!r} {error.remote!r}"
        assert dumps(error) == frame
    assert shown
    assert isinstance(error, hookless.RemoteError)
    assert error.__traceback__ is None
    assert (error.remote.module, error.remote.qualname) == (module, name)
    assert sorted(dict(error.remote.fields)) == sorted(attributes)


def nested(head: bytes, count: int) -> bytes:
    return head * count


# Bodies that announce much or build much from few bytes.
def texts(count: int, item: bytes) -> bytes:
    """An array of StringDType in which None stands for a missing text (A24)."""
    return naive.node(19, [b"\xc0", b"\xc3", b"\0", naive.array([naive.integer(count)]), *[item] * count])


ONE_BYTE = naive.ndarray(naive.dtype("u", "|", 1), [1], b"\1")

BOMBS: dict[str, bytes] = {
    "array32": b"\xdd\xff\xff\xff\xff",
    "map32": b"\xdf\xff\xff\xff\xff",
    "str32": b"\xdb\xff\xff\xff\xff",
    "bin32": b"\xc6\xff\xff\xff\xff",
    "ext32": b"\xc9\xff\xff\xff\xff\x02",
    "c128 arrays": nested(b"\xdc\xff\xff", 24_000),
    "c128 maps": nested(b"\xde\xff\xff", 24_000),
    "c138 nested": nested(b"\x91", 10_000) + b"\x90",
    "c138 maps": nested(b"\x81\xa1\x61", 10_000) + b"\xc0",
    "c138 keys": nested(b"\x81", 10_000),
    "nested tuples": nested(b"\x92\xd4\x01\x01", 10_000) + b"\xc0",
    "nested keys": b"\x81" + nested(b"\x92\xd4\x01\x01", 10_000) + b"\xc0\xc0",
    "region bytes": naive.ext(6, (2**63).to_bytes(8)),
    "region huge": naive.ext(7, (2**64 - 1).to_bytes(8)),
    "big shape": naive.node(
        naive.NDARRAY, [naive.dtype("u", "|", 1), b"\0", naive.array([naive.integer(2**62)]), naive.NIL]
    ),
    "empty shape": naive.ndarray(naive.dtype("f", "<", 8), [2**62, 2, 0], b""),
    "many arrays": naive.array([naive.ndarray(naive.dtype("f", "<", 8), [0] * 64, b"")] * 5000),
    "empty dicts": naive.array([b"\x80"] * 500_000),
    "empty sets": naive.array([b"\x91\xd4\x01\x02"] * 200_000),
    "one-pair dicts": naive.array([b"\x81\xc0\xc0"] * 200_000),
    "one-member sets": naive.array([b"\x92\xd4\x01\x02\xc0"] * 100_000),
    "floats": naive.array([naive.floating(1.5)] * 200_000),
    "wide text": naive.text("\U0001f600" + "a" * 1_000_000),
    "surrogates": naive.ext(4, b"\xed\xa0\x80" + b"a" * 1_000_000),
    "int keys": naive.mapping([(naive.integer(i), naive.NIL) for i in range(100_000)]),
    "members": naive.members(naive.SET, [naive.integer(i) for i in range(100_000)]),
    "exceptions": naive.array([naive.exception(naive.entry("m", "q"))] * 5000),
    "big int": naive.ext(2, b"\0" + b"\xff" * 16_384),
    "scalars": naive.array([naive.scalar(33, b"\1")] * 200_000),
    "records": naive.array([naive.record([])] * 100_000),
    "one-field records": naive.array([naive.record([("x", naive.NIL)], kind=naive.NAMED)] * 100_000),
    "enum members": naive.array([naive.member(None, naive.NIL)] * 100_000),
    "a wide record": naive.record([(f"{number:x}", naive.NIL) for number in range(100_000)]),
    "nested records": nested(naive.record([("x", b"")]), 10_000) + b"\xc0",
    "record keys": naive.mapping(
        [(naive.record([("x", naive.integer(number))]), naive.NIL) for number in range(20_000)]
    ),
    "deques": naive.array([naive.node(4, [naive.NIL])] * 50_000),
    "ordered dicts": naive.array([naive.node(5, [naive.mapping([])])] * 100_000),
    "counters": naive.array([naive.node(6, [naive.mapping([])])] * 100_000),
    "decimals": naive.array([naive.ext(17, b"\1")] * 100_000),
    "interfaces": naive.array([naive.ext(20, b"\2" + bytes(5))] * 30_000),
    "paths": naive.array([naive.ext(21, b"\1" + bytes(8))] * 50_000),
    "parts of a path": naive.ext(21, b"\0" + bytes(8) + b"\0\0\0\1a" * 100_000),
    "arrays": naive.array([naive.node(11, [b"\x62", b"\1", b"\0", naive.binary(b"")])] * 50_000),
    "zones": naive.array([naive.ext(14, b"\1" + bytes(8))] * 50_000),
    "objects": naive.node(18, [b"\0", naive.array([naive.integer(500_000)]), *[naive.NIL] * 500_000]),
    "arrays of one object": naive.array([bytes.fromhex("94d40112009101c0")] * 50_000),
    "arrays of no object": naive.array([bytes.fromhex("93d40112009100")] * 50_000),
    "texts": texts(300_000, b"\xa1a"),
    "missing texts": texts(500_000, naive.NIL),
    "texts of 16": texts(50_000, b"\xb0" + b"a" * 16),
    "wide texts": texts(2, naive.text("\U0001f600" + "a" * 500_000)),
    "masked arrays": naive.array([naive.node(17, [ONE_BYTE, b"\xc0", b"\xc0", b"\xc2"])] * 20_000),
    "half floats of ml_dtypes": naive.array([bytes.fromhex("93d40117d608783c0100c402803f")] * 50_000),
    "records of NumPy": naive.array(
        [bytes.fromhex("93d401179301029195a161c00090d608757c0001c40105")] * 20_000
    ),
}


VECTORS = Path(__file__).parents[3] / "proto" / "vectors"
# Those that the tests of the Rust host measure as well.
BOMBS |= {one["name"]: expand(one["body"]) for one in json.loads((VECTORS / "hostile.json").read_text())}


@pytest.mark.parametrize("memory", [1 << 20, 1 << 30])
@pytest.mark.parametrize("name", BOMBS)
def test_memory_is_paid_for(name: str, memory: int) -> None:
    """At most min(160 x bytes received, memory) + 8 MiB, as promised; Python's share is measured."""
    check_memory(naive.frame(BOMBS[name]), Limits(memory=memory))


@pytest.mark.parametrize("folder", ["accept", "reject"])
def test_memory_of_vectors_is_paid_for(folder: str) -> None:
    """The same for each vector of the wire."""
    every = [vector.values[0] for entry in ("decode", "push") for vector in vectors(folder, entry)]
    assert len(every) > 200
    for vector in every:
        check_memory(vector.frame, vector.limits)


def check_memory(frame: bytes, limits: Limits) -> None:
    """What Python holds at most while a frame is decoded, whole and by the push decoder."""
    # The push decoder reserves arrays untouched, within the limit on the region.
    region = min(limits.region, int.from_bytes(frame[24:32]))
    most = min(160 * len(frame), limits.memory) + region + (8 << 20)
    loads(WARM_UP)
    for call in (lambda: loads(frame, limits=limits), lambda: Decoder(limits=limits).feed(frame)):
        tracemalloc.start()
        try:
            outcome(call)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= most


RSS = """
import sys
import hookless
frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
def once(decoder):
    for frame in frames:
        try:
            if decoder is None:
                hookless.loads(frame)
            else:
                hookless.Decoder().feed(frame)
        except hookless.HooklessError:
            pass
for _ in range(3):
    once(None), once(hookless.Decoder)
before = resident()
for _ in range(int(sys.argv[1])):
    once(None), once(hookless.Decoder)
print(resident() - before)
"""


def test_streams_leave_nothing_behind() -> None:
    """The resident memory of a process that decodes hostile frames again and again does not grow."""
    every = [vector.values[0].frame for vector in [*vectors("accept", "push"), *vectors("reject", "push")]]
    small = [frame for frame in every if len(frame) < 20_000]
    assert len(small) > 300
    done = subprocess.run(
        [sys.executable, "-c", RSS, "60"],
        input="\n".join(frame.hex() for frame in small),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8 << 20


SMALL_STACK = """
import sys, threading
import hookless
threading.stack_size(256 * 1024)
frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
def work():
    for frame in frames:
        for depth in (128, 512):
            limits = hookless.Limits(depth=depth)
            try:
                hookless.loads(frame, limits=limits)
            except hookless.DecodeError as error:
                print(error.code)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_c138_depth_on_a_small_stack() -> None:
    """Ten thousand levels of every container in a thread with 256 KiB of stack: an error, no crash."""
    heads = [
        b"\x91",
        b"\x81\xa1\x61",
        b"\x92\xd4\x01\x01",
        b"\x92\xd4\x01\x02",
        b"\x92\xd4\x01\x03",
        b"\x81\xc0",
        naive.record([("x", b"")]),
        naive.member("A", b""),
    ]
    bodies = [head * 10_000 + b"\xc0" for head in heads]
    text = "\n".join(naive.frame(body).hex() for body in bodies)
    command = [sys.executable, "-c", SMALL_STACK]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    codes = done.stdout.split()
    assert len(codes) == 2 * len(bodies)
    # A set inside a set is no key, which is found one level before the depth is.
    assert set(codes) == {"depth_limit", "not_keyable"}
    assert codes.count("not_keyable") == 2
