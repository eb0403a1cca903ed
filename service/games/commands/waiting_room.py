"""The commands of a waiting game: free a seat, give a seat to a computer player, begin without the open seats."""

from __future__ import annotations

from functools import partial

from service.games.access import Access, check_seat, seat_of_hash
from service.games.commands.context import CommandContext, Unchanged
from service.games.model.errors import SeatsTaken
from service.games.model.game import OWNER, Game, Viewer
from service.games.model.seats import BOT, OPEN_SEAT
from service.games.model.views import CommandResult, GameView, view_game
from service.games.model.waiting import begin_match, check_waiting, fill_seats, free_seats
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decision


def free_seat(context: CommandContext, access: Access, seat: int) -> None:
    """Open a seat of a waiting game again, and revoke its token. Changes nothing if the seat is open.

    Raises ``SeatsTaken`` once the match has begun, ``NotFound`` if the game has expired, ``Unauthorized`` for a token
    that was revoked after the request was authenticated.
    """
    context.change(access.game, partial(_decide_free, access, seat))


def fill_seat(context: CommandContext, access: Access, seat: int, level: str) -> GameView:
    """Give an open seat of a waiting game to a computer player; if it was the last one, deal the first round.

    Changes nothing if a computer player of this level already has the seat. Raises as ``free_seat``; also
    ``SeatsTaken`` if another player has the seat, and ``TooManyGamesOfBots``.
    """
    game = context.change(access.game, partial(_decide_fill, context, access, (seat, level)))
    return view_game(game, _check_viewer(access, game), context.repository.lifetimes)


def start_game(context: CommandContext, access: Access, key: IdempotencyKey | None = None) -> CommandResult[GameView]:
    """Begin the match of a waiting game without its open seats, which can change the numbers of the others.

    Raises as ``free_seat``, ``InvalidSetup`` if the players who are there cannot play, ``TooManyGamesOfBots``,
    ``KeyReused``.
    """
    # The scope is the token, not the seat, because the seat can have another number when the request is repeated.
    scope = OWNER if access.seat is None else str(access.game.seats[access.seat].token_hash)
    record = context.record(key, "start", scope)
    committed = context.repository.transactions.transact(access.game, partial(_decide_start, context, access), record)
    view = view_game(committed.after, _check_viewer(access, committed.after), context.repository.lifetimes)
    return CommandResult(view, committed.replayed)


def _decide_free(access: Access, seat: int, game: Game) -> Decision:
    _check_viewer(access, game)
    check_waiting(game)
    check_seat(game, seat)
    if game.seats[seat].kind == OPEN_SEAT:
        raise Unchanged(game)
    return free_seats(game, [seat])


def _decide_fill(context: CommandContext, access: Access, filling: tuple[int, str], game: Game) -> Decision:
    seat, level = filling
    _check_viewer(access, game)
    check_seat(game, seat)
    if (game.seats[seat].kind, game.seats[seat].level) == (BOT, level):
        raise Unchanged(game)
    check_waiting(game)
    if game.seats[seat].kind != OPEN_SEAT:
        raise SeatsTaken("seat_taken", seat=seat)
    return _admitted(context, fill_seats(game, [seat], level))


def _decide_start(context: CommandContext, access: Access, game: Game) -> Decision:
    _check_viewer(access, game)
    check_waiting(game)
    return _admitted(context, begin_match(game))


def _admitted(context: CommandContext, decision: Decision) -> Decision:
    """Return the decision; if the match begins with it, count the game. Raises ``TooManyGamesOfBots``."""
    game, _ = decision
    if not game.seats.are_open:
        context.bots_alone.admit(game)
    return decision


def _check_viewer(access: Access, game: Game) -> Viewer:
    """Return the viewer that the bearer is in the current game. Raises ``Unauthorized`` for a revoked token."""
    if access.app is not None:
        return OWNER
    return seat_of_hash(None if access.seat is None else access.game.seats[access.seat].token_hash, game)
