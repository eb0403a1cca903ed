"""Who may call an operation: every handler is called through here, with the access that its operation describes.

Owns the order: token, seat, rate limit, query, handler; a token in a place where it does not count is refused before
that. If access was granted on a cached game, and the request was rejected before a command read the stored one, the
token is checked again on the stored game. A handler cannot be served without an ``Operation``, whose ``access`` is both
enforced and documented. Does not depend on what is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, Protocol

from flask import request

from service.games.errors import MoveRefused
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.web.middleware import EXTRA_HEADERS
from service.web.openapi.operations import Operation, describe
from service.web.rate_limits import RateLimits
from service.web.request_parsing import (
    TOKEN_KEY_LENGTH,
    bearer_token,
    body_units,
    check_query,
    check_token_place,
    idempotency_key,
)
from service.web.services import Services, current_services

EVENTS_PER_READ: Final = 100
"""Events whose reading counts as one in the rate limit of reads: about a millisecond."""

SENTENCES_PER_READ: Final = 20
"""Events that take as long to be told in a sentence each."""

PLACES_PER_READ: Final = 4
"""Tiles and ends whose places on a table take as long."""

_RAISED_AFTER_READING_THE_STORE: Final = (MoveRefused, StorageUnavailable, OutcomeUnknown)
"""Errors of a command after it read the stored game, or failed to: the token need not be checked again."""


class _Granted(Protocol):
    """The result of an authorization; ``from_store`` is false if a cached game was used."""

    @property
    def seat(self) -> int | None: ...

    @property
    def from_store(self) -> bool: ...


def operation(described: Operation) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a handler with the access check that the operation describes.

    A handler of a public operation takes the services and the path's parameters; any other one the services and what
    its authorization returned: ``Access``, or ``TokenRotation`` for ``token_change``.
    """
    if described.access == "public":
        return lambda handler: describe(_public(handler, described), described)
    return lambda handler: describe(_authorized(handler, described), described)


def _public(handler: Callable[..., Any], described: Operation) -> Callable[..., Any]:
    query = None if described.query is None else described.query()

    @wraps(handler)
    def call(**path: Any) -> Any:
        environ = request.environ
        if environ.get("QUERY_STRING") and not described.ignores_query:
            check_query(query)
        return handler(current_services(), **path)

    return call


def _authorized(handler: Callable[..., Any], described: Operation) -> Callable[..., Any]:
    authorize = _AUTHORIZE[described.access]
    shows_limit = any(response.limited for response in described.responses.values())
    query = None if described.query is None else described.query()

    @wraps(handler)
    def call(game: str, **path: Any) -> Any:
        services = current_services()
        environ = request.environ
        has_query = environ.get("QUERY_STRING")
        if has_query or "HTTP_X_API_KEY" in environ:
            check_token_place(needs_token=described.access != "spectator")
        granted = authorize(services, game, **path)
        try:
            weight = 1 + body_units() if request.method in ("POST", "PUT") else 1
            quota = services.limits.limit_seat(game, granted.seat, weight)
            if quota is not None and shows_limit:
                environ[EXTRA_HEADERS] = quota.headers()
            if has_query:
                check_query(query)
            return handler(services, granted)
        except _RAISED_AFTER_READING_THE_STORE:
            raise
        except Exception:
            if not granted.from_store:
                services.games.access.authenticate(game, bearer_token())
            raise

    return call


def _from_store(services: Services, game: str) -> _Granted:
    return services.games.access.authenticate(game, bearer_token())


def _from_cache(services: Services, game: str) -> _Granted:
    return services.games.access.authenticate_cached(game, bearer_token())


def _own_seat(services: Services, game: str, seat: int) -> _Granted:
    return services.games.access.require_seat(game, bearer_token(), seat)


def _rotation(services: Services, game: str, seat: int) -> _Granted:
    return services.games.access.authorize_rotation(game, bearer_token(), seat, idempotency_key(TOKEN_KEY_LENGTH))


_AUTHORIZE: Final[Mapping[str, Callable[..., _Granted]]] = {
    "spectator": _from_store,
    "seat": _from_cache,
    "own_seat": _own_seat,
    "token_change": _rotation,
}


def limit_address(services: Services) -> None:
    """Count an expensive request that needs no token, by the address of the client and the size of its body.

    Raises ``RateLimited``.
    """
    quota = services.limits.limit_create(request.environ.get("REMOTE_ADDR", ""), 1 + body_units())
    if quota is not None:
        request.environ[EXTRA_HEADERS] = quota.headers()


def limit_history(limits: RateLimits, events: int) -> None:
    """Count that the current request reads so many events, by the address of its client. Raises ``RateLimited``."""
    limit_reads(limits, max(events, 0) // EVENTS_PER_READ)


def limit_sentences(limits: RateLimits, events: int) -> None:
    """Count that so many events are told in sentences, as reads. Raises ``RateLimited``."""
    limit_reads(limits, max(events, 0) // SENTENCES_PER_READ)


def limit_places(limits: RateLimits, places: int) -> None:
    """Count that the places of so many tiles and ends are computed, as reads. Raises ``RateLimited``."""
    limit_reads(limits, places // PLACES_PER_READ)


def limit_reads(limits: RateLimits, reads: int) -> None:
    """Count reads by the address of the client of the current request. Raises ``RateLimited``."""
    limits.limit_read(request.environ.get("REMOTE_ADDR", ""), reads)
