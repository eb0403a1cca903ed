"""The commands of players about their seats: take an open one, change its token."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from service.engine.errors import InvalidSetup, Reason
from service.games.access import Access, TokenRotation, join_scope, rotation_scope
from service.games.commands.context import CommandContext
from service.games.commands.validation import NAME_TAKEN, NEEDS_KEY, check_client_seed
from service.games.model.errors import Forbidden, NotFound, unauthorized
from service.games.model.game import Game
from service.games.model.game_events import Joined, TokenChanged
from service.games.model.seats import HUMAN, Seat, is_taken
from service.games.model.tokens import hash_secret, is_join_code, new_token
from service.games.model.views import CommandResult, JoinedSeat, SeatToken, view_game
from service.games.model.waiting import check_waiting, deal_if_full
from service.games.ports import PriorWrite
from service.games.store.idempotency import IdempotencyKey
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed, Decision


class JoinCommand(NamedTuple):
    """A request for the first open seat, with a join code and the name of the player.

    The application that owns the game needs no code. Only it can send a ``ref``, its own name for the player.
    """

    join_code: str | None
    name: str
    client_seed: str | None = None
    key: IdempotencyKey | None = None
    ref: str | None = None


def join(context: CommandContext, access: Access, command: JoinCommand) -> CommandResult[JoinedSeat]:
    """Take the first open seat; if it was the last one, deal the first round.

    Different viewers can use the same idempotency key. Raises ``Forbidden`` for a wrong code; ``InvalidSetup`` for
    fields that only the owner can send, a client seed in a game with fixed deals, a taken name in a game with unique
    names; ``NotFound`` if the game has expired, and for a repeated request whose player was erased; ``SeatsTaken``,
    ``KeyReused``.
    """
    game, key = access.game, command.key
    if access.app is None:
        _check_not_as_owner(command)
    if key is None and command.join_code is not None:
        check_join_code(game, command.join_code)  # with a key, a repeated request may have an old code
    if command.client_seed is not None:
        check_client_seed(game)
    record = context.record(key, *join_scope(access.viewer), derives_tokens=True)
    token = context.new_secret(new_token, key)

    def token_of(seat: int, prior: PriorWrite | None = None) -> str:
        # The seat is in the purpose, because after 24 hours the same key can be used to take another seat.
        return token("join", game.id, str(seat), prior=prior)

    committed = context.repository.transactions.transact(game, partial(_decide_join, command, token_of), record)
    joined = joined_seat(context.repository, committed, partial(token_of, prior=committed.prior))
    return CommandResult(joined, committed.replayed)


def joined_seat(repository: GameRepository, committed: Committed, token_of: Callable[[int], str]) -> JoinedSeat:
    """Return the seat that a write took, with its token, and the game as its player sees it.

    Raises ``NotFound`` if the player of a repeated request was erased or has left.
    """
    game, events = committed.after, committed.events
    if committed.replayed:  # after the ``Joined`` event come the deal and absences, if a match began
        first = max(game.version - 1 - len(game.seats), 1)
        events = repository.histories.events(game, range(first, game.version + 1))
    seat = [event.seat for event in events if isinstance(event, Joined)][-1]
    player = game.seats[seat]
    if player.token_hash is None:
        raise NotFound("no_player", seat=seat)
    token = SeatToken(seat, player.name or "", token_of(seat))  # the player may have been renamed
    return JoinedSeat(token, view_game(game, seat, repository.lifetimes))


def check_join_code(game: Game, join_code: str) -> None:
    """Raise ``Forbidden`` unless this is the join code of the game."""
    if not is_join_code(join_code, game.join_hash):
        raise Forbidden("wrong_join_code")


def _check_not_as_owner(command: JoinCommand) -> None:
    """Raise ``InvalidSetup`` for a join that only the application that owns the game can send."""
    errors = {}
    if command.join_code is None:
        errors["join_code"] = [Reason("required")]
    if command.ref is not None:
        errors["ref"] = [NEEDS_KEY]
    if errors:
        raise InvalidSetup(errors)


def _decide_join(command: JoinCommand, token_of: Callable[[int], str], game: Game) -> Decision:
    if command.join_code is not None:  # only the owner can omit it
        check_join_code(game, command.join_code)
    check_waiting(game)
    seat = game.seats.open()[0]
    if game.unique_names and is_taken(command.name, [player.name for player in game.seats]):
        raise InvalidSetup({"name": [NAME_TAKEN]})
    ref = game.seats[seat].ref if command.ref is None else command.ref
    game = game.with_seat(seat, Seat(HUMAN, command.name, hash_secret(token_of(seat)), ref=ref))
    if command.client_seed is not None:
        game = game._replace(deck=game.deck.with_client_seed(seat, command.client_seed))
    return deal_if_full(game, [Joined(seat, command.name)])


# The command by which a player changes the token of a seat.


def rotate_token(
    context: CommandContext, rotation: TokenRotation, key: IdempotencyKey | None = None
) -> CommandResult[SeatToken]:
    """Give the seat of the bearer a new token and revoke the old one.

    Raises ``Unauthorized`` if the token has changed meanwhile, ``KeyReused``, ``NotFound`` if the game has expired.
    """
    game_id, seat, old_token, game = rotation.game_id, rotation.seat, rotation.token, rotation.game
    record = context.record(key, *rotation_scope(old_token, seat), derives_tokens=True)
    token_of = partial(context.new_secret(new_token, key), "token", game_id, old_token, str(seat))

    if rotation.prior is not None:
        committed = context.repository.transactions.replay(game_id, rotation.prior, record)
    else:
        assert game is not None
        decide = partial(_decide_rotation, seat, game.seats[seat].token_hash, token_of())
        committed = context.repository.transactions.transact(game, decide, record)
    if committed.after.seats[seat].token_hash is None:
        raise unauthorized()  # the player was erased after the first request
    token = SeatToken(seat, committed.after.seats[seat].name or "", token_of(prior=committed.prior))
    return CommandResult(token, committed.replayed)


def _decide_rotation(seat: int, old_hash: bytes | None, token: str, game: Game) -> Decision:
    if seat >= len(game.seats) or game.seats[seat].token_hash != old_hash:
        raise unauthorized()  # another request changed it first
    return game.with_seat(seat, game.seats[seat]._replace(token_hash=hash_secret(token))), [TokenChanged(seat)]
