"""`Channel`: what the two ends tell each other, frame by frame."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import hookless
import naive
from channels import CALL, PATIENCE, Pair, joined, refused
from hookless import Limits
from hookless._hookless import Channel
from hookless.failure import describe


def events(channel: Channel, count: int) -> list[Any]:
    """Wait for so many events, each of which is handed on at once."""
    found = [channel.step(PATIENCE) for _ in range(count)]
    for event in found:
        assert event is not None
        channel.release(event[3])
    return [event[:3] for event in found if event is not None]


def test_calls_end_in_any_order() -> None:
    host, worker = joined()
    assert [host.begin(0, "m:f", None, (number,), {"k": number}) for number in range(3)] == [1, 2, 3]
    assert events(worker, 3) == [
        ("call", 1 + number, (0, "m:f", None, (number,), {"k": number})) for number in range(3)
    ]
    assert (host.open_calls, worker.open_calls) == (3, 3)
    failure = describe(ValueError("no"), Limits())
    worker.result(3, [3])
    worker.fail(1, failure)
    worker.result(2, None)
    (third, first, second) = events(host, 3)
    assert (third, second) == (("result", 3, [3]), ("result", 2, None))
    assert first[:2] == ("error", 1)
    assert isinstance(first[2], hookless.RemoteError)
    assert (host.open_calls, worker.open_calls) == (0, 0)


def test_s13_items_take_credit() -> None:
    host, worker = joined()
    assert host.begin(2, *CALL, 2) == 1
    assert events(worker, 2) == [("call", 1, (2, *CALL)), ("credit", 1, 2)]
    worker.item(1, "a")
    # Nothing is sent of what cannot be encoded, and no credit taken.
    with pytest.raises(hookless.EncodeError):
        worker.item(1, object())
    worker.item(1, "b")
    refused("no_credit", worker.item, 1, "c")
    assert host.credit(1, 1) is True
    assert events(worker, 1) == [("credit", 1, 1)]
    worker.item(1, "c")
    worker.result(1, "over")
    assert events(host, 4) == [("item", 1, "a"), ("item", 1, "b"), ("item", 1, "c"), ("result", 1, "over")]
    assert host.credit(1, 1) is False
    refused("unknown_call", worker.item, 1, "d")


def test_l12_credit_is_bounded() -> None:
    """At the limit and one past it, of the host's own calls; the channel is as before."""
    host, worker = joined()
    refused("unexpected_frame", host.begin, 2, *CALL, 65_537)
    refused("unexpected_frame", host.begin, 0, *CALL, 1)
    assert host.begin(2, *CALL, 65_535) == 1
    assert host.credit(1, 1) is True
    refused("unexpected_frame", host.credit, 1, 1)
    refused("unexpected_frame", host.credit, 1, 0)
    assert events(worker, 3)[1:] == [("credit", 1, 65_535), ("credit", 1, 1)]
    assert worker.step(0) is None


def test_l11_so_many_calls_are_open_at_once() -> None:
    host, worker = joined()
    for _ in range(1024):
        host.begin(0, *CALL)
        assert events(worker, 1)[0][0] == "call"
    refused("open_call_limit", host.begin, 0, *CALL)
    worker.result(7, None)
    assert events(host, 1) == [("result", 7, None)]
    assert host.begin(0, *CALL) == 1025


def test_s14_cancelled() -> None:
    host, worker = joined()
    for _ in range(2):
        host.begin(0, *CALL)
    assert (host.cancel(1), host.cancel(1), host.cancel(2), host.cancel(9)) == (True, False, True, False)
    assert events(worker, 4)[2:] == [("cancel", 1, None), ("cancel", 2, None)]
    worker.cancelled(1)
    # Whatever comes stands.
    worker.result(2, "done")
    assert events(host, 2) == [("cancelled", 1, None), ("result", 2, "done")]
    refused("unknown_call", worker.cancelled, 1)


def test_s15_progress_and_log() -> None:
    """Texts arrive in UTF-8 and cut; a log may be of no call."""
    host, worker = joined()
    host.begin(0, *CALL)
    events(worker, 1)
    worker.progress(1, 3, None, "half \ud800")
    worker.progress(1, 2**64 - 1, 0, "é" * 600)
    record = (30, "app", "é\udcff", 1.5, "a.py", 7, "f")
    worker.log(0, *record)
    worker.log(1, 65_535, "l" * 300, "m" * 40_000, -1.0, "p" * 5000, 2**32 - 1, "f" * 300)
    refused("unknown_call", worker.log, 2, *record)
    refused("unknown_call", worker.progress, 2, 1, 1, "")
    assert events(host, 4) == [
        ("progress", 1, (3, None, "half \\ud800")),
        ("progress", 1, (2**64 - 1, 0, "é" * 512)),
        ("log", 0, (30, "app", "é\\udcff", 1.5, "a.py", 7, "f")),
        ("log", 1, (65_535, "l" * 256, "m" * 32_768, 0.0, "p" * 4096, 2**32 - 1, "f" * 256)),
    ]
    with pytest.raises(TypeError):
        worker.progress(1, 1, 1, b"bytes")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        worker.progress(1, -1, None, "")


