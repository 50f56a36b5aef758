"""What the tests call in a worker's child. Imported there; the host only names it."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import os
import pickle
import resource
import signal
import socket
import stat
import sys
import threading
import time
from typing import Any, NoReturn

import hookless
from hookless import worker


def echo(*args: Any, **kwargs: Any) -> list[Any]:
    return [list(args), kwargs]


def same(value: Any) -> Any:
    return value


def filled(size: int) -> bytes:
    return b"x" * size


def add(left: int, right: int = 1) -> int:
    return left + right


@dataclasses.dataclass
class Point:
    x: float
    y: Any = None


class Color(enum.Enum):
    RED = 1


def records() -> list[Any]:
    """Instances of this module's own classes."""
    return [Point(1.0, Point(2.0)), {Color.RED: Color.RED}]


def kinds(value: Any) -> list[str]:
    """What arrived for instances of the host's classes."""
    return [f"{type(one).__name__} {one.type_name}" for one in value]


def array_and_peak(value: Any) -> tuple[str, int, int]:
    """Type and bytes of an array, and the most memory that this process has ever had in use."""
    with open("/proc/self/status") as file:
        (peak,) = [int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM")]
    return f"{type(value).__module__}.{type(value).__name__}", value.nbytes, peak


def array_type(value: Any) -> str:
    """Module and name of the type of the array at the bottom of records and members."""
    while type(value) in (hookless.Record, hookless.EnumValue):
        value = value.value if type(value) is hookless.EnumValue else next(iter(value.values()))
    return f"{type(value).__module__}.{type(value).__name__}"


def raise_point() -> NoReturn:
    raise ValueError(Point(1.0), Color.RED)


class Counter:
    total = 0

    @classmethod
    def step(cls) -> int:
        cls.total += 1
        return cls.total


def pid() -> int:
    return os.getpid()


def sleep(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


def spin() -> NoReturn:
    """Does not give the interpreter's signal handling or any I/O a reason to stop it."""
    while True:
        pass


def stubborn() -> NoReturn:
    """Ignores every signal that can be ignored."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(60)


class Quota(ValueError):
    pass


def fail(message: str) -> NoReturn:
    raise Quota(message, 7)


def fail_with_cause() -> NoReturn:
    try:
        raise KeyError("missing")
    except KeyError as error:
        raise Quota("outer") from error


def leave(kind: str) -> NoReturn:
    """BaseException in all its forms."""
    raise {
        "exit": SystemExit(3),
        "exit text": SystemExit("text"),
        "interrupt": KeyboardInterrupt(),
        "generator": GeneratorExit(),
        "stop": StopIteration(),
        "base": BaseException("x"),
        "async stop": StopAsyncIteration(),
    }[kind]


def unsendable(where: str) -> Any:
    return {"deep": [1, {where: lambda: None}]}


def die(status: int) -> NoReturn:
    os.write(2, b"last words")
    os._exit(status)


def kill_self(number: int) -> NoReturn:
    os.write(2, b"last words")
    os.kill(os.getpid(), number)
    time.sleep(60)
    raise AssertionError("unreachable")


def crash() -> NoReturn:
    """A segmentation fault, as a broken extension would cause it."""
    import ctypes

    ctypes.string_at(0)
    raise AssertionError("unreachable")


def write_to_channel(data: bytes) -> NoReturn:
    """Ignores our encoder and writes its own bytes to the channel."""
    channel = worker.channel_fd()
    view = memoryview(data)
    while view:
        view = view[os.write(channel, view) :]
    time.sleep(60)
    raise AssertionError("unreachable")


def write_to_channel_and_exit(data: bytes) -> NoReturn:
    os.write(worker.channel_fd(), data)
    os._exit(0)


def write_pickle() -> NoReturn:
    class Gadget:
        def __reduce__(self) -> Any:
            return (os.system, ("echo the gadget ran",))

    write_to_channel(pickle.dumps(Gadget()))


def close_channel() -> NoReturn:
    os.close(worker.channel_fd())
    time.sleep(60)
    raise AssertionError("unreachable")


def answer_twice(value: Any) -> Any:
    """Writes a frame of its own before the worker's answer."""
    os.write(worker.channel_fd(), hookless.dumps(value))
    return value


def answer_later(value: Any, data: bytes) -> Any:
    """Answers, and writes bytes of its own once the answer is gone."""

    def write() -> None:
        time.sleep(0.2)
        os.write(worker.channel_fd(), data)

    threading.Thread(target=write, daemon=True).start()
    return value


def exit_with_an_heir(seconds: float, begun: bytes) -> NoReturn:
    """Ends, while a fork, of which Python knows nothing, holds the channel and the output open."""
    os.write(worker.channel_fd(), begun)
    if ctypes.CDLL(None).fork() == 0:
        os.setsid()
        time.sleep(seconds)
        os._exit(0)
    os._exit(7)


def send_descriptor(data: bytes) -> NoReturn:
    """Passes a descriptor along with bytes; the host must not take it in."""
    with socket.socket(fileno=os.dup(worker.channel_fd())) as channel:
        socket.send_fds(channel, [data], [0])
    time.sleep(60)
    raise AssertionError("unreachable")


def speak(out: str, err: str) -> int:
    print(out)
    print(err, file=sys.stderr)
    os.write(1, b"raw\n")
    return 1


def unflushed(text: str) -> None:
    sys.stdout.write(text)


def flood(descriptor: int, count: int) -> int:
    block = b"x" * 65_536
    while count > 0:
        count -= os.write(descriptor, block[:count])
    return 7


def flood_from_a_thread(seconds: float) -> str:
    """Output and the channel in use at the same time."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            os.write(1, b"y" * 1000)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(seconds)
    stop.set()
    thread.join()
    return "z" * 1_000_000


def read_stdin() -> str:
    return sys.stdin.read()


def environment() -> dict[str, str]:
    return dict(os.environ)


def environment_of_the_process() -> bytes:
    with open("/proc/self/environ", "rb") as file:
        return file.read()


def descriptors() -> dict[int, str]:
    """What each open descriptor is, by its number."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            pass  # the one that listed the folder
    return found


def modes() -> dict[int, bool]:
    """Whether each of the standard descriptors is a pipe."""
    return {number: stat.S_ISFIFO(os.fstat(number).st_mode) for number in (1, 2)}


def status() -> dict[str, str]:
    with open("/proc/self/status") as file:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


def core_limit() -> list[int]:
    return list(resource.getrlimit(resource.RLIMIT_CORE))


def session() -> list[int]:
    return [os.getpid(), os.getsid(0), os.getpgid(0)]


def modules() -> list[str]:
    return sorted(sys.modules)


def search_path() -> list[str]:
    return list(sys.path)


def arguments() -> list[str]:
    return list(sys.argv)


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def fail_with_large_local() -> NoReturn:
    held = bytearray(50 << 20)
    held[::4096] = b"x" * len(held[::4096])
    raise ValueError(len(held))
