"""Exceptions that are hard to send: odd constructors, odd attributes, odd text. Run in a child and here."""

from __future__ import annotations

import argparse
import asyncio
import binascii
import builtins
import configparser
import contextlib
import csv
import dataclasses
import decimal
import getopt
import http.client
import json
import netrc
import os
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import threading
import tokenize
import tomllib
import urllib.error
import xml.etree.ElementTree as ElementTree
import xmlrpc.client
import zipfile
from collections.abc import Callable
from typing import Any, NoReturn

CORPUS: dict[str, Callable[[], object]] = {}


def hard(function: Callable[[], object]) -> Callable[[], object]:
    CORPUS[function.__name__] = function
    return function


def provoke(name: str) -> object:
    """Do what raises the exception of that name."""
    return CORPUS[name]()


class KeywordOnly(Exception):
    def __init__(self, *, code: int) -> None:
        self.code = code
        self.lock = threading.Lock()
        self.table = {"a": (1, 2.5)}


class TwoArguments(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a}{b}")


class Trimmed(OSError):
    """As plumbum has it: an OSError of four arguments."""

    def __init__(self, argv: str, code: int, out: bytes, err: bytes) -> None:
        super().__init__(argv, code, out, err)
        self.returncode = code


class LockTimeout(Exception):
    """As filelock has it: the path is no argument."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __str__(self) -> str:
        return f"the lock {self.path} is taken"


class AsksItsArgument(Exception):
    def __init__(self, other: Any) -> None:
        super().__init__(other.two)


class HoldsAnother(OSError):
    def __init__(self) -> None:
        super().__init__(111, "refused")
        self.os_error = OSError(1, "x")
        self.connection, other = socket.socketpair()
        self.connection.close()
        other.close()


class BadText(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


class InterruptsWhenShown(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt

    __repr__ = __str__


class Leaves(Exception):
    def __str__(self) -> str:
        raise SystemExit(9)


class Liar(Exception):
    """Its class, its attributes and its metaclass answer with failures."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise KeyError("class")

    @property
    def __notes__(self) -> Any:  # type: ignore[override]
        raise KeyError("notes")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise KeyError("dict")

    def __getattribute__(self, name: str) -> Any:
        raise KeyError(name)


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise KeyError(name)

    def mro(cls) -> list[type]:
        return super().mro()


class MetaLiar(Exception, metaclass=Meta):
    pass


