"""A rematch: another game of the same players, created once by the first player who requests it.

Owns what the new game copies from the finished one, and how all players get the same new game and their tokens. First
the new game is created, then an event of the old game names it. Nothing is stored in between, because the id and the
tokens of the new game are derived from a secret of the server. If the service fails between the writes, the next
request completes them; if the old game is deleted between them, so is the new one. Does not depend on HTTP or Redis, or
on the rules of any game.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import NamedTuple

from service.engine.deal import Deck
from service.engine.presence import Left
from service.engine.variants import variants
from service.games.access import Access
from service.games.commands.context import CommandContext
from service.games.commands.erasure import NothingToErase, decide_to_erase
from service.games.model.clock import start_clock
from service.games.model.errors import Forbidden, Gone, NotFinished, NotFound, SecretChanged, Unauthorized, unauthorized
from service.games.model.game import Game, rules_for
from service.games.model.game_events import Created, GameEvent, Rematched
from service.games.model.seats import BOT, Seat, Seats
from service.games.model.tokens import hash_secret, new_game_id, new_token, short_digest
from service.games.model.views import CommandResult, JoinedSeat, SeatToken, view_game
from service.games.model.waiting import deal_if_full
from service.games.ports import GameExists, IdempotencyRecord, RandomBytes
from service.games.store.idempotency import IdempotencyKey, check_same_request
from service.games.store.transactions import Committed, Decide, Decision
from service.limits.stored_bytes import ShareUsedUp
from service.redis.errors import OutcomeUnknown, StorageUnavailable

_PURPOSE = "rematch"


class _Successor(NamedTuple):
    """The id of the new game, and the id of the secret from which its id and its tokens are derived."""

    id: str
    secret_id: bytes


class _AlreadyLinked(Exception):
    """The old game already names a new one."""


class Rematches:
    """The command that begins a rematch."""

    def __init__(self, context: CommandContext) -> None:
        self._repository, self._idempotency = context.repository, context.idempotency
        self._clock, self._random_bytes = context.runtime.clock, context.runtime.random_bytes
        self._bots_alone = context.bots_alone

    def begin(self, access: Access, key: IdempotencyKey | None = None) -> CommandResult[JoinedSeat]:
        """Create the rematch of a finished game, or find it; return the bearer's seat and token there, and the game.

        The request that begins the rematch, and its repetition with the same ``key``, return the game as it was dealt;
        all other requests return the current game. Raises ``NotFinished``; ``Unauthorized`` for a spectator, a revoked
        token, and if the old game has expired; ``NotFound`` if the new game has expired or was deleted; ``Forbidden``
        if the token of the new seat has been changed since; ``Gone``, ``KeyReused``, ``SecretChanged``,
        ``ShareUsedUp``, ``TooManyGamesOfBots``.
        """
        old, seat = access.game, access.seat
        if seat is None:
            raise unauthorized()
        token_hash = old.seats[seat].token_hash
        if not access.from_store:
            old = self._reload(old.id)
        _check(old, seat, token_hash)
        record = None if key is None else self._idempotency.record(key, _PURPOSE, str(seat))
        successor = self._successor(old)
        if old.rematch is None:
            self._create(old, successor)
        as_dealt, replayed, seats = True, False, old.seats
        try:
            committed = self._link(old, successor, partial(_decide_rematch, seat, token_hash, successor.id), record)
            old, replayed = committed.after, committed.replayed
        except _AlreadyLinked:
            as_dealt = replayed = record is not None and self._is_repeated(old.id, record)
            old = self._reload(old.id)
            successor = self._successor(old)
        self._erase_as(old, seats, successor.id)
        new = self._load(successor.id)
        if new is None:
            raise NotFound("rematch_expired")
        joined = self._joined(old, successor, new, seat)
        if as_dealt:
            dealt = self._repository.histories.at_version(new, min(_events_of_creation(old), new.version))
            joined = joined._replace(view=view_game(dealt, joined.seat.seat, self._repository.lifetimes))
        return CommandResult(joined, replayed)

    def _link(self, old: Game, successor: _Successor, decide: Decide, record: IdempotencyRecord | None) -> Committed:
        """Commit ``decide``, which links the old game to the new one.

        If the old game was deleted first, delete the new one, unless a player has already got it. If the bearer's token
        was revoked, erase from the new game the players who were erased from the old one meanwhile. Raises
        ``_AlreadyLinked``, ``Gone``, and ``Unauthorized``, also if the old game has expired.
        """
        unlinked = old.version

        def decide_on(game: Game) -> Decision:
            nonlocal unlinked
            decision = decide(game)
            unlinked = game.version
            return decision

        try:
            return self._repository.transactions.transact(old, decide_on, record)
        except NotFound:
            raise unauthorized() from None
        except Unauthorized:
            self._erase_as(self._reload(old.id), old.seats, successor.id)  # perhaps because the bearer was erased
            raise
        except Gone as gone:
            if gone.version == unlinked + 1:  # never linked: nobody has got the new game, which has the old names
                with suppress(NotFound, StorageUnavailable, OutcomeUnknown):
                    self._repository.transactions.delete(successor.id, gone.app, old.tenant)
            raise

    def _load(self, new: str) -> Game | None:
        """Return the new game; ``None`` if it does not exist or was deleted.

        ``Gone`` is not raised, because it would say that the old game was deleted.
        """
        try:
            return self._repository.reader.load(new)
        except Gone:
            return None

    def _reload(self, game_id: str) -> Game:
        try:
            return self._repository.reader.reload(game_id)
        except NotFound:
            raise unauthorized() from None  # as ``authenticate`` does for an expired game

    def _successor(self, old: Game) -> _Successor:
        """Return the id that the old game names, else that of a game created but not linked yet, else a new one.

        Raises ``SecretChanged`` if the id was derived from a secret that this process does not have.
        """
        derive = partial(self._idempotency.derive_bytes, _PURPOSE, old.id)
        ids = {secret_id: new_game_id(derive(secret_id=secret_id)) for secret_id in self._idempotency.secret_ids}
        game_id = old.rematch
        if game_id is None:
            current, *others = ids.values()
            # A request under an earlier secret may have created the new game without linking it.
            game_id = next((other for other in others if self._load(other) is not None), current)
            # The id is reserved, because workers can have different secrets while a new one is rolled out.
            game_id = self._repository.transactions.reserve(short_digest(_PURPOSE, old.id), game_id)
        secret_id = next((other for other, derived in ids.items() if derived == game_id), None)
        if secret_id is None:
            raise SecretChanged
        return _Successor(game_id, secret_id)

    def _token(self, old: Game, successor: _Successor, seat: int) -> str:
        """Return the token in the new game for the player of this seat in the old game."""
        return new_token(self._idempotency.derive_bytes(_PURPOSE, old.id, str(seat), secret_id=successor.secret_id))

    def _create(self, old: Game, successor: _Successor) -> None:
        """Create the new game, unless it already exists."""
        hashes = [
            None if player.token_hash is None else hash_secret(self._token(old, successor, seat))
            for seat, player in enumerate(old.seats)
        ]
        game, events = next_game(old, successor.id, hashes, now=self._clock(), random_bytes=self._random_bytes)
        self._bots_alone.admit(game)
        try:
            self._repository.transactions.create(game, game.rules.start(), events, None)
        except GameExists:
            pass
        except ShareUsedUp:
            if self._load(successor.id) is None:  # an earlier request may have created it
                raise

    def _erase_as(self, old: Game, seats: tuple[Seat, ...], new: str) -> None:
        """Erase from the new game the players who were erased from the old one after its ``seats`` were read.

        If only the ``ref`` was removed, the player still has the same token, and is not erased.
        """
        for before, after in zip(seats, old.seats, strict=True):
            revoked = before.token_hash != after.token_hash or before.kind == BOT
            if before.ref is not None and after.ref is None and revoked:
                with suppress(NothingToErase, NotFound, Gone):
                    game, decide = self._repository.reader.reload(new), partial(decide_to_erase, before.ref)
                    self._repository.transactions.transact(game, decide, limited=False)

    def _is_repeated(self, game_id: str, record: IdempotencyRecord) -> bool:
        """Return whether a request with the same idempotency record linked the games."""
        prior = self._repository.store.find_write(game_id, record.name)
        if prior is not None:
            check_same_request(prior.fingerprint, record)
        return prior is not None

    def _joined(self, old: Game, successor: _Successor, new: Game, seat: int) -> JoinedSeat:
        token, place = self._token(old, successor, seat), seat_after(seat, len(old.seats))
        if new.seats[place].token_hash != hash_secret(token):
            raise Forbidden("rematch_token_changed")
        taken = SeatToken(place, new.seats[place].name or "", token)
        return JoinedSeat(taken, view_game(new, place, self._repository.lifetimes))


def seat_after(seat: int, seats: int) -> int:
    """Return the seat in the new game of the player of this seat: all move on by one, so that teams stay together."""
    return (seat - 1) % seats


def next_game(
    old: Game, game_id: str, token_hashes: list[bytes | None], *, now: int, random_bytes: RandomBytes
) -> tuple[Game, list[GameEvent]]:
    """Return the new game with its first events: settings are copied, but no arranged deals and client seeds.

    Players who were away or erased remain so. ``token_hashes``: by seat of the old game; ``now``: in ms since 1970.
    """
    seats = [player._replace(token_hash=token_hash) for player, token_hash in zip(old.seats, token_hashes, strict=True)]
    count = len(seats)
    rules = rules_for(old.variant.key, old.options, count)
    game = Game(
        id=game_id,
        variant=old.variant,
        options=old.options,
        rules=rules,
        seats=Seats((*seats[1:], seats[0])),
        join_hash=None,
        arranged=False,
        deck=Deck(random_bytes(32), game=game_id, client_seeds=("",) * count),
        version=0,
        created_at=now,
        updated_at=now,
        round_ends=(),
        state=rules.start(),
        edition=variants()[old.variant.key].edition,
        ownership=None if old.ownership is None else old.ownership._replace(lobby=None),
        unique_names=old.unique_names,
        spectators=old.spectators,
        auto=old.auto,
        rematch_of=old.id,
        pace=old.pace,
        clock=old.clock,
        running_clock=start_clock(old.clock, count),
        network=old.network,
    )
    away = sorted(seat_after(seat, count) for seat in _away_after(old) - old.seats.erased())
    game = game._replace(is_automatic=bool(away) or game.is_set_up_automatic)
    game, events = deal_if_full(game, [Created(game.deck.commitment(1))])
    return game, [*events, *map(Left, away)]


def _events_of_creation(old: Game) -> int:
    """Return the number of events of ``next_game``: creation, deal, and one for each player away or erased."""
    return 2 + len(_away_after(old) | old.seats.erased())


def _away_after(old: Game) -> frozenset[int]:
    """Return the seats whose players are away in the rematch: those who were away, except those who resigned.

    If players forfeit by the clock, the game does not show who resigned, and all who were away remain so.
    """
    by_clock = old.clock is not None and old.clock.absence == "forfeit"
    return old.presence.away if by_clock else old.presence.away - old.presence.forfeited


def _check(game: Game, seat: int, token_hash: bytes | None) -> None:
    if game.seats[seat].token_hash != token_hash:
        raise unauthorized()  # the token was revoked after the request was authenticated
    if game.status != "finished":
        raise NotFinished("not_finished")


def _decide_rematch(seat: int, token_hash: bytes | None, new: str, game: Game) -> Decision:
    _check(game, seat, token_hash)
    if game.rematch is not None:
        raise _AlreadyLinked
    return game._replace(rematch=new), [Rematched(new)]
