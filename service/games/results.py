"""The results of the commands and queries of a game.

Owns the shapes only. What a viewer may know of a game is in ``service.games.views``; how anything is shown is not known
here.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from service.engine.moves import Move
from service.games.views import GameView

T = TypeVar("T")


class SeatToken(NamedTuple):
    """A seat with the token that plays it, shown only once."""

    seat: int
    name: str
    token: str


class CreatedGame(NamedTuple):
    """A game just created: as a spectator sees it, and the secrets that its creator hands on."""

    view: GameView
    seats: tuple[SeatToken, ...]
    join_code: str | None


class JoinedSeat(NamedTuple):
    """An open seat just taken, with the game as its new owner sees it."""

    seat: SeatToken
    view: GameView


class LegalMoves(NamedTuple):
    """What a seat may do at this version."""

    version: int
    turn: int | None
    moves: tuple[Move, ...]


class CommandResult(NamedTuple, Generic[T]):
    """The answer to a command; ``replayed`` if it is the one of the first request under its idempotency key."""

    answer: T
    replayed: bool
