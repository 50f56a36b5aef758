"""Virtual environments that hold hookless, built in release mode from this tree.

    tools/python.sh tools/venvs.py demo -- examples/demo.py

makes `.venv` by the interpreter that runs this file, installs what tools/requirements-demo.txt pins, builds
and installs the wheel, and runs the rest of the line in it. A second run with nothing changed makes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from steps import ROOT, Steps, environment, stop

TOOLS = ROOT / "tools"
BINDING = ROOT / "bindings" / "python"

# Everything that the wheel is made of. A change in one of these rebuilds it.
SOURCES = ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "crates", "bindings/python")
SUFFIXES = {".rs", ".toml", ".lock", ".py", ".pyi", ".typed", ".md"}
NOT_SOURCES = {"__pycache__", "tests", "target"}

# Held while a wheel is built, which environments that are prepared at the same time may share.
_BUILDING = threading.Lock()


class Environment:
    """One virtual environment in the root of the tree."""

    def __init__(self, name: str, base: str = sys.executable) -> None:
        self.path = ROOT / name
        self.python = self.path / "bin" / "python"
        self.base = base
        self._stamp = self.path / "hookless.json"

    def ensure(self, steps: Steps, needs: Sequence[str], *, hookless: bool = True) -> None:
        """Make the environment have `needs` and, unless it is not wanted, hookless as it is in the tree now.

        A need is a pin ("numpy==2.0.2") or the middle of the name of a file tools/requirements-*.txt.
        """
        stamp = self._read_stamp()
        version = subprocess.run([self.base, "-VV"], capture_output=True, text=True, check=True)
        maker = [self.base, version.stdout]
        if stamp.get("maker") != maker or not self.python.exists():
            self._create(steps)
            stamp = self._write_stamp({"maker": maker})
        pins = {need: _pins(need) for need in ("build", *needs)}
        if any(stamp.get(need) != pin for need, pin in pins.items()):
            self._write_stamp({"maker": maker})
            self._install(steps, list(pins))
            stamp = self._write_stamp(stamp | pins)
        if not hookless:
            return
        sources = _hash_sources()
        if stamp.get("sources") != sources:
            wheel = self._wheel(steps, sources)
            command = [*self._pip(), "install", "--quiet", "--force-reinstall", "--no-deps", "--no-index"]
            steps.run(f"set-up: install into {self.path.name}", *command, wheel)
            self._write_stamp(stamp | {"sources": sources})

    def _read_stamp(self) -> dict[str, object]:
        try:
            stamp: dict[str, object] = json.loads(self._stamp.read_text())
        except (OSError, ValueError):
            return {}
        return stamp

    def _write_stamp(self, stamp: dict[str, object]) -> dict[str, object]:
        """Note what the environment holds for certain: a run that was broken off goes on from there."""
        self._stamp.write_text(json.dumps(stamp, indent=1))
        return stamp

    def _create(self, steps: Steps) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        options = []
        if not _has(self.base, "ensurepip"):
            # Debian's python3 without python3-venv: the environment borrows the pip of its base.
            if not _has(self.base, "venv") or not _has(self.base, "pip"):
                stop(
                    f"{self.base} can neither make a virtual environment with pip nor lend one its own pip.\n"
                    f"Debian, Ubuntu: {_apt()} python3-venv python3-pip\n"
                    "or name another interpreter, as in: make PYTHON=/opt/python3.12/bin/python3"
                )
            options.append("--without-pip")
        steps.run(f"set-up: make {self.path.name}", self.base, "-m", "venv", *options, self.path)

    def _pip(self) -> list[str | Path]:
        if list(self.path.glob("lib/python3*/site-packages/pip")):
            return [self.python, "-m", "pip", "--disable-pip-version-check"]
        return [self.base, "-m", "pip", "--disable-pip-version-check", "--python", self.python]

    def _install(self, steps: Steps, needs: list[str]) -> None:
        command = [*self._pip(), "install", "--quiet", "--constraint", TOOLS / "constraints.txt"]
        for need in needs:
            command += [need] if "==" in need else ["--requirement", TOOLS / f"requirements-{need}.txt"]
        steps.run(f"set-up: install {', '.join(needs)}", *command)

    def _wheel(self, steps: Steps, sources: str) -> Path:
        """The wheel of this state of the sources for this interpreter, built once for all environments."""
        with _BUILDING:
            return self._wheel_once(steps, sources)

    def _wheel_once(self, steps: Steps, sources: str) -> Path:
        key = hashlib.sha256(f"{sources} {self.base}".encode()).hexdigest()[:16]
        wheels = ROOT / "target" / "wheels"
        made = list((wheels / key).glob("*.whl"))
        if not made:
            check_compilers()
            partial = wheels / f"{key}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            maturin = (self.python, "-m", "maturin", "build", "--release", "--locked", "--out", partial)
            manifest = ("--manifest-path", BINDING / "Cargo.toml", "--interpreter", self.python)
            local = ("--compatibility", "linux")  # for this machine: nothing to repair, nothing to upload
            steps.run("set-up: build the wheel (release)", *maturin, *manifest, *local)
            shutil.rmtree(wheels / key, ignore_errors=True)
            partial.rename(wheels / key)
            made = list((wheels / key).glob("*.whl"))
        (wheel,) = made
        return wheel


def check_compilers() -> None:
    """Stop with what to do when Rust or the C compiler that links it is not on this machine."""
    env = environment()
    if shutil.which("cc", path=env["PATH"]) is None:
        stop(f"no C compiler (`cc`), which Rust links with. Debian, Ubuntu: {_apt()} build-essential")
    if shutil.which("cargo", path=env["PATH"]) is None:
        stop("no Rust (`cargo`): install rustup from https://rustup.rs; it then fetches the pinned toolchain")
    # Where the toolchain that rust-toolchain.toml pins is not there yet, this downloads it.
    cargo = subprocess.run(["cargo", "--version"], cwd=ROOT, env=env, capture_output=True, text=True)
    if cargo.returncode != 0:
        stop(f"`cargo --version` fails in {ROOT}:\n{cargo.stderr}")


def _apt() -> str:
    return "apt-get install" if os.geteuid() == 0 else "sudo apt-get install"


def _has(python: str, module: str) -> bool:
    probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-I", "-c", probe]).returncode == 0


def _pins(need: str) -> str:
    """What a need stands for now, with the files that it includes."""
    if "==" in need:
        return need
    lines = (TOOLS / f"requirements-{need}.txt").read_text().splitlines()
    included = re.findall(r"^-r requirements-(.*)\.txt$", "\n".join(lines), re.MULTILINE)
    text = "\n".join([(TOOLS / "constraints.txt").read_text(), *lines, *map(_pins, included)])
    return hashlib.sha256(text.encode()).hexdigest()


def _hash_sources() -> str:
    digest = hashlib.sha256(os.environ.get("RUSTFLAGS", "").encode())
    for path in _source_files():
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(ROOT)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _source_files() -> Iterator[Path]:
    for name in SOURCES:
        top = ROOT / name
        if top.is_file():
            yield top
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(set(folders) - NOT_SOURCES)
            yield from (Path(folder, file) for file in sorted(files) if Path(file).suffix in SUFFIXES)


def main() -> None:
    """Parse the command line, prepare the environment, and become the program that shall run in it."""
    usage = "%(prog)s [--venv FOLDER] NEED... -- PROGRAM..."
    parser = argparse.ArgumentParser(usage=usage, description="Run a program where hookless is installed.")
    parser.add_argument("--venv", metavar="FOLDER", default=".venv", help="default: %(default)s")
    parser.add_argument("needs", nargs="+", help="tools/requirements-NEED.txt, or a pin such as numpy==2.0.2")
    if "--" not in sys.argv:
        parser.error("no `-- PROGRAM`")
    split = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:split])
    venv = Environment(options.venv)
    venv.ensure(Steps("set-up"), options.needs)
    os.chdir(ROOT)
    os.execve(venv.python, [str(venv.python), *sys.argv[split + 1 :]], environment())


if __name__ == "__main__":
    main()
