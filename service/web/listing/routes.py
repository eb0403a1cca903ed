"""``GET /v1/games`` and ``GET /v1/lobby``: the games of an application, and public ones with open seats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import orjson
from flask import Blueprint

from service.backends.index.listing import is_cached
from service.backends.values import Backend, GamePage, IndexQuery, LobbyQuery
from service.engine.errors import Reason
from service.web.http.errors import InvalidBody
from service.web.http.headers import negotiate, read_query
from service.web.http.responses import JSON, RawResponse, conditional, etag_of, shared
from service.web.listing.schemas import GamePageSchema, ListQuerySchema, LobbyPageSchema, LobbyQuerySchema
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import limit_reads
from service.web.services import Services

blueprint: Final = Blueprint("listing", __name__)

_list_in: Final = ListQuerySchema()
_lobby_in: Final = LobbyQuerySchema()


@blueprint.get("/v1/games")
@Operation(
    id="listGames",
    tag="applications",
    access="app",
    headers=("If-None-Match",),
    query=ListQuerySchema,
    responses={200: ResponseSpec(description="A page of games.", schema=GamePageSchema)},
)
def list_games(services: Services, backend: Backend) -> RawResponse:
    """List the application's games.

    The games of the application as a spectator may know them, with the refs of games and players: the last changed
    first, with `to_act` the most urgent first. The list follows the games, usually within half a second.
    """
    negotiate(JSON)
    query = read_query(_list_in)
    waiting = query.pop("to_act")
    body = _page(lambda: services.backends.listing.games(backend.id, IndexQuery(**query, waiting=waiting)))
    return conditional(etag_of(body), lambda: body)


@blueprint.get("/v1/lobby")
@Operation(
    id="listLobby",
    tag="games",
    access="public_or_app",
    headers=("If-None-Match",),
    query=LobbyQuerySchema,
    responses={200: ResponseSpec(description="A page of games.", schema=LobbyPageSchema)},
)
def list_lobby(services: Services, backend: Backend | None) -> RawResponse:
    """List public games with open seats.

    Games with open seats, the newest first, each with its join code. Without a key these are the games in the lobby for
    everybody: of each application the ten newest, with `variant` the ten newest of that variant. With the key of an
    application they are the 1000 newest of its own games, in either lobby. The list follows the
    games, usually within two seconds: a seat may just have been taken.
    """
    negotiate(JSON)
    query = LobbyQuery(None if backend is None else backend.id, **read_query(_lobby_in))
    if backend is None and not is_cached(query):
        limit_reads(services.limits, 1)
    body = _page(lambda: services.backends.listing.lobby(query))
    return shared(body) if backend is None else conditional(etag_of(body), lambda: body)


def _page(find: Callable[[], GamePage[bytes]]) -> bytes:
    """Return a page of games as JSON. Raises ``InvalidBody`` if the cursor is not valid."""
    try:
        page = find()
    except ValueError:
        raise InvalidBody({"cursor": [Reason("not_a_cursor")]}) from None
    following = b"" if page.next is None else b',"next":%b' % orjson.dumps(page.next)
    return b'{"games":[%b]%b}' % (b",".join(page.games), following)
