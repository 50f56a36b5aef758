"""`hookless.zmq` over real sockets: tcp and ipc, pairs and several peers, honest and hostile."""

from __future__ import annotations

import asyncio
import builtins
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import zmq
import zmq.asyncio

import hookless
import hookless.zmq as carrier
from carried import HOSTILE, LARGE, SHORT, accepted, check_value, limits_at, refused
from hookless import dumps, encode
from same import assert_same
from test_vectors import check_refusal

Socket = zmq.Socket[bytes]

# Long enough never to be met; a message that does not come ends the test.
PATIENCE = 20_000


class Keeping(zmq.Context[Socket]):
    """A context that closes every socket in the end, also those that nobody holds any more."""

    kept: ClassVar[list[Socket]] = []

    def socket(self, *args: Any, **kwargs: Any) -> Any:
        made = super().socket(*args, **kwargs)
        self.kept.append(made)
        return made


@pytest.fixture
def context() -> Iterator[zmq.Context[Socket]]:
    made = Keeping()
    yield made
    made.destroy(linger=0)
    Keeping.kept.clear()


@pytest.fixture(params=["tcp", "ipc"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "tcp://127.0.0.1:*" if request.param == "tcp" else f"ipc://{tmp_path}/s"


def pair(
    context: zmq.Context[Socket], address: str, one: int = zmq.PULL, other: int = zmq.PUSH, **options: Any
) -> tuple[Socket, Socket]:
    """A bound socket, and one that is connected to it."""
    first = bound(context, address, one, **options)
    return first, connected(context, first, other)


def bound(context: zmq.Context[Socket], address: str, kind: int, **options: Any) -> Socket:
    socket = context.socket(kind)
    socket.rcvtimeo = socket.sndtimeo = PATIENCE
    for name, value in options.items():
        setattr(socket, name, value)
    socket.bind(address)
    return socket


def connected(context: zmq.Context[Socket], to: Socket, kind: int, **options: Any) -> Socket:
    socket = context.socket(kind)
    socket.rcvtimeo = socket.sndtimeo = PATIENCE
    for name, value in options.items():
        setattr(socket, name, value)
    endpoint = to.last_endpoint
    assert isinstance(endpoint, bytes)
    socket.connect(endpoint.decode())
    return socket


def test_every_accepted_frame(context: zmq.Context[Socket], address: str) -> None:
    """As one part, and in the parts that the encoder gives."""
    host, child = pair(context, address)
    for vector in accepted():
        child.send(vector.frame)
        value = carrier.recv(host)
        check_value(vector, value)
        carrier.send(child, value)
        check_value(vector, carrier.recv(host, copy=False))


@pytest.mark.parametrize("copy", [True, False])
def test_every_refused_frame(context: zmq.Context[Socket], copy: bool) -> None:
    """Code and offset; and the socket goes on."""
    host, child = pair(context, "tcp://127.0.0.1:*")
    for vector in refused():
        child.send(vector.frame)
        with pytest.raises(hookless.DecodeError) as caught:
            carrier.recv(host, copy=copy)
        check_refusal(caught.value, vector.code, vector.offset)
    carrier.send(child, "still there")
    assert carrier.recv(host, copy=copy) == "still there"


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("size", [1, 31, 32, 100, 10_000])
def test_any_split(context: zmq.Context[Socket], copy: bool, size: int) -> None:
    """Parts of any sizes, empty ones too, are one frame."""
    host, child = pair(context, "tcp://127.0.0.1:*")
    data = dumps(LARGE)[: 80_000 if size > 1 else None]
    frame = data if size > 31 else SHORT
    child.send_multipart([b"", *(frame[at : at + size] for at in range(0, len(frame), size)), b""])
    value = carrier.recv(host, copy=copy)
    assert_same(value, LARGE if size > 31 else ["short", 1])


@pytest.mark.parametrize(("name", "data", "code"), HOSTILE)
def test_what_is_no_frame(context: zmq.Context[Socket], name: str, data: bytes, code: str) -> None:
    """A pickle, and `send_pyobj`, which pyzmq has for it."""
    host, child = pair(context, "tcp://127.0.0.1:*")
    for parts in ([data], [data[:10], data[10:]]):
        child.send_multipart(parts)
        with pytest.raises(hookless.DecodeError) as caught:
            carrier.recv(host)
        assert caught.value.code == code
    child.send_pyobj({"a": 1})
    with pytest.raises(hookless.DecodeError, match="bad_magic"):
        carrier.recv(host)
    carrier.send(child, 5)
    assert carrier.recv(host) == 5 and not hasattr(builtins, "unpickled")


def test_torn_at_every_byte(context: zmq.Context[Socket], address: str) -> None:
    """0MQ delivers whole messages; one whose sender cut it short is Truncated where its bytes end."""
    host, child = pair(context, address)
    for cut in range(len(SHORT)):
        child.send_multipart([SHORT[: cut // 2], SHORT[cut // 2 : cut]])
        with pytest.raises(hookless.Truncated) as caught:
            carrier.recv(host)
        check_refusal(caught.value, "truncated", cut)


def test_a_part_too_many_and_one_too_few(context: zmq.Context[Socket]) -> None:
    """An extra part is trailing bytes, however many follow; each message is gone as a whole."""
    host, child = pair(context, "tcp://127.0.0.1:*")
    parts = [bytes(part) for part in encode(LARGE)]
    assert len(parts) > 1
    for wrong, code in [
        ([*parts, b"x"], "trailing_bytes"),
        ([*parts, *[b"x"] * 1000], "trailing_bytes"),
        (parts[:-1], "truncated"),
        (parts[1:], "bad_magic"),
        ([*parts, *parts], "trailing_bytes"),
    ]:
        child.send_multipart(wrong)
        carrier.send(child, "next")
        with pytest.raises(hookless.DecodeError) as caught:
            carrier.recv(host)
        assert caught.value.code == code
        assert carrier.recv(host) == "next"


def test_random_parts(context: zmq.Context[Socket]) -> None:
    """Cuts, swaps and noise: a value that fits, or a DecodeError; never a socket out of step."""
    host, child = pair(context, "tcp://127.0.0.1:*")
    chance = random.Random(8)
    parts = [bytes(part) for part in encode(LARGE)]
    for _ in range(200):
        some = [
            chance.choice([*parts, chance.randbytes(chance.randrange(50))])
            for _ in range(chance.randrange(1, 6))
        ]
        child.send_multipart(some)
        try:
            assert_same(carrier.recv(host, copy=chance.random() < 0.5), LARGE)
        except hookless.DecodeError:
            assert b"".join(some) != b"".join(parts)
    carrier.send(child, "last")
    assert carrier.recv(host) == "last"


def test_the_number_of_parts_at_and_past(
    context: zmq.Context[Socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame of the most entries has 131 073; more are not kept, and the next message is the next."""
    assert carrier._MOST_PARTS == 131_073
    monkeypatch.setattr(carrier, "_MOST_PARTS", 1001)
    host, child = pair(context, "tcp://127.0.0.1:*")
    for extra in (0, 1, 5000):
        child.send_multipart([b""] * (1000 + extra) + [SHORT])
        carrier.send(child, "next")
        if extra:
            with pytest.raises(hookless.LimitExceeded, match="region_entry_limit"):
                carrier.recv(host)
        else:
            assert carrier.recv(host) == ["short", 1]
        assert carrier.recv(host) == "next"


def test_limits_at_and_past(context: zmq.Context[Socket]) -> None:
    frame, at, past = limits_at()
    host, child = pair(context, "tcp://127.0.0.1:*")
    child.send(frame)
    assert carrier.recv(host, limits=at) == "x" * 100
    child.send(frame)
    with pytest.raises(hookless.LimitExceeded) as caught:
        carrier.recv(host, limits=past)
    check_refusal(caught.value, "body_limit", 16)


def test_bound_at_and_past(context: zmq.Context[Socket]) -> None:
    """0MQ itself drops the peer whose part is larger than any frame may be, and takes the others'."""
    limits = hookless.Limits(body=1000, region=20_000)
    largest = 32 + 1000 + 63 + 20_000
    host = context.socket(zmq.PULL)
    carrier.bound(host, limits)
    host.rcvtimeo = PATIENCE
    host.bind("tcp://127.0.0.1:*")
    bad, good = (connected(context, host, zmq.PUSH) for _ in range(2))
    bad.send(b"x" * (largest + 1))
    bad.send(dumps("never comes"))
    good.send(b"x" * largest)
    with pytest.raises(hookless.DecodeError, match="bad_magic"):
        carrier.recv(host, limits=limits)
    carrier.send(good, "fine")
    assert carrier.recv(host, limits=limits) == "fine"


def test_router_and_dealers(context: zmq.Context[Socket], address: str) -> None:
    """Several peers, one of them hostile: its message is its own failure, with its name on it."""
    router = bound(context, address, zmq.ROUTER)
    names = [b"good-1", b"evil", b"good-2"]
    dealers = {name: connected(context, router, zmq.DEALER, routing_id=name) for name in names}
    for name, dealer in dealers.items():
        if name == b"evil":
            dealer.send_multipart([b"", SHORT, SHORT])
        else:
            carrier.send(dealer, {"from": name}, envelope=[b""])
    seen, codes = {}, {}
    for _ in names:
        message = carrier.recv_message(router, 2)
        name, delimiter = message.envelope
        assert delimiter == b""
        try:
            seen[name] = message.value()
        except hookless.DecodeError as error:
            codes[name] = error.code
            continue
        carrier.send(router, ["for", name], envelope=[name, b""])
    assert codes == {b"evil": "trailing_bytes"}
    assert seen == {name: {"from": name} for name in (b"good-1", b"good-2")}
    for name in seen:
        answer = carrier.recv_message(dealers[name], 1)
        assert (answer.envelope, answer.value()) == ([b""], ["for", name])


def test_an_envelope_without_a_frame(context: zmq.Context[Socket]) -> None:
    host, child = pair(context, "tcp://127.0.0.1:*")
    for parts in ([b"topic"], [b"one", b"two"]):
        child.send_multipart(parts)
        message = carrier.recv_message(host, 2)
        assert message.envelope == parts
        with pytest.raises(hookless.Truncated) as caught:
            message.value()
        check_refusal(caught.value, "truncated", 0)


def test_publishers_and_subscribers(context: zmq.Context[Socket], address: str) -> None:
    """The topic is the envelope; each subscriber gets what it asked for."""
    publisher = bound(context, address, zmq.XPUB)
    subscribers = {topic: connected(context, publisher, zmq.SUB) for topic in (b"a", b"b")}
    for topic, one in subscribers.items():
        one.subscribe(topic)
        assert publisher.recv() == b"\x01" + topic
    for number in range(3):
        for topic in subscribers:
            carrier.send(publisher, number, envelope=[topic])
    for topic, one in subscribers.items():
        found = [carrier.recv_message(one, 1) for _ in range(3)]
        assert [(message.envelope, message.value()) for message in found] == [([topic], n) for n in range(3)]


def test_many_pushers(context: zmq.Context[Socket], address: str) -> None:
    """Their messages do not mix, and keep the order of each."""
    host = bound(context, address, zmq.PULL)
    pushers = [connected(context, host, zmq.PUSH) for _ in range(4)]
    for number in range(20):
        for name, pusher in enumerate(pushers):
            carrier.send(pusher, (name, number, b"x" * (number * 2000)))
    seen: dict[int, list[int]] = {}
    for _ in range(80):
        name, number, data = carrier.recv(host)
        assert data == b"x" * (number * 2000)
        seen.setdefault(name, []).append(number)
    assert seen == {name: list(range(20)) for name in range(4)}


def test_asyncio(tmp_path: Path) -> None:
    """Sockets of zmq.asyncio, several tasks at one of them."""

    async def talk() -> None:
        with zmq.asyncio.Context() as context:
            host, child = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
            host.linger = child.linger = 0
            child.routing_id = b"me"
            host.bind(f"ipc://{tmp_path}/a")
            child.connect(f"ipc://{tmp_path}/a")
            await asyncio.gather(*(carrier.send_async(child, [number, LARGE]) for number in range(5)))
            found = await asyncio.gather(*(carrier.recv_message_async(host, 1) for _ in range(5)))
            assert sorted(message.value()[0] for message in found) == list(range(5))
            assert all(message.envelope == [b"me"] for message in found)
            await carrier.send_async(host, "back", envelope=[b"me"])
            assert await carrier.recv_async(child, type=str) == "back"
            await child.send_multipart([SHORT, b"x"])
            await carrier.send_async(child, 1)
            bad = await carrier.recv_message_async(host, 1)
            with pytest.raises(hookless.DecodeError, match="trailing_bytes"):
                bad.value()
            assert (await carrier.recv_message_async(host, 1)).value() == 1
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await carrier.recv_async(child)
            for call in (lambda: carrier.send(host, 1), lambda: carrier.recv(host)):  # type: ignore[arg-type]
                with pytest.raises(TypeError, match="async"):
                    call()
            host.close()
            child.close()

    asyncio.run(talk())


def test_what_pyzmq_raises_comes_as_it_is(context: zmq.Context[Socket]) -> None:
    """Nothing there, and nobody there."""
    host, child = pair(context, "tcp://127.0.0.1:*")
    with pytest.raises(zmq.Again):
        carrier.recv(host, zmq.NOBLOCK)
    with pytest.raises(hookless.EncodeError):
        carrier.send(child, object())
    carrier.send(child, object(), default=lambda value: "instead")
    assert carrier.recv(host) == "instead"


def test_as_a_type(context: zmq.Context[Socket]) -> None:
    host, child = pair(context, "tcp://127.0.0.1:*")
    carrier.send(child, [1, "2"])
    with pytest.raises(hookless.DecodeError, match="type_mismatch"):
        carrier.recv(host, type=list[int])
    carrier.send(child, [1, 2])
    assert carrier.recv(host, type=list[int]) == [1, 2]


def test_without_pyzmq() -> None:
    """`import hookless` does not need it, and `hookless.zmq` says what to install; it hides no `zmq`."""
    code = """
import sys
import hookless
assert "zmq" not in sys.modules
import zmq, hookless.zmq
assert zmq is not hookless.zmq and hookless.zmq.zmq is zmq
for name in [name for name in sys.modules if name.split(".")[0] == "zmq"] + ["hookless.zmq"]:
    del sys.modules[name]
sys.modules["zmq"] = None
try:
    import hookless.zmq
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "hookless.zmq needs pyzmq: pip install 'hookless[zmq]'\n", done.stderr
