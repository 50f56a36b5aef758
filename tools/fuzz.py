"""Fuzzing: `make fuzz SECONDS=600`, and the smoke of every target in `make ci`.

    tools/python.sh tools/fuzz.py --seconds 600 [TARGET...]    fuzz for so long in all
    tools/python.sh tools/fuzz.py --smoke                      a fixed number of runs, and the planted bugs
    tools/python.sh tools/fuzz.py --minimise                   put what is new into tests/fuzz/corpus

The targets are the programs of tests/fuzz and, with Python embedded, of tests/fuzz/python. Each begins with
the vectors of proto/ and the corpus in git; what it finds that reaches new code is kept in
target/fuzz/TARGET/corpus. An input that fails is printed in hex, with the command that replays it.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from corpus import pack, unpack
from steps import ROOT, Steps, environment, stop
from venvs import BINDING, Environment, check_compilers

CRATE = ROOT / "tests" / "fuzz"
# Its targets have the Python inside that runs this program.
EMBEDDED = CRATE / "python"
PACKAGES = {CRATE: "hookless-fuzz", EMBEDDED: "hookless-fuzz-python"}
WORK = ROOT / "target" / "fuzz"

# What `cargo fuzz build` would pass, but for its single codegen unit, which leaves a second processor idle.
# Both crates are built by one command, so that what they share is compiled once, with the same features.
INSTRUMENTED = (
    "--cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
    " -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
    " -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-stack-depth"
    " -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
)

# What a smoke runs: enough to find the planted bug several times over, see `smoke`.
SMOKE_RUNS = 5_000
PLANTED_RUNS = 50_000

# A single input takes no such time, in seconds, and no such memory, in MiB.
LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-max_len=40000")


@dataclass(frozen=True)
class Target:
    """One program of tests/fuzz."""

    name: str
    program: Path
    # What it needs in its environment.
    env: Mapping[str, str]

    @property
    def work(self) -> Path:
        """What is kept between runs."""
        return WORK / self.name

    @property
    def archive(self) -> Path:
        """The minimised corpus in git."""
        return CRATE / "corpus" / f"{self.name}.tar.xz"

    @property
    def kept(self) -> Path:
        """The same, unpacked."""
        return self.work / "kept"

    def seeds(self, *kinds: str) -> list[Path]:
        """The folders of vectors that it begins with."""
        return [WORK / "seeds" / kind for kind in kinds]


@dataclass(frozen=True)
class Outcome:
    """How a run of a target ended."""

    target: Target
    output: str
    failed: bool
    input: Path | None

    @property
    def runs(self) -> int:
        """The inputs that were run."""
        counts = re.findall(r"^(?:stat::number_of_executed_units: |#)(\d+)", self.output, re.MULTILINE)
        return max(map(int, counts), default=0)

    @property
    def covered(self) -> str:
        """The edges that libFuzzer has seen."""
        found = re.findall(r"\bcov: (\d+) ft: (\d+)", self.output)
        return "{} edges, {} features".format(*found[-1]) if found else "nothing covered"


def run(target: Target, *arguments: str | Path, name: str, planted: bool = False) -> Outcome:
    """Run a target; an input that fails is kept in a folder of the run's own."""
    artifacts = target.work / name
    shutil.rmtree(artifacts, ignore_errors=True)
    artifacts.mkdir(parents=True)
    command = [target.program, *LIMITS, f"-artifact_prefix={artifacts}/", "-print_final_stats=1", *arguments]
    env = environment({**target.env, "HOOKLESS_PLANTED": "1"})
    if not planted:
        env.pop("HOOKLESS_PLANTED", None)
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, errors="replace")
    inputs = sorted(artifacts.iterdir())
    return Outcome(target, done.stderr, done.returncode != 0, inputs[0] if inputs else None)


