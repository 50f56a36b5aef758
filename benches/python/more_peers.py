"""The wider field: measured when installed, named in the report when not. Importing this registers them."""

from __future__ import annotations

import base64
import io
import json
import marshal
from importlib import import_module
from typing import Any

import numpy as np

from peers import DECODE_ONLY, Codec, NdArray, pack_array, peer, unpack_array

_MARK = "__ndarray__"


def _owned(data: bytes | bytearray | memoryview) -> NdArray:
    return unpack_array(data).copy("K")


def _array_or_error(value: object) -> NdArray:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__} is not an array")
    return value


def _as_json(value: object) -> object:
    """Encoder hook of the JSON peers: arrays as tagged base64, sets as lists."""
    if isinstance(value, set):
        return list(value)
    if _array_or_error(value).nbytes > 128 << 20:
        raise ValueError("as base64, more than 128 MiB take minutes")
    return {_MARK: base64.b64encode(pack_array(_array_or_error(value))).decode()}


def _from_json(value: dict[str, Any]) -> object:
    return _owned(base64.b64decode(value[_MARK])) if _MARK in value else value


def _restore(value: Any) -> Any:
    """Put the arrays back where the parser has no hook for it."""
    if isinstance(value, dict):
        return _from_json(value) if _MARK in value else {key: _restore(item) for key, item in value.items()}
    return [_restore(item) for item in value] if isinstance(value, list) else value


@peer("pyfory", "pyfory, strict, no references", package="pyfory", trust="builds data and registered types")
def _pyfory(arrays: bool) -> Codec:
    fory = import_module("pyfory").Fory(xlang=False, ref=False, strict=True)
    return Codec({"dumps": fory.serialize, "loads": fory.deserialize}, "dumps(value)", "loads(wire)")


@peer("ormsgpack", "ormsgpack, array hooks", package="ormsgpack")
def _ormsgpack(arrays: bool) -> Codec:
    library = import_module("ormsgpack")

    def write(value: object) -> object:
        return list(value) if isinstance(value, set) else library.Ext(1, pack_array(_array_or_error(value)))

    def read(code: int, data: bytes) -> NdArray:
        return _owned(data)

    names = {
        "packb": library.packb,
        "unpackb": library.unpackb,
        "write": write,
        "read": read,
        "KEYS": library.OPT_NON_STR_KEYS,
    }
    return Codec(names, "packb(value, write, KEYS)", "unpackb(wire, ext_hook=read, option=KEYS)")


@peer(
    "msgpack-numpy",
    "msgpack and msgpack-numpy",
    package="msgpack-numpy",
    trust="calls pickle on data of the peer's choice",
    note="its hooks are installed only for arrays",
)
def _msgpack_numpy(arrays: bool) -> Codec:
    library, hooks = import_module("msgpack"), import_module("msgpack_numpy")

    def write(value: object) -> object:
        return list(value) if isinstance(value, set) else hooks.encode(value)

    names = {"packb": library.packb, "unpackb": library.unpackb, "write": write, "read": hooks.decode}
    hook = ", object_hook=read" if arrays else ""
    return Codec(names, "packb(value, default=write)", f"unpackb(wire, strict_map_key=False{hook})")


@peer("cbor2", "cbor2, array tag", package="cbor2")
def _cbor2(arrays: bool) -> Codec:
    library = import_module("cbor2")

    def write(encoder: Any, value: object) -> None:
        encoder.encode(library.CBORTag(40_000, pack_array(_array_or_error(value))))

    def read(tag: Any, immutable: bool) -> object:
        return _owned(tag.value) if tag.tag == 40_000 else tag

    names = {"dumps": library.dumps, "loads": library.loads, "write": write, "read": read}
    return Codec(names, "dumps(value, default=write)", "loads(wire, tag_hook=read)")


@peer("orjson", "orjson, arrays as base64", package="orjson")
def _orjson(arrays: bool) -> Codec:
    library = import_module("orjson")
    names = {"dumps": library.dumps, "loads": library.loads, "write": _as_json, "restore": _restore}
    names["KEYS"] = library.OPT_NON_STR_KEYS
    return Codec(names, "dumps(value, write, KEYS)", "restore(loads(wire))" if arrays else "loads(wire)")


@peer("json", "json, arrays as base64")
def _json(arrays: bool) -> Codec:
    names = {"dumps": json.dumps, "loads": json.loads, "write": _as_json, "read": _from_json}
    return Codec(
        names, "dumps(value, default=write).encode()", f"loads(wire{', object_hook=read' if arrays else ''})"
    )


