"""Playing over HTTP by seats that know no rules: they post back what is listed for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from tests.api.client import Api, Table

View = dict[str, Any]
_MOST_MOVES = 5000


def post_first(api: Api, table: Table, seat: int, moves: list[dict[str, Any]]) -> View:
    """Make the first of these moves, and see the game as the mover sees it."""
    answer = api.move(table, seat, moves[0])
    assert answer.status_code == 201, answer.json
    view: View = answer.json  # type: ignore[assignment]
    return view


def mover(view: View) -> int:
    """Whose turn it is, or who can deal."""
    if view["status"] == "playing":
        return int(view["turn"]["seat"])
    return next(int(player["seat"]) for player in view["players"] if player["in"])


def over(view: View) -> bool:
    """Whether the round is."""
    return view["status"] in ("round_over", "finished")


def finished(view: View) -> bool:
    """Whether the match is."""
    return bool(view["status"] == "finished")


def at(version: int) -> Callable[[View], bool]:
    """Whether the game has come to this version."""
    return lambda view: view["version"] >= version


def over_or_at(version: int) -> Callable[[View], bool]:
    """Whether the round is over, or the game has come to this version."""
    return lambda view: over(view) or view["version"] >= version


def play_on(
    api: Api, table: Table, until: Callable[[View], bool], luck: Random | None = None, keep: Iterable[str] = ()
) -> View:
    """Make legal moves, a lucky one or the first one, until the view shows what is wanted.

    The tiles in ``keep`` are not laid as long as there is another move.
    """
    view = api.view(table)
    for _ in range(_MOST_MOVES):
        if until(view):
            return view
        seat = mover(view)
        listed = api.moves(table, seat)["moves"]
        moves = [move for move in listed if move.get("tile") not in keep] or listed
        view = post_first(api, table, seat, [luck.choice(moves) if luck else moves[0]])
    raise AssertionError("this never came about")


def lay(api: Api, table: Table, *texts: str) -> View:
    """Make these moves, each by whoever is to move.

    A move is an action, or a tile: alone at its first listed place, ``3-5@e7`` at that end, ``3-3@e7!`` face down
    there; ``3-5@1-3`` or ``3-5@3-3.long`` at the first listed end of that tile (and side).
    """
    view = api.view(table)
    for text in " ".join(texts).split():
        view = post_first(api, table, mover(view), [find_move(api, table, text)])
    return view


def find_move(api: Api, table: Table, text: str) -> dict[str, Any]:
    """The listed move of whoever is to move that this text means (as ``lay`` reads it)."""
    seat = mover(api.view(table))
    view = api.view(table, seat)
    ends = {end["id"]: end for end in view["board"]["ends"]}
    tile, _, place = text.removesuffix("!").partition("@")
    host, _, side = place.partition(".")

    def means(move: dict[str, Any]) -> bool:
        if "tile" not in move:
            return bool(move["action"] == text)
        end = ends.get(move.get("end", ""))
        at = not place or (end is not None and (host in (end["id"], end["tile"])) and side in ("", end["side"]))
        return bool(move["tile"] == tile and move["face_down"] == text.endswith("!") and at)

    moves: list[dict[str, Any]] = [move for move in view["legal_moves"] if means(move)]
    assert moves, f"{text} is not listed for seat {seat}: {view['legal_moves']}"
    return moves[0]
