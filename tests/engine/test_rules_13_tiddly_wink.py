"""Rules 13: Tiddly-Wink, a test a statement."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from service.engine.deal import seed_from_text, shuffle, split
from service.engine.errors import InvalidSetup
from service.engine.events import Dealt, Done, Drew, Finished, Passed
from service.engine.moves import DEAL
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import double_set
from tests.engine.table import EngineTable, tiles, variant

TIDDLY_WINK = "tiddly-wink"
BRITISH: dict[str, Any] = {"version": "british"}
HANDS_IN_BRITISH = {5: 5, 6: 4, 7: 4, 8: 3, 9: 3}

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


@pytest.mark.parametrize("players", [0, 1, 2, 3, 4, 10, 11])
@pytest.mark.parametrize("options", [{}, BRITISH])
def test_13_1_five_to_nine_players(players: int, options: dict[str, Any]) -> None:
    assert variant(TIDDLY_WINK).players == (5, 9)
    with pytest.raises(InvalidSetup):
        variant(TIDDLY_WINK).rules(options, players)


@pytest.mark.parametrize("players", range(5, 10))
def test_13_1_each_plays_alone(players: int) -> None:
    rules = variant(TIDDLY_WINK).rules({}, players)
    assert [rules.team(seat) for seat in range(players)] == [None] * players
    with pytest.raises(InvalidSetup):
        variant(TIDDLY_WINK).rules({"teams": 2}, players)


@pytest.mark.parametrize(("players", "asleep"), [(5, 13), (6, 10), (7, 7), (8, 4), (9, 1)])
def test_13_1_hands_of_three_and_the_rest_is_asleep(players: int, asleep: int) -> None:
    table = EngineTable(TIDDLY_WINK, seats=players)
    assert table.rules.tiles == double_set(6)
    assert [len(hand) for hand in table.state.hands] == [3] * players
    assert (len(table.state.stock), table.rules.drawable(table.state)) == (asleep, 0)


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


def test_13_2_without_a_double_in_any_hand_it_is_dealt_again() -> None:
    tiles_dealt = shuffle(double_set(6), seed_from_text(NO_DOUBLE_AT_FIRST), 1, 0)
    assert not any(tile.double for hand in split(tiles_dealt, [3] * 5).hands for tile in hand)
    table = EngineTable(TIDDLY_WINK, seats=5, seed=NO_DOUBLE_AT_FIRST)
    assert any(tile.double for hand in table.state.hands for tile in hand)


def test_worked_13c_a_deal_without_a_double_is_not_counted_as_a_round() -> None:
    """Nobody of five players holds a double → dealt again, not counted as a round."""
    table = EngineTable(TIDDLY_WINK, seats=5, seed=NO_DOUBLE_AT_FIRST)
    assert ([event.round for event in table.events(Dealt)], table.state.round) == ([1], 1)
    assert table.turn is not None
    (lead,) = table.legal()
    assert tiles(lead)[0].double


# 13.3


def test_13_3_the_lead_offers_one_place() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.do(2, "5-5")
    assert [(end.name, end.number, end.side) for end in table.layout.ends] == [("right", 5, "long")]
    assert table.places("1-5") == ["right"]
    table.refuses(2, "0-4")


def test_13_3_a_later_double_offers_one_place_too() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.play("5-5 1-5 1-1")
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


def test_13_4_after_the_lead_another_tile_or_done() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.do(2, "5-5")
    assert (table.turn, table.legal()) == (2, {"1-5", "done"})
    table.refuses(2, "0-4 pass draw deal")
    table.do(2, "done")
    assert (table.turn, table.events(Done)) == (3, [Done(2)])


def test_13_4_after_a_later_double_another_tile_or_done() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.play("5-5 1-5 1-1")
    assert (table.turn, table.legal()) == (3, {"1-4", "done"})
    table.play("1-4")
    assert (table.turn, table.ends()) == (4, [4])


def test_13_4_a_tile_that_is_no_double_ends_the_turn() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.play("5-5 1-5")
    assert table.turn == 3
    table.play("1-4")
    assert table.turn == 4


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


def test_13_5_who_cannot_place_passes() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_E, stock=WORKED_E_STOCK)
    table.play("5-5 2-5")
    assert (table.turn, table.legal()) == (0, {"pass"})
    table.refuses(0, "0-0 draw done flip deal")
    table.do(0, "pass")
    assert (table.turn, table.events(Passed), table.events(Drew)) == (1, [Passed(0)], [])


def test_13_5_who_can_place_may_not_pass() -> None:
    table = EngineTable(TIDDLY_WINK, *WORKED_B)
    table.play("5-5 1-5")
    table.refuses(3, "pass draw done")


def test_13_5_passes_alone_do_not_end_a_round() -> None:
    """All others pass; who laid last holds the only tile that fits."""
    table = EngineTable(TIDDLY_WINK, *WORKED_E, stock=WORKED_E_STOCK)
    table.play("5-5 2-5 pass pass pass pass pass pass")
    assert (table.state.phase, table.turn, table.legal()) == (PLAYING, 6, {"2-2"})


def test_13_5_the_round_is_over_with_the_last_tile_of_a_hand() -> None:
    table = out()
    assert (table.counted.ended_by, table.counted.winner, table.state.phase) == ("out", 6, ROUND_OVER)


def test_13_5_the_round_is_over_when_nobody_holds_a_tile_that_fits() -> None:
    table = blocked()
    assert (table.counted.ended_by, table.counted.winner, table.state.phase) == ("blocked", None, ROUND_OVER)


def test_13_5_blocked_by_the_first_of_two_tiles() -> None:
    """The lead blocks the round at once; its player holds no tile that fits, and nobody else does."""
    table = EngineTable(
        TIDDLY_WINK, "0-0 0-1 6-6", "0-2 0-3 0-4", "1-1 1-2 1-3", "2-2 2-3 2-4", "3-3 3-4 4-4", stock="5-5"
    )
    table.do(0, "6-6")
    assert (table.counted.ended_by, table.counted.scores) == ("blocked", (4, -1, -1, -1, -1))


def test_worked_13e_a_double_as_last_tile_ends_the_round() -> None:
    """Seat 6 lays 2-2 as its last tile: out; there is no second tile to lay."""
    table = out()
    assert (table.last_play.seat, table.last_play.tile.name) == (6, "2-2")
    assert (table.counted.ended_by, table.counted.winner, table.legal(6)) == ("out", 6, {"deal"})


# 13.6


def test_13_6_a_blocked_round_is_won_by_who_alone_has_the_fewest_pips() -> None:
    table = blocked()
    assert [left.value for left in table.counted.hands] == [3, 5, 5, 9, 0]
    assert table.counted.scores == (-1, -1, -1, -1, 4)


@pytest.mark.parametrize("scoring", ["pool", "pips"])
def test_13_6_a_tie_is_won_by_nobody(scoring: str) -> None:
    table = blocked(TIED, TIED_PLAY, scoring=scoring)
    assert [left.value for left in table.counted.hands] == [3, 3, 5, 9, 7]
    assert (table.counted.scores, table.counted.lines, table.counted.winner) == ((0,) * 5, (), None)


@pytest.mark.parametrize("scoring", ["pool", "pips"])
def test_13_6_a_tie_of_others_than_the_lightest_does_not_matter(scoring: str) -> None:
    """Two players have five pips each."""
    assert blocked(scoring=scoring).counted.scores[4] == {"pool": 4, "pips": 22}[scoring]


# 13.7


def test_13_7_the_stakes_by_default() -> None:
    assert variant(TIDDLY_WINK).rules({}, 5).settings == {
        "version": "american",
        "scoring": "pool",
        "stake": 1,
        "rounds": 10,
    }


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("version", ["", "British", True, 2, None]),
        ("scoring", ["", "pips ", "stake", 1, None]),
        ("stake", [0, -1, 1001, "1", 1.0, True, None]),
        ("rounds", [0, -1, 101, "10", 10.0, True, None]),
    ],
)
def test_13_7_and_the_other_options_take_nothing_else(option: str, values: list[object]) -> None:
    for value in values:
        with pytest.raises(InvalidSetup) as caught:
            variant(TIDDLY_WINK).rules({option: value}, 5)
        assert list(caught.value.errors) == [f"options.{option}"]


def test_worked_13a_seven_players_and_stake_1() -> None:
    """+6 and six times −1."""
    assert out().counted.scores == (-1, -1, -1, -1, -1, -1, 6)


def test_worked_13a_nine_players_and_stake_5() -> None:
    """+40 and eight times −5; the sum is 0."""
    table = EngineTable(TIDDLY_WINK, seats=9, stake=5, seed="nine")
    counted = table.play_out()
    assert counted.winner is not None
    assert counted.scores == tuple([40 if seat == counted.winner else -5 for seat in range(9)])
    assert sum(counted.scores) == 0


def test_13_7_each_line_says_what_was_paid() -> None:
    lines = [(line.seat, line.points, line.rule, line.text) for line in out(stake=3).counted.lines]
    assert lines == [*[(seat, -3, "13.7", "0 − 3") for seat in range(6)], (6, 18, "13.7", "3 × 6")]


def test_13_7_pips_the_winner_writes_the_pips_of_all_others_when_out() -> None:
    counted = out(scoring="pips").counted
    others = sum(left.value for left in counted.hands)
    assert counted.scores == (0, 0, 0, 0, 0, 0, others)
    assert [(line.seat, line.rule) for line in counted.lines] == [(6, "13.7")]


def test_13_7_pips_nothing_is_subtracted_from_the_winner_of_a_blocked_round() -> None:
    """The winner holds one pip."""
    table = EngineTable(
        TIDDLY_WINK,
        "0-0 0-1 6-6",
        "0-2 0-3 0-4",
        "1-1 1-2 1-3",
        "2-2 2-3 2-4",
        "3-3 3-4 4-4",
        stock="5-5",
        scoring="pips",
    )
    table.do(0, "6-6")
    assert [left.value for left in table.counted.hands] == [1, 9, 9, 15, 21]
    assert table.counted.scores == (54, 0, 0, 0, 0)


def test_13_7_pips_the_stake_does_not_matter() -> None:
    assert out(scoring="pips", stake=7).counted == out(scoring="pips").counted


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
    assert ([end.number for end in table.layout.ends], table.counted.ended_by) == ([4], "blocked")
    assert [left.value for left in table.counted.hands] == [3, 5, 5, 9, 0]
    assert table.counted.scores == (-1, -1, -1, -1, 4)
    assert blocked(scoring="pips").counted.scores == (0, 0, 0, 0, 22)


def test_worked_13d_a_tied_blocked_round() -> None:
    """Pips 3, 3, 5, 9, 7: nobody writes anything."""
    counted = blocked(TIED, TIED_PLAY).counted
    assert ([left.value for left in counted.hands], counted.scores) == ([3, 3, 5, 9, 7], (0, 0, 0, 0, 0))


# 13.8


@pytest.mark.parametrize(("players", "hand"), HANDS_IN_BRITISH.items())
def test_13_8_the_british_version_deals_as_many_tiles_as_there_are_for_all(players: int, hand: int) -> None:
    table = EngineTable(TIDDLY_WINK, seats=players, **BRITISH)
    assert [len(held) for held in table.state.hands] == [hand] * players
    assert (len(table.state.stock), table.rules.drawable(table.state)) == (28 - players * hand, 0)


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


def test_13_9_the_highest_total_wins() -> None:
    table = out(rounds=1)
    assert (table.state.phase, table.state.winners) == (FINISHED, (6,))


def test_13_9_ties_share_the_win() -> None:
    table = blocked(TIED, TIED_PLAY, rounds=1)
    assert (table.state.phase, table.state.winners) == (FINISHED, (0, 1, 2, 3, 4))


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
