"""What a sceptical review found once, and must not come back: each kind by its smallest case."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import traceback
import weakref
from pathlib import Path

import pytest

import hookless
import naive
from hookless._hookless import Failure, through_rust
from hookless.remote import RemoteError


def test_a_report_that_links_each_entry_many_times_is_shown_at_once() -> None:
    """Twelve members that are one failure, fifteen layers deep: a tree without end, told in a page."""
    failure = Failure("m", "E", (), "leaf")
    for _ in range(3):
        for number in range(5):
            failure = Failure("m", "E", (), str(number), members=(failure,) * 12, cause=failure)
    error = hookless.loads(hookless.dumps(RemoteError(failure)))
    shown = "".join(traceback.format_exception(error))
    assert 10 < len(shown.splitlines()) < 1000


def nested(depth: int, items: int) -> bytes:
    """A set that holds a frozenset that holds … a long tuple that ends in a NaN."""
    value = naive.node(1, [naive.integer(1)] * items + [naive.floating(float("nan"))])
    for _ in range(depth):
        value = naive.members(3, [value])
    return naive.frame(naive.members(2, [value]))


def test_nested_keys_are_paid_for_at_each_level() -> None:
    """The work of comparing nested keys is charged, so a few megabytes cannot ask for minutes of it."""
    assert hookless.loads(nested(100, 100))
    for decode in (hookless.loads, through_rust):
        with pytest.raises(hookless.LimitExceeded) as caught:
            decode(nested(120, 1_500_000))
        assert caught.value.code == "memory_limit"


def test_a_report_stops_before_it_has_made_what_it_announces() -> None:
    """X6 holds before millions of links are read, not after."""
    # An entry ends with its members, args and fields, here all empty.
    entry = naive.entry()
    assert entry.endswith(b"\x90\x90\x80")
    entry = entry[:-3] + naive.array([b"\x00"] * 3_000_000) + b"\x90\x80"
    with pytest.raises(hookless.LimitExceeded) as caught:
        hookless.loads(naive.frame(naive.exception(entry)))
    assert (caught.value.code, caught.value.offset) == ("descriptor_limit", 32)


def test_a_dead_decoder_can_be_collected() -> None:
    """A decoder does not hold the traceback of its error, nor so the caller's frame and itself."""

    class Session:
        def __init__(self) -> None:
            self.decoder = hookless.Decoder()

    def run() -> weakref.ref[Session]:
        session = Session()
        with pytest.raises(hookless.DecodeError):
            session.decoder.feed(b"\x80\x04")
        return weakref.ref(session)

    kept = [run() for _ in range(20)]
    gc.collect()
    assert not any(one() for one in kept)


@pytest.mark.usefixtures("no_collector")
def test_an_interrupt_is_raised_once_and_loses_no_complete_frame() -> None:
    """Ctrl-C in the second frame: raised now; the first is given next; then it is dead."""
    decoder = hookless.Decoder()
    large = naive.frame(naive.array([naive.array([])] * 2_000_000))

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            decoder.feed(hookless.dumps("small") + large * 4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert decoder.feed(b"")[0].value == "small"
    with pytest.raises(hookless.HooklessError, match="interrupted"):
        decoder.feed(b"")


def test_a_fork_cannot_hang_on_its_parents_channel(tmp_path: Path) -> None:
    """The fork of a host whose other thread waits for a call closes at once, and its parent goes on."""
    script = """
        import os, threading, time, hookless
        with hookless.Worker(isolation="none") as worker:
            caller = threading.Thread(target=worker.call, args=("time:sleep", 1))
            caller.start()
            time.sleep(0.3)
            child = os.fork()
            if child == 0:
                try:
                    worker.close()
                except hookless.HooklessError:
                    pass
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            caller.join()
            assert worker.call("math:sqrt", 4.0) == 2.0
        print("done")
    """
    file = tmp_path / "fork.py"
    file.write_text(textwrap.dedent(script))
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ})
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_bytearray_that_waits_for_its_bytes_cannot_be_resized() -> None:
    """Host code that finds it through the collector gets BufferError, not a dangling pointer."""
    value = [bytearray(b"x" * 20_000)]
    frame = hookless.dumps(value)
    decoder = hookless.Decoder()
    assert decoder.feed(frame[:-5000]) == []
    waiting = [
        one[0]
        for one in gc.get_objects()
        if type(one) is list and len(one) == 1 and type(one[0]) is bytearray and len(one[0]) == 20_000
    ]
    refused = 0
    for found in waiting:
        if found is not value[0]:
            with pytest.raises(BufferError):
                found.clear()
            refused += 1
    assert refused == 1
    del found, waiting
    [done] = decoder.feed(frame[-5000:])
    assert done.value == value
    done.value[0].clear()


def test_a_view_of_other_items_than_bytes_is_read() -> None:
    """Any buffer will do, as for bytes."""
    data = hookless.dumps([1])
    assert hookless.loads(memoryview(data).cast("b")) == [1]
    assert hookless.loads(memoryview(bytearray(data)).cast("c")) == [1]


def test_wide_text_of_every_width_and_surrogates() -> None:
    """Text is made at its width at once: boundaries of one, two and four bytes, alone and mixed."""
    for edge in (
        0x7F,
        0x80,
        0xFF,
        0x100,
        0x7FF,
        0x800,
        0xD7FF,
        0xD800,
        0xDFFF,
        0xE000,
        0xFFFF,
        0x10000,
        0x10FFFF,
    ):
        for text in (
            chr(edge),
            "a" + chr(edge),
            chr(edge) * 3 + "\xe9",
            "\u6f22" + chr(edge),
            "x" * 40 + chr(edge),
        ):
            back = hookless.loads(hookless.dumps({text: text}))
            [(key, value)] = back.items()
            assert (key, value, len(key)) == (text, text, len(text))
            assert key.isascii() == text.isascii()
