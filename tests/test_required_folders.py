"""``--require FOLDER`` fails a run in which no test of that folder has passed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.serving import ROOT


@pytest.mark.parametrize(
    ("folder", "workers", "status"), [("tests/deployment", 1, 0), ("tests/browser", 1, 1), ("tests/deploy", 0, 1)]
)
def test_a_run_fails_without_the_folder_that_it_requires(folder: str, workers: int, status: int) -> None:
    run = (sys.executable, "-m", "pytest", "-q", "-n", str(workers), "tests/deployment/test_locks.py", "-k", "purpose")
    done = subprocess.run([*run, "--require", folder], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout
    assert (f"no test of {folder} has passed" in done.stdout) == bool(status)
