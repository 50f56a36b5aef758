"""`hookless run`: as a user meets it, on a terminal and off it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hookless

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]

COMMAND = [sys.executable, "-m", "hookless", "run"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Write a script into an empty folder and run the command there, without isolation."""

    def call(script: str, *options: str, target: str = "script.py", isolation: str = "none") -> Done:
        (tmp_path / "script.py").write_text(script)
        command = [*COMMAND, target, f"--isolation={isolation}", *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    return call


def test_a_result_is_printed(run: Run) -> None:
    done = run("print('hello')\nresult = {'a': [1, 2.5], 'b': (1,), 'c': {'d': {'e': b'x'}}}")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == (
        "  | hello\nresult: dict of 3\n  'a': [1, 2.5]\n  'b': (1,)\n  'c': dict of 1\n"
        "    'd': dict of 1\n      'e': b'x'\n"
    )


def test_no_result_is_said(run: Run) -> None:
    done = run("x = 1")
    assert done.returncode == 0 and done.stdout == "" and "assigned nothing to `result`" in done.stderr


def test_inputs_and_functions(run: Run) -> None:
    script = "if __name__ == '__main__': print(n); result = n + 1\ndef f(*, n, name='x'): return n, name"
    assert run(script, "--arg", "n=1").stdout == "  | 1\nresult: 2\n"
    done = run(script, "--arg=n=[1]", "--arg", 'name="y"', target="script.py:f")
    assert done.stdout == "result: tuple of 2\n  [1]\n  'y'\n"


def test_async_functions(run: Run) -> None:
    assert run("async def f(): return 3", target="script.py:f").stdout == "result: 3\n"


def test_a_function_that_is_not_there(run: Run) -> None:
    done = run("from math import sqrt\ndef fit(): pass", target="script.py:fti")
    assert done.returncode == 1 and "defines no function 'fti'; it has fit\n" in done.stderr


def test_a_failure_has_its_traceback(run: Run) -> None:
    done = run("def f(): raise ValueError('bad \\x1b[31m')\nf()")
    assert done.returncode == 1 and done.stdout == ""
    assert 'File "<sandbox>/script.py", line 1, in f' in done.stderr
    assert "ValueError: bad \\x1b[31m" in done.stderr and "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import neighbour", "--path ."),
        ("open('data.csv')", "data.csv is a relative name"),
        ("result = rows", "--arg rows="),
        ("result = [object()]", "$[0]"),
        ("x = (1,\nresult = 2", "line 1 of script.py: x = (1,"),
    ],
)
def test_hints(run: Run, tmp_path: Path, script: str, said: str) -> None:
    (tmp_path / "neighbour.py").write_text("")
    done = run(script)
    assert done.returncode == 1 and said in done.stderr


