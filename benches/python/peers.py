"""The registry of contenders, and those that matter most: hookless, pickle and msgspec.

A contender is two Python expressions, timed exactly as the report prints them: `encode` over `value`,
`decode` over `wire` (what encode returned). No wrapper stands between the clock and the library unless its
users need one too. The wider field stands in more_peers.py.
"""

from __future__ import annotations

import importlib.metadata
import io
import pickle
import pickletools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np

NdArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Codec:
    """Two expressions and the names they use, besides `value` and `wire`."""

    names: Mapping[str, object]
    encode: str
    decode: str
    # False where the call is the same as another contender's: the row then shows only what differs.
    times: frozenset[Literal["encode", "decode"]] = frozenset({"encode", "decode"})


ENCODE_ONLY = frozenset[Literal["encode", "decode"]]({"encode"})
DECODE_ONLY = frozenset[Literal["encode", "decode"]]({"decode"})

# Called with whether the workload holds arrays, so that hooks are installed only where they are needed.
Load = Callable[[bool], Codec]


@dataclass(frozen=True, slots=True)
class Peer:
    """A contender of the registry. `load` imports it: ImportError means that it is not installed."""

    name: str
    label: str
    package: str | None
    trust: str
    against: str | None
    arrays_only: bool
    note: str
    load: Load

    def version(self) -> str:
        """Return the version of the distribution, or that it comes with Python."""
        return importlib.metadata.version(self.package) if self.package else "standard library"


REGISTRY: dict[str, Peer] = {}
DATA = "builds data only"
RUNS = "runs what the bytes name"


def peer(
    name: str,
    label: str,
    *,
    package: str | None = None,
    trust: str = DATA,
    against: str | None = "hookless",
    arrays_only: bool = False,
    note: str = "",
) -> Callable[[Load], Load]:
    """Register the decorated loader. `against` names the hookless contender that makes the same promises."""

    def add(load: Load) -> Load:
        if name in REGISTRY:
            raise ValueError(f"peer {name} is registered twice")
        REGISTRY[name] = Peer(name, label, package, trust, against, arrays_only, note, load)
        return load

    return add


def _hookless_names() -> dict[str, object]:
    import hookless

    return {name: getattr(hookless, name) for name in ("dumps", "loads", "encode", "decode")}


@peer("hookless", "hookless, one frame", package="hookless", against=None)
def _hookless(arrays: bool) -> Codec:
    return Codec(_hookless_names(), "dumps(value)", "loads(wire)")


@peer(
    "hookless-view",
    "hookless, arrays as views",
    package="hookless",
    against=None,
    arrays_only=True,
    note="arrays of 16 KiB and more are read-only views of the frame; smaller ones are copied as ever",
)
def _hookless_view(arrays: bool) -> Codec:
    return Codec(_hookless_names(), "dumps(value)", "loads(wire, copy=False)", DECODE_ONLY)


@peer(
    "hookless-parts",
    "hookless, list of buffers",
    package="hookless",
    against=None,
    arrays_only=True,
    note="encode borrows arrays of 16 KiB and more; decode copies them into memory of their own",
)
def _hookless_parts(arrays: bool) -> Codec:
    return Codec(_hookless_names(), "encode(value)", "decode(wire)")


@peer("pickle5", "pickle protocol 5, in band", trust=RUNS)
def _pickle5(arrays: bool) -> Codec:
    return Codec({"dumps": pickle.dumps, "loads": pickle.loads}, "dumps(value, 5)", "loads(wire)")


_OUT_OF_BAND = "(b := [], dumps(value, 5, buffer_callback=b.append))"


@peer(
    "pickle5-oob",
    "pickle protocol 5, out of band",
    trust=RUNS,
    against="hookless-parts",
    arrays_only=True,
    note="encode borrows the arrays; decode copies each buffer, as a receiver that owns its memory must",
)
def _pickle5_oob(arrays: bool) -> Codec:
    names = {"dumps": pickle.dumps, "loads": pickle.loads}
    return Codec(names, _OUT_OF_BAND, "loads(wire[1], buffers=[bytearray(b) for b in wire[0]])")


@peer(
    "pickle5-oob-view",
    "pickle protocol 5, out of band, as views",
    trust=RUNS,
    against="hookless-view",
    arrays_only=True,
    note="in one process the arrays that come back are the sender's own memory: nothing is transported",
)
def _pickle5_oob_view(arrays: bool) -> Codec:
    names = {"dumps": pickle.dumps, "loads": pickle.loads}
    return Codec(names, _OUT_OF_BAND, "loads(wire[1], buffers=wire[0])", DECODE_ONLY)


# What NumPy's own pickles name, under the module names of NumPy 1 and 2.
_ALLOWED = {("numpy", "ndarray"), ("numpy", "dtype"), ("builtins", "complex"), ("builtins", "bytearray")} | {
    (f"numpy.{core}.{module}", name)
    for core in ("core", "_core")
    for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"), ("numeric", "_frombuffer"))
}


