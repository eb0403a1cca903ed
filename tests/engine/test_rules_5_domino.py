"""Rules 5: Dominó, the common ground, a test a statement; and what the rules say of all five games together."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from service.engine.errors import GameOver, IllegalMove, NotInMatch, RoundOver
from service.engine.events import Dealt, Drew, Eliminated, Finished
from service.engine.moves import DEAL, Move
from service.engine.referee import advance, can_open, legal_moves
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import parse_tile
from service.engine.variants import variants
from service.engine.view import DealtView, DrewView, event_view, view
from tests.engine.table import (
    COUNTING_ENDS,
    SCORING_PLAYS,
    EngineTable,
    assert_dealt_again,
    assert_players,
    complaints,
    names,
    tiles,
    variant,
)
from tests.laws.fits import fits

DOMINO = "domino"

SHAPES = [(2, 2), (2, 3), (2, 4), (2, 5), (3, 2), (3, 3), (4, 2), (5, 2)]
"""Size × teams."""

SETS: list[tuple[dict[str, int], int, int, int]] = [
    *(({}, 6, 28, 4), ({"set": 6}, 6, 28, 4), ({"set": 6, "hand": 5}, 6, 28, 4)),
    *(({"set": 9}, 9, 55, 10), ({"set": 12}, 12, 91, 10)),
]
"""Options, the highest half, the tiles, and the most players."""


A_GOES_OUT = (
    "3-4 3-6 5-5 5-6 9-9",
    "1-6 4-4 4-5 5-7 6-9",
    "1-4 1-8 2-6 2-7 4-6",
    "0-2 1-2 1-7 4-8 6-8",
    "0-1 0-4 0-8 2-2 2-8",
    "0-3 1-5 2-3 2-4 2-5",
)
A_GOES_OUT_PLAY = """
    9-9 6-9@right 2-6 0-2 0-1 1-5
    5-5 4-5 1-4 1-2 2-2 2-3
    3-4 4-4 4-6 6-8 2-8 2-5
    5-6 1-6 1-8 4-8 0-4 0-3
    3-6
"""
"""The worked example of 5.9: team A keeps 1-7 with the finisher's partner, B 5-7 and 0-8, C 2-7 and 2-4."""


def finish(table: EngineTable, *hands: str) -> None:
    """Let the opener be out at once with the lead 6-6, and the others keep these hands."""
    assert table.turn is not None
    opener = table.turn
    table.put(*["6-6" if seat == opener else hand for seat, hand in enumerate(hands)])
    table.do(opener, "6-6")
    assert table.state.phase != PLAYING


def block(table: EngineTable, *hands: str) -> None:
    """Let the round be blocked with these hands: seat 0 leads 6-6, seat 1 lays 5-6, nothing else fits 5 or 6."""
    table.do(0, "6-6")
    table.put(hands[0], f"5-6 {hands[1]}", *hands[2:], stock="")
    table.do(1, "5-6@right")
    assert table.counted.ended_by == "blocked"


def blockable(*, players: int = 2, **options: Any) -> EngineTable:
    return EngineTable(DOMINO, "6-6 …", *["…"] * (players - 1), **options)


def chain_of_four() -> EngineTable:
    """1/1 1/2 2/5 5/4 lies; seat 0, to move, holds 4-6 and 1-3."""
    table = EngineTable(DOMINO, "1-1 2-5 4-6 1-3 …", "1-2 4-5 …")
    table.play("1-1", "1-2@right", "2-5", "4-5")
    assert (table.turn, table.chain()) == (0, "1/1 1/2 2/5 5/4")
    return table


# 5.1


@pytest.mark.parametrize(("options", "highest", "size", "players"), SETS)
def test_5_1_two_to_ten_players_of_whom_double_six_unless_agreed_otherwise_is_for_four(
    options: dict[str, int], highest: int, size: int, players: int
) -> None:
    """(n+1)(n+2)/2 tiles, each once."""
    assert_players(DOMINO, 2, players, **options)
    rules = variant(DOMINO).rules(options, 2)
    assert size == (highest + 1) * (highest + 2) // 2
    assert len(set(rules.tiles)) == len(rules.tiles) == size
    assert (max(tile.high for tile in rules.tiles), rules.settings["set"]) == (highest, highest)


