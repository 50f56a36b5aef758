"""The tests of the sandbox once more, as an ordinary user: what holds root must hold others as well."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import hookless

HERE = Path(__file__).parent
NOBODY = 65_534
# Says that root may not mount here, so that an interpreter in root's home cannot be shown to another user.
NO_USER = os.environ.get("HOOKLESS_TEST_NO_USER") == "1"


def needed() -> list[str]:
    """Folders that the tests need, without those that lie in one another."""
    folders = {
        os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *hookless.__path__, str(HERE.parent))
    }
    return sorted(path for path in folders if not any(path.startswith(f"{other}/") for other in folders))


def closed_above(path: str) -> str | None:
    """The topmost folder above a path that others may not enter."""
    found = [str(one) for one in Path(path).parents if not one.stat().st_mode & 0o001]
    return found[-1] if found else None


def shown(command: list[str], hold: str) -> list[str]:
    """The command, in a mount namespace where folders that are closed to others hold only what is needed."""
    closed: dict[str, list[str]] = {}
    for path in needed():
        above = closed_above(path)
        if above is not None:
            closed.setdefault(above, []).append(path)
    if not closed:
        return command
    lines = ["set -e"]
    for number, (folder, paths) in enumerate(closed.items()):
        for index, path in enumerate(paths):
            kept = f"{hold}/{number}-{index}"
            os.mkdir(kept)
            lines.append(f"mount --bind {shlex.quote(path)} {kept}")
        lines.append(f"mount -t tmpfs -o mode=755 none {shlex.quote(folder)}")
        for index, path in enumerate(paths):
            lines.append(
                f"mkdir -p {shlex.quote(path)}; mount --bind {hold}/{number}-{index} {shlex.quote(path)}"
            )
    lines.append(f"exec {shlex.join(command)}")
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines)]


@pytest.mark.skipif(os.getuid() != 0, reason="they run as an ordinary user already")
@pytest.mark.skipif(NO_USER, reason="HOOKLESS_TEST_NO_USER=1 says that this machine cannot run them so")
def test_all_of_it_as_an_ordinary_user() -> None:
    """Root runs them again as nobody, without any capability."""
    assert shutil.which("setpriv") and shutil.which("unshare"), "the programs of util-linux are needed"
    names = sorted(path.name for path in HERE.glob("test_sandbox_*.py") if path.name != Path(__file__).name)
    if os.environ.get("HOOKLESS_NO_NUMPY") == "1":
        names.remove("test_sandbox_numpy.py")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        for name, owner in (("hold", 0), ("base", NOBODY)):
            os.mkdir(f"{folder}/{name}")
            os.chown(f"{folder}/{name}", owner, owner)
        pytest_command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        pytest_command += [f"--basetemp={folder}/base/t", *(f"tests/{name}" for name in names)]
        drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        drop += ["--inh-caps=-all", "--ambient-caps=-all"]
        environment = os.environ | {"HOME": f"{folder}/base"}
        done = subprocess.run(
            shown([*drop, "env", "-C", str(HERE.parent), *pytest_command], f"{folder}/hold"),
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    print(done.stdout.splitlines()[-1])
