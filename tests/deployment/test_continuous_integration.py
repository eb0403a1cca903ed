"""One workflow runs what ``.ci/run`` runs, and the quick tests on each Python that the package names; another runs all
tests, each night and before a release.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

import pytest
import yaml

from tests.support.serving import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS: dict[str, dict[Any, Any]] = {
    name: yaml.safe_load((GITHUB / "workflows" / f"{name}.yml").read_text("utf-8")) for name in ("ci", "nightly")
}
JOBS: dict[str, dict[str, Any]] = WORKFLOWS["ci"]["jobs"]
NIGHTLY_JOBS: dict[str, dict[str, Any]] = WORKFLOWS["nightly"]["jobs"]
ALL_JOBS = [*JOBS.values(), *NIGHTLY_JOBS.values()]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSIONS = [text.rpartition(" :: ")[2] for text in PROJECT["classifiers"] if "Python :: " in text]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


class MakeCall(NamedTuple):
    """One call of make: its targets, and the words of ``ARGS``."""

    targets: list[str]
    arguments: list[str]


def make_call(line: str) -> MakeCall:
    """The call of make that this line of a shell script consists of."""
    found = re.fullmatch(r"(?:[A-Z]+=\w+ )*(?:exec )?make ([a-z -]+?)(?: ARGS=\"([^\"]*)\")?", line)
    assert found, line
    return MakeCall(found[1].split(), (found[2] or "").split())


LOCAL = make_call((ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1])
CALLS = {name: make_call(step["run"]) for name, job in JOBS.items() for step in job["steps"] if "run" in step}
BY_NIGHT = {
    name: make_call(step["run"]) for name, job in NIGHTLY_JOBS.items() for step in job["steps"] if "run" in step
}


def test_every_job_calls_make_once() -> None:
    for jobs in (JOBS, NIGHTLY_JOBS):
        assert [name for name, job in jobs.items() for step in job["steps"] if "run" in step] == list(jobs)


@pytest.mark.parametrize("call", [LOCAL, *CALLS.values(), *BY_NIGHT.values()])
def test_make_has_the_targets(call: MakeCall) -> None:
    assert set(call.targets) <= TARGETS


def test_the_script_runs_the_checks_and_two_lanes() -> None:
    assert MakeCall(["check", "test", "gate"], ["--require", "tests/browser"]) == LOCAL


def test_the_jobs_run_what_the_script_runs() -> None:
    assert [target for call in CALLS.values() for target in call.targets] == LOCAL.targets
    assert CALLS["gate"].arguments == LOCAL.arguments


def test_all_tests_run_by_night() -> None:
    assert BY_NIGHT["nightly"] == MakeCall(["nightly"], ["--require", "tests/browser"])
    # PyYAML reads the key ``on`` as true.
    assert WORKFLOWS["nightly"][True].keys() == {"schedule", "workflow_dispatch", "workflow_call"}


def test_quick_tests_run_on_every_version_of_python_that_the_package_names() -> None:
    assert CALLS["quick"] == MakeCall(["test"], [])
    assert JOBS["quick"]["strategy"]["matrix"]["python-version"] == VERSIONS
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"


@pytest.mark.parametrize("job", ALL_JOBS)
def test_a_job_has_a_python_that_the_package_names(job: dict[str, Any]) -> None:
    (version,) = [step["with"]["python-version"] for step in job["steps"] if "set-up" in step.get("uses", "")]
    assert version in {"${{ matrix.python-version }}", *VERSIONS}


def test_a_job_may_only_read_and_ends() -> None:
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    assert not [job for job in ALL_JOBS if "permissions" in job]
    assert max(job["timeout-minutes"] for job in JOBS.values()) <= 60
    assert all("timeout-minutes" in job for job in NIGHTLY_JOBS.values())


def test_actions_of_others_are_pinned_to_a_commit() -> None:
    used = [
        line.partition("uses: ")[2]
        for path in sorted(GITHUB.rglob("*.yml"))
        for line in path.read_text("utf-8").splitlines()
        if "uses: " in line
    ]
    assert used
    for action in used:
        if action.startswith("./"):
            assert (ROOT / action).is_file() or (ROOT / action / "action.yml").is_file()
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_caches_are_keyed_by_lock_files_that_exist() -> None:
    action = (GITHUB / "actions" / "set-up" / "action.yml").read_text("utf-8")
    (patterns,) = re.findall(r"cache-dependency-path: (.+)", action)
    (hashed,) = re.findall(r"hashFiles\((.+)\)", action)
    assert sorted(ROOT.glob(patterns)) == sorted((ROOT / "locks").iterdir())
    locks = {path.strip(" '") for path in hashed.split(",")}
    assert locks == {"tools/page/package-lock.json", "tests/browser/package-lock.json"}
    assert all((ROOT / lock).is_file() for lock in locks)


def test_hooks_run_the_locked_ruff() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert repository["repo"] == "local"
    entries = [hook["entry"].split()[:2] for hook in repository["hooks"]]
    assert entries == [[".venv/bin/ruff", "format"], [".venv/bin/ruff", "check"]]
