"""`Channel`: what comes with the beginning of a frame, and what leaves together."""

from __future__ import annotations

import socket

import pytest

import hookless
import naive
from channels import CALL, PATIENCE, WORKER, Pair, hello, refused
from hookless._hookless import Channel

# Bytes that are received at once where a frame begins.
AHEAD = 8192


def result(call_id: int, size: int) -> tuple[bytes, bytes]:
    """An answer whose frame is so long, and its value."""
    value = (bytes(range(256)) * (size // 256 + 1))[: size - (34 if size < 290 else 35)]
    body = (b"\xc4" + bytes([len(value)]) if size < 290 else b"\xc5" + len(value).to_bytes(2)) + value
    frame = naive.frame(body, kind=naive.RESULT, call_id=call_id)
    assert len(frame) == size
    return frame, value


def session() -> Pair:
    pair = Pair("host")
    pair.begin_session()
    return pair


def test_a_frame_that_is_as_long_as_what_comes_at_once_and_one_byte_longer() -> None:
    """None of its bytes, nor of the next frame's, is lost or told twice."""
    pair = session()
    ids = [pair.begin() for _ in range(10)]
    sizes = [AHEAD - 33, AHEAD - 32, AHEAD - 31, AHEAD - 1, AHEAD, AHEAD + 1, AHEAD + 32, 2 * AHEAD, 40, 300]
    made = [result(*both) for both in zip(ids, sizes, strict=True)]
    pair.peer.sendall(b"".join(frame for frame, _ in made))
    for call_id, (_, value) in zip(ids, made, strict=True):
        event = pair.step()
        assert isinstance(event, tuple)
        assert type(event[2]) is bytes
        assert event[:3] == ("result", call_id, value)
    assert pair.channel.step(0) is None
    assert pair.channel.pending == 0
    pair.close()


def test_frames_that_come_together_are_told_one_by_one() -> None:
    """Each `step` tells one, without waiting for more bytes."""
    pair = session()
    pair.begin()
    many = b"".join(
        naive.frame(b"\x93" + bytes([number % 128]) + b"\xc0\xa0", kind=naive.PROGRESS, call_id=1)
        for number in range(1000)
    )
    pair.peer.sendall(many)
    for number in range(1000):
        assert pair.channel.step(0) == ("progress", 1, (number % 128, None, ""), 0)
    assert pair.channel.step(0) is None
    pair.close()


def test_f1_what_came_before_a_wrong_frame_stands() -> None:
    pair = session()
    pair.begin()
    pair.peer.sendall(result(1, 100)[0] + b"\x80\x04" + bytes(30))
    event = pair.step()
    assert isinstance(event, tuple)
    assert event[:2] == ("result", 1)
    with pytest.raises(hookless.DecodeError) as caught:
        pair.step()
    assert caught.value.code == "bad_magic"
    pair.close()


def test_s10_what_came_before_the_end_of_the_stream_stands() -> None:
    pair = session()
    pair.begin()
    pair.begin()
    pair.peer.sendall(result(1, 100)[0] + result(2, 100)[0])
    pair.peer.close()
    found = [pair.step() for _ in range(3)]
    told = [event[:2] for event in found if isinstance(event, tuple)]
    assert told == [("result", 1), ("result", 2), ("eof", 0)]
    pair.close()


@pytest.mark.parametrize("part", [1, 31, 32, 60])
def test_s11_a_frame_that_has_begun_behind_another_is_of_no_later_call(part: int) -> None:
    """Its first bytes came with the frame before it, and the call it names was begun after that."""
    pair = session()
    pair.begin()
    early = naive.frame(b"\xc4\x40" + bytes(64), kind=naive.RESULT, call_id=2)
    pair.peer.sendall(result(1, 100)[0] + early[:part])
    event = pair.step()
    assert isinstance(event, tuple)
    assert event[:2] == ("result", 1)
    if part < 32:
        assert pair.begin() == 2
        pair.peer.sendall(early[part:])
        refused("unexpected_frame", pair.step)
    else:
        refused("unknown_call", pair.begin)
    pair.close()


def test_a_judgement_does_not_wait_for_the_body() -> None:
    """F10: the head is judged when it is there, whatever came with it."""
    pair = session()
    pair.begin()
    frame = naive.frame(bytes(1000), kind=naive.RESULT, call_id=7)
    pair.peer.sendall(result(1, 100)[0] + frame[:500])
    event = pair.step()
    assert isinstance(event, tuple)
    assert event[:2] == ("result", 1)
    refused("unknown_call", pair.step)
    pair.close()


def packets(*arguments: object, credit: int) -> list[bytes]:
    """What a host hands to the kernel for one call, by the piece."""
    ours, peer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel = Channel(ours.detach(), "host")
    peer.send(hello(WORKER))
    channel.hello(PATIENCE)
    peer.recv(1 << 20)
    assert channel.begin(2 if credit else 0, "m:f", None, arguments, {}, credit) == 1
    found = []
    peer.setblocking(False)
    try:
        while True:
            found.append(peer.recv(1 << 20))
    except BlockingIOError:
        pass
    channel.close()
    peer.close()
    return found


def heads(packet: bytes) -> list[tuple[int, int]]:
    """Kind and call of each frame."""
    found = []
    while packet:
        assert packet[:4] == b"HKLS"
        found.append((packet[5], int.from_bytes(packet[8:16])))
        body, data = (int.from_bytes(packet[at : at + 8]) for at in (16, 24))
        packet = packet[32 + body + (-(32 + body) % 64 + data if data else 0) :]
    return found


def test_a_call_leaves_with_its_first_credit() -> None:
    call, credit = (naive.CALL, 1), (naive.CREDIT, 1)
    assert [heads(packet) for packet in packets(1, credit=0)] == [[call]]
    (packet,) = packets(1, credit=3)
    assert heads(packet) == [call, credit]
    assert packet.endswith(b"\x91\x03")
    # Behind a data region it has a place of its own.
    assert [heads(packet) for packet in packets(bytes(16_384), credit=3)] == [[call], [credit]]


@pytest.mark.parametrize("credit", [65_536, 65_537])
def test_l12_a_first_credit_at_its_bound_and_past_it(credit: int) -> None:
    """With one too many there is no call, and nothing is sent."""
    if credit == 65_536:
        (packet,) = packets(1, credit=credit)
        assert heads(packet) == [(naive.CALL, 1), (naive.CREDIT, 1)]
        return
    pair = session()
    refused("unexpected_frame", pair.channel.begin, 2, *CALL, credit)
    assert pair.channel.open_calls == 0
    assert pair.begin() == 1
    assert pair.heard()[:2] == (naive.CALL, 1)
    pair.close()
