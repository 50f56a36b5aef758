"""Cases C089 to C115: exceptions as people really lose them between processes."""

from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import hookless
from hookless import RemoteError, Worker, dumps, loads
from hookless._show import failure_as_json
from test_exceptions import arrive, caught

CHILDREN = __file__.rpartition("/")[0] + "/children"
sys.path.insert(0, CHILDREN)
import hard  # noqa: E402 (in the folder of what children import)

sys.path.remove(CHILDREN)
CORPUS = hard.CORPUS


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(paths=[CHILDREN], isolation="none") as running:
        yield running


def failure(worker: Worker, target: str, *args: object) -> RemoteError:
    with pytest.raises(RemoteError) as found:
        worker.call(target, *args)
    return found.value


def provoked(worker: Worker, name: str) -> RemoteError:
    """The exception of the corpus as it comes from a child, which has the same text as it has here."""
    return failure(worker, "hard:provoke", name)


def fields(error: RemoteError) -> dict[str, Any]:
    return dict(error.remote.fields)


def test_c089_file_names_of_os_errors(worker: Worker) -> None:
    """What an OSError keeps beside its args, and on the object where it is an OSError here."""
    error: Any = arrive(OSError(2, "m", "f"))
    assert isinstance(error, FileNotFoundError)
    assert (error.errno, error.strerror, error.filename, error.filename2) == (2, "m", "f", None)
    error = provoked(worker, "no_such_file")
    assert (error.errno, error.filename, error.filename2) == (2, "no-such-a", "no-such-b")
    assert str(error) == "[Errno 2] No such file or directory: 'no-such-a' -> 'no-such-b'"
    error = provoked(worker, "no_such_bytes")
    assert error.filename == b"no-such-\xff"
    error = provoked(worker, "written")
    assert fields(error)["characters_written"] == 7
    assert not isinstance(
        error, OSError
    )  # design.md 6: a BlockingIOError is plain, and keeps all in `remote`.


def test_c090_json_decode_error(worker: Worker) -> None:
    """With its attributes, of which a long document is cut; and the child serves the next call."""
    error = provoked(worker, "json_decode")
    assert isinstance(error, ValueError) and error.remote.type_name == "json.decoder.JSONDecodeError"
    assert fields(error) == {"msg": "Expecting value", "doc": '{"a": ', "pos": 6, "lineno": 1, "colno": 7}
    error = provoked(worker, "json_of_much")
    assert fields(error)["doc"] == ("[" + "1," * 100_000)[:4096]
    assert "fields.doc" in error.remote.cut and fields(error)["pos"] == 200_001
    assert worker.call("jobs:add", 1) == 2


def test_c091_the_users_class_is_reported(worker: Worker) -> None:
    """A class whose constructor cannot be called again is no failure of hookless."""
    error = provoked(worker, "lock_timeout")
    assert (error.remote.type_name, str(error)) == ("hard.LockTimeout", "the lock /var/lock/x is taken")
    assert not isinstance(error, hookless.HooklessError)


def test_c092_nothing_is_kept_alive() -> None:
    """Thirty failures with a large local each, in a child that has room for three; no frames here."""
    with Worker(paths=[CHILDREN], isolation="none", memory=None) as worker:
        worker.call("failing:bound_memory", 700)
        for _ in range(30):
            error = failure(worker, "failing:with_memory", 200)
            assert error.remote.args == ("with a large local", 200 << 20)
            assert error.__cause__ is None and error.__context__ is None


def test_c093_keyword_only_constructor(worker: Worker) -> None:
    """Attributes of the closed set are carried, others by name only."""
    error = provoked(worker, "keyword_only")
    assert fields(error) == {"code": 7, "table": {"a": (1, 2.5)}}
    assert error.remote.cut == ("fields.lock",)


