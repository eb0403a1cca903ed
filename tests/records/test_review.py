"""A review: what it says follows from what each seat could see, can be made again, and tells good play from bad."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import islice
from math import inf
from pathlib import Path
from random import Random

import pytest

from service import cli_records
from service.bots.endgame import is_all_known, known_state
from service.bots.greedy import is_partner_next
from service.bots.inference import infer
from service.bots.knowledge import Observation, observe
from service.bots.worlds import Sampler
from service.cli import main
from service.engine.deal import Deck, seed_from_text
from service.engine.events import Played, RoundEnded
from service.engine.moves import DEAL
from service.engine.presence import Left, Returned
from service.engine.referee import advance, legal_moves
from service.engine.variant import Rules
from service.learning.analysis import Estimate, estimates
from service.learning.review import (
    Decision,
    Review,
    RoundLuck,
    Unreviewable,
    hint,
    hint_before,
    review,
    sentence,
    summaries,
)
from service.library import GAMES, Match, read_record
from service.records.record import Record
from service.records.verification import rules_of
from service.records.writer import format_record
from service.texts import LANGUAGES, text
from tests.bots.seen import moments
from tests.laws.matches import Match as LawMatch
from tests.laws.matches import law
from tests.support.lanes import in_lane
from tools.strength.reviews import SETUPS, figures, review_deal
from tools.strength.rows import Setup

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]
FEW = 60
"""Playouts of a decision here."""
COMPARED = ("block", "menschenwolf")
"""The games of the gate in which levels are compared, with two ends and with many."""


@cache
def recorded(game: str, level: str, number: int) -> Record:
    """A match in which all play at this level."""
    count = GAMES[game].players[0]
    secret = sha256(f"review {game} {number}".encode()).digest()
    match = Match(game, [f"P{seat}" for seat in range(count)], bots=dict.fromkeys(range(count), level), secret=secret)
    while not match.is_over:
        match.play(match.to_act[0], match.choose(match.to_act[0], level))
    return read_record(match.record())


def reviewed(record: Record, playouts: int | None = FEW, after: int = 0) -> Iterator[Decision | RoundLuck]:
    rules, _ = rules_of(record)
    assert rules is not None
    yield from review(record, rules, playouts=playouts, after=after)


def decisions_of(record: Record, most: int | None = None, playouts: int | None = FEW) -> list[Decision]:
    return list(islice((each for each in reviewed(record, playouts) if isinstance(each, Decision)), most))


@cache
def decisions_of_chance() -> tuple[Decision, ...]:
    """The first decisions in a match of Block that were made by chance."""
    return tuple(decisions_of(recorded("block", "random", 0), 40))


def luck_in(record: Record) -> Iterator[RoundLuck]:
    return (each for each in reviewed(record, 2) if isinstance(each, RoundLuck))


def first_luck(record: Record) -> RoundLuck:
    """The luck of the first round, without a look at its decisions."""
    end = next(line.version for line in record.rounds[0].lines if isinstance(line.event, RoundEnded))
    found = next(reviewed(record, 2, after=end - 1))
    assert isinstance(found, RoundLuck)
    return found


@law(matches=4, drawn=1)
def test_an_estimate_does_not_depend_on_what_its_seat_cannot_see(match: LawMatch) -> None:
    """Two deals that look alike to a seat give the same estimates, byte for byte."""
    for moment in list(moments(match))[::13]:
        seat = moment.state.turn
        if seat is None or len(legal_moves(match.rules, moment.state, seat)) < 2:
            continue
        seen = moment.seen_by(match, seat)
        world = Sampler(match.rules, seen, infer(match.rules, seen)).sample(match.rng)
        twin = moment._replace(state=world).seen_by(match, seat)
        assert repr(estimates(match.rules, seen, playouts=16)) == repr(estimates(match.rules, twin, playouts=16))


@law(matches=4, drawn=1)
def test_estimates_are_of_legal_moves_the_best_first(match: LawMatch) -> None:
    for moment in list(moments(match))[::13]:
        seat = moment.state.turn
        if seat is None:
            continue
        seen = moment.seen_by(match, seat)
        found = estimates(match.rules, seen, playouts=16)
        assert {each.move for each in found} <= set(seen.view.legal_moves)
        assert len(found) == min(8, len(seen.view.legal_moves))
        values = [each.estimate for each in found]
        assert values == sorted(values, reverse=True)
        assert found[0].behind == 0
        assert all(0 <= each.behind < inf and each.error >= 0 for each in found)
        if known_state(match.rules, seen, infer(match.rules, seen)) is not None and len(found) > 1:
            assert "exact" not in found[0].advantages or {each.error for each in found} == {0}


def seen_in_a_round(setup: Setup, number: int = 0) -> Iterator[tuple[Rules, Observation]]:
    """What the seat to act has seen at each decision of a round played by chance."""
    rules, random, deck = setup.rules, Random(f"{setup.name} {number}"), Deck(seed_from_text(f"{number}"))
    dealt, state = advance(rules, deck, rules.start(), 0, move=DEAL)
    events = list(dealt)
    while (seat := state.turn) is not None:
        moves = legal_moves(rules, state, seat)
        if len(moves) > 1:
            yield rules, observe(rules, state, events, seat)
        found, state = advance(rules, deck, state, seat, move=random.choice(moves))
        events += found


def test_where_nothing_is_hidden_in_a_long_end_nothing_is_clear() -> None:
    """In Dominospiel for two each knows the other's hand from the first move on."""
    exact = unclear = 0
    for rules, seen in seen_in_a_round(Setup("dominospiel", 2)):
        found = estimates(rules, seen, playouts=40)
        if "exact" in found[0].advantages:
            exact += 1
            assert {each.error for each in found} == {0}
        else:
            unclear += found[-1].behind > 0
            assert not [each for each in found if each.is_mistake]
            assert all(each.error > 0 for each in found)
    assert exact
    assert unclear


