"""The command that creates a game.

Owns how a request that is repeated gets the same game and tokens.
"""

from __future__ import annotations

from functools import lru_cache, partial

from service.games.commands.context import CommandContext
from service.games.commands.creation import Secrets, deal_if_full, new_game
from service.games.commands.validation import GameRequest, check_request
from service.games.model.errors import TooManyGamesOfBots
from service.games.model.forks import as_arranged, load_fork
from service.games.model.game import OWNER, Game
from service.games.model.game_events import Created
from service.games.model.results import CommandResult, CreatedGame, SeatToken
from service.games.model.tokens import new_game_id
from service.games.model.views import view_game
from service.games.shares import Holder
from service.games.store.idempotency import Idempotency, IdempotencyKey


def create_game(
    context: CommandContext, request: GameRequest, key: IdempotencyKey | None = None
) -> CommandResult[CreatedGame]:
    """Create a game, and deal its first round if no seat is open. An idempotency key belongs to the application.

    Raises ``InvalidSetup`` if the request cannot be played, ``ShareUsedUp``, ``TooManyGamesOfBots``, ``KeyReused``.
    """
    fork = None
    if request.source is not None:
        fork = load_fork(request.source, len(request.seats), context.runtime.yield_control)
        request = request._replace(variant=fork.variant, options=fork.options)
    rules = check_request(request, context.runtime.yield_control)
    network = "" if request.app is not None else network_digest(context.idempotency, request.network)
    request = request._replace(network=network)
    now = context.runtime.clock()  # before the reservation, so that it uses up the retry budget
    game_id = new_game_id(context.runtime.random_bytes)
    record, token_bytes = None, context.runtime.random_bytes
    if key is not None:
        record = context.idempotency.record(key, "create", *([request.app] if request.app else []), derives_tokens=True)
        game_id = context.repository.reserve(record.name, game_id, _holder_of(request))
        token_bytes = context.idempotency.derive_bytes("create", game_id)
    draft = partial(new_game, request, rules.start() if fork is None else fork.position.state, game_id=game_id, now=now)
    new = draft(Secrets(token_bytes, context.runtime.random_bytes))
    forked = [] if fork is None else as_arranged(fork.position.events)
    game, events = deal_if_full(new.game, [Created(new.game.deck.commitment(1)), *forked])
    try:
        context.bots_alone.admit(game)
    except TooManyGamesOfBots:
        if record is None or context.repository.find_write(game_id, record.name) is None:
            raise
    committed = context.repository.create(game, events, record)
    if (prior := committed.prior) is not None:
        prior_bytes = context.idempotency.derive_bytes("create", game_id, prior=prior)
        new = draft(Secrets(prior_bytes, context.runtime.random_bytes))
        new = new._replace(tokens=_still_given(new.tokens, committed.after))
    view = view_game(committed.after, None if request.app is None else OWNER, context.repository.lifetimes)
    if request.app is not None:
        view = view._replace(join_code=new.join_code)  # that of the first answer, also where this one repeats it
    return CommandResult(CreatedGame(view, new.tokens, new.join_code), committed.replayed)


def _holder_of(request: GameRequest) -> Holder:
    """Whose share the requested game will count in; its network is the stored one."""
    return Holder(request.network or request.app or "", is_app=not request.network)


@lru_cache(maxsize=1024)  # of networks that create games again and again
def network_digest(idempotency: Idempotency, network: str) -> str:
    """Return 72 bits for the network of an address, which tell nothing of it without the secret."""
    return idempotency.derive_bytes("network", network)(9).hex()


def _still_given(tokens: tuple[SeatToken, ...], game: Game) -> tuple[SeatToken, ...]:
    """Return the tokens of a repeated creation, with the players' present names, but nothing of who was erased."""
    return tuple(
        [
            each._replace(name=game.seats[each.seat].name or "")
            for each in tokens
            if each.seat not in game.seats.erased()
        ]
    )
