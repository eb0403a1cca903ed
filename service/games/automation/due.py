"""What happens in a game without a player: the moves of computer players, and what follows when a time is over.

Owns what is then committed. Whatever is due is read from the game itself (``service.games.model.schedule``): a reminder
only says that the game should be looked at, so one that is stale, early or doubled does nothing. Every act is a commit
at the version that was looked at, so that several processes may try it and one of them does it.
"""

from __future__ import annotations

from functools import partial

from service.engine.moves import DEAL, Move
from service.engine.presence import Forfeited, TimedOut, end_by_forfeit
from service.engine.referee import apply
from service.games.model.errors import StaleVersion
from service.games.model.following import advance_match
from service.games.model.game import Game
from service.games.model.game_events import GameEvent
from service.games.model.schedule import BotTurn, bot_turn, time_out_due
from service.games.reminders import JudgedTime
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed, Decision


class Automation:
    """Makes the moves of computer players, and handles expired deadlines.

    Every method raises ``StorageUnavailable``, and ``Gone`` for a game that was deleted; those that write
    ``OutcomeUnknown``.
    """

    def __init__(self, repository: GameRepository) -> None:
        self._repository = repository

    def next_turn(self, game_id: str) -> BotTurn | None:
        """Return what the service has to play in this game; ``None`` if nothing, or if it does not exist.

        Raises ``PutOff`` if nobody waits for it, and there is little memory left.
        """
        game = self._repository.load(game_id)
        turn = None if game is None else bot_turn(game)
        if turn is not None:
            self._repository.check_awaited(turn.game)
        return turn

    def play(self, turn: BotTurn, move: Move) -> Committed:
        """Make this move, at the version it was chosen for.

        Raises ``StaleVersion`` if the game has changed since, ``NotFound`` when it has expired, and ``Refusal`` for a
        move that is not legal.
        """
        return self._repository.transact(turn.game, partial(_decide_turn, turn, move))

    def time_out(self, game_id: str, judged: JudgedTime) -> Committed | int | None:
        """Let what is due follow from the deadline of the game; if nothing was due then, when something will be.

        The deadline is ``judged`` as of a moment ago. ``None`` if nothing follows from a deadline as the game is now,
        or if it does not exist. Raises ``StaleVersion`` if the game changes meanwhile, ``NotFound`` when it expires.
        """
        game = self._repository.load(game_id)
        due = None if game is None else time_out_due(game, judged.allowance)
        if game is None or due is None or due > judged.now:
            return due
        return self._repository.transact(game, partial(_decide_time_out, game))


def _check_unchanged(seen: Game, game: Game) -> None:
    """Raise ``StaleVersion`` unless the game is the one that was looked at."""
    if (game.version, game.write_id) != (seen.version, seen.write_id):
        raise StaleVersion("stale_version", version=game.version)


def _decide_turn(turn: BotTurn, move: Move, game: Game) -> Decision:
    _check_unchanged(turn.game, game)
    return advance_match(game, turn.seat, move)


def _decide_time_out(seen: Game, game: Game) -> Decision:
    _check_unchanged(seen, game)
    clock, seat = game.clock, game.state.turn
    assert clock is not None
    if seat is None:
        return advance_match(game, game.state.active_seats()[0], DEAL)
    events: list[GameEvent] = [TimedOut(seat, clock.absence)]
    if clock.absence == "forfeit":
        events.append(Forfeited(seat))
        end = end_by_forfeit(game.rules, game.state, game.presence.forfeited | {seat})
        if end is not None:
            events.append(end)
            game = game._replace(state=apply(game.rules, game.state, end))
    return game, events
