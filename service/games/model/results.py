"""The results of the commands and queries of a game.

Owns the types only. What a viewer may know of a game is in ``service.games.model.views``.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from service.engine.moves import Move
from service.games.model.views import GameView

T = TypeVar("T")


class SeatToken(NamedTuple):
    """A seat with its token, which is returned only once."""

    seat: int
    name: str
    token: str


class CreatedGame(NamedTuple):
    """A game just created, as a spectator sees it, with the tokens of its seats and the code for the open ones."""

    view: GameView
    seats: tuple[SeatToken, ...]
    join_code: str | None


class JoinedSeat(NamedTuple):
    """An open seat just taken, with the game as this seat sees it."""

    seat: SeatToken
    view: GameView


class LegalMoves(NamedTuple):
    """The legal moves of a seat at this version; ``turn`` is the seat whose turn it is, ``to_act`` who may move.

    ``deadline`` is that of the running turn or deal, in milliseconds since 1970; ``None`` while no clock runs.
    """

    version: int
    turn: int | None
    to_act: tuple[int, ...]
    moves: tuple[Move, ...]
    deadline: int | None = None


class CommandResult(NamedTuple, Generic[T]):
    """The result of a command; ``replayed`` if it is that of an earlier request under the same idempotency key."""

    answer: T
    replayed: bool
