"""Records of hosted matches with computer players, people who come and go, and a clock."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from service.bots.choice import LEVELS, NEWEST_EDITION
from service.engine.deal import round_seed
from service.engine.events import Dealt, Drew, Eliminated, Finished, Played
from service.engine.moves import Move
from service.engine.presence import Claimed, Forfeited, Left, PresenceEvent, Returned, TimedOut
from service.engine.referee import legal_moves
from service.engine.state import PLAYING
from service.engine.view import DrewView, RecordedDeal
from service.games.model.clock import ClockSettings
from service.games.model.schedule import BotTurn
from service.games.reminders import ClockReading
from service.records.bot_checks import ALL_DECISIONS, CHEAP_DECISIONS, BotLimits
from service.records.fork_points import fork_point_at
from service.records.parser import parse_record
from service.records.record import SPECTATOR, InvalidForkPoint, Record, RecordedBot, RecordedClock
from service.records.report import Report
from service.records.verification import verify
from service.records.writer import format_record
from service.render.replays import replay
from service.render.transcript import render_transcript
from tests.records.hosted import MANY, HostedMatch, hosted_match

pytestmark = pytest.mark.gate

ADA_AND = (None, "greedy", "random")


@cache
def hosted(number: int) -> HostedMatch:
    """A match to its end; what follows at a deadline, and whether there are teams, differs."""
    variant, levels, options, clock = (
        ("fido", ("greedy", None, "random"), {"rounds": 3}, ClockSettings(turn=60_000, absence="move")),
        ("domino", ("greedy", None, None), {"limit": 60}, ClockSettings(turn=60_000, absence="forfeit")),
        (
            "dominospiel",
            ("random", None, None, None),
            {"limit": 60},
            ClockSettings(bank=300_000, increment=10_000, absence="bot"),
        ),
        ("homo-homini-lupus", (None, None, "greedy", None), {}, ClockSettings(turn=60_000, absence="claim")),
        ("menschenwolf", (None, "greedy"), {}, None),
    )[number]
    match = HostedMatch(variant, levels, seed=number, options=options, clock=clock)
    match.play()
    assert match.over
    return match


NUMBERS = range(5)


def check(record: Record) -> Report:
    text = format_record(record)
    assert parse_record(text) == record
    assert format_record(parse_record(text)) == text
    report = verify(record, bots=ALL_DECISIONS)
    assert [finding.code for finding in report.findings] == ([] if record.viewer is None else ["hidden_tile"])
    return report


def lines(record: Record) -> list[object]:
    return [event for each in record.rounds for _, event in each.lines]


@pytest.mark.parametrize("number", NUMBERS)
def test_every_decision_of_a_computer_player_can_be_made_again(number: int) -> None:
    report = check(hosted(number).record())
    assert report.decisions > 20
    assert report.unchecked == ()
    assert f"{report.decisions} moves of computer players computed again" in " ".join(report.notes())


def test_all_that_can_happen_to_a_seat_happens_in_these_matches() -> None:
    happened = {type(event) for number in NUMBERS for event in lines(hosted(number).record())}
    assert {TimedOut, Left, Returned, Claimed, Forfeited} <= happened


def test_the_head_says_who_is_a_computer_player_and_how_the_clock_ran() -> None:
    text = format_record(hosted(0).record())
    assert '[Player 0 "Rosa" bot=greedy edition=1]\n[Player 1 "Person 1"]\n[Player 2 "Emil" bot=random' in text
    assert '[Clock "turn=60"]\n[Absence "move"]\n[Date "' in text
    record = hosted(2).record()
    assert record.clock == RecordedClock(None, 300, 10, "bot")
    assert '[Clock "bank=300 increment=10"]\n[Absence "bot"]\n' in format_record(record)
    assert "[Clock" not in format_record(hosted(4).record())


@pytest.mark.parametrize("number", NUMBERS)
def test_while_a_match_goes_on_each_viewer_has_a_record_that_holds_and_tells_nothing_hidden(number: int) -> None:
    done = hosted(number)
    clock, levels = done.game.clock, tuple([seat.level for seat in done.game.seats])
    match = HostedMatch(done.game.variant.key, levels, seed=number, options=done.game.options, clock=clock)
    partial = 0
    for _ in range(12):
        match.play(9)
        if match.over:
            break
        running = match.game.state.phase == PLAYING
        for viewer in (None, *match.tokens):
            record = match.record(viewer)
            report = check(record)
            assert (record.viewer is not None) == running
            if not running:
                continue
            partial += 1
            assert record.viewer == (SPECTATOR if viewer is None else viewer)
            assert record.rounds[match.game.state.round - 1].seed is None
            for _, event in record.rounds[match.game.state.round - 1].lines:
                assert not isinstance(event, Dealt)
                assert not isinstance(event, Drew) or event.seat == viewer
                assert not isinstance(event, DrewView) or event.tile is None
            moved_by_bots = any(why == "seed" for why, _ in report.unchecked)
            assert moved_by_bots or report.unchecked == ()
    assert partial > 5


@pytest.mark.parametrize("number", range(MANY))
def test_matches_of_all_games_have_records_that_hold_for_every_viewer(number: int) -> None:
    match = hosted_match(number)
    for viewer in (None, *match.tokens):
        check(match.record(viewer))


class Cheat(HostedMatch):
    """A service that makes another move than the computer player at one decision."""

    cheated: int | None = None
    at: int = 5

    def decision(self, turn: BotTurn) -> Move:
        chosen = super().decision(turn)
        game = turn.game
        others = [move for move in legal_moves(game.rules, game.state, turn.seat) if move[:4] != chosen[:4]]
        self.at -= bool(others)
        if self.at or self.cheated or not others:
            return chosen
        self.cheated = game.version + 1
        return others[0]


@pytest.mark.parametrize(
    ("levels", "at"),
    [(("greedy", "random", "greedy"), 5), (("random", "random", "random"), 6), ((None, None, None), 2)],
)
def test_another_move_than_that_of_the_computer_player_is_found(levels: tuple[str | None, ...], at: int) -> None:
    """Whether it plays for itself or for a person who is away."""
    match = Cheat("fido", levels, seed=3, options={"rounds": 1})
    match.at = at
    match.play()
    assert match.over
    record = match.record()
    assert verify(record).findings == ()
    (finding,) = verify(record, bots=ALL_DECISIONS).findings
    assert (finding.code, finding.version) == ("wrong_bot_move", match.cheated)
    assert finding.message.startswith("The move is legal, but the computer player ")


class Fallback(HostedMatch):
    """A service where the level ``random`` fails, so that a greedy player chooses instead."""

    def decision(self, turn: BotTurn) -> Move:
        return super().decision(turn._replace(level="greedy"))


def test_where_a_level_fails_the_move_of_a_greedy_player_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Fallback("fido", ("random", "random", "greedy"), seed=3, options={"rounds": 1})
    match.play()
    record = match.record()
    assert {finding.code for finding in verify(record, bots=ALL_DECISIONS).findings} == {"wrong_bot_move"}

    def fail(*_: object) -> Move:
        raise ZeroDivisionError

    monkeypatch.setitem(LEVELS, "random", fail)
    check(record)


def test_an_expert_s_decisions_can_be_made_again_but_not_where_that_takes_too_long() -> None:
    match = HostedMatch("domino", ("expert", "random"), seed=1, options={"limit": 1})
    match.play()
    record = match.record()
    report = check(record)
    assert report.decisions == report.moves
    cheap = verify(record, bots=CHEAP_DECISIONS)
    assert 0 < cheap.decisions < cheap.moves
    assert cheap.unchecked == (("cost", cheap.moves - cheap.decisions),)
    assert any("that takes too long here" in note for note in cheap.notes())
    bounded = verify(record, bots=BotLimits(frozenset({"random"}), 1))
    assert dict(bounded.unchecked)["cost"] > cheap.moves - cheap.decisions


def test_what_cannot_be_checked_is_said() -> None:
    record = hosted(0).record()
    later = replace(record, bots=tuple([bot._replace(edition=2) for bot in record.bots]))
    report = check(later)
    assert dict(report.unchecked).keys() == {"edition"}
    assert any("another edition of the computer players made them" in note for note in report.notes())
    arranged = HostedMatch("fido", ADA_AND, seed=1, options={"rounds": 1}, dealt_from="a seed that the record lacks")
    arranged.play()
    report = check(arranged.record())
    assert report.decisions == 0
    assert report.unchecked[0][0] == "seed"


def test_a_level_that_does_not_exist_is_found_unless_it_is_of_another_edition() -> None:
    record = hosted(0).record()
    bot = record.bots[0]
    unknown = replace(record, bots=(bot._replace(level="wise"), *record.bots[1:]))
    assert [finding.code for finding in verify(unknown).findings] == ["unknown_bot"]
    later = replace(record, bots=(RecordedBot(0, "wise", NEWEST_EDITION + 1), *record.bots[1:]))
    assert check(later).findings == ()


@pytest.mark.parametrize("number", NUMBERS)
def test_from_every_version_but_between_an_event_and_what_follows_from_it_a_match_can_be_continued(number: int) -> None:
    record = hosted(number).record()
    all_lines = [line for each in record.rounds for line in each.lines]
    last = fork_point_at(record).version
    step = max(1, len(all_lines) // 12)
    chosen = [line for line in all_lines if line.version <= last][::step]
    chosen += [line for line in all_lines if isinstance(line.event, PresenceEvent) and line.version <= last][:6]
    for line in chosen:
        following = [each for each in all_lines if each.version > line.version][:1]
        if following and following[0].event.__class__.__name__ in ("RoundEnded", "Eliminated", "Finished", "Forfeited"):
            continue
        point = fork_point_at(record, line.version)
        assert not any(isinstance(event, PresenceEvent) for event in point.events)
        played = [each for each in all_lines if each.version <= line.version]
        assert len(point.events) == sum(not isinstance(each.event, PresenceEvent) for each in played)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_replays_and_transcripts_tell_it_to_the_end(number: int, language: str) -> None:
    record = hosted(number).record()
    shown = replay(record, 16, language)
    assert shown.fault is None
    assert shown.winners == record.result
    assert [len(each.events) for each in shown.rounds] == [len(each.lines) for each in record.rounds if each.lines]
    for each in shown.rounds:
        assert all(event.text and len(event.text) <= 140 for event in each.events)
    assert "breaks the rules" not in "\n".join(render_transcript(record))


def forfeited_in_the_middle(variant: str, options: dict[str, int | str | bool]) -> HostedMatch:
    """Seat 1 scores or not, then the time of all others runs out in the middle of a round."""
    match = HostedMatch(
        variant, (None, None, None), seed=4, options=options, clock=ClockSettings(turn=60_000, absence="forfeit")
    )
    while not match.over:
        game = match.game
        seat = game.state.turn
        bot = match.automation.next_turn(match.id)
        if seat is None:
            match.move(1, Move("deal"))
        elif bot is not None:
            match.automation.play(bot, match.decision(bot))
        elif seat == 1 or game.state.round == 1 or len(game.state.layout.placements) < 2:
            match.move(seat, legal_moves(game.rules, game.state, seat)[0])
        else:
            match.now = (game.deadline or 0) + 1000
            match.automation.time_out(match.id, ClockReading(match.now))
    return match


@pytest.mark.parametrize("variant", ["dominospiel", "domino", "fido"])
def test_a_match_that_ends_by_forfeit_in_the_middle_of_a_round_is_complete(variant: str) -> None:
    match = forfeited_in_the_middle(variant, {"rounds": 3} if variant == "fido" else {})
    record = match.record(1)
    check(record)
    assert record.result == (1,)
    assert record.viewer is None
    running, following = record.rounds[-2:]
    assert running.lines[-1].event == Finished((1,), ended_by="forfeit")
    assert format_record(record).count("finished: 1 forfeit\n") == 1
    assert not any(isinstance(event, RecordedDeal | DrewView) for event in lines(record))
    game = match.game
    assert (running.seed, following.seed) == (
        round_seed(game.deck.seed, running.number),
        round_seed(game.deck.seed, following.number),
    )
    assert (game.to_act, game.state.turn, game.deadline) == ((), None, None)


class Simple(HostedMatch):
    """Its computer players make the first legal move, whatever their level."""

    def decision(self, turn: BotTurn) -> Move:
        return legal_moves(turn.game.rules, turn.game.state, turn.seat)[0]


def test_a_match_can_end_by_forfeit_when_a_seat_goes_out() -> None:
    """If all that are left but one side have forfeited."""
    for seed in range(60):
        clock = ClockSettings(turn=60_000, absence="forfeit")
        match = Simple("menschenwolf", (None, None, None), seed=seed, options={"limit": 1}, clock=clock)
        match.play(400)
        *_, before, last = lines(match.record())
        if isinstance(before, Eliminated) and isinstance(last, Finished) and last.ended_by == "forfeit":
            break
    else:
        raise AssertionError("it never ended so")
    record = match.record()
    assert verify(record).findings == ()
    without = record.rounds[-2]._replace(lines=record.rounds[-2].lines[:-1])
    changed = replace(record, rounds=(*record.rounds[:-2], without, record.rounds[-1]))
    assert "wrong_winners" in {finding.code for finding in verify(changed).findings}


def test_a_forfeit_is_not_separated_from_the_end_of_the_time_that_it_follows_from() -> None:
    record = hosted(1).record()
    versions = [line.version for each in record.rounds for line in each.lines if isinstance(line.event, TimedOut)]
    assert versions
    for version in versions:
        with pytest.raises(InvalidForkPoint, match="no_fork_point"):
            fork_point_at(record, version)
        assert fork_point_at(record, version - 1).version == version - 1


def test_the_report_on_its_fairness_reveals_the_round_that_was_not_finished() -> None:
    match = forfeited_in_the_middle("domino", {})
    access = match.games.access.authenticate(match.id, None)
    report = match.games.queries.fairness(access)
    assert all(each.seed is not None for each in report.rounds)
    assert [each.deal is not None for each in report.rounds] == [*[True] * (len(report.rounds) - 1), False]


def test_its_score_card_ranks_those_who_forfeited_last_and_settles_what_was_counted() -> None:
    match = forfeited_in_the_middle("dominospiel", {})
    card = match.games.queries.score(match.games.access.authenticate(match.id, None))
    assert next(each.seat for each in card.standings) == 1
    assert [each.rank for each in card.standings] == [1, *sorted(each.rank for each in card.standings[1:])]
    assert [each.forfeited for each in card.standings] == [False, True, True]
    assert len(card.rounds) == match.game.state.round - 1
    assert [each.total for each in sorted(card.standings)] == list(match.game.state.totals)
    assert card.view.view.winners == (1,)
    totals = match.game.state.totals
    assert card.settlement is not None
    assert sum(card.settlement.amounts) == 0
    assert card.settlement.amounts[totals.index(max(totals))] < 0


def test_a_match_without_all_this_has_the_text_that_it_always_had() -> None:
    match = HostedMatch("domino", (None, None), seed=1, options={"limit": 30})
    while not match.over:
        game = match.game
        match.move(game.to_act[0], legal_moves(game.rules, game.state, game.to_act[0])[0])
    record = match.record()
    assert (record.bots, record.clock) == ((), None)
    head = format_record(record).split("\n\n")[0]
    assert [line.split(" ")[0] for line in head.splitlines()] == [
        *("[Record", "[GameId", "[Variant", "[Edition", "[Options"),
        *("[Player", "[Player", "[Date", "[Fairness", "[Result"),
    ]
    assert not any(isinstance(event, PresenceEvent) for event in lines(record))
    assert any(isinstance(event, Played) for event in lines(record))