# 5.2

USUAL = [
    *[(6, players, 7) for players in (2, 3, 4)],
    *[(9, players, 7) for players in (2, 3, 4, 5)],
    *[(9, players, 6) for players in (6, 7)],
    *[(9, players, 5) for players in (8, 9, 10)],
    *[(12, players, 7) for players in range(2, 11)],
]


@pytest.mark.parametrize(("highest", "players", "hand"), USUAL)
def test_5_2_the_usual_hand(highest: int, players: int, hand: int) -> None:
    table = EngineTable(DOMINO, seats=players, set=highest)
    assert table.held == [hand] * players
    assert len(table.state.stock) == {6: 28, 9: 55, 12: 91}[highest] - players * hand
    assert table.rules.settings["hand"] == hand


@pytest.mark.parametrize("hand", [5, 6, 7])
@pytest.mark.parametrize(("highest", "size"), [(6, 28), (9, 55), (12, 91)])
def test_5_2_option_hand_5_to_7_as_far_as_the_tiles_last(highest: int, size: int, hand: int) -> None:
    most = min(size // hand, 4 if highest == 6 else 10)
    assert_players(DOMINO, 2, most, set=highest, hand=hand)
    for players in range(2, most + 1):
        table = EngineTable(DOMINO, seats=players, set=highest, hand=hand)
        assert table.held == [hand] * players
        assert len(table.state.stock) == size - players * hand


def test_5_2_the_size_is_fixed_by_the_number_of_seats_when_the_game_is_made() -> None:
    """Six players on double-nine get six; so do the five that are left."""
    table = EngineTable(DOMINO, "9-9 …", *["…"] * 5, set=9, limit=5)
    table.put("9-9", "0-6", "0-1", "0-2", "0-3", "0-4")
    table.do(0, "9-9")
    assert table.state.eliminated_round == (0, 1, 0, 0, 0, 0)
    table.do(0, "deal")
    assert table.held == [6, 0, 6, 6, 6, 6]
    assert len(table.state.stock) == 55 - 30


# 5.3


def test_5_3_the_player_with_the_highest_double_in_any_hand_leads_any_double_they_hold() -> None:
    table = EngineTable(DOMINO, "4-4 …", "5-5 0-0 2-2 0-1 …", "1-1 …", stock="6-6")
    assert (table.turn, table.legal()) == (1, {"5-5", "0-0", "2-2"})
    table.refuses(0, "4-4")
    table.refuses(1, "0-1 5-5! draw pass done flip")
    table.do(1, "0-0")
    assert table.ends() == [0, 0]


def test_5_3_without_a_double_in_any_hand_it_is_dealt_again() -> None:
    rules = variant(DOMINO).rules({"hand": 5}, 2)
    assert_dealt_again(rules, "no double at first 5")
    for second, opens in (("1-2 1-3 1-4 1-5 1-6", False), ("1-1 1-3 1-4 1-5 1-6", True)):
        hands = (tiles("0-1 0-2 0-3 0-4 0-5"), tiles(second))
        assert can_open(rules, rules.start(), Dealt(1, hands, (), True)) is opens


def test_5_3_every_round_is_opened_so() -> None:
    table = EngineTable(DOMINO, "6-6 …", "…", "…", later=[["6-6 …", "…", "…"], ["…", "…", "6-6 2-2 …"]])
    finish(table, "", "0-1", "0-2")
    table.do(1, "deal")
    assert table.turn == 0
    finish(table, "", "0-1", "0-2")
    table.do(1, "deal")
    assert (table.turn, {"6-6", "2-2"} <= table.legal()) == (2, True)


# 5.4


def test_5_4_two_ends_left_and_right() -> None:
    table = EngineTable(DOMINO, "1-1 6-6 …", "1-2 …")
    table.do(0, "1-1")
    assert [(end.name, end.number) for end in table.layout.ends] == [("left", 1), ("right", 1)]
    assert table.places("1-2") == ["left", "right"]


@pytest.mark.parametrize(
    ("tile", "end", "chain", "ends"),
    [("4-6", "right", "1/1 1/2 2/5 5/4 4/6", [1, 6]), ("1-3", "left", "3/1 1/1 1/2 2/5 5/4", [3, 4])],
)
def test_5_4_examples(tile: str, end: str, chain: str, ends: list[int]) -> None:
    """1/1 1/2 2/5 5/4, then 4/6 on the right gives 1/1 1/2 2/5 5/4 4/6; 1/3 on the left 3/1 1/1 1/2 2/5 5/4."""
    table = chain_of_four()
    assert table.places(tile) == [end]
    table.refuses(0, f"{tile}@{'left' if end == 'right' else 'right'}")
    table.do(0, f"{tile}@{end}")
    assert (table.chain(), table.ends()) == (chain, ends)


def test_5_4_fits_a_tile_both_ends_the_player_says_which() -> None:
    table = chain_of_four()
    table.put("1-4 6-6", "2-2")
    assert table.places("1-4") == ["left", "right"]
    with pytest.raises(IllegalMove, match="several_ends"):
        advance(table.rules, table.deck, table.state, 0, move=Move("play", parse_tile("1-4")))
    before = table.state
    table.do(0, "1-4@left")
    assert table.chain() == "4/1 1/1 1/2 2/5 5/4"
    table.state = before
    table.do(0, "1-4@right")
    assert table.chain() == "1/1 1/2 2/5 5/4 4/1"


def test_5_4_a_double_does_not_branch_nor_close() -> None:
    table = chain_of_four()
    table.put("4-4 6-6", "4-6 0-0")
    table.refuses(0, "4-4!")
    table.do(0, "4-4")
    assert [(end.name, end.number, end.gate) for end in table.layout.ends] == [
        ("left", 1, "open"),
        ("right", 4, "open"),
    ]
    table.do(1, "4-6")
    assert table.chain() == "1/1 1/2 2/5 5/4 4/4 4/6"


# 5.5


def drawing(stock: str) -> EngineTable:
    """1/1 1/2 2/5 5/4 lies; seat 0, to move, holds nothing that fits, seat 1 1-6."""
    table = chain_of_four()
    table.put("2-2 3-5", "1-6 2-3", stock=stock)
    return table


def test_5_5_one_tile_a_turn_and_who_can_place_must_place() -> None:
    table = chain_of_four()
    table.refuses(0, "draw pass done flip")
    table.do(0, "4-6")
    assert table.turn == 1
    table.refuses(0, "1-3 done")


def test_5_5_who_cannot_place_draws_one_and_if_it_does_not_fit_the_turn_is_over() -> None:
    table = drawing("5-6 0-0")
    assert table.legal() == {"draw"}
    table.refuses(0, "pass done 2-2")
    assert table.do(0, "draw") == (Drew(0, parse_tile("5-6")),)
    assert (table.turn, table.hand(0), names(table.state.stock)) == (1, "2-2 3-5 5-6", "0-0")
    table.refuses(0, "draw pass 5-6")


def test_5_5_if_the_drawn_tile_fits_it_may_be_placed_at_once() -> None:
    table = drawing("4-4 0-0")
    table.do(0, "draw")
    assert (table.turn, table.legal()) == (0, {"4-4", "pass"})
    table.refuses(0, "draw done 2-2 3-5")
    table.do(0, "4-4")
    assert (table.turn, table.chain()) == (1, "1/1 1/2 2/5 5/4 4/4")


def test_5_5_if_the_drawn_tile_fits_it_may_be_kept_until_the_next_turn() -> None:
    table = drawing("4-4 0-0")
    table.play("draw", "pass")
    assert (table.turn, table.hand(0), table.chain()) == (1, "2-2 3-5 4-4", "1/1 1/2 2/5 5/4")
    assert table.legal() == {"1-6"}
    table.refuses(1, "pass draw")
    table.play("1-6")
    assert table.legal() == {"4-4"}
    table.refuses(0, "pass draw")


def test_5_5_stock_empty_who_cannot_place_passes() -> None:
    table = drawing("")
    assert table.legal() == {"pass"}
    table.refuses(0, "draw 2-2")
    table.do(0, "pass")
    assert table.turn == 1


# 5.6


def test_5_6_the_round_ends_when_the_last_tile_is_drawn_and_nobody_fits() -> None:
    table = drawing("5-6 0-0")
    table.put("2-2 3-5", "2-3 3-3", stock="5-6 0-0")
    table.do(0, "draw")
    assert table.state.phase == PLAYING
    table.do(1, "draw")
    assert (table.state.phase, table.counted.ended_by) == (ROUND_OVER, "blocked")


def test_5_6_the_round_goes_on_while_another_hand_or_a_drawn_tile_fits() -> None:
    table = drawing("5-6")
    table.do(0, "draw")
    assert (table.state.phase, table.turn, table.legal()) == (PLAYING, 1, {"1-6"})
    table = drawing("4-4")
    table.put("2-2 3-5", "2-3 3-3", stock="4-4")
    table.do(0, "draw")
    assert (table.state.phase, table.turn) == (PLAYING, 0)
    table.do(0, "pass")
    assert (table.state.phase, table.turn, table.legal()) == (PLAYING, 1, {"pass"})


# 5.7


@pytest.mark.parametrize(
    ("hand", "value"), [("", 0), ("0-0", 10), ("0-0 0-1", 1), ("6-6", 12), ("1-2 3-4", 10), ("0-0 6-6", 12)]
)
def test_5_7_the_value_of_a_hand(hand: str, value: int) -> None:
    """Pips; 0-0 counts 10 when it is the only tile left (0 otherwise). Lone 0-0 = 10; {0-0, 0-1} = 1."""
    assert variant(DOMINO).rules({}, 2).hand_value(tiles(hand)) == value


def test_5_7_who_went_out_writes_0_and_the_others_their_own() -> None:
    table = blockable(players=4)
    finish(table, "", "0-0", "0-0 0-1", "3-4 5-5")
    assert table.counted.ended_by == "out"
    assert table.counted.scores == table.state.totals == (0, 10, 1, 17)
    assert [(line.seat, line.points, line.rule) for line in table.counted.lines] == [
        (1, 10, "5.7"),
        (2, 1, "5.7"),
        (3, 17, "5.7"),
    ]


def test_5_6_and_5_7_in_a_blocked_round_everybody_writes_their_own() -> None:
    table = blockable(players=3)
    block(table, "0-0", "0-1 0-0", "1-2")
    assert (table.state.phase, table.counted.winner, table.ends()) == (ROUND_OVER, None, [5, 6])
    assert table.counted.scores == (10, 1, 3)


# 5.8


@pytest.mark.parametrize(("others", "total", "out"), [("0-3", 99, False), ("0-4", 100, True), ("1-4", 101, True)])
def test_5_8_who_reaches_100_is_eliminated(others: str, total: int, out: bool) -> None:
    """5-6 4-6 3-6 2-6 1-6 0-6 have 51, 5-5 4-5 3-5 2-5 1-5 0-5 have 45."""
    table = blockable(players=3)
    assert table.rules.settings["limit"] == 100
    finish(table, "", f"5-6 4-6 3-6 2-6 1-6 0-6 5-5 4-5 3-5 2-5 1-5 0-5 {others}", "0-1")
    assert table.state.totals == (0, total, 1)
    assert table.state.eliminated_round == (0, int(out), 0)
    assert table.events(Eliminated) == ([Eliminated(1)] if out else [])
    assert (table.state.phase, table.state.winners) == (ROUND_OVER, ())


@pytest.mark.parametrize(("limit", "out"), [(10, True), (11, True), (12, False)])
def test_5_8_option_limit(limit: int, out: bool) -> None:
    table = blockable(players=3, limit=limit)
    finish(table, "", "5-6", "0-1")
    assert table.state.eliminated_round == (0, int(out), 0)


def test_5_8_the_totals_add_up_over_the_rounds() -> None:
    table = blockable(players=3, limit=15, later=[["6-6 …", "…", "…"]])
    finish(table, "", "5-6", "0-1")
    table.do(1, "deal")
    finish(table, "", "0-4", "0-1")
    assert (table.state.totals, table.state.eliminated_round) == ((0, 15, 2), (0, 2, 0))


def test_5_8_who_is_eliminated_is_dealt_no_hand_and_has_no_turn() -> None:
    table = blockable(players=3, limit=10, later=[["6-6 …", "", "…"]])
    finish(table, "", "5-6", "0-1")
    assert table.legal(1) == set()
    table.refuses(1, "deal", reason=NotInMatch)
    table.do(2, "deal")
    assert table.held == [7, 0, 7]
    table.do(0, "6-6")
    assert table.turn == 2


def test_5_8_the_last_one_in_wins() -> None:
    table = blockable(players=3, limit=10, later=[["…", "", "6-6 …"]])
    finish(table, "", "5-6", "0-1")
    assert (table.state.phase, table.state.winners) == (ROUND_OVER, ())
    table.do(0, "deal")
    finish(table, "4-6", "", "")
    assert (table.state.totals, table.state.eliminated_round) == ((10, 11, 1), (2, 1, 0))
    assert (table.state.phase, table.state.winners) == (FINISHED, (2,))
    assert table.events(Finished) == [Finished((2,))]
    table.refuses(2, "deal", reason=GameOver)


def test_5_8_if_all_who_are_left_reach_it_in_the_same_round_the_lowest_total_wins_and_ties_share_the_win() -> None:
    table = blockable(players=3, limit=2)
    block(table, "3-3", "1-2", "4-4")
    assert (table.state.totals, table.state.eliminated_round) == ((6, 3, 8), (1, 1, 1))
    assert (table.state.phase, table.state.winners) == (FINISHED, (1,))
    table = blockable(players=3, limit=2)
    block(table, "0-3", "1-2", "4-4")
    assert table.state.winners == (0, 1)


def test_5_8_of_those_who_go_together_only_who_was_left_can_win() -> None:
    table = EngineTable(DOMINO, "6-6 …", "…", "…", later=[["6-6 …", "…", ""]], limit=10)
    finish(table, "", "0-1", "5-6")
    table.do(0, "deal")
    block(table, "3-3 4-4", "3-4 2-4", "")
    assert (table.state.totals, table.state.eliminated_round) == ((14, 14, 11), (2, 2, 1))
    assert table.state.winners == (0, 1)


# 5.9


@pytest.mark.parametrize("players", range(2, 11))
def test_5_9_the_shapes_of_teams(players: int) -> None:
    for teams in (-2, *range(1, 11)):
        if any((size * number, number) == (players, teams) for size, number in SHAPES):
            rules = variant(DOMINO).rules({"set": 12, "teams": teams}, players)
            assert (rules.teams, rules.settings["teams"]) == (teams, teams)
        else:
            assert complaints(DOMINO, players, set=12, teams=teams) == {"options.teams"}


@pytest.mark.parametrize(("size", "teams"), SHAPES)
def test_5_9_the_seats_alternate_between_the_teams(size: int, teams: int) -> None:
    table = EngineTable(DOMINO, seats=size * teams, set=12, teams=teams)
    assert [table.rules.team(seat) for seat in range(size * teams)] == list(range(teams)) * size
    shown = view(table.rules, table.state, None).players
    assert [player.team for player in shown] == list(range(teams)) * size


def test_5_9_without_teams_everybody_plays_alone() -> None:
    table = EngineTable(DOMINO, seats=4)
    assert (table.rules.teams, table.rules.team(3)) == (0, None)


@pytest.mark.parametrize(("size", "teams"), SHAPES)
def test_5_9_every_shape_plays_to_its_end_and_a_team_wins(size: int, teams: int) -> None:
    table = EngineTable(DOMINO, seats=size * teams, set=9, teams=teams, limit=60)
    table.play_out()
    while table.state.phase == ROUND_OVER:
        table.do(table.state.active_seats()[0], "deal")
        table.play_out()
    winning = {seat % teams for seat in table.state.winners}
    assert table.state.winners == tuple(seat for seat in range(size * teams) if seat % teams in winning)
    for seat, total in enumerate(table.state.totals):
        assert total == table.state.totals[seat % teams]


def test_5_6_and_5_9_worked_example_out() -> None:
    """The finisher's partner holds 8, team B 20, team C 15 → A 0, B 28, C 23. The lines of a seat say so."""
    table = EngineTable(DOMINO, *A_GOES_OUT, set=9, hand=5, teams=3)
    table.play(A_GOES_OUT_PLAY)
    assert (table.state.phase, table.counted.ended_by, table.counted.winner) == (ROUND_OVER, "out", 0)
    assert [table.hand(seat) for seat in range(6)] == ["", "5-7", "2-7", "1-7", "0-8", "2-4"]
    assert table.counted.scores == table.state.totals == (0, 28, 23, 0, 28, 23)
    for seat, score in enumerate(table.counted.scores):
        assert sum(line.points for line in table.counted.lines if line.seat == seat) == score
    assert {line.rule for line in table.counted.lines} == {"5.9"}


def test_5_9_worked_example_blocked() -> None:
    """Blocked instead → 8, 20, 15."""
    table = EngineTable(DOMINO, "6-6 …", *["…"] * 5, stock="7-7 8-8 9-9", set=9, hand=5, teams=3)
    block(table, "0-2", "4-8", "2-7", "2-4", "0-8", "3-3")
    assert table.counted.scores == table.state.totals == (8, 20, 15, 8, 20, 15)


def test_5_9_the_finishers_team_writes_nothing_whoever_of_it_finishes() -> None:
    table = EngineTable(DOMINO, "…", "…", "6-6 …", "…", teams=2)
    finish(table, "5-5", "0-1", "", "0-2")
    assert table.counted.scores == (0, 3 + 10, 0, 3 + 10)


def test_5_9_hand_values_hold_hand_by_hand() -> None:
    """A 0-0 is lone in its hand whatever the partner holds: it counts 10, beside another tile of that hand 0."""
    own = blockable(players=4, teams=2)
    finish(own, "", "0-0", "0-2", "0-1")
    assert own.counted.scores == (0, 10 + 1 + 2, 0, 10 + 1 + 2)
    finishers = blockable(players=4, teams=2)
    finish(finishers, "", "0-3", "0-0", "0-1")
    assert finishers.counted.scores == (0, 3 + 1 + 10, 0, 3 + 1 + 10)
    blocked = blockable(players=4, teams=2)
    block(blocked, "0-0 0-1", "1-1", "1-2", "0-2")
    assert blocked.counted.scores == (1 + 3, 2 + 2, 1 + 3, 2 + 2)


def test_5_9_a_team_is_eliminated_as_a_whole() -> None:
    later = [["6-6 …", "", "…", "…", "", "…"]]
    table = EngineTable(DOMINO, "6-6 …", *["…"] * 5, stock="7-7 8-8 9-9", later=later, set=9, teams=3, limit=20)
    finish(table, "", "5-6", "0-1", "", "4-6", "0-2")
    assert table.state.totals == (0, 21, 3, 0, 21, 3)
    assert table.state.eliminated_round == (0, 1, 0, 0, 1, 0)
    assert table.events(Eliminated) == [Eliminated(1), Eliminated(4)]
    assert (table.state.phase, table.state.winners) == (ROUND_OVER, ())
    table.do(5, "deal")
    assert table.held == [6, 0, 6, 6, 0, 6]
    assert view(table.rules, table.state, None).players[4].in_match is False


def test_5_9_the_last_team_in_wins_with_all_its_seats() -> None:
    table = blockable(players=4, teams=2, limit=20)
    finish(table, "", "5-6", "", "4-6")
    assert (table.state.totals, table.state.eliminated_round) == ((0, 21, 0, 21), (0, 1, 0, 1))
    assert (table.state.phase, table.state.winners) == (FINISHED, (0, 2))


def test_5_9_if_all_teams_go_in_the_same_round_the_lowest_total_wins_and_tied_teams_share_the_win() -> None:
    table = blockable(players=4, teams=2, limit=2)
    block(table, "0-1", "3-3", "1-1", "4-4")
    assert table.state.totals == (3, 14, 3, 14)
    assert table.state.eliminated_round == (1, 1, 1, 1)
    assert table.state.winners == (0, 2)
    table = blockable(players=4, teams=2, limit=2)
    block(table, "0-1", "1-1", "1-2", "0-2")
    assert table.state.totals == (4, 4, 4, 4)
    assert table.state.winners == (0, 1, 2, 3)


# 5.10


def test_5_10_everybody_can_ask_at_any_time_for_ends_chain_scores_state_and_turn() -> None:
    table = blockable(players=3, later=[["5-5 …", "6-6 …", "…"]])
    finish(table, "", "5-6", "0-1")
    table.do(2, "deal")
    table.do(1, "6-6")
    table.put("0-1 0-2", "0-3 0-4 0-5", "3-6 1-1", stock="2-2")
    table.do(2, "3-6@left")
    for who in (None, 0, 1, 2):
        seen = view(table.rules, table.state, who)
        assert [(end.name, end.number) for end in seen.layout.ends] == [("left", 3), ("right", 6)]
        assert [(laid.tile.name, laid.seat) for laid in seen.layout.placements] == [("6-6", 1), ("3-6", 2)]
        shown = [(player.total, player.tiles, player.in_match) for player in seen.players]
        assert shown == [(0, 2, True), (11, 3, True), (1, 1, True)]
        assert (seen.phase, seen.round, seen.stock, seen.drawable, seen.turn) == (PLAYING, 2, 1, 1, 0)
    table = blockable()
    block(table, "0-1", "0-2")
    for who in (None, 0, 1):
        seen = view(table.rules, table.state, who)
        assert [(end.name, end.number) for end in seen.layout.ends] == [("left", 6), ("right", 5)]
        assert [laid.tile.name for laid in seen.layout.placements] == ["6-6", "5-6"]
        assert (seen.phase, seen.turn, seen.stock) == (ROUND_OVER, None, 0)
        assert [player.total for player in seen.players] == [1, 2]


# Common to all five

SEATS = {key: min(game.players.high, 5) for key, game in variants().items()}
AGREED: Mapping[str, Mapping[str, Any]] = {"domino": {"set": 9}, "fido": {"set": 6}}


def any_table(key: str, seed: object = 0) -> EngineTable:
    return EngineTable(key, seats=SEATS[key], seed=f"common {seed}", **AGREED.get(key, {}))


@pytest.mark.parametrize("key", variants())
def test_common_nobody_may_draw_or_pass_while_a_tile_of_theirs_fits(key: str) -> None:
    """But in 5.5, where a drawn tile may be kept."""
    rng = Random(key)
    for seed in range(6):
        table = any_table(key, seed)
        while table.state.phase == PLAYING:
            seat = table.state.turn
            assert seat is not None
            moves = legal_moves(table.rules, table.state, seat)
            actions = {move.action for move in moves}
            fit = fits(table.rules, table.layout, table.state.hands[seat])
            if not table.layout.placements:
                assert actions == {"play"}
            elif not table.state.tiles_laid:
                assert ("play" in actions) == fit
                if fit:
                    assert actions == ({"play", "pass"} if key == "domino" and table.state.drew else {"play"})
            table.refuses(seat, *({"draw", "pass"} - actions))
            table.state = advance(table.rules, table.deck, table.state, seat, move=rng.choice(moves))[1]


@pytest.mark.parametrize("key", variants())
def test_common_hands_and_the_order_of_the_stock_are_secret(key: str) -> None:
    table = any_table(key)
    opener = table.turn
    assert opener is not None
    table.do(opener, names([move.tile for move in legal_moves(table.rules, table.state, opener)[:1] if move.tile]))
    viewer = (opener + 1) % SEATS[key]
    others = [seat for seat in range(SEATS[key]) if seat != viewer]
    hidden = [tile for seat in others for tile in table.state.hands[seat]] + list(table.state.stock)
    Random(1).shuffle(hidden)
    hands = list(table.state.hands)
    for seat in others:
        hands[seat] = tuple([hidden.pop() for _ in hands[seat]])
    swapped = table.state._replace(hands=tuple(hands), stock=tuple(hidden))
    assert swapped != table.state
    assert view(table.rules, swapped, viewer) == view(table.rules, table.state, viewer)
    assert view(table.rules, swapped, None) == view(table.rules, table.state, None)


@pytest.mark.parametrize("key", variants())
def test_common_a_deal_tells_each_seat_its_own_hand_and_nobody_the_stock(key: str) -> None:
    (dealt,) = any_table(key).events(Dealt)
    for seat in range(SEATS[key]):
        assert event_view(dealt, seat) == DealtView(1, False, dealt.hands[seat])
    assert event_view(dealt, None) == DealtView(1, False, None)


@pytest.mark.parametrize("key", variants())
def test_common_the_number_of_tiles_in_each_hand_and_in_the_stock_is_public(key: str) -> None:
    table = any_table(key)
    seen = view(table.rules, table.state, None)
    assert [player.tiles for player in seen.players] == table.held
    assert seen.stock == len(table.state.stock)
    assert (seen.you, seen.legal_moves) == (None, ())


@pytest.mark.parametrize("key", variants())
def test_common_every_draw_is_public_but_not_the_tile_drawn(key: str) -> None:
    draws, drawable = [], 0
    for seed in range(8):
        table = any_table(key, seed)
        drawable += table.rules.drawable(table.state)
        table.play_out()
        draws += table.events(Drew)
    assert bool(draws) == bool(drawable)
    for drew in draws:
        assert event_view(drew, drew.seat) == DrewView(drew.seat, drew.tile)
        for other in {None, *range(SEATS[key])} - {drew.seat}:
            assert event_view(drew, other) == DrewView(drew.seat, None)


@pytest.mark.parametrize("key", variants())
def test_common_halves_that_touch_are_equal(key: str) -> None:
    """Unless a game says what its ends want."""
    table = any_table(key)
    table.play_out()
    placements = table.layout.placements
    assert len(placements) > 1
    for placement in placements[1:]:
        host = placements[placement.host].tile
        assert {placement.tile.low, placement.tile.high} & {host.low, host.high} or table.rules.form.wants
        assert (placement.outer is None) == (table.rules.form.wants is None)


@pytest.mark.parametrize("key", variants())
def test_common_a_double_lies_across(key: str) -> None:
    """What hangs on a double hangs on a long or a short side of it, what hangs on another tile on its outer half."""
    table = any_table(key)
    table.play_out()
    placements = table.layout.placements
    for placement in placements[1:]:
        across = placements[placement.host].tile.double and table.rules.form.doubles_across
        assert (placement.side in ("long", "short")) == across


@pytest.mark.parametrize("key", variants())
def test_common_when_the_round_is_over_nobody_moves_before_the_next_deal(key: str) -> None:
    table = any_table(key)
    while table.state.phase == PLAYING:
        before = table.state
        seat = before.turn
        assert seat is not None
        move = legal_moves(table.rules, before, seat)[0]
        table.state = advance(table.rules, table.deck, before, seat, move=move)[1]
    over = table.state._replace(phase=ROUND_OVER)
    for seat in range(SEATS[key]):
        assert legal_moves(table.rules, over, seat) == ((DEAL,) if not over.eliminated_round[seat] else ())
        for move in (Move("draw"), Move("pass"), Move("done"), Move("flip"), *legal_moves(table.rules, before, seat)):
            with pytest.raises(RoundOver):
                advance(table.rules, table.deck, over, seat, move=move)


@pytest.mark.parametrize("key", variants())
def test_common_a_tile_of_another_hand_or_at_an_unknown_end_is_refused(key: str) -> None:
    table = any_table(key)
    assert table.turn is not None
    table.do(
        table.turn, names([move.tile for move in legal_moves(table.rules, table.state, table.turn) if move.tile][:1])
    )
    seat = table.turn
    for other, hand in enumerate(table.state.hands):
        if other != seat:
            table.refuses(seat, names(hand))
    table.refuses(seat, names(table.state.stock), names([laid.tile for laid in table.layout.placements]))
    for held in table.state.hands[seat]:
        for end in ("e99", "middle", "", "LEFT"):
            with pytest.raises(IllegalMove):
                advance(table.rules, table.deck, table.state, seat, move=Move("play", held, end))


@pytest.mark.parametrize("key", variants())
def test_common_a_listed_play_tells_points_only_where_plays_score_and_a_sum_only_where_ends_are_counted(
    key: str,
) -> None:
    table = any_table(key)
    while table.state.phase == PLAYING:
        assert table.turn is not None
        moves = legal_moves(table.rules, table.state, table.turn)
        for move in moves:
            assert (move.ends_sum is not None) == (move.action == "play" and key in COUNTING_ENDS)
            assert (move.points is not None) == (move.action == "play" and key in SCORING_PLAYS)
        table.state = advance(table.rules, table.deck, table.state, table.turn, move=moves[-1])[1]
