"""What this host lacks of all that can be described, and the code of class environment that says so."""

from __future__ import annotations

import array
import json
import sys
import warnings
import zoneinfo
from typing import Any

from describing_numpy import LONG_FORMATS, long_format

__all__ = ["extensions", "lacking_here"]

ZONES = zoneinfo.available_timezones()
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of the type code "u"
    ARRAY_CODES = [[code, array.array(code).itemsize] for code in array.typecodes]


def lacking_here(value: Any) -> str:
    """The code, of class environment, with which this host refuses a described value; else empty."""
    if not isinstance(value, list | dict) or not value:
        return ""
    if isinstance(value, dict):
        return next(filter(None, map(lacking_here, value.values())), "")
    if sys.modules.get("numpy") is not None and past_this_numpy(value, sys.modules["numpy"]):
        return "dtype_unsupported"
    if value[0] == "array" and value[1:3] not in ARRAY_CODES:
        return "dtype_unsupported"
    if value[0] == "ZoneInfo" and value[1] not in ZONES:
        return "zone_unknown"
    return next(filter(None, map(lacking_here, value)), "")


def past_this_numpy(value: Any, numpy: Any) -> bool:
    """What NumPy 1 and the older ml_dtypes for it lack; and long doubles have one format on each machine."""
    if value[0] not in ("ndarray", "element", "masked", "strings"):
        return False
    text = json.dumps(value)
    if any(f"[{name}]" in text for name in LONG_FORMATS - {long_format(numpy)}):
        return True
    if any(f'{order}{name}"' in text for name in extensions(here=False) for order in "|<>"):
        return True
    # NumPy 1 stops at 32 dimensions, NumPy 2 and the wire at 64.
    kind, *rest = value
    empty = any(f'"flags": {flags}, "fields": []' in text for flags in (1, 3))
    old: bool = numpy.__version__.startswith("1.")
    return old and (empty or kind == "strings" or (kind == "ndarray" and len(rest[0]["shape"]) > 32))


# The types of A19.
_EXTENSIONS = [
    *("bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
    *("int1", "uint1", "int2", "uint2", "int4", "uint4", "complex32", "bcomplex32"),
]


def extensions(*, here: bool) -> list[str]:
    """The types of A19 that the ml_dtypes which is loaded has, or those that it does not have."""
    module = sys.modules.get("ml_dtypes")
    return [name for name in _EXTENSIONS if hasattr(module, name) is here]
