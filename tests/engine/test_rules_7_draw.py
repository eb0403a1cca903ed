"""Rules 7: Draw, a test a statement."""

from __future__ import annotations

import pytest

from service.engine.events import Drew, ScoreLine
from service.engine.moves import DRAW, PASS
from service.engine.referee import legal_moves
from tests.engine.table import EngineTable, variant

DRAW_GAME = "draw"


def test_7_1_it_has_the_options_of_block_and_a_reserve() -> None:
    block = {option.key: option for option in variant("block").options}
    draw = {option.key: option for option in variant(DRAW_GAME).options}
    assert {key: draw[key] for key in block} == block
    assert set(draw) - set(block) == {"reserve"}


@pytest.mark.parametrize(("players", "hand", "stock"), [(2, 7, 14), (3, 5, 13), (4, 5, 8)])
def test_7_2_the_usual_hand_and_the_stock(players: int, hand: int, stock: int) -> None:
    table = EngineTable(DRAW_GAME, seats=players)
    assert table.held == [hand] * players
    assert len(table.state.stock) == stock


@pytest.mark.parametrize(("reserve", "drawable"), [(0, (14, 13, 8)), (1, (13, 12, 7)), (2, (12, 11, 6))])
def test_7_3_option_reserve_is_how_many_tiles_are_never_drawn(reserve: int, drawable: tuple[int, ...]) -> None:
    tables = [EngineTable(DRAW_GAME, seats=players, reserve=reserve) for players in (2, 3, 4)]
    assert tuple([table.rules.drawable(table.state) for table in tables]) == drawable
    assert variant(DRAW_GAME).rules({}, 2).settings["reserve"] == 2
    table = EngineTable(DRAW_GAME, seats=4, hand=7, reserve=reserve)
    assert (table.state.stock, table.rules.drawable(table.state)) == ((), 0)


def stuck(reserve: int) -> EngineTable:
    """Ends 6 and 5, and seat 0, to move, holds 1-2 and 3-3; the stock is 4-4, 0-1, 0-5."""
    table = EngineTable(DRAW_GAME, "6-6 1-2 3-3", "5-6 1-1 2-2", hand=3, reserve=reserve)
    table.play("6-6 5-6@right")
    table.put("1-2 3-3", "1-1 2-2", stock="4-4 0-1 0-5")
    return table


def test_worked_7a_with_a_reserve_of_two_one_tile_is_drawn_and_then_passes_while_another_can_go_on() -> None:
    table = stuck(2)
    before = table.state
    assert legal_moves(table.rules, table.state, 0) == (DRAW,)
    # Seat 1 could not go on either, so the draw that leaves two tiles ends the round (A6).
    table.do(0, "draw")
    assert table.counted.ended_by == "blocked"
    table.state = before
    table.put("1-2 3-3", "1-5 2-2")
    table.do(0, "draw")
    assert legal_moves(table.rules, table.state, 0) == (PASS,)
    table.do(0, "pass")
    assert table.turn == 1


def test_worked_7a_without_a_reserve_all_are_drawn_until_one_fits() -> None:
    table = stuck(0)
    for _ in range(3):
        assert legal_moves(table.rules, table.state, 0) == (DRAW,)
        table.do(0, "draw")
    assert table.events(Drew)[-1].tile.name == "0-5"
    assert (table.legal(), table.places("0-5")) == ({"0-5"}, ["right"])
    table.refuses(0, "pass draw")


def test_worked_7b_a_whole_round() -> None:
    table = EngineTable(DRAW_GAME, "1-1 2-2 2-4", "0-5 3-5 3-6", stock="0-4 2-6 1-6", hand=3)
    assert (table.turn, table.legal()) == (0, {"2-2"})
    table.play("2-2 draw draw")
    assert (table.legal(), table.places("2-6")) == ({"2-6"}, ["left", "right"])
    table.do(1, "2-6@right")
    assert (table.legal(), table.places("2-4")) == ({"2-4"}, ["left"])
    table.do(0, "2-4")
    assert (table.legal(), table.places("0-4"), table.places("3-6")) == ({"0-4", "3-6"}, ["left"], ["right"])
    table.do(1, "0-4")
    assert legal_moves(table.rules, table.state, 0) == (DRAW,)
    table.play("draw 1-6@right 0-5@left")
    assert [end.number for end in table.layout.ends] == [5, 1]
    table.do(0, "1-1@right")
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("out", 0, (17, 0))
    assert table.counted.lines == (ScoreLine(0, 17, "7.1", "17"),)


@pytest.mark.parametrize(("blocked_score", "points"), [("minus_own", 5), ("others", 9), ("all", 13)])
def test_worked_7c_a_block_with_two_tiles_hidden(blocked_score: str, points: int) -> None:
    table = EngineTable(DRAW_GAME, "6-6 …", "…", blocked_score=blocked_score)
    table.do(0, "6-6")
    table.put("3-4 1-1", "5-6 2-2", stock="0-5 1-5")
    table.do(1, "5-6@right")
    assert (table.counted.ended_by, table.counted.scores) == ("blocked", (0, points))


def test_7_4_a_round_is_not_blocked_while_more_than_the_reserve_is_left() -> None:
    table = EngineTable(DRAW_GAME, "6-6 …", "…")
    table.do(0, "6-6")
    table.put("3-4 1-1", "5-6 2-2", stock="0-5 1-5 0-0")
    table.do(1, "5-6@right")
    assert legal_moves(table.rules, table.state, 0) == (DRAW,)
