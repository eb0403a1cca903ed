"""The waiting games that strangers can join, and those that count as equal tables."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import json

from service.engine.options import Value
from service.games.model.clock import ClockSettings
from service.games.model.game import Game, rules_for
from service.games.model.seats import OPEN_SEAT, Fill
from service.games.model.tokens import short_digest
from service.games.tables import ListedTable, Listing

EVERYBODY = ""
"""The owner of the tables that are open to everybody."""


def form_of(
    variant: str, settings: Mapping[str, Value], players: int, *, clock: ClockSettings | None, fill: Fill | None
) -> str:
    """Return a digest that is equal for tables with the same variant, options, number of seats, and times.

    ``settings``: all options of the variant, with defaults for those that were not requested.
    """
    return short_digest("table", json.encode((variant, dict(settings), players, clock, fill), order="sorted").decode())


def listings_of(game: Game) -> tuple[Listing, ...]:
    """Return the lists that contain a game while seats are open; the same ones once it has begun.

    Empty if strangers cannot join the game. They can join one that is in a lobby, or that a stranger opened, unless it
    has arranged deals or anything else that a seeker cannot request.
    """
    room, ownership = game.room, game.ownership
    if _is_special(game):
        return ()
    by_seek = room is not None and room.by_seek
    owners: list[str] = []
    if ownership is not None and (by_seek or ownership.lobby is not None):
        owners.append(ownership.app)
    if (ownership is None and by_seek) or (ownership is not None and ownership.lobby == "all"):
        owners.append(EVERYBODY)
    if not owners:
        return ()
    fill, players, rules = None if room is None else room.fill, len(game.seats), game.rules
    if room is not None and room.began:
        players, rules = room.places, rules_for(game.variant.key, game.options, room.places)
    form = form_of(game.variant.key, rules.settings, players, clock=game.clock, fill=fill)
    return tuple([Listing(owner, form) for owner in owners])


def table_of(game: Game) -> ListedTable:
    """Return the entry of a game in a list of tables."""
    taken = tuple([player.kind != OPEN_SEAT for player in game.seats])
    if game.room is not None and game.room.began:
        taken = (True,) * game.room.places
    return ListedTable(game.id, game.version, taken, game.created_at)


def _is_special(game: Game) -> bool:
    plain = game.spectators and game.pace is None and not (game.auto or game.unique_names or game.arranged)
    return not plain or any([player.kind == OPEN_SEAT and player.ref is not None for player in game.seats])
