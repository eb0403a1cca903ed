"""``examples/text_player``: any game is played in a terminal, in each language, by lines of text alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from service.engine.variants import variants
from tests.support import lanes
from tests.support.serving import ROOT, Service

pytestmark = pytest.mark.gate

PROGRAM = ROOT / "examples" / "text_player" / "text_player.py"
LANGUAGES = ("en", "de", "es")
GAMES = lanes.in_lane(sorted(variants()), quick=lanes.QUICK_VARIANTS)
ENDS = {
    "en": "The match is over. Winners: ",
    "de": "Die Partie ist zu Ende. Gewonnen: ",
    "es": "La partida ha terminado",
}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(service: Service, tmp_path: Path) -> Run:
    def start(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", str(PROGRAM), *arguments]
        if "--resume" not in arguments:
            command += ["--server", service.url]
        return subprocess.run(
            command,
            cwd=tmp_path,
            input=typed,
            capture_output=True,
            encoding="utf-8",
            env={"PYTHONIOENCODING": "utf-8"},
            timeout=240,
            check=False,
        )

    return start


@pytest.mark.parametrize("game", GAMES)
def test_a_match_of_each_game_is_played_to_its_end(game: str, run: Run) -> None:
    language = LANGUAGES[GAMES.index(game) % len(LANGUAGES)]
    done = run(game, "--pace", "0", "--language", language, typed="\n" * 3000)
    assert (done.returncode, done.stderr) == (0, "")
    assert ENDS[language] in done.stdout
    assert "{}" not in done.stdout
    assert "None" not in done.stdout


def test_moves_and_questions_are_typed_and_the_seat_is_kept(run: Run, tmp_path: Path) -> None:
    done = run("block", "--pace", "0", typed="help\nhand\nends\nscore\nagain\nnonsense\n99\n1\nquit\n")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "Your tiles: " in done.stdout
    assert "Open ends: " in done.stdout
    assert done.stdout.count("I do not understand that.") == 2
    assert lines[-1] == "Go on with: python text_player.py --resume"
    kept = tmp_path / "domino-session.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert json.loads(kept.read_text("utf-8"))["token"] not in done.stdout
    resumed = run("--resume", "--language", "de", typed="\n\n")
    assert resumed.returncode == 0
    assert "Das Spiel ist angelegt." in resumed.stdout


def test_a_tile_is_typed_as_it_is_read(run: Run) -> None:
    for _ in range(20):  # until there is a tile to lay
        shown = run("block", "--pace", "0", typed="").stdout
        if "1: lay " in shown:
            break
    tile, _, end = shown.rpartition("You may:")[2].partition("1: lay ")[2].partition("\n")[0].partition(" (")
    typed = f"{'-'.join(reversed(tile.split('-')))} {end.rstrip(')')}\n"
    resumed = run("--resume", typed=typed).stdout
    assert "I do not understand that." not in resumed
    assert "You played" in resumed or "You opened" in resumed


def test_a_friend_joins_an_open_seat_and_both_play_to_the_end(run: Run, service: Service, tmp_path: Path) -> None:
    command = [sys.executable, "-I", str(PROGRAM), "dominospiel", "--open", "1", "--server", service.url]
    with subprocess.Popen(
        [*command, "--session", "one.json"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"},
    ) as first:
        try:
            assert first.stdin is not None
            assert first.stdout is not None
            first.stdin.write("\n" * 1000)
            first.stdin.flush()
            game, code = first.stdout.readline().rpartition("--join ")[2].strip().split(" --code ")
            second = run("--join", game, "--code", code, "--name", "Bo", "--session", "two.json", typed="\n" * 1000)
            assert second.returncode == 0
            assert "The match is over." in second.stdout
            assert "The match is over." in first.stdout.read()
        finally:
            first.kill()


def test_what_is_refused_is_said_in_the_language_of_the_player(run: Run) -> None:
    done = run("mah-jongg", "--language", "es")
    assert done.returncode == 1
    assert "variante" in done.stderr or "juego" in done.stderr