def test_c094_os_error_with_a_constructor_of_its_own(worker: Worker) -> None:
    """The args as they are stored, and what is there beside them."""
    error = provoked(worker, "trimmed")
    assert error.remote.args == ("argv", 3)
    assert fields(error)["returncode"] == 3 and fields(error)["errno"] == "argv"
    assert isinstance(error, OSError) and error.errno is None  # no errno of that type
    error = provoked(worker, "called_process")
    assert error.remote.args == (1, ["cmd"], b"out", b"err")
    assert fields(error) == {"returncode": 1, "cmd": ["cmd"], "output": b"out", "stderr": b"err"}


def test_c095_traceback_of_every_class(worker: Worker) -> None:
    """File, line, function and source text, of a class that only the child has."""
    frames = failure(worker, "failing:three_deep").remote.frames
    assert [frame.function for frame in frames] == ["three_deep", "first", "second"]
    assert (frames[-1].source or "").strip() == 'raise Own("own class")'
    assert frames[-1].file.endswith("failing.py") and frames[-1].line


def test_c096_circular_reference(worker: Worker) -> None:
    """Cut, and named."""
    error = provoked(worker, "itself")
    assert error.remote.qualname == "KeyError"
    assert {"args[0]", "fields.self"} <= set(error.remote.cut)


@pytest.mark.parametrize("name", ["bad_text", "interrupts_when_shown", "leaves_when_shown"])
def test_c097_str_or_repr_raises(worker: Worker, name: str) -> None:
    """Whatever it raises; the args are carried by themselves."""
    error = provoked(worker, name)
    assert "unprintable" in error.remote.message and "message" in error.remote.cut
    if name == "bad_text":
        assert error.remote.args == ("kept", 5)
    assert worker.call("jobs:add", 1) == 2


def test_c098_bad_cause(worker: Worker) -> None:
    """The outer exception is whole; the cause says what went wrong with it."""
    remote = provoked(worker, "bad_cause").remote
    assert (remote.message, remote.args, remote.cut) == ("'outer'", ("outer",), ())
    assert remote.cause is not None and remote.cause.qualname == "BadText"
    assert "ZeroDivisionError" in remote.cause.message and remote.cause.cut == ("message", "args[0]")


def test_c099_explicit_cause(worker: Worker) -> None:
    """With its own traceback, as an exception here, and the flag."""
    error = failure(worker, "jobs:fail_with_cause")
    cause = error.__cause__
    assert isinstance(cause, RemoteError) and isinstance(cause, KeyError)
    assert cause.remote is error.remote.cause
    assert cause.remote.frames[-1].function == "fail_with_cause"
    assert error.__suppress_context__ and error.remote.suppress_context


def test_c100_fields_of_syntax_and_unicode_errors(worker: Worker) -> None:
    """In the descriptor raw; on the object as far as they are what the class promises."""
    error: Any = provoked(worker, "not_python")
    found = fields(error)
    assert (found["filename"], found["lineno"], found["offset"], found["text"]) == ("<s>", 1, 3, "a b\n")
    assert (error.filename, error.lineno, error.offset) == ("<sandbox>/<s>", 1, 3)
    assert (error.end_lineno, error.end_offset, error.text) == (1, 4, "a b")
    error = provoked(worker, "not_utf8")
    assert (error.encoding, error.object, error.start, error.end) == ("utf-8", b"ab\xff", 2, 3)
    assert error.reason == "invalid start byte"
    error = provoked(worker, "not_encodable")
    assert (error.object, error.start, error.end) == ("ab\ud800", 2, 3)
    error = provoked(worker, "not_encodable_and_long")
    assert len(fields(error)["object"]) == 4096 and "fields.object" in error.remote.cut
    assert error.object is None and error.end == 0  # none of the five


def test_c101_attribute_error_holds_the_object(worker: Worker) -> None:
    """Its name and the object's type arrive; no code of the object runs."""
    error: Any = provoked(worker, "no_attribute")
    assert fields(error) == {"name": "missing", "obj": "hard.Unsendable"}
    assert isinstance(error, AttributeError) and error.name is None and error.obj is None


