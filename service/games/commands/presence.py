"""The commands to leave a game, come back, or resign."""

from __future__ import annotations

from functools import partial

from service.engine.errors import GameOver, NotInMatch
from service.engine.presence import Left, Resigned, Returned
from service.engine.state import FINISHED
from service.games.access import Access
from service.games.commands.context import CommandContext, Unchanged
from service.games.commands.validation import BotsAlone
from service.games.model.errors import NotAway, NotFound, NotStarted, unauthorized
from service.games.model.following import with_consequences
from service.games.model.game import Game
from service.games.model.views import CommandResult, GameView, view_game
from service.games.ports import IdempotencyRecord
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decide, Decision


def set_presence(context: CommandContext, access: Access, *, away: bool) -> GameView:
    """Set whether the player of a seat is away; return the game as the bearer sees it.

    A player sets this for their own seat; the application that owns the game sets it for any seat (``target``). A
    computer player plays a seat that is away. Setting away again changes nothing. Raises ``NotStarted``, ``GameOver``,
    ``NotInMatch``; ``NotAway`` for coming back to a seat that is not away; ``NotFound`` for the seat of a computer
    player; ``Unauthorized`` as ``make_move``.
    """
    seat = access.seat if access.app is None else access.target
    if seat is None:
        raise unauthorized()
    return _commit(context, access, partial(_decide_presence, access, seat, away), None).answer


def _decide_presence(access: Access, seat: int, away: bool, game: Game) -> Decision:
    check_running(access, seat, game)
    if away and seat in game.presence.away:
        raise Unchanged(game)
    if not away and game.presence.plays(seat):
        raise NotAway("not_away", seat=seat)
    return game, [Left(seat) if away else Returned(seat)]


def resign(context: CommandContext, access: Access, key: IdempotencyKey | None = None) -> CommandResult[GameView]:
    """Forfeit the match for the seat in the path; return the game as the bearer sees it.

    Changes nothing if the seat has already forfeited. Raises as ``set_presence``, and ``KeyReused``;
    ``TooManyGamesOfBots`` if the game would go on with computer players alone, and the tenant has too many of these.
    """
    assert access.target is not None
    record = context.record(key, "resign", str(access.viewer), str(access.target))
    return _commit(context, access, partial(_decide_resignation, context.bots_alone, access, access.target), record)


def _decide_resignation(bots_alone: BotsAlone, access: Access, seat: int, game: Game) -> Decision:
    check_running(access, seat, game)
    if seat in game.presence.forfeited:
        raise Unchanged(game)
    after, events = with_consequences(game, Resigned(seat))
    if after.state.phase != FINISHED and game.seats.people <= game.presence.forfeited | {seat}:
        bots_alone.admit_alone(game)  # was counted at the creation only if people forfeit at a deadline
    return after, events


def _commit(
    context: CommandContext, access: Access, decide: Decide, record: IdempotencyRecord | None
) -> CommandResult[GameView]:
    """Commit a decision; return the game as the bearer sees it. The decision can raise ``Unchanged``."""
    game, transactions, replayed = access.game, context.repository.transactions, False
    try:
        committed = transactions.transact(game, decide, record, from_store=access.from_store)
        game, replayed = committed.after, committed.replayed
    except Unchanged:
        prior = None if record is None else transactions.find_write(game.id, record.name)
        if prior is None:
            game = context.repository.reader.reload(game.id)
        else:
            game, replayed = transactions.replay(game.id, prior, record).after, True
    except NotFound:
        if access.app is not None:
            raise
        raise unauthorized() from None
    return CommandResult(view_game(game, access.viewer, context.repository.lifetimes), replayed)


def check_running(access: Access, seat: int, game: Game) -> None:
    """Raise a ``Refusal`` unless the match is running, and the seat is in it and has a player.

    Raises ``Unauthorized`` if the token of the seat has changed since the access was granted to it.
    """
    before, after = access.game.seats, game.seats
    if seat >= len(after) or (access.app is None and after[seat].token_hash != before[seat].token_hash):
        raise unauthorized()
    if game.seats.are_open:
        raise NotStarted("seats_open")
    if game.state.phase == FINISHED:
        raise GameOver("game_over")
    if game.state.eliminated_round[seat]:
        raise NotInMatch("out_of_match", seat=seat)
    if game.seats[seat].token_hash is None:
        raise NotFound("no_player", seat=seat)
