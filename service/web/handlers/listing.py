"""``GET /v1/games`` and ``GET /v1/lobby``: the games of an application, and the public ones with open seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import orjson
from flask import Blueprint

from service.apps.ports import Application, IndexQuery
from service.engine.errors import Reason
from service.web.access import operation
from service.web.openapi.listing_operations import LIST_GAMES, LIST_LOBBY
from service.web.problems import InvalidBody
from service.web.request_parsing import negotiate, read_query
from service.web.responses import JSON, RawResponse, ok_json, shared
from service.web.schemas import listing as listing_schemas
from service.web.services import Services

blueprint: Final = Blueprint("listing", __name__)

_list_in: Final = listing_schemas.ListQuery()
_lobby_in: Final = listing_schemas.LobbyQuery()


@blueprint.get("/v1/games")
@operation(LIST_GAMES)
def list_games(services: Services, application: Application) -> RawResponse:
    """List games of the application."""
    negotiate(JSON)
    query = read_query(_list_in)
    waiting = query.pop("to_act")
    try:
        found = services.apps.listing.games(application.id, IndexQuery(**query, waiting=waiting))
    except ValueError:
        raise InvalidBody({"cursor": [Reason("not_a_cursor")]}) from None
    following = b"" if found.next is None else b',"next":%b' % orjson.dumps(found.next)
    return ok_json(_list_of(found.games, following))


@blueprint.get("/v1/lobby")
@operation(LIST_LOBBY)
def show_lobby(services: Services) -> RawResponse:
    """List the public games with open seats."""
    negotiate(JSON)
    variant = read_query(_lobby_in).get("variant")
    return shared(_list_of(services.apps.listing.public_games(variant)))


def _list_of(games: Sequence[bytes], more: bytes = b"") -> bytes:
    return b'{"games":[%b]%b}' % (b",".join(games), more)
