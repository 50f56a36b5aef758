"""Tripwires: decoding, raising and showing a failure opens, imports, compiles and touches nothing."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import hookless
import naive
import tripwire
from hookless import Failure, RemoteError, dumps
from test_cases_exceptions import CHILDREN, CORPUS
from test_exceptions import caught
from test_remote import chain, group, told

HERE = os.path.dirname(os.path.abspath(__file__))
BAD = ("\x1b", "\x00", "\x07", "\u202e", "\u200b", "\udcff", "\ud800", "\x9b")


@pytest.fixture(autouse=True)
def traps() -> Iterator[None]:
    """Classes full of traps stand under the names that the frames claim."""
    kept = {name: sys.modules.get(name) for name in ("app", "hard")}
    tripwire.preload()
    tripwire.warm()
    for found in (tripwire.SPRUNG, tripwire.EVENTS, tripwire.ENTERED):
        found.clear()
    yield
    for name, module in kept.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module


@pytest.fixture(scope="module")
def pipe(tmp_path_factory: Any) -> str:
    """Whoever opens it waits for ever."""
    path = tmp_path_factory.mktemp("pipe") / "fifo"
    os.mkfifo(path)
    return str(path)


def files(*names: str) -> Failure:
    frames = tuple(hookless.TraceFrame(name, 1, 1, 0, 5, "f\x1b[31m", "source\u202e") for name in names)
    return told("app.Quota", "builtins.SyntaxError", frames=frames, message="over\x07")


def crafted() -> dict[str, Failure]:
    """What no honest child sends."""
    hidden = dict.fromkeys(("name", "name_from", "path", "obj", "secret"), "print_itt")
    modules = {"name": "antigravity", "name_from": "antigravity", "path": "/etc/shadow", "obj": "os"}
    found = {
        "files": files("/etc/shadow", "/dev/zero", __file__, tripwire.__file__, "<string>", "", "x" * 1000),
        "name": told("builtins.NameError", fields=hidden, message="name 'print_itt' is not defined"),
        "attribute": told("builtins.AttributeError", fields=hidden),
        "import": told("builtins.ImportError", fields=modules),
        "module": told(
            "builtins.ModuleNotFoundError", fields=modules, message="No module named 'antigravity'"
        ),
        "unicode": told(
            "builtins.UnicodeDecodeError",
            fields={"object": b"abc", "start": -(1 << 40), "end": 1 << 40, "encoding": "x", "reason": "y"},
        ),
        "unicode encode": told(
            "builtins.UnicodeEncodeError",
            fields={"object": "abc", "start": -1, "end": 99, "encoding": "x", "reason": "y"},
        ),
        "syntax": told(
            "builtins.SyntaxError",
            fields={
                "msg": "m\x1b]0;title\x07",
                "text": "x" * 100 + "\x1b[2J\u202e",
                "filename": "/dev/zero",
                "lineno": 1,
                "offset": 1 << 30,
                "end_offset": (1 << 31) - 1,
                "end_lineno": 1,
            },
        ),
        "text": told("app.Sub\x1b[31m", "app.Quota", message="\x1b[31m\u202e\u200b\udcff\x9b\nHost: forged"),
        "notes": told("app.Quota", notes=("\x1b[2J" * 1000,) * 20, denials=("\x1b[2J",) * 64),
        "exit": told("builtins.SystemExit", fields={"code": 3}),
        "interrupt": told("builtins.KeyboardInterrupt"),
        "stop": told("builtins.StopIteration", fields={"value": 3}),
        "chain": chain(64),
        "group": group(*[files("/dev/zero")] * 200, cause=chain(60)),
    }
    deep = told("builtins.ValueError")
    for _ in range(15):
        deep = group(deep, files("/etc/shadow"), deep)
    return found | {"deep group": deep}


def corpus() -> dict[str, bytes]:
    """The hard exceptions as frames; those that do not end here are told by `test_worker_failures`."""
    skipped = {"interrupts_when_shown"}
    return {name: dumps(caught(CORPUS[name])) for name in CORPUS if name not in skipped}


FRAMES = {name: dumps(RemoteError(failure)) for name, failure in crafted().items()}
FRAMES |= {f"corpus {name}": frame for name, frame in corpus().items()}


def check(texts: list[str], name: str) -> None:
    assert not tripwire.SPRUNG and not tripwire.EVENTS, name
    for text in texts:
        assert not [bad for bad in BAD if bad in text], name
        assert "\nHost: forged" not in text
        assert "Did you mean" not in text and "forget to import" not in text
        assert len(text) < 2_000_000
        for line in text.splitlines():
            # A file of the host is shown only where the host's own frame is in it.
            if line.strip(" |").startswith('File "'):
                assert "<sandbox>/" in line or tripwire.__file__ in line


# Python's own display and logging, which pytest listens to, and hookless.
FOLDERS = ("hookless", "logging", "collections", "re", "_pytest")
DISPLAY = (
    "_colorize.py ast.py codecs.py contextlib.py enum.py functools.py genericpath.py io.py linecache.py "
    "posixpath.py textwrap.py threading.py tokenize.py traceback.py"
).split()


def is_allowed(file: str) -> bool:
    """Whether a file is one that showing an exception enters; the tripwire's own frames are there as well."""
    path = pathlib.PurePath(file)
    known = path.parent.name in FOLDERS or path.name in DISPLAY
    # Where Hypothesis has run, it times the garbage collector ever after, which comes when it will.
    known = known or ("hypothesis" in path.parts and path.name == "junkdrawer.py")
    # Where it has been imported, logging asks it for the name of this process.
    known = known or path.parts[-2:] == ("multiprocessing", "process.py")
    return known or file == tripwire.__file__ or file.startswith("<frozen ")


