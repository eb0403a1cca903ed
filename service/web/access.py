"""Access control: every handler is called through here, with the access that its operation declares.

Owns the order: token or key, seat, rate limit, query, handler. A token in the wrong place is refused before all that.
If access was granted on a cached game, and the request was rejected before a command read the stored one, the token is
checked again on the stored game. Does not depend on what is requested, nor on how an operation is described.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, Final, Literal, NamedTuple, Protocol

from flask import current_app
from marshmallow import Schema

from service.backends.keys import is_key, no_key, unknown_key
from service.backends.ports import Backend
from service.games.access import Access, Invitation, check_seat
from service.games.model.errors import MoveRefused, NotFound, Unauthorized, no_token
from service.games.model.tokens import SEAT_PREFIX
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.shards import is_id
from service.web.http.body import body_units, read_json
from service.web.http.errors import RequestError, current_environ
from service.web.http.headers import bearer_token, check_query, check_token_place, idempotency_key
from service.web.http.middleware import EXTRA_HEADERS
from service.web.quotas import APP
from service.web.services import EXTENSION, Services

AccessRule = Literal[
    "public",
    "public_or_app",
    "spectator",
    "join",
    "seat",
    "seat_or_app",
    "any_seat_or_app",
    "token_change",
    "app",
    "anyone_or_app",
    "key_change",
    "app_game",
]
"""Who may call an operation.

