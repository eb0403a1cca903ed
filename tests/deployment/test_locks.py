"""Everything that is installed is locked with hashes, also what the package is built with."""

from __future__ import annotations

import re
import subprocess
import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from packaging.dependency_groups import resolve_dependency_groups
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deployment.pip_commands import assert_locked
from tests.support.serving import ROOT

LOCKS = sorted((ROOT / "locks").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def entries(lock: Path) -> list[str]:
    """The entries of a lock file, each with its continuation lines, without comments."""
    text = re.sub(r"^#.*\n", "", lock.read_text("utf-8"), flags=re.MULTILINE)
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def requirement(entry: str) -> Requirement:
    return Requirement(entry.partition(" --hash")[0])


def versions(lock: Path) -> dict[str, str]:
    """The locked versions by name; with its marker in the name if there are several."""
    found = [requirement(entry) for entry in entries(lock)]
    return {f"{it.name} {it.marker or ''}": str(it.specifier) for it in found}


def test_there_is_a_lock_file_for_each_purpose() -> None:
    assert [lock.stem for lock in LOCKS] == ["bench", "build", "clients", "compile", "dev", "mcp", "run"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_requirement_has_one_version_and_hashes(lock: Path) -> None:
    for entry in entries(lock):
        (specifier,) = requirement(entry).specifier
        assert specifier.operator == "==", entry
        assert re.fullmatch(r"( +--hash=sha256:[0-9a-f]{64})+ *", "".join(entry.partition(" --hash")[1:])), entry


def in_groups(*names: str) -> list[str]:
    """What the package requires, and what these groups of developers add to it."""
    return [*PROJECT["project"]["dependencies"], *groups(*names)]


def groups(*names: str) -> tuple[str, ...]:
    return resolve_dependency_groups(PROJECT["dependency-groups"], *names)


@pytest.mark.parametrize(
    ("lock", "required"),
    [
        ("build", PROJECT["build-system"]["requires"]),
        ("compile", [*PROJECT["build-system"]["requires"], *groups("compile")]),
        ("run", in_groups()),
        ("mcp", [*groups("mcp")]),
        ("dev", in_groups("dev")),
        ("clients", in_groups("clients")),
        ("bench", in_groups("bench")),
    ],
)
def test_what_is_required_is_locked(lock: str, required: list[str]) -> None:
    locked = {it.name: it for it in map(requirement, entries(ROOT / "locks" / f"{lock}.txt"))}
    assert required
    for it in map(Requirement, required):
        (version,) = locked[canonicalize_name(it.name)].specifier
        assert it.specifier.contains(version.version), it


def test_what_developers_need_is_no_part_of_the_published_package() -> None:
    assert "optional-dependencies" not in PROJECT["project"]


@pytest.mark.parametrize(("one", "other"), list(combinations(LOCKS, 2)), ids=lambda lock: lock.stem)
def test_lock_files_agree_on_versions(one: Path, other: Path) -> None:
    here, there = versions(one), versions(other)
    common = here.keys() & there.keys()
    assert {name: here[name] for name in common} == {name: there[name] for name in common}


@pytest.mark.parametrize(
    "target", ["install", "install-dev", ".venv/.clients-installed", ".venv-bench/.bench-installed"]
)
def test_make_installs_nothing_that_is_not_locked(target: str) -> None:
    planned = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "--always-make", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    installs = [line for line in planned.splitlines() if "pip" in line.split() and "install" in line.split()]
    assert installs
    for line in installs:
        assert_locked(line.split())
    assert all("ci" in line.split() for line in planned.splitlines() if "npm" in line)
