"""The operator's commands for stored games: list them by size, age and tenant, show and delete them.

Owns their output: games on standard output, everything else on standard error; and a line in the log for each deletion,
with the id of the game and its application. Finds games in the index of all games, and reads them in pages, so that
Redis can serve other clients. Does not depend on the parser of the command line.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Set
from heapq import nlargest
from typing import Any, NamedTuple, TypeVar

import orjson

from service.bootstrap.secret_file import known_secrets
from service.bootstrap.storage import build_repository, open_storage
from service.client_address import client_network, parse_address
from service.config import Settings
from service.devserver.terminal import warn
from service.games.commands.create import network_digest
from service.games.model.errors import Gone, NotFound
from service.games.model.game import Game
from service.games.model.schedule import DAY_MS
from service.games.model.views import format_rfc3339
from service.games.ports import Unreadable
from service.games.store.idempotency import Idempotency
from service.json_logging import configure_logging
from service.metrics import Metrics
from service.redis.errors import OutcomeUnknown, StorageUnavailable

_log = logging.getLogger(__name__)
Result = TypeVar("Result")


class Filter(NamedTuple):
    """A selection of stored games.

    ``tenant``: the tenant that the games count in; ``None``: any.
    ``address``: an address in the network that created the games; ``None``: any.
    ``older``: the minimum number of days since the last write.
    ``unmoved``: whether only games without a move are selected.
    ``sort``: ``size``, the largest first; ``age``, the oldest first.
    ``limit``: the maximum number of games.
    """

    tenant: str | None
    address: str | None
    older: int
    unmoved: bool
    sort: str
    limit: int

    @property
    def is_any(self) -> bool:
        """Return whether all games match, apart from the limit."""
        return self.tenant is None and self.address is None and not self.older and not self.unmoved


class FoundGame(NamedTuple):
    """A stored game, as the commands list it.

    ``bytes``: its size in the store.
    ``updated_at``: the time of the last write, in milliseconds since 1970.
    ``tenant``: the application that owns it, or a digest of a network.
    ``moved``: whether anybody has moved.
    """

    id: str
    bytes: int
    updated_at: int
    tenant: str
    moved: bool
    status: str
    variant: str


def list_games(settings: Settings, *, as_json: bool, **criteria: Any) -> int:
    """Print the games that ``Filter(**criteria)`` selects, the largest or oldest first; return the exit status."""
    try:
        selection = _Games(settings).select(Filter(**criteria))
    except (StorageUnavailable, OutcomeUnknown, ValueError) as error:  # expired games leave the index meanwhile
        return _failed(error)
    for game in selection:
        print(orjson.dumps(_as_fields(game)).decode() if as_json else _as_line(game))
    warn(f"{len(selection)} games, {sum([game.bytes for game in selection])} bytes")
    return 0


def show_games(settings: Settings, ids: list[str]) -> int:
    """Print these games, one JSON object on each line, without hidden data; return the exit status."""
    try:
        games = _Games(settings)
        rows = [_reported(games.show, game) for game in ids]
    except StorageUnavailable as error:
        return _failed(error)
    for line in rows:
        if line is not None:
            print(orjson.dumps(line).decode())
    return 1 if None in rows else 0


def delete_games(settings: Settings, *, ids: list[str], confirmed: bool, **criteria: Any) -> int:
    """Delete the games with these ids, or without ids those that ``list_games`` selects; return the exit status.

    Selected games are only counted unless ``confirmed``.
    """
    configure_logging(settings.log_level, settings.log_format)
    selection = Filter(**criteria)
    if not ids and selection.is_any:
        warn("name games, or say which are meant: --tenant, --address, --older or --unmoved")
        return 2
    try:
        games = _Games(settings)
        selected_ids = ids or [game.id for game in games.select(selection)]
        if not ids and not confirmed:
            warn(f"{len(selected_ids)} games would be deleted; with --yes they are")
            return 1
        deleted = sum([bool(_reported(games.delete, game)) for game in selected_ids])
    except (StorageUnavailable, OutcomeUnknown, ValueError) as error:
        return _failed(error)
    warn(f"{deleted} games deleted")
    return 0 if deleted == len(selected_ids) else 1


class _Games:
    """The stored games of a service."""

    def __init__(self, settings: Settings) -> None:
        self._storage = open_storage(settings, Metrics())
        self._settings = settings
        self._repository = build_repository(settings, self._storage, lambda _: None)

    def select(self, criteria: Filter) -> list[FoundGame]:
        """Return the selected games in the requested order. Raises ``ValueError`` for an invalid address."""
        tenants = None if criteria.tenant is None else {criteria.tenant}
        if criteria.address is not None:
            tenants = self._tenants_of(criteria.address)
        before = self._storage.reminders.server_time() - criteria.older * DAY_MS
        matching = (
            game for game in self._read(tenants) if game.updated_at <= before and not (criteria.unmoved and game.moved)
        )
        by_size = criteria.sort == "size"
        return nlargest(criteria.limit, matching, key=lambda game: game.bytes if by_size else -game.updated_at)

    def _tenants_of(self, address: str) -> set[str]:
        """Return the tenants of games created from the network of this address: one for each known secret.

        Raises ``ValueError`` if the address is invalid, or if no secret is known.
        """
        secrets = known_secrets(self._settings.secret_key, self._settings.data_dir)
        if not secrets:
            raise ValueError("there is no secret; set SECRET_KEY, or DATA_DIR, as the service has it")
        if parse_address(address) is None:
            raise ValueError(f"{address!r} is no address")
        return {network_digest(Idempotency([secret]), client_network(address)) for secret in secrets}

    def _read(self, tenants: Set[str] | None) -> Iterator[FoundGame]:
        """Yield the games of these tenants (``None``: all games); report games that cannot be read."""
        for game_id, stored, size in self._storage.stored_games.games(tenants):
            try:
                yield _found_game(self._repository.cache.decode(game_id, stored), size)
            except Gone:
                self._storage.stored_games.forget([game_id])
            except Unreadable as error:
                warn(f"{game_id}: cannot be read: {error.reason}")

    def show(self, game_id: str) -> dict[str, object]:
        """Return the public data of a game and its players. Raises ``NotFound``, ``Gone``, ``Unreadable``."""
        game = self._repository.reader.reload(game_id)
        fields = _as_fields(_found_game(game, self._repository.store.size(game_id)))
        players = [{"kind": seat.kind, "name": seat.name} for seat in game.seats]
        times = {"created_at": format_rfc3339(game.created_at), "version": game.version, "round": game.state.round}
        return {**fields, **times, "players": players}

    def delete(self, game_id: str) -> bool:
        """Delete a game, as its application would; return ``True``. Raises as ``show``."""
        game = self._repository.reader.reload(game_id)
        app = "" if game.ownership is None else game.ownership.app
        self._repository.transactions.delete(game_id, app, game.tenant)
        fields = {"game": game_id, **({"app": app} if app else {})}  # the digest of an address must not be logged
        _log.warning("a game was deleted by the operator", extra={"fields": fields})
        return True


def _reported(act: Callable[[str], Result], game_id: str) -> Result | None:
    """Return the result of ``act`` for a game; ``None`` with a warning if the game is missing or cannot be read."""
    try:
        return act(game_id)
    except (Gone, NotFound):
        warn(f"{game_id}: no such game")
    except Unreadable as error:
        warn(f"{game_id}: cannot be read: {error.reason}")
    return None


def _found_game(game: Game, size: int) -> FoundGame:
    moved = game.first_move is not None
    return FoundGame(game.id, size, game.updated_at, game.tenant, moved, game.status, game.variant.key)


def _as_fields(game: FoundGame) -> dict[str, object]:
    return {**game._asdict(), "updated_at": format_rfc3339(game.updated_at)}


def _as_line(game: FoundGame) -> str:
    moved = "moved" if game.moved else "unmoved"
    updated_at = format_rfc3339(game.updated_at)
    return f"{game.id}  {game.bytes:>9}  {updated_at}  {game.tenant:<24}  {moved:<7}  {game.status:<10}  {game.variant}"


def _failed(error: Exception) -> int:
    if isinstance(error, ValueError):
        warn(str(error))
        return 2
    warn(f"the store does not answer ({error}); what is not done yet can be done by another run")
    return 1
