"""Reported attacks on other decoders, C116 to C132, against this one.

C126 is in test_host_memory.py; C120, C125, C134, C145 and C146 are in test_hooks.py as well.
"""

from __future__ import annotations

import base64
import inspect
import json
import pickle
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import hookless
import naive
from hookless import DecodeError, Decoder, Limits, decode, dumps, loads
from same import assert_same
from test_hostile import NAMES, Gadget
from watching import watched

hookless.warm_up()
MERSENNE = 2**61 - 1
INT64 = 1 << 64


def refused(body: bytes, *, limits: Limits | None = None) -> str:
    """The code of all decoders for a body."""
    return refused_frame(naive.frame(body), limits=limits)


def pushed(frame: bytes, limits: Limits | None) -> None:
    """The frame as a stream that ends after it."""
    decoder = Decoder(limits=limits)
    decoder.feed(frame)
    decoder.finish()


def refused_frame(frame: bytes, *, limits: Limits | None = None) -> str:
    codes = set()
    calls: Sequence[Callable[[], object]] = (
        lambda: loads(frame, limits=limits),
        lambda: loads(frame, limits=limits, copy=False),
        lambda: decode([frame[:33], frame[33:]], limits=limits),
        lambda: pushed(frame, limits),
    )
    for call in calls:
        with watched(), pytest.raises(DecodeError) as caught:
            call()
        codes.add(caught.value.code)
    (code,) = codes
    return code


def within(seconds: float, call: Callable[[], object]) -> None:
    """Not a measurement: a bound that only a hang or quadratic work passes."""
    start = time.monotonic()
    call()
    assert time.monotonic() - start < seconds


@pytest.mark.parametrize("of", ["ints", "decimals", "fractions"])
def test_c116_numbers_chosen_to_collide(of: str) -> None:
    """40 000 keys of one hash: refused by the probes that they would cost, as keys and as members."""
    import decimal
    import fractions

    make: dict[str, Callable[[int], Any]] = {
        "ints": lambda number: number,
        "decimals": decimal.Decimal,
        "fractions": lambda number: fractions.Fraction(number * 2 + 1, 2),
    }
    keys = [dumps(make[of](number * MERSENNE))[32:] for number in range(2, 40_000)]

    def both() -> None:
        assert refused(naive.mapping([(key, naive.NIL) for key in keys])) == "key_collision"
        assert refused(naive.members(naive.SET, keys)) == "key_collision"

    within(60, both)


ZONES = [
    "../../etc/passwd", "/etc/localtime", "America", "A" * 10**6, "x\0y", "../UTC", "UTC/", "./UTC", "",
    "utc ", "Europe/Paris\n", "/usr/share/zoneinfo/UTC", "posixrules/../UTC", "tzdata.zi",
    "zone.tab", "leapseconds",
]  # fmt: skip


@pytest.mark.parametrize("key", ZONES, ids=range(len(ZONES)))
def test_c117_zone_key_used_as_a_path(key: str) -> None:
    """A grammar, and then the host's own list: no file is looked for, and ZoneInfo is not asked."""
    body = naive.ext(14, b"\1" + key.encode())
    assert refused(body) in ("bad_payload", "zone_unknown", "truncated", "bad_utf8")
    frame = dumps(__import__("zoneinfo").ZoneInfo("UTC"))
    assert b"UTC" in frame
    patched = frame[32:].replace(b"UTC", b"..U")
    assert refused(patched) in ("bad_payload", "zone_unknown")


def test_c118_any_call_after_an_incomplete_read() -> None:
    """A model of what a decoder is: bytes that are missing, frames that are whole, dead after an error."""
    chance = random.Random("c118")
    pieces = [dumps([1] * 3), dumps({"a": b"x" * 20_000}), naive.frame(b"\xc1"), dumps("end")]
    for _ in range(300):
        decoder, buffer, dead = Decoder(), b"", False
        for _ in range(12):
            piece = chance.choice(pieces)
            piece = piece[: chance.randrange(len(piece) + 1)] if chance.random() < 0.3 else piece
            if dead or chance.random() < 0.2:
                # Asking whether the stream may end here changes nothing.
                if dead or buffer:
                    with pytest.raises(hookless.HooklessError):
                        decoder.finish()
                else:
                    decoder.finish()
            if dead:
                with pytest.raises(hookless.HooklessError):
                    decoder.feed(piece)
                continue
            buffer += piece
            wanted: list[Any] = []
            try:
                while len(buffer) >= 4 and len(buffer) >= (size := _size(buffer)):
                    wanted.append(loads(buffer[:size]))
                    buffer = buffer[size:]
            except DecodeError:
                dead = True
            dead = dead or not b"HKLS".startswith(buffer[:4])
            try:
                assert [frame.value for frame in decoder.feed(piece)] == wanted
            except DecodeError:
                dead = True


