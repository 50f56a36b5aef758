"""The command line: `hookless run` and `hookless inspect`. A command's module is loaded when it is used."""

from __future__ import annotations

import argparse
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_STATUS = """\
exit status:
  0    it worked
  1    the script failed: its traceback is on standard error
  2    usage, or a file that cannot be read or written
  3    the worker or what it sent was refused: no isolation, a dead child, bytes that are no frame
  124  the deadline passed
  130  interrupted by Ctrl-C
"""

_RUN = """\
Run a Python script, or one function of it, in a child process. What it hands back arrives as inert values:
nothing is unpickled, and no code of the script runs in this process.

A script hands back what it assigns to the name `result`; each --arg is a global name that it finds.
A function, FILE:FUNCTION, hands back what it returns; each --arg is a keyword argument.
What the script prints is shown as it comes, each line after a "  | " and with control characters escaped.
"""

_RUN_END = """\
examples:
  hookless run fit.py
  hookless run fit.py:fit --arg order=3 --arg 'name="first"' --deadline 10
  hookless run fit.py --path src --output fit.frame --plot fit

"""

_INSPECT = """\
Show what lies where in a file of frames: the head, the body as a tree of values with offsets and sizes, and
the map of the data region. Nothing is built from the bytes. A frame that is refused is shown as far as it can
be read, with the byte at fault, the bytes around it and the document of the rule.
"""

_INSPECT_STATUS = """\
exit status:
  0    every frame would be accepted
  2    usage, or a file that cannot be read
  3    a frame is refused
"""


_CHILD = """\
Be the child of a worker that did not start this process: the other end of `hookless.Worker.attach`. It ends
when the channel does.
"""

_CHILD_STATUS = """\
exit status:
  0    the host ended the session
  1    the session broke, or the isolation cannot be put in force: standard error says why
  2    usage
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; `arguments` are those of the process unless given. Returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding shows escapes for what it lacks.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        status: int = options.command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\nhookless: interrupted\n")
        return 130
    except BrokenPipeError:
        # Whoever read our output is gone, as `head` is: nothing is left to say, also not while Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hookless",
        description="Run code that is not trusted, and read what it sends, without pickle.",
        epilog="`hookless COMMAND --help` says more of each.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_inspect(commands)
    _add_child(commands)
    return parser


class _Version(argparse.Action):
    """`--version`, read from the extension only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from hookless import __version__

        sys.stdout.write(f"hookless {__version__}\n")
        parser.exit()


if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def _add_run(commands: _Commands) -> None:
    parser = commands.add_parser(
        "run",
        help="run a script, or a function of it, in a child process",
        description=_RUN,
        epilog=_RUN_END + _STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("target", metavar="FILE[:FUNCTION]", help="the script, and the function of it to call")
    add("--arg", metavar="NAME=JSON", action="append", default=[], help="an input, such as order=3")
    add("--path", metavar="DIR", action="append", default=[], help="a folder that the script may import from")
    add(
        "--isolation",
        choices=["strict", "auto", "none"],
        help="what the child must give up first; none: as much as this user may do (default: the Worker's)",
    )
    add("--deadline", metavar="SECONDS", type=_seconds, help="stop it when it takes longer than this")
    add(
        "--raw",
        action="store_true",
        help="pass on what the script prints byte for byte; it may fool a terminal",
    )
    add(
        "--output",
        metavar="FRAME",
        help="save the result to a file, for hookless.load and `hookless inspect`",
    )
    add("--plot", metavar="PREFIX", help="draw the result's arrays to PREFIX-….png; needs Matplotlib")
    add(
        "--json",
        action="store_true",
        help="print one JSON object; the script's output goes to standard error",
    )
    parser.set_defaults(command=_run)


def _add_inspect(commands: _Commands) -> None:
    parser = commands.add_parser(
        "inspect",
        help="show the bytes of frames, also of refused ones",
        description=_INSPECT,
        epilog=_INSPECT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("frame", metavar="FRAME", help="a file of one or more frames; - for standard input")
    add("--limits", metavar="NAME=VALUE", action="append", default=[], help="a limit, such as depth=256")
    add("--most", metavar="COUNT", type=_count, default=200, help="values shown of each frame (default: 200)")
    add("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=_inspect)


def _add_child(commands: _Commands) -> None:
    parser = commands.add_parser(
        "child",
        help="serve a host that is attached to this process by a socket, or by pipes",
        description=_CHILD,
        epilog=_CHILD_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    channel = parser.add_mutually_exclusive_group(required=True)
    channel.add_argument("--fd", metavar="N", type=_count, help="the channel: an inherited stream socket")
    channel.add_argument(
        "--stdio",
        action="store_true",
        help="the channel: standard input and output; what the code prints goes to standard error",
    )
    channel.add_argument(
        "--stdin",
        action="store_true",
        help="the channel: standard input, a stream socket; standard output and error stay what they are",
    )
    add("--path", metavar="DIR", action="append", default=[], help="a folder that code may be imported from")
    add(
        "--isolation",
        choices=["strict", "auto", "none"],
        default="strict",
        help="what this process gives up before it runs code of the host's choice (default: strict)",
    )
    add("--limits", metavar="NAME=NUMBER", action="append", default=[], help="a limit, such as depth=256")
    add("--memory", metavar="BYTES", type=_large, help="address space (default: the Worker's)")
    add("--scratch", metavar="DIR", help="the folder to write to (default: a new one, which stays)")
    parser.set_defaults(command=_child)


def _child(options: argparse.Namespace) -> int:
    from hookless._serve import serve

    return serve(options)


def _run(options: argparse.Namespace) -> int:
    from hookless._run import run

    return run(options)


def _inspect(options: argparse.Namespace) -> int:
    from hookless._inspect import inspect_file

    return inspect_file(options)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def _count(text: str) -> int:
    return _number(text, 9)


def _large(text: str) -> int:
    return _number(text, 18)


def _number(text: str, digits: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > digits:
        raise argparse.ArgumentTypeError(f"{text!r} is no count")
    return int(text)
