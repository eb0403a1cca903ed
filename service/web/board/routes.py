"""``/v1/games/{game}/board.json``, ``.svg`` and ``.txt``: the table as places, as a picture and as text."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import orjson
from flask import Blueprint

from service.engine.errors import Reason
from service.games.access import Access
from service.games.model.tokens import short_digest
from service.games.model.views import TableView
from service.render.geometry import Geometry
from service.render.layout_text import render_layout
from service.render.sentences.board import board_description, board_sentence
from service.render.sentences.texts import text
from service.render.svg import Caption, render_svg
from service.texts import LANGUAGES, Language, language_names
from service.web.board.schemas import BoardJsonQuerySchema, BoardSvgQuerySchema, BoardTextQuerySchema, PlacedBoardSchema
from service.web.board.serializers import board_json
from service.web.http.errors import InvalidBody
from service.web.http.headers import etag_in, etag_matches, preferred_language, read_query
from service.web.http.responses import (
    JSON,
    SVG,
    TEXT,
    RawResponse,
    not_modified,
    ok_json,
    picture,
    picture_not_modified,
    plain,
)
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import PLACES_PER_READ, limit_reads
from service.web.services import Services

blueprint: Final = Blueprint("board", __name__)

_json_query_in: Final = BoardJsonQuerySchema()
_svg_query_in: Final = BoardSvgQuerySchema()
_text_query_in: Final = BoardTextQuerySchema()

_WIDTH: Final = 100
"""Maximum width of a table as text in columns, where possible."""


@blueprint.get("/v1/games/<game>/board.json")
@Operation(
    id="getBoardAsJson",
    tag="games",
    access="spectator",
    headers=("Accept-Language", "If-None-Match"),
    query=BoardJsonQuerySchema,
    fixed_type=True,
    responses={200: ResponseSpec(description="The table.", schema=PlacedBoardSchema)},
)
def get_board_as_json(services: Services, access: Access) -> RawResponse:
    """Get the table with the place of every tile.

    The place of each tile, and the place of the next tile at each end, for clients that draw the table. The same for
    every viewer, with a token or without. A tile never moves while a round lasts, so `from` can leave out the tiles
    that the client has. `version` selects an earlier table, also of an earlier round; a version that the game has not
    reached is `invalid`. `board.svg` is the same table as a picture, `board.txt` as text.
    """
    query = read_query(_json_query_in)
    language = preferred_language() if query["text"] else None
    etag = _etag(access, JSON, query, language)
    if etag_matches(etag):
        return not_modified(etag)

    def make() -> bytes:
        table, geometry = _placed(services, access, query)
        result = board_json(
            geometry, version=table.version, round_number=table.round, aspect=query["aspect"], first=query["from_"]
        )
        if language is not None:
            result["text"] = board_sentence(table.layout, language)
        return orjson.dumps(result)

    body = services.responses.get((access.game.id, etag), make)
    return ok_json(body, etag=etag, language=language)


@blueprint.get("/v1/games/<game>/board.svg")
@Operation(
    id="getBoardAsSvg",
    tag="games",
    access="spectator",
    headers=("Accept-Language", "If-None-Match"),
    query=BoardSvgQuerySchema,
    responses={
        200: ResponseSpec(
            description=(
                "A picture, for an `<img>`: no script, no link to anything else; its texts are in "
                f"{language_names(LANGUAGES)}."
            ),
            media_type=SVG,
        )
    },
)
def get_board_as_svg(services: Services, access: Access) -> RawResponse:
    """Get the table as a picture.

    The tiles have the places of `board.json`. The same for every viewer, with a token or without.
    """
    query = read_query(_svg_query_in)
    language = preferred_language()
    etag, is_fixed = _etag(access, SVG, query, language), "version" in query
    if etag_matches(etag):
        return picture_not_modified(etag, is_fixed=is_fixed)

    def make() -> bytes:
        table, geometry = _placed(services, access, query)
        title = text("board.title" if table.round else "board.title_before", language, round=str(table.round))
        caption = Caption(title, board_description(table.layout, language), language)
        return render_svg(geometry, table.highest, caption, query["theme"], digits=query.get("digits")).encode()

    body = services.responses.get((access.game.id, etag), make)
    return picture(body, etag=etag, language=language, is_fixed=is_fixed)


@blueprint.get("/v1/games/<game>/board.txt")
@Operation(
    id="getBoardAsText",
    tag="games",
    access="spectator",
    headers=("If-None-Match",),
    query=BoardTextQuerySchema,
    responses={
        200: ResponseSpec(
            description="The tiles on the table as lines of text, arm by arm; empty without tiles.", media_type=TEXT
        )
    },
)
def get_board_as_text(services: Services, access: Access) -> RawResponse:
    """Get the table as text.

    For a terminal. The same for every viewer, with a token or without.
    """
    query = read_query(_text_query_in)
    etag = _etag(access, TEXT, query, None)
    if etag_matches(etag):
        return not_modified(etag)

    def make() -> bytes:
        table = services.games.queries.table(access, query.get("version"))
        return "".join([f"{line}\n" for line in render_layout(table.layout, _WIDTH)]).encode()

    return plain(services.responses.get((access.game.id, etag), make), etag=etag)


def _etag(access: Access, media_type: str, query: dict[str, Any], language: Language | None) -> str:
    """Return the ETag of a table in this media type. Raises ``InvalidBody`` for a version that does not exist yet.

    It contains the current ETag of the game even for an earlier version, whose ETag only the store may know.
    """
    version, reached = query.get("version"), access.game.version
    if version is not None and version > reached:
        raise InvalidBody({"version": [Reason("out_of_range", {"min": 1, "max": reached})]})
    query_digest = short_digest(*[f"{name}={value}" for name, value in sorted(query.items())])
    return etag_in(f"{access.game.etag(None)}-{media_type.partition('/')[2]}-{query_digest}", language)


def _placed(services: Services, access: Access, query: dict[str, Any]) -> tuple[TableView, Geometry]:
    table = services.games.queries.table(access, query.get("version"))
    admit = partial(limit_reads, services.limits, per_read=PLACES_PER_READ)
    return table, services.geometries.get(table, query["aspect"], admit)
