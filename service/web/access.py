"""Access control: check the token or key of a request before its handler is called.

Owns the order of the checks: token or key, seat, rate limit, query; a token in the wrong place is refused before them.
If the token was checked with a cached game, and the request fails before a command has read the stored game, the token
is checked again with the stored game. Does not depend on what is requested, nor on how an operation is described.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, Final, Literal, NamedTuple

from flask import current_app
from marshmallow import Schema

from service.backends.keys import is_key, no_key, unknown_key
from service.backends.values import Backend
from service.games.access import Access, Invitation, TokenRotation, check_seat
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

``public``: anybody.
``public_or_app``: anybody; an application gets another response.
``spectator``: a seat of the game, the application that owns it or, without a token, a spectator.
``join``: as ``spectator``; in a game without spectators, also a client that has the join code.
``seat``: the bearer of a seat's token.
``seat_or_app``: the bearer of the token of the seat in the path, or the application that owns the game.
``any_seat_or_app``: the bearer of any seat's token, or the application that owns the game.
``token_change``: as ``seat_or_app``; also a client that repeats the request with the old token.
``app``: an application.
``anyone_or_app``: anybody, unless the service requires an application.
``key_change``: an application; also a client that repeats the request with the old key.
``app_game``: the application that owns the game.
"""


class Guard(NamedTuple):
    """The checks before a handler is called.

    ``access``: who may call the handler.
    ``query``: the schema of its query; ``None`` if it has no parameters.
    ``shows_quota``: whether the response has the headers of the rate limit.
    """

    access: AccessRule
    query: type[Schema] | None
    shows_quota: bool


_Decorator = Callable[[Callable[..., Any], Guard], Callable[..., Any]]
_WITHOUT_TOKEN: Final = ("spectator", "join")
"""The access rules that admit requests without a token."""
_METHODS_WITH_BODY: Final = ("POST", "PUT", "PATCH")
_RAISED_AFTER_READING_THE_STORE: Final = (MoveRefused, StorageUnavailable, OutcomeUnknown)
"""Errors of a command that has read the stored game, or has failed to: the token need not be checked again."""


_Granted = Access | TokenRotation
"""The result of an authorization; ``from_store`` is false if the token was checked with a cached game."""


def guarded(handler: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    """Return the view function that checks a request and then calls the handler.

    The arguments of the handler depend on ``guard.access``.
    ``public``: the services, and the parameters of the path.
    ``app``, ``public_or_app``, ``anyone_or_app``, ``key_change``: the services, the ``Backend`` (``None`` if the key is
    optional and missing), and the parameters of the path.
    Others: the services and an ``Access``; for ``token_change`` with a seat's token a ``TokenRotation`` instead.
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
    """Return the application that the key of the current request belongs to. Raises ``Unauthorized``.

    ``optional``: return ``None`` if there is no key, or the token of a seat, which clients may send with every request.
    ``repeats``: accept a key that is no longer valid, if the same request was made with it before.
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
            if not is_id(game):  # after a 401, a client with a valid token and a mistyped id would discard the token
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

    Ignores an invalid body: its errors are reported only after access has been granted.
    """
    try:
        body = read_json()
    except RequestError:
        body = None
    join_code = body.get("join_code") if isinstance(body, dict) else None
    return join_code if isinstance(join_code, str) else None, idempotency_key()


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
    """Return the access of the application with this key to its game; ``seat``: the one that the request is about.

    Raises ``Unauthorized`` if the key is not valid, or if the application owns no such game; ``NotFound`` if the game
    has no such seat.
    """
    backend = services.backends.keys.authenticate(key)
    access = services.games.access.authenticate_application(game, backend.id)
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
