"""Access control: check the token or key of a request before its handler is called.

Owns the order of the checks: token or key, seat, rate limit, query; a token in the wrong place is refused before them.
If the token was checked with a cached game, and the request fails before a command has read the stored game, the token
is checked again with the stored game. Does not depend on what is requested, nor on how an operation is described.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, Final, Literal

from flask import current_app
from marshmallow import Schema

from service.backends.keys import KEY_PREFIX, no_key, unknown_key
from service.backends.values import Backend
from service.games.access import Access, AccessControl, Invitation, TokenRotation, check_seat
from service.games.model.errors import MoveRefused, NotFound, Unauthorized, no_token
from service.games.model.tokens import SEAT_PREFIX
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.shards import is_id
from service.web.http.body import body_units, read_json
from service.web.http.errors import RequestError, current_environ
from service.web.http.headers import bearer_token, check_query, check_token_place, idempotency_key
from service.web.http.middleware import QUOTA
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

_WITHOUT_TOKEN: Final = ("spectator", "join")
"""The access rules that admit requests without a token."""
_METHODS_WITH_BODY: Final = ("POST", "PUT", "PATCH")
_RAISED_AFTER_READING_THE_STORE: Final = (MoveRefused, StorageUnavailable, OutcomeUnknown)
"""Errors of a command that has read the stored game, or has failed to: the token need not be checked again."""
_Granted = Access | TokenRotation
"""The result of an authorization; ``from_store`` is false if the token was checked with a cached game."""


def guarded(
    handler: Callable[..., Any], access: AccessRule, query: Schema | None, *, shows_quota: bool
) -> Callable[..., Any]:
    """Return the view function that checks a request and then calls the handler.

    ``query``: the schema of the query; ``None`` if there are no parameters.
    ``shows_quota``: whether the response has the headers of the rate limit.

    The arguments of the handler depend on ``access``.
    ``public``: the services, and the parameters of the path.
    ``app``, ``public_or_app``, ``anyone_or_app``, ``key_change``: the services, the ``Backend`` (``None`` if the key is
    optional and missing), and the parameters of the path.
    Others: the services and an ``Access``; for ``token_change`` with a seat's token a ``TokenRotation`` instead.
    """
    if access == "public":
        return _public(handler, query)
    decorate = _authorized if access in _AUTHORIZE else _of_application
    return decorate(handler, access, query, shows_quota)


def _public(handler: Callable[..., Any], query: Schema | None) -> Callable[..., Any]:
    @wraps(handler)
    def call(**path: Any) -> Any:
        if current_environ().get("QUERY_STRING"):
            check_query(query)
        services: Services = current_app.extensions[EXTENSION]
        return handler(services, **path)

    return call


def _of_application(
    handler: Callable[..., Any], access: AccessRule, query: Schema | None, shows_quota: bool
) -> Callable[..., Any]:
    is_public, key_is_optional = access == "public_or_app", access == "anyone_or_app"

    @wraps(handler)
    def call(**path: Any) -> Any:
        services: Services = current_app.extensions[EXTENSION]
        environ = current_environ()
        has_query = environ.get("QUERY_STRING")
        optional = is_public or (key_is_optional and not services.backends.needed_for_games)
        if has_query or "HTTP_X_API_KEY" in environ:
            check_token_place(needs_token=not optional)
        backend = None
        key = bearer_token()
        if not optional or (key is not None and not key.startswith(SEAT_PREFIX)):
            backend = environ[APP] = _application(services, key, repeats=access == "key_change")
            weight = 1 + body_units() if environ["REQUEST_METHOD"] in _METHODS_WITH_BODY else 1
            quota = services.limits.limit_bearer("", None, backend, weight)
            if quota is not None and shows_quota:
                environ[QUOTA] = quota
        if has_query:
            check_query(query)
        return handler(services, backend, **path)

    return call


def _application(services: Services, key: str | None, *, repeats: bool) -> Backend:
    """Return the application that a key belongs to. Raises ``Unauthorized``, also without a key.

    ``repeats``: accept a key that is no longer valid, if the same request was made with it before.
    """
    if key is None:
        raise no_key()
    try:
        return services.backends.keys.authenticate(key)
    except Unauthorized:
        repeated = idempotency_key() if repeats else None
        if repeated is None:
            raise
        return services.backends.keys.authenticate_repeat(key, repeated)


def _authorized(
    handler: Callable[..., Any], access: AccessRule, query: Schema | None, shows_quota: bool
) -> Callable[..., Any]:
    authorize, admits_keys, needs_token = _AUTHORIZE[access], access != "seat", access not in _WITHOUT_TOKEN

    @wraps(handler)
    def call(game: str, **path: Any) -> Any:
        services: Services = current_app.extensions[EXTENSION]
        environ = current_environ()
        has_query = environ.get("QUERY_STRING")
        try:
            if has_query or "HTTP_X_API_KEY" in environ:
                check_token_place(needs_token=needs_token)
            token = bearer_token()
            if admits_keys and token is not None and token.startswith(KEY_PREFIX):
                granted: _Granted = _own_game(services, game, token, **path)
            else:
                granted = authorize(services.games.access, game, token, **path)
        except Unauthorized:
            if not is_id(game):  # after a 401, a client with a valid token and a mistyped id would discard the token
                raise NotFound("no_such_game") from None
            services.games.access.check_not_deleted(game)
            raise
        try:
            weight = 1 + body_units() if environ["REQUEST_METHOD"] in _METHODS_WITH_BODY else 1
            quota = services.limits.limit_bearer(game, granted.seat, environ.get(APP), weight)
            if quota is not None and shows_quota:
                environ[QUOTA] = quota
            if has_query:
                check_query(query)
            return handler(services, granted)
        except _RAISED_AFTER_READING_THE_STORE:
            raise
        except Exception:
            if not granted.from_store:
                services.games.access.authenticate(game, token)
            raise

    return call


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


def _joining(control: AccessControl, game: str, token: str | None) -> Access:
    return control.authenticate(game, token, _invitation)


def _any_seat(control: AccessControl, game: str, token: str | None, seat: int | None = None) -> Access:
    if token is None:
        raise no_token()
    access = control.authenticate(game, token)
    if seat is not None:
        check_seat(access.game, seat)
    return access._replace(target=seat)


def _rotation(control: AccessControl, game: str, token: str | None, seat: int) -> TokenRotation:
    return control.authorize_rotation(game, token, seat, idempotency_key())


def _no_owner(_control: AccessControl, _game: str, token: str | None, **_path: Any) -> Access:
    raise no_key() if token is None else unknown_key()


_AUTHORIZE: Final[Mapping[str, Callable[..., _Granted]]] = {
    "spectator": AccessControl.authenticate,
    "join": _joining,
    "seat": AccessControl.authenticate_cached,
    "token_change": _rotation,
    "app_game": _no_owner,
    "seat_or_app": AccessControl.require_seat,
    "any_seat_or_app": _any_seat,
}
"""What authorizes a request without a key; for ``seat`` also one with a key, which is then no token of the game."""


def key_check(services: Services) -> Callable[[], object]:
    """Return a function that raises ``Unauthorized`` once the key of the current request is no longer valid."""
    return partial(services.backends.keys.authenticate, bearer_token() or "")
