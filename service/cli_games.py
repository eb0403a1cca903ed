"""The commands on stored games, for the operator of a service: list them by size, age and tenant, show and delete them.

Owns what they print: the games on standard output, everything else on standard error; and a line in the log for each
deletion, with the id of the game and its application. Finds the games in the index of all games, and reads
them in pages, so that the store answers others meanwhile. Does not depend on how the command line is parsed.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Set
from heapq import nlargest
from typing import NamedTuple

import orjson

from service.bootstrap.secret_file import known_secrets
from service.bootstrap.storage import Storage, open_storage
from service.bootstrap.workers import build_repository
from service.client_address import client_network, parse_address
from service.config import Settings
from service.games.commands.create import network_digest
from service.games.model.errors import Gone, NotFound
from service.games.model.game import Game
from service.games.model.schedule import DAY_MS
from service.games.model.views import format_rfc3339
from service.games.ports import Unreadable
from service.games.store.idempotency import Idempotency
from service.games.store.repository import GameRepository
from service.json_logging import configure_logging
from service.metrics import Metrics
from service.redis.errors import OutcomeUnknown, StorageUnavailable

_log = logging.getLogger(__name__)


class Filter(NamedTuple):
    """A selection of games: of this ``tenant`` or ``address``, whose last write is ``older`` than so many days.

    ``unmoved``: only those in which nobody has moved. The ``limit`` largest (``sort`` ``size``) or oldest (``age``).
    """

    tenant: str | None = None
    address: str | None = None
    older: int = 0
    unmoved: bool = False
    sort: str = "size"
    limit: int = 50

    @property
    def is_any(self) -> bool:
        """Whether all games are meant."""
        return self.tenant is None and self.address is None and not self.older and not self.unmoved


class FoundGame(NamedTuple):
    """A stored game: its bytes in the store, and when it was written last, in milliseconds since 1970.

    ``tenant``: whose share it counts in, the application that owns it, or what stands for a network.
    """

    id: str
    bytes: int
    updated_at: int
    tenant: str
    moved: bool
    status: str
    variant: str


def list_games(settings: Settings, criteria: Filter, *, as_json: bool) -> int:
    """Print the games that are wanted, the largest or oldest first; returns the exit status."""
    try:
        selection = _chosen(_Games(settings), criteria)
    except (StorageUnavailable, ValueError) as error:
        return _failed(error)
    for game in selection:
        print(orjson.dumps(_shown(game)).decode() if as_json else _line(game))
    _say(f"{len(selection)} games, {sum([game.bytes for game in selection])} bytes")
    return 0


def show_games(settings: Settings, ids: list[str]) -> int:
    """Print these games, one object on each line, without anything that is hidden; returns the exit status."""
    try:
        games = _Games(settings)
        shown = [games.show(game) for game in ids]
    except StorageUnavailable as error:
        return _failed(error)
    for line in shown:
        if line is not None:
            print(orjson.dumps(line).decode())
    return 1 if None in shown else 0


def delete_games(settings: Settings, ids: list[str], criteria: Filter, *, sure: bool) -> int:
    """Delete these games, or those that are wanted; returns the exit status.

    Without ``sure`` it is only said how many games are wanted.
    """
    configure_logging(settings.log_level, settings.log_format)
    if not ids and criteria.is_any:
        _say("name games, or say which are meant: --tenant, --address, --older or --unmoved")
        return 2
    try:
        games = _Games(settings)
        chosen = ids or [game.id for game in _chosen(games, criteria)]
        if not ids and not sure:
            _say(f"{len(chosen)} games would be deleted; with --yes they are")
            return 1
        deleted = sum([games.delete(game) for game in chosen])
    except (StorageUnavailable, OutcomeUnknown, ValueError) as error:
        return _failed(error)
    _say(f"{deleted} games deleted")
    return 0 if deleted == len(chosen) else 1


class _Games:
    """The games of the store of these settings."""

    def __init__(self, settings: Settings) -> None:
        self._storage: Storage = open_storage(settings, Metrics())
        self._settings = settings
        self._repository: GameRepository = build_repository(settings, self._storage, lambda _: None)

    @property
    def now(self) -> int:
        """The time of the clock of the store."""
        return self._storage.reminders.server_time()

    def tenants_of(self, address: str) -> set[str]:
        """Return the tenants of the games that are created from this address: one for each secret.

        Raises ``ValueError`` if it is no address, and without a secret.
        """
        settings = self._settings
        secrets = known_secrets(settings.secret_key, settings.data_dir)
        if not secrets:
            raise ValueError("there is no secret; set SECRET_KEY, or DATA_DIR, as the service has it")
        if parse_address(address) is None:
            raise ValueError(f"{address!r} is no address")
        return {network_digest(Idempotency([secret]), client_network(address)) for secret in secrets}

    def of(self, tenants: Set[str] | None) -> Iterator[FoundGame]:
        """Return the games of any of these tenants, or all of them, and tell those that cannot be read."""
        for game_id, stored, size in self._storage.stored_games.games(tenants):
            try:
                yield _found(self._repository.cache.decode(game_id, stored), size)
            except Gone:
                self._storage.stored_games.forget([game_id])
            except Unreadable as error:
                _say(f"{game_id}: cannot be read: {error.reason}")

    def show(self, game_id: str) -> dict[str, object] | None:
        """Return what is public of a game and who sits at it; ``None`` if there is none, or it cannot be read."""
        try:
            game = self._repository.reader.load(game_id)
            if game is None:
                raise NotFound("no_such_game")
            size = self._repository.store.size(game_id)
        except (Gone, NotFound):
            _say(f"{game_id}: no such game")
        except Unreadable as error:
            _say(f"{game_id}: cannot be read: {error.reason}")
        else:
            players = [{"kind": seat.kind, "name": seat.name} for seat in game.seats]
            times = {"created_at": format_rfc3339(game.created_at), "version": game.version, "round": game.state.round}
            return {**_shown(_found(game, size)), **times, "players": players}
        return None

    def delete(self, game_id: str) -> bool:
        """Delete a game, as its application would; ``False`` if there is none, or it cannot be read."""
        try:
            game = self._repository.reader.load(game_id)
            if game is None:
                raise NotFound("no_such_game")
            app = "" if game.ownership is None else game.ownership.app
            self._repository.transactions.delete(game_id, app, game.tenant)
        except (Gone, NotFound):
            _say(f"{game_id}: no such game")
            return False
        except Unreadable as error:
            _say(f"{game_id}: cannot be read: {error.reason}")
            return False
        fields = {"game": game_id, **({"app": app} if app else {})}  # a digest of an address reaches no log
        _log.warning("a game was deleted by the operator", extra={"fields": fields})
        return True


def _found(game: Game, size: int) -> FoundGame:
    moved = game.first_move is not None
    return FoundGame(game.id, size, game.updated_at, game.tenant, moved, game.status, game.variant.key)


def _chosen(games: _Games, criteria: Filter) -> list[FoundGame]:
    """Return the games that are wanted, in their order. Raises ``ValueError`` for what is no address."""
    tenants = None if criteria.tenant is None else {criteria.tenant}
    if criteria.address is not None:
        tenants = games.tenants_of(criteria.address)
    before = games.now - criteria.older * DAY_MS
    fitting = (
        game for game in games.of(tenants) if game.updated_at <= before and not (criteria.unmoved and game.moved)
    )
    if criteria.sort == "size":
        return nlargest(criteria.limit, fitting, key=lambda game: game.bytes)
    return nlargest(criteria.limit, fitting, key=lambda game: -game.updated_at)


def _shown(game: FoundGame) -> dict[str, object]:
    return {**game._asdict(), "updated_at": format_rfc3339(game.updated_at)}


def _line(game: FoundGame) -> str:
    moved = "moved" if game.moved else "unmoved"
    when = format_rfc3339(game.updated_at)
    return f"{game.id}  {game.bytes:>9}  {when}  {game.tenant:<24}  {moved:<7}  {game.status:<10}  {game.variant}"


def _failed(error: Exception) -> int:
    if isinstance(error, ValueError):
        _say(str(error))
        return 2
    _say(f"the store does not answer ({error}); what is not done yet can be done by another run")
    return 1


def _say(text: str) -> None:
    print(f"domino-service: {text}", file=sys.stderr)