def test_what_is_clear_over_hidden_worlds_stays_clear() -> None:
    """A lead that is the same in all worlds, as points at once, is known as well as it can be from what is hidden."""
    clear: list[Estimate] = []
    for number in range(5):
        for rules, seen in seen_in_a_round(Setup("all-fives", 2), number):
            if not is_all_known(seen):
                found = estimates(rules, seen, playouts=24)
                clear += [each for each in found if each.behind > 0 and each.behind_error < 1e-9]
    assert clear
    assert all(each.is_mistake for each in clear)


def test_a_review_is_the_same_each_time() -> None:
    record = recorded("latin", "greedy", 0)
    assert decisions_of(record, 12) == decisions_of(record, 12)


@pytest.mark.quick_and_gate
def test_a_review_names_the_versions_and_moves_of_the_record() -> None:
    record = recorded("block", "random", 0)
    lines = {line.version: line.event for each in record.rounds for line in each.lines}
    for each in decisions_of_chance():
        event = lines[each.version]
        assert isinstance(event, Played)
        assert (event.seat, event.tile) == (each.seat, each.move.tile)


@pytest.mark.parametrize(
    "setup",
    in_lane(SETUPS, quick=[each for each in SETUPS if each.variant == COMPARED[0]]),
    ids=lambda setup: setup.variant,
)
def test_better_levels_give_away_less(setup: Setup) -> None:
    """In the same deals, in every game; the figures are the same in every run."""
    reviewed = [review_deal(setup, "in order", number, playouts=200) for number in range(3)]
    random, greedy, expert = figures(setup, reviewed).given_away
    assert random > greedy > expert


@pytest.mark.quick_and_gate
def test_a_mistake_is_named_only_where_it_is_clear_of_its_error() -> None:
    decisions = decisions_of_chance()
    named = [each for each in decisions if each.is_mistake]
    assert named
    assert len(named) < len(decisions)
    assert all(each.given_away > 2 * each.error for each in named)
    for language in LANGUAGES:
        fine = {sentence(each, language) for each in decisions if not each.is_mistake}
        assert len(fine) == 1
        assert fine.isdisjoint([sentence(each, language) for each in named])


@pytest.mark.quick_and_gate
def test_nobody_is_told_of_a_partner_without_one() -> None:
    decisions = [each for each in decisions_of_chance() if each.is_mistake]
    assert [each for each in decisions if "hinders" in each.advantages]
    for language in LANGUAGES:
        helps = text("learning.reasons.helps", language)
        assert not [each for each in decisions if helps in sentence(each, language)]


