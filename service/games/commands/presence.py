"""The commands to leave a game, come back, resign, or claim a seat whose deadline has passed."""

from __future__ import annotations

from functools import partial

from service.engine.errors import GameOver, InvalidSetup, NotInMatch, Reason
from service.engine.presence import Claimed, Left, Resigned, Returned
from service.engine.state import FINISHED
from service.games.access import Access
from service.games.commands.context import CommandContext, Unchanged
from service.games.commands.validation import BotsAlone
from service.games.model.clock import GRACE_MS
from service.games.model.errors import NotAway, NotDue, NotFound, NotStarted, unauthorized
from service.games.model.following import with_consequences
from service.games.model.game import Game
from service.games.model.views import CommandResult, GameView, format_rfc3339, view_game
from service.games.ports import IdempotencyRecord
from service.games.reminders import ClockReading
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decide, Decision


def set_presence(context: CommandContext, access: Access, *, away: bool) -> GameView:
    """Set whether the player of a seat is away; return the game as the bearer sees it.

    A player sets this for their own seat; the application that owns the game sets it for any seat (``target``). Setting
    away again changes nothing. Raises ``NotStarted``, ``GameOver``, ``NotInMatch``, ``NotAway`` for coming back to a
    seat that is not away, ``NotFound`` for the seat of a computer player, ``Unauthorized`` as ``make_move``.
    """
    seat = access.seat if access.app is None else access.target
    if seat is None:
        raise unauthorized()
    return _commit(context, access, partial(_decide_presence, access, seat, away), None).answer


def _decide_presence(access: Access, seat: int, away: bool, game: Game) -> Decision:
    _check_running(access, seat, game)
    if away and seat in game.presence.away:
        raise Unchanged(game)
    if not away and game.presence.plays(seat):
        raise NotAway("not_away", seat=seat)
    return game, [Left(seat) if away else Returned(seat)]


def resign(context: CommandContext, access: Access, key: IdempotencyKey | None = None) -> CommandResult[GameView]:
    """Forfeit the match for the seat in the path; return the game as the bearer sees it.

    Changes nothing if the seat has already forfeited. Raises as ``set_presence``, ``KeyReused``, and
    ``TooManyGamesOfBots`` if the game would go on with computer players alone.
    """
    assert access.target is not None
    record = context.record(key, "resign", str(access.viewer), str(access.target))
    return _commit(context, access, partial(_decide_resignation, context.bots_alone, access, access.target), record)


def _decide_resignation(bots_alone: BotsAlone, access: Access, seat: int, game: Game) -> Decision:
    _check_running(access, seat, game)
    if seat in game.presence.forfeited:
        raise Unchanged(game)
    after, events = with_consequences(game, Resigned(seat))
    if after.state.phase != FINISHED and game.seats.people <= game.presence.forfeited | {seat}:
        bots_alone.admit_alone(game)  # was counted at the creation only if people forfeit at a deadline
    return after, events


def claim_seat(
    context: CommandContext, access: Access, seat: int, *, key: IdempotencyKey | None = None
) -> CommandResult[GameView]:
    """Let a computer player play ``seat``, whose deadline has passed; return the game as the claimant sees it.

    Raises ``NotDue`` before the deadline, while an outage postpones it, and if the game has no claims; ``InvalidSetup``
    for a seat that does not exist or is the claimant's own; ``Unauthorized`` as ``make_move``; ``NotStarted``,
    ``GameOver``, ``NotInMatch``, ``KeyReused``.
    """
    game, claimant = access.game, access.seat
    if claimant is None:
        raise unauthorized()
    if seat >= len(game.seats) or seat == claimant:
        raise InvalidSetup({"seat": [Reason("another_seat", {"max": len(game.seats) - 1})]})
    record = context.record(key, "claim", str(claimant))
    allowance = context.reminders.read_clock(game.id).allowance
    decide = partial(decide_claim, access, seat, ClockReading(context.runtime.clock(), allowance))
    return _commit(context, access, decide, record)


def decide_claim(access: Access, seat: int, reading: ClockReading, game: Game) -> Decision:
    """Let a computer player play the seat. Raises as ``claim_seat``."""
    assert access.seat is not None
    _check_running(access, access.seat, game)
    deadline = game.deferred_deadline(reading.allowance)
    if game.clock is None or game.clock.absence != "claim" or seat != game.state.turn or deadline is None:
        raise NotDue("nothing_to_claim", seat=seat)
    if reading.now < deadline + GRACE_MS:
        raise NotDue("deadline_not_passed", seat=seat, deadline=format_rfc3339(deadline))
    return game, [Claimed(seat, access.seat)]


def _commit(
    context: CommandContext, access: Access, decide: Decide, record: IdempotencyRecord | None
) -> CommandResult[GameView]:
    """Commit a decision; return the game as the bearer sees it. The decision can raise ``Unchanged``."""
    game, transactions, replayed = access.game, context.repository.transactions, False
    try:
        committed = transactions.transact(game, decide, record, from_store=access.from_store)
        game, replayed = committed.after, committed.replayed
    except Unchanged:
        prior = None if record is None else context.repository.store.find_write(game.id, record.name)
        if prior is None:
            game = context.repository.reader.reload(game.id)
        else:
            game, replayed = transactions.replay(game.id, prior, record).after, True
    except NotFound:
        if access.app is not None:
            raise
        raise unauthorized() from None
    return CommandResult(view_game(game, access.viewer, context.repository.lifetimes), replayed)


def _check_running(access: Access, seat: int, game: Game) -> None:
    """Raise a ``Refusal`` unless the match is running, and the seat is in it and has a player with the same token."""
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
