"""Two answers to one call.

Wants: to answer the next call before it is made
Against: `multiprocessing.Pipe`, request and answer
Since: 0.1
"""

from __future__ import annotations

import multiprocessing
import os
import time

import hookless
import hookless.worker
from harness import expose, naive, worker


def victim(data: bytes) -> None:
    ours, theirs = multiprocessing.Pipe()
    ours.send("first")
    theirs.recv()
    theirs.send("answer to the first")
    theirs.send("forged")
    assert ours.recv() == "answer to the first"
    ours.send("second")
    print(ours.recv())


def answer(frames: bytes) -> str:
    """Write frames before the true answer."""
    os.write(hookless.worker.channel_fd(), frames)
    return "true"


def answer_later(frames: bytes) -> str:
    """Write frames a moment after the true answer."""
    import threading

    def write() -> None:
        time.sleep(0.3)
        os.write(hookless.worker.channel_fd(), frames)

    threading.Thread(target=write, daemon=True).start()
    return "true"


def result(call_id: int) -> bytes:
    return naive.frame(naive.text("forged"), kind=naive.RESULT, call_id=call_id)


def peer() -> str:
    assert expose(__name__).out.strip() == "forged"
    return "succeeds: the second answer is taken for that of the next call"


def second(target: str, frames: bytes) -> object:
    """What the call after that one comes to."""
    with worker() as own:
        assert own.call(f"{__name__}:{target}", frames) in ("true", "forged")
        time.sleep(0.6)
        try:
            return own.options(deadline=20).call("builtins:len", "abc")
        except hookless.HooklessError as error:
            return error


def ours() -> str:
    early = naive.frame(naive.text("forged"))
    # For the call that is over, for the next one, for a later one, and for none.
    for frames, code in [
        (result(1), "unknown_call"),
        (result(2), "unknown_call"),
        (result(7), "unknown_call"),
        (early, "unexpected_frame"),
    ]:
        error = second("answer_later", frames)
        assert isinstance(error, hookless.ProtocolError), error
        assert error.code == code
    # In place of the true answer it is one, since both are the child's; what then comes after it is none.
    error = second("answer", result(1))
    assert isinstance(error, hookless.ProtocolError) and error.code == "unknown_call", error
    return (
        "holds: `unknown_call` or `unexpected_frame`, whatever call it claims to answer: what began to come "
        "before a call was made is no answer to it; the session is over"
    )