class AllowListUnpickler(pickle.Unpickler):
    """The "restricted unpickler" of the Python manual: it bounds what is called, not time and not memory."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a global of the allow-list."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed")
        return super().find_class(module, name)


def allow_list_loads(data: bytes) -> object:
    """Unpickle with the allow-list alone."""
    return AllowListUnpickler(io.BytesIO(data)).load()


_CLOSES_MARK = {
    opcode.name for opcode in pickletools.opcodes if pickletools.markobject in opcode.stack_before
}


def scan(data: bytes, *, opcodes: int, marks: int, int_bytes: int) -> None:
    """Walk the opcodes before anything is built; refuse too many of them, too deep nesting and huge ints."""
    depth = 0
    for count, (opcode, argument, _) in enumerate(pickletools.genops(data)):
        if count >= opcodes:
            raise pickle.UnpicklingError(f"more than {opcodes} opcodes")
        if opcode.name == "MARK":
            depth += 1
            if depth > marks:
                raise pickle.UnpicklingError(f"more than {marks} open marks")
        elif opcode.name in _CLOSES_MARK:
            depth -= 1
        elif type(argument) is int and argument.bit_length() > 8 * int_bytes:
            raise pickle.UnpicklingError(f"an int of more than {int_bytes} bytes")


def scan_loads(data: bytes) -> object:
    """Scan, then unpickle with the allow-list. The opcode budget lets every workload pass."""
    scan(data, opcodes=1 << 26, marks=256, int_bytes=16 * 1024)
    return allow_list_loads(data)


@peer(
    "pickle5-allow",
    "pickle protocol 5, allow-list Unpickler",
    trust="calls what the list allows; time and memory unbounded",
    note="an allow-list alone costs what pickle costs",
)
def _pickle5_allow(arrays: bool) -> Codec:
    names = {"dumps": pickle.dumps, "loads": allow_list_loads}
    return Codec(names, "dumps(value, 5)", "loads(wire)", DECODE_ONLY)


@peer(
    "pickle-scan",
    "pickle protocol 5, opcode scan and allow-list Unpickler",
    trust="calls what the list allows; bounded by the scan",
    note="the scan walks every opcode in Python first: not what is usually called a restricted unpickler",
)
def _pickle_scan(arrays: bool) -> Codec:
    return Codec({"dumps": pickle.dumps, "loads": scan_loads}, "dumps(value, 5)", "loads(wire)", DECODE_ONLY)


_head = msgspec.msgpack.Encoder()


def pack_array(value: NdArray) -> bytes:
    """Write an array as dtype, order and shape, then its bytes, in one copy: the payload of peers' hooks."""
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    flat = value.T if fortran else np.ascontiguousarray(value)
    head = _head.encode((value.dtype.str, "F" if fortran else "C", value.shape))
    return b"".join((len(head).to_bytes(2, "little"), head, flat.data))


def unpack_array(data: bytes | bytearray | memoryview) -> NdArray:
    """Return a read-only view of what `pack_array` wrote."""
    start = 2 + int.from_bytes(data[:2], "little")
    dtype, order, shape = msgspec.msgpack.decode(data[2:start])
    flat = np.frombuffer(data, dtype, offset=start)
    return flat.reshape(shape[::-1]).T if order == "F" else flat.reshape(shape)


def _msgspec(copy: bool) -> Codec:
    def write(value: object) -> msgspec.msgpack.Ext:
        if not isinstance(value, np.ndarray):
            raise NotImplementedError(f"{type(value).__name__} is not of the benchmark")
        return msgspec.msgpack.Ext(1, pack_array(value))

    def read(code: int, data: memoryview) -> NdArray:
        view = unpack_array(data)
        return view.copy("K") if copy else view

    encoder, decoder = msgspec.msgpack.Encoder(enc_hook=write), msgspec.msgpack.Decoder(ext_hook=read)
    names = {"encode": encoder.encode, "decode": decoder.decode}
    return Codec(names, "encode(value)", "decode(wire)")


@peer(
    "msgspec",
    "msgspec.msgpack, array hooks",
    package="msgspec",
    note="without a schema, as hookless is called here",
)
def _msgspec_copy(arrays: bool) -> Codec:
    return _msgspec(copy=True)


@peer(
    "msgspec-view",
    "msgspec.msgpack, array hooks, as views",
    package="msgspec",
    against="hookless-view",
    arrays_only=True,
)
def _msgspec_view(arrays: bool) -> Codec:
    codec = _msgspec(copy=False)
    return Codec(codec.names, codec.encode, codec.decode, DECODE_ONLY)


def select(names: list[str] | None) -> Iterator[Peer]:
    """Yield the peers of these names (all if None), hookless always first. An unknown name is a KeyError."""
    for name in names or ():
        if name not in REGISTRY:
            raise KeyError(name)
    for one in REGISTRY.values():
        if names is None or one.against is None or one.name in names:
            yield one
