"""`hookless inspect`: what lies where, in whole frames and in refused ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookless
import naive
from describing import expand
from hookless.cli import main
from test_vectors import VECTORS, Vector, vectors, wrapped

Show = Any


@pytest.fixture
def show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Show:
    """Write bytes to a file and inspect it: status and what was printed."""

    def run(data: bytes, *options: str) -> tuple[int, str]:
        file = tmp_path / "some.frame"
        file.write_bytes(data)
        return main(["inspect", str(file), *options]), capsys.readouterr().out

    return run


def limits_of(vector: Vector) -> list[str]:
    names = hookless.Limits.TABLE
    return [f"--limits={name}={getattr(vector.limits, name)}" for name in names]


@pytest.mark.parametrize("entry", ["decode", "push"])
def test_every_refusal_names_code_and_byte(show: Show, entry: str) -> None:
    """All reject vectors: no crash, and the verdict of whole-frame decoding (F14)."""
    count = 0
    for parameter in vectors("reject", entry):
        vector: Vector = parameter.values[0]
        expected = f"refused: {vector.code} at byte {vector.offset}"
        further = vector.code == "trailing_bytes" and vector.frame[vector.offset :].startswith(b"HKLS")
        if further or (vector.code == "unknown_frame_kind" and 1 < vector.frame[5] <= naive.SHUTDOWN):
            # A further frame, or one of a session, which a file may hold.
            assert show(vector.frame, *limits_of(vector))[0] == 0
            continue
        status, text = show(vector.frame, *limits_of(vector))
        short = f"refused: truncated at byte {len(vector.frame)}"
        assert status == 3
        assert f"{expected} in $" in text or f"{expected}\n" in text or short in text, (parameter.id, text)
        assert "rule: proto/" in text and "^^" in text
        found = json.loads(show(vector.frame, *limits_of(vector), "--json")[1])
        assert found[0]["error"]["code"] in (vector.code, "truncated")
        assert all(
            (VECTORS.parent.parent / one.split(" ")[0]).is_file() for one in found[0]["error"]["documents"]
        )
        count += 1
    assert count > 400


def test_every_accepted_vector_is_shown_whole(show: Show) -> None:
    """All accept vectors: status 0, and each value complete."""
    for parameter in vectors("accept", "push"):
        vector: Vector = parameter.values[0]
        status, text = show(vector.frame, *limits_of(vector), "--json")
        assert status == 0, (parameter.id, text)
        (found,) = json.loads(text)
        body = found["body"]
        assert body[0]["offset"] == 32 and body[0]["end"] == 32 + found["head"]["body_length"], parameter.id
        assert all(one["kind"] and one["end"] is not None for one in body), parameter.id
        assert all(one["offset"] < one["end"] for one in body), parameter.id


def test_tree_and_region_map(show: Show) -> None:
    big = bytes(20_000)
    status, text = show(hookless.dumps({"rows": [1, "two"], "data": big, ("k", 1): bytearray(big)}))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert status == 0
    assert "32 44 dict of 3" in lines
    assert "33 5 key 0 str 'rows'" in lines
    assert "38 6 value list of 2" in lines
    assert "40 4 [1] str 'two'" in lines
    assert "49 10 value bytes of 20000 in slot 0" in lines
    # The second entry begins 20 000 bytes and the zeros to the next multiple of 64 after the first.
    assert "0 128 20000 52 bytes" in lines
    assert "1 20160 20000 32 bytearray" in lines


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("masked masked-hard", "masked array <i4 (2,), data bytes 8, mask bytes 2, hard mask"),
        (
            "masked masked-in-the-region",
            "masked array |u1 (16384,), data bytes 16384 in slot 0, mask bytes 16384 in slot 1",
        ),
        ("flat objects-2x2-F", "array of objects (2, 2) F order"),
        ("flat objects", "[3] float 2.5"),
        ("flat strings-missing-is-None", "array of texts (2,), a, missing"),
        ("numbered scalar-bfloat16", "NumPy scalar <bfloat16 803f"),
        ("numbered g-x87", "ndarray <g[x87] (1,), bytes 16"),
        ("structures recarray", "ndarray |V4 (1,) recarray, bytes 4"),
    ],
)
def test_kinds_of_arrays(show: Show, name: str, shown: str) -> None:
    """Each is named, with its parts."""
    (vector,) = (one.values[0] for one in vectors("accept", "decode") if one.id == name.replace(" ", "-", 1))
    status, text = show(vector.frame)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert status == 0
    assert any(line.endswith(shown) for line in lines), text


def test_exceptions_show_texts_links_and_values(show: Show) -> None:
    cause = hookless.Failure("builtins", "KeyError", ("builtins.LookupError",), "'a'", ("a",))
    failure = hookless.Failure(
        "app", "Bad", ("builtins.ValueError",), "m", (1,), fields={"f": 2}, cause=cause
    )
    _, text = show(hookless.dumps([hookless.RemoteError(failure)]))
    assert "[0] exception of 2, !0.cause is !1" in text
    for part in ("!0.qualname str 'Bad'", "!0.args[0] int 1", "!0.f int 2", "!1.message str \"'a'\""):
        assert part in text


def test_records_show_their_class_and_the_names_of_fields(show: Show) -> None:
    point = hookless.NamedRecord("app", "Point", {"x": 1, "y z": [2]})
    value = [hookless.Record("app", "User", {"at": point}), hookless.EnumValue("app", "Color", "RED", 3)]
    _, text = show(hookless.dumps([*value, hookless.EnumValue("app", "Color", None, 4)]))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for part in (
        "[0] record of 1: app.User",
        ".at named record of 2: app.Point",
        ".x int 1",
        ".y z list of 1",
        "[1] enum member app.Color: RED",
        ".value int 3",
        "[2] enum member app.Color without a name",
    ):
        assert any(line.endswith(part) for line in lines), (part, text)


def test_a_refused_record_is_named(show: Show) -> None:
    for value, name in (
        (hookless.Record("m", "Q", {"x": "abc"}), "record"),
        (hookless.NamedRecord("m", "Q", {"x": "abc"}), "named record"),
        (hookless.EnumValue("m", "Q", None, "abc"), "enum member"),
    ):
        frame = bytearray(hookless.dumps([value]))
        frame[-1] = 0xFF
        status, text = show(bytes(frame))
        assert status == 3
        assert f"[0] {name}" in " ".join(text.split())


def test_a_refused_frame_is_shown_as_far_as_it_goes(show: Show) -> None:
    frame = bytearray(hookless.dumps({"rows": [1, {"x": "abc"}], "n": 5}))
    at = frame.index(b"abc")
    frame[at] = 0xFF
    status, text = show(bytes(frame))
    assert status == 3
    assert f"refused: bad_utf8 at byte {at} in $.rows[1].x" in text
    assert "key 0 str 'rows'" in text and "[0] int 1" in text and "value (not read)" in text
    row, caret = text[: text.index("^^")].splitlines()[-2:]
    assert row[len(caret) : len(caret) + 2] == "ff"
    assert "proto/values.md" in text


def test_a_limit_is_named_with_its_option(show: Show) -> None:
    frame = hookless.dumps([[[[1]]]])
    status, text = show(frame, "--limits", "depth=3")
    assert status == 3 and "--limits depth=…" in text and "proto/limits.md" in text
    assert show(frame)[0] == 0


def test_each_limit_code_leads_to_its_limit() -> None:
    from hookless._inspect import _limit_of

    text = (VECTORS.parent / "errors.md").read_text()
    codes = [line.split("`")[1] for line in text.splitlines() if "_limit`" in line]
    found = {code: _limit_of(code) for code in codes}
    # These two are fixed.
    assert (found.pop("region_entry_limit"), found.pop("open_call_limit")) == ("", "")
    # `dtype_limit` is that of two: the fields, and how deep they nest.
    assert sorted([*found.values(), "dtype_depth"]) == sorted(hookless.Limits.TABLE)


def test_the_kinds_of_frames_are_those_of_the_document(show: Show) -> None:
    """F3: each is shown by its name."""
    from hookless._inspect import _KINDS

    rows = (VECTORS.parent / "frame.md").read_text().split("## Frame kinds")[1].splitlines()
    cells = [[cell.strip() for cell in row.split("|")] for row in rows if row.startswith("| ")]
    named = {int(row[1]): row[2] for row in cells if row[1].isdecimal()}
    assert named == _KINDS and len(named) == 12
    status, text = show(naive.frame(b"\x91\x07", kind=naive.CREDIT, call_id=3))
    assert status == 0 and "9 CREDIT" in text and "int 7" in text
    status, text = show(naive.frame(b"\x91\x00", kind=naive.CREDIT, call_id=3))
    assert status == 3 and "bad_control at byte 32" in text and "session.md" in text


def test_several_frames(show: Show) -> None:
    """Also of a session; a refused one does not hide those after it."""
    hello = b"HKLS\x01\x02" + bytes(10) + (12).to_bytes(8) + bytes(8)
    bad = wrapped(b"\xc1", b"")
    status, text = show(hookless.dumps(1) + bad + hookless.dumps("last"))
    assert status == 3
    assert text.count("frame ") == 3 and "byte 65 of the file" in text and "str 'last'" in text
    assert show(hello[:10])[0] == 3


def test_bytes_after_the_last_frame(show: Show) -> None:
    status, text = show(hookless.dumps(1) + b"\n")
    assert status == 3 and "trailing_bytes at byte 33" in text


def test_a_pickle(show: Show) -> None:
    status, text = show(b"\x80\x04]\x94.")
    assert status == 3 and "looks like a pickle" in text and "version" not in text


def test_what_the_sender_chose_is_escaped(show: Show) -> None:
    status, text = show(hookless.dumps({"\x1b[31m": "a\u202eb", "b": b"\x1b", "\u3164": "\x9b"}))
    assert status == 0
    assert text.replace("\n", "").isprintable() and "\u3164" not in text


def test_many_values_are_capped(show: Show) -> None:
    status, text = show(hookless.dumps(list(range(1000))), "--most", "5")
    assert status == 0 and "1001 values in all" in text and len(text.splitlines()) < 20


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.frame"
    file.write_bytes(hookless.dumps(1))
    for arguments, said in (
        ([str(tmp_path / "none")], "No such file"),
        ([str(file), "--limits", "dept=1"], "the limits are depth"),
        ([str(file), "--limits", "depth=x"], "depth=128"),
        ([str(file), "--limits", "depth=9999"], "0 to 512"),
    ):
        assert main(["inspect", *arguments]) == 2
        assert said in capsys.readouterr().err


def test_standard_input() -> None:
    command = [sys.executable, "-m", "hookless", "inspect", "-", "--json"]
    done = subprocess.run(command, input=hookless.dumps([1]), stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout)[0]["values"] == 2


def test_a_described_body_of_the_vectors_can_be_cut_anywhere(show: Show) -> None:
    """Each prefix of a frame is shown, and called truncated at its end."""
    frame = wrapped(expand("82 a161 93010203 a162 9ad40101*1 c0*9"), b"")
    for cut in range(len(frame)):
        status, text = show(frame[:cut])
        assert status == 3 and f"truncated at byte {cut}\n" in text
