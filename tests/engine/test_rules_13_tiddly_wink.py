"""Rules 13: Tiddly-Wink, a test a statement."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from service.engine.events import Dealt, Done, Drew, Finished, Passed
from service.engine.moves import DEAL
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import double_set
from tests.engine.table import EngineTable, assert_dealt_again, assert_players, complaints, tiles, variant

TIDDLY_WINK = "tiddly-wink"
BRITISH: dict[str, Any] = {"version": "british"}

NO_DOUBLE_AT_FIRST = "no double at first 5"
"""A seed whose first deal to five players has no double in any hand."""

WORKED_B = ("…", "…", "0-4 1-5 5-5", "1-1 1-4 2-2", "5-6 …")
"""The hands of 13b; seats 0 and 1 hold 0-0 0-1 0-2 and 0-3 0-5 0-6, seat 4 also 1-2 and 1-3."""

WORKED_D = ("1-2 1-5 5-5", "0-5 1-6 3-5", "0-6 1-3 2-3", "0-1 0-2 3-6", "0-0 0-4 2-5")
WORKED_D_PLAY = "5-5 1-5 1-6 0-6 0-2 2-5 pass 3-5 1-3 0-1 0-4"
"""Blocked at 4 with 1-2, 0-5, 2-3, 3-6 and 0-0 in the hands: 3, 5, 5, 9 and 0 pips."""

TIED = ("1-2 1-5 5-5", "0-3 1-6 5-6", "0-6 2-3 3-5", "0-2 1-3 3-6", "1-4 2-5 2-6")
TIED_PLAY = "5-5 1-5 1-6 0-6 0-2 2-6 pass 5-6 3-5 1-3 1-4"
"""Blocked at 4 with 3, 3, 5, 9 and 7 pips."""

WORKED_E = (*["…"] * 6, "2-2 2-5 5-5")
WORKED_E_STOCK = "0-2 1-2 2-3 2-4 2-6 6-6 5-6"
WORKED_E_PLAY = "5-5 2-5 pass pass pass pass pass pass 2-2"
"""Seat 6 goes out with 2-2: nobody else holds a 2."""


def out(**options: Any) -> EngineTable:
    """The round of 13e, counted."""
    table = EngineTable(TIDDLY_WINK, *WORKED_E, stock=WORKED_E_STOCK, **options)
    table.play(WORKED_E_PLAY)
    return table


def blocked(hands: tuple[str, ...] = WORKED_D, play: str = WORKED_D_PLAY, **options: Any) -> EngineTable:
    """The round of 13d, counted."""
    table = EngineTable(TIDDLY_WINK, *hands, **options)
    table.play(play)
    return table


# 13.1


@pytest.mark.parametrize(("version", "hands"), [("american", [3] * 5), ("british", [5, 4, 4, 3, 3])])
def test_13_1_and_13_8_five_to_nine_players_each_alone_and_the_rest_is_asleep(version: str, hands: list[int]) -> None:
    assert_players(TIDDLY_WINK, 5, 9, version=version)
    assert complaints(TIDDLY_WINK, 6, teams=2) == {"options.teams"}
    for players, hand in zip(range(5, 10), hands, strict=True):
        table = EngineTable(TIDDLY_WINK, seats=players, version=version)
        assert (table.rules.tiles, table.held) == (double_set(6), [hand] * players)
        assert [table.rules.team(seat) for seat in range(players)] == [None] * players
        assert (len(table.state.stock), table.rules.drawable(table.state)) == (28 - players * hand, 0)


# 13.2


def test_13_2_the_highest_double_in_any_hand_must_be_led() -> None:
    table = EngineTable(TIDDLY_WINK, "0-0 5-6 …", "1-1 …", "2-2 4-4 0-5", "3-3 …", "1-6 …", stock="5-5 6-6")
    assert (table.turn, table.legal()) == (2, {"4-4"})
    table.refuses(2, "2-2 0-5 pass draw done flip deal")
    table.refuses(0, "5-6 0-0")
    table.refuses(3, "3-3")


def test_13_2_every_round_opens_this_way() -> None:
    later = [("6-6 …", "…", "…", "…", "…", "…", "…")]
    table = EngineTable(TIDDLY_WINK, *WORKED_E, stock=WORKED_E_STOCK, later=later)
    table.play(WORKED_E_PLAY)
    assert table.counted.winner == 6
    table.do(3, "deal")
    assert (table.turn, table.legal()) == (0, {"6-6"})


def test_worked_13c_a_deal_without_a_double_is_not_counted_as_a_round() -> None:
    """Nobody of five players holds a double → dealt again, not counted as a round."""
    assert_dealt_again(variant(TIDDLY_WINK).rules({}, 5), NO_DOUBLE_AT_FIRST)
    table = EngineTable(TIDDLY_WINK, seats=5, seed=NO_DOUBLE_AT_FIRST)
    assert ([event.round for event in table.events(Dealt)], table.state.round) == ([1], 1)
    (lead,) = table.legal()
    assert tiles(lead)[0].double


# 13.3


def test_13_3_the_lead_offers_one_place_as_does_a_later_double() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.do(2, "5-5")
    assert [(end.name, end.number, end.side) for end in table.layout.ends] == [("right", 5, "long")]
    assert table.places("1-5") == ["right"]
    table.refuses(2, "0-4")
    table.play("1-5 1-1")
    assert [(end.name, end.number, end.side) for end in table.layout.ends] == [("right", 1, "long")]
    assert table.places("1-4") == ["right"]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("players", [5, 9])
def test_13_3_every_tile_goes_on_the_tile_laid_last(players: int, seed: int) -> None:
    table, rng = EngineTable(TIDDLY_WINK, seats=players, seed=str(seed)), Random(seed)
    while table.state.phase == PLAYING:
        assert table.turn is not None
        move = rng.choice(legal_moves(table.rules, table.state, table.turn))
        assert move.end == ("right" if move.tile and table.layout.placements else None)
        table.state = advance(table.rules, table.deck, table.state, table.turn, move=move)[1]
        assert [end.name for end in table.layout.ends] == ["right"]
    assert [placement.host for placement in table.layout.placements] == [*range(-1, len(table.layout.placements) - 1)]


# 13.4


def test_13_4_after_the_lead_or_a_later_double_another_tile_or_done_which_no_other_tile_allows() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.do(2, "5-5")
    assert (table.turn, table.legal()) == (2, {"1-5", "done"})
    table.refuses(2, "0-4 pass draw deal")
    before = table.state
    table.do(2, "done")
    assert (table.turn, table.events(Done)) == (3, [Done(2)])
    table.state = before
    table.play("1-5")
    assert table.turn == 3
    table.refuses(3, "pass draw done")  # who can place may not pass (rules 13.5)
    table.play("1-1")
    assert (table.turn, table.legal()) == (3, {"1-4", "done"})
    table.play("1-4")
    assert (table.turn, table.ends()) == (4, [4])


def test_13_4_the_turn_is_over_by_itself_if_nothing_fits() -> None:
    table = EngineTable(TIDDLY_WINK, "0-5 …", "…", "0-4 1-2 5-5", "1-1 …", "5-6 …", stock="6-6")
    table.do(2, "5-5")
    assert (table.turn, table.events(Done)) == (3, [])


def test_13_4_on_two_ends_a_second_double_may_follow_and_earns_another() -> None:
    table = EngineTable(
        TIDDLY_WINK, "4-4 3-4 …", "1-4 …", "1-1 1-2 2-3 2-5 3-3", "…", "…", stock="5-5 6-6 2-2", **BRITISH
    )
    table.play("4-4 3-4@left")
    assert table.turn == 1
    table.play("1-4@right 3-3")
    assert (table.turn, table.legal()) == (2, {"1-1", "1-2", "2-3", "done"})
    table.play("1-1")
    assert (table.turn, table.legal()) == (2, {"1-2", "2-3", "done"})
    table.play("1-2")
    assert (table.turn, table.ends()) == (3, [2, 3])


# 13.5


def test_13_5_who_cannot_place_passes_and_passes_alone_do_not_end_a_round() -> None:
    """All others pass; who laid last holds the only tile that fits."""
    table = EngineTable(TIDDLY_WINK, *WORKED_E, stock=WORKED_E_STOCK)
    table.play("5-5 2-5")
    assert (table.turn, table.legal()) == (0, {"pass"})
    table.refuses(0, "0-0 draw done flip deal")
    table.do(0, "pass")
    assert (table.turn, table.events(Passed), table.events(Drew)) == (1, [Passed(0)], [])
    table.play("pass pass pass pass pass")
    assert (table.state.phase, table.turn, table.legal()) == (PLAYING, 6, {"2-2"})


def test_worked_13e_a_double_as_last_tile_ends_the_round() -> None:
    """Seat 6 lays 2-2 as its last tile: out; there is no second tile to lay."""
    table = out()
    assert (table.last_play.seat, table.last_play.tile.name) == (6, "2-2")
    assert (table.counted.ended_by, table.counted.winner, table.legal(6)) == ("out", 6, {"deal"})


@pytest.mark.parametrize(("scoring", "scores"), [("pool", (4, -1, -1, -1, -1)), ("pips", (54, 0, 0, 0, 0))])
def test_13_5_blocked_by_the_first_of_two_tiles(scoring: str, scores: tuple[int, ...]) -> None:
    """The lead blocks the round at once; its player, who holds one pip, holds no tile that fits, nor does anybody."""
    hands = ("0-0 0-1 6-6", "0-2 0-3 0-4", "1-1 1-2 1-3", "2-2 2-3 2-4", "3-3 3-4 4-4")
    table = EngineTable(TIDDLY_WINK, *hands, stock="5-5", scoring=scoring)
    table.do(0, "6-6")
    assert [left.value for left in table.counted.hands] == [1, 9, 9, 15, 21]
    assert (table.counted.ended_by, table.counted.scores) == ("blocked", scores)


# 13.6


@pytest.mark.parametrize("scoring", ["pool", "pips"])
def test_worked_13d_a_tie_is_won_by_nobody(scoring: str) -> None:
    """Pips 3, 3, 5, 9, 7: nobody writes anything."""
    table = blocked(TIED, TIED_PLAY, scoring=scoring)
    assert [left.value for left in table.counted.hands] == [3, 3, 5, 9, 7]
    assert (table.counted.scores, table.counted.lines, table.counted.winner) == ((0,) * 5, (), None)


# 13.7


def test_13_7_the_stakes_by_default_and_what_else_the_options_take() -> None:
    settings = variant(TIDDLY_WINK).rules({}, 5).settings
    assert settings == {"version": "american", "scoring": "pool", "stake": 1, "rounds": 10}
    for option, values in {
        "version": ["", "British", True, 2, None],
        "scoring": ["", "pips ", "stake", 1, None],
        "stake": [0, -1, 1001, "1", 1.0, True, None],
        "rounds": [0, -1, 101, "10", 10.0, True, None],
    }.items():
        for value in values:
            assert complaints(TIDDLY_WINK, 5, **{option: value}) == {f"options.{option}"}


def test_worked_13a_seven_players_and_stake_1_or_3() -> None:
    """+6 and six times −1."""
    assert out().counted.scores == (-1, -1, -1, -1, -1, -1, 6)
    lines = [(line.seat, line.points, line.rule, line.text) for line in out(stake=3).counted.lines]
    assert lines == [*[(seat, -3, "13.7", "0 − 3") for seat in range(6)], (6, 18, "13.7", "3 × 6")]


def test_worked_13a_nine_players_and_stake_5() -> None:
    """+40 and eight times −5; the sum is 0."""
    table = EngineTable(TIDDLY_WINK, seats=9, stake=5, seed="nine")
    counted = table.play_out()
    assert counted.winner is not None
    assert counted.scores == tuple([40 if seat == counted.winner else -5 for seat in range(9)])
    assert sum(counted.scores) == 0


def test_13_7_pips_the_winner_writes_the_pips_of_all_others_when_out_whatever_the_stake() -> None:
    counted = out(scoring="pips").counted
    others = sum(left.value for left in counted.hands)
    assert counted.scores == (0, 0, 0, 0, 0, 0, others)
    assert [(line.seat, line.rule) for line in counted.lines] == [(6, "13.7")]
    assert out(scoring="pips", stake=7).counted == counted


@pytest.mark.parametrize("stake", [1, 2, 1000])
@pytest.mark.parametrize("players", range(5, 10))
@pytest.mark.parametrize("version", ["american", "british"])
def test_13_7_the_scores_of_a_pool_add_up_to_nothing(version: str, players: int, stake: int) -> None:
    for seed in range(4):
        table = EngineTable(TIDDLY_WINK, seats=players, seed=f"pool {seed}", version=version, stake=stake)
        scores = sorted(table.play_out().scores)
        assert scores in ([0] * players, [*[-stake] * (players - 1), stake * (players - 1)])


def test_worked_13d_a_blocked_round() -> None:
    """End 4; pips in hand 3, 5, 5, 9, and 0 for {0-0}: that one wins, +4 and four times −1; with ``pips`` +22."""
    table = blocked()
    assert (table.ends(), table.counted.ended_by) == ([4], "blocked")
    assert (table.counted.winner, table.state.phase) == (None, ROUND_OVER)
    assert [left.value for left in table.counted.hands] == [3, 5, 5, 9, 0]
    assert table.counted.scores == (-1, -1, -1, -1, 4)
    assert blocked(scoring="pips").counted.scores == (0, 0, 0, 0, 22)


# 13.8


def test_13_8_the_british_version_has_two_ends() -> None:
    table = EngineTable(TIDDLY_WINK, "6-6 5-6 4-6 …", "…", "…", "…", "…", **BRITISH)
    table.do(0, "6-6")
    assert [(end.name, end.number) for end in table.layout.ends] == [("left", 6), ("right", 6)]
    assert table.places("5-6") == ["left", "right"]
    table.play("5-6@left")
    assert [(end.name, end.number) for end in table.layout.ends] == [("left", 5), ("right", 6)]


def test_13_8_all_else_is_as_in_the_american_version() -> None:
    table = EngineTable(TIDDLY_WINK, "6-6 5-6 …", "0-1 …", "…", "…", "…", stock="0-0 1-1 2-2", **BRITISH)
    assert table.legal() == {"6-6"}
    table.do(0, "6-6")
    assert {"5-6", "done"} <= table.legal()
    table.play("5-6@left")
    assert table.turn == 1
    counted = table.play_out()
    assert sorted(counted.scores) in ([0] * 5, [-1, -1, -1, -1, 4])


@pytest.mark.parametrize("seed", range(4))
def test_13_8_two_ends_all_the_time(seed: int) -> None:
    table, rng = EngineTable(TIDDLY_WINK, seats=6, seed=str(seed), **BRITISH), Random(seed)
    while table.state.phase == PLAYING:
        assert table.turn is not None
        move = rng.choice(legal_moves(table.rules, table.state, table.turn))
        table.state = advance(table.rules, table.deck, table.state, table.turn, move=move)[1]
        assert [end.name for end in table.layout.ends] == ["left", "right"]


# 13.9


@pytest.mark.parametrize(("given", "rounds"), [({}, 10), ({"rounds": 1}, 1), ({"rounds": 3}, 3)])
def test_13_9_the_match_is_over_after_the_agreed_rounds(given: dict[str, Any], rounds: int) -> None:
    table = EngineTable(TIDDLY_WINK, seats=5, **given)
    while table.state.phase != FINISHED:
        if table.state.phase == ROUND_OVER:
            assert table.state.round < rounds
            table.state = advance(table.rules, table.deck, table.state, 0, move=DEAL)[1]
        table.play_out()
    assert table.state.round == rounds
    best = max(table.state.totals)
    assert table.state.winners == tuple([seat for seat in range(5) if table.state.totals[seat] == best])
    assert table.events(Finished) == [Finished(table.state.winners)]


def test_13_9_the_highest_total_wins_and_ties_share_the_win() -> None:
    for table, winners in ((out(rounds=1), (6,)), (blocked(TIED, TIED_PLAY, rounds=1), (0, 1, 2, 3, 4))):
        assert (table.state.phase, table.state.winners) == (FINISHED, winners)


# Worked example b


def test_worked_13b_a_double_and_another_tile() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.do(2, "5-5")
    assert table.legal() == {"1-5", "done"}
    table.do(2, "1-5")
    assert (table.turn, table.ends()) == (3, [1])
    assert table.legal() == {"1-1", "1-4"}
    table.do(3, "1-1")
    assert table.legal() == {"1-4", "done"}
    table.do(3, "done")
    assert (table.turn, table.legal()) == (4, {"1-2", "1-3"})
    table.refuses(4, "5-6")