def test_s16_shutdown() -> None:
    host, worker = joined()
    host.begin(0, *CALL)
    refused("unexpected_frame", host.shutdown)
    events(worker, 1)
    worker.result(1, None)
    events(host, 1)
    host.shutdown()
    refused("unexpected_frame", host.begin, 0, *CALL)
    assert events(worker, 1) == [("shutdown", 0, None)]
    worker.close()
    assert events(host, 1) == [("eof", 0, None)]


def test_s10_what_came_before_the_end_is_not_lost() -> None:
    pair = Pair("host")
    pair.begin_session()
    for _ in range(2):
        pair.begin()
    pair.say(naive.RESULT, b"\x01", 1)
    pair.say(naive.RESULT, b"\x02", 2)
    pair.peer.close()
    assert events(pair.channel, 3) == [("result", 1, 1), ("result", 2, 2), ("eof", 0, None)]


@pytest.mark.parametrize("begun", [1, 31, 32, 33])
def test_s11_what_began_before_its_call_is_no_answer(begun: int) -> None:
    """A part of an answer is there before the call that it would be of."""
    pair = Pair("host")
    pair.begin_session()
    pair.begin()
    # The second call's, of which the head alone is too much; an honest one comes first.
    forged = naive.frame(b"\xa2no", kind=naive.RESULT, call_id=2)
    pair.say(naive.RESULT, b"\x01", 1)
    pair.peer.sendall(forged[:begun])
    if begun >= 32:
        refused("unknown_call", pair.begin)
        pair.close()
        return
    assert pair.begin() == 2
    assert events(pair.channel, 1) == [("result", 1, 1)]
    pair.peer.sendall(forged[begun:])
    assert "first byte" in refused("unexpected_frame", pair.step)
    pair.close()


def test_s11_a_frame_of_another_call_may_be_under_way() -> None:
    pair = Pair("host")
    pair.begin_session()
    pair.begin()
    answer = naive.frame(b"\x01", kind=naive.RESULT, call_id=1)
    pair.peer.sendall(answer[:20])
    assert pair.begin() == 2
    assert pair.channel.pending == 12
    pair.peer.sendall(answer[20:])
    pair.say(naive.RESULT, b"\x02", 2)
    assert events(pair.channel, 2) == [("result", 1, 1), ("result", 2, 2)]
    pair.close()


def test_what_a_call_finds_is_kept_for_step() -> None:
    pair = Pair("host")
    pair.begin_session()
    pair.channel.begin(2, *CALL, 5)
    for number in range(5):
        pair.say(naive.ITEM, naive.integer(number), 1)
    assert pair.begin() == 2
    pair.say(naive.RESULT, b"\xc0", 2)
    assert pair.channel.ready == 5
    expected = [*(("item", 1, number) for number in range(5)), ("result", 2, None)]
    assert events(pair.channel, 6) == expected
    assert pair.channel.ready == 0
    pair.close()


def test_s17_the_peers_limits_hold_and_the_error_says_so() -> None:
    ours, theirs = socket.socketpair()
    host = Channel(ours.detach(), "host", limits=Limits(nodes=50))
    worker = Channel(theirs.detach(), "worker", limits=Limits(depth=6, nodes=100))
    assert host.peer_limits == Limits(nodes=50)
    pair = (host, worker)
    greeting = threading.Thread(target=worker.hello)
    greeting.start()
    host.hello()
    greeting.join()
    assert [end.peer_limits for end in pair] == [Limits(depth=6, nodes=50)] * 2
    with pytest.raises(hookless.EncodeError, match="by the peer's limit `depth`") as caught:
        host.begin(0, "m:f", None, ([[[[[]]]]],), {})
    assert (caught.value.code, caught.value.path[:2]) == ("depth_limit", "$[")
    # Its own limit is smaller here.
    with pytest.raises(hookless.EncodeError) as caught:
        host.begin(0, "m:f", None, ([0] * 50,), {})
    assert caught.value.code == "node_limit" and "peer" not in str(caught.value)
    # Nothing has been sent.
    assert host.begin(0, "m:f", None, ([[[[]]]],), {}) == 1
    assert events(worker, 1) == [("call", 1, (0, "m:f", None, ([[[[]]]],), {}))]
    with pytest.raises(hookless.EncodeError, match="by the peer's limit `nodes`"):
        worker.result(1, [0] * 51)
    worker.result(1, [0] * 30)
    assert events(host, 1) == [("result", 1, [0] * 30)]


def costs() -> int:
    """What an item costs."""
    host, worker = joined()
    host.begin(2, *CALL, 1)
    worker.step(PATIENCE)
    worker.step(PATIENCE)
    worker.item(1, "item")
    event = host.step(PATIENCE)
    assert event is not None and event[3] > 0
    return event[3]


