"""`hookless inspect`: what lies where in a file of frames, as text or as JSON."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from hookless._hookless import Limits, inspect
from hookless.display import escape_line

__all__ = ["inspect_file"]

_OK, _USAGE, _REFUSED = 0, 2, 3

_HEAD = 32
_MAGIC = b"HKLS"
_KINDS = {
    1: "VALUE",
    2: "HELLO",
    3: "CALL",
    4: "RESULT",
    5: "ERROR",
    6: "ITEM",
    7: "CANCEL",
    8: "CANCELLED",
    9: "CREDIT",
    10: "PROGRESS",
    11: "LOG",
    12: "SHUTDOWN",
}

# Name, first byte, length (proto/frame.md).
_FIELDS = (
    ("magic", 0, 4),
    ("version", 4, 1),
    ("kind", 5, 1),
    ("flags", 6, 2),
    ("call id", 8, 8),
    ("body length", 16, 8),
    ("data length", 24, 8),
)

# Which document of proto/ has the rules of a letter.
_DOCUMENTS = {
    "F": "frame.md",
    "V": "values.md",
    "K": "values.md",
    "A": "arrays.md",
    "R": "records.md",
    "X": "exceptions.md",
    "S": "session.md",
    "L": "limits.md",
}

# Bytes shown before and after the one at fault, and in a row.
_AROUND = 16


@dataclass
class Node:
    """One value. `end` is None where the frame was refused before it was complete."""

    offset: int
    end: int | None
    depth: int
    kind: str
    text: str
    label: str


@dataclass
class Slot:
    """One entry of the data region, with the zero bytes before it."""

    offset: int
    length: int
    padding: int
    owner: str


@dataclass
class Refusal:
    """Why a frame is refused. The offset counts from the frame's first byte."""

    code: str
    offset: int
    path: str
    message: str


class _Inspected:
    """One frame, or what was taken for one."""

    def __init__(self, data: bytes, start: int, limits: Limits, most: int) -> None:
        found = inspect(data, start, limits=limits, most=most)
        length, nodes, self.values, slots, self.entries, error = found
        self.start = start
        self.nodes = [Node(*one) for one in nodes]
        self.slots = [Slot(*one) for one in slots]
        self.error = None if error is None else Refusal(*error)
        self.length = len(data) - start if length is None else min(length, len(data) - start)
        # Past a head that is refused, nobody knows where the next frame begins.
        self.end = None if length is None else start + length
        self.frame = data[start : start + self.length]


def inspect_file(options: argparse.Namespace) -> int:
    """Show a file of frames; return the exit status."""
    try:
        limits = _limits(options.limits)
        if options.frame == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(options.frame, "rb") as file:
                data = file.read()
    except OSError as error:
        sys.stderr.write(f"hookless: cannot read {options.frame}: {error.strerror}\n")
        return _USAGE
    except ValueError as error:
        sys.stderr.write(f"hookless: {error}\n")
        return _USAGE
    status = _OK
    if options.json:
        sys.stdout.write("[")
    for number, frame in enumerate(_frames(data, limits, options.most)):
        if options.json:
            sys.stdout.write(",\n" * (number > 0) + json.dumps(_as_json(frame)))
        else:
            sys.stdout.write("\n".join(_lines(number, frame)) + "\n")
        status = status if frame.error is None else _REFUSED
    if options.json:
        sys.stdout.write("]\n")
    return status


def _limits(given: list[str]) -> Limits:
    """Read the values of --limits. Raises ValueError that names what there is."""
    found = {}
    for one in given:
        name, _, text = one.partition("=")
        if name not in Limits.TABLE:
            raise ValueError(f"--limits {one}: the limits are {', '.join(Limits.TABLE)}")
        try:
            found[name] = int(text)
        except ValueError:
            raise ValueError(
                f"--limits {one}: write NAME=VALUE, such as {name}={Limits.TABLE[name][0]}"
            ) from None
    return Limits(**found)


def _frames(data: bytes, limits: Limits, most: int) -> Iterator[_Inspected]:
    """Inspect one frame after the other, up to the end or to where the next one cannot be found."""
    end: int | None = 0
    while end is not None and (end == 0 or end < len(data)):
        found = _Inspected(data, end, limits, most)
        end = found.end
        if end is not None and end < len(data) and not _MAGIC.startswith(data[end : end + 4]):
            # This rule comes before the content of the frame (F14).
            message = f"bytes after the end, and they begin no further frame (F14): {len(data) - end} bytes"
            found.error = Refusal("trailing_bytes", end - found.start, "", message)
            found.frame = data[found.start :]
            end = None
        yield found


