"""``GET /v1/games`` and ``GET /v1/lobby``: the games of an application, and public ones with open seats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import orjson
from flask import Blueprint

from service.backends.index.listing import ListedGames, is_kept
from service.backends.ports import Application, IndexQuery, LobbyQuery
from service.engine.errors import Reason
from service.web.access import limit_reads, operation
from service.web.openapi.listing_operations import LIST_GAMES, LIST_LOBBY
from service.web.problems import InvalidBody
from service.web.request_parsing import negotiate, read_query
from service.web.responses import JSON, RawResponse, conditional, etag_of, ok_json, shared
from service.web.schemas import listing as listing_schemas
from service.web.services import Services

blueprint: Final = Blueprint("listing", __name__)

_list_in: Final = listing_schemas.ListQuerySchema()
_lobby_in: Final = listing_schemas.LobbyQuerySchema()


@blueprint.get("/v1/games")
@operation(LIST_GAMES)
def list_games(services: Services, application: Application) -> RawResponse:
    """List games of the application."""
    negotiate(JSON)
    query = read_query(_list_in)
    waiting = query.pop("to_act")
    return ok_json(_page(lambda: services.apps.listing.games(application.id, IndexQuery(**query, waiting=waiting))))


@blueprint.get("/v1/lobby")
@operation(LIST_LOBBY)
def list_lobby(services: Services, application: Application | None) -> RawResponse:
    """List public games with open seats: those of the application, or those for everybody."""
    negotiate(JSON)
    query = LobbyQuery(None if application is None else application.id, **read_query(_lobby_in))
    if application is None and not is_kept(query):
        limit_reads(services.limits, 1)
    body = _page(lambda: services.apps.listing.lobby(query))
    return shared(body) if application is None else conditional(etag_of(body), lambda: body)


def _page(find: Callable[[], ListedGames]) -> bytes:
    """A page of games. Raises ``InvalidBody`` for a text that is no cursor."""
    try:
        found = find()
    except ValueError:
        raise InvalidBody({"cursor": [Reason("not_a_cursor")]}) from None
    following = b"" if found.next is None else b',"next":%b' % orjson.dumps(found.next)
    return b'{"games":[%b]%b}' % (b",".join(found.games), following)
