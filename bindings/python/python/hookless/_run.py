"""`hookless run`: a script, or a function of it, in a child process."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import sys
import time
import tokenize
import warnings
from typing import Any

from hookless._screen import Screen, is_lively
from hookless._show import failure_as_json, to_json, to_lines
from hookless.display import escape_line
from hookless.errors import DeadlineExceeded, HooklessError, IsolationError, WorkerDied
from hookless.files import dump
from hookless.process import Worker
from hookless.remote import RemoteError

__all__ = ["run"]

_OK, _FAILED, _USAGE, _REFUSED, _LATE = 0, 1, 2, 3, 124

# Characters shown of a line of the script.
_LINE = 120


class _UsageError(Exception):
    """What the user gave cannot be used."""


def run(options: argparse.Namespace) -> int:
    """Do what the options say; return the exit status."""
    try:
        return _Run(options).status()
    except _UsageError as error:
        _say(str(error))
        return _USAGE


def _say(text: str) -> None:
    sys.stderr.write(f"hookless: {text}\n")


class _Run:
    """One run of the command."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.file, self.function = _split(options.target)
        self.source = _read(self.file)
        self.inputs = _inputs(options.arg)
        for folder in options.path:
            if not os.path.isdir(folder):
                raise _UsageError(f"--path {folder}: there is no such folder")
        # Before the script runs, which may take long.
        for option, path in (("--output", options.output), ("--plot", options.plot)):
            folder = os.path.dirname(os.path.abspath(path)) if path else ""
            if path and not os.path.isdir(folder):
                raise _UsageError(f"{option} {path}: there is no folder {folder}")
        if options.plot and not (_installed("matplotlib") and _installed("numpy")):
            raise _UsageError("--plot draws with Matplotlib: pip install matplotlib")
        self.isolation: dict[str, str] = {}
        self.began = time.monotonic()

    def status(self) -> int:
        """Run, report, and return the exit status."""
        try:
            value = self.outcome()
        except RemoteError as error:  # First: no child can pass for what comes below.
            return self.failed(error)
        except DeadlineExceeded as error:
            return self.refused(error, "", _LATE)
        except IsolationError as error:
            return self.refused(error, f"If you trust {self.file}, run it with --isolation none.", _REFUSED)
        except HooklessError as error:
            return self.refused(error, "", _REFUSED)
        self.report(value)
        return _OK

    def outcome(self) -> Any:
        """Run the script in a worker."""
        if _installed("numpy"):
            from hookless import use_numpy

            use_numpy()
        with self.start() as worker:
            self.isolation = worker.isolation
            out = sys.stderr if self.options.json else sys.stdout
            with Screen(self.options.target, out, sys.stderr, raw=self.options.raw) as screen:
                call = worker.options(
                    deadline=self.options.deadline,
                    on_output=screen,
                    on_progress=screen.progress,
                    on_log=screen.log,
                )
                if self.function is None:
                    return call.run(self.file, inputs=self.inputs)
                name = os.fsdecode(self.file).encode("utf-8", "backslashreplace").decode()
                target = "hookless._child:run_function"
                return call.call(target, name, self.source, self.function, self.inputs)

    def start(self) -> Worker:
        """Start the child; what its isolation lacks is told as the command's own words."""
        mode = self.options.isolation
        given: dict[str, Any] = {} if mode is None else {"isolation": mode}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            worker = Worker(paths=self.options.path, **given)
        for one in caught:
            _say(f"warning: {one.message}")
        return worker

    def report(self, value: Any) -> None:
        """Print the result, save it, draw it."""
        if self.options.json:
            self.print_json({"ok": True, "result": to_json(value)})
        elif value is None and self.function is None:
            _say("the script assigned nothing to `result`, so there is no result")
        else:
            first, *others = to_lines(value)
            sys.stdout.write("\n".join([f"result: {first}", *others]) + "\n")
        sys.stdout.flush()
        if self.options.output:
            self.save(value, self.options.output)
        if self.options.plot:
            from hookless._plot import draw

            for line in draw(value, self.options.plot):
                _say(line)

    def save(self, value: Any, path: str) -> None:
        """Write the frame beside its place and then rename it: a file is there as a whole or not at all."""
        partial = f"{path}.partial"
        try:
            with open(partial, "wb") as file:
                dump(value, file)
            os.replace(partial, path)
        except OSError as error:
            raise _UsageError(f"--output {path}: {error.strerror}") from None
        _say(f"saved the result to {path} ({os.path.getsize(path)} bytes)")

    def failed(self, error: RemoteError) -> int:
        """Tell how the script failed; `sys.exit(0)` is no failure."""
        failure = error.remote
        if failure.type_name == "SystemExit" and failure.args in ((), (None,), (0,), (False,)):
            if self.options.json:
                self.print_json({"ok": True, "result": None})
            else:
                _say("the script ended itself by sys.exit, so there is no result")
            return _OK
        if self.options.json:
            self.print_json({"ok": False, "error": {"kind": "remote", **failure_as_json(failure)}})
        sys.stdout.flush()
        sys.stderr.write(f"{failure.format(colour=is_lively(sys.stderr))}\n")
        hint = self.hint(failure.type_name, failure.message, failure.fields.get("lineno"))
        _say(f"{escape_line(self.options.target)} failed: {escape_line(failure.type_name, most=80)}")
        if hint:
            _say(f"hint: {hint}")
        return _FAILED

    def hint(self, name: str, message: str, line: object) -> str:
        """Return what a newcomer would not guess about the failure."""
        named = re.search(r"'([^']{1,200})'", message)
        what = named.group(1) if named else ""
        if name.endswith("SyntaxError") or name in ("IndentationError", "TabError"):
            lines = self.source.split("\n")
            if type(line) is int and 0 < line <= len(lines):
                return f"line {line} of {self.file}: {escape_line(lines[line - 1].strip(), most=_LINE)}"
        if name == "ModuleNotFoundError" and re.fullmatch(r"[A-Za-z_]\w*", what, re.ASCII):
            folder = os.path.dirname(self.file) or "."
            beside = os.path.join(folder, what)
            if os.path.isfile(f"{beside}.py") or os.path.isdir(beside):
                return f"{what} lies beside the script; the child imports from there with --path {folder}"
        if name == "FileNotFoundError" and what and not what.startswith("/"):
            return (
                f"{escape_line(what)} is a relative name, and the child does not run in this folder: "
                "give it a full path, by --arg for instance, and its folder by --path"
            )
        if name == "PermissionError" and not self.isolation.get("mode", "none").startswith("none"):
            return "an isolated child reads what is in the folders of --path, and writes in its own only"
        if name == "hookless.EncodeError":
            return (
                "a result is made of plain values, containers, arrays, records, exceptions: convert the rest"
            )
        if name == "NameError" and what and self.function is None and what not in self.inputs:
            return f"if {escape_line(what)} was to come from outside, give it: --arg {escape_line(what)}=…"
        return ""

    def refused(self, error: HooklessError, hint: str, status: int) -> int:
        """Tell what went wrong with the transport or the worker."""
        kind = type(error).__name__
        if self.options.json:
            found = {"kind": kind, "message": str(error), "code": getattr(error, "code", None)}
            self.print_json({"ok": False, "error": found})
        sys.stdout.flush()
        # The last words of a child that had started have been shown as they came.
        heard = isinstance(error, WorkerDied) and self.isolation
        _say(f"{kind}: {error.args[0] if heard else error}")
        if hint:
            _say(f"hint: {hint}")
        return status

    def print_json(self, found: dict[str, Any]) -> None:
        """Print one object, with what is known of the run."""
        seconds = round(time.monotonic() - self.began, 3)
        json.dump({**found, "seconds": seconds, "isolation": self.isolation}, sys.stdout)
        sys.stdout.write("\n")