def _size(buffer: bytes) -> int:
    if len(buffer) < 32:
        return 32
    body, data = int.from_bytes(buffer[16:24]), int.from_bytes(buffer[24:32])
    return 32 + body + (-(32 + body) % 64 + data if data else 0)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (naive.frame(b"\xc0", version=0), "bad_version"),
        (naive.frame(b"\xc0", version=255), "bad_version"),
        (b"\xc0", "bad_magic"),
        (base64.b64encode(pickle.dumps([1])), "bad_magic"),
        (base64.b64encode(dumps([1])), "bad_magic"),
        (json.dumps([1]).encode(), "bad_magic"),
        (b"safe:" + dumps([1]), "bad_magic"),
        (dumps([1])[32:], "bad_magic"),
    ],
)
def test_c119_nothing_is_guessed(data: bytes, code: str) -> None:
    """Without the prefix there is one answer; no older form is tried."""
    assert refused_frame(data) == code


LENGTHS = [2**63, 2**64 - 1, 1_633_255_424, 2**32 - 1, 2**31]


@pytest.mark.parametrize("length", LENGTHS)
def test_c121_lengths_are_not_reserved(length: int) -> None:
    """In each place that has a length: an error, at once and without the memory."""
    import tracemalloc

    short = min(length, 2**32 - 1).to_bytes(4)
    bodies = [marker + short for marker in (b"\xdb", b"\xc6", b"\xdd", b"\xdf", b"\xc9")]
    bodies += [naive.ext(code, length.to_bytes(8)) for code in (6, 7)]
    bodies += [naive.array([b"\xdd" + short]), naive.mapping([(b"\xdb" + short, b"")])]
    bodies.append(naive.ndarray(naive.dtype("u", "|", 1), [min(length, 2**63 - 1)], b""))
    frames = [naive.frame(body) for body in bodies]
    frames += [naive.frame(b"\xc0", body_length=length), dumps(b"x" * 20_000)[:24] + length.to_bytes(8)]
    for frame in frames:
        tracemalloc.start()
        try:
            refused_frame(frame)
            assert tracemalloc.get_traced_memory()[1] < 8 << 20
        finally:
            tracemalloc.stop()


def test_c122_one_codec_both_ways(shared: hookless.Worker, tmp_path: Path) -> None:
    """Arguments are judged by the child as results are here; neither side has another loader in memory."""
    loaders = {"pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle"}
    script = tmp_path / "script.py"
    script.write_text("import sys; result = sorted(sys.modules)")
    with hookless.Worker(isolation="none") as worker:
        in_child = set(worker.run(script))
    assert "hookless" in in_child
    # CPython has marshal built in, for its own compiled files.
    assert not in_child & (loaders - {"marshal"})
    with pytest.raises(hookless.EncodeError):
        shared.call("jobs:echo", object())
    assert_same(shared.call("jobs:echo", {1: (2, b"3")})[0], [{1: (2, b"3")}])


@pytest.mark.parametrize(("module", "name", "argument"), [("subprocess", "Popen", "id"), *NAMES[:2]])
def test_c123_a_group_of_them_and_as_links(module: str, name: str, argument: str) -> None:
    """The class of the sender's choice, also in a cause: text, and nothing is called."""
    entry = naive.entry(module, name, args=[naive.text(argument)], bases=[f"{module}.{name}"])
    frame = naive.frame(naive.exception(naive.entry("m", "q", cause=1), entry))
    with watched():
        error = loads(frame)
    assert (error.remote.cause.module, error.remote.cause.qualname) == (module, name)
    assert list(error.remote.cause.args) == [argument]
    assert type(error) is hookless.RemoteError


def test_c124_no_back_references() -> None:
    """The wire has no form for one: every ext and node that is not listed is refused, in a key too."""
    unknown = []
    for code in range(256):
        loop = naive.node(naive.TUPLE, [naive.ext(code, b"\0" * 3)])
        with watched():
            try:
                loads(naive.frame(naive.members(naive.SET, [loop])))
            except DecodeError as error:
                unknown += [code] if error.code in ("unknown_ext", "unknown_kind") else []
    # Those of proto/values.md are at most 0 to 63.
    assert set(unknown) >= set(range(64, 256))
    shared_once: list[Any] = []
    shared_once.append(shared_once)
    with pytest.raises(hookless.EncodeError):
        dumps(shared_once)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_c125_gadgets_are_bytes(protocol: int) -> None:
    """As a frame: no magic. As a value: bytes that stay bytes."""
    gadget = pickle.dumps([Gadget(), b"ccollections\n__builtins__\n."], protocol)
    assert refused_frame(gadget) == "bad_magic"
    with watched():
        assert_same(loads(dumps({"x": gadget})), {"x": gadget})


