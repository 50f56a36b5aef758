"""Count the instructions of the core paths by callgrind, beside those of the run before.

Counts hardly depend on what else the machine does: a change of one per cent is one of the code, the compiler
or the value. `instructions.json` is kept in git; commit it with the change that moved it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import kept
from measure import STDERR
from report import aligned, markdown

ROOT = Path(__file__).resolve().parents[2]
KEPT = kept.BENCHES / "instructions.json"
# A path runs once, and so many times more: the difference leaves out the start and the making of the value.
TIMES = 4


def build() -> Path:
    """Build the program that runs a path, as releases are built. Raises CalledProcessError."""
    command = ["cargo", "build", "--release", "--locked", "-p", "hookless-benches", "--bin", "paths"]
    command.append("--message-format=json-render-diagnostics")
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    made = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    return Path(next(path for path in made if path))


def count(program: Path, path: str, value: str, times: int) -> int:
    """Return the instructions of a whole run. Raises CalledProcessError, or ValueError without a figure."""
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        command = [*tool, str(program), path, value, str(times)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
    if (found := re.search(r"Collected\s*:\s*(\d+)", done.stderr)) is None:
        raise ValueError(f"callgrind told no count:\n{done.stderr}")
    return int(found[1])


def measure(program: Path) -> dict[str, int]:
    """Return the instructions of each path."""
    listed = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    found = {}
    for number, line in enumerate(listed, 1):
        STDERR.update(f"instructions: {line} ({number} of {len(listed)})")
        path, value = line.split()
        counted = count(program, path, value, 1 + TIMES) - count(program, path, value, 1)
        found[line] = round(counted / TIMES)
    STDERR.update("")
    return found


HEAD = ("path", "instructions", "the run before", "change")


def rows(now: dict[str, int], before: dict[str, int]) -> list[tuple[str, ...]]:
    """Return a line for each path."""
    return [
        (
            path,
            f"{number:,}".replace(",", " "),
            f"{before[path]:,}".replace(",", " ") if path in before else "",
            f"{(number / before[path] - 1):+.1%}" if path in before else "",
        )
        for path, number in now.items()
    ]


def main() -> int:
    """Count, print and write; without valgrind say so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="these are what the next run is compared with")
    options = parser.parse_args()
    for needed in ("valgrind", "cargo"):
        if shutil.which(needed) is None:
            STDERR.say(f"instructions: there is no {needed} on PATH; nothing was counted")
            return 0
    before = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    now = measure(build())
    compiler = subprocess.run(["rustc", "--version"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    table = rows(now, before.get("instructions", {}))
    print(f"{aligned(HEAD, table)}\n", flush=True)
    facts = [f"- now: {compiler.stdout.strip()}", f"- the run before: {before.get('compiler', 'none')}"]
    text = ["# Instructions of the core paths", "\n".join(facts), markdown(HEAD, table)]
    where = kept.folder(not options.keep)
    (where / "instructions.md").write_text("\n\n".join(text) + "\n")
    if options.keep:
        content = {"compiler": compiler.stdout.strip(), "instructions": now}
        KEPT.write_text(json.dumps(content, indent=1) + "\n")
    STDERR.say(f"wrote instructions.md to {where}{f' and {KEPT.name}' if options.keep else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
