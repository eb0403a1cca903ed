"""Programs that a test runs to their end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SECONDS = 1800


def finish(folder: Path, *command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, which has to succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def run(folder: Path, *command: str, **environ: str) -> str:
    """Run a program in a folder, which has to succeed; its output."""
    return finish(folder, *command, **environ).stdout
