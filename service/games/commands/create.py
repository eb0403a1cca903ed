"""The command that creates a game.

Owns how a request becomes a game, and how a repeated request gets the same game and tokens. Does not depend on rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import NamedTuple

from service.engine.deal import Deck, seed_from_text
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.variants import variants
from service.games.commands.context import CommandContext
from service.games.commands.validation import GameRequest, check_request
from service.games.model.clock import start_clock
from service.games.model.errors import TooManyGamesOfBots
from service.games.model.forks import load_fork
from service.games.model.game import OWNER, Game, Ownership
from service.games.model.game_events import Created, GameEvent
from service.games.model.seats import BOT, HUMAN, Room, Seat, Seats, bot_name
from service.games.model.tokens import JOIN_CODE_ATTEMPTS, hash_secret, new_game_id, new_join_code, new_token
from service.games.model.views import CommandResult, CreatedGame, SeatToken, view_game
from service.games.model.waiting import deal_if_full
from service.games.ports import IdempotencyRecord, JoinCodeTaken, RandomBytes
from service.games.store.idempotency import Idempotency, IdempotencyKey
from service.games.store.transactions import Committed
from service.limits.stored_bytes import Tenant
from service.redis.errors import StorageUnavailable
from service.redis.shards import shard_of


class NewGame(NamedTuple):
    """A game without events, the tokens of its seats, and the join code if a seat is open."""

    game: Game
    tokens: tuple[SeatToken, ...]
    join_code: str | None


def new_game(
    request: GameRequest,
    rules: Rules,
    state: State,
    token_bytes: RandomBytes,
    *,
    seed_bytes: RandomBytes,
    game_id: str,
    now: int,
    skipped: int = 0,
) -> NewGame:
    """Return the requested game with this ``state`` of its match. ``now`` is in milliseconds since 1970.

    ``request.network`` must already be the digest (``network_digest``).
    ``token_bytes``: for tokens and the join code; ``seed_bytes``: for the seed of the deals.
    ``skipped``: how many join codes to skip because other games have them.
    """
    seats, tokens = _seats(request, token_bytes)
    codes = [new_join_code(token_bytes, shard_of(game_id) or 0) for _ in range(skipped + 1) if seats.are_open]
    join_code = codes[-1] if codes else None
    deck = Deck(seed_bytes(32) if request.seed is None else seed_from_text(request.seed), request.deals)
    if not request.arranged:
        deck = deck._replace(game=game_id, client_seeds=tuple([player.client_seed or "" for player in request.seats]))
    variant = variants()[request.variant]
    game = Game(
        id=game_id,
        variant=variant,
        options=request.options,
        rules=rules,
        seats=seats,
        join_hash=None if join_code is None else hash_secret(join_code),
        arranged=deck.game is None,
        deck=deck,
        version=0,
        created_at=now,
        updated_at=now,
        round_ends=(),
        state=state,
        edition=variant.edition,
        unique_names=request.unique_names,
        spectators=request.spectators,
        auto=request.auto,
        pace=request.pace,
        clock=request.clock,
        running_clock=start_clock(request.clock, len(request.seats)),
        ownership=None if request.app is None else Ownership(request.app, request.ref, join_code, request.lobby),
        network=request.network,
        room=None if request.fill is None else Room(request.fill),
    )
    return NewGame(game._replace(is_automatic=game.is_set_up_automatic), tokens, join_code)


def _seats(request: GameRequest, token_bytes: RandomBytes) -> tuple[Seats, tuple[SeatToken, ...]]:
    """Return the requested seats, with names for computer players, and the tokens of people."""
    names = [player.name for player in request.seats]
    seats, tokens = list[Seat](), list[SeatToken]()
    for seat, player in enumerate(request.seats):
        token_hash = None
        if player.kind == HUMAN and player.name is not None:
            tokens.append(SeatToken(seat, player.name, new_token(token_bytes)))
            token_hash = hash_secret(tokens[-1].token)
        elif player.kind == BOT:
            names[seat] = bot_name(names)
        seats.append(Seat(player.kind, names[seat], token_hash, player.level, player.ref))
    return Seats(seats), tuple(tokens)


def create_game(
    context: CommandContext, request: GameRequest, key: IdempotencyKey | None = None
) -> CommandResult[CreatedGame]:
    """Create a game, and deal its first round if no seat is open. Two applications can use the same ``key``.

    A repeated request gets the same join code, even if that has been replaced. Raises ``InvalidSetup``,
    ``ShareUsedUp``, ``TooManyGamesOfBots``, ``KeyReused``.
    """
    fork = None
    if request.source is not None:
        continued, fork = load_fork(request.source, len(request.seats), context.runtime.yield_control)
        request = request._replace(variant=continued.variant, options=dict(continued.options))
    rules = check_request(request, context.runtime.yield_control)
    network = "" if request.app is not None else network_digest(context.idempotency, request.network)
    request = request._replace(network=network)
    now = context.runtime.clock()  # before the reservation, which then counts in the retry budget
    random_bytes = context.runtime.random_bytes
    game_id = new_game_id(random_bytes)
    record = derived = None
    if key is not None:
        record = context.idempotency.record(key, "create", *([request.app] if request.app else []), derives_tokens=True)
        game_id = context.repository.transactions.reserve(record.name, game_id, tenant_of(request))
        derived = partial(context.idempotency.derive_bytes, "create", game_id)
    start = rules.start()
    state, forked = (start, ()) if fork is None else (fork.state, fork.events)
    draft = partial(new_game, request, rules, state, seed_bytes=random_bytes, game_id=game_id, now=now)
    attempts = range(JOIN_CODE_ATTEMPTS)
    drafts = (draft(random_bytes if derived is None else derived(), skipped=skipped) for skipped in attempts)
    new, committed = _store(context, drafts, record, start=start, forked=forked)
    if (prior := committed.prior) is not None:
        first_bytes = partial(context.idempotency.derive_bytes, "create", game_id, prior=prior.fingerprint)
        again = [draft(first_bytes(), skipped=skipped) for skipped in attempts]
        new = next((created for created in again if created.game.join_hash == committed.after.join_hash), again[0])
        new = new._replace(tokens=_current_tokens(new.tokens, committed.after))
    view = view_game(committed.after, None if request.app is None else OWNER, context.repository.lifetimes)
    if request.app is not None:
        view = view._replace(join_code=new.join_code)  # a repeated response has the code of the first one
    return CommandResult(CreatedGame(view, new.tokens, new.join_code), committed.replayed)


def _store(
    context: CommandContext,
    drafts: Iterable[NewGame],
    record: IdempotencyRecord | None,
    *,
    start: State,
    forked: Sequence[GameEvent],
) -> tuple[NewGame, Committed]:
    """Store the first draft whose join code no other game has; ``start``: the state before the ``forked`` events."""
    transactions = context.repository.transactions
    for new in drafts:
        game, events = deal_if_full(new.game, [Created(new.game.deck.commitment(1)), *forked])
        try:
            context.bots_alone.admit(game)
        except TooManyGamesOfBots:
            if record is None or context.repository.store.find_write(game.id, record.name) is None:
                raise
        with suppress(JoinCodeTaken):
            return new, transactions.create(game, start, events, record)
    raise StorageUnavailable("join_codes")


def tenant_of(request: GameRequest) -> Tenant:
    """Return the tenant whose share the requested game counts in; its network must already be the digest."""
    return Tenant(request.network or request.app or "", is_app=not request.network)


@lru_cache(maxsize=1024)  # the same networks create games repeatedly
def network_digest(idempotency: Idempotency, network: str) -> str:
    """Return 72 bits for the network of an address, which reveal nothing about it without the secret."""
    return idempotency.derive_bytes("network", network)(9).hex()


def _current_tokens(tokens: tuple[SeatToken, ...], game: Game) -> tuple[SeatToken, ...]:
    """Return the tokens of a repeated creation with the current names, without those of erased players."""
    players = [(token, game.seats[token.seat]) for token in tokens]
    return tuple([token._replace(name=player.name or "") for token, player in players if player.token_hash is not None])
