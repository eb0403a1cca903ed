"""Erasure: what becomes of a game when one of its players is forgotten.

Owns what goes and what takes its place: the names by which others, and the application, know the player are gone from
the seat, its token is revoked, and while the match goes on a computer player goes on with it. What was played stays, as
it is the game of the others, too.
"""

from __future__ import annotations

from service.engine.presence import Left
from service.engine.state import FINISHED
from service.games.model.game import Game
from service.games.model.game_events import GameEvent, Renamed, TokenChanged
from service.games.model.seats import HUMAN, OPEN_SEAT, Seats, free_name, left_name
from service.games.store.transactions import Decision


class NothingToErase(Exception):
    """No seat of the game is of this player."""


def decide_to_erase(ref: str, game: Game) -> Decision:
    """Erase whom the application calls so from all seats of a game. Raises ``NothingToErase``.

    Before the first deal nobody can be away yet; then the deal says so
    (``service.games.model.waiting.deal_if_full``).
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
    """Return whether the match goes on with the player of this seat, for whom no computer player plays yet."""
    return (
        game.seats[seat].kind == HUMAN
        and not game.seats.are_open
        and game.state.phase != FINISHED
        and not game.state.eliminated_round[seat]
        and seat not in game.presence.away
    )