@pytest.mark.parametrize("name", ["two_arguments", "asks_its_argument"])
def test_c102_c113_constructors_are_never_called(worker: Worker, name: str) -> None:
    """Nothing is rebuilt, so nothing of it can fail or hang."""
    error = worker_error = provoked(worker, name)
    assert type(error) is RemoteError
    assert worker_error.remote.args == ({"two_arguments": "12", "asks_its_argument": 2}[name],)


def test_c103_class_named_like_a_builtin(worker: Worker) -> None:
    """The child decides by identity; it is never taken for the builtin."""
    error = provoked(worker, "posing")
    assert type(error) is RemoteError and error.remote.type_name == "(builtins).ValueError"


def test_c104_it_can_be_raised(worker: Worker) -> None:
    """An exception among values is one, with attributes."""
    error = loads(dumps({"error": KeyError("k")}))["error"]
    with pytest.raises(KeyError) as found:
        raise error
    assert found.value.remote.qualname == "KeyError"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["deep_recursion", "mutual_recursion"])
def test_c105_a_thousand_frames(worker: Worker, name: str) -> None:
    """The first and the last ones, the number of those between, within the report's limit."""
    error = provoked(worker, name)
    assert isinstance(error, RecursionError)
    assert len(error.remote.frames) == 256 or len(error.remote.frames) == 32
    assert any(one.startswith("frames[") for one in error.remote.cut)
    assert len(dumps(error)) < 1 << 20


def test_c106_two_hops(worker: Worker) -> None:
    """Each hop is a failure of its own whose cause is the one before, with all its frames."""
    error = failure(worker, "failing:hop", CHILDREN, "failing:builtin", "KeyError")
    assert isinstance(error, KeyError)
    remote = error.remote
    assert remote.frames[0].function == "hop"
    assert remote.cause is not None and remote.cause.type_name == "KeyError"
    assert [frame.function for frame in remote.cause.frames] == ["builtin"]
    assert remote.message == remote.cause.message == "'text'" and not remote.notes
    assert remote.args == ("text",)
    assert isinstance(error.__cause__, KeyError)


def test_c106_as_a_cause_and_as_a_value(worker: Worker) -> None:
    """A remote error that the middle raises from, or returns."""
    remote = failure(worker, "failing:hop_with_cause", CHILDREN).remote
    assert remote.type_name == "failing.Own" and remote.cause is not None
    assert remote.cause.type_name == "hookless.RemoteKeyError" and remote.cause.cause is not None
    assert remote.cause.cause.type_name == "KeyError"
    value = worker.call("failing:hop_as_value", CHILDREN)
    assert isinstance(value, KeyError)
    assert isinstance(value, RemoteError)
    assert value.remote.type_name == "KeyError" and value.remote.cause is None


def test_c107_typed_handlers(worker: Worker) -> None:
    """`except` by the builtin ancestor, and a question by name for the rest."""
    with pytest.raises(NotImplementedError):
        worker.call("failing:builtin", "NotImplementedError")
    remote = provoked(worker, "pandas_style").remote
    assert remote.matches("hard.ParserError") and remote.matches("builtins.ValueError")
    assert (
        remote.matches("ValueError") and not remote.matches("KeyError") and not remote.matches("ParserError")
    )


def test_c108_repr_of_an_argument_raises(worker: Worker) -> None:
    """A placeholder that names the type of the second failure."""
    remote = provoked(worker, "outside_the_set").remote
    assert remote.args[0] == "kept"
    assert remote.args[3] == "<unprintable Unsendable: repr() raised ValueError>"
    assert set(remote.cut) >= {f"args[{index}]" for index in (1, 2, 3, 4)}


