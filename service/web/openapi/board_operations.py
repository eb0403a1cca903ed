"""The descriptions of the operations on the table of a game, with the access they require."""

from __future__ import annotations

from typing import Final

from service.texts import LANGUAGES, named
from service.web.openapi.operations import READ_PROBLEMS, TEXT_HEADERS, VIEW_HEADERS, Operation, ResponseSpec
from service.web.responses import SVG, TEXT
from service.web.schemas import board as board_schemas

_PICTURE: Final = (
    f"A picture, for an `<img>`: no script, no link to anything else; its texts are in {named(LANGUAGES)}."
)
_AS_TEXT: Final = "The tiles on the table as lines of text; empty without tiles."
_PUBLIC: Final = "The same for every viewer, with a token or without."
_PROBLEMS: Final = ("unauthorized", "not_found", "rate_limited", "invalid")

GET_BOARD: Final = Operation(
    id="getBoard",
    tag="games",
    summary="Get the table with the place of every tile",
    description="Where the tiles lie, and where a tile would lie at each end: for clients that draw the table. "
    f"{_PUBLIC} A tile never moves while a round lasts, so that `from` brings what is new. By `Accept` as JSON; as a "
    "picture, which an `<img>` gets (every `Accept` that begins with `image/`); or as `text/plain`. `board.json`, "
    "`board.svg` and `board.txt` in place of `board` say what they are, whatever `Accept` says. `version` is the table "
    "as it was, also in an earlier round; a version that the game has not reached is `invalid`.",
    access="spectator",
    headers=("Accept-Language", "If-None-Match"),
    query=board_schemas.BoardQuery,
    responses={
        200: ResponseSpec(
            description="The table.",
            schema=board_schemas.PlacedBoard,
            headers=VIEW_HEADERS,
            optional_headers=TEXT_HEADERS,
            streams={SVG: _PICTURE, TEXT: _AS_TEXT},
        )
    },
    problems=(*READ_PROBLEMS, "invalid"),
)

GET_BOARD_AS_JSON: Final = Operation(
    id="getBoardAsJson",
    tag="games",
    summary="Get the table as JSON",
    description=f"As `GET /v1/games/{{game}}/board`, always as JSON. {_PUBLIC}",
    access="spectator",
    headers=("Accept-Language", "If-None-Match"),
    query=board_schemas.BoardJsonQuery,
    responses={
        200: ResponseSpec(
            description="The table.",
            schema=board_schemas.PlacedBoard,
            headers=VIEW_HEADERS,
            optional_headers=TEXT_HEADERS,
        ),
    },
    problems=_PROBLEMS,
)

GET_BOARD_AS_SVG: Final = Operation(
    id="getBoardAsSvg",
    tag="games",
    summary="Get the table as a picture",
    description=f"As `GET /v1/games/{{game}}/board`, always as SVG. {_PUBLIC}",
    access="spectator",
    headers=("Accept-Language", "If-None-Match"),
    query=board_schemas.BoardSvgQuery,
    responses={
        200: ResponseSpec(description=_PICTURE, media_type=SVG, headers=(*VIEW_HEADERS, "Content-Language")),
    },
    problems=_PROBLEMS,
)

GET_BOARD_AS_TEXT: Final = Operation(
    id="getBoardAsText",
    tag="games",
    summary="Get the table as text",
    description=f"As `GET /v1/games/{{game}}/board`, always as text. {_PUBLIC}",
    access="spectator",
    headers=("If-None-Match",),
    query=board_schemas.BoardTextQuery,
    responses={
        200: ResponseSpec(description=_AS_TEXT, media_type=TEXT, headers=VIEW_HEADERS),
    },
    problems=_PROBLEMS,
)