def prepare(steps: Steps, names: list[str]) -> list[Target]:
    """Build the targets, and write the seeds."""
    check_compilers()
    env = environment()
    _check_cpp(env["PATH"])
    known = {name: crate for crate in (CRATE, EMBEDDED) for name in _programs(crate)}
    for name in names:
        if name not in known:
            stop(f"fuzz: no target {name}; there are {', '.join(known)}")
    wanted = {name: known[name] for name in names or known}
    _build(steps, wanted, _host_triple(env))
    programs = built() / "release"
    embedding = _python(steps) if EMBEDDED in wanted.values() else {}
    targets = [
        Target(name, programs / name, embedding if crate == EMBEDDED else {})
        for name, crate in wanted.items()
    ]
    shutil.rmtree(WORK / "seeds", ignore_errors=True)
    seeds = ("cargo", "run", "--locked", "-p", "hookless-tests", "--example", "seeds")
    steps.run("seeds from the vectors", *seeds, WORK / "seeds")
    for target in targets:
        unpack(target.archive, target.kept)
    return targets


def built() -> Path:
    """Where cargo puts what is built for the targets, and nothing else."""
    env = environment()
    return Path(env.get("CARGO_TARGET_DIR") or ROOT / "target") / _host_triple(env)


def _build(steps: Steps, wanted: Mapping[str, Path], triple: str) -> None:
    """Build programs with libFuzzer and its instruments; debug assertions and overflow checks are on."""
    packages = sorted({PACKAGES[crate] for crate in wanted.values()})
    named = [word for package in packages for word in ("-p", package)]
    named += [word for name in wanted for word in ("--bin", name)]
    # What would only make the build long is off.
    fast = {
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "CARGO_PROFILE_RELEASE_DEBUG": "line-tables-only",
        "PYO3_PYTHON": sys.executable,
        "RUSTFLAGS": INSTRUMENTED,
    }
    steps.run("build", "cargo", "build", "--locked", "--release", "--target", triple, *named, env=fast)


def _programs(crate: Path) -> list[str]:
    return [one["name"] for one in tomllib.loads((crate / "Cargo.toml").read_text())["bin"]]


