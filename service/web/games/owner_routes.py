"""``/v1/games/{game}``, for the application that owns the game: rename its players, and change its join code."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.games.access import Access
from service.games.commands.owner import PlayerChange
from service.web.fields.strict import EmptyInSchema
from service.web.games.schemas import CreatedJoinCodeSchema, PlayerChangeInSchema
from service.web.http.body import read_json, read_nothing, validate
from service.web.http.headers import idempotency, negotiate
from service.web.http.responses import JSON, RawResponse, created_secret, ok
from service.web.operation import Operation, ResponseSpec
from service.web.services import Services
from service.web.view.query import ViewQuerySchema, language_of_view
from service.web.view.schemas import GameSchema
from service.web.view.serializers import game_view_json

blueprint: Final = Blueprint("owner", __name__)

_player_in: Final = PlayerChangeInSchema()


@blueprint.patch("/v1/games/<game>/players/<int:seat>")
@Operation(
    id="changePlayer",
    tag="games",
    access="app_game",
    headers=("Accept-Language",),
    query=ViewQuerySchema,
    body=PlayerChangeInSchema,
    needs_body=True,
    responses={200: ResponseSpec(description="The game, as the application sees it.", schema=GameSchema, etag=True)},
    own_problems=("outcome_unknown",),
    stores=True,
)
def change_player(services: Services, access: Access) -> RawResponse:
    """Change a player.

    Gives the player of a seat another name, another `ref`, or both; `null` removes the `ref`. What is missing stays as
    it is, and if nothing would be another, nothing happens. Computer players can be renamed, too; an open seat has no
    name, but may have a `ref`. The event is `renamed`, without `name` if only the `ref` is another one. From then on
    the former name is shown nowhere: events from before, too, and records have the current names. Moves that are under
    way are not affected. The body may also be sent as `application/merge-patch+json`.
    """
    negotiate(JSON)
    language = language_of_view()
    assert access.target is not None
    change: PlayerChange = validate(_player_in, read_json())
    view = services.games.owner_commands.rename(access, access.target, change)
    return ok(game_view_json(view, language), etag=view.etag, language=language)


@blueprint.post("/v1/games/<game>/join-code")
@Operation(
    id="changeJoinCode",
    tag="games",
    access="app_game",
    headers=("Idempotency-Key",),
    body=EmptyInSchema,
    secret=True,
    responses={201: ResponseSpec(description="The new join code.", schema=CreatedJoinCodeSchema)},
    own_problems=("seats_taken",),
    stores=True,
)
def change_join_code(services: Services, access: Access) -> RawResponse:
    """Change the join code.

    Gives a game with open seats a new join code, which the application is told here, in views and in lists, and
    everybody in the lobby if the game is public. With the old one no seat can be taken any more. The event is
    `join_code_changed`. The body is empty, or an empty object.
    """
    negotiate(JSON)
    body = read_nothing()
    key = idempotency(body)
    code, replayed = services.games.owner_commands.change_join_code(access, key)
    return created_secret({"join_code": code}, f"/v1/games/{access.game.id}", replayed=replayed)
