"""A base85 pickle in an event stream.

Wants: code in a host that reads its results from lines of text
Against: asyncio streams, `data:` lines of base85 pickles, a check of opcodes
Since: 0.1
"""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import pickletools

import hookless
from gadgets import carried, code
from harness import call, expose

LINE = b"data: " + json.dumps({"result": base64.b85encode(code()).decode()}).encode() + b"\n\n"
FORBIDDEN = {"INST", "OBJ", "EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"}


async def read(data: bytes) -> object:
    """As a known sandbox reads its children: budgets of length and opcodes, and then pickle."""
    stream = asyncio.StreamReader(limit=524_288)
    stream.feed_data(data)
    stream.feed_eof()
    line = await stream.readline()
    event = json.loads(line.removeprefix(b"data: "))
    pickled = base64.b85decode(event["result"])
    opcodes = [opcode.name for opcode, _, _ in pickletools.genops(pickled)]
    assert len(opcodes) <= 100_000 and not FORBIDDEN & set(opcodes)
    return pickle.loads(pickled)


def victim(data: bytes) -> None:
    asyncio.run(read(data))


def child(line: bytes) -> str:
    """The same line on the standard output of a worker."""
    print(line.decode(), flush=True)
    return "the result"


def peer() -> str:
    assert expose(__name__, LINE).marked
    return "succeeds: within every budget of it"


def ours() -> str:
    assert call(f"{__name__}:child", LINE) == "the result"
    try:
        hookless.Decoder().feed(LINE)
    except hookless.DecodeError as error:
        assert (error.code, error.offset) == ("bad_magic", 0)
    return f"{carried(code(), LINE)}; a line of output is output, and never read as a result"