def _python(steps: Steps) -> dict[str, str]:
    """What an embedded Python is told: where it lives, hookless's own modules in this tree, and NumPy."""
    settings = sysconfig.get_config_vars()
    library = "LDLIBRARY" if settings["Py_ENABLE_SHARED"] else "LIBRARY"
    if not (Path(settings["LIBDIR"]) / settings[library]).exists():
        _install(f"libpython{settings['py_version_short']}-dev", f"{settings[library]} to be linked with")
    venv = Environment(".venv-fuzz")
    venv.ensure(steps, ("numpy",), hookless=False)
    (packages,) = venv.path.glob("lib/python3*/site-packages")
    return {
        "PYTHONHOME": sys.base_prefix,
        "PYTHONPATH": os.pathsep.join([str(BINDING / "python"), str(packages)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        # Keyed as ever, but alike in each run.
        "PYTHONHASHSEED": "1",
    }


def _host_triple(env: dict[str, str]) -> str:
    done = subprocess.run(["rustc", "-vV"], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout.partition("host: ")[2].partition("\n")[0]


def _check_cpp(path: str) -> None:
    """LibFuzzer is compiled from C++."""
    if not any(shutil.which(name, path=path) for name in ("c++", "g++", "clang++")):
        _install("g++", "C++ compiler, of which libFuzzer is built")


def _install(package: str, missing: str) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        stop(f"no {missing}. Debian, Ubuntu: sudo apt-get install {package}")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", package], check=True)


def fuzz(targets: list[Target], seconds: int) -> bool:
    """Run the targets, as many at once as there are processors; whether nothing was found."""
    workers = min(os.cpu_count() or 1, len(targets))
    each = max(1, seconds * workers // len(targets))

    def one(target: Target) -> Outcome:
        corpus = target.work / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        begin = [target.kept, *target.seeds("accept", "reject")]
        return run(target, f"-max_total_time={each}", corpus, *begin, name="found")

    with ThreadPoolExecutor(workers) as pool:
        outcomes = list(pool.map(one, targets))
    for outcome in outcomes:
        report(outcome, f"{each} s")
    return not any(outcome.failed for outcome in outcomes)


def report(outcome: Outcome, limit: str) -> None:
    """Print the line of a run, and what it found."""
    found = f"{outcome.covered}, {int(outcome.failed)} findings"
    print(
        f"{outcome.target.name:<12} {limit}: {outcome.runs} executions, {found}",
        flush=True,
    )
    if not outcome.failed:
        return
    print("\n".join(outcome.output.splitlines()[-40:]))
    if outcome.input is not None:
        content = outcome.input.read_bytes()
        shown = content[:4096].hex() + (" … (cut)" if len(content) > 4096 else "")
        print(f"\nthe input, {len(content)} bytes, in hex:\n{shown}\nOnce more, without the fuzzer:")
        needs = {**outcome.target.env, **({"PYO3_PYTHON": sys.executable} if outcome.target.env else {})}
        setting = "".join(f"{name}={shlex.quote(value)} " for name, value in needs.items())
        package = PACKAGES[EMBEDDED if outcome.target.env else CRATE]
        print(f"  {setting}cargo run -p {package} --bin {outcome.target.name} -- {outcome.input}")


def smoke(targets: list[Target]) -> bool:
    """Run each target from fixed seeds, as it is and with its planted bug; whether all went as it should."""
    good = True
    for target in targets:
        begin = [target.kept, *target.seeds("accept", "reject")]
        outcome = run(target, f"-runs={SMOKE_RUNS}", "-seed=1", _scratch(target), *begin, name="smoke")
        report(outcome, "smoke")
        good &= not outcome.failed and outcome.runs >= SMOKE_RUNS // 2
        # The planted one begins with good frames only: the bug has to be reached by damage.
        begin = [_scratch(target), *target.seeds("accept")]
        outcome = run(target, f"-runs={PLANTED_RUNS}", "-seed=1", *begin, name="planted", planted=True)
        found = outcome.failed and outcome.input is not None and "panicked at" in outcome.output
        verdict = "found" if found else f"NOT FOUND\n{outcome.output[-2000:]}"
        print(f"{target.name:<12} planted bug: {verdict}, after {outcome.runs} executions", flush=True)
        good &= found
    return good


def _scratch(target: Target) -> Path:
    """An empty corpus: a smoke does not depend on what was run before."""
    scratch = target.work / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    return scratch


def minimise(targets: list[Target]) -> None:
    """Make the corpus in git of the fewest inputs that reach what the vectors do not."""
    for target in targets:
        merged = _scratch(target)
        # What stands in the first folder is kept: the vectors are in git already.
        for folder in target.seeds("accept", "reject"):
            for seed in folder.iterdir():
                shutil.copy(seed, merged / f"seed-{folder.name}-{seed.name}")
        run(target, "-merge=1", "-max_len=4096", merged, target.kept, target.work / "corpus", name="merge")
        found = [one.read_bytes() for one in merged.iterdir() if not one.name.startswith("seed-")]
        count = pack(found, target.archive)
        size = target.archive.stat().st_size
        print(f"{target.name:<12} {count} of {len(found)} inputs, {size} bytes packed", flush=True)


def main() -> int:
    """Parse the command line and do what it asks."""
    parser = argparse.ArgumentParser(description="Fuzz the decoders.")
    parser.add_argument("--seconds", type=int, default=60, help="how long in all (default: %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="a fixed number of runs, and the planted bugs")
    parser.add_argument("--minimise", action="store_true", help="make the corpus in git anew")
    parser.add_argument("targets", nargs="*", help="default: all")
    options = parser.parse_args()
    steps = Steps("fuzz")
    targets = prepare(steps, options.targets)
    if options.minimise:
        minimise(targets)
        return 0
    good = smoke(targets) if options.smoke else fuzz(targets, options.seconds)
    print("fuzz: nothing found" if good else "fuzz: FAILED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
