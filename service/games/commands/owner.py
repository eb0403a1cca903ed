"""The commands of the application that owns a game: change names, refs, tokens and the join code; delete the game.

Each requires the ``Access`` of the owner, and raises ``NotFound`` if the game has expired.
``service.games.commands.presence`` has the commands to make players leave or come back.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TypedDict

from service.engine.errors import InvalidSetup, Reason
from service.games.access import Access, check_seat
from service.games.commands.context import CommandContext, Unchanged
from service.games.commands.validation import NAME_TAKEN
from service.games.model.errors import NotFound, unauthorized
from service.games.model.game import OWNER, Game
from service.games.model.game_events import JoinCodeChanged, Renamed, TokenChanged
from service.games.model.seats import HUMAN, OPEN_SEAT, is_taken
from service.games.model.tokens import JOIN_CODE_ATTEMPTS, hash_secret, is_join_code, new_join_code, new_token
from service.games.model.views import CommandResult, GameView, SeatToken, view_game
from service.games.model.waiting import check_waiting
from service.games.ports import JoinCodeTaken
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decision
from service.redis.errors import StorageUnavailable
from service.redis.shards import shard_of


class PlayerChange(TypedDict, total=False):
    """A change of the name and the ref of a player; a missing field does not change."""

    name: str
    ref: str | None


def rename(context: CommandContext, access: Access, seat: int, change: PlayerChange) -> GameView:
    """Change the name or the ref of the player of a seat; return the game as its owner sees it.

    Raises ``InvalidSetup`` for the name of an open seat, and for a taken name in a game with unique names.
    """
    game = context.change(access.game, partial(_decide_rename, seat, change))
    return view_game(game, access.viewer, context.repository.lifetimes)


def change_token(
    context: CommandContext, access: Access, seat: int, key: IdempotencyKey | None = None
) -> CommandResult[SeatToken]:
    """Give a seat a new token and revoke the old one, which the caller need not have.

    Raises ``NotFound`` for a seat without a person, and for a repeated request if the player was erased since the first
    one; ``KeyReused``, ``SecretChanged``.
    """
    record = context.record(key, "token", OWNER, str(seat), derives_tokens=True)
    token = partial(context.new_secret(new_token, key), "token", access.game.id, OWNER, str(seat))
    committed = context.repository.transactions.transact(access.game, partial(_decide_token, seat, token()), record)
    if committed.after.seats[seat].token_hash is None:
        raise NotFound("no_player", seat=seat)
    name = committed.after.seats[seat].name or ""
    return CommandResult(SeatToken(seat, name, token(prior=committed.prior)), committed.replayed)


def change_join_code(context: CommandContext, access: Access, key: IdempotencyKey | None = None) -> CommandResult[str]:
    """Give a game with open seats a new join code and revoke the old one.

    Raises ``SeatsTaken`` if no seat is open, ``KeyReused``, ``SecretChanged``.
    """
    record = context.record(key, "join code", OWNER, derives_tokens=True)
    make = partial(new_join_code, shard=shard_of(access.game.id) or 0)
    codes = [
        partial(context.new_secret(make, key), "join code", access.game.id, str(attempt))
        for attempt in range(JOIN_CODE_ATTEMPTS)
    ]
    transact = context.repository.transactions.transact
    for code in codes:
        with suppress(JoinCodeTaken):
            committed = transact(access.game, partial(_decide_join_code, code()), record)
            # A repeated request does not know which code was stored, and returns the one that is valid now, if any.
            candidates = [derive(prior=committed.prior) for derive in codes] if committed.replayed else [code()]
            valid = [text for text in candidates if is_join_code(text, committed.after.join_hash)]
            return CommandResult([*valid, *candidates][0], committed.replayed)
    raise StorageUnavailable("join_codes")


def _decide_rename(seat: int, change: PlayerChange, game: Game) -> Decision:
    check_seat(game, seat)
    player, name = game.seats[seat], change.get("name")
    if name is not None and player.kind == OPEN_SEAT:
        raise InvalidSetup({"name": [Reason("name_of_open_seat")]})
    named = player._replace(**change)
    if named == player:
        raise Unchanged(game)
    if game.unique_names and is_taken(name, [other.name for at, other in enumerate(game.seats) if at != seat]):
        raise InvalidSetup({"name": [NAME_TAKEN]})
    return game.with_seat(seat, named), [Renamed(seat, None if named.name == player.name else named.name)]


def _decide_token(seat: int, token: str, game: Game) -> Decision:
    check_seat(game, seat)
    player = game.seats[seat]
    if player.kind != HUMAN:
        raise NotFound("no_player", seat=seat)
    return game.with_seat(seat, player._replace(token_hash=hash_secret(token))), [TokenChanged(seat)]


def _decide_join_code(code: str, game: Game) -> Decision:
    check_waiting(game)
    ownership = None if game.ownership is None else game.ownership._replace(join_code=code)
    return game._replace(join_hash=hash_secret(code), ownership=ownership), [JoinCodeChanged()]


# The command that deletes a game.


def delete_game(context: CommandContext, game: Game) -> None:
    """Delete a game of an application. Raises ``Unauthorized`` for another game, ``NotFound`` if it has expired."""
    if game.ownership is None:
        raise unauthorized()
    context.repository.transactions.delete(game.id, game.ownership.app, game.tenant)