def test_c127_a_hook_enters_the_decoder_again() -> None:
    """There is no hook; what can enter is another thread, and a busy decoder refuses it."""
    for function in (loads, decode, hookless.load, Decoder, Decoder.feed):
        names = set(inspect.signature(function).parameters)
        assert not names & {"object_hook", "ext_hook", "default", "dec_hook", "hook", "sink", "progress"}
    decoder, outcomes = Decoder(), list[str]()
    frame = dumps([[1.5] * 200_000])

    def feed() -> None:
        try:
            decoder.feed(frame)
            outcomes.append("fed")
        except hookless.ProtocolError as error:
            outcomes.append(error.code)
        except DecodeError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(outcomes) == 4
    assert outcomes.count("fed") >= 1
    assert set(outcomes) <= {"fed", "busy", "decoder_busy", "decoder_dead"}


@pytest.mark.parametrize("head", [b"\xdc\xff\xff", b"\xde\xff\xff", b"\xdd\0\1\0\0", b"\xdf\0\1\0\0"])
def test_c128_the_sum_of_all_lengths(head: bytes) -> None:
    """Each one fits into what is left, all together do not."""
    assert refused(head * 24_000) in ("depth_limit", "memory_limit", "node_limit", "not_keyable", "truncated")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_c130_there_is_no_switch_to_pickle(protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad magic; no parameter and no variable of the environment says otherwise."""
    raw = pickle.dumps(Gadget(), protocol)
    for name in ("HOOKLESS_ALLOW_PICKLE", "HOOKLESS_PICKLE", "ALLOW_PICKLE", "HOOKLESS_UNSAFE"):
        monkeypatch.setenv(name, "1")
    assert refused_frame(raw) == "bad_magic"
    public = [getattr(hookless, name) for name in hookless.__all__]
    for one in public:
        try:
            names = set(inspect.signature(one).parameters)
        except (TypeError, ValueError):
            continue
        assert not [name for name in names if "pickle" in name or "unsafe" in name or "trusted" in name]


SPOOFS = [
    "\u202e",
    "\u2066",
    "\u200b",
    "\u2028",
    "\ufeff",
    "\x1b[2J",
    "\r",
    "\x9b31m",
    "\x00",
    "\u3164",
    "\udcff",
]


@pytest.mark.parametrize("spoof", SPOOFS)
def test_c131_text_that_passes_for_other_text(spoof: str) -> None:
    """Escaped wherever it is shown; a further line is marked as the child's; the raw text is kept."""
    forged = f"{spoof}gone\nTraceback (most recent call last):\n  forged\nHost: all is well"
    entry = naive.entry(
        "m" + ascii(spoof)[1:-1], "q", message="", args=[], frames=[naive.trace_frame("f", 1, "g")]
    )
    assert entry
    error = hookless.RemoteError(hookless.Failure("m", f"q{spoof}", (), forged, notes=(forged,)))
    error = loads(dumps(error))
    assert error.remote.message == forged
    shown = [str(error), repr(error), error.remote.format(), *error.__notes__]
    for text in shown:
        assert spoof not in text.replace("\r\n", "\n")
        for line in text.split("\n"):
            assert not line.startswith(("Host:", "Traceback (most recent call last):\n  forged"))


def test_c132_attributes_stay_in_a_map() -> None:
    """Names that Python gives a meaning: none is set on the error, all are in the descriptor."""
    names = "__class__ __traceback__ with_traceback args __dict__ __notes__ __cause__ remote".split()
    fields = [(naive.text(name), naive.text("planted")) for name in names]
    frame = naive.frame(naive.exception(naive.entry("builtins", "ValueError", fields=fields)))
    with watched():
        error = loads(frame)
    assert dict(error.remote.fields) == dict.fromkeys(names, "planted")
    assert type(error) is not str and error.__traceback__ is None and error.__cause__ is None
    assert "planted" not in error.args
    assert isinstance(error.remote, hookless.Failure)
    assert callable(error.with_traceback)
    assert dumps(error) == frame
