"""`Decoder`: frames out of any chunks, one stream each."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

import hookless
import naive
from hookless import Decoder, Frame, dumps, loads
from same import assert_same
from samples import PLAIN, frames

FRAMES = frames()


def chunks(data: bytes, chance: random.Random, most: int) -> list[bytes]:
    parts = []
    while data:
        size = chance.randrange(most + 1)
        parts.append(data[:size])
        data = data[size:]
    return parts


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("most", [1, 7, 64, 5000])
def test_any_chunks(name: str, most: int) -> None:
    """The frame comes out once, with the chunk that completes it."""
    frame = FRAMES[name]
    decoder = Decoder()
    found: list[Frame] = []
    for part in chunks(frame, random.Random(f"{name}{most}"), most):
        assert found == []
        found += decoder.feed(part)
    decoder.finish()
    assert [(one.kind, one.call_id) for one in found] == [("value", 0)]
    assert dumps(found[0].value) == frame


@pytest.mark.parametrize("most", [1, 50, 10**6])
def test_many_frames_in_a_stream(most: int) -> None:
    """Chunks that end inside a frame, and chunks that hold several."""
    stream = b"".join(dumps(value) for value in PLAIN.values())
    decoder = Decoder()
    found = [one.value for part in chunks(stream, random.Random(most), most) for one in decoder.feed(part)]
    decoder.finish()
    assert_same(found, list(PLAIN.values()))


def test_two_frames_in_one_chunk() -> None:
    """Both are returned, in order."""
    found = Decoder().feed(dumps(1) + dumps("two"))
    assert [one.value for one in found] == [1, "two"]


def test_frames_of_a_session() -> None:
    """Kind and call id of the head; the body as a value."""
    call = naive.array(
        [naive.integer(0), naive.text("m:f"), naive.NIL, naive.node(naive.TUPLE, []), naive.mapping([])]
    )
    decoder = Decoder()
    stream = (
        naive.frame(call, kind=naive.CALL, call_id=7)
        + naive.frame(naive.integer(5), kind=naive.RESULT, call_id=2**64 - 1)
        + naive.frame(naive.exception(naive.entry(message="no")), kind=naive.ERROR, call_id=8)
    )
    one, two, three = decoder.feed(stream)
    assert (one.kind, one.call_id) == ("call", 7)
    assert_same(one.value, [0, "m:f", None, (), {}])
    assert (two.kind, two.call_id, two.value) == ("result", 2**64 - 1, 5)
    assert (three.kind, three.call_id) == ("error", 8)
    assert isinstance(three.value, hookless.RemoteError)
    assert three.value.remote.message == "no"


@pytest.mark.parametrize("name", FRAMES)
def test_finish_inside_a_frame(name: str) -> None:
    """Cut at every offset: no frame comes out, and `finish` says where the bytes ended."""
    frame = FRAMES[name]
    for end in range(1, len(frame)) if len(frame) < 2000 else [*range(1, 100), *range(100, len(frame), 997)]:
        decoder = Decoder()
        assert decoder.feed(frame[:end]) == []
        with pytest.raises(hookless.Truncated) as caught:
            decoder.finish()
        assert (caught.value.code, caught.value.offset) == ("truncated", end)


def test_finish_between_frames() -> None:
    """Nothing is missing before the first byte and after the last."""
    decoder = Decoder()
    decoder.finish()
    decoder.feed(dumps(1))
    decoder.finish()


def test_offsets_count_from_the_frame() -> None:
    """Not from the start of the stream: the second frame's own head is at 0."""
    decoder = Decoder()
    decoder.feed(dumps("first"))
    with pytest.raises(hookless.DecodeError) as caught:
        decoder.feed(naive.frame(b"\xc1"))
    assert (caught.value.code, caught.value.offset) == ("bad_marker", 32)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b"\x80", "bad_magic"),
        (b"HKLT", "bad_magic"),
        (naive.frame(b"\xc0", version=2), "bad_version"),
        (naive.frame(b"\xc1"), "bad_marker"),
        (naive.frame(b"\xc0\xc0"), "trailing_bytes"),
        (naive.frame(b"\x91"), "truncated"),
    ],
)
def test_dead_after_an_error(bad: bytes, code: str) -> None:
    """It has lost its place in the stream, so it reads nothing more and says so, every time."""
    decoder = Decoder()
    with pytest.raises(hookless.DecodeError) as caught:
        decoder.feed(bad)
    assert caught.value.code == code
    for call in (lambda: decoder.feed(dumps(1)), lambda: decoder.feed(b""), decoder.finish):
        with pytest.raises(hookless.HooklessError, match=r"(?i)dead|earlier error"):
            call()


def test_magic_is_checked_byte_by_byte() -> None:
    """A pickle is refused on its first byte, a near miss on the byte that differs."""
    decoder = Decoder()
    assert decoder.feed(b"H") == decoder.feed(b"K") == decoder.feed(b"L") == []
    with pytest.raises(hookless.DecodeError) as caught:
        decoder.feed(b"T")
    assert (caught.value.code, caught.value.offset) == ("bad_magic", 0)


def test_head_is_checked_before_the_body_arrives() -> None:
    """Over the limit is refused at the head, not after the bytes have been taken in."""
    frame = naive.frame(b"\xc0", body_length=2**63)
    with pytest.raises(hookless.LimitExceeded) as caught:
        Decoder().feed(frame[:32])
    assert (caught.value.code, caught.value.offset) == ("body_limit", 16)


def test_streams_do_not_mix() -> None:
    """Two decoders fed in turns (C157); one decoder is of one stream, and a channel makes its own."""
    one, two = Decoder(), Decoder()
    first, second = dumps(list(range(100))), dumps(list("abc" * 33 + "d"))
    found: list[object] = []
    for i in range(max(len(first), len(second))):
        found += [frame.value for frame in one.feed(first[i : i + 1])]
        found += [frame.value for frame in two.feed(second[i : i + 1])]
    assert sorted(map(str, found)) == sorted(map(str, [list(range(100)), list("abc" * 33 + "d")]))


Ticking = Callable[[Callable[[], None]], None]


@pytest.fixture
def ticking(no_collector: None) -> Iterator[Ticking]:
    """Runs a function on a timer signal, every millisecond."""
    before = signal.getsignal(signal.SIGALRM)

    def start(action: Callable[[], None]) -> None:
        def tick(number: int, frame: FrameType | None) -> None:
            action()

        signal.signal(signal.SIGALRM, tick)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


LARGE = naive.frame(naive.array([naive.array([])] * 2_000_000))


def test_busy_decoder_refuses_to_be_entered(ticking: Ticking) -> None:
    """A signal handler that runs during `feed` cannot feed the same decoder."""
    decoder = Decoder()
    refusals: list[hookless.ProtocolError] = []

    def enter() -> None:
        for call in (lambda: decoder.feed(b""), decoder.finish):
            try:
                call()
            except hookless.ProtocolError as error:
                refusals.append(error)
            except hookless.Truncated:
                # Between two steps of feed's caller the decoder is not busy, only incomplete.
                pass

    ticking(enter)
    found = decoder.feed(LARGE)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert refusals
    assert {error.code for error in refusals} == {"busy"}
    assert len(found[0].value) == 2_000_000
    assert decoder.feed(dumps(1))[0].value == 1


def test_keyboard_interrupt_may_leave(ticking: Ticking) -> None:
    """Signals are looked at while a large frame is decoded, so Ctrl-C works."""

    def interrupt() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt

    ticking(interrupt)
    with pytest.raises(KeyboardInterrupt):
        loads(LARGE)
