"""The levels: legal, blind, repeatable moves; and positions in which a level must see what there is to see."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, pairwise
from time import monotonic

import pytest

from service.bots import expert, greedy, playout
from service.bots.choice import LEVELS, choose_move
from service.bots.inference import infer
from service.bots.knowledge import Observation, observe, tile_set
from service.bots.playout import tiles_possible, worth
from service.bots.worlds import Sampler
from service.engine.deal import Deck, length_prefixed, seed_of_decision
from service.engine.events import Manche, RoundEnded
from service.engine.moves import FLIP, PLAY, Move
from service.engine.referee import advance, legal_moves
from service.engine.state import PLAYING, State
from service.engine.variant import Rules
from service.engine.variants import variants
from service.games.model import seats as all_seats
from service.texts import LANGUAGES, text
from tests.bots.playing import choose_quickly, matches_to_compare, played
from tests.bots.seen import Moment, moments
from tests.engine.table import EngineTable, tiles
from tests.laws.matches import Match, law
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.support.waiting import PATIENCE
from tools.strength.results import measured
from tools.strength.rounds import play_deals
from tools.strength.rows import Row, Setup

pytestmark = pytest.mark.quick_and_gate

LUCK = bytes(range(32))
DUELS = (Setup("fido", 3, (("set", 6),)), Setup("dominospiel", 2), Setup("all-fives", 2))


def decisions(match: Match, many: int) -> list[Moment]:
    """Some moments of the match at which a seat has several moves."""
    found = [
        moment
        for moment in moments(match)
        if moment.state.turn is not None and len(legal_moves(match.rules, moment.state, moment.state.turn)) > 1
    ]
    return match.rng.sample(found, min(many, len(found)))


def seen_at(moment: Moment, match: Match) -> Observation:
    assert moment.state.turn is not None
    return moment.seen_by(match, moment.state.turn)


def seen_by_the_mover(table: EngineTable) -> Observation:
    assert table.state.turn is not None
    return observe(table.rules, table.state, table.log, table.state.turn)


def chosen(table: EngineTable, level: str) -> Move:
    return choose_move(table.rules, seen_by_the_mover(table), level, LUCK)


# All levels


@law(matches=8, drawn=3)
def test_every_level_makes_a_listed_move(match: Match) -> None:
    for moment in decisions(match, 3):
        seen = seen_at(moment, match)
        for level in LEVELS:
            assert choose_quickly(match.rules, seen, level, LUCK) in seen.view.legal_moves


@law(matches=8, drawn=3)
def test_no_level_depends_on_what_its_seat_cannot_see(match: Match) -> None:
    """Each choice comes right after its observation, so that it also shows what is passed on beside that."""
    for moment in decisions(match, 2):
        seen = seen_at(moment, match)
        world = Sampler(match.rules, seen, infer(match.rules, seen)).sample(match.rng)
        for level in LEVELS:
            twin = observe(match.rules, world, moment.events, seen.seat)
            by_the_twin = choose_quickly(match.rules, twin, level, LUCK)
            assert by_the_twin == choose_quickly(match.rules, seen_at(moment, match), level, LUCK)


@pytest.mark.parametrize("level", LEVELS)
def test_a_move_without_an_alternative_costs_no_thought(level: str) -> None:
    table = EngineTable("homo-homini-lupus", "0-0 …", "…", "…", "…")
    seen = seen_by_the_mover(table)
    (only,) = seen.view.legal_moves
    blank: tuple[str, ...] = ("nobody looks at this",)
    assert choose_move(table.rules, seen._replace(events=blank), level, b"nor at this") == only  # type: ignore[arg-type]


@pytest.mark.gate
def test_the_same_matches_are_played_in_every_process() -> None:
    """This one has a random seed of its hashes."""
    printed = subprocess.run(
        [sys.executable, "-m", "tests.bots.playing"],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    ).stdout.strip()
    assert printed == matches_to_compare()


def test_the_seed_decides_between_moves_of_equal_worth_only_by_its_own_bytes() -> None:
    table = EngineTable("homo-homini-lupus", "0-0 …", "0-1 0-2 0-3 …", "…", "…")
    table.play("0-0")
    seen = seen_by_the_mover(table)
    by_seed = [choose_move(table.rules, seen, "random", bytes([number]) * 32) for number in range(40)]
    assert by_seed == [choose_move(table.rules, seen, "random", bytes([number]) * 32) for number in range(40)]
    assert len(set(by_seed)) > 6


def test_the_seed_of_a_decision_is_derived_as_documented() -> None:
    fields = b"".join([length_prefixed(text) for text in ("domino-bot-1", "3", "17")])
    assert fields == b"\0\0\0\x0cdomino-bot-1\0\0\0\x013\0\0\0\x0217"
    assert (
        seed_of_decision(b"k" * 32, 3, 17).hex() == "2d37f9983c014ed5e007eb46617d203a47f2fb9a5c8402dc0df7b8dafb81ed52"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("setup", DUELS)
def test_each_level_but_the_slow_one_beats_the_one_before(setup: Setup) -> None:
    for weaker, stronger in pairwise(list(LEVELS)[:-1]):
        row = Row(stronger, weaker, setup, 0.5, 1)
        duel = measured(row, play_deals(row, "in order", range(200)))
        assert duel.win - duel.win_error > 0.5, (weaker, stronger)


def test_every_level_has_its_sentences() -> None:
    assert list(LEVELS) == list(all_seats.LEVELS)
    told = [
        text(f"levels.{level}.{part}", language)
        for level in LEVELS
        for part in ("summary", "strength")
        for language in LANGUAGES
    ]
    assert all(each.endswith(".") for each in told)
    assert len(set(told)) == len(told)


# Whole matches


def setups() -> list[tuple[str, int]]:
    return [
        (key, seats)
        for key, variant in variants().items()
        for seats in range(variant.players.low, variant.players.high + 1)
    ]


def playable(key: str, seats: int, number: int = 0) -> Rules:
    """The rules of a match of so many, on the smallest sets in turn that are large enough."""
    sets = {"domino": (6, 9, 12) if seats <= 4 else (9, 12), "fido": (6, 9, 12, 15, 18)}.get(key)
    return variants()[key].rules({} if sets is None else {"set": sets[number % len(sets)]}, seats)


@pytest.mark.parametrize(
    ("key", "seats"), in_lane(setups(), quick=[(key, variant.players.low) for key, variant in variants().items()])
)
def test_a_match_of_computer_players_ends(key: str, seats: int) -> None:
    for number in range(2):
        levels = [("greedy", "random", "greedy")[(seat + number) % 3] for seat in range(seats)]
        assert len(list(played(playable(key, seats), f"bots {number}", levels))) > seats


@pytest.mark.gate
@pytest.mark.parametrize("key", in_lane(list(variants()), quick=GATE_VARIANTS))
def test_a_match_with_experts_ends(key: str) -> None:
    seats = variants()[key].players.low
    levels = [("expert", "greedy", "expert", "random")[seat % 4] for seat in range(seats)]
    assert list(played(playable(key, seats), "experts", levels, choose_quickly))


@pytest.mark.soak
def test_very_many_matches_of_computer_players_end() -> None:
    end = monotonic() + float(os.environ.get("SOAK_SECONDS", "60"))
    ended = 0
    for number in count():
        for key, seats in setups():
            levels = [("greedy", "random", "expert")[(seat + number) % 3] for seat in range(seats)]
            list(played(playable(key, seats, number), f"soak {number}", levels, choose_quickly))
            ended += 1
        if monotonic() > end:
            break
    assert ended


# What greedy sees


@pytest.mark.nightly
@law(game="dominospiel", matches=30)
def test_greedy_lays_its_last_tile_if_it_can(match: Match) -> None:
    for moment in decisions(match, 40):
        seen = seen_at(moment, match)
        assert seen.view.you is not None
        if len(seen.view.you.hand) == 1:
            assert choose_move(match.rules, seen, "greedy", LUCK).action == PLAY


def test_greedy_takes_points_rather_than_shed_a_heavier_tile() -> None:
    table = EngineTable("fido", "6-6 …", "3-6 5-6 4-6 …", "…", set=6)
    table.play("6-6")
    move = chosen(table, "greedy")
    assert (str(move.tile), move.points) == ("3-6", 5)


def test_greedy_sheds_the_heavier_of_two_tiles_that_are_otherwise_alike() -> None:
    table = EngineTable("domino", "6-6 …", "5-6 0-6 1-1 2-2 3-3 4-4 1-2", stock="0-0 0-5 5-5")
    table.play("6-6")
    assert str(chosen(table, "greedy").tile) == "5-6"


def test_greedy_leaves_the_next_player_only_a_number_that_they_have_passed_on() -> None:
    table = EngineTable("domino", "6-6 1-6 5-6 0-0 2-2 3-3 4-4", "0-1 0-2 0-3 0-4 1-1 1-2 2-3", "3-6 …", "1-3 …")
    table.play("6-6 pass 3-6@left 1-3@left")
    assert str(chosen(table, "greedy").tile) == "1-6"  # both ends are 6 then; 5-6 is heavier


def test_greedy_does_not_hinder_its_partner() -> None:
    table = EngineTable("dominospiel", "0-0 0-1 0-2 …", "…", "…", "…")
    table.play("0-0")
    seen = seen_by_the_mover(table)
    opponents = replace(table.rules, teams=2)
    partners = replace(table.rules, teams=1)
    knowledge = infer(table.rules, seen)
    turned = seen._replace(view=seen.view._replace(layout=table.layout.flip_lead()))
    for rules, pips in ((opponents, 20), (partners, -20)):
        (parts,) = greedy.parts(rules, turned, knowledge, [FLIP])
        assert parts.hinders == pips


def test_greedy_turns_the_lead_over_with_a_light_hand_only() -> None:
    light = EngineTable("menschenwolf", "1-2 …", "0-0 0-3 0-4 3-3 0-5 3-4 0-6", "…", "…")
    heavy = EngineTable("menschenwolf", "1-2 …", "6-6 5-6 5-5 4-6 4-5 3-6 4-4", "…", "…")
    for table in (light, heavy):
        table.play("1-2")
        assert FLIP in legal_moves(table.rules, table.state, 1)
    assert chosen(light, "greedy") == FLIP
    assert chosen(heavy, "greedy") != FLIP


# What the expert sees


def lead(rules: Rules, state: State, seat: int, move: Move) -> float:
    """What the round is worth to the seat after this move of the seat to move, if all see everything and play best."""
    assert state.turn is not None
    events, after = advance(rules, Deck(b""), state, state.turn, move=move)
    for event in events:
        if isinstance(event, RoundEnded):
            return worth(rules, range(rules.seats), event.round.scores, seat)
    assert after.turn is not None
    leads = [lead(rules, after, seat, each) for each in legal_moves(rules, after, after.turn)]
    return max(leads) if after.turn == seat else min(leads)


ENDGAMES = {
    "a light tile first": (
        ("0-2 0-4 0-6 1-2 1-3 1-4 1-6 2-3 2-4 3-3 3-5 4-5 5-5 6-6", "…"),
        (
            "0-0 0-1@left 0-5@right 2-5@right 2-2@right 2-6@right 1-5@left done 1-6@right 1-3@right 2-3@right "
            "2-4@right 5-5@left 1-4@right 1-2@right 0-2@right 4-5@left done 0-3@right 3-6@right 5-6@right 4-4@left"
        ),
    ),
    "the other end": (
        ("0-0 0-2 0-4 0-5 0-6 1-2 1-3 2-2 2-4 2-5 3-3 3-4 5-5 6-6", "…"),
        (
            "0-0 0-4@left 2-4@left 1-2@left 0-5@right 5-5@right 1-3@left 3-4@left 2-5@right 0-2@right 0-6@right "
            "6-6@right 1-6@right 4-4@left 1-4@left 0-1@left 0-3@left 3-5@left 5-6@left 1-1@right done pass"
        ),
    ),
}
"""Of two who hold all tiles: the hands, and the moves until one who sees ahead wins and greedy loses."""


@pytest.mark.parametrize("hands_and_moves", ENDGAMES.values(), ids=ENDGAMES)
def test_an_expert_wins_where_greedy_loses(hands_and_moves: tuple[Sequence[str], str]) -> None:
    hands, moves = hands_and_moves
    table = EngineTable("dominospiel", *hands)
    table.play(moves)
    seat = table.state.turn
    assert seat is not None
    assert table.state.phase == PLAYING
    assert lead(table.rules, table.state, seat, chosen(table, "greedy")) < 0
    assert lead(table.rules, table.state, seat, chosen(table, "expert")) > 0


@pytest.mark.parametrize(
    ("key", "seats", "highest", "playouts"),
    [
        *(("fido", 9, 12, expert.PLAYOUTS), ("fido", 6, 18, expert.PLAYOUTS), ("fido", 9, 15, 483)),
        *(("fido", 9, 18, 346), ("domino", 8, 12, expert.PLAYOUTS)),
    ],
)
def test_only_long_rounds_with_very_many_tiles_have_fewer_playouts(
    key: str, seats: int, highest: int, playouts: int
) -> None:
    assert expert.playouts_of(variants()[key].rules({"set": highest}, seats)) == playouts


def test_in_a_playout_the_next_player_is_left_only_a_number_that_they_have_passed_on() -> None:
    table = EngineTable("domino", "6-6 1-6 5-6 0-0 2-2 3-3 4-4", "0-1 0-2 0-3 0-4 1-1 1-2 2-3", "3-6 …", "1-3 …")
    table.play("6-6 pass 3-6@left 1-3@left")
    rules, state, seen = table.rules, table.state, seen_by_the_mover(table)
    moves = legal_moves(rules, state, 0)
    possible = tiles_possible(seen, infer(rules, seen))
    assert str(playout.best_of(rules, state, moves, possible[0], possible=possible).tile) == "1-6"
    possible[1] = tile_set(tiles("0-6 2-6 4-6 6-6"))
    assert str(playout.best_of(rules, state, moves, possible[0], possible=possible).tile) == "5-6"


def worth_after(table: EngineTable, hands: Sequence[str], move: str) -> float:
    """What the round is worth to the last of these seats, with the ends 1 and 2, if it makes this move."""
    table.lay("1-2")
    table.put(*hands)
    seat = len(hands) - 1
    state = table.state._replace(turn=seat)
    (laid,) = [each for each in legal_moves(table.rules, state, seat) if str(each.tile) == move]
    return playout.play_out(table.rules, state, laid, [tile_set(table.rules.tiles)] * len(hands))


def test_a_playout_counts_the_stars_that_it_leaves() -> None:
    table = EngineTable("cochon", seats=3)
    table.state = table.state._replace(manche=Manche(1, (2, 1, 0)))
    hands = ("3-5", "4-6", "1-3 2-4")
    assert worth_after(table, hands, "1-3") == -2  # seat 0 wins the manche, and seat 2 is the pig
    assert worth_after(table, hands, "2-4") == pytest.approx(-0.5 - 1)  # 2 to 2 to 0: likely the pig later


def test_a_playout_counts_the_match_that_it_loses() -> None:
    table = EngineTable("by-wins", seats=2, hand=7)
    table.state = table.state._replace(totals=(5, 0))
    assert worth_after(table, ("3-5", "1-3 2-4"), "1-3") == -1 - 6  # six love
    assert worth_after(table, ("3-5", "1-3 2-4"), "2-4") == 5  # bruk


def test_the_others_do_not_know_the_own_hand_in_a_playout() -> None:
    table = EngineTable("domino", "6-6 5-6 …", "4-4 …", "…", "5-5 …")
    table.play("6-6")
    seat = table.state.turn
    assert seat is not None
    seen = seen_by_the_mover(table)
    own = tile_set(table.state.hands[seat])
    on_table = tile_set(tiles("6-6"))
    possible = tiles_possible(seen, infer(table.rules, seen))
    assert possible[seat] == tile_set(table.rules.tiles) & ~on_table
    assert all(each & own == own for each in possible)


def test_the_worth_of_a_round_is_the_lead_of_the_side() -> None:
    lowest = variants()["domino"].rules({}, 4)
    teams = variants()["domino"].rules({"teams": 2}, 4)
    highest = variants()["fido"].rules({}, 3)
    assert worth(highest, (0, 1, 2), (10, 4, 2), 0) == 7
    assert worth(lowest, (0, 1, 2, 3), (10, 4, 2, 6), 0) == -6
    assert worth(lowest, (0, 2, 3), (10, 99, 2, 6), 0) == -6
    assert worth(teams, (0, 1, 2, 3), (0, 8, 0, 8), 2) == 8
