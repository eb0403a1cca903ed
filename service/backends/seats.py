"""Seats as an application sees them: those it has to call, and what a match has come to for each.

Owns who has to be called, and the one form of a seat with its ``ref``: messages, feed and lists share both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from service.games.model.game import Game
from service.games.model.seats import BOT
from service.games.model.views import standings

Refs = Mapping[int, str | None]
"""What the application calls the players, by seat."""


def refs_of(game: Game) -> Refs:
    """Return the refs of a game."""
    return {seat: each.ref for seat, each in enumerate(game.seats)}


def awaited(game: Game, to_act: Iterable[int]) -> list[int]:
    """Return those of the seats that may move whose player has to be called.

    For a computer player, and for who is away, nobody has to be: the service plays, or waits for any player to return.
    """
    return [seat for seat in to_act if game.seats[seat].kind != BOT and game.presence.plays(seat)]


def with_refs(seats: Iterable[int], refs: Refs) -> list[dict[str, Any]]:
    """Seats, each with its ref where it has one."""
    return [with_ref({"seat": seat}, refs) for seat in seats]


def with_ref(fields: dict[str, Any], refs: Refs) -> dict[str, Any]:
    """Return what is shown of a ``seat``, with its ref where it has one."""
    seat, ref = fields["seat"], refs.get(fields["seat"])
    named: dict[str, Any] = {"seat": seat} if ref is None else {"seat": seat, "ref": ref}
    return named | fields


def results(game: Game) -> list[dict[str, Any]]:
    """Return what a match has come to, in seat order, without refs: total and rank as the score card has them."""
    ordered = sorted(standings(game), key=lambda each: each.seat)
    return [{"seat": each.seat, "total": each.total, "rank": each.rank} for each in ordered]
