"""hookless: values from a sandboxed child to a trusted host, where nothing is unpickled.

`dumps` and `loads` turn values of a closed set into typed frames and back. `Worker` runs code in a child
process and hands back its results and failures by the same frames. Nothing in a frame names code: decoding
imports, looks up, constructs and calls nothing that the bytes choose.

    >>> import hookless
    >>> hookless.loads(hookless.dumps({"answer": (42, 2.5)}))
    {'answer': (42, 2.5)}
"""

from __future__ import annotations

from hookless._hookless import (
    Array,
    Decoder,
    Failure,
    Frame,
    Limits,
    MaskedArray,
    ObjectArray,
    Scalar,
    StringArray,
    TraceFrame,
    __version__,
    decode,
    dumps,
    encode,
    loads,
    use_numpy,
    warm_up,
)
from hookless.conversion import convert
from hookless.errors import (
    DeadlineExceeded,
    DecodeError,
    EncodeError,
    HooklessError,
    IsolationError,
    IsolationWarning,
    LimitExceeded,
    ProtocolError,
    Stalled,
    Truncated,
    WorkerDied,
)
from hookless.files import dump, load, load_all
from hookless.records import EnumValue, NamedRecord, Record
from hookless.remote import RemoteError, RemoteErrorGroup, RemoteExit

# As typing.TYPE_CHECKING, without importing typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookless import aio
    from hookless import http as http
    from hookless import pools as pools
    from hookless import sse as sse
    from hookless import streams as streams
    from hookless import zmq as zmq
    from hookless._lossy import lossy
    from hookless._stream import Stream
    from hookless._typed.arrays import ArraySpec
    from hookless.executor import Executor
    from hookless.paths import ForeignPath
    from hookless.process import Worker
else:
    # Whoever only encodes and decodes does not pay for the import of subprocess, pathlib or typing.
    _LATER = {
        "ArraySpec": "hookless._typed.arrays",
        "Executor": "hookless.executor",
        "ForeignPath": "hookless.paths",
        "Stream": "hookless._stream",
        "Worker": "hookless.process",
        "lossy": "hookless._lossy",
    }

    # Modules that are attributes without an import statement. Those of carriers are not in `__all__`: one of
    # them may need a package that is not there.
    _MODULES = ("aio", "http", "pools", "sse", "streams", "zmq")

    def __getattr__(name: str) -> object:
        if name not in _LATER and name not in _MODULES:
            raise AttributeError(f"module 'hookless' has no attribute {name!r}")
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"hookless.{name}")
        return getattr(import_module(_LATER[name]), name)


__all__ = [
    "Array",
    "ArraySpec",
    "DeadlineExceeded",
    "DecodeError",
    "Decoder",
    "EncodeError",
    "EnumValue",
    "Executor",
    "Failure",
    "ForeignPath",
    "Frame",
    "HooklessError",
    "IsolationError",
    "IsolationWarning",
    "LimitExceeded",
    "Limits",
    "MaskedArray",
    "NamedRecord",
    "ObjectArray",
    "ProtocolError",
    "Record",
    "RemoteError",
    "RemoteErrorGroup",
    "RemoteExit",
    "Scalar",
    "Stalled",
    "Stream",
    "StringArray",
    "TraceFrame",
    "Truncated",
    "Worker",
    "WorkerDied",
    "__version__",
    "aio",
    "convert",
    "decode",
    "dump",
    "dumps",
    "encode",
    "load",
    "load_all",
    "loads",
    "lossy",
    "use_numpy",
    "warm_up",
]
