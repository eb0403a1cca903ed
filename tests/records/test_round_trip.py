"""What is kept of a match can be read again, and can be so."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest

from service.engine.events import Dealt, Drew, Played
from service.engine.state import PLAYING
from service.engine.variants import variants
from service.engine.view import DrewView, RecordedDeal
from service.records.parser import count_plays, parse_record
from service.records.record import SPECTATOR, Record
from service.records.verification import verify
from service.records.writer import format_record, line_numbers
from tests.conftest import Figures
from tests.laws.matches import Match, law
from tests.records.building import arranged, fair, kept, short_cases, viewers
from tests.records.tampering import a_changed_seed, another_score
from tests.support.lanes import fewer

pytestmark = pytest.mark.quick

MANY = 130
"""Of each game, in the nightly lane; ``make soak`` asks for more."""
MANY_IN_SOAK = int(os.environ.get("SOAK_RECORDS", "2000"))


def check(record: Record) -> None:
    text = format_record(record)
    assert parse_record(text) == record
    assert format_record(parse_record(text)) == text
    assert count_plays(text) == sum([isinstance(event, Played) for each in record.rounds for _, event in each.lines])
    findings = verify(record).findings
    if record.viewer is None:
        assert findings == ()
        return
    running = max(each.number for each in record.rounds if each.lines)
    assert [(finding.code, finding.round) for finding in findings] == [("hidden_tile", running)]


def keep_and_check(key: str, many: int, most_moves: int, figures: Figures) -> None:
    moves = size = partial = 0
    for case in short_cases(key, many, most_moves):
        match = fair(case) if case.move_seed % 4 else arranged(case)
        viewer = None if case.move_seed % 3 else match.rng.choice(viewers(match))
        record = kept(match, viewer)
        check(record)
        moves += len(match.steps)
        size += len(format_record(record))
        partial += record.viewer is not None
    figures("records", {"kept, read and verified": many, "moves": moves, "characters": size, "partial": partial})


@pytest.mark.parametrize("key", variants())
def test_generated_records_are_read_as_they_were_written_and_verified(key: str, figures: Figures) -> None:
    keep_and_check(key, fewer(MANY), 70, figures)


@pytest.mark.soak
@pytest.mark.parametrize("key", variants())
def test_thousands_of_generated_records_are_read_and_verified(key: str, figures: Figures) -> None:
    keep_and_check(key, MANY_IN_SOAK, 150, figures)


@law(matches=4, drawn=1)
def test_whoever_has_seen_a_part_of_a_match_has_a_record_that_holds(match: Match) -> None:
    match = fair(match.case)
    for moves in match.rng.sample(range(1, len(match.steps) + 1), min(5, len(match.steps))):
        for viewer in viewers(match):
            check(kept(match, viewer, moves))


def test_of_a_partial_record_the_rounds_that_are_over_are_checked() -> None:
    rng = Random("the rounds that are over")
    for tampering, codes in ((another_score, ["wrong_scores"]), (a_changed_seed, ["wrong_seed", "hidden_tile"])):
        done = 0
        for key in variants():
            for case in short_cases(key, 12, 60):
                record = kept(fair(case), SPECTATOR)
                changed = None if record.viewer is None else tampering(record, rng)
                if changed is not None:
                    assert [finding.code for finding in verify(changed).findings] == codes
                    done += 1
        assert done


@law(matches=6, drawn=1)
def test_of_a_running_round_a_viewer_is_told_no_hidden_tile_and_no_seed(match: Match) -> None:
    match = fair(match.case)
    for moves in match.rng.sample(range(1, len(match.steps) + 1), min(8, len(match.steps))):
        if match.steps[moves - 1].after.phase != PLAYING:
            continue
        for viewer in viewers(match):
            record = kept(match, viewer, moves)
            dealt, following = record.rounds[-2:]
            assert (dealt.seed, dealt.attempt, following.seed) == (None, None, None)
            for _, event in dealt.lines:
                assert not isinstance(event, Dealt)
                if isinstance(event, RecordedDeal):
                    told = [seat for seat, hand in enumerate(event.hands) if isinstance(hand, tuple) and hand]
                    assert told == [seat for seat in match.seats if seat == viewer and event.hands[seat] != ()]
                    assert isinstance(event.stock, int) or event.stock == ()
                assert not isinstance(event, Drew) or event.seat == viewer
                assert not isinstance(event, DrewView) or event.tile is None


@law(matches=4, drawn=1)
def test_two_deals_that_look_alike_to_a_viewer_give_it_the_same_record(match: Match) -> None:
    """Swapping two tiles that it never saw changes no byte of it."""
    steps = match.steps[:9]
    dealt = steps[0].events[0]
    assert isinstance(dealt, Dealt)
    seen = {placement.tile for placement in steps[-1].after.layout.placements}
    drawn = {event.tile for step in steps for event in step.events if isinstance(event, Drew)}
    for viewer in match.seats:
        others = [hand for seat, hand in enumerate(dealt.hands) if seat != viewer]
        hidden = [tile for hand in [*others, dealt.stock] for tile in hand if tile not in seen | drawn]
        if steps[-1].after.phase != PLAYING or steps[-1].after.round > 1 or len(hidden) < 2:
            continue
        one, other = match.rng.sample(hidden, 2)
        swap = {one: other, other: one}
        hands = tuple([tuple([swap.get(tile, tile) for tile in hand]) for hand in dealt.hands])
        twin = replace(dealt, hands=hands, stock=tuple([swap.get(tile, tile) for tile in dealt.stock]))
        twins = Match(match.case)
        twins.__dict__["steps"] = (steps[0]._replace(events=(twin,)), *steps[1:])
        assert format_record(kept(twins, viewer, 9)) == format_record(kept(match, viewer, 9))


def test_every_line_of_the_text_has_its_number() -> None:
    record = kept(fair(next(short_cases("fido", 1, 60))))
    lines = format_record(record).splitlines()
    numbers = line_numbers(record)
    assert sorted(numbers.values()) == [at for at, line in enumerate(lines, 1) if line]
    for (index, part), number in numbers.items():
        if isinstance(part, str):
            assert lines[number - 1].startswith(f"[{part}")
        else:
            assert lines[number - 1].startswith(f"{record.rounds[index].lines[part].version}. ")


def test_a_report_says_what_is_proven_and_what_is_not() -> None:
    case = next(short_cases("domino", 1, 60))
    proven = verify(kept(fair(case))).notes()
    assert any("That the server has shown no hand to anybody cannot be proven." in note for note in proven)
    set_up = kept(arranged(case))
    assert "The deals were arranged; they prove nothing about chance." in verify(set_up).notes()
    assert verify(kept(fair(case))).proven == sum(each.seed is not None for each in kept(fair(case)).rounds[:-1])


def test_a_game_that_waits_for_players_has_a_record() -> None:
    match = fair(next(short_cases("domino", 1, 60)))
    record = replace(kept(match), rounds=kept(match).rounds[:1], players=("Ada", ""), result=None)
    waiting = replace(record, rounds=(record.rounds[0]._replace(client_seeds=None, attempt=None, seed=None, lines=()),))
    check(waiting)
    check(replace(waiting, fairness="arranged", rounds=()))
