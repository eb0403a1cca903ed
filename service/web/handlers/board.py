"""``/v1/games/{game}/board``: the table with the place of every tile, as JSON, as a picture and as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from flask import Blueprint, request

from service.engine.errors import Reason
from service.games.access import Access
from service.games.model.views import TableView
from service.render.drawing import draw
from service.render.geometry import Geometry
from service.render.layout_text import render_layout, unicode_writer, write_tile
from service.render.sentences.board import board_description, board_sentence
from service.render.sentences.texts import text
from service.render.svg import Caption, Style, render_svg
from service.texts import Language
from service.web.access import limit_places, operation
from service.web.openapi.board_operations import GET_BOARD, GET_BOARD_AS_JSON, GET_BOARD_AS_SVG, GET_BOARD_AS_TEXT
from service.web.problems import InvalidBody
from service.web.request_parsing import etag_matches, negotiate, preferred_language, read_query
from service.web.responses import (
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
from service.web.schemas import board as board_schemas
from service.web.serializers.board import board_json
from service.web.services import Services

blueprint: Final = Blueprint("board", __name__)

_query_in: Final = board_schemas.BoardQuery()

_WIDTH: Final = 100
"""Columns of a table as text, where possible."""


@blueprint.get("/v1/games/<game>/board")
@operation(GET_BOARD)
def get_board(services: Services, access: Access) -> RawResponse:
    """Get the table as the client accepts it."""
    wants_picture = request.environ.get("HTTP_ACCEPT", "").lower().startswith("image/")
    return _board(services, access, SVG if wants_picture else negotiate(JSON, SVG, TEXT))


@blueprint.get("/v1/games/<game>/board.json")
@operation(GET_BOARD_AS_JSON)
def get_board_as_json(services: Services, access: Access) -> RawResponse:
    """Get the table as JSON."""
    return _board(services, access, JSON)


@blueprint.get("/v1/games/<game>/board.svg")
@operation(GET_BOARD_AS_SVG)
def get_board_as_svg(services: Services, access: Access) -> RawResponse:
    """Get the table as a picture."""
    return _board(services, access, SVG)


@blueprint.get("/v1/games/<game>/board.txt")
@operation(GET_BOARD_AS_TEXT)
def get_board_as_text(services: Services, access: Access) -> RawResponse:
    """Get the table as text."""
    return _board(services, access, TEXT)


def _board(services: Services, access: Access, media_type: str) -> RawResponse:
    query = read_query(_query_in)
    version, reached = query.get("version"), access.game.version
    if version is not None and version > reached:
        raise InvalidBody({"version": [Reason("out_of_range", {"min": 1, "max": reached})]})
    language = preferred_language()
    # What was at an earlier version may be known only to the store, so the tag of every table is that of the game now.
    asked = "-".join([str(query.get(name, "")) for name in _query_in.fields])
    etag = f"{access.game.etag(None)}-{media_type.partition('/')[2]}-{asked}-{language}"
    if etag_matches(etag):
        return picture_not_modified(etag) if media_type == SVG else not_modified(etag)

    def make() -> bytes:
        table = services.games.queries.table(access, version)
        geometry = services.geometries.get(table, query["aspect"], partial(limit_places, services.limits))
        return _MAKERS[media_type](_Board(table, geometry, language), query)

    body = services.responses.get((access.game.id, etag), make)
    if media_type == JSON:
        return ok_json(body, etag=etag, language=language if query["text"] else None)
    return plain(body, etag=etag) if media_type == TEXT else picture(body, etag=etag, language=language)


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
    if style == board_schemas.DRAWING:
        lines = draw(board.geometry)
    else:
        write = (
            unicode_writer(table.highest, doubles_across=table.layout.form.doubles_across)
            if style == board_schemas.UNICODE
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
