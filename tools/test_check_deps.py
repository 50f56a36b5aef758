"""Each check of the dependencies is seen to fail."""

from __future__ import annotations

import tomllib

import pytest

from check_deps import (
    check_duplicates,
    check_inherited,
    check_licences,
    check_reasons,
    check_sources,
    licence_allowed,
)

ALLOWED = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("GPL-3.0/MIT", True),
        ("GPL-3.0 AND MIT", False),
        ("(GPL-3.0 OR MIT) AND Apache-2.0", True),
        ("MIT AND (GPL-3.0 OR LGPL-3.0)", False),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", True),
        ("Apache-2.0 WITH Other-exception", False),
        ("MIT Apache-2.0", False),
        ("(MIT", False),
        ("", False),
    ],
)
def test_licence_expressions(expression: str, met: bool) -> None:
    assert licence_allowed(expression, ALLOWED) is met


def package(name: str, version: str = "1.0.0", **fields: object) -> dict[str, object]:
    source = "registry+https://github.com/rust-lang/crates.io-index"
    defaults = {"id": f"{name} {version}", "license": "MIT", "source": source, "dependencies": []}
    return {"name": name, "version": version, **defaults, **fields}


def test_licences() -> None:
    packages = [package("free"), package("bound", license="GPL-3.0"), package("unsaid", license=None)]
    assert [line.split()[0] for line in check_licences(packages, ALLOWED)] == ["bound", "unsaid"]


def test_sources() -> None:
    git = "git+https://example.org/x#1"
    packages = [package("ours", source=None), package("far"), package("git", source=git)]
    assert [line.split()[0] for line in check_sources(packages)] == ["git"]


def test_duplicates() -> None:
    ours = package("ours", source=None, dependencies=[{"name": "a"}, {"name": "b"}, {"name": "c"}])
    others = ["a 0.3.1", "a 0.4.0", "b 1.2.0", "b 1.9.9", "c 2.0.0", "d 1.0.0", "d 2.0.0"]
    packages = [ours, *(package(*other.split()) for other in others)]
    assert [line.split(":")[0] for line in check_duplicates(packages, {"ours 1.0.0"})] == ["a"]


def test_reasons() -> None:
    manifest = """
[workspace.dependencies]
own = { path = "own" }
bare = "1"
# A reason for two.
first = "1"
second = { version = "1", features = ["x"] }

after_a_blank_line = "1"
# Nobody wants it.
unused = "1"

[workspace.dependencies.table]
version = "1"
"""
    found = list(check_reasons(manifest, {"own", "bare", "first", "second", "after_a_blank_line", "table"}))
    assert [line.split()[1] for line in found] == ["bare", "after_a_blank_line", "table", "unused"]


def test_inherited() -> None:
    manifest = tomllib.loads("""
[dependencies]
right.workspace = true
wrong = "1"
[target.'cfg(unix)'.dev-dependencies]
also_wrong = { version = "1" }
""")
    assert [line.split()[1] for line in check_inherited({"x": manifest})] == ["wrong", "also_wrong"]
