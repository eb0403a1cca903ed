"""Access to a game: which seat belongs to a token, and whether an application owns the game.

Owns the only place where a token is matched with a seat, of the stored game or of the cached one. A cached game may be
stale. Therefore a command that is refused on it is decided again on the stored game, and a request that is rejected
before its command is authenticated again (``service.web.access``). Does not depend on how a token is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from typing import NamedTuple

from service.games.automation.due import ReadObserver
from service.games.model.errors import Forbidden, Gone, NotFound, Unauthorized, no_token, unauthorized
from service.games.model.game import OWNER, Game, Viewer
from service.games.model.tokens import hash_secret, is_join_code, read_join_code, shard_of_code
from service.games.ports import PriorWrite
from service.games.store.idempotency import record_name
from service.games.store.repository import GameRepository
from service.redis.errors import StorageUnavailable


class Access(NamedTuple):
    """The access of the bearer of a token or key to a game.

    ``seat``: the seat of the token; ``None`` for a spectator, and for the application that owns the game.
    ``from_store``: false for a cached game.
    ``app``: the id of the application whose key was presented. It sees what a spectator sees, and its own refs.
    ``target``: the seat in the path of the request. It is the bearer's own, or any seat of the application's game.
    """

    game: Game
    seat: int | None
    from_store: bool = True
    app: str | None = None
    target: int | None = None

    @property
    def viewer(self) -> Viewer:
        """The bearer as a viewer of the game."""
        return self.seat if self.app is None else OWNER

    @property
    def etag(self) -> str:
        """The ETag of this version of the game for this viewer."""
        return self.game.etag(self.viewer)


class TokenRotation(NamedTuple):
    """The permission to change the token of a seat.

    ``game`` is set if ``token`` is the current one; else ``prior``, the write that replaced it under the same key.
    """

    game_id: str
    seat: int
    token: str
    game: Game | None
    prior: PriorWrite | None
    from_store: bool = True


Invitation = tuple[str | None, str | None]
"""What somebody without a token has who asks for an open seat: a join code, an idempotency key."""


class AccessControl:
    """Authenticates tokens and keys. Every method raises ``StorageUnavailable``.

    ``observe_read`` is called with every game that is read for a request.
    """

    def __init__(self, repository: GameRepository, observe_read: ReadObserver) -> None:
        self._repository = repository
        self._observe_read = observe_read

    def authenticate(
        self, game_id: str, token: str | None, invitation: Callable[[], Invitation] = lambda: (None, None)
    ) -> Access:
        """Return the stored game and the seat of ``token``; without a token, the access of a spectator.

        Raises ``Unauthorized`` for a wrong token, and if the game does not exist; without a token ``NotFound`` if it
        does not exist, or has no spectators and the ``invitation`` is not valid for it.
        """
        game = self._repository.reader.load(game_id)
        if game is None or (token is None and not game.spectators and not self._is_invited(game, *invitation())):
            raise NotFound("no_such_game") if token is None else unauthorized()
        self._observe_read(game)
        if token is None:
            return Access(game, None)
        seat = seat_of(token, game)
        if seat is None:
            raise unauthorized()
        self._repository.attendance.record(game, seat)
        return Access(game, seat)

    def authenticate_cached(self, game_id: str, token: str | None) -> Access:
        """Authenticate on the cached game, which saves a read for most moves; if there is none, on the stored game.

        Raises ``Unauthorized`` without a token, else as ``authenticate``.
        """
        if token is None:
            raise no_token()
        known = self._repository.cache.games.get(game_id)
        # In a game with open seats no move is possible, and a seat may have another number once the match has begun.
        if known is not None and not known.game.seats.are_open:
            seat = seat_of(token, known.game)
            if seat is not None:
                return Access(known.game, seat, from_store=False)
        return self.authenticate(game_id, token)

    def require_seat(self, game_id: str, token: str | None, seat: int) -> Access:
        """Return the access of the bearer of this seat's token.

        Raises as ``authenticate``, ``Unauthorized`` without a token, ``NotFound`` for a seat that does not exist,
        ``Forbidden`` for the token of another seat.
        """
        if token is None:
            raise no_token()
        access = self.authenticate(game_id, token)
        check_seat(access.game, seat)
        if seat != access.seat:
            raise Forbidden("token_of_another_seat", seat=seat)
        return access._replace(target=seat)

    def authenticate_application(self, game_id: str, app: str) -> Access | None:
        """Return the access of an application to a stored game; ``None`` unless the application owns the game."""
        game = self._repository.reader.load(game_id)
        if game is None or game.ownership is None or game.ownership.app != app:
            return None
        self._observe_read(game)
        self._repository.attendance.record(game, None)
        return Access(game, None, app=app)

    def find_invited(self, join_code: str, key: str | None) -> Access:
        """Find the game of a join code, and return the access of a spectator to it.

        A repeated request finds the game in which it took a seat before. Raises ``Forbidden`` if none is found.
        """
        code = read_join_code(join_code)
        shard = shard_of_code(code)
        game_id = None if shard is None else self._repository.store.find_code(shard, hash_secret(code))
        if key is not None:
            name = record_name(key, "seat", code)
            if game_id is None:
                game_id = self._repository.store.reserved(name)
            else:
                game_id = self._repository.transactions.reserve(name, game_id)
        game = None
        with suppress(Gone):
            game = None if game_id is None else self._repository.reader.load(game_id)
        if game is None or not self._is_invited(game, join_code, key):
            raise Forbidden("unknown_join_code")
        self._observe_read(game)
        return Access(game, None)

    def check_not_deleted(self, game_id: str) -> None:
        """Raise ``Gone`` for a deleted game; do nothing if the store does not answer."""
        with suppress(StorageUnavailable):
            self._repository.reader.load(game_id)

    def _is_invited(self, game: Game, join_code: str | None, key: str | None) -> bool:
        """Return whether this is the join code of the game, or the key of a request that took a seat in it.

        A repeated request may have a join code that has been replaced.
        """
        if join_code is not None and is_join_code(join_code, game.join_hash):
            return True
        if key is None:
            return False
        return self._repository.store.find_write(game.id, record_name(key, *join_scope(None))) is not None

    def authorize_rotation(self, game_id: str, token: str | None, seat: int, key: str | None) -> TokenRotation:
        """Return the permission to change the token of this seat. Raises as ``require_seat``.

        If the token was already changed under this idempotency key, the old token is accepted, too, because the
        response may have been lost.
        """
        try:
            game = self.require_seat(game_id, token, seat).game
        except Unauthorized:
            if token is None or key is None:
                raise
            prior = self._repository.store.find_write(game_id, record_name(key, *rotation_scope(token, seat)))
            if prior is None:
                raise
            return TokenRotation(game_id, seat, token, None, prior)
        assert token is not None
        return TokenRotation(game_id, seat, token, game, None)


def check_seat(game: Game, seat: int) -> None:
    """Raise ``NotFound`` if the game has no such seat."""
    if seat >= len(game.seats):
        raise NotFound("no_such_seat", max=len(game.seats) - 1)


def seat_of(token: str, game: Game) -> int | None:
    """Return the seat of a token; ``None`` if it is not a token of this game.

    Compares all hashes in constant time, so that the time does not show which one matches.
    """
    presented = hash_secret(token)
    match: int | None = None
    for seat, player in enumerate(game.seats):
        if player.token_hash is not None and compare_digest(presented, player.token_hash):
            match = seat
    return match


def seat_of_hash(token_hash: bytes | None, game: Game) -> int:
    """Return the seat whose token has this hash. Raises ``Unauthorized`` if the token was revoked."""
    hashes = [seat.token_hash for seat in game.seats]
    if token_hash is None or token_hash not in hashes:
        raise unauthorized()
    return hashes.index(token_hash)


def join_scope(viewer: Viewer) -> tuple[str, ...]:
    """Return the scope of the idempotency key of a join: different viewers can use the same key."""
    return ("join", str(viewer))


def rotation_scope(token: str, seat: int) -> tuple[str, ...]:
    """Return the scope of the idempotency key of a token rotation: different old tokens can have the same key."""
    return ("token", token, str(seat))
