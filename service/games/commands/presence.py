"""The commands to leave a game, come back, or resign.

Owns when each is possible.
"""

from __future__ import annotations

from functools import partial
from typing import Final

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
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decision

NO_TOKEN: Final = b""
"""Replaces the hash of a token if the owner of the game acts."""


def set_presence(context: CommandContext, access: Access, *, away: bool) -> GameView:
    """Set whether the player of a seat is away; return the game as the bearer sees it.

    A player sets this for their own seat; the application that owns the game sets it for any seat (``target``). A
    computer player plays a seat that is away. Setting away again changes nothing. Raises ``NotStarted``, ``GameOver``,
    ``NotInMatch``; ``NotAway`` for coming back to a seat that is not away; ``NotFound`` for the seat of a computer
    player; ``Unauthorized`` as ``make_move``.
    """
    game, by_owner = access.game, access.app is not None
    seat = access.target if by_owner else access.seat
    if seat is None:
        raise unauthorized()
    decide = partial(_decide_presence, seat, NO_TOKEN if by_owner else game.seats[seat].token_hash, away)
    try:
        game = context.repository.transactions.transact(game, decide, from_store=access.from_store).after
    except Unchanged:
        game = context.repository.reader.reload(game.id)
    except NotFound:
        if by_owner:
            raise
        raise unauthorized() from None
    return view_game(game, access.viewer, context.repository.lifetimes)


def _decide_presence(seat: int, token_hash: bytes | None, away: bool, game: Game) -> Decision:
    check_running(game, seat, token_hash)
    if game.seats[seat].token_hash is None:
        raise NotFound("no_player", seat=seat)
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
    game, seat = access.game, access.target
    assert seat is not None
    record = None if key is None else context.idempotency.record(key, "resign", str(access.viewer), str(seat))
    token_hash = NO_TOKEN if access.app is not None else game.seats[seat].token_hash
    transactions, replayed = context.repository.transactions, False
    try:
        decide = partial(_decide_resignation, context.bots_alone, seat, token_hash)
        committed = transactions.transact(game, decide, record)
        game, replayed = committed.after, committed.replayed
    except Unchanged:
        prior = None if record is None else transactions.find_write(game.id, record.name)
        if record is None or prior is None:
            game = context.repository.reader.reload(game.id)
        else:
            game, replayed = transactions.replay(game.id, prior, record).after, True
    except NotFound:
        if access.app is not None:
            raise
        raise unauthorized() from None
    return CommandResult(view_game(game, access.viewer, context.repository.lifetimes), replayed)


def _decide_resignation(bots_alone: BotsAlone, seat: int, token_hash: bytes | None, game: Game) -> Decision:
    check_running(game, seat, token_hash)
    if game.seats[seat].token_hash is None:
        raise NotFound("no_player", seat=seat)
    if seat in game.presence.forfeited:
        raise Unchanged(game)
    after, events = with_consequences(game, Resigned(seat))
    if after.state.phase != FINISHED and game.seats.people <= game.presence.forfeited | {seat}:
        bots_alone.admit_alone(game)  # was counted at the creation only if people forfeit at a deadline
    return after, events


def check_running(game: Game, seat: int, token_hash: bytes | None) -> None:
    """Raise a ``Refusal`` unless the match is running, and the seat is in it and has a token with this hash.

    ``NO_TOKEN`` skips the check of the token.
    """
    if seat >= len(game.seats) or (token_hash != NO_TOKEN and game.seats[seat].token_hash != token_hash):
        raise unauthorized()
    if game.seats.are_open:
        raise NotStarted("seats_open")
    if game.state.phase == FINISHED:
        raise GameOver("game_over")
    if game.state.eliminated_round[seat]:
        raise NotInMatch("out_of_match", seat=seat)
