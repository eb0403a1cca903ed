"""The transcript of a match: on a page of 80 columns, every tile of the table and every end once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from service.engine.events import Played
from service.engine.moves import Move
from service.engine.presence import Absence
from service.engine.referee import legal_moves
from service.engine.state import PLAYING
from service.engine.variants import variants
from service.games.model.clock import ClockSettings
from service.games.model.schedule import BotTurn
from service.records.record import Record, Viewer
from service.records.verification import verify
from service.records.writer import build_record, resolved_options
from service.render.layout_text import render_layout
from service.render.transcript import WIDTH, render_transcript
from tests.laws.matches import Case, Match, law
from tests.records.building import arranged, fair, kept, viewers
from tests.records.hosted import HostedMatch
from tests.records.tampering import event_at, places, with_event

TRANSCRIPTS = Path(__file__).parent / "transcripts"


def sample_record(key: str, seats: int, moves: int, viewer: Viewer | None = None) -> Record:
    match = Match(Case(key, seats, (), "told", 3, moves))
    events = list(enumerate(match.events, 2))
    names = ("Ada", "Bo", "Cy", "Dorothea", "Emil")[:seats]
    head = Record(
        variant=key,
        edition=match.variant.edition,
        options=resolved_options(match.variant, match.rules),
        players=names,
        fairness="arranged",
    )
    return build_record(head, events, viewer=viewer)


@pytest.mark.parametrize("key", variants())
def test_a_transcript_is_as_it_was(key: str, same_as_file: Callable[[Path, str], None]) -> None:
    seats = max(3, variants()[key].players.low)
    text = "".join([f"{line}\n" for line in render_transcript(sample_record(key, seats, 45))])
    same_as_file(TRANSCRIPTS / f"{key}.txt", text)


def test_a_transcript_ends_before_a_round_that_is_hidden() -> None:
    told = list(render_transcript(sample_record("dominospiel", 3, 20, 1)))
    assert "seen by Bo" in " ".join(told)
    assert told[-2:] == ["", "Here the transcript ends."]
    assert not any(line.startswith("── Round") for line in told)


class Simple(HostedMatch):
    """A match whose computer players make the first legal move."""

    def decision(self, turn: BotTurn) -> Move:
        return legal_moves(turn.game.rules, turn.game.state, turn.seat)[0]


@pytest.mark.parametrize("absence", ["move", "claim", "forfeit"])
def test_a_transcript_tells_who_plays_a_seat(absence: Absence, same_as_file: Callable[[Path, str], None]) -> None:
    clock = ClockSettings(bank=60_000, increment=1000, absence=absence)
    match = Simple("domino", (None, "greedy", None), seed=12, options={"limit": 30}, clock=clock)
    match.play(60)
    while match.game.state.phase == PLAYING:
        match.play(1)
    record = replace(match.record(), game="", date="")
    text = "".join([f"{line}\n" for line in render_transcript(record)])
    same_as_file(TRANSCRIPTS / f"hosted-{absence}.txt", text)


@law(matches=4, drawn=1)
def test_no_line_is_wider_than_the_page_or_obeyed_by_a_terminal(match: Match) -> None:
    for kind in (fair, arranged):
        played = kind(match.case)
        for line in render_transcript(kept(played, match.rng.choice([None, *viewers(match)]))):
            assert len(line) <= WIDTH
            assert line.isprintable()
            assert line == line.rstrip()


@law(matches=6, drawn=1)
def test_the_table_shows_every_tile_and_every_end_once(match: Match) -> None:
    for state in match.some_states(12):
        layout = state.layout
        text = " ".join(render_layout(layout, 74))
        shown = re.findall(r"(\d+)-(\d+)", text)
        doubles = [(low, high) for low, high in re.findall(r"\[(\d+)-(\d+)\]", text)]
        tiles = sorted(tuple(sorted(map(int, halves))) for halves in shown)
        names = [placement.tile for placement in layout.placements]
        spinners = len(shown) - len(layout.placements)  # a double that has arms of its own stands before them again
        assert sorted(set(tiles)) == sorted((tile.low, tile.high) for tile in names)
        assert 0 <= spinners <= sum(tile.double for tile in names)
        assert {f"{low}-{high}" for low, high in doubles} == {tile.name for tile in names if tile.double}
        if layout.is_line or not names:
            continue
        ends = re.findall(r"\(?› (\d+) (e\d+)\)?", text)
        wanted = [(str(end.number), end.name) for end in layout.ends if end.gate != "closed"]
        assert sorted(ends) == sorted(wanted)
        assert text.count("(›") == sum(end.gate == "gated" for end in layout.ends)


def test_a_broken_record_is_shown_as_far_as_the_rules_were_kept() -> None:
    record = sample_record("fido", 3, 10)
    place = places(record, Played)[3]
    changed = with_event(record, place, event_at(record, place)._replace(points=99))
    assert [finding.code for finding in verify(changed).findings] == ["wrong_points"]
    told = list(render_transcript(changed))
    assert told[-1] == "Here the transcript ends."
    assert told[:-2] == list(render_transcript(record))[: len(told) - 2]
