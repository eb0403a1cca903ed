"""The command that makes a move. ``service.engine.referee`` decides whether it is legal."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from service.engine.errors import Refusal
from service.engine.moves import Move
from service.engine.presence import ALL_PRESENT, Returned
from service.games.access import Access
from service.games.commands.context import CommandContext
from service.games.commands.validation import check_client_seed
from service.games.model.errors import MoveRefused, NotFound, NotStarted, StaleVersion, unauthorized
from service.games.model.following import advance_match
from service.games.model.game import Game
from service.games.model.views import CommandResult, GameView, legal_moves_for, view_game
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Decision


class Expected(NamedTuple):
    """The version of the game that a client expects, and the ETags that it accepts; ``None`` for any.

    An older version still matches if no event since then changed what can be played (``Game.is_current``).
    """

    version: int | None = None
    etags: frozenset[str] | None = None

    def matches(self, game: Game, seat: int) -> bool:
        """Return whether the game, as this seat sees it, is as expected. ``etags`` can also contain version numbers."""
        if self.version is not None and not game.is_current(self.version):
            return False
        return self.etags is None or any([game.is_current_tag(etag, seat) for etag in self.etags])


class MoveCommand(NamedTuple):
    """A request for a move. With a deal, ``client_seed`` replaces the client seed of the seat unless it is ``None``."""

    move: Move
    expected: Expected | None = None
    client_seed: str | None = None
    key: IdempotencyKey | None = None


def make_move(context: CommandContext, access: Access, command: MoveCommand) -> CommandResult[GameView]:
    """Make one move for the seat of the bearer; return the game just after the move, as this seat sees it.

    Raises ``MoveRefused``, whose cause is ``StaleVersion``, ``NotStarted`` or a refusal of the rules; ``InvalidSetup``
    for a client seed in a game with fixed deals; ``Unauthorized`` for a spectator, a token that was revoked after the
    request was authenticated, and if the game has expired; ``KeyReused``.
    """
    game, seat, from_store = access[:3]
    if seat is None:
        raise unauthorized()
    record = None if command.key is None else context.idempotency.record(command.key, "move", str(seat))
    token_hash = game.seats[seat].token_hash
    decide = partial(decide_move, seat, token_hash, command)
    try:
        committed = context.repository.transactions.transact(game, decide, record, from_store=from_store)
    except NotFound:
        raise unauthorized() from None  # as ``authenticate`` does for an expired game
    if committed.replayed and committed.after.seats[seat].token_hash != token_hash:
        raise unauthorized()  # the token was revoked after the cached game was loaded
    return CommandResult(view_game(committed.after, seat, context.repository.lifetimes), committed.replayed)


def decide_move(seat: int, token_hash: bytes | None, command: MoveCommand, game: Game) -> Decision:
    """Make a move for the player of a seat whose token has this hash.

    Raises ``MoveRefused`` and ``InvalidSetup`` as ``make_move``, ``Unauthorized`` if the token was revoked.
    """
    if game.seats[seat].token_hash != token_hash:
        raise unauthorized()
    client_seed, expected = command.client_seed, command.expected
    if client_seed is not None:
        check_client_seed(game)
    try:
        if expected is not None and not expected.matches(game, seat):
            raise StaleVersion("stale_version", version=game.version)
        if game.seats.are_open:
            raise NotStarted("seats_open")
        seeded = game if client_seed is None else game._replace(deck=game.deck.with_client_seed(seat, client_seed))
        after, events = advance_match(seeded, seat, command.move)
        if after.first_move is None:
            after = after._replace(first_move=game.version)
    except Refusal as refusal:
        raise MoveRefused(refusal, game.version, game.to_act, legal_moves_for(game, seat)) from refusal
    is_back = game.presence != ALL_PRESENT and not game.presence.plays(seat)
    return after, [Returned(seat), *events] if is_back else events
