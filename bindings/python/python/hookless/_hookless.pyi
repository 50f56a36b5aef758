"""The Rust extension: what `hookless` re-exports, and what its own modules need."""

import sys
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, ClassVar, Final, Literal, Protocol, Self, TypeAlias, TypeVar, final, overload

from typing_extensions import Buffer

# fmt: off
__all__ = [
    "Array",
    "Channel",
    "Decoder",
    "Failure",
    "Frame",
    "KeyCosts",
    "Limits",
    "MaskedArray",
    "ObjectArray",
    "RegionBuffer",
    "Scalar",
    "StringArray",
    "TraceFrame",
    "__version__",
    "close_descriptors",
    "decode",
    "dumps",
    "encodable",
    "encode",
    "inspect",
    "loads",
    "lockdown",
    "plain_failure",
    "through_rust",
    "trace_frame",
    "use_numpy",
    "view_mapped",
    "warm_up",
]

__version__: Final[str]

# Every code of proto/errors.md. Not there at run time: import it under `if TYPE_CHECKING`.
_Code: TypeAlias = Literal[
    "bad_magic", "bad_version", "unknown_frame_kind", "bad_flags", "bad_call_id", "bad_length", "bad_padding",
    "region_mismatch", "truncated", "trailing_bytes", "not_canonical", "bad_marker", "bad_utf8",
    "bad_payload", "misplaced_marker", "unknown_kind", "unknown_ext", "bad_arity", "bad_type",
    "unordered_set", "duplicate_key", "not_keyable", "bad_dtype", "bad_shape", "bad_order", "bad_data_length",
    "bad_element", "bad_link", "bad_number", "bad_name", "bad_control", "bad_call", "depth_limit",
    "body_limit", "region_limit", "memory_limit", "node_limit", "int_limit", "chain_limit", "group_limit",
    "exception_limit", "frame_limit", "text_limit", "descriptor_limit", "dtype_limit", "region_entry_limit",
    "undelivered_limit", "open_call_limit", "key_collision", "key_error", "zone_unknown", "dtype_unsupported",
    "out_of_memory", "type_mismatch", "unsupported_type", "mutated", "unexpected_frame", "busy",
    "unknown_call", "no_credit", "version_mismatch", "bad_role",
]
# fmt: on

_T = TypeVar("_T")

# Kind, id of a call or index of an output, value, cost.
_Event: TypeAlias = tuple[
    Literal[
        "ready", "result", "error", "cancelled", "item", "progress", "log", "call", "cancel", "credit",
        "shutdown", "output", "eof", "woken",
    ],
    int,
    Any,
    int,
]  # fmt: skip
_T_co = TypeVar("_T_co", covariant=True)

class _Adapter(Protocol[_T_co]):
    """A pydantic `TypeAdapter`."""

    def validate_python(self, value: Any, /) -> _T_co: ...

def dumps(
    value: object, *, limits: Limits | None = None, default: Callable[[Any], object] | None = None
) -> bytes:
    """Encode a value of the closed set as one VALUE frame.

    `default` is called with each object outside the closed set, and what it returns is sent in its place;
    each call counts as a level of `Limits.depth`. Raises EncodeError, with the path to what cannot be sent,
    and with what `default` raised as its cause.
    """

@overload
def loads(
    data: Buffer, *, type: type[_T] | _Adapter[_T], limits: Limits | None = None, copy: bool = True
) -> _T:
    """Decode the bytes of exactly one VALUE frame, and convert the value: see `hookless.convert`.

    With `copy=False`, arrays of 16 384 bytes and more are read-only views of `data`. Raises DecodeError, and
    TypeError for a type that cannot be asked for.
    """

@overload
def loads(data: Buffer, *, type: Any = None, limits: Limits | None = None, copy: bool = True) -> Any: ...
def encode(
    value: object, *, limits: Limits | None = None, default: Callable[[Any], object] | None = None
) -> list[Buffer]:
    """Encode a value as buffers that are, joined, exactly what `dumps` gives; large arrays are not copied."""

