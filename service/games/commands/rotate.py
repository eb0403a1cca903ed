"""The command by which a player changes the token of a seat.

Owns what happens to a request that is repeated with the old token.
"""

from __future__ import annotations

from functools import partial

from service.games.access import TokenRotation, rotation_scope
from service.games.commands.context import CommandContext
from service.games.model.errors import unauthorized
from service.games.model.game import Game
from service.games.model.game_events import TokenChanged
from service.games.model.results import CommandResult, SeatToken
from service.games.model.tokens import hash_secret, new_token
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decision


def rotate_token(
    context: CommandContext, rotation: TokenRotation, key: IdempotencyKey | None = None
) -> CommandResult[SeatToken]:
    """Give the bearer's seat a new token and revoke the old one.

    Raises ``Unauthorized`` if the token was changed since its access, ``KeyReused``, ``NotFound`` when the game has
    expired.
    """
    game_id, seat, old_token, game = rotation.game_id, rotation.seat, rotation.token, rotation.game
    record = None
    if key is not None:
        record = context.idempotency.record(key, *rotation_scope(old_token, seat), derives_tokens=True)
    token_of = partial(context.new_secret(new_token, key), "token", game_id, old_token, str(seat))

    if rotation.prior is not None:
        committed = context.repository.replay(game_id, rotation.prior, record)
    else:
        assert game is not None
        decide = partial(_decide_rotation, seat, game.seats[seat].token_hash, token_of())
        committed = context.repository.transact(game, decide, record)
    if committed.after.seats[seat].token_hash is None:
        raise unauthorized()  # the player was erased after the request that is repeated
    token = SeatToken(seat, committed.after.seats[seat].name or "", token_of(prior=committed.prior))
    return CommandResult(token, committed.replayed)


def _decide_rotation(seat: int, old_hash: bytes | None, token: str, game: Game) -> Decision:
    if game.seats[seat].token_hash != old_hash:
        raise unauthorized()  # another request changed it first
    return game.with_seat(seat, game.seats[seat]._replace(token_hash=hash_secret(token))), [TokenChanged(seat)]