class Unsendable:
    def __repr__(self) -> str:
        raise ValueError("no repr")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class RequestException(OSError):
    """As requests has it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.response = kwargs.pop("response", None)
        self.request = kwargs.pop("request", None)
        super().__init__(*args, **kwargs)


class ClientError(Exception):
    """As botocore has it: two arguments that make one text, and a dict."""

    MSG_TEMPLATE = "An error occurred ({code}) when calling the {name} operation"

    def __init__(self, response: dict[str, Any], operation: str) -> None:
        super().__init__(self.MSG_TEMPLATE.format(code=response["Error"]["Code"], name=operation))
        self.response, self.operation_name = response, operation

    def __reduce__(self) -> Any:
        raise TypeError("not this way")


class DataNotFoundError(Exception):
    """As botocore has it: everything by keyword."""

    fmt = "Unable to load data for: {data_path}"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(self.fmt.format(**kwargs))
        self.kwargs = kwargs


class ValidationError(ValueError):
    """As pydantic has it: no constructor at all, and errors by a method."""

    def __new__(cls, *args: Any) -> ValidationError:
        if not args:
            raise TypeError("No constructor defined")
        return super().__new__(cls)

    def __init__(self, title: str, lines: list[dict[str, Any]]) -> None:
        self.title = title
        self._lines = lines

    def errors(self) -> list[dict[str, Any]]:
        return self._lines

    def __str__(self) -> str:
        return f"{len(self._lines)} validation error for {self.title}\nx\n  Input should be a valid integer"


class ParserError(ValueError):
    """As pandas has it."""


class AxisError(ValueError, IndexError):
    """As NumPy has it: two builtin bases, and slots for what it keeps."""

    __slots__ = ("_msg", "axis", "ndim")

    def __init__(self, axis: int, ndim: int) -> None:
        self.axis, self.ndim, self._msg = axis, ndim, None

    def __str__(self) -> str:
        return f"axis {self.axis} is out of bounds for array of dimension {self.ndim}"


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    value: int


def throw(error: BaseException) -> NoReturn:
    raise error


@hard
def json_decode() -> object:
    return json.loads('{"a": ')


@hard
def json_of_much() -> object:
    return json.loads("[" + "1," * 100_000)


@hard
def no_such_file() -> object:
    os.rename("no-such-a", "no-such-b")
    return None


@hard
def no_such_bytes() -> object:
    return os.stat(b"no-such-\xff")


@hard
def written() -> NoReturn:
    raise BlockingIOError(11, "would block", 7)


@hard
def connection_refused() -> NoReturn:
    raise ConnectionRefusedError(111, "Connection refused")


@hard
def called_process() -> NoReturn:
    raise subprocess.CalledProcessError(1, ["cmd"], b"out", b"err")


@hard
def expired() -> NoReturn:
    raise subprocess.TimeoutExpired(["cmd"], 2.5)


@hard
def http_error() -> NoReturn:
    raise urllib.error.HTTPError("http://u", 404, "not found", None, None)  # type: ignore[arg-type]


@hard
def too_short() -> NoReturn:
    raise urllib.error.ContentTooShortError("short", ("file", http.client.HTTPMessage()))


@hard
def incomplete_read() -> NoReturn:
    raise http.client.IncompleteRead(b"abc", 7)


@hard
def xmlrpc_protocol() -> NoReturn:
    raise xmlrpc.client.ProtocolError("h", 500, "internal", {})


@hard
def xmlrpc_fault() -> NoReturn:
    raise xmlrpc.client.Fault(4, "too many parameters")


@hard
def xml_parse() -> object:
    return ElementTree.fromstring("<a><b></a>")


@hard
def toml_decode() -> object:
    return tomllib.loads("a = [")


@hard
def config_parse() -> object:
    configparser.ConfigParser().read_string("[a]\nx\ny = 1\n")
    return None


@hard
def config_missing() -> object:
    return configparser.ConfigParser().get("section", "option")


@hard
def bad_pattern() -> object:
    return re.compile("(")


@hard
def bad_struct() -> object:
    return struct.unpack("<I", b"1")


@hard
def bad_csv() -> object:
    return csv.reader("a", dialect="no such dialect")


@hard
def bad_sql() -> object:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        return connection.execute("select")


@hard
def bad_base64() -> object:
    return binascii.a2b_base64("a")


@hard
def bad_zip() -> NoReturn:
    raise zipfile.BadZipFile("File is not a zip file")


@hard
def bad_decimal() -> object:
    return decimal.Decimal("x")


@hard
def bad_netrc() -> NoReturn:
    raise netrc.NetrcParseError("bad follower token", "/home/x/.netrc", 3)


@hard
def bad_option() -> object:
    return getopt.getopt(["--no"], "a")


@hard
def bad_argument() -> NoReturn:
    raise argparse.ArgumentError(argparse.ArgumentParser().add_argument("-x"), "invalid")


@hard
def bad_tokens() -> NoReturn:
    raise tokenize.TokenError("EOF in multi-line statement", (2, 0))


@hard
def copies_failed() -> NoReturn:
    raise shutil.Error([("a", "b", "no"), ("c", "d", "no")])


@hard
def no_address() -> NoReturn:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@hard
def incomplete_stream() -> NoReturn:
    raise asyncio.IncompleteReadError(b"abc", None)


@hard
def overrun() -> NoReturn:
    raise asyncio.LimitOverrunError("chunk", 5)


@hard
def cancelled() -> NoReturn:
    raise asyncio.CancelledError("gone")


@hard
def frozen_instance() -> object:
    @dataclasses.dataclass(frozen=True)
    class Point:
        x: int

    point: Any = Point(1)
    point.x = 2
    return point


@hard
def not_python() -> object:
    return compile("a b", "<s>", "exec")


@hard
def not_indented() -> object:
    return compile("if 1:\npass", "<s>\x1b[31m", "exec")


@hard
def not_utf8() -> object:
    return b"ab\xff".decode()


@hard
def not_encodable() -> object:
    return "ab\ud800".encode()


@hard
def not_encodable_and_long() -> object:
    return ("x" * 100_000 + "\ud800").encode()


@hard
def not_translatable() -> NoReturn:
    raise UnicodeTranslateError("abc", 1, 2, "why")


@hard
def no_attribute() -> object:
    return Unsendable().missing


@hard
def no_such_name() -> object:
    return eval("print_itt")


@hard
def no_such_module() -> object:
    return __import__("no_such_module_at_all")


@hard
def no_such_import() -> object:
    exec("from os import no_such_thing")
    return None


# In the style of packages that are not everywhere.
@hard
def requests_style() -> NoReturn:
    raise RequestException("timed out", request=Unsendable(), response=None)


@hard
def botocore_style() -> NoReturn:
    raise ClientError({"Error": {"Code": "NoSuchBucket", "Message": "gone"}}, "GetObject")


@hard
def botocore_keywords() -> NoReturn:
    raise DataNotFoundError(data_path="s3/2006")


@hard
def pydantic_style() -> NoReturn:
    raise ValidationError("Model", [{"type": "int_parsing", "loc": ("x",), "input": Unsendable()}])


@hard
def pandas_style() -> NoReturn:
    raise ParserError("Error tokenizing data. C error: Expected 2 fields in line 3, saw 5\n")


@hard
def numpy_style() -> NoReturn:
    raise AxisError(2, 1)


# Made to be hard.
@hard
def keyword_only() -> NoReturn:
    raise KeywordOnly(code=7)


@hard
def two_arguments() -> NoReturn:
    raise TwoArguments(1, 2)


@hard
def trimmed() -> NoReturn:
    raise Trimmed("argv", 3, b"out", b"err")


@hard
def lock_timeout() -> NoReturn:
    raise LockTimeout("/var/lock/x")


@hard
def asks_its_argument() -> NoReturn:
    class Other:
        two = 2

    raise AsksItsArgument(Other())


@hard
def holds_another() -> NoReturn:
    raise HoldsAnother


@hard
def bad_text() -> NoReturn:
    raise BadText("kept", 5)


@hard
def interrupts_when_shown() -> NoReturn:
    raise InterruptsWhenShown(Unsendable())


@hard
def leaves_when_shown() -> NoReturn:
    raise Leaves


@hard
def liar() -> NoReturn:
    raise Liar("kept")


@hard
def meta_liar() -> NoReturn:
    raise MetaLiar("kept")


@hard
def frozen() -> NoReturn:
    raise Frozen(5)


@hard
def itself() -> NoReturn:
    error: Any = KeyError("x")
    error.self = error
    error.args = (error,)
    raise error


@hard
def bad_cause() -> NoReturn:
    raise KeyError("outer") from BadText(threading.Lock())


@hard
def notes_of_all_kinds() -> NoReturn:
    class Text(str):
        extra = 1

    error = KeyError("x")
    error.add_note(Text("own kind of text"))
    error.add_note("n" * 10_000_000)
    error.__notes__ += [1, None, Unsendable()]  # type: ignore[list-item]
    raise error


@hard
def strange_text() -> NoReturn:
    raise ValueError("caf\u00e9 \u6f22\u5b57 \udcff \x00 \x1b[31m \u202e\u200b\nTraceback: forged")


@hard
def posing() -> NoReturn:
    """Says that it is a builtin."""

    class ValueError(Exception):
        pass

    ValueError.__module__, ValueError.__qualname__ = "builtins", "ValueError"
    raise ValueError("posing")


@hard
def deep_recursion() -> object:
    return deep_recursion()


@hard
def mutual_recursion() -> object:
    def one() -> object:
        return two()

    def two() -> object:
        return one()

    return one()


@hard
def group() -> NoReturn:
    inner = ExceptionGroup("inner", [ValueError(1), KeyError("k")])
    raise ExceptionGroup("outer", [inner, OSError(2, "m", "f"), RequestException("r")])


@hard
def mixed_group() -> NoReturn:
    raise BaseExceptionGroup("mixed", [KeyboardInterrupt(), ValueError(1)])


@hard
def long_chain() -> NoReturn:
    error: Exception = ValueError(0)
    for number in range(200):
        following = KeyError(number)
        following.__cause__, following.__context__ = error, error
        error = following
    raise error


@hard
def outside_the_set() -> NoReturn:
    raise ValueError("kept", object(), {"a": [lambda: 1]}, Unsendable(), builtins)
