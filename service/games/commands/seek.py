"""The command that finds a seat for a stranger: at a waiting table as requested, or at a new one.

Owns how a request gets exactly one seat. A list of tables proposes where to try (``service.games.tables``), the same
table for a repeated request, and the game itself decides. Before a request tries another table, it fences the previous
one: that game accepts no more writes for this request. Does not depend on how tables are listed.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from service.engine.errors import InvalidSetup
from service.engine.variant import Rules
from service.games.commands.context import CommandContext, NewSecret
from service.games.commands.create import network_digest, new_game, tenant_of
from service.games.commands.join import joined_seat
from service.games.commands.validation import NEEDS_KEY, GameRequest, check_request
from service.games.model.errors import Gone, NotFound, SeatsTaken
from service.games.model.game import Game
from service.games.model.game_events import Created, Joined
from service.games.model.seats import HUMAN, Room, Seat
from service.games.model.seeking import EVERYBODY, form_of, listings_of, table_of
from service.games.model.tokens import hash_secret, new_game_id, new_token, new_write_id
from service.games.model.views import CommandResult, FoundSeat
from service.games.model.waiting import deal_if_full
from service.games.ports import IDEMPOTENCY_TTL, GameExists, IdempotencyRecord
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Committed, Decision
from service.games.tables import HOLD_MS, ListedTable, Listing, Place, Seeker
from service.redis.errors import StorageUnavailable

MAX_TABLES: Final = 8
"""The maximum number of tables that one request tries."""
_PURPOSE: Final = "seek"
_NEVER_AGAIN: Final = 2**31
"""A version later than any real one, for the entry of a table that no longer exists."""


class SeekCommand(NamedTuple):
    """A request for a seat, under this name, at a table like the requested game, in which all seats are open."""

    request: GameRequest
    name: str
    ref: str | None = None
    key: IdempotencyKey | None = None


class _Search(NamedTuple):
    """What a request uses at every table that it tries; ``now`` is when it began, in milliseconds since 1970."""

    command: SeekCommand
    rules: Rules
    listing: Listing
    record: IdempotencyRecord | None
    secret: NewSecret
    now: int


def seek(context: CommandContext, command: SeekCommand) -> CommandResult[FoundSeat]:
    """Take a seat at a table as requested; return the seat with its token.

    Different applications can use the same idempotency key. Raises ``InvalidSetup`` for a game that cannot be played,
    ``NotFound`` for a repeated request whose player has left, ``ShareUsedUp``, ``TooManyGamesOfBots``, ``KeyReused``,
    ``SecretChanged``.
    """
    search, seeker = _begin(context, command)
    record, leaving = search.record, ""
    for _ in range(MAX_TABLES):
        game_id = new_game_id(context.runtime.random_bytes)
        new = ListedTable(game_id, 0, (False,) * len(command.request.seats), search.now)
        place = context.repository.store.tables.claim(search.listing, seeker, new, leaving=leaving)
        committed = None
        if place.offered:
            try:
                committed = _sit(context, search, place)
            except (SeatsTaken, NotFound, Gone):
                _unlist(context, search, place)
        if committed is not None:
            return _found(context, search, committed)
        prior = None if record is None else context.repository.transactions.fence(place.game, record)
        if prior is not None:
            return _found(context, search, context.repository.transactions.replay(place.game, prior, record))
        leaving = place.game
    raise StorageUnavailable("contention")


def _begin(context: CommandContext, command: SeekCommand) -> tuple[_Search, Seeker]:
    """Check the request; return its parts and the seeker. Raises ``InvalidSetup``, ``ShareUsedUp``."""
    request, key, runtime = command.request, command.key, context.runtime
    if command.ref is not None and request.app is None:
        raise InvalidSetup({"ref": [NEEDS_KEY]})
    network = network_digest(context.idempotency, request.network) if request.app is None else ""
    request = request._replace(network=network)
    rules = check_request(request, runtime.yield_control)
    owner = EVERYBODY if request.app is None else request.app
    form = form_of(request.variant, rules.settings, len(request.seats), clock=request.clock, fill=request.fill)
    record, seeker = None, Seeker(new_write_id(runtime.random_bytes).decode(), HOLD_MS)
    if key is not None:
        record = context.idempotency.record(key, _PURPOSE, owner, derives_tokens=True)
        context.repository.transactions.admission.reserve(tenant_of(request))
        seeker = Seeker(record.name, IDEMPOTENCY_TTL * 1000)
    command, listing = command._replace(request=request), Listing(owner, form)
    return _Search(command, rules, listing, record, context.new_secret(new_token, key), runtime.clock()), seeker


def _sit(context: CommandContext, search: _Search, place: Place) -> Committed:
    """Take the proposed seat, or another one of that table; create the table if it does not exist yet.

    Raises ``SeatsTaken`` if the table has no open seat or is not as requested, ``NotFound`` and ``Gone``.
    """
    transactions, reader = context.repository.transactions, context.repository.reader
    game = reader.load(place.game)
    if game is None:
        opened, joined = _open(context, search, place)
        context.bots_alone.admit(opened)
        try:
            created = Created(opened.deck.commitment(1))
            return transactions.create(opened, opened.state, [created, joined], search.record)
        except GameExists:
            game = reader.reload(place.game)
    return transactions.transact(game, partial(_decide_seat, search, place), search.record)


def _open(context: CommandContext, search: _Search, place: Place) -> tuple[Game, Joined]:
    """Return a new table with the seeker on the proposed seat."""
    request, rules, random_bytes = search.command.request, search.rules, context.runtime.random_bytes
    game = new_game(
        request, rules, rules.start(), random_bytes, seed_bytes=random_bytes, game_id=place.game, now=search.now
    ).game
    ownership = None if game.ownership is None else game.ownership._replace(join_code=None)
    room = (game.room or Room())._replace(by_seek=True)
    return _seated(search, game._replace(room=room, join_hash=None, ownership=ownership), place.seat)


def _decide_seat(search: _Search, place: Place, game: Game) -> Decision:
    if not game.seats.are_open or search.listing not in listings_of(game):
        raise SeatsTaken("seats_taken")
    free = game.seats.open()
    game, joined = _seated(search, game, place.seat if place.seat in free else free[0])
    return deal_if_full(game, [joined])


def _seated(search: _Search, game: Game, seat: int) -> tuple[Game, Joined]:
    name, room = search.command.name, game.room or Room()
    token = search.secret(_PURPOSE, game.id, str(seat))
    game = game.with_seat(seat, Seat(HUMAN, name, hash_secret(token), ref=search.command.ref))
    return game._replace(room=room._replace(sought=(*room.sought, (seat, search.now)))), Joined(seat, name)


def _found(context: CommandContext, search: _Search, committed: Committed) -> CommandResult[FoundSeat]:
    """Return the seat that this write took. Raises ``NotFound`` if its player has left since."""
    game = committed.after

    def token_of(seat: int) -> str:
        return search.secret(_PURPOSE, game.id, str(seat), prior=committed.prior)

    joined = joined_seat(context.repository, committed, token_of)
    opened = game.room is not None and game.room.by_seek and game.version == _EVENTS_OF_OPENING
    return CommandResult(FoundSeat(joined, opened), committed.replayed)


_EVENTS_OF_OPENING: Final = 2
"""The version of a new table, whose events are ``Created`` and ``Joined``."""


def _unlist(context: CommandContext, search: _Search, place: Place) -> None:
    """Update the entry of a table that had no seat, so that the list does not propose it again."""
    table = ListedTable(place.game, _NEVER_AGAIN, (True,) * len(search.command.request.seats), search.now)
    with suppress(Gone):
        game = context.repository.reader.load(place.game)
        if game is not None and search.listing in listings_of(game):
            table = table_of(game)
    context.repository.store.tables.put(search.listing, table)