``public``: anybody. ``public_or_app``: anybody; an application gets another answer.
``spectator``: a seat of the game, the application that owns it or, without a token, a spectator.
``join``: as ``spectator``; in a game without spectators also who has the join code.
``seat``: the bearer of a seat's token.
``seat_or_app``: the bearer of the token of the seat in the path, or the application that owns the game.
``any_seat_or_app``: the bearer of any seat's token, or the application that owns the game.
``token_change``: as ``seat_or_app``; also the bearer of the old token, who repeats the request.
``app``: an application. ``anyone_or_app``: anybody, unless the service requires an application.
``key_change``: an application; also the bearer of its old key, who repeats the request.
``app_game``: the application that owns the game.
"""


class Guard(NamedTuple):
    """The access and the query to check before a handler is called.

    ``shows_quota``: the answer tells what is left of a rate limit.
    """

    access: AccessRule
    query: type[Schema] | None
    shows_quota: bool


_Decorator = Callable[[Callable[..., Any], Guard], Callable[..., Any]]
_WITHOUT_TOKEN: Final = ("spectator", "join")
"""Who may ask for a game without a token."""
_METHODS_WITH_BODY: Final = ("POST", "PUT", "PATCH")
_RAISED_AFTER_READING_THE_STORE: Final = (MoveRefused, StorageUnavailable, OutcomeUnknown)
"""Errors of a command after it read the stored game, or failed to: the token need not be checked again."""


class _Granted(Protocol):
    """The result of an authorization; ``from_store`` is false if a cached game was used."""

    @property
    def seat(self) -> int | None: ...

    @property
    def from_store(self) -> bool: ...


def guarded(handler: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    """Return the function that Flask calls for a handler.

    A handler of a public operation takes the services and the path's parameters; one of an operation of applications
    the services, the ``Backend`` (``None`` for a bearer without a key, where that is allowed) and the path's
    parameters; any other one the services and what its authorization returned: ``Access``, or for ``token_change``, if
    it is the bearer of a seat's token, ``TokenRotation``.
    """
    return _DECORATORS.get(guard.access, _authorized)(handler, guard)


def _public(handler: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    query = None if guard.query is None else guard.query()

    @wraps(handler)
    def call(**path: Any) -> Any:
        if current_environ().get("QUERY_STRING"):
            check_query(query)
        services: Services = current_app.extensions[EXTENSION]
        return handler(services, **path)

    return call


def _of_application(handler: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    is_public = guard.access == "public_or_app"
    key_is_optional = guard.access == "anyone_or_app"
    repeats = guard.access == "key_change"
    query = None if guard.query is None else guard.query()

    @wraps(handler)
    def call(**path: Any) -> Any:
        services: Services = current_app.extensions[EXTENSION]
        environ = current_environ()
        has_query = environ.get("QUERY_STRING")
        optional = is_public or (key_is_optional and not services.backends.needed_for_games)
        if has_query or "HTTP_X_API_KEY" in environ:
            check_token_place(needs_token=not optional)
        backend = _application(services, optional=optional, repeats=repeats)
        if backend is not None:
            weight = 1 + body_units() if environ["REQUEST_METHOD"] in _METHODS_WITH_BODY else 1
            quota = services.limits.limit_bearer("", None, backend, weight)
            if quota is not None and guard.shows_quota:
                environ[EXTRA_HEADERS] = quota.headers()
        if has_query:
            check_query(query)
        return handler(services, backend, **path)

    return call


def _application(services: Services, *, optional: bool, repeats: bool) -> Backend | None:
    """Return the application whose key was presented; ``None`` without one, if it is ``optional``.

    A seat's token, which a client may send with every request, counts as no key if ``optional``. With ``repeats``, a
    key that is no longer valid is accepted if it made the same request before. Raises ``Unauthorized``.
    """
    key = bearer_token()
    if optional and (key is None or key.startswith(SEAT_PREFIX)):
        return None
    if key is None:
        raise no_key()
    try:
        backend = services.backends.keys.authenticate(key)
    except Unauthorized:
        repeated = idempotency_key() if repeats else None
        if repeated is None:
            raise
        backend = services.backends.keys.authenticate_repeat(key, repeated)
    current_environ()[APP] = backend
    return backend


def _authorized(handler: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    authorize = _AUTHORIZE[guard.access]
    query = None if guard.query is None else guard.query()

    @wraps(handler)
    def call(game: str, **path: Any) -> Any:
        services: Services = current_app.extensions[EXTENSION]
        environ = current_environ()
        has_query = environ.get("QUERY_STRING")
        try:
            if has_query or "HTTP_X_API_KEY" in environ:
                check_token_place(needs_token=guard.access not in _WITHOUT_TOKEN)
            granted = authorize(services, game, **path)
        except Unauthorized:
            if not is_id(game):  # else who has a good token, but a wrong address, is told to get another token
                raise NotFound("no_such_game") from None
            services.games.access.check_not_deleted(game)
            raise
        try:
            weight = 1 + body_units() if environ["REQUEST_METHOD"] in _METHODS_WITH_BODY else 1
            quota = services.limits.limit_bearer(game, granted.seat, environ.get(APP), weight)
            if quota is not None and guard.shows_quota:
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


def _spectator(services: Services, game: str) -> _Granted:
    token = bearer_token()
    if token is not None and is_key(token):
        return _own_game(services, game, token)
    return services.games.access.authenticate(game, token)


def _joining(services: Services, game: str) -> _Granted:
    token = bearer_token()
    if token is not None:
        return _spectator(services, game)
    return services.games.access.authenticate(game, None, _invitation)


def _invitation() -> Invitation:
    """Return the join code and the idempotency key of the current request.

    Raises nothing for a wrong body: errors are reported only once the game may be shown.
    """
    try:
        body = read_json()
    except RequestError:
        body = None
    join_code = body.get("join_code") if isinstance(body, dict) else None
    return Invitation(join_code if isinstance(join_code, str) else None, idempotency_key())


def _from_cache(services: Services, game: str) -> _Granted:
    return services.games.access.authenticate_cached(game, bearer_token())


def _owner(services: Services, game: str, seat: int | None = None) -> Access:
    token = bearer_token()
    if token is None:
        raise no_key()
    return _own_game(services, game, token, seat)


def _seat_or_owner(services: Services, game: str, seat: int) -> _Granted:
    token = bearer_token()
    if token is None or not is_key(token):
        return services.games.access.require_seat(game, token, seat)
    return _own_game(services, game, token, seat)


def _own_game(services: Services, game: str, key: str, seat: int | None = None) -> Access:
    """Return the access of the application with this key to its game, for a request about this seat.

    Raises ``Unauthorized`` for a key that is not valid, and for a game that is not its own, or does not exist;
    ``NotFound`` if the game has no such seat.
    """
    backend = services.backends.keys.authenticate(key)
    access = services.games.access.of_application(game, backend.id)
    if access is None:
        raise unknown_key()
    current_environ()[APP] = backend
    if seat is not None:
        check_seat(access.game, seat)
    return access._replace(target=seat)


def _any_seat_or_owner(services: Services, game: str, seat: int | None = None) -> _Granted:
    token = bearer_token()
    if token is None:
        raise no_token()
    if is_key(token):
        return _own_game(services, game, token, seat)
    access = services.games.access.authenticate(game, token)
    if seat is not None:
        check_seat(access.game, seat)
    return access._replace(target=seat)


def _rotation(services: Services, game: str, seat: int) -> _Granted:
    token = bearer_token()
    if token is not None and is_key(token):
        return _own_game(services, game, token, seat)
    return services.games.access.authorize_rotation(game, bearer_token(), seat, idempotency_key())


_AUTHORIZE: Final[Mapping[str, Callable[..., _Granted]]] = {
    "spectator": _spectator,
    "join": _joining,
    "seat": _from_cache,
    "token_change": _rotation,
    "app_game": _owner,
    "seat_or_app": _seat_or_owner,
    "any_seat_or_app": _any_seat_or_owner,
}
_DECORATORS: Final[Mapping[str, _Decorator]] = {
    "public": _public,
    "app": _of_application,
    "public_or_app": _of_application,
    "anyone_or_app": _of_application,
    "key_change": _of_application,
}


def key_check(services: Services) -> Callable[[], object]:
    """Return a function that raises ``Unauthorized`` once the key of the current request is no longer valid."""
    return partial(services.backends.keys.authenticate, bearer_token() or "")
