"""``/v1/games/{game}``, for the application that owns the game: rename its players, and change its join code."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.games.access import Access
from service.web.access import operation
from service.web.openapi.owner_operations import CHANGE_JOIN_CODE, CHANGE_PLAYER
from service.web.request_parsing import idempotency, negotiate, read_json, read_json_or_nothing, validate
from service.web.responses import JSON, RawResponse, created_secret, ok
from service.web.schemas import requests as request_schemas
from service.web.serializers.game import game_view_json
from service.web.services import Services

blueprint: Final = Blueprint("owner", __name__)

_player_in: Final = request_schemas.PlayerChangeInSchema()
_empty_in: Final = request_schemas.EmptyInSchema()


@blueprint.patch("/v1/games/<game>/players/<int:seat>")
@operation(CHANGE_PLAYER)
def change_player(services: Services, access: Access) -> RawResponse:
    """Give a player another name or reference."""
    negotiate(JSON)
    assert access.target is not None
    fields = validate(_player_in, read_json())
    name, ref = fields.get("name"), fields.get("ref")
    view = services.games.owner_commands.rename(access, access.target, name=name, ref=ref)
    return ok(game_view_json(view), etag=view.etag)


@blueprint.post("/v1/games/<game>/join-code")
@operation(CHANGE_JOIN_CODE)
def change_join_code(services: Services, access: Access) -> RawResponse:
    """Change the join code."""
    negotiate(JSON)
    body = read_json_or_nothing()
    validate(_empty_in, body)
    key = idempotency(body, CHANGE_JOIN_CODE.min_key_length)
    code, replayed = services.games.owner_commands.change_join_code(access, key)
    return created_secret({"join_code": code}, f"/v1/games/{access.game.id}", replayed=replayed)
