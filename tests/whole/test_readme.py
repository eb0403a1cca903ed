"""The README is true: its curl session plays a match, and its table of settings is the list of settings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from service.config import SETTINGS
from tests.support.serving import Service

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def printed_by(language: str, folder: Path) -> list[str]:
    """The lines that the one session in this language prints, run against a service of its own."""
    (session,) = re.findall(rf"```{language}\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    with Service(folder / "data") as service:
        run = subprocess.run(
            ["sh", "-eu", "-c", session],
            cwd=folder,
            env={"DOMINO": service.url, "PATH": "/usr/local/bin:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_curl_session_plays_a_whole_match(tmp_path: Path) -> None:
    view, *moves, score = printed_by("sh", tmp_path)
    assert json.loads(view)["you"]["seat"] == 0
    card = json.loads(score)
    assert card["status"] == "finished"
    assert card["winners"]
    assert len(moves) > 10


def test_what_is_sent_again_under_its_key_is_answered_again(tmp_path: Path) -> None:
    first, *again = printed_by("bash", tmp_path)
    assert len(json.loads(first)["seats"]) == 2
    assert again == [first, first]


def test_a_deal_is_checked_and_a_match_kept_and_played_on(tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    committed, *told, arranged = printed_by("shell", tmp_path)
    assert committed.startswith("[{'round': 1, 'commitment': ")
    lines = "\n".join(told).lower()
    for wanted in ("round 1: holds", "verified", r"wins? the match"):
        assert re.search(wanted, lines)
    assert arranged == "True"


def test_the_table_of_settings_is_the_list_of_settings() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\S+) \| (.*) \|$", README.read_text("utf-8"), re.MULTILINE)
    assert rows == [(each.name, f"`{each.default}`" if each.default else "none", each.meaning) for each in SETTINGS]