@overload
def decode(
    parts: Iterable[Buffer],
    *,
    type: type[_T] | _Adapter[_T],
    limits: Limits | None = None,
    copy: bool = True,
) -> _T:
    """Decode one VALUE frame that comes in parts, split anywhere. `type`, errors: as `loads`."""

@overload
def decode(
    parts: Iterable[Buffer], *, type: Any = None, limits: Limits | None = None, copy: bool = True
) -> Any: ...
def view_mapped(map: Buffer, start: int, end: int, *, limits: Limits | None = None) -> Any:
    """Decode the VALUE frame between two offsets of a read-only mapping. Large arrays are views of it, which
    may neither be closed nor resized then. Raises as `loads`, and ValueError for what can be written to.
    """

def through_rust(data: bytes, *, limits: Limits | None = None) -> bytes:
    """Decode a VALUE frame as a Rust program does, and encode it again: for tests that compare both."""

def encodable(value: object, max_bytes: int) -> bool:
    """Say whether a value can be sent in a body of at most `max_bytes` bytes and without a data region."""

@final
class KeyCosts:
    """What the tables that one conversion builds cost, as in a decoder."""

    def __new__(cls) -> Self: ...
    def check(self, keys: Sequence[Any], is_set: bool) -> int | None:
        """Raise DecodeError if these keys, in this order, would degrade a dict (or a set).

        Returns the probes that they take; None for tables whose probes are not counted.
        """

_Node: TypeAlias = tuple[int, int | None, int, str, str, str]
_Slot: TypeAlias = tuple[int, int, int, str]
_Refusal: TypeAlias = tuple[str, int, str, str]

def inspect(
    data: bytes, start: int = 0, *, limits: Limits | None = None, most: int = 10_000
) -> tuple[int | None, list[_Node], int, list[_Slot], int, _Refusal | None]:
    """Read the frame that begins `start` bytes into `data`, and tell what it holds as far as it can be read.

    Returns the frame's length as its head has it, None where that is refused; up to `most` values as offset,
    end (None where it is not complete), depth, kind, text and label, and how many there are; up to `most`
    entries of the data region as offset, length, zero bytes before it and whose it is, and how many there
    are; and why the frame is refused, as code, offset, path and sentence. Nothing is built, and nothing of
    the frame is raised.
    """

def use_numpy() -> None:
    """Import NumPy, so that arrays and NumPy scalars arrive as NumPy's. Raises ImportError without it."""

def warm_up() -> None:
    """Import now what the first value of a kind would import while it is decoded: the standard library's
    value classes, and the list of time zones.
    """

def close_descriptors(keep: Sequence[int]) -> None:
    """Close every descriptor of this process but 0, 1, 2 and those to keep."""