def _lines(number: int, found: _Inspected) -> Iterator[str]:
    yield f"frame {number}, {found.length} bytes from byte {found.start} of the file"
    yield "  head"
    # Bytes that are no frame have no fields.
    fields = _FIELDS if found.frame.startswith(_MAGIC) else _FIELDS[:1]
    for name, at, length in fields:
        field = found.frame[at : at + length]
        if len(field) == length:
            yield f"{at:>10} {length:>8}  {name:<11} {_field(name, field)}"
    if found.nodes:
        yield "  body     bytes"
    for node, label in _labelled(found.nodes):
        yield f"{node.offset:>10} {_size(node):>8}  {'  ' * node.depth}{label}{_words(node)}"
    if found.values > len(found.nodes):
        yield f"{'':>21}… {found.values} values in all; --most shows more"
    if found.slots:
        yield "  data region"
        yield "    slot     offset     length  padding  of"
    for index, slot in enumerate(found.slots):
        yield f"{index:>8} {slot.offset:>10} {slot.length:>10} {slot.padding:>8}  {slot.owner}"
    if found.entries > len(found.slots):
        yield f"          … {found.entries} entries in all; --most shows more"
    if found.error is not None:
        yield from _fault(found, found.error)


def _field(name: str, field: bytes) -> str:
    if name == "magic":
        return repr(field)[1:]
    value = int.from_bytes(field)
    return f"{value} {_KINDS.get(value, '(unknown)')}" if name == "kind" else str(value)


def _size(node: Node) -> str:
    return "?" if node.end is None else str(node.end - node.offset)


def _words(node: Node) -> str:
    """Say what a node is. Its text is the sender's."""
    if not node.kind:
        return "(not read)"
    words = f"{node.kind} {_text(node)}".rstrip()
    return words if node.end is not None else f"{words} (not complete)"


def _text(node: Node) -> str:
    return escape_line(repr(node.text) if node.kind.startswith("str") else node.text)


def _labelled(nodes: list[Node]) -> Iterator[tuple[Node, str]]:
    """Yield each node with its place in its container: an index, a key's value, a part of an exception."""
    # Kind of the container open at each depth, and how many of its items came before.
    kinds: list[str] = []
    counts: list[int] = []
    for node in nodes:
        del kinds[node.depth + 1 :], counts[node.depth + 1 :]
        place = counts[node.depth] if node.depth < len(counts) else 0
        parent = kinds[node.depth - 1] if 0 < node.depth <= len(kinds) else ""
        label = ""
        if node.label:
            label = f"{escape_line(node.label)} "
        elif parent == "dict":
            label = f"key {place // 2} " if place % 2 == 0 else "value "
        elif parent in ("list", "tuple", "array of objects"):
            label = f"[{place}] "
        yield node, label
        if node.depth < len(counts):
            counts[node.depth] += 1
            kinds[node.depth] = node.kind
        else:
            counts.append(1)
            kinds.append(node.kind)


def _fault(found: _Inspected, error: Refusal) -> Iterator[str]:
    """Show the byte at fault, those around it, and where its rule stands."""
    place = f" in {escape_line(error.path)}" if error.path else ""
    yield f"  refused: {error.code} at byte {error.offset}{place}"
    yield f"    {escape_line(error.message)}"
    if found.start:
        yield f"    byte {found.start + error.offset} of the file"
    yield from _window(found.frame, error.offset)
    yield f"    rule: {', '.join(_documents(error))}"
    name = _limit_of(error.code)
    if name:
        default, ceiling = Limits.TABLE[name]
        yield f"    limit: {name} is {default} by default; --limits {name}=… takes up to {ceiling}"


def _window(frame: bytes, offset: int) -> Iterator[str]:
    """Show the bytes before and after one, 16 in a row, with a caret below it."""
    begin = max(0, offset - _AROUND) // _AROUND * _AROUND
    for at in range(begin, max(1, min(len(frame) + 1, offset + _AROUND + 1)), _AROUND):
        row = frame[at : at + _AROUND]
        letters = "".join(chr(one) if 32 <= one < 127 else "." for one in row)
        yield f"    {at:>8}  {row.hex(' '):<47}  {letters}"
        if at <= offset < at + _AROUND:
            end = " the bytes end here" if offset >= len(frame) else ""
            yield f"              {'   ' * (offset - at)}^^{end}"


def _documents(error: Refusal) -> list[str]:
    """Return the documents of the rules that an error's sentence names, in the project's folder proto/."""
    rules = re.findall(r"\b([A-Z])\d+", error.message.partition(": ")[0])
    found = dict.fromkeys(f"proto/{_DOCUMENTS[letter]}" for letter in rules if letter in _DOCUMENTS)
    return [*found, f"proto/errors.md ({error.code})"]


def _limit_of(code: str) -> str:
    """Return the limit that a code is about: `node_limit` is that of `nodes`."""
    stem, is_limit, _ = code.partition("_limit")
    return next((name for name in Limits.TABLE if name.startswith(stem)), "") if is_limit else ""


def _as_json(found: _Inspected) -> dict[str, Any]:
    head = {
        name.replace(" ", "_"): int.from_bytes(found.frame[at : at + length])
        for name, at, length in _FIELDS[1:]
        if len(found.frame) >= at + length
    }
    error = None
    if found.error is not None:
        window = found.frame[max(0, found.error.offset - _AROUND) : found.error.offset + _AROUND + 1]
        error = {**asdict(found.error), "documents": _documents(found.error), "around": window.hex()}
    return {
        "start": found.start,
        "length": found.length,
        "head": head,
        "values": found.values,
        "body": [asdict(one) for one in found.nodes],
        "entries": found.entries,
        "region": [asdict(one) for one in found.slots],
        "error": error,
    }
