"""``/v1/players/{ref}``: what is kept of a person whom an application knows, and its erasure."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.backends.ports import Application
from service.engine.errors import Reason
from service.games.model.errors import NotFound
from service.web.access import operation
from service.web.openapi.player_operations import ERASE_PLAYER, GET_PLAYER
from service.web.problems import InvalidBody
from service.web.request_parsing import negotiate, read_query
from service.web.responses import JSON, RawResponse, accepted_nothing, ok
from service.web.schemas import players as player_schemas
from service.web.schemas.references import is_reference
from service.web.services import Services

blueprint: Final = Blueprint("players", __name__)

_player_in: Final = player_schemas.PlayerQuerySchema()


@blueprint.get("/v1/players/<ref:ref>")
@operation(GET_PLAYER)
def get_player(services: Services, application: Application, ref: str) -> RawResponse:
    """Tell what is kept of a person."""
    negotiate(JSON)
    query = read_query(_player_in)
    try:
        found = services.apps.people.games(application.id, ref, query["limit"], query.get("cursor"))
    except ValueError:
        raise InvalidBody({"cursor": [Reason("not_a_cursor")]}) from None
    return ok({"ref": ref, "games": found.games, **({} if found.next is None else {"next": found.next})})


@blueprint.delete("/v1/players/<ref:ref>")
@operation(ERASE_PLAYER)
def erase_player(services: Services, application: Application, ref: str) -> RawResponse:
    """Have a person erased from all games."""
    if not is_reference(ref):
        raise NotFound("no_such_person")
    services.apps.people.erase(application.id, ref)
    return accepted_nothing()
