"""A replay shows the table of every round, and every event with the number of tiles after it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.engine.events import Dealt, Played
from service.engine.state import FINISHED
from service.engine.variants import variants
from service.records.parser import parse_record
from service.records.record import Record
from service.records.replay import Step, replay_record
from service.records.verification import rules_of, verify
from service.records.writer import format_record
from service.render.geometry import geometry
from service.render.replays import Replay, replay
from tests.games.test_recorded import file_of, record_in, recorded
from tests.laws.matches import Case, Match, law
from tests.records.building import arranged, fair, kept, viewers
from tests.records.tampering import event_at, places, with_event
from tests.support.lanes import in_lane

pytestmark = pytest.mark.gate


def shown(record: Record) -> Replay:
    return replay(record, 16, "en")


def some_record() -> Record:
    return record_in(file_of(next(recorded("domino"))))


@pytest.mark.parametrize("key", variants())
def test_a_recorded_match_is_replayed_to_the_tables_of_its_rounds(key: str, subtests: pytest.Subtests) -> None:
    cases = list(recorded(key))
    for case in in_lane(cases, gate=cases[::4]):
        with subtests.test(file_of(case).stem):
            assert_replayed(case)


def assert_replayed(case: Case) -> None:
    record = record_in(file_of(case))
    rules, _ = rules_of(record)
    assert rules is not None
    last = {}
    for step in replay_record(record, rules):
        assert isinstance(step, Step)
        last[step.place[0]] = step.state
    found = shown(record)
    assert found.fault is None
    assert [each.number for each in found.rounds] == list(range(1, len(last) + 1))
    for each, state in zip(found.rounds, last.values(), strict=True):
        assert each.geometry == geometry(state.layout, len(rules.tiles), rules.layout_spread(), 16)
    assert found.winners == list(last.values())[-1].winners


@law(matches=5, drawn=1)
def test_a_replay_has_every_event_and_the_tables_of_the_match(match: Match) -> None:
    for kind in (fair, arranged):
        played = kind(match.case)
        for viewer in (None, match.rng.choice(viewers(played))):
            record = kept(played, viewer)
            found = shown(record)
            lines = [each.line for of_round in found.rounds for each in of_round.events]
            if record.viewer is not None:
                assert found.fault is not None
                assert found.fault.code == "hidden_tile"
                dealt = [each for each in record.rounds if each.lines]
                assert lines == [line for each in dealt[:-1] for line in each.lines]
                continue
            assert found.fault is None
            assert lines == [line for each in record.rounds for line in each.lines]
            tables = [len(each.layout.placements) for each in played.states]
            assert tables[-1] == found.rounds[-1].events[-1].tiles == len(found.rounds[-1].geometry.tiles)
            assert (found.winners is not None) == (played.states[-1].phase == FINISHED)


@law(matches=4, drawn=1)
def test_the_number_of_tiles_grows_with_every_play_and_a_deal_clears_the_table(match: Match) -> None:
    for of_round in shown(kept(arranged(match.case))).rounds:
        before = 0
        for (_, event), tiles, text in of_round.events:
            assert tiles == (0 if isinstance(event, Dealt) else before + isinstance(event, Played))
            assert 0 < len(text) <= 140
            before = tiles
        assert before == len(of_round.geometry.tiles)


@law(matches=4, drawn=1)
def test_a_replay_ends_where_the_play_breaks_the_rules_and_says_why(match: Match) -> None:
    record = kept(arranged(match.case))
    plays = places(record, Played)
    if not plays:
        return
    place = match.rng.choice(plays)
    event = event_at(record, place)
    broken = with_event(record, place, event._replace(seat=(event.seat + 1) % len(record.players)))
    found = shown(broken)
    assert found.fault is not None
    assert found.fault in verify(broken).findings
    assert len(found.rounds) == place[0] + 1
    assert len(found.rounds[-1].events) == place[1]


@law(matches=4, drawn=1)
def test_rounds_have_the_numbers_that_they_have_in_the_match(match: Match) -> None:
    for viewer in (None, match.rng.choice(viewers(match))):
        record = kept(fair(match.case), viewer)
        numbered = [each._replace(number=each.number + 6) for each in record.rounds]
        found = shown(parse_record(format_record(replace(record, rounds=tuple(numbered)))))
        expected = shown(parse_record(format_record(record)))
        assert found._replace(fault=None) == expected._replace(fault=None)
        if expected.fault is None:
            assert found.fault is None
        else:  # a finding names the round as the record does
            assert expected.fault.round is not None
            assert found.fault == expected.fault._replace(round=expected.fault.round + 6)


def test_a_record_of_an_unknown_game_has_nothing_to_show() -> None:
    found = shown(replace(some_record(), variant="chess"))
    assert found.rounds == ()
    assert found.fault is not None
    assert found.fault.code == "unknown_variant"


def test_a_deal_that_cannot_be_is_the_fault_of_the_replay() -> None:
    record = some_record()
    dealt = event_at(record, (0, 0))
    hands = (dealt.hands[0][:-1], *dealt.hands[1:])
    found = shown(with_event(record, (0, 0), replace(dealt, hands=hands)))
    assert found.rounds == ()
    assert found.fault is not None
    assert found.fault.code in ("wrong_set", "wrong_hand_size")