@pytest.mark.parametrize("short", [0, 1])
def test_l10_what_is_not_handed_on_is_bounded(short: int) -> None:
    """Three items may wait together, or only two where the limit is one less; to hand one on makes room."""
    cost = costs()
    host, worker = joined(limits=Limits(undelivered=3 * cost - short))
    host.begin(2, *CALL, 9)
    events(worker, 2)
    for _ in range(3):
        worker.item(1, "item")
    assert host.step(PATIENCE) == ("item", 1, "item", cost)
    assert host.step(PATIENCE) == ("item", 1, "item", cost)
    if short:
        refused("undelivered_limit", host.step, PATIENCE)
        refused("unexpected_frame", host.step, PATIENCE)
        return
    assert host.step(PATIENCE) == ("item", 1, "item", cost)
    host.release(cost)
    worker.item(1, "item")
    assert host.step(PATIENCE) == ("item", 1, "item", cost)
    worker.item(1, "item")
    refused("undelivered_limit", host.step, PATIENCE)


def test_l10_control_frames_are_handed_on_by_step() -> None:
    host, worker = joined(limits=Limits(undelivered=2000))
    host.begin(0, *CALL)
    events(worker, 1)
    for _ in range(50):
        worker.progress(1, 1, 2, "x" * 400)
        event = host.step(PATIENCE)
        assert event is not None and event[3] == 0
    for _ in range(50):
        host.begin(0, *CALL)
        assert events(worker, 1)[0][0] == "call"


def test_each_end_has_its_own_part() -> None:
    host, worker = joined()
    parts: list[tuple[Callable[..., object], tuple[object, ...]]] = [
        (worker.begin, (0, *CALL)),
        (worker.cancel, (1,)),
        (worker.credit, (1, 1)),
        (worker.shutdown, ()),
        (host.item, (1, None)),
        (host.result, (1, None)),
        (host.cancelled, (1,)),
        (host.progress, (1, 1, None, "")),
        (host.log, (0, 0, "", "", 0.0, "", 0, "")),
    ]
    for step, arguments in parts:
        assert "other end" in refused("unexpected_frame", step, *arguments)
    with pytest.raises(ValueError, match="verb"):
        host.begin(3, *CALL)
    assert host.begin(0, *CALL) == 1


def test_a_closed_channel() -> None:
    host, worker = joined()
    assert host.fileno() >= 0 and not host.closed
    host.close()
    host.close()
    assert host.closed
    steps: list[Callable[[], object]] = [
        host.fileno,
        host.shutdown,
        lambda: host.step(0),
        lambda: host.begin(0, *CALL),
    ]
    for step in steps:
        assert "closed" in refused("unexpected_frame", step)
    assert host.cancel(1) is False
    assert events(worker, 1) == [("eof", 0, None)]


def test_s9_nothing_is_read_after_an_error() -> None:
    """Neither what was wrong a second time, nor what came after it; what was complete before is told."""
    pair = Pair("host")
    pair.begin_session()
    pair.channel.begin(2, *CALL, 2)
    pair.say(naive.ITEM, b"\x01", 1)
    pair.say(naive.ITEM, b"\xc1", 1)
    pair.say(naive.RESULT, b"\x02", 1)
    with pytest.raises(hookless.DecodeError) as caught:
        pair.begin()
    assert (caught.value.code, caught.value.offset) == ("bad_marker", 32)
    assert events(pair.channel, 1) == [("item", 1, 1)]
    steps: list[Callable[[], object]] = [pair.begin, pair.step, pair.channel.shutdown]
    for step in steps:
        refused("unexpected_frame", step)
    assert pair.channel.cancel(1) is False and pair.channel.credit(1, 1) is False
    assert pair.channel.open_calls == 0
    pair.close()


def test_s11_a_call_takes_in_what_has_come_and_no_more() -> None:
    """A peer that never stops sending does not keep it."""
    pair = Pair("host")
    pair.begin_session()
    body = b"\x97\x14\xa0\xa0\xcb" + bytes(8) + b"\xa0\x00\xa0"
    frame = naive.frame(body, kind=naive.LOG)
    flood = frame * 1000

    def send() -> None:
        with contextlib.suppress(OSError):
            while True:
                pair.peer.sendall(flood)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        for _ in range(3):
            before = pair.channel.ready
            assert pair.begin()
            # Twice: what the first receive makes room for may come before the rest is counted.
            held = 2 * pair.peer.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            assert pair.channel.ready - before <= held // len(frame) + 1
        # It has come, whenever the thread gets to send.
        wait_until = time.monotonic() + PATIENCE
        while not pair.channel.ready and time.monotonic() < wait_until:
            time.sleep(0.05)
            pair.begin()
        assert pair.channel.ready
    finally:
        pair.peer.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)
        pair.close()
