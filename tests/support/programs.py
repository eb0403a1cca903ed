"""Programs that a test runs to their end."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from service.cli import main

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


def run_command(*arguments: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command of the service in this process, which is a tenth of the work of a process of its own."""
    root, service = logging.getLogger(), logging.getLogger("service")
    handlers, level = root.handlers, service.level
    root.handlers = []  # or the command would leave the log to those of pytest
    status: int | str | None
    with redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
        try:
            status = main(arguments, environ)
        except SystemExit as refused:  # by what parses the arguments
            status = refused.code
        finally:
            root.handlers = handlers
            service.setLevel(level)
    assert isinstance(status, int)
    return subprocess.CompletedProcess(arguments, status, output.getvalue(), errors.getvalue())
