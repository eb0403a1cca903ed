"""A worked round of each game over HTTP: its moves, its events, and its count with what explains it.

The examples of the rules are in ``tests/engine``. Here stands one arranged deal of each game, whose round ends soon,
and all that clients are told of it. What is expected is counted by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from service.engine.variants import variants
from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.followers import everything
from tests.api.notation import find_move, make_moves
from tests.engine.table import COUNTING_ENDS, SCORING_PLAYS
from tests.support.table import Json, seat_to_move

EVENTS = {"play": "played", "draw": "drew", "pass": "passed", "done": "done", "flip": "flipped"}
"""The event of each action."""

Line = tuple[int, int, str, str]


class Example(NamedTuple):
    """A deal, the moves of its round, and the count.

    ``left`` has for each seat the tiles that it holds at the end and their value, ``lines`` the seat, points, rule and
    text of each score line. ``sums`` and ``points`` are those of the plays, where ends are counted and plays score.
    """

    hands: Sequence[str]
    play: str
    ended_by: str
    left: Sequence[tuple[str, int]]
    scores: list[int]
    lines: Sequence[Line]
    winner: int | None = None
    loser: int | None = None
    carried: int = 0
    manche: Json | None = None
    sums: Sequence[int] = ()
    points: Sequence[int] = ()
    options: dict[str, Any] = {}  # noqa: RUF012 # never changed
    stock: str = ""


def lines(rule: str, *told: tuple[int, int, str]) -> list[Line]:
    """Return score lines of one rule."""
    return [(seat, points, rule, text) for seat, points, text in told]


EXAMPLES: dict[str, Example] = {
    "homo-homini-lupus": Example(  # all arms are closed by doubles that lie face down
        ("0-0 0-4 4-4 0-5 0-6 1-2", "0-1 1-1 …", "0-2 2-2 …", "0-3 3-3 …"),
        "0-0 0-1 0-2 0-3 0-4 1-1@0-1! 2-2@0-2! 3-3@0-3! 4-4@0-4!",
        "closed",
        [("0-5 0-6 1-2", 14), ("1-3 1-4 1-5 1-6", 22), ("2-3 2-4 2-5 2-6", 26), ("3-4 3-5 3-6 4-5", 33)],
        [975, 175, -225, -925],
        lines(
            "1.8",
            (0, 975, "(95 ÷ 4 − 14) × 100"),
            (1, 175, "(95 ÷ 4 − 22) × 100"),
            (2, -225, "(95 ÷ 4 − 26) × 100"),
            (3, -925, "(95 ÷ 4 − 33) × 100"),
        ),
    ),
    "menschenwolf": Example(  # 0-0 counts 10
        ("1-2 0-1 0-2 0-4 0-5 0-6 1-1", "0-0 0-3 3-3 3-4 4-4 5-5 6-6"),
        "1-2 flip",
        "flip",
        [("0-1 0-2 0-4 0-5 0-6 1-1", 20), ("0-0 0-3 3-3 3-4 4-4 5-5 6-6", 56)],
        [20, 76],
        [(1, 76, "2.11", "20 + 56"), (0, 20, "2.10", "0-1, 0-2, 0-4, 0-5, 0-6, 1-1 = 20")],
        winner=0,
        loser=1,
        options={"others_write_own": True},
    ),
    "fido": Example(
        ("1-6 2-3", "2-4 4-4", "0-3 4-6", "0-5 3-5", "0-0 3-6", "0-1 2-2", "2-5 5-5", "1-2 5-6", "0-2 2-6"),
        "5-5 5-6@e1 2-6 2-3 draw 0-3@2-3 0-5 draw draw 2-5@0-5",
        "out",
        [
            *[("1-6", 7), ("0-6 2-4 4-4", 20), ("4-6", 10), ("3-5", 8), ("0-0 3-4 3-6", 16)],
            *[("0-1 1-5 2-2", 11), ("", 0), ("1-2", 3), ("0-2", 2)],
        ],
        [-7, -20, -10, -3, -16, -11, 4, -3, 2],
        [
            *lines("3.6", (8, 4, "12 ÷ 3"), (3, 5, "15 ÷ 3"), (6, 4, "12 ÷ 3")),
            *lines("3.8", (0, -7, "0 − 7"), (1, -20, "0 − 20"), (2, -10, "0 − 10"), (3, -8, "0 − 8")),
            *lines("3.8", (4, -16, "0 − 16"), (5, -11, "0 − 11"), (7, -3, "0 − 3"), (8, -2, "0 − 2")),
        ],
        winner=6,
        sums=(10, 16, 12, 13, 10, 15, 12),
        points=(0, 0, 4, 0, 0, 5, 4),
        options={"set": 6},
        stock="0-6 3-4 1-5",
    ),
    "dominospiel": Example(  # the totals of 4.8
        (
            "0-3 3-4 1-3 1-4 2-6 3-5 3-6",
            "4-4 0-4 0-5 5-5 5-6 0-6 4-6",
            "0-0 0-1 1-2 2-2 0-2 1-1 2-3",
            "3-3 6-6 1-5 1-6 2-4 2-5 4-5",
        ),
        "0-0 0-1@left 1-2 2-2 0-2@left pass 0-3@right 3-4 done 4-4 0-4@right 0-5@right 5-5 5-6 0-6@right",
        "blocked",
        [*[("1-3 1-4 2-6 3-5 3-6", 34), ("4-6", 10), ("1-1 2-3", 7)], ("1-5 1-6 2-4 2-5 3-3 4-5 6-6", 53)],
        [34, 10, 7, 53],
        lines(
            "4.6",
            (0, 34, "1-3, 1-4, 2-6, 3-5, 3-6 = 34"),
            (1, 10, "4-6 = 10"),
            (2, 7, "1-1, 2-3 = 7"),
            (3, 53, "1-5, 1-6, 2-4, 2-5, 3-3, 4-5, 6-6 = 53"),
        ),
    ),
    "domino": Example(  # a lone 0-0 counts 10
        ("1-1 0-2 1-3 1-4 5-6", "0-0 0-1 1-2 1-5 3-4"),
        "1-1 1-2@right 0-2@right 0-1@right 1-3@right 3-4@right 1-4@right 1-5@right 5-6@right",
        "out",
        [("", 0), ("0-0", 10)],
        [0, 10],
        [(1, 10, "5.7", "0-0 = 10")],
        winner=0,
        options={"hand": 5},
    ),
    "block": Example(  # 6a
        ("0-3 3-6 6-6", "0-1 1-5 5-6"),
        "6-6 5-6@right 3-6@left 1-5@right 0-3@left",
        "out",
        [("", 0), ("0-1", 1)],
        [1, 0],
        [(0, 1, "6.5", "1")],
        winner=0,
        options={"hand": 3},
    ),
    "draw": Example(  # 7b
        ("1-1 2-2 2-4", "0-5 3-5 3-6"),
        "2-2 draw draw 2-6@right 2-4@left 0-4@left draw 1-6@right 0-5@left 1-1@right",
        "out",
        [("", 0), ("3-5 3-6", 17)],
        [17, 0],
        [(0, 17, "7.1", "17")],
        winner=0,
        options={"hand": 3},
        stock="0-4 2-6 1-6",
    ),
    "all-fives": Example(  # 8a, and 7 pips rounded to 5
        ("1-2 3-3 3-5 5-5 5-6", "0-0 0-5 1-6 2-5 6-6"),
        "5-5 2-5@5-5.long 3-5@5-5.long 0-5@5-5.short 5-6@5-5.short 6-6@5-6 3-3@3-5 0-0@0-5 1-2@2-5",
        "out",
        [("", 0), ("1-6", 7)],
        [40, 25],
        [*lines("8.8", (0, 10, "10"), (0, 5, "5"), (1, 5, "5"), (0, 20, "20"), (1, 20, "20")), (0, 5, "8.9", "7 → 5")],
        winner=0,
        sums=(10, 12, 5, 5, 11, 17, 20, 20, 19),
        points=(10, 0, 5, 5, 0, 0, 20, 20, 0),
        options={"hand": 5, "opening": "rotate"},
    ),
    "fives-and-threes": Example(  # 9a, and the last tile
        ("5-6 1-5 0-5", "1-6 5-5 3-4"),
        "5-6 1-6@right 1-5@right 5-5@right 0-5@left",
        "out",
        [("", 0), ("3-4", 7)],
        [5, 10],
        [*lines("9.6", (1, 2, "6 ÷ 3"), (0, 2, "10 ÷ 5"), (1, 8, "15 ÷ 3 + 15 ÷ 5")), (0, 3, "9.7", "10 ÷ 5 + 1")],
        winner=0,
        sums=(11, 6, 10, 15, 10),
        points=(0, 2, 2, 8, 3),
        options={"hand": 3},
    ),
    "latin": Example(  # 37 pips against 53: the lighter team scores all, and its player after the closer leads
        ("6-6 2-6 4-5 0-0 0-2 0-3 0-4", "0-6 2-3 5-6 0-5 1-1 1-2 1-3", "0-1 3-6 1-4 1-5 2-2 2-4 2-5", "1-6 4-6 …"),
        "6-6 0-6@right 0-1@right 1-6@right 2-6@right 2-3@right 3-6@right 4-6@right 4-5@right 5-6@right",
        "blocked",
        [("0-0 0-2 0-3 0-4", 9), ("0-5 1-1 1-2 1-3", 14), ("1-4 1-5 2-2 2-4 2-5", 28), ("3-3 3-4 3-5 4-4 5-5", 39)],
        [90, 0, 90, 0],
        lines("10.5", (0, 90, "9 + 14 + 28 + 39"), (2, 90, "9 + 14 + 28 + 39")),
        winner=2,
    ),
    "kozel": Example(  # both teams hold 60: nobody writes them, and they are carried
        ("0-0 0-3 1-1 1-3 4-5 5-6 6-6", "1-2 1-6 3-4 0-5 0-6 2-2 2-3", "0-2 0-4 1-4 2-4 3-5 4-4 5-5", "0-1 1-5 …"),
        "1-1 1-2@right 0-2@right 0-1@right 1-3@right 3-4@right 1-4@right 1-5@right 5-6@right 1-6@right",
        "blocked",
        [("0-0 0-3 4-5 6-6", 24), ("0-5 0-6 2-2 2-3", 20), ("0-4 2-4 3-5 4-4 5-5", 36), ("2-5 2-6 3-3 3-6 4-6", 40)],
        [0, 0, 0, 0],
        [],
        carried=120,
    ),
    "sebastopol": Example(
        ("0-3 3-6 6-6 …", "0-0 0-1 0-6 …", "0-2 1-6 4-5 …", "0-4 0-5 2-6 …"),
        "6-6 0-6 1-6 2-6 3-6 0-1@1-6 0-2@2-6 0-5@0-6 0-3@3-6 0-0@0-1 4-5@0-5 0-4@4-5",
        "blocked",
        [("1-1 1-2 1-3 1-4", 14), ("1-5 2-2 2-3 2-4", 21), ("2-5 3-3 3-4 3-5", 28), ("4-4 4-6 5-5 5-6", 39)],
        [74, 0, 0, 0],
        [(0, 74, "12.5", "21 + 28 + 39 − 14")],
    ),
    "tiddly-wink": Example(  # 13a with a stake of 3
        (*["…"] * 6, "2-2 2-5 5-5"),
        "5-5 2-5 pass pass pass pass pass pass 2-2",
        "out",
        [
            *[("0-0 0-1 0-3", 4), ("0-4 0-5 0-6", 15), ("1-1 1-3 1-4", 11), ("1-5 1-6 3-3", 19)],
            *[("3-4 3-5 3-6", 24), ("4-4 4-5 4-6", 27), ("", 0)],
        ],
        [-3, -3, -3, -3, -3, -3, 18],
        lines("13.7", *[(seat, -3, "0 − 3") for seat in range(6)], (6, 18, "3 × 6")),
        winner=6,
        options={"stake": 3},
        stock="0-2 1-2 2-3 2-4 2-6 6-6 5-6",
    ),
    "matador": Example(  # the round of the rule page
        ("6-6 1-3 0-4", "1-6 2-4 5-5"),
        "6-6 1-6@right:1 1-3@left 2-4@left draw draw 2-6@right 5-5@left",
        "out",
        [("0-4 1-1", 6), ("", 0)],
        [0, 6],
        [(1, 6, "14.9", "6")],
        winner=1,
        options={"hand": 3},
        stock="1-1 2-6",
    ),
    "bergen": Example(  # 15c: a last tile that is a double at equal ends, with a bonus of 2
        ("1-3 1-5 2-3 3-4 4-5 5-5", "1-4 2-2 2-6 4-4 4-6 6-6"),
        "2-2 2-3@right 2-6@left 3-4@right 1-4@right 1-5@right 6-6@left 5-5@right 4-6@left 4-5@right 4-4@left",
        "out",
        [("1-3", 4), ("", 0)],
        [2, 7],
        [
            (1, 2, "15.6", "double-heading"),
            *lines("15.5", (0, 2, "double-heading"), (1, 3, "triple-heading")),
            (1, 2, "15.7", "2"),
        ],
        winner=1,
        points=(2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3),
        options={"bonus": 2},
    ),
    "by-wins": Example(  # 16a: nobody else holds a six
        ("0-0 0-1 0-2 0-3 1-1 1-2 6-6", "2-4 2-5 3-4 3-5 4-4 4-5 5-5"),
        "6-6",
        "blocked",
        [("0-0 0-1 0-2 0-3 1-1 1-2", 11), ("2-4 2-5 3-4 3-5 4-4 4-5 5-5", 55)],
        [1, 0],
        [(0, 1, "16.5", "1")],
        winner=0,
        options={"hand": 7},
    ),
    "cochon": Example(  # 17b
        (*("0-0 0-1 0-2 0-3 1-1 1-2 6-6", "0-4 0-5 1-3 1-4 1-5 2-2 2-3"), "2-4 2-5 3-3 3-4 3-5 4-4 4-5"),
        "6-6",
        "blocked",
        [*[("0-0 0-1 0-2 0-3 1-1 1-2", 11), ("0-4 0-5 1-3 1-4 1-5 2-2 2-3", 33)], ("2-4 2-5 3-3 3-4 3-5 4-4 4-5", 51)],
        [1, 0, 0],
        [(0, 1, "17.4", "1")],
        winner=0,
        manche={"number": 1, "stars": [1, 0, 0]},
    ),
}


@pytest.mark.parametrize("variant", variants())
def test_a_worked_round_is_told_alike_by_moves_events_and_the_score_card(api: Api, variant: str) -> None:
    assert variant in EXAMPLES, "a new game needs a worked round here"
    example = EXAMPLES[variant]
    dealt = deal(variant, *example.hands, stock=example.stock, **example.options)
    table = api.create(variant, len(example.hands), deals=[dealt], options=example.options)
    made = [make_listed_move(api, table, variant, text) for text in example.play.split()]
    plays = [move for _, move in made if move["action"] == "play"]
    assert tuple(move["ends_sum"] for move in plays if "ends_sum" in move) == example.sums
    assert tuple(move["points"] for move in plays if "points" in move) == example.points

    _, deal_event, *events = everything(api, table)
    assert (deal_event["type"], deal_event["data"]) == ("dealt", {"round": 1, "arranged": True})
    told = [(event["seat"], event["type"], event["data"]) for event in events[: len(made)]]
    assert told == [(seat, EVENTS[move["action"]], what_is_told_of(move)) for seat, move in made]

    counted = expected_count(example)
    assert (events[len(made)]["type"], events[len(made)]["data"]) == ("round_ended", counted)
    card, view = api.score(table), api.view(table)
    assert card["rounds"] == [counted]
    assert card.get("carry", 0) == view.get("carry", 0) == example.carried
    assert card.get("unit") == view.get("unit") == ("wins" if variant == "by-wins" else None)
    assert card.get("manche") == view.get("manche") == example.manche
    assert [player["total"] for player in view["players"]] == example.scores


def test_17_6_after_the_end_of_a_manche_the_next_one_is_shown(api: Api) -> None:
    dealt = deal("cochon", *EXAMPLES["cochon"].hands)
    table = api.create("cochon", 3, deals=[dealt] * 3)
    make_moves(api, table, "6-6")
    for _ in range(2):
        api.make_move(table, 0, {"action": "deal"})
        make_moves(api, table, "6-6")
    card, view = api.score(table), api.view(table)
    assert card["rounds"][-1]["manche"] == {"number": 1, "stars": [3, 0, 0], "ended": "won"}
    assert card["manche"] == view["manche"] == {"number": 2, "stars": [0, 0, 0]}


def make_listed_move(api: Api, table: Table, variant: str, text: str) -> tuple[int, Json]:
    """Make the listed move that the text means; return the seat that made it, and the move."""
    before = api.view(table)
    seat = seat_to_move(before)
    of_a_play = fields_of_a_play(variant, leads=not before["board"]["tiles"])
    for listed in api.moves(table, seat):
        assert listed.keys() == {"action", "version"} | (of_a_play if listed["action"] == "play" else set())
    move = find_move(api, table, text)
    after = api.make_move(table, seat, move)
    if move["action"] == "play":
        laid = after["board"]["tiles"][-1]
        assert (laid["seat"], laid["tile"], laid["face_down"]) == (seat, move["tile"], move["face_down"])
        assert laid.get("outer") == move.get("outer")
        if "outer" in laid:
            assert sorted([laid["number"], laid["outer"]]) == [int(half) for half in laid["tile"].split("-")]
        assert after["board"].get("ends_sum") == move.get("ends_sum")
        if after["status"] == "playing":
            assert after["players"][seat]["total"] - before["players"][seat]["total"] == move.get("points", 0)
    return seat, move


def fields_of_a_play(variant: str, *, leads: bool) -> set[str]:
    """Return the fields that a listed play of this game has besides those of every move."""
    fields = {"tile", "face_down"} if leads else {"tile", "face_down", "end"}
    if variant == "matador" and not leads:
        fields.add("outer")
    if variant in SCORING_PLAYS:
        fields.add("points")
    if variant in COUNTING_ENDS:
        fields.add("ends_sum")
    return fields


def what_is_told_of(move: Json) -> Json:
    """Return the data of the event of a move, as a spectator receives it."""
    return {name: value for name, value in move.items() if name not in ("action", "version")}


def expected_count(example: Example) -> Json:
    """Return the result of the round as clients receive it."""
    named = {"winner": example.winner, "loser": example.loser, "manche": example.manche}
    return {
        "number": 1,
        "ended_by": example.ended_by,
        **{name: told for name, told in named.items() if told is not None},
        "hands": [
            {"seat": seat, "tiles": tiles.split(), "value": value} for seat, (tiles, value) in enumerate(example.left)
        ],
        "scores": example.scores,
        "carried": example.carried,
        "lines": [
            {"seat": seat, "points": points, "rule": rule, "text": text} for seat, points, rule, text in example.lines
        ],
    }
