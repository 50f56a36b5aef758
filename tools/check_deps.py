"""Checks the Rust dependencies by `cargo metadata` alone. The lists of what is allowed stand in deny.toml.

- Every licence in the graph can be met by the allowed ones.
- Nothing comes from git or from a registry other than crates.io.
- A crate that we name ourselves has one version in the graph, so that no type of its API exists twice.
- Members take their dependencies from the workspace table. Each entry there is used, and a comment above
  it or above its block gives the reason.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from steps import ROOT, environment

CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
KINDS = ("dependencies", "dev-dependencies", "build-dependencies")

Package = dict[str, Any]


def licence_allowed(expression: str, allowed: Iterable[str]) -> bool:
    """Whether an SPDX expression can be met. `A/B`, the old form of crates.io, means `A OR B`."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    permitted = frozenset(allowed)

    def any_of() -> bool:
        met = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = all_of() or met
        return met

    def all_of() -> bool:
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        token = tokens.pop(0) if tokens else ""
        if token == "(":
            met = any_of()
            return bool(tokens) and tokens.pop(0) == ")" and met
        if tokens[:1] == ["WITH"]:
            token = f"{token} {tokens.pop(0)} {tokens.pop(0) if tokens else ''}"
        return token in permitted

    return any_of() and not tokens


def check_licences(packages: list[Package], allowed: list[str]) -> Iterator[str]:
    """Complain about every package whose licence is not among the allowed ones."""
    for package in packages:
        licence = package["license"]
        if licence is None or not licence_allowed(licence, allowed):
            yield f"{package['name']} {package['version']}: licence {licence!r} is not allowed by deny.toml"


def check_sources(packages: list[Package]) -> Iterator[str]:
    """Complain about every package that is neither ours nor from crates.io."""
    for package in packages:
        if package["source"] not in (None, CRATES_IO):
            yield f"{package['name']} {package['version']}: is from {package['source']}, not crates.io"


def check_duplicates(packages: list[Package], members: set[str]) -> Iterator[str]:
    """Complain about every crate that a member names and that is in the graph in incompatible versions."""
    ours = [package for package in packages if package["id"] in members]
    direct = {dependency["name"] for package in ours for dependency in package["dependencies"]}
    versions = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    for name in sorted(direct):
        if len({_compatible(version) for version in versions[name]}) > 1:
            yield f"{name}: is in the graph as {', '.join(sorted(versions[name]))}; `cargo tree -d -i {name}`"


def check_reasons(manifest: str, used: set[str]) -> Iterator[str]:
    """Complain about every workspace dependency without a reason, and about every one that no member uses."""
    table = tomllib.loads(manifest)["workspace"]["dependencies"]
    section = manifest.partition("[workspace.dependencies]\n")[2].partition("\n[")[0]
    unseen = {name for name, spec in table.items() if "path" not in spec}
    reason = False
    for line in section.splitlines():
        name = line.partition("=")[0].strip().strip('"').partition(".")[0]
        if not line.strip():
            reason = False
        elif line.startswith("#"):
            reason = True
        elif name in unseen:
            unseen.remove(name)
            if not reason:
                yield f"Cargo.toml: {name} has no comment above it that says what it is for"
    for name in sorted(unseen):
        yield f"Cargo.toml: {name} must be one `{name} = ...` in the table [workspace.dependencies]"
    for name in sorted(table.keys() - used):
        yield f"Cargo.toml: {name} is in [workspace.dependencies], but no member uses it"


def check_inherited(manifests: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Complain about every dependency of a member that does not come from the workspace table."""
    for where, manifest in manifests.items():
        for name, spec in _dependencies(manifest):
            if not isinstance(spec, dict) or spec.get("workspace") is not True:
                yield f"{where}: {name} must come from the workspace: {name}.workspace = true"


def _dependencies(manifest: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for table in (manifest, *manifest.get("target", {}).values()):
        for kind in KINDS:
            yield from table.get(kind, {}).items()


def _compatible(version: str) -> str:
    """What Cargo takes for one version: the numbers up to the first that is not zero."""
    numbers = re.split(r"[-+]", version)[0].split(".")
    first = next((index for index, number in enumerate(numbers) if number != "0"), len(numbers) - 1)
    return ".".join(numbers[: first + 1])


def main() -> int:
    """Print what is wrong, or one line that says how much was looked at."""
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, end="")
        return 1
    metadata = json.loads(done.stdout)
    packages = metadata["packages"]
    members = set(metadata["workspace_members"])
    deny = tomllib.loads((ROOT / "deny.toml").read_text())
    paths = [Path(package["manifest_path"]) for package in packages if package["id"] in members]
    manifests = {str(path.relative_to(ROOT)): tomllib.loads(path.read_text()) for path in paths}
    used = {name for manifest in manifests.values() for name, _ in _dependencies(manifest)}
    complaints = [
        *check_licences(packages, deny["licenses"]["allow"]),
        *check_sources(packages),
        *check_duplicates(packages, members),
        *check_reasons((ROOT / "Cargo.toml").read_text(), used),
        *check_inherited(manifests),
    ]
    print("\n".join(complaints) or f"{len(packages)} packages, {len(used)} of them named by us")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