def _pack(value: Any) -> Any:
    """Turn arrays into bytes beforehand, where the encoder has no hook for it."""
    if isinstance(value, dict):
        return {key: _pack(item) for key, item in value.items()}
    return pack_array(value) if isinstance(value, np.ndarray) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unpack(item) for key, item in value.items()}
    return _owned(value) if isinstance(value, bytes | bytearray) else value


@peer("bson", "bson of pymongo", package="pymongo", note="a document is a dict: the value is wrapped in one")
def _bson(arrays: bool) -> Codec:
    library = import_module("bson")
    names = {"dumps": library.encode, "loads": library.decode, "pack": _pack, "unpack": _unpack}
    if arrays:
        return Codec(names, "dumps({'v': pack(value)})", "unpack(loads(wire)['v'])")
    return Codec(names, "dumps({'v': value})", "loads(wire)['v']")


@peer("ubjson", "py-ubjson (binary JSON)", package="py-ubjson")
def _ubjson(arrays: bool) -> Codec:
    library = import_module("ubjson")
    names = {"dumps": library.dumpb, "loads": library.loadb, "pack": _pack, "unpack": _unpack}
    if arrays:
        return Codec(names, "dumps(pack(value))", "unpack(loads(wire))")
    return Codec(names, "dumps(value)", "loads(wire)")


@peer(
    "marshal",
    "marshal",
    trust="may crash on hostile bytes",
    note="no arrays, no stable format: a floor, not a choice",
)
def _marshal(arrays: bool) -> Codec:
    return Codec({"dumps": marshal.dumps, "loads": marshal.loads}, "dumps(value)", "loads(wire)")


@peer("np.save", "np.save, allow_pickle=False", package="numpy", arrays_only=True)
def _np_save(arrays: bool) -> Codec:
    def save(value: object) -> bytes:
        out = io.BytesIO()
        np.save(out, _array_or_error(value), allow_pickle=False)
        return out.getvalue()

    def load(wire: bytes) -> object:
        return np.load(io.BytesIO(wire), allow_pickle=False)

    return Codec({"save": save, "load": load}, "save(value)", "load(wire)")


@peer("np.savetxt", "np.savetxt", package="numpy", arrays_only=True)
def _np_savetxt(arrays: bool) -> Codec:
    def save(value: object) -> bytes:
        if _array_or_error(value).nbytes > 2 << 20:
            raise ValueError("as text, more than 2 MiB take minutes")
        out = io.BytesIO()
        np.savetxt(out, _array_or_error(value))
        return out.getvalue()

    return Codec(
        {"save": save, "load": lambda wire: np.loadtxt(io.BytesIO(wire))}, "save(value)", "load(wire)"
    )


@peer(
    "safetensors",
    "safetensors",
    package="safetensors",
    arrays_only=True,
    note="a single array is wrapped in a dict; it wants C order",
)
def _safetensors(arrays: bool) -> Codec:
    library = import_module("safetensors.numpy")

    def save(value: object) -> Any:
        tensors = value if isinstance(value, dict) else {"": _array_or_error(value)}
        return library.save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})

    def load(wire: bytes) -> object:
        tensors = library.load(wire)
        return tensors.get("", tensors)

    return Codec({"save": save, "load": load}, "save(value)", "load(wire)")


@peer("pyarrow", "pyarrow IPC tensor", package="pyarrow", against="hookless-view", arrays_only=True)
def _pyarrow(arrays: bool) -> Codec:
    library = import_module("pyarrow")

    def save(value: object) -> Any:
        sink = library.BufferOutputStream()
        library.ipc.write_tensor(library.Tensor.from_numpy(_array_or_error(value)), sink)
        return sink.getvalue()

    def load(wire: Any) -> Any:
        return library.ipc.read_tensor(library.BufferReader(wire)).to_numpy()

    return Codec({"save": save, "load": load}, "save(value)", "load(wire)")


@peer(
    "tolist",
    "ndarray.tolist()",
    package="numpy",
    note="no codec: the floor for making a list of ints or floats",
)
def _tolist(arrays: bool) -> Codec:
    def encode(value: object) -> NdArray:
        if not isinstance(value, list) or {type(item) for item in value} not in ({int}, {float}):
            raise TypeError("not a list of ints or of floats")
        return np.array(value)

    return Codec({"encode": encode}, "encode(value)", "wire.tolist()", DECODE_ONLY)


@peer(
    "memcpy",
    "ndarray.copy()",
    package="numpy",
    arrays_only=True,
    note="no codec: the floor for owning an array",
)
def _memcpy(arrays: bool) -> Codec:
    return Codec({"array": _array_or_error}, "array(value)", "wire.copy('K')", DECODE_ONLY)