def _split(target: str) -> tuple[str, str | None]:
    """Tell FILE from FILE:FUNCTION; a file of just that name wins."""
    file, colon, function = target.rpartition(":")
    if os.path.exists(target) or not colon:
        return target, None
    if not function.isidentifier():
        raise _UsageError(f"{target}: {function!r} is no name of a function; write FILE:FUNCTION")
    return file, function


def _read(file: str) -> str:
    """Read a source file by Python's own rules."""
    try:
        with tokenize.open(file) as opened:
            return opened.read()
    except OSError as error:
        raise _UsageError(f"cannot read {file}: {error.strerror}") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise _UsageError(f"{file} is no Python source: {error}") from None


def _inputs(given: list[str]) -> dict[str, Any]:
    """Read the values of --arg. Raises _UsageError that shows how to write them."""
    found: dict[str, Any] = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not equals or not name.isidentifier():
            raise _UsageError(f"--arg {one}: write NAME=JSON, such as --arg order=3")
        if name in found:
            raise _UsageError(f"--arg {name} is given twice")
        try:
            found[name] = json.loads(text)
        except (ValueError, RecursionError):
            quoted = json.dumps(text, ensure_ascii=False).replace("'", "'\\''")
            raise _UsageError(
                f"--arg {one}: that is not JSON; text is written --arg '{name}={quoted}'"
            ) from None
    return found


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
