"""Rules 16: dominoes by wins, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.events import Finished, ScoreLine
from service.engine.state import FINISHED, PLAYING
from tests.engine.table import EngineTable, complaints, variant

BY_WINS = "by-wins"
FOUR = ("6-6 …", "…", "…", "…")
LOW = "0-0 0-1 0-2 0-3 1-1 1-2"
"""With 6-6 11 pips less than the other hands: its holder leads 6-6 and blocks the round."""
MIDDLE = "2-4 2-5 3-4 3-5 4-4 4-5"
FIRST = (f"{LOW} 6-6", f"{MIDDLE} 5-5")
SECOND = (f"{MIDDLE} 6-6", f"{LOW} 1-3")
DRAWN = ("0-0 0-1 0-3 2-2 2-5 3-5 4-4", "0-2 0-4 1-2 1-5 2-4 5-5 6-6")


def refused(players: int, **options: object) -> set[str]:
    return complaints(BY_WINS, players, **options)


def win(table: EngineTable, seat: int, *, last: str = "1-2", before: str = "") -> None:
    """Let this seat go out in a new round with this tile, by default at one end, on the table that lies before."""
    if table.state.phase != PLAYING:
        table.do(0, "deal")
    hands = ["3-4"] * table.rules.seats
    hands[seat] = last
    table.lay(before or "1-3")
    table.put(*hands)
    table.state = table.state._replace(turn=seat)
    table.play(f"{last}@{table.places(last)[0]}")


def totals(table: EngineTable, *kept: int) -> None:
    table.state = table.state._replace(totals=kept)


def at(table: str, *kept: int, **options: Any) -> EngineTable:
    """A table at the start of a round with these totals."""
    made = EngineTable(BY_WINS, seats=len(kept), table=table, **options)
    totals(made, *kept)
    return made


# 16.1 to 16.4


@pytest.mark.parametrize(
    ("options", "players", "hands", "stock"),
    [({}, 2, 14, 0), ({"hand": 7}, 2, 7, 14), ({"table": "brazilian"}, 2, 7, 14), ({}, 3, 9, 0), ({}, 4, 7, 0)],
)
def test_16_1_and_16_2_players_and_tiles(options: dict[str, Any], players: int, hands: int, stock: int) -> None:
    table = EngineTable(BY_WINS, seats=players, **options)
    assert table.held == [hands] * players
    assert len(table.state.stock) == stock
    assert len(table.rules.tiles) == 27 + (players != 3)
    assert table.rules.settings["teams"] == (2 if players == 4 else 0)


def test_16_2_to_16_9_options_that_do_not_go_together_are_refused() -> None:
    assert refused(3, teams=2) == {"options.teams"}
    assert refused(4, hand=9) == refused(2, hand=9) == refused(3, hand=7) == {"options.hand"}
    assert refused(2, hand=14, drawing=True) == refused(4, drawing=True) == {"options.drawing"}
    assert refused(2, reset="none", one_all=True) == {"options.one_all"}
    assert refused(2, redeal_doubles=4) == {"options.redeal_doubles"}


def test_16_3_nobody_draws_but_two_with_seven_tiles_may() -> None:
    table = EngineTable(BY_WINS, *FIRST, hand=7)
    assert (table.rules.drawable(table.state), table.rules.settings["drawing"]) == (0, False)
    table = EngineTable(BY_WINS, "6-6 …", "2-2 2-3 2-4 2-5 3-4 3-5 4-5", stock="3-3 1-6", table="brazilian")
    table.play("6-6 draw draw")
    assert table.legal() == {"1-6"}
    assert table.rules.drawable(table.state) == 12


def test_16_4_highest_double_every_round_and_rotate_whatever_happened() -> None:
    table = EngineTable(BY_WINS, *FOUR, later=[("…", "…", "…", "6-6 …")], opens_next="highest_double")
    win(table, 2)
    table.do(0, "deal")
    assert (table.turn, table.legal()) == (3, {"6-6"})
    table = EngineTable(BY_WINS, "…", "6-6 …", "…", "…", opens_next="rotate")
    assert (table.turn, len(table.legal())) == (0, 7)
    win(table, 3)
    table.do(0, "deal")
    assert (table.turn, len(table.legal())) == (1, 7)


def test_16_4_sporting_the_holder_of_the_six_leads_any_tile() -> None:
    table = EngineTable(BY_WINS, "…", "6-6 …", "…", "…", sporting=True)
    assert (table.turn, len(table.legal())) == (1, 7)


def test_16_4_pose_team_the_winner_may_leave_a_free_lead_to_the_partner_once() -> None:
    table = EngineTable(BY_WINS, *FOUR, pose="team")
    assert table.legal() == {"6-6"}
    win(table, 1)
    table.do(0, "deal")
    assert (table.turn, len(table.legal())) == (1, 8)
    table.play("pass")
    assert (table.turn, table.state.opener, len(table.legal())) == (3, 3, 7)
    table.refuses(3, "pass")
    assert refused(4, pose="team", teams=0) == refused(2, pose="team") == {"options.pose"}
    assert refused(4, pose="team", table="brazilian") == {"options.pose"}


# 16.5 and 16.12


@pytest.mark.parametrize(
    ("hands", "winner"),
    [
        (("3-3 0-1", "5-5 …", "2-2 0-4", "4-4"), 0),
        (("2-2 0-3", "5-5", "0-5 0-2", "4-4"), 0),
        (("2-2 0-3", "0-5 0-2", "5-5", "4-4"), None),
    ],
)
def test_16_5_blocked_the_lightest_hand_wins_for_its_side(hands: tuple[str, ...], winner: int | None) -> None:
    """Equal lightest hands of partners win, the first from the leader counts; of two sides they are a draw."""
    for blocked, wanted in (("lightest_hand", winner), ("nobody", None)):
        table = EngineTable(BY_WINS, *FOUR, blocked=blocked)
        table.put(*[f"{'6-6 ' * (not seat)}{hand.replace(' …', '')}" for seat, hand in enumerate(hands)])
        table.play("6-6")
        assert (table.counted.ended_by, table.counted.winner) == ("blocked", wanted)
        assert table.counted.scores == ((1, 0, 1, 0) if wanted == 0 else (0, 0, 0, 0))


@pytest.mark.parametrize(
    ("before", "last", "haitian", "brazilian"),
    [
        *(("1-6 1-2@left", "2-6", 2, 3), ("1-2 1-4@left 2-4@left", "2-6", 1, 1)),
        *(("0-4 0-1@left 1-4@left", "4-4", 1, 4), ("1-4", "4-4", 1, 2), ("0-1 1-5@right", "0-5", 2, 3)),
    ],
)
def test_worked_16c_the_last_tile(before: str, last: str, haitian: int, brazilian: int) -> None:
    for name, value in (("haitian", haitian), ("brazilian", brazilian)):
        table = at(name, 0, 0, hand=7, draw="same")
        win(table, 1, last=last, before=before)
        assert table.counted.scores == (0, value)


def test_worked_16c_a_key_needs_every_other_tile_with_its_numbers_on_the_table() -> None:
    chain = "0-1 1-5@right 5-5@right 2-5@right 0-2@right 0-3@right 3-5@right 4-5@right 0-4@right 0-6@right 5-6@right"
    for before, line in ((f"{chain} 0-0@left", (2, "key 2")), (chain, (1, "1"))):
        table = at("jamaican", 0, 0, value_key=2)
        win(table, 0, last="0-5", before=before)
        assert [(line.points, line.text) for line in table.counted.lines] == [line]


# 16.4, 16.6 to 16.8: whole rounds


def test_worked_16a_one_all_and_a_decider() -> None:
    table = EngineTable(BY_WINS, *FIRST, later=[SECOND, FIRST], hand=7)
    table.play("6-6")
    assert (table.counted.ended_by, [left.value for left in table.counted.hands]) == ("blocked", [11, 55])
    assert (table.counted.winner, table.state.totals) == (0, (1, 0))
    table.do(1, "deal")
    assert (table.turn, len(table.legal())) == (0, 7)
    table.play("6-6")
    assert ([left.value for left in table.counted.hands], table.state.totals) == ([45, 15], (1, 1))
    table.do(0, "deal")
    assert (table.turn, table.legal()) == (0, {"6-6"})
    table.play("6-6")
    assert table.counted.lines == (ScoreLine(0, 1, "16.8", "decider 1 → 2"), ScoreLine(1, -1, "16.8", "decider 1 → 0"))
    assert table.state.totals == (2, 0)
    table.do(0, "deal")
    assert len(table.legal()) == 7


def test_worked_16a_without_one_all_both_go_to_nothing() -> None:
    table = EngineTable(BY_WINS, *FIRST, later=[SECOND, FIRST], hand=7, one_all=False)
    table.play("6-6")
    table.do(0, "deal")
    table.play("6-6")
    assert [(line.seat, line.points, line.rule) for line in table.counted.lines] == [
        (1, 1, "16.5"),
        (0, -1, "16.7"),
        (1, -1, "16.7"),
    ]
    table.do(0, "deal")
    assert (table.state.totals, table.legal()) == ((0, 0), {"6-6"})


def test_16_8_a_drawn_decider_is_played_again() -> None:
    table = EngineTable(BY_WINS, *FIRST, later=[SECOND, DRAWN, FIRST], hand=7)
    table.play("6-6")
    for seat in (0, 1):
        table.do(seat, "deal")
        table.play("6-6")
    assert (table.counted.winner, table.state.totals, table.state.carry) == (None, (1, 1), 1)
    table.do(0, "deal")
    assert table.legal() == {"6-6"}
    table.play("6-6")
    assert (table.state.totals, table.state.carry) == ((2, 0), 0)


@pytest.mark.parametrize(
    ("draw", "draws", "value", "text"),
    [
        *(("same", 1, 1, "1"), ("two", 1, 2, "1 → 2"), ("two", 2, 2, "1 → 2")),
        *(("add", 1, 2, "1 + 1"), ("add", 2, 3, "1 + 2")),
    ],
)
def test_worked_16b_after_draws(draw: str, draws: int, value: int, text: str) -> None:
    table = EngineTable(BY_WINS, *DRAWN, later=[DRAWN] * (draws - 1) + [FIRST], hand=7, draw=draw)
    for _ in range(draws):
        assert (table.turn, table.legal()) == (1, {"6-6"})
        table.play("6-6")
        assert table.counted.carried == (draw != "same")
        table.do(0, "deal")
    assert (table.turn, table.legal(), table.state.carry) == (0, {"6-6"}, 0 if draw == "same" else draws)
    table.play("6-6")
    assert [(line.points, line.text) for line in table.counted.lines] == [(value, text)]
    assert table.state.carry == 0


@pytest.mark.parametrize(("draw", "value"), [("two", 2), ("add", 3)])
def test_worked_16b_a_last_tile_worth_two_after_a_draw(draw: str, value: int) -> None:
    table = at("haitian", 0, 0, draw=draw)
    table.state = table.state._replace(carry=1)
    win(table, 0, last="2-6", before="1-6 1-2@left")
    assert table.counted.scores == (value, 0)


@pytest.mark.parametrize(
    ("table", "before", "seat", "after"),
    [
        ("jamaican", (5, 0, 5, 0), 1, (0, 0, 0, 0)),
        ("straight_six", (5, 0, 5, 0), 1, (5, 1, 5, 1)),
        ("haitian", (3, 0, 3, 0), 1, (0, 1, 0, 1)),
    ],
)
def test_worked_16d_resets_of_teams(table: str, before: tuple[int, ...], seat: int, after: tuple[int, ...]) -> None:
    made = at(table, *before)
    win(made, seat)
    assert made.state.totals == after
    made.do(0, "deal")
    assert (len(made.legal()) == 1) == (table == "jamaican")


@pytest.mark.parametrize(
    ("before", "seat", "after"),
    [
        ((3, 2, 0, 1), 2, (0, 0, 0, 0)),
        ((3, 2, 0, 1), 0, (4, 2, 0, 1)),
        ((1, 1, 0, 1), 2, (1, 1, 1, 1)),
        ((5, 2, 0, 1), 0, (6, 2, 0, 1)),
    ],
)
def test_worked_16d_cut_throat(before: tuple[int, ...], seat: int, after: tuple[int, ...]) -> None:
    table = at("jamaican", *before, teams=0)
    win(table, seat)
    assert table.state.totals == after
    if max(after) == 6:
        assert (table.state.phase, table.log[-1]) == (FINISHED, Finished((0,)))
        return
    table.do(0, "deal")
    assert len(table.legal()) == (7 if any(total > 1 for total in after) else 1)
    if set(after) == {1}:
        win(table, 3)
        assert table.state.totals == (0, 0, 0, 2)


def test_worked_16d_a_win_of_two_is_no_one_all() -> None:
    table = at("jamaican", 1, 1, 0, 1, teams=0)
    table.state = table.state._replace(carry=1)
    win(table, 2)
    assert table.state.totals == (0, 0, 0, 0)
    assert {line.text for line in table.counted.lines} == {"1 → 2", "bruk 1 → 0", "bruk 2 → 0"}


def test_worked_16e_haitian_resets_the_others_and_the_winner_goes_on() -> None:
    for kept, after in (((0, 3), (2, 0)), ((3, 0), (5, 0))):
        table = at("haitian", *kept)
        win(table, 0, last="2-6", before="1-6 1-2@left")
        assert table.state.totals == after
        assert table.counted.lines[0].text == "dekabès 2"
        assert (table.state.phase == FINISHED) == (after[0] > 3)


# 16.9, 16.10


def test_16_9_a_deal_with_four_doubles_in_a_hand_is_dealt_again() -> None:
    for number in range(30):
        table = EngineTable(BY_WINS, seats=4, seed=f"deal {number}", table="brazilian")
        assert max(sum(tile.double for tile in hand) for hand in table.state.hands) < 4
    assert variant(BY_WINS).rules({"table": "brazilian", "hand": 14}, 2).settings["redeal_doubles"] == 0


def test_16_10_a_match_is_over_after_a_thousand_rounds_at_the_latest() -> None:
    table = at("jamaican", 3, 0)
    table.state = table.state._replace(round=999)
    win(table, 0)
    assert table.state.phase != FINISHED
    table.do(0, "deal")
    win(table, 1)
    assert (table.state.round, table.state.totals, table.state.winners) == (1000, (0, 0), (0, 1))


def test_16_10_six_to_nothing_is_six_love() -> None:
    for others, text in ((0, "six love 1"), (2, "1")):
        table = at("straight_six", 5, others)
        win(table, 0)
        assert (table.state.phase, table.state.winners, table.counted.lines[0].text) == (FINISHED, (0,), text)


@pytest.mark.parametrize("table", ["jamaican", "straight_six", "haitian", "brazilian", "brazilian_seven"])
def test_16_11_a_table_gives_the_defaults_and_each_option_can_be_changed(table: str) -> None:
    settings = variant(BY_WINS).rules({"table": table}, 2).settings
    words = ("target", "reset", "one_all", "draw", "blocked", "opens_next", "redeal_doubles", "hand", "drawing")
    values = tuple([settings[f"value_{kind}"] for kind in ("double", "both_ends", "cross", "key")])
    assert (*[settings[word] for word in words], values) == {
        "jamaican": (6, "all_scored", True, "two", "lightest_hand", "winner", 0, 14, False, (1, 1, 1, 1)),
        "straight_six": (6, "none", False, "two", "lightest_hand", "winner", 0, 14, False, (1, 1, 1, 1)),
        "haitian": (4, "others", False, "two", "lightest_hand", "winner", 0, 14, False, (1, 2, 1, 1)),
        "brazilian": (6, "none", False, "add", "lightest_hand", "highest_double", 4, 7, True, (2, 3, 4, 1)),
        "brazilian_seven": (7, "none", False, "add", "nobody", "highest_double", 4, 7, True, (2, 3, 4, 1)),
    }[table]
    assert variant(BY_WINS).rules({"table": table, "target": 3}, 2).settings["target"] == 3
