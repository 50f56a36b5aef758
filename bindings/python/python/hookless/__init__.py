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
    Scalar,
    TraceFrame,
    __version__,
    decode,
    dumps,
    encode,
    loads,
    use_numpy,
)
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
from hookless.files import dump, load
from hookless.remote import RemoteError, RemoteErrorGroup, RemoteExit

# As typing.TYPE_CHECKING, without importing typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookless.process import Worker
else:

    def __getattr__(name: str) -> object:
        # Whoever only encodes and decodes does not pay for the import of subprocess.
        if name == "Worker":
            from hookless.process import Worker

            return Worker
        raise AttributeError(f"module 'hookless' has no attribute {name!r}")


__all__ = [
    "Array",
    "DeadlineExceeded",
    "DecodeError",
    "Decoder",
    "EncodeError",
    "Failure",
    "Frame",
    "HooklessError",
    "IsolationError",
    "IsolationWarning",
    "LimitExceeded",
    "Limits",
    "ProtocolError",
    "RemoteError",
    "RemoteErrorGroup",
    "RemoteExit",
    "Scalar",
    "Stalled",
    "TraceFrame",
    "Truncated",
    "Worker",
    "WorkerDied",
    "__version__",
    "decode",
    "dump",
    "dumps",
    "encode",
    "load",
    "loads",
    "use_numpy",
]
