"""``/v1/players/{ref}``: the data stored about a player of an application, and its erasure."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.backends.ports import Backend
from service.engine.errors import Reason
from service.games.model.errors import NotFound
from service.web.fields.names import is_reference
from service.web.http.errors import InvalidBody
from service.web.http.headers import negotiate, read_query
from service.web.http.responses import JSON, RawResponse, accepted_nothing, ok
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
    responses={200: ResponseSpec(description="A page of what is kept.", schema=PlayerPageSchema)},
    own_problems=("not_found",),
)
def get_player(services: Services, backend: Backend, ref: str) -> RawResponse:
    """Get what is kept of a person.

    All that is kept of the person whom the application calls so, in pages: the games in which the person has a seat,
    those that were written last first, with name, score and rank. Others at the table are not told. What belongs to
    another application is 404. The list follows the games, usually within half a second. While a person is being
    erased, the list is not 404, though perhaps empty.
    """
    negotiate(JSON)
    query = read_query(_player_in)
    try:
        page = services.backends.people.games(backend.id, ref, query["limit"], query.get("cursor"))
    except ValueError:
        raise InvalidBody({"cursor": [Reason("not_a_cursor")]}) from None
    return ok({"ref": ref, "games": page.games, **({} if page.next is None else {"next": page.next})})


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

    Erases the person whom the application calls so from all its games, which go on for the others: the name becomes
    `Player` and the number of the seat, from 1; `ref` and token go; a computer player goes on with the match. An open
    seat stays open. It is done in the background, usually within two seconds, and is done when `GET` is 404: then no
    game that was created before this request has the person. Until then, games that are given the same `ref` are erased
    from as well. May be repeated, and is 202 also if no game has such a person. Games and feed tell `left`, `renamed`
    and `token_changed`.
    """
    if not is_reference(ref):
        raise NotFound("no_such_person")
    services.backends.people.erase(backend.id, ref)
    return accepted_nothing()
