"""``/v1/players/{ref}``: the data stored about a player of an application, and its erasure."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.backends.values import Backend
from service.engine.errors import Reason
from service.games.model.errors import NotFound
from service.games.model.views import without_none
from service.web.fields.names import is_reference
from service.web.http.errors import InvalidBody
from service.web.http.headers import negotiate, read_query
from service.web.http.responses import JSON, RawResponse, accepted_without_body, ok
from service.web.operation import Operation, ResponseSpec
from service.web.players.schemas import PlayerPageSchema, PlayerQuerySchema
from service.web.services import Services

blueprint: Final = Blueprint("players", __name__)

_player_in: Final = PlayerQuerySchema()


@blueprint.get("/v1/players/<ref:ref>")
@Operation(
    id="getPlayer",
    tag="applications",
    access="app",
    query=PlayerQuerySchema,
    responses={200: ResponseSpec(description="A page of the games of the person.", schema=PlayerPageSchema)},
    own_problems=("not_found",),
)
def get_player(services: Services, backend: Backend, ref: str) -> RawResponse:
    """Get the data stored about a person.

    All data that is stored about the person with this `ref`, in pages: the games in which the person has a seat, the
    last changed first, with name, score and rank. Other players are not included. A `ref` that only another
    application uses is 404. The list follows the games, usually within half a second. While a person is being erased,
    the list may be empty, but is not 404.
    """
    negotiate(JSON)
    query = read_query(_player_in)
    try:
        page = services.backends.people.games(backend.id, ref, query["limit"], query.get("cursor"))
    except ValueError:
        raise InvalidBody({"cursor": [Reason("not_a_cursor")]}) from None
    return ok(without_none({"ref": ref, "games": page.games, "next": page.next}))


@blueprint.delete("/v1/players/<ref:ref>")
@Operation(
    id="erasePlayer",
    tag="applications",
    access="app",
    responses={202: ResponseSpec(description="It will be done.", media_type=None)},
    own_problems=("not_found", "limit_reached", "outcome_unknown"),
)
def erase_player(services: Services, backend: Backend, ref: str) -> RawResponse:
    """Erase a person.

    Erases the person with this `ref` from all games of the application, which go on for the others: the name becomes
    `Player` and the number of the seat, from 1; `ref` and token are removed; a computer player continues the match. An
    open seat stays open. The work is done in the background, usually within two seconds. Once `GET` is 404, no game
    that was created before this request has the person; until then, the person is also erased from games that get the
    same `ref`. The request may be repeated, and is 202 even if no game has such a person. Games and feed have the
    events `left`, `renamed` and `token_changed`.
    """
    if not is_reference(ref):
        raise NotFound("no_such_person")
    services.backends.people.erase(backend.id, ref)
    return accepted_without_body()
