"""``--require FOLDER`` fails a run in which no test of that folder has passed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.lanes import in_lane
from tests.support.serving import ROOT

pytestmark = pytest.mark.gate

RUN = (sys.executable, "-m", "pytest", "-q", "-p", "xdist", "tests/deployment/test_locks.py", "-k", "purpose")


CASES = [("tests/deployment", 1, 0), ("tests/browser", 1, 1)]


@pytest.mark.parametrize(("folder", "workers", "status"), in_lane(CASES, gate=CASES[1:]))
def test_a_run_fails_without_the_folder_that_it_requires(folder: str, workers: int, status: int) -> None:
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # which would take most of the time
    command = (*RUN, "-n", str(workers), "--require", folder)
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    assert (f"no test of {folder} has passed" in done.stdout) == bool(status)