@pytest.mark.quick_and_gate
def test_who_helps_the_partner_is_told_so() -> None:
    match = Match("latin", ["Ada", "Bo", "Cy", "Di"], secret=bytes(32))
    match.play(match.to_act[0], match.legal_moves(match.to_act[0])[0])
    seat = match.to_act[0]
    seen = observe(match.rules, match.state, (), seat)
    assert not is_partner_next(match.rules, seen)
    players = [each._replace(tiles=0) if each.seat == (seat + 1) % 4 else each for each in seen.view.players]
    alone = seen._replace(view=seen.view._replace(players=tuple(players)))
    assert is_partner_next(match.rules, alone), "the opponent between them holds no tile"
    move = seen.view.legal_moves[0]
    mistake = Decision(1, seat, move, move._replace(tile=None), 9.0, 1.0, ("helps",))
    for language in LANGUAGES:
        assert text("learning.reasons.helps", language) in sentence(mistake, language)


@pytest.mark.quick_and_gate
def test_the_sums_of_a_seat_are_those_of_its_decisions() -> None:
    decisions = decisions_of_chance()
    for each in summaries(2, Review(list(decisions), [])):
        own = [one for one in decisions if one.seat == each.seat]
        assert each.decisions == len(own)
        assert each.given_away == pytest.approx(sum(one.given_away for one in own) / len(own))
        assert each.luck == (0, 0, 0, 0)


@pytest.mark.parametrize("game", in_lane(sorted(GAMES), quick=("block", "latin")))
def test_result_and_luck_are_told_of_every_round_and_add_up_to_nothing(game: str) -> None:
    record = recorded(game, "random", 0)
    rounds = list(luck_in(record))
    ends = {line.version: line.event for each in record.rounds for line in each.lines}
    over = {version: event for version, event in ends.items() if isinstance(event, RoundEnded)}
    assert [each.version for each in rounds] == list(over)
    for each in rounds:
        assert sum(each.results) == pytest.approx(0)
        assert sum(each.luck) == pytest.approx(0)
        if len(each.luck) == 2:
            scores = over[each.version].round.scores
            assert abs(each.results[0]) == abs(scores[0] - scores[1])
    for seat, told in enumerate(summaries(len(record.players), Review([], rounds))):
        assert told.luck is not None
        assert told.luck.result == pytest.approx(sum(each.results[seat] for each in rounds))
        assert told.luck.luck + told.luck.skill == pytest.approx(told.luck.result)
        assert told.luck.luck_error < told.luck.skill_error


@pytest.mark.parametrize("game", ["block", "bergen", "fido"])
def test_the_luck_of_a_deal_does_not_depend_on_who_plays_it(game: str) -> None:
    """The first deals of these matches are alike, their courses are not."""
    weak, strong = [first_luck(recorded(game, level, 0)) for level in ("random", "greedy")]
    assert weak[2:] == strong[2:]
    assert weak.results != strong.results


def test_a_round_that_is_not_over_has_no_luck() -> None:
    match = Match("block", ["Ada", "Bo"], secret=bytes(32))
    while match.state.round == 1:
        seat = match.to_act[0]
        match.play(seat, match.legal_moves(seat)[0])
    match.play(match.to_act[0], match.legal_moves(match.to_act[0])[0])
    rounds = read_record(match.record()).rounds
    assert [each.version for each in luck_in(read_record(match.record()))] == [rounds[0].lines[-1].version]


@pytest.mark.quick_and_gate
def test_a_review_goes_on_after_each_of_its_parts_as_if_never_interrupted() -> None:
    """The next three are the same, up to two parts after the first round."""
    record = recorded("bergen", "greedy", 0)
    found: list[Decision | RoundLuck] = []
    for each in reviewed(record, 2):
        found.append(each)
        if any(isinstance(before, RoundLuck) for before in found[:-5]):
            break
    second = len(found) - 3
    assert isinstance(found[second - 3], RoundLuck)
    for place in range(second):
        following = islice(reviewed(record, 2, after=found[place].version), 3)
        assert list(following) == found[place + 1 : place + 4]


@pytest.mark.quick_and_gate
def test_a_hint_claims_a_lead_only_where_it_is_clear() -> None:
    match = Match("block", ["Ada", "Bo"], secret=bytes(32))
    (move, *_) = match.view(match.to_act[0]).legal_moves
    one = Estimate(move, 1.0, 0.1, 0.0, 0.0, ("sheds",))
    assert hint([one]) == "There is no other move."
    assert hint([one, one._replace(behind=0.5, behind_error=0.1)]).startswith("Clearly better")
    assert hint([one, one._replace(behind=0.5, behind_error=0.3)]).startswith("About as good")

    for advantages in ((), ("exact",), ("worlds",)):
        one = Estimate(move, 1.0, 0.0, 0.0, 0.0, advantages)
        assert hint([one, one]) == "About as good as the next best."
    one = Estimate(move, 1.0, 0.0, 0.0, 0.0, ("exact", "sheds"))
    assert hint([one, one]) == "About as good as the next best: it sheds more pips."


