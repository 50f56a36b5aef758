"""Runs the attacks of this folder, each in a process of its own, and prints what came of them.

python tests/attacks/run.py            all
python tests/attacks/run.py 3 17       some
python tests/attacks/run.py --write    all, and README.md anew
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import harness
from harness import HERE

# How outcomes begin: there, and here.
THERE = ("succeeds: ", "fails: ")
OURS = ("holds: ", "bounded: ", "not promised: ")

# No attack comes near this; it turns a hang into a failure.
SECONDS = 180

README = HERE / "README.md"


@dataclass(frozen=True)
class Entry:
    """One row of the log."""

    number: int
    title: str
    wants: str
    against: str
    there: str
    ours: str
    since: str

    def row(self) -> str:
        """Its line in README.md."""
        cells = (f"{self.number:02}", f"{self.title}: {self.wants}", self.against, self.there, self.ours)
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in (*cells, self.since)) + " |"


def files() -> list[Path]:
    """The attacks in order."""
    return sorted(HERE.glob("a[0-9][0-9]_*.py"))


def described(doc: str | None) -> tuple[str, dict[str, str]]:
    """Title and fields of an attack's docstring."""
    title, _, rest = (doc or "").strip().partition("\n")
    fields = dict(re.findall(r"^(\w+): (.+(?:\n {4}.+)*)", rest, re.MULTILINE))
    assert sorted(fields) == ["Against", "Since", "Wants"], f"the docstring has the fields {sorted(fields)}"
    return title.rstrip("."), {name: " ".join(text.split()) for name, text in fields.items()}


def attack(name: str) -> Entry:
    """Run one attack in this process, and in the current folder."""
    module = importlib.import_module(name)
    title, fields = described(module.__doc__)
    there = module.peer() if hasattr(module, "peer") else "–"
    assert there == "–" or there.startswith(THERE), there
    ours = module.ours()
    assert ours.startswith(OURS), ours
    return Entry(int(name[1:3]), title, fields["Wants"], fields["Against"], there, ours, fields["Since"])


def run(path: Path) -> Entry:
    """Run one attack in a process of its own. Raises AssertionError with what that process said."""
    command = [sys.executable, str(HERE / "run.py"), "--one", path.stem]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, f"{path.stem}: exit status {done.returncode}\n{done.stderr}"
    return Entry(**json.loads(done.stdout.splitlines()[-1]))


def readme(entries: list[Entry]) -> str:
    """The whole of README.md."""
    text, mark, _ = README.read_text().partition("| nr |")
    assert mark, "README.md has lost the head of its table"
    head = "| nr | attack | against | outcome there | hookless | since |\n|---|---|---|---|---|---|\n"
    return text + head + "".join(entry.row() + "\n" for entry in entries)


def chosen(numbers: list[int]) -> Iterator[Path]:
    """The files of these attacks; all without numbers."""
    known = {int(path.name[1:3]): path for path in files()}
    for number in numbers or sorted(known):
        if number not in known:
            sys.exit(f"there is no attack {number}: they go from {min(known)} to {max(known)}")
        yield known[number]


def main() -> None:
    """Parse the command line, and do what it asks for."""
    parser = argparse.ArgumentParser(description="Run the attacks on hookless, and on what it replaces.")
    parser.add_argument("numbers", metavar="NN", nargs="*", type=int, help="which ones; all without")
    parser.add_argument("--write", action="store_true", help="write README.md anew")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("--victim", nargs=2, metavar=("NAME", "MEMORY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.victim:
        name, memory = options.victim
        harness.be_victim(importlib.import_module(name).victim, int(memory))
        return
    if options.one:
        print(json.dumps(asdict(attack(options.one))))
        return
    entries, failed = [], 0
    for path in chosen(options.numbers):
        try:
            entry = run(path)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"{path.stem}: FAILED\n  {error}", flush=True)
            continue
        entries.append(entry)
        print(f"{entry.number:02} {entry.title}\n   {entry.against}: {entry.there}", flush=True)
        print(f"   hookless: {entry.ours}", flush=True)
    print(f"{len(entries)} passed, {failed} failed")
    if options.write and not failed and not options.numbers:
        README.write_text(readme(entries))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