def lockdown(
    mode: str,
    *,
    readable: Sequence[str],
    required: Sequence[str],
    writable: Sequence[str],
    memory: int | None,
    cpu_seconds: int | None,
    file_size: int | None,
    open_files: int | None,
    processes: int | None,
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Give up privileges and lower limits of this process, for good; unless `mode` is "none", close files and
    system calls as well.

    Of `readable`, what is not there is passed over. Returns the layers that are in force, each with what it
    does, and those that are missing, each with the reason: that is possible with "auto" only. Raises
    IsolationError.
    """

@final
class Limits:
    """Where decoding and encoding stop (proto/limits.md). `Limits(depth=32)` changes one and keeps the rest.

    `Limits.strict()` and `Limits.generous()` are the other two profiles, and take changes alike.

    Raises ValueError for a value past the hard ceiling, TypeError for an unknown name.
    """

    TABLE: ClassVar[dict[str, tuple[int, int]]]
    """Default and hard ceiling of each limit, by name."""

    depth: Final[int]
    """Arrays, nodes and maps open at once."""
    body: Final[int]
    """Bytes of a body."""
    region: Final[int]
    """Bytes of a data region."""
    memory: Final[int]
    """Sum of the charges, in bytes."""
    nodes: Final[int]
    """Values in one body."""
    int_bytes: Final[int]
    """Magnitude of an int, in bytes."""
    chain: Final[int]
    """Exceptions linked by cause and context, on the longest path."""
    group_depth: Final[int]
    """Exception groups inside exception groups."""
    exceptions: Final[int]
    """Exceptions in one report."""
    frames: Final[int]
    """Traceback frames of one exception."""
    text: Final[int]
    """Bytes of one text of a report."""
    descriptor: Final[int]
    """Bytes of one report."""
    dtype_fields: Final[int]
    """Fields of one dtype, those of nested ones included."""
    dtype_depth: Final[int]
    """Structures inside structures."""
    undelivered: Final[int]
    """What the frames of one `Decoder.feed` hold together, in bytes."""

    def __new__(
        cls,
        *,
        depth: int = ...,
        body: int = ...,
        region: int = ...,
        memory: int = ...,
        nodes: int = ...,
        int_bytes: int = ...,
        chain: int = ...,
        group_depth: int = ...,
        exceptions: int = ...,
        frames: int = ...,
        text: int = ...,
        descriptor: int = ...,
        dtype_fields: int = ...,
        dtype_depth: int = ...,
        undelivered: int = ...,
    ) -> Limits: ...
    @staticmethod
    def strict(
        *,
        depth: int = ...,
        body: int = ...,
        region: int = ...,
        memory: int = ...,
        nodes: int = ...,
        int_bytes: int = ...,
        chain: int = ...,
        group_depth: int = ...,
        exceptions: int = ...,
        frames: int = ...,
        text: int = ...,
        descriptor: int = ...,
        dtype_fields: int = ...,
        dtype_depth: int = ...,
        undelivered: int = ...,
    ) -> Limits:
        """For answers that are small: text, numbers, short tables."""

    @staticmethod
    def generous(
        *,
        depth: int = ...,
        body: int = ...,
        region: int = ...,
        memory: int = ...,
        nodes: int = ...,
        int_bytes: int = ...,
        chain: int = ...,
        group_depth: int = ...,
        exceptions: int = ...,
        frames: int = ...,
        text: int = ...,
        descriptor: int = ...,
        dtype_fields: int = ...,
        dtype_depth: int = ...,
        undelivered: int = ...,
    ) -> Limits:
        """For large data on a large machine, from a child that is mistrusted less."""

    def __copy__(self, /) -> Limits: ...
    def __deepcopy__(self, /, _memo: object) -> Limits: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Frame:
    """A frame that has arrived."""

    @property
    def kind(self) -> str:
        """One of value, hello, call, result, error."""

    @property
    def call_id(self) -> int:
        """The call it belongs to; 0 for none."""

    @property
    def value(self) -> Any:
        """Its value."""

@final
class Decoder:
    """Takes bytes as they come and gives whole frames. One decoder serves one stream.

    After an error it has lost its place, reads nothing more and says so.
    """

    def __new__(cls, *, limits: Limits | None = None) -> Decoder: ...
    def feed(self, chunk: Buffer) -> list[Frame]:
        """Take the next bytes; return the frames that they complete, in order. Raises DecodeError."""

    def finish(self) -> None:
        """Say that the stream has ended: raises Truncated inside a frame."""

@final
class Array:
    """An array in a process that has not loaded NumPy. Its buffer is the elements' bytes, read-only."""

    @property
    def dtype(self) -> str:
        """NumPy's `dtype.str`, such as `<f8`; `<g[x87]` for a long double, `<bfloat16` for ml_dtypes."""

    @property
    def recarray(self) -> bool:
        """Whether NumPy makes it a `recarray`, whose fields are attributes."""

    @property
    def structure(self) -> dict[str, Any] | None:
        """The fields of a structured dtype: itemsize, align, record, and fields.

        Each field is a tuple of name, title, offset, shape and dtype, which is again a str or such a dict.
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""

    @property
    def order(self) -> Literal["C", "F"]:
        """`C` when the last index runs fastest, `F` when the first does."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    def tobytes(self) -> bytes:
        """Return the elements' bytes, in the array's own order."""

    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

    def __eq__(self, other: object, /) -> bool: ...

@final
class Scalar:
    """A NumPy scalar in a process that has not loaded NumPy."""

    @property
    def dtype(self) -> str:
        """NumPy's `dtype.str`, little-endian, without a size for `S`, `U`, plain `V`; or as `Array.dtype`."""

    @property
    def structure(self) -> dict[str, Any] | None:
        """The fields of a structured dtype, as `Array.structure`."""

    def tobytes(self) -> bytes:
        """Return the payload as on the wire: big-endian bits, or the contents.

        For a dtype with fields, a long double and ml_dtypes' types: one element, as in an array.
        """

    def item(self) -> bool | int | float | complex | str | bytes:
        """Return the nearest Python value; the ticks of a datetime64 or timedelta64.

        Of what only NumPy can read, the bytes.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class MaskedArray:
    """A masked array in a process that has not loaded NumPy: the arrays that it is made of."""

    @property
    def data(self) -> Array:
        """The elements, the masked ones included."""

    @property
    def mask(self) -> Array | None:
        """A bool for each element, or each field of it; None where nothing is masked."""

    @property
    def fill_value(self) -> Array | None:
        """What stands for a masked element: an array without dimensions; None where it is the dtype's own."""

    @property
    def hard_mask(self) -> bool:
        """Whether masked elements cannot be assigned to."""

    def __eq__(self, other: object, /) -> bool: ...

@final
class ObjectArray:
    """An array of objects in a process that has not loaded NumPy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""

    @property
    def order(self) -> Literal["C", "F"]:
        """`C` when the last index runs fastest, `F` when the first does."""

    @property
    def items(self) -> tuple[Any, ...]:
        """The items, in the order in which they lie."""

    def __eq__(self, other: object, /) -> bool: ...

@final
class StringArray:
    """An array of NumPy's StringDType in a process that has not loaded NumPy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""

    @property
    def order(self) -> Literal["C", "F"]:
        """`C` when the last index runs fastest, `F` when the first does."""

    @property
    def items(self) -> tuple[str | None, ...]:
        """The items, in the order in which they lie; None where one is missing."""

    @property
    def has_na_object(self) -> bool:
        """Whether an item can be missing."""

    @property
    def na_object(self) -> str | float | None:
        """What NumPy gives for a missing item: None, a NaN or a str."""

    @property
    def coerce(self) -> bool:
        """Whether NumPy takes other objects by their `str()`."""

    def __eq__(self, other: object, /) -> bool: ...

@final
class RegionBuffer:
    """One entry of the data region as `encode` hands it out: the array's own memory, not copied."""

    def __len__(self) -> int: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

def plain_failure(error: BaseException, limits: Limits) -> Failure | None:
    """Return the report of a plain exception, equal to what `describe` makes; None for any other.

    Plain is a chain of exceptions that hold nothing but a few short leaves as arguments, far from all limits.
    """

def trace_frame(
    traceback: TracebackType,
    lines: dict[str, list[str]],
    read: Callable[[str, dict[str, Any]], list[str]],
    text: int,
) -> tuple[TraceFrame, bool]:
    """Read the frame of one traceback entry, and whether its texts are whole: `text` bytes of each are kept.

    `read` is asked for the lines of a file that `lines` does not know, by file name and globals. It must not
    raise.
    """

@final
class TraceFrame:
    """One line of a remote traceback."""

    def __new__(
        cls,
        file: str,
        line: int | None = None,
        end_line: int | None = None,
        column: int | None = None,
        end_column: int | None = None,
        function: str | None = None,
        source: str | None = None,
    ) -> TraceFrame: ...
    @property
    def file(self) -> str:
        """File name in the child; never opened."""

    @property
    def line(self) -> int | None:
        """First line, from 1."""

    @property
    def end_line(self) -> int | None:
        """Last line."""

    @property
    def column(self) -> int | None:
        """First column, in bytes from 0."""

    @property
    def end_column(self) -> int | None:
        """Column after the last."""

    @property
    def function(self) -> str:
        """Name of the function."""

    @property
    def source(self) -> str | None:
        """The source line, as the child read it."""

    def __eq__(self, other: object, /) -> bool: ...

@final
class Failure:
    """What is known of an exception that happened elsewhere: text, numbers and closed values.

    Nothing in it is ever looked up, imported, opened or called. Two are equal when they encode to the same
    bytes.
    """

    def __new__(
        cls,
        module: str,
        qualname: str,
        bases: tuple[str, ...],
        message: str,
        args: tuple[object, ...] | None = None,
        *,
        notes: tuple[str, ...] | None = None,
        fields: dict[str, object] | None = None,
        denials: tuple[str, ...] | None = None,
        frames: tuple[TraceFrame, ...] | None = None,
        cause: Failure | None = None,
        context: Failure | None = None,
        suppress_context: bool = False,
        members: tuple[Failure, ...] | None = None,
        cut: tuple[str, ...] | None = None,
    ) -> Failure: ...
    @property
    def module(self) -> str:
        """Module of the class."""

    @property
    def qualname(self) -> str:
        """Qualified name of the class."""

    @property
    def type_name(self) -> str:
        """`module.qualname`; for builtins the plain name."""

    def matches(self, name: str) -> bool:
        """Whether the class has this name, or derives from one that has, as the child tells it.

        `pkg.mod.Error`; a builtin class with or without `builtins.`.
        """

    def format(self, *, colour: bool = False) -> str:
        """Return the remote traceback as text, escaped and at most some hundred lines long.

        Causes, contexts and members are in it. With `colour` it is for a terminal.
        """

    @property
    def bases(self) -> tuple[str, ...]:
        """`module.qualname` of the other classes in its MRO."""

    @property
    def message(self) -> str:
        """What `str(e)` gave in the child, raw."""

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments; one that could not be sent is its repr, and named in `cut`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes added by `add_note`."""

    @property
    def fields(self) -> dict[str, Any]:
        """What a builtin class keeps beside its arguments, such as the `errno` of an OSError."""

    @property
    def denials(self) -> tuple[str, ...]:
        """What the sandbox denied, as the child claims."""

    @property
    def frames(self) -> tuple[TraceFrame, ...]:
        """The traceback, outermost frame first."""

    @property
    def cause(self) -> Failure | None:
        """The explicit cause."""

    @property
    def context(self) -> Failure | None:
        """The exception that was being handled."""

    @property
    def suppress_context(self) -> bool:
        """Whether the context is hidden when the report is shown."""

    @property
    def members(self) -> tuple[Failure, ...]:
        """Members of an exception group."""

    @property
    def cut(self) -> tuple[str, ...]:
        """What was left out or replaced, such as `args[0]`."""

    def __eq__(self, other: object, /) -> bool: ...

@final
class Channel:
    """One end of a session (proto/session.md) over a stream. It owns the descriptors.

    `fd` is a stream socket, or with `write_fd` the pipe that is read from. `stall` is how many seconds a
    frame that has begun may stand still, in either direction; a frame of the host's may do so while the
    worker is at work on other calls. One thread at a time may be in `step`; everything else may be called
    meanwhile by any thread.
    """

    def __new__(
        cls,
        fd: int,
        role: Literal["host", "worker"],
        *,
        limits: Limits | None = None,
        stall: float = 30.0,
        write_fd: int | None = None,
    ) -> Channel: ...
    @property
    def closed(self) -> bool:
        """Whether it was closed."""

    @property
    def open_calls(self) -> int:
        """How many calls are open."""

    @property
    def peer_limits(self) -> Limits:
        """The limits under which this end encodes: its own, or where they are smaller the peer's (S17)."""

    @property
    def pending(self) -> int:
        """Bytes of the frame that is arriving which are still missing; 0 between frames."""

    @property
    def ready(self) -> int:
        """Events that have been taken in while something was sent: `step(0)` returns them, whatever the
        descriptor shows.
        """

    @property
    def wants_write(self) -> bool:
        """Whether something is queued that the peer has not taken: `step` or `flush` sends it."""

    def hello(self, deadline: float | None = None) -> None:
        """Exchange HELLO, within `deadline` seconds. Raises HooklessError: the session did not begin."""

    def begin(
        self,
        verb: int,
        name: str,
        source: str | None,
        args: tuple[object, ...],
        kwargs: dict[str, Any],
        credit: int = 0,
    ) -> int:
        """Host: send a CALL, and CREDIT of so many items; return the id of the call.

        Waits for nothing: what the peer does not take at once is queued. Takes in first what has come, so
        that nothing of it answers this call (S11). Raises EncodeError, ProtocolError and LimitExceeded,
        after which the channel is as before; and what `step` raises for what has come, after which it is
        closed.
        """

    def cancel(self, call_id: int) -> bool:
        """Host: send CANCEL; return False for a call that is over, or was cancelled before."""

    def credit(self, call_id: int, items: int) -> bool:
        """Host: send CREDIT; return False for a call that is over."""

    def shutdown(self) -> None:
        """Host: send SHUTDOWN (S16)."""

    def release(self, cost: int) -> None:
        """Say that an event of this cost was handed on, so that it no longer counts (L10)."""

    def item(self, call_id: int, value: object) -> None:
        """Worker: send an item of a stream. Raises EncodeError; nothing has been sent then.

        This and the other methods of the worker return when the frame is gone. Events that arrive meanwhile
        are kept: `step(0)` returns them.
        """

    def result(self, call_id: int, value: object) -> None:
        """Worker: answer by RESULT. Raises EncodeError; nothing has been sent then: call `fail`."""

    def fail(self, call_id: int, failure: Failure) -> None:
        """Worker: answer by ERROR."""

    def cancelled(self, call_id: int) -> None:
        """Worker: answer by CANCELLED a call that was cancelled."""

    def progress(self, call_id: int, done: int, total: int | None, text: str) -> None:
        """Worker: send PROGRESS of a call. A text that is too long is cut (S15)."""

    def log(
        self,
        call_id: int,
        level: int,
        logger: str,
        message: str,
        created: float,
        path: str,
        line: int,
        function: str,
    ) -> None:
        """Worker: send LOG of a call, or with 0 of none. Texts that are too long are cut (S15)."""

    def listen_setup(self) -> None:
        """Worker: name this thread as the one that `listen` has signalled; before `lockdown` forbids it."""

    def listen(self, on: bool) -> None:
        """Worker: have the kernel raise SIGURG when bytes arrive, or no longer."""

    def step(
        self,
        seconds: float | None,
        *,
        life: int = -1,
        outputs: Sequence[int] = (),
        most: int | None = None,
        yields: bool = False,
    ) -> _Event | None:
        """Send and receive until something has happened: kind, id of the call, value, and cost.

        Returns None when `seconds` are over (0: what can be done without waiting; None: no end), or `most`
        bytes have been moved. What the pipes `outputs` hold comes as `("output", index, data, 0)`, without
        data when that pipe has ended; -1 is no pipe. `life` is a pidfd of the peer, or -1: its end is the
        stream's end, whoever else holds the channel. With `yields` other threads may run while a large body
        is built.

        Kinds for the host: "result", "error", "item" with values whose cost is to be given to `release`,
        "cancelled", "progress" with done, total and text, "log" with the arguments of `log` after the id.
        For the worker: "call" with verb, name, source, args and kwargs, "cancel", "credit" with the items
        that are allowed beside those of before, "shutdown". For both: "ready" for the peer's HELLO, where
        `hello` is not called, "woken" after `wake`, and "eof".

        Raises DecodeError, ProtocolError and Stalled, after which the session is over; ProtocolError with
        the code `busy` where another `step` is under way. An exception of a signal handler leaves it whole.
        """

    def flush(self, seconds: float | None) -> bool:
        """Send what is queued; return False when `seconds` are over before all of it is gone."""

    def wake(self) -> None:
        """Have `step` return "woken": the one that waits, or else the next that would."""

    def fileno(self) -> int:
        """Return the descriptor that is read from."""

    def close(self) -> None:
        """Close the descriptors; more than once is fine. A `step` in another thread raises ProtocolError."""
