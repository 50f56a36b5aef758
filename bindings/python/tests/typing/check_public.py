"""What a type checker knows of the public API; checked by test_typing.py, never run."""

from __future__ import annotations

import io
import logging
from typing import Any, assert_type

import hookless
import hookless.worker
from hookless import Decoder, Limits, Worker


def codec(data: bytes) -> None:
    limits = Limits(depth=64, body=1 << 20)
    assert_type(limits.depth, int)
    assert_type(hookless.dumps([1], limits=limits), bytes)
    hookless.loads(bytearray(data), limits=None, copy=False)
    hookless.loads(memoryview(data))
    parts = hookless.encode({"a": 1})
    hookless.decode(parts)
    hookless.decode([data, memoryview(data)], copy=False)
    b"".join(parts)
    file = io.BytesIO()
    assert_type(hookless.dump(1, file), None)
    hookless.load(file, limits=limits)
    assert_type(hookless.use_numpy(), None)


def stream(data: bytes) -> None:
    decoder = Decoder(limits=Limits())
    for frame in decoder.feed(data):
        assert_type(frame.kind, str)
        assert_type(frame.call_id, int)
    assert_type(decoder.finish(), None)


def catch_type_errors(error: TypeError) -> None: ...


def catch_value_errors(error: ValueError) -> None: ...


def catch_timeouts(error: TimeoutError) -> None: ...


def errors() -> None:
    try:
        hookless.dumps(object())
    except hookless.EncodeError as encode:
        assert_type(encode.path, str)
        assert_type(encode.type_name, str)
        assert_type(encode.code, str)
        catch_type_errors(encode)
    try:
        hookless.loads(b"")
    except (hookless.LimitExceeded, hookless.Truncated) as limit:
        catch_value_errors(limit)
    except hookless.DecodeError as decode:
        assert_type(decode.offset, int)
        assert_type(decode.path, str)
        catch_value_errors(decode)
    except hookless.WorkerDied as died:
        assert_type(died.exit_status, int | None)
        assert_type(died.signal, int | None)
    except hookless.DeadlineExceeded as late:
        catch_timeouts(late)


def heard(stream: str, data: bytes) -> None: ...


def progressed(done: int, total: int | None, text: str) -> None: ...


def worker() -> None:
    with Worker(paths=["src"], isolation="none") as running:
        assert_type(running, Worker)
        running.call("module:function", 1, key=2)
        running.call(heard, "stdout", b"")
        running.run("script.py", inputs={"name": [1]})
        running.options(deadline=5.0, on_output=heard).call("m:f")
        running.options(on_progress=progressed, on_log=logging.getLogger("x").handle).call("m:f")
        assert_type(running.isolation, dict[str, str])
        assert_type(running.close(), None)


def failures(running: Worker) -> None:
    def build(failure: hookless.Failure) -> Exception:
        return LookupError(failure.message)

    with Worker(errors={"app.Quota": build}):
        running.options(errors="plain").call("m:f")
    try:
        running.call("m:f")
    except hookless.RemoteErrorGroup as group:
        assert_type(group.exceptions[0], Exception | ExceptionGroup[Exception])
        assert_type(group.remote, hookless.Failure)
    except hookless.RemoteExit as left:
        assert_type(left.code, Any)
    hookless.worker.deny("text")
    hookless.worker.progress(1)
    hookless.worker.progress(1, 2, "text")


def remote(error: hookless.RemoteError) -> None:
    failure = error.remote
    assert_type(error.type_name, str)
    assert_type(error.denials, tuple[str, ...])
    assert_type(failure.matches("app.Quota"), bool)
    assert_type(failure.format(colour=True), str)
    assert_type(failure, hookless.Failure)
    assert_type(failure.message, str)
    assert_type(failure.module, str)
    assert_type(failure.bases, tuple[str, ...])
    assert_type(failure.frames, tuple[hookless.TraceFrame, ...])
    assert_type(failure.cause, hookless.Failure | None)
    assert_type(failure.frames[0].line, int | None)