def test_path(run: Run, tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("x = 5")
    assert run("from neighbour import x as result", "--path", ".").stdout == "result: 5\n"


@pytest.mark.parametrize(("argument", "status"), [("0", 0), ("None", 0), ("3", 1), ("'no'", 1)])
def test_sys_exit(run: Run, argument: str, status: int) -> None:
    assert run(f"import sys\nsys.exit({argument})").returncode == status


def test_deadline(run: Run) -> None:
    done = run("import time\ntime.sleep(60)", "--deadline", "0.5")
    assert done.returncode == 124 and "no answer within 0.5 s" in done.stderr


def test_a_child_that_dies(run: Run) -> None:
    done = run("import os\nos.write(2, b'last words')\nos._exit(7)")
    assert done.returncode == 3 and "exited with status 7" in done.stderr
    assert done.stderr.count("last words") == 1


def test_bytes_that_are_no_frame(run: Run) -> None:
    done = run("import os, hookless.worker as w\nos.write(w.channel_fd(), b'\\x80\\x04.')")
    assert done.returncode == 3 and "bad_magic" in done.stderr


def test_isolation_that_is_not_there_is_explained(run: Run) -> None:
    """Either the sandbox is in force, or the message says what to do."""
    done = run("result = 1", isolation="strict")
    if done.returncode == 0:
        assert done.stdout == "result: 1\n"
    else:
        assert done.returncode == 3 and "IsolationError" in done.stderr and "--isolation none" in done.stderr


def test_a_refusal_of_the_sandbox_has_a_hint(run: Run) -> None:
    """Where this release and kernel can shut a child in."""
    done = run("open('/etc/shadow')", isolation="strict")
    if done.returncode == 1:
        assert "PermissionError" in done.stderr and "the folders of --path" in done.stderr
    else:
        assert done.returncode == 3 and "IsolationError" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["none.py"], "cannot read none.py: No such file"),
        (["."], "Is a directory"),
        (["script.py:3x"], "write FILE:FUNCTION"),
        (["script.py", "--arg", "x"], "write NAME=JSON"),
        (["script.py", "--arg", "x=Ann"], "--arg 'x=\"Ann\"'"),
        (["script.py", "--arg", "x=1", "--arg", "x=2"], "given twice"),
        (["script.py", "--path", "none"], "no such folder"),
        (["script.py", "--output", "none/x.frame"], "there is no folder"),
        (["script.py", "--deadline", "0"], "no number of seconds above 0"),
        (["binary.py"], "no Python source"),
        ([], "FILE[:FUNCTION]"),
    ],
)
def test_usage(tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "script.py").write_text("result = 1")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    command = [*COMMAND, *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and said in done.stderr


def test_output_is_escaped_unless_raw(run: Run) -> None:
    script = r"""
import os, sys
os.write(1, b"a\tb\x1b[31m\r\nresult: forged\rnext\xff\n")
os.write(1, b"\xe2\x80"); os.write(1, b"\xaeend")
"""
    done = run(script + "result = 1")
    assert done.stdout.splitlines() == [
        "  | a\tb\\x1b[31m",
        "  | result: forged",
        "  | next\\xff",
        "  | \\u202eend",
        "result: 1",
    ]
    raw = run(script.replace(r"\xff", "").replace(r"\r", ""), "--raw").stdout
    assert raw == "a\tb\x1b[31m\nresult: forgednext\n\u202eend\n"


def test_output_comes_as_it_is_printed(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import time\nprint('first')\ntime.sleep(60)")
    command = [*COMMAND, "script.py", "--isolation=none"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"  | first\n"
            assert process.poll() is None
        finally:
            process.kill()


def test_json(run: Run) -> None:
    done = run("print('x')\nresult = {'t': (1, float('nan')), 'k': {1: b'\\xff'}, 's': '\\x1b'}", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and done.stderr == "  | x\n" and found["ok"] is True
    assert found["result"] == {
        "t": {"type": "tuple", "items": [1, {"type": "float", "text": "nan"}]},
        "k": {"type": "dict", "pairs": [[1, {"type": "bytes", "bytes": 1, "hex": "ff"}]]},
        "s": "\x1b",
    }
    done = run("try: 1/0\nexcept ZeroDivisionError as e: raise KeyError('k') from e", "--json")
    error = json.loads(done.stdout)["error"]
    assert (
        done.returncode == 1 and error["name"] == "KeyError" and error["cause"]["name"] == "ZeroDivisionError"
    )
    done = run("import os\nos._exit(3)", "--json")
    assert done.returncode == 3 and json.loads(done.stdout)["error"]["kind"] == "WorkerDied"


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        ("range(1, big, 2)", "range(1, 0x"),
        ("slice(None, big)", "slice(None, 0x"),
        ("__import__('fractions').Fraction(1, big)", "Fraction(1, 0x"),
        ("__import__('collections').deque([big])", "deque of 1"),
        ("__import__('collections').Counter({'a': big})", "Counter of 1"),
        ("__import__('collections').OrderedDict({big: 1})", "OrderedDict of 1"),
        ("{frozenset({range(big)}): 1}", "frozenset of 1: 1"),
    ],
)
def test_ints_that_python_does_not_write_out(run: Run, made: str, shown: str) -> None:
    """They are values like others, wherever they are: shown by their beginning, and no traceback."""
    script = f"big = 10**5000\nresult = {made}"
    done = run(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout
    done = run(script, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["ok"] is True


def test_records_are_shown_and_given_as_json(run: Run) -> None:
    source = (
        "import dataclasses, enum, typing\n"
        "class P(typing.NamedTuple):\n    x: int\n    y: object\n"
        "class E(enum.Enum):\n    A = 1\n    B = (2,)\n"
        "D = dataclasses.make_dataclass('D', ['p', 'e'])\n"
        "result = [D(P(1, 'two'), E.A), {E.A: P(1, None), 'b': E.B}]"
    )
    done = run(source)
    assert done.returncode == 0, done.stderr
    for part in ("D of 2", "p: ", ".P(x=1, y='two')", "e: ", ".E.A (1)", ".P(x=1, y=None)", "'B', (2,))"):
        assert part in done.stdout, done.stdout
    first, second = json.loads(run(source, "--json").stdout)["result"]
    assert first["type"] == "record" and first["name"].endswith(".D")
    assert first["fields"]["p"]["fields"] == {"x": 1, "y": "two"}
    assert (first["fields"]["e"]["type"], first["fields"]["e"]["member"]) == ("enum member", "A")
    assert second["type"] == "dict"


def test_output_file(run: Run, tmp_path: Path) -> None:
    done = run("result = [1, (2, 'x')]", "--output", "r.frame")
    assert done.returncode == 0 and hookless.loads((tmp_path / "r.frame").read_bytes()) == [1, (2, "x")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.frame", "script.py"]


def test_an_encoding_that_lacks_characters(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('caf\\u00e9')\nresult = ['\\u00e9', 'x' * 300]")
    command = [*COMMAND, "script.py", "--isolation=none"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith(b"  | caf\\xe9\nresult: list of 2\n  '\\xe9'\n")


def on_a_terminal(tmp_path: Path, script: str, **environment: str) -> tuple[int, str]:
    """Run the command with a terminal of its own; its status and all that was drawn."""
    (tmp_path / "script.py").write_text(script)
    ours, theirs = pty.openpty()
    settings = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [*COMMAND, "script.py", "--isolation=none"],
        cwd=tmp_path,
        stdout=theirs,
        stderr=theirs,
        env={**settings, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    drawn = bytearray()
    try:
        while chunk := os.read(ours, 65_536):
            drawn += chunk
    except OSError:  # Linux's way to say that the other side is closed
        pass
    finally:
        os.close(ours)
    return process.wait(60), drawn.decode()


SLOW = "import time\nprint('begin')\ntime.sleep(1.2)\nprint('end')\nresult = 1"


TELLING = """
import logging, time
from hookless.worker import progress
for number in range(4):
    progress(number, 4, "\\x1b[31mrows")
    time.sleep(0.3)
logging.getLogger("app").warning("one\\n\\x1b[2Jtwo")
result = 1
"""


def test_progress_and_logs_on_a_terminal(tmp_path: Path) -> None:
    """A bar while it runs, and each message on a line of its own; both are the script's words."""
    status, drawn = on_a_terminal(tmp_path, TELLING)
    assert status == 0 and "%] " not in drawn
    assert "[##########..........]  50% 2/4  \\x1b[31mrows" in drawn
    shown = [line.rpartition("\x1b[K")[2].strip("\r") for line in drawn.split("\n")]
    assert shown == ["  | app: one", "  | \\x1b[2Jtwo", "result: 1", ""]


def test_progress_and_logs_elsewhere(run: Run) -> None:
    """Messages go to standard error, and nothing is drawn."""
    done = run(TELLING)
    assert (done.stdout, done.stderr) == ("result: 1\n", "  | app: one\n  | \\x1b[2Jtwo\n")
    done = run(TELLING, "--json", "--raw")
    assert json.loads(done.stdout)["result"] == 1
    assert done.stderr == "  | app: one\n  | \\x1b[2Jtwo\n"


def test_a_terminal_gets_a_spinner(tmp_path: Path) -> None:
    status, drawn = on_a_terminal(tmp_path, SLOW)
    assert status == 0 and " script.py 0." in drawn
    # It is erased before anything is printed, and in the end.
    shown = [line.rpartition("\x1b[K")[2].strip("\r") for line in drawn.split("\n")]
    assert shown == ["  | begin", "  | end", "result: 1", ""]


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_plain_terminal_gets_none(tmp_path: Path, plain: dict[str, str]) -> None:
    status, drawn = on_a_terminal(tmp_path, SLOW, **plain)
    assert status == 0 and "\x1b" not in drawn


def test_a_pipe_gets_none(run: Run) -> None:
    assert "\x1b" not in run(SLOW).stderr


def test_help_and_version_load_no_value_modules() -> None:
    program = (
        "import sys\nfrom hookless.cli import main\n"
        "try: main([*sys.argv[1:]])\nexcept SystemExit as e: assert not e.code\n"
        "assert not {'numpy', 'subprocess', 'hookless._run'} & set(sys.modules), sys.modules.keys()"
    )
    for options in (["--help"], ["--version"], ["run", "--help"], ["inspect", "--help"]):
        done = subprocess.run([sys.executable, "-c", program, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "hookless" in done.stdout


def test_the_current_folder_is_not_imported_from(tmp_path: Path) -> None:
    """`python -m` would run a module of the folder that holds what is not trusted."""
    for name in ("json", "numpy", "subprocess", "argparse", "tokenize", "matplotlib"):
        (tmp_path / f"{name}.py").write_text("print('ran in the host')")
    (tmp_path / "script.py").write_text("result = 1")
    command = [*COMMAND, "script.py", "--isolation=none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "result: 1\n", "")


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("for i in range(200_000): print(i)")
    command = [*COMMAND, "script.py", "--isolation=none"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(60) == 141


def test_a_failure_has_colours_on_a_terminal_only(tmp_path: Path) -> None:
    """They are ours, around text that is escaped; a log, and who asks for none, gets none."""
    script = "raise KeyError('red \\x1b[31m')"
    status, drawn = on_a_terminal(tmp_path, script)
    assert status == 1 and "\x1b[1;31mKeyError\x1b[0m: \x1b[31m'red \\x1b[31m'\x1b[0m" in drawn
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        status, drawn = on_a_terminal(tmp_path, script, **environment)
        assert status == 1 and "KeyError: 'red \\x1b[31m'" in drawn and "\x1b" not in drawn