@pytest.mark.parametrize("name", sorted(FRAMES))
def test_nothing_goes_off(name: str) -> None:
    """Decoded, raised, formatted, logged, shown by the hook: no trap, no event, no stranger's function."""
    modules = set(sys.modules)
    error, texts = tripwire.show(FRAMES[name])
    check(texts, name)
    assert isinstance(error, RemoteError)
    assert dumps(error) == FRAMES[name]
    assert set(sys.modules) == modules
    strangers = [file for file in tripwire.ENTERED if not is_allowed(file)]
    assert strangers == []


def test_the_tripwire_works() -> None:
    """It sees an event, a trap and a stranger's function when there is one."""
    tripwire.watch(True)
    try:
        with open(os.devnull):
            pass
        compile("1 + 22", "x", "eval")
        getattr(tripwire.Host(), "something", None)
        subprocess.list2cmdline(["a"])
    finally:
        tripwire.watch(False)
    assert [event.split("(")[0] for event in tripwire.EVENTS] == ["open", "compile"]
    assert tripwire.SPRUNG == ["host something"]
    assert any(file.endswith("subprocess.py") for file in tripwire.ENTERED)


@pytest.mark.parametrize("way", ["interpreter", "hook"])
@pytest.mark.parametrize("name", [*crafted(), "pipe"])
def test_uncaught(name: str, way: str, pipe: str) -> None:
    """What the interpreter shows when nobody catches it; it must end, so no pipe was opened."""
    frame = dumps(RemoteError(files(pipe))) if name == "pipe" else FRAMES[name]
    done = subprocess.run(
        [sys.executable, tripwire.__file__, *([way] if way == "hook" else [])],
        input=frame.hex().encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.decode().strip() == "SAW [] []"
    text = done.stderr.decode()
    assert "Traceback (most recent call last)" in text and "Remote traceback" in text
    check([text], name)


def test_names_of_our_own_functions_are_text() -> None:
    """A frame of the wire is never a live frame: nothing of it has globals, and no loader is asked."""
    frame = naive.frame(
        naive.exception(naive.entry("app", "Quota", frames=[naive.trace_frame("/dev/zero", 1, "f")]))
    )
    error, texts = tripwire.show(frame)
    assert error.__traceback__ is not None and error.__traceback__.tb_next is not None
    assert '"<sandbox>/dev/zero", line 1, in f' in texts[0]
    assert CHILDREN not in texts[0]