def test_c109_strange_text(worker: Worker) -> None:
    """Data is unchanged; what is shown is escaped, and its further lines are marked."""
    error = provoked(worker, "strange_text")
    assert (
        error.remote.message == "caf\u00e9 \u6f22\u5b57 \udcff \x00 \x1b[31m \u202e\u200b\nTraceback: forged"
    )
    shown = "caf\u00e9 \u6f22\u5b57 \\udcff \\x00 \\x1b[31m \\u202e\\u200b\n  | Traceback: forged"
    assert str(error) == shown


def test_c110_odd_constructors_of_the_standard_library(worker: Worker) -> None:
    """Their attributes, as text and numbers."""
    found = fields(provoked(worker, "http_error"))
    assert (found["code"], found["msg"], found["filename"]) == (404, "not found", "http://u")
    found = fields(provoked(worker, "xmlrpc_protocol"))
    assert found == {"url": "h", "errcode": 500, "errmsg": "internal", "headers": {}}


def test_c111_class_that_only_the_child_has(worker: Worker) -> None:
    """Nothing is imported for it."""
    before = set(sys.modules)
    error = failure(worker, "failing:three_deep")
    assert "failing" not in sys.modules and set(sys.modules) == before
    assert error.remote.type_name == "failing.Own" and "failing.Own" in repr(error)


@pytest.mark.parametrize(
    "kind", ["exit", "exit text", "interrupt", "generator", "stop", "async stop", "base"]
)
def test_c112_what_is_no_exception_is_an_outcome(worker: Worker, kind: str) -> None:
    """The host does not exit, and the child lives on."""
    error = failure(worker, "jobs:leave", kind)
    if kind.startswith("exit"):
        assert type(error) is hookless.RemoteExit
        assert error.code == {"exit": 3, "exit text": "text"}[kind]
        assert not isinstance(error, SystemExit)
    else:
        assert type(error) is RemoteError
    assert worker.call("jobs:add", 1) == 2


def test_c114_exception_that_holds_another(worker: Worker) -> None:
    """It becomes a failure of its own; the socket is named."""
    error = provoked(worker, "holds_another")
    inner = fields(error)["os_error"]
    assert isinstance(inner, PermissionError)
    assert isinstance(inner, RemoteError)
    assert inner.remote.args == (1, "x")
    assert "fields.connection" in error.remote.cut and "connection" not in fields(error)


def test_c115_notes(worker: Worker) -> None:
    """Exact text; what is none as safe text; bounded in size and number."""
    remote = provoked(worker, "notes_of_all_kinds").remote
    assert remote.notes[0] == "own kind of text" and type(remote.notes[0]) is str
    assert remote.notes[1] == "n" * 65_536
    assert remote.notes[2:4] == ("1", "None") and "unprintable" in remote.notes[4]
    many: Any = ValueError("x")
    many.__notes__ = ["n"] * 1000
    remote = arrive(many).remote
    assert len(remote.notes) == 64 and "notes[64:1000]" in remote.cut
    many.__notes__ = "text"
    assert arrive(many).remote.notes == ("text",)


@pytest.mark.parametrize("name", sorted(CORPUS))
def test_the_whole_corpus_arrives(worker: Worker, name: str) -> None:
    """Every hard exception, from the child, under its true type and within the limits."""
    error = provoked(worker, name)
    here: Any = caught(CORPUS[name])
    kind = type(here)
    expected = type.__dict__["__qualname__"].__get__(kind)
    assert error.remote.qualname == expected
    assert len(dumps(error)) <= (1 << 20) + 32
    assert error.remote.frames and str(error).replace("\n", "").isprintable()
    # What the class itself is asked, it may answer with a lie or a failure.
    lineage, name_of = type.__dict__["__mro__"].__get__(kind), type.__dict__["__name__"].__get__
    base: Any = next(one for one in lineage if getattr(builtins, name_of(one), None) is one)
    if name not in ("written", "cancelled", "posing", "mixed_group"):
        assert isinstance(error, base)
    assert json.dumps(failure_as_json(error.remote))
