"""The descriptions of what only the application that owns a game may do in it."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import BODY_PROBLEMS, READ_PROBLEMS, VIEW_HEADERS, Operation, ResponseSpec
from service.web.request_parsing import TOKEN_KEY_LENGTH
from service.web.schemas import game as game_schemas
from service.web.schemas import requests as request_schemas

CHANGE_PLAYER: Final = Operation(
    id="changePlayer",
    tag="games",
    summary="Change a player",
    description="Gives the player of a seat another name, another `ref`, or both; what is missing stays as it is, and "
    "if nothing would be another, nothing happens. Computer players can be renamed, too; an open seat has no name, but "
    "may have a `ref`. The event is `renamed`, without `name` if only the `ref` is another one. From then on the "
    "former name is shown nowhere: events from before, too, and records have the current names. Moves that are under "
    "way are not affected. The body may also be sent as `application/merge-patch+json`.",
    access="app_game",
    body=request_schemas.PlayerChangeInSchema,
    needs_body=True,
    responses={
        200: ResponseSpec(
            description="The game, as the application sees it.",
            schema=game_schemas.GameSchema,
            headers=VIEW_HEADERS,
            limited=True,
        )
    },
    problems=(*READ_PROBLEMS, *BODY_PROBLEMS, "outcome_unknown"),
)

CHANGE_JOIN_CODE: Final = Operation(
    id="changeJoinCode",
    tag="games",
    summary="Change the join code",
    description="Gives a game with open seats a new join code, which the application is told here, in views and in "
    "lists, and everybody in the lobby if the game is public. With the old one no seat can be taken any more. The "
    "event is `join_code_changed`. The body is empty, or an empty object.",
    access="app_game",
    body=request_schemas.EmptyInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The new join code.",
            schema=game_schemas.CreatedJoinCodeSchema,
            headers=("Location", "Cache-Control"),
            replayable=True,
            limited=True,
        )
    },
    problems=(*READ_PROBLEMS, *BODY_PROBLEMS, "key_reused", "outcome_unknown", "secret_changed", "seats_taken"),
)
