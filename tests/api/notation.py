"""Moves as short texts, made by the seat to move; the names of the ends are looked up in its view."""

from __future__ import annotations

from typing import Any

from tests.api.client import Api, Table
from tests.support.table import Json, seat_to_move


def make_moves(api: Api, table: Table, *texts: str) -> Json:
    """Make these moves, each by the seat to move; the game as the last mover sees it.

    A move is an action, or a tile: alone at its first listed place, ``3-5@e7`` at that end, ``3-3@e7!`` face down
    there; ``3-5@1-3`` or ``3-5@3-3.long`` at the first listed end of that tile (and side); ``1-6@left:6`` with the 6
    outside.
    """
    view = api.view(table)
    for text in " ".join(texts).split():
        view = api.make_move(table, seat_to_move(view), find_move(api, table, text))
    return view


def find_move(api: Api, table: Table, text: str) -> dict[str, Any]:
    """The listed move of the seat to move that this text means (as ``make_moves`` reads it)."""
    seat = seat_to_move(api.view(table))
    view = api.view(table, seat)
    ends = {end["id"]: end for end in view["board"]["ends"]}
    tile, _, place = text.removesuffix("!").partition("@")
    place, _, outer = place.partition(":")
    host, _, side = place.partition(".")

    def means(move: dict[str, Any]) -> bool:
        if "tile" not in move:
            return bool(move["action"] == text)
        end = ends.get(move.get("end", ""))
        at = not place or (end is not None and (host in (end["id"], end["tile"])) and side in ("", end["side"]))
        way = not outer or move.get("outer") == int(outer)
        return bool(move["tile"] == tile and move["face_down"] == text.endswith("!") and at and way)

    moves: list[dict[str, Any]] = [move for move in view["legal_moves"] if means(move)]
    assert moves, f"{text} is not listed for seat {seat}: {view['legal_moves']}"
    return moves[0]
