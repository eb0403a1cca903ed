"""``/v1/games/{game}/board``: the table with the place of every tile, as JSON, as a picture and as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from flask import Blueprint

from service.engine.errors import Reason
from service.games.access import Access
from service.games.model.tokens import short_digest
from service.games.model.views import TableView
from service.render.geometry import Geometry
from service.render.layout_text import render_layout, unicode_writer, write_tile
from service.render.sentences.board import board_description, board_sentence
from service.render.sentences.texts import text
from service.render.svg import Caption, Style, render_svg
from service.render.text_picture import draw
from service.texts import LANGUAGES, Language, named
from service.web.board.schemas import (
    DRAWING,
    UNICODE,
    BoardJsonQuerySchema,
    BoardQuerySchema,
    BoardSvgQuerySchema,
    BoardTextQuerySchema,
    PlacedBoardSchema,
)
from service.web.board.serializers import board_json
from service.web.http.current import current_environ
from service.web.http.errors import InvalidBody
from service.web.http.headers import etag_matches, negotiate, preferred_language
from service.web.http.query import read_query
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
    to_json,
)
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import limit_places
from service.web.services import Services

blueprint: Final = Blueprint("board", __name__)

_query_in: Final = BoardQuerySchema()

_PICTURE: Final = (
    f"A picture, for an `<img>`: no script, no link to anything else; its texts are in {named(LANGUAGES)}."
)
_AS_TEXT: Final = "The tiles on the table as lines of text; empty without tiles."

_WIDTH: Final = 100
"""Columns of a table as text, where possible."""


@blueprint.get("/v1/games/<game>/board")
@Operation(
    id="getBoard",
    tag="games",
    access="spectator",
    headers=("Accept-Language", "If-None-Match"),
    query=BoardQuerySchema,
    responses={
        200: ResponseSpec(
            description="The table.",
            schema=PlacedBoardSchema,
            streams={
                SVG: _PICTURE,
                TEXT: _AS_TEXT,
            },
        )
    },
)
def get_board(services: Services, access: Access) -> RawResponse:
    """Get the table with the place of every tile.

    Where the tiles lie, and where a tile would lie at each end: for clients that draw the table. The same for every
    viewer, with a token or without. A tile never moves while a round lasts, so that `from` brings what is new. By
    `Accept` as JSON; as a picture, which an `<img>` gets (every `Accept` that begins with `image/`); or as
    `text/plain`. `board.json`, `board.svg` and `board.txt` in place of `board` say what they are, whatever `Accept`
    says. `version` is the table as it was, also in an earlier round; a version that the game has not reached is
    `invalid`.
    """
    wants_picture = current_environ().get("HTTP_ACCEPT", "").lower().startswith("image/")
    return _board(services, access, SVG if wants_picture else negotiate(JSON, SVG, TEXT))


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
    """Get the table as JSON.

    As `GET /v1/games/{game}/board`, always as JSON. The same for every viewer, with a token or without.
    """
    return _board(services, access, JSON)


@blueprint.get("/v1/games/<game>/board.svg")
@Operation(
    id="getBoardAsSvg",
    tag="games",
    access="spectator",
    headers=("Accept-Language", "If-None-Match"),
    query=BoardSvgQuerySchema,
    responses={
        200: ResponseSpec(
            description=_PICTURE,
            media_type=SVG,
        )
    },
)
def get_board_as_svg(services: Services, access: Access) -> RawResponse:
    """Get the table as a picture.

    As `GET /v1/games/{game}/board`, always as SVG. The same for every viewer, with a token or without.
    """
    return _board(services, access, SVG)


@blueprint.get("/v1/games/<game>/board.txt")
@Operation(
    id="getBoardAsText",
    tag="games",
    access="spectator",
    headers=("If-None-Match",),
    query=BoardTextQuerySchema,
    responses={200: ResponseSpec(description=_AS_TEXT, media_type=TEXT)},
)
def get_board_as_text(services: Services, access: Access) -> RawResponse:
    """Get the table as text.

    As `GET /v1/games/{game}/board`, always as text. The same for every viewer, with a token or without.
    """
    return _board(services, access, TEXT)


def _board(services: Services, access: Access, media_type: str) -> RawResponse:
    query = read_query(_query_in)
    version, reached = query.get("version"), access.game.version
    if version is not None and version > reached:
        raise InvalidBody({"version": [Reason("out_of_range", {"min": 1, "max": reached})]})
    language, is_fixed = preferred_language(), version is not None
    # What was at an earlier version may be known only to the store, so the tag of every table is that of the game now.
    asked = short_digest(*[str(query.get(name, "")) for name in _query_in.fields])
    etag = f"{access.game.etag(None)}-{media_type.partition('/')[2]}-{asked}-{language}"
    if etag_matches(etag):
        return picture_not_modified(etag, is_fixed=is_fixed) if media_type == SVG else not_modified(etag)

    def make() -> bytes:
        table = services.games.queries.table(access, version)
        geometry = services.geometries.get(table, query["aspect"], partial(limit_places, services.limits))
        return _MAKERS[media_type](_Board(table, geometry, language), query)

    body = services.responses.get((access.game.id, etag), make)
    if media_type == JSON:
        return ok_json(body, etag=etag, language=language if query["text"] else None)
    if media_type == TEXT:
        return plain(body, etag=etag)
    return picture(body, etag=etag, language=language, is_fixed=is_fixed)


class _Board(NamedTuple):
    """A table, where its tiles lie, and the language of its texts."""

    table: TableView
    geometry: Geometry
    language: Language


def _as_json(board: _Board, query: dict[str, Any]) -> bytes:
    table, geometry, language = board
    result = board_json(table, query["aspect"], geometry, query["from_"])
    if query["text"]:
        result["text"] = board_sentence(table.layout, language)
    return to_json(result)


def _as_text(board: _Board, query: dict[str, Any]) -> bytes:
    table, style = board.table, query["style"]
    if style == DRAWING:
        lines = draw(board.geometry)
    else:
        write = (
            unicode_writer(table.highest, doubles_across=table.layout.form.doubles_across)
            if style == UNICODE
            else write_tile
        )
        lines = list(render_layout(table.layout, _WIDTH, write))
    return "".join([f"{line}\n" for line in lines]).encode()


def _as_svg(board: _Board, query: dict[str, Any]) -> bytes:
    table, geometry, language = board
    title = text("board.title" if table.round else "board.title_before", language, round=str(table.round))
    caption = Caption(title, board_description(table.layout, language), language)
    return render_svg(geometry, table.highest, caption, Style(query["theme"], query.get("digits"))).encode()


_MAKERS: Final[Mapping[str, Callable[[_Board, dict[str, Any]], bytes]]] = {
    JSON: _as_json,
    SVG: _as_svg,
    TEXT: _as_text,
}
