"""Remote players: programs elsewhere that the service asks for the moves of their seats.

Owns what happens to a game at the turn of a remote player: its move is made as if it had been posted with the token of
the seat, and where there is no answer, a computer player makes this turn. Every act is a commit for the turn that was
looked at, so that several processes may ask for it.
"""

from __future__ import annotations

from base64 import b32encode
from functools import partial
from hashlib import sha256

from service.engine.presence import TimedOut
from service.games.commands.move import MoveCommand, decide_move
from service.games.model.errors import Gone, MoveRefused, StaleVersion
from service.games.model.game import Game
from service.games.model.schedule import RemoteTurn, remote_turn
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed, Decision


class RemotePlayers:
    """The turns of remote players. Every method raises ``StorageUnavailable``, those that write ``OutcomeUnknown``."""

    def __init__(self, repository: GameRepository) -> None:
        self._repository = repository
        self.lifetimes = repository.lifetimes

    def next_turn(self, game_id: str) -> RemoteTurn | None:
        """Return the turn for which a remote player is to be asked; ``None`` if there is none, or no such game."""
        try:
            game = self._repository.load(game_id)
        except Gone:
            return None
        return None if game is None else remote_turn(game)

    def play(self, turn: RemoteTurn, command: MoveCommand) -> Committed:
        """Make a move that the remote player has answered.

        Raises ``MoveRefused`` and ``InvalidSetup`` as a move that is posted (``GameCommands.make_move``), ``NotFound``
        when the game has expired, ``Gone`` when it was deleted.
        """
        return self._repository.transact(turn.game, partial(_decide_to_play, turn, command))

    def give_up(self, turn: RemoteTurn) -> Committed:
        """Have a computer player make this one turn.

        Raises ``StaleVersion`` if the turn is over, ``NotFound``, ``Gone``.
        """
        return self._repository.transact(turn.game, partial(_decide_to_give_up, turn))


def is_same_turn(turn: RemoteTurn, other: RemoteTurn | None) -> bool:
    """Return whether both ask for the same move.

    Meanwhile players may have left or returned, or changed their tokens.
    """
    return other is not None and _identity(turn.game) == _identity(other.game)


def message_id(turn: RemoteTurn) -> str:
    """Return the id of the message that asks for this move: the same however often, and by whomever, it is sent."""
    text = " ".join(("game.move", *map(str, _identity(turn.game))))
    return f"msg_{b32encode(sha256(text.encode()).digest()[:20]).decode().lower()}"


def owner(turn: RemoteTurn) -> str:
    """Return the application whose game it is: only such games have remote players."""
    ownership = turn.game.ownership
    assert ownership is not None
    return ownership.app


def _identity(game: Game) -> tuple[str, int, str]:
    """Return what is the same as long as the same can be played.

    After a failover another write may lead to a version.
    """
    return game.id, game.match_version, game.match_write_id


def _decide_to_play(turn: RemoteTurn, command: MoveCommand, game: Game) -> Decision:
    """As ``decide_move``, unless the seat has another player than was asked: one who was erased does not come back."""
    if game.seats[turn.seat].remote != turn.remote:
        stale = StaleVersion("stale_version", version=game.version)
        raise MoveRefused(stale, game.version, game.to_act, ())
    return decide_move(turn.seat, game.seats[turn.seat].token_hash, command, game)


def _decide_to_give_up(turn: RemoteTurn, game: Game) -> Decision:
    if not is_same_turn(turn, remote_turn(game)):
        raise StaleVersion("stale_version", version=game.version)
    return game, [TimedOut(turn.seat, "move")]
