"""The command by which a player claims that another, whose time is over, be played by a computer player.

Owns when that can be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from service.engine.errors import InvalidSetup, Reason
from service.engine.presence import Claimed
from service.games.access import Access
from service.games.commands.context import CommandContext
from service.games.commands.presence import check_running
from service.games.model.clock import GRACE_MS
from service.games.model.errors import NotDue, NotFound, unauthorized
from service.games.model.game import Game
from service.games.model.results import CommandResult
from service.games.model.timestamps import format_rfc3339
from service.games.model.views import GameView, view_game
from service.games.reminders import JudgedTime, OutageAllowance
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decision


class Claim(NamedTuple):
    """The claim of the seat ``by``, with this token, that ``seat`` be played by a computer player, at this time.

    ``allowance`` is that of the deadlines of the game.
    """

    seat: int
    by: int
    token_hash: bytes | None
    at: int
    allowance: OutageAllowance


def claim_seat(
    context: CommandContext,
    judged: Callable[[str], JudgedTime],
    access: Access,
    seat: int,
    *,
    key: IdempotencyKey | None = None,
) -> CommandResult[GameView]:
    """Have ``seat``, whose time is over, played by a computer player; the game as the claimant sees it.

    Raises ``NotDue`` before the deadline, while nobody can be late because the service was away, and where nothing
    can be claimed; ``NotStarted``, ``GameOver``, ``NotInMatch``, ``KeyReused``, ``InvalidSetup`` for a seat that
    does not exist or is the claimant's own, ``Unauthorized`` as ``make_move``.
    """
    game, by, from_store = access[:3]
    if by is None:
        raise unauthorized()
    if seat >= len(game.seats) or seat == by:
        raise InvalidSetup({"seat": [Reason("another_seat", {"max": len(game.seats) - 1})]})
    record = None if key is None else context.idempotency.record(key, "claim", str(by))
    claim = Claim(seat, by, game.seats[by].token_hash, context.runtime.clock(), judged(game.id).allowance)
    try:
        committed = context.repository.transact(game, partial(decide_claim, claim), record, from_store=from_store)
    except NotFound:
        raise unauthorized() from None
    return CommandResult(view_game(committed.after, by, context.repository.lifetimes), committed.replayed)


def decide_claim(claim: Claim, game: Game) -> Decision:
    """Have the seat played by a computer player. Raises as ``claim_seat``."""
    seat = claim.seat
    check_running(game, claim.by, claim.token_hash)
    deadline = game.held_deadline(claim.allowance)
    if game.clock is None or game.clock.absence != "claim" or seat != game.state.turn or deadline is None:
        raise NotDue("nothing_to_claim", seat=seat)
    if claim.at < deadline + GRACE_MS:
        raise NotDue("deadline_not_passed", seat=seat, deadline=format_rfc3339(deadline))
    return game, [Claimed(seat, claim.by)]
