"""The version stands in ``pyproject.toml`` alone; what else names it agrees."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import pytest

from tests.api.client import Api
from tests.support.contract import committed
from tests.support.serving import ROOT
from tools.release import CHANGELOG, DATE, HEADING, unready
from tools.release import version as declared

KUBERNETES = ROOT / "examples" / "kubernetes"
DATED = f"# Changelog\n\n## [{declared()}] - 2026-12-01\n\n### Added\n\n## [0.0.9] - 2026-01-01\n"


def test_the_service_tells_the_declared_version(api: Api) -> None:
    told: Any = api.get("/version").json
    # If these differ, the package was installed before the version was changed: make install
    assert told["version"] == version("domino-service") == declared()
    assert (told["engine"], told["api_level"]) == ("pure", 1)


def test_the_changelog_begins_with_the_version_and_its_date_or_unreleased() -> None:
    newest = HEADING.search(CHANGELOG.read_text("utf-8"))
    assert newest is not None
    assert newest[1] == declared()
    assert newest[2] == "unreleased" or DATE.fullmatch(newest[2])


def test_the_document_has_the_version() -> None:
    assert committed().document["info"]["version"] == declared()


def test_the_example_for_kubernetes_has_the_image_of_the_version() -> None:
    texts = [file.read_text("utf-8") for file in sorted(KUBERNETES.glob("*.yaml"))]
    assert {tag for text in texts for tag in re.findall(r"image: \S+/domino-service:(\S+)", text)} == {declared()}


def test_no_module_of_the_service_has_the_version() -> None:
    literal = re.compile(rf"[\"']v?{re.escape(declared())}[\"']")
    assert [file for file in (ROOT / "service").rglob("*.py") if literal.search(file.read_text("utf-8"))] == []


def test_a_version_with_its_date_is_ready_for_its_tag() -> None:
    assert unready(f"v{declared()}", DATED) == ""


@pytest.mark.parametrize(
    ("tag", "changelog", "reason"),
    [
        ("v9.9.9", DATED, "the tag v9.9.9 is not"),
        (declared(), DATED, "the tag"),
        (f"v{declared()}", DATED.replace("2026-12-01", "unreleased"), "the changelog does not begin"),
        (f"v{declared()}", DATED.replace(declared(), "9.9.9"), "the changelog does not begin"),
        (f"v{declared()}", "# Changelog\n", "the changelog does not begin"),
    ],
)
def test_a_version_that_is_not_ready_is_told_why(tag: str, changelog: str, reason: str) -> None:
    assert unready(tag, changelog).startswith(reason)
