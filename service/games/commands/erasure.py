"""Erasure: remove the personal data of a player from a game.

The seat loses the name and the ref of the player, its token is revoked, and in a running match a computer player takes
over. The moves stay, because the game also belongs to the other players.
"""

from __future__ import annotations

from service.engine.presence import Left
from service.engine.state import FINISHED
from service.games.model.game import Game
from service.games.model.game_events import GameEvent, Renamed, TokenChanged
from service.games.model.seats import HUMAN, OPEN_SEAT, Seats, free_name, left_name
from service.games.store.transactions import Decision


class NothingToErase(Exception):
    """No seat of the game belongs to this player."""


def decide_to_erase(ref: str, game: Game) -> Decision:
    """Erase the player with this ref from all seats of a game. Raises ``NothingToErase``.

    Before the first deal, no player can be away: then ``deal_if_full`` adds ``Left`` with the deal.
    """
    erased = [seat for seat, player in enumerate(game.seats) if player.ref == ref]
    if not erased:
        raise NothingToErase
    seats, left, changed = list(game.seats), list[GameEvent](), list[GameEvent]()
    for seat in erased:
        player = seats[seat]
        name = None if player.kind == OPEN_SEAT else left_name(seat)
        if name is not None and game.unique_names:
            name = free_name(name, [other.name for at, other in enumerate(seats) if at != seat])
        seats[seat] = player._replace(name=name, ref=None, token_hash=None)
        if _plays(game, seat):
            left.append(Left(seat))
        changed.append(Renamed(seat, name))
        if player.token_hash is not None:
            changed.append(TokenChanged(seat))
    return game._replace(seats=Seats(seats)), [*left, *changed]


def _plays(game: Game, seat: int) -> bool:
    """Return whether a person plays this seat of a running match, and is not away."""
    return (
        game.seats[seat].kind == HUMAN
        and not game.seats.are_open
        and game.state.phase != FINISHED
        and not game.state.eliminated_round[seat]
        and seat not in game.presence.away
    )