def test_what_was_played_for_who_was_away_is_no_decision() -> None:
    """A seat leaves at its first move, and is back after some more."""
    record = replace(recorded("block", "random", 0), bots=())
    seat = decisions_of_chance()[0].seat
    (first, *rest) = record.rounds
    moved = [place for place, line in enumerate(first.lines) if getattr(line.event, "seat", None) == seat]
    lines = list(first.lines)
    lines.insert(moved[2] + 1, lines[moved[2]]._replace(event=Returned(seat)))
    lines.insert(moved[0], lines[moved[0]]._replace(event=Left(seat)))
    away = replace(record, rounds=(first._replace(lines=tuple(lines)), *rest))
    absent = {first.lines[place].version for place in moved[:3]}
    expected = [each for each in decisions_of_chance() if each.version not in absent]
    assert len(expected) < len(decisions_of_chance())
    assert decisions_of(away, len(expected)) == expected


@pytest.mark.quick_and_gate
def test_a_partial_record_is_not_reviewed() -> None:
    record = replace(recorded("block", "random", 0), viewer=0)
    with pytest.raises(Unreviewable):
        decisions_of(record)


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "service", "review", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_the_command_reviews_a_record(tmp_path: Path) -> None:
    record = recorded("block", "random", 0)
    file = tmp_path / "first-round.domino"
    file.write_text(format_record(replace(record, rounds=record.rounds[:1], result=None)), "utf-8")
    done = run_command(str(file), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert sum(each["decisions"] for each in told["players"]) == len(told["decisions"]) > 0
    assert set(told["decisions"][0]) == {"version", "seat", "move", "best", "given_away", "error", "text"}
    for each in told["players"]:
        assert each["luck"] + each["skill"] == pytest.approx(each["result"])


def test_the_hint_before_a_move_is_what_its_review_judged(capfd: pytest.CaptureFixture[str]) -> None:
    sample = str(ROOT / "docs" / "records" / "block.domino")
    record = read_record(Path(sample).read_bytes())
    decision = decisions_of(record, 1, playouts=None)[0]
    assert main(["hint", sample, str(decision.version), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["version"], told["seat"]) == (decision.version, decision.seat)
    estimates_of = {each["move"]: each["estimate"] for each in told["moves"]}
    best = estimates_of[cli_records._move_text(decision.best)]
    assert best == max(estimates_of.values())
    assert best - estimates_of[cli_records._move_text(decision.move)] == pytest.approx(decision.given_away)
    assert main(["hint", sample, str(decision.version)]) == 0
    said = capfd.readouterr().out
    assert f"Seat {decision.seat}, {record.players[decision.seat]}:" in said
    assert told["text"] in said


def test_a_hint_is_printed_where_a_name_cannot_be_encoded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = recorded("block", "random", 0)
    file = tmp_path / "zoë.domino"
    file.write_text(format_record(replace(record, players=("Zoë", *record.players[1:]))), "utf-8")
    moved = next(line for line in record.rounds[0].lines if getattr(line.event, "seat", None) == 0)
    output = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", output)
    assert main(["hint", str(file), str(moved.version)]) == 0
    output.seek(0)
    assert output.readline() == "Seat 0, Zo?:\n"


def test_the_hint_before_a_move_has_that_move_among_many() -> None:
    """Eight are told, and the one that was made if it is none of them."""
    record = recorded("fido", "random", 0)
    rules, _ = rules_of(record)
    assert rules is not None
    ninth = next(
        each
        for each in reviewed(record, 8)
        if isinstance(each, Decision)
        and each.move not in [estimate.move for estimate in hint_before(record, rules, each.version)[1].estimates[:8]]
    )
    seat, found = hint_before(record, rules, ninth.version)
    assert seat == ninth.seat
    assert len(found.estimates) == 9
    assert ninth.move in [each.move for each in found.estimates]


def test_there_is_no_hint_where_no_move_was_made(capfd: pytest.CaptureFixture[str]) -> None:
    sample = str(ROOT / "docs" / "records" / "block.domino")
    for version in ("0", "2", "99999", "-1"):
        assert main(["hint", sample, version]) == 1
        assert capfd.readouterr().err == f"No move has the version {version}.\n"


def test_the_command_refuses_what_is_no_record() -> None:
    assert run_command("README.md").returncode == 2
    assert run_command("nowhere.domino").returncode == 2
