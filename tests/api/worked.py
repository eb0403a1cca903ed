"""Worked examples over HTTP: arranged deals that are played, and what is read of their count."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.support.table import Json


class Worked(NamedTuple):
    """A deal, and the moves that lead to the hands of an example."""

    hands: tuple[str, ...]
    play: str
    stock: str = ""


def play_out(api: Api, variant: str, *rounds: Worked, **rules: Any) -> Table:
    """Play these rounds, and stop when the last one has been counted."""
    deals = [deal(variant, *each.hands, stock=each.stock, **rules) for each in rounds]
    table = api.create(variant, len(rounds[0].hands), deals=deals, rules=rules, seed="what comes after")
    for number, each in enumerate(rounds):
        if number:
            make_moves(api, table, "deal")
        view = make_moves(api, table, each.play)
        assert view["status"] != "playing"
    return table


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
