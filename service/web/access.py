"""Who may call an operation: every handler is called through here, with the access that its operation describes.

Owns the order: token, seat, rate limit, handler; and the second look at the store where access was granted on a
remembered game and the request was rejected before a command reached the stored one. A handler cannot be served
without an ``Operation``, whose ``access`` is enforced and documented alike. Does not depend on what is requested.
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
from service.web.request_parsing import bearer_token, idempotency_key
from service.web.services import Services, current_services

RECORD_UNIT_CHARS: Final = 4096
"""Characters of a record that cost about as much as the creation of a game."""

_DECIDED_ON_THE_STORED_GAME: Final = (MoveRefused, StorageUnavailable, OutcomeUnknown)
"""Errors of a command after it looked at the stored game, or could not: no second look is due."""


class _Granted(Protocol):
    """What an authorization returns; ``from_store`` is false if a remembered game was used."""

    @property
    def seat(self) -> int | None: ...

    @property
    def from_store(self) -> bool: ...


def operation(described: Operation) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Serve an operation by a handler, behind the access that the operation describes.

    A handler of a public operation takes the services and the path's parameters; any other one the services and what
    its authorization returned: ``Access``, or ``TokenRotation`` for ``own_seat``.
    """
    if described.access == "public":
        return lambda handler: describe(_public(handler), described)
    return lambda handler: describe(_authorized(handler, described), described)


def _public(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    def call(**path: Any) -> Any:
        return handler(current_services(), **path)

    return call


def _authorized(handler: Callable[..., Any], described: Operation) -> Callable[..., Any]:
    authorize = _AUTHORIZE[described.access]
    shows_limit = any(response.limited for response in described.responses.values())

    @wraps(handler)
    def call(game: str, **path: Any) -> Any:
        services = current_services()
        granted = authorize(services, game, **path)
        try:
            quota = services.limits.limit_seat(game, granted.seat)
            if quota is not None and shows_limit:
                request.environ[EXTRA_HEADERS] = quota.headers()
            return handler(services, granted)
        except _DECIDED_ON_THE_STORED_GAME:
            raise
        except Exception:
            if not granted.from_store:
                services.games.access.authenticate(game, bearer_token())
            raise

    return call


def _stored(services: Services, game: str) -> _Granted:
    return services.games.access.authenticate(game, bearer_token())


def _remembered(services: Services, game: str) -> _Granted:
    return services.games.access.authenticate_cached(game, bearer_token())


def _rotation(services: Services, game: str, seat: int) -> _Granted:
    return services.games.access.authorize_rotation(game, bearer_token(), seat, idempotency_key())


_AUTHORIZE: Final[Mapping[str, Callable[..., _Granted]]] = {
    "spectator": _stored,
    "seat": _remembered,
    "own_seat": _rotation,
}


def limit_address(services: Services, weight: int = 1) -> None:
    """Count what is expensive and needs no token, by the client's address. Raises ``RateLimited``."""
    quota = services.limits.limit_create(request.environ.get("REMOTE_ADDR", ""), weight)
    if quota is not None:
        request.environ[EXTRA_HEADERS] = quota.headers()


def limit_record(services: Services, text: str) -> None:
    """Count a record that is to be checked: each full ``RECORD_UNIT_CHARS`` as a further request."""
    units = len(text) // RECORD_UNIT_CHARS
    if units:
        limit_address(services, units)
