"""Worked examples over HTTP: arranged deals that are played, and what is read of their count."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.followers import everything
from tests.api.notation import find_move, make_moves
from tests.support.table import Json, seat_to_move


class Worked(NamedTuple):
    """A deal, and the moves that lead to the hands of an example."""

    hands: tuple[str, ...]
    play: str
    stock: str = ""


def play_out(api: Api, variant: str, *rounds: Worked, **rules: Any) -> Table:
    """Play these rounds, and stop when the last one has been counted."""
    table = deal_last(api, variant, *rounds, **rules)
    view = make_moves(api, table, rounds[-1].play)
    assert view["status"] != "playing"
    return table


def deal_last(api: Api, variant: str, *rounds: Worked, **rules: Any) -> Table:
    """Play these rounds but the last one, and deal that."""
    deals = [deal(variant, *each.hands, stock=each.stock, **rules) for each in rounds]
    table = api.create(variant, len(rounds[0].hands), deals=deals, rules=rules, seed="what comes after")
    for each in rounds[:-1]:
        view = make_moves(api, table, each.play)
        assert view["status"] == "round_over"
        make_moves(api, table, "deal")
    return table


def make_scoring_move(api: Api, table: Table, text: str) -> tuple[int | None, int]:
    """Make this move where plays score: the sum of the ends after it, if ends are counted, and its points.

    The listed move and the event tell both, and the totals of all seats of the mover's side show the points at once.
    """
    before = api.view(table)
    seat = seat_to_move(before)
    listed = find_move(api, table, text)
    ends_sum, points = listed.get("ends_sum"), listed["points"]
    view = make_moves(api, table, text)
    assert view["board"].get("ends_sum") == ends_sum
    told = next(event for event in reversed(everything(api, table)) if event["type"] == "played")
    assert (told["seat"], told["data"].get("ends_sum"), told["data"]["points"]) == (seat, ends_sum, points)
    if view["status"] == "playing":
        team = before["players"][seat].get("team")
        for old, new in zip(before["players"], view["players"], strict=True):
            same_side = new["seat"] == seat or (team is not None and new["team"] == team)
            assert new["total"] - old["total"] == (points if same_side else 0)
    return ends_sum, points


def last_round(api: Api, table: Table) -> dict[str, Any]:
    counted: dict[str, Any] = api.score(table)["rounds"][-1]
    return counted


def left_in(counted: dict[str, Any]) -> list[str]:
    """What each seat held when the round ended."""
    return [" ".join(hand["tiles"]) for hand in counted["hands"]]


def values(counted: dict[str, Any]) -> list[int]:
    return [hand["value"] for hand in counted["hands"]]


def totals(view: Json) -> list[int]:
    return [player["total"] for player in view["players"]]
