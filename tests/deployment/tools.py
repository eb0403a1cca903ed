"""Programs that read the examples: beside this Python, where ``make install-dev`` installs some, or on the PATH."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.serving import ROOT

SECONDS = 60
EXAMPLES = ROOT / "examples" / "compose"


def tool(*names: str) -> str:
    """The path of the first of these programs that there is; without one the test is skipped."""
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    found = next(filter(None, (shutil.which(name, path=beside) for name in names)), None)
    if found is None:
        pytest.skip(f"{' or '.join(names)} was not found")
    return found


def checked(*command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """What a program printed, and its status, whatever that is."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/"), **environ},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def compose(*arguments: str | Path, **environ: str) -> dict[str, Any]:
    """The configuration that Docker Compose makes of its files and of these variables, none of which it may warn of."""
    return json.loads(_printed_by_compose(arguments, tuple(environ.items())))  # type: ignore[no-any-return]


@cache
def _printed_by_compose(arguments: tuple[str | Path, ...], environ: tuple[tuple[str, str], ...]) -> str:
    done = checked(tool("docker-compose"), *arguments, "config", "--format", "json", **dict(environ))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def larger(name: str, **environ: str) -> dict[str, Any]:
    """The configuration of ``compose.yaml`` with this file of ``examples/compose`` over it."""
    return compose("-f", "compose.yaml", "-f", EXAMPLES / name, **environ)
