"""The commands that read a record need no setting, and say by their exit status what came of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.bots.choice import EDITIONS
from service.records.writer import format_record
from tests.records.hosted import HostedMatch
from tests.render.test_transcript import TRANSCRIPTS, sample_record
from tests.support.waiting import PATIENCE

RECORD = format_record(sample_record("fido", 3, 45))


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The command in an environment in which nobody could serve."""
    environ = {"PORT": "nonsense", "PATH": "", "PYTHONPATH": str(Path(__file__).parents[2]), "LC_ALL": "C"}
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments],
        input=given,
        capture_output=True,
        env=environ,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.record"
    path.write_text(RECORD, "utf-8")
    return path


def test_a_sound_record_is_verified(file: Path) -> None:
    done = run("verify", str(file))
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "44 moves and 1 deal were checked against the rules."
    assert lines[1] == "The deals were arranged; they prove nothing about chance."
    assert lines[2:] == ["Verified."]
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.gate
def test_the_moves_of_computer_players_are_computed_again(tmp_path: Path) -> None:
    match = HostedMatch("domino", ("expert", "greedy"), seed=2, options={"limit": 1})
    match.play()
    text = format_record(match.record())
    done = run("verify", "-", given=text.encode())
    moves = text.count(": pass\n") + text.count(">") + text.count(": draw ") + text.count("dealt:")
    assert f"{moves} moves of computer players computed again, each from".encode() in done.stdout
    assert done.stdout.endswith(b"Verified.\n")
    assert done.returncode == 0
    done = run(
        "verify", "-", given=text.replace(f"bot=expert edition={EDITIONS['expert']}", "bot=random edition=1").encode()
    )
    assert b": wrong_bot_move: The move is legal, but the computer player random plays " in done.stdout
    assert done.returncode == 1


def test_a_wrong_record_is_not_and_every_finding_has_its_line(file: Path) -> None:
    wrong = RECORD.replace("[Result", '[Seen "0"]\n[Result', 1)
    done = run("verify", "-", given=wrong.encode())
    assert b"line 9: wrong_seen: No round hides anything." in done.stdout
    assert done.stdout.endswith(b"Not verified.\n")
    assert done.returncode == 1


def test_a_command_whose_reader_goes_away_does_not_end_well(file: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    environ = {"PYTHONUNBUFFERED": "1", "PATH": "", "PYTHONPATH": str(Path(__file__).parents[2]), "LC_ALL": "C"}
    command = [sys.executable, "-m", "service", "replay", str(file)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environ, timeout=PATIENCE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.gate
@pytest.mark.parametrize("command", ["verify", "replay"])
def test_what_cannot_be_read_is_said_with_its_place(command: str, tmp_path: Path) -> None:
    done = run(command, "-", given=b'[Record "1"]\n[Variant "\xff"]\n')
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"-:2:11: This is no UTF-8.\n"
    missing = tmp_path / "nothing"
    done = run(command, str(missing))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"{missing}: No such file or directory\n".encode()


def test_a_match_is_replayed(file: Path) -> None:
    done = run("replay", str(file))
    assert (done.returncode, done.stderr) == (0, b"")
    transcript = (TRANSCRIPTS / "fido.txt").read_text("utf-8")
    assert done.stdout.decode() == transcript


@pytest.mark.gate
def test_a_broken_match_is_replayed_as_far_as_it_goes_and_then_says_why() -> None:
    lines = RECORD.splitlines()
    lines[16] += "9"
    done = run("replay", "-", given="\n".join([*lines, ""]).encode())
    assert done.returncode == 1
    last = done.stdout.decode().splitlines()[-3:]
    assert last[0] == "Here the transcript ends."
    assert last[2].startswith("line 17: wrong_points: ")
