"""The libraries of the page are the files that ``versions.json`` describes, of the versions that are locked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.serving import ROOT

VENDOR = ROOT / "service" / "client" / "vendor"
ORIGINS: dict[str, dict[str, Any]] = json.loads((VENDOR / "versions.json").read_text("utf-8"))
MOST_BYTES = 25_000


def installed(lock: Path, package: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lock.read_text("utf-8"))["packages"][f"node_modules/{package}"]
    return found


def test_every_vendored_file_is_described() -> None:
    assert {path.name for path in VENDOR.iterdir()} == {*ORIGINS, "LICENSES.md", "versions.json"}


@pytest.mark.parametrize("name", ORIGINS)
def test_a_vendored_file_is_the_one_that_was_built(name: str) -> None:
    content = (VENDOR / name).read_bytes()
    assert len(content) == ORIGINS[name]["bytes"]
    assert hashlib.sha256(content).hexdigest() == ORIGINS[name]["sha256"]


@pytest.mark.parametrize("origin", ORIGINS.values(), ids=list(ORIGINS))
def test_a_vendored_library_has_the_locked_version_and_its_licence(origin: dict[str, Any]) -> None:
    locked = installed(ROOT / "tools" / "page" / "package-lock.json", origin["package"])
    assert (origin["version"], origin["licence"]) == (locked["version"], locked["license"])
    assert f"\n## {origin['package']} {origin['version']}\n" in (VENDOR / "LICENSES.md").read_text("utf-8")


def test_vendored_libraries_are_small() -> None:
    assert sum(origin["bytes"] for origin in ORIGINS.values()) <= MOST_BYTES
