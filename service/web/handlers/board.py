"""``/v1/games/{game}/board``: the table with the place of every tile, as JSON, as a picture and as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from flask import Blueprint, request

from service.engine.errors import Reason
from service.engine.options import LocalizedText
from service.games.access import Access
from service.games.boards import BoardView
from service.games.catalogue import Language, localize
from service.render.drawing import draw
from service.render.layout_text import render_layout, unicode_writer, write_tile
from service.render.svg import Caption, Style, render_svg
from service.web.access import operation
from service.web.openapi.board_operations import GET_BOARD, GET_BOARD_AS_JSON, GET_BOARD_AS_SVG, GET_BOARD_AS_TEXT
from service.web.problems import InvalidBody
from service.web.request_parsing import etag_matches, negotiate, preferred_language, read_query
from service.web.responses import JSON, SVG, TEXT, RawResponse, not_modified, ok_json, picture, plain, to_json
from service.web.schemas import board as board_schemas
from service.web.serializers.board import board_json
from service.web.services import Services

blueprint: Final = Blueprint("board", __name__)

_query_in: Final = board_schemas.BoardQuery()

_TITLES: Final = (
    LocalizedText("Round {round}: {tiles} tiles on the table", "Runde {round}: {tiles} Steine auf dem Tisch"),
    LocalizedText("Round {round}: one tile on the table", "Runde {round}: ein Stein auf dem Tisch"),
)
"""Of pictures with several tiles and with one."""

_WIDTH: Final = 100
"""Columns of a table as text, where possible."""


@blueprint.get("/v1/games/<game>/board")
@operation(GET_BOARD)
def get_board(services: Services, access: Access) -> RawResponse:
    """Get the table as the client accepts it."""
    wants_picture = request.environ.get("HTTP_ACCEPT", "").startswith("image/")
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
        return not_modified(etag)

    def make() -> bytes:
        board = services.games.queries.board(access, query["aspect"], version)
        return _MAKERS[media_type](board, query, language)

    body = services.responses.get((access.game.id, etag), make)
    if media_type == JSON:
        return ok_json(body, etag=etag)
    return plain(body, etag=etag) if media_type == TEXT else picture(body, etag=etag, language=language)


def _as_json(board: BoardView, query: dict[str, Any], _language: Language) -> bytes:
    return to_json(board_json(board, query["from_"]))


def _as_text(board: BoardView, query: dict[str, Any], _language: Language) -> bytes:
    style = query["style"]
    if style == board_schemas.DRAWING:
        lines = draw(board.geometry)
    else:
        write = unicode_writer(board.highest) if style == board_schemas.UNICODE else write_tile
        lines = list(render_layout(board.layout, _WIDTH, write))
    return "".join([f"{line}\n" for line in lines]).encode()


def _as_svg(board: BoardView, query: dict[str, Any], language: Language) -> bytes:
    many = len(board.geometry.tiles)
    title = localize(_TITLES[many == 1], language).format(round=board.round, tiles=many)
    description = "\n".join(render_layout(board.layout, _WIDTH))
    style = Style(query["theme"], query.get("digits"))
    return render_svg(board.geometry, board.highest, Caption(title, description, language), style).encode()


_MAKERS: Final[Mapping[str, Callable[[BoardView, dict[str, Any], Language], bytes]]] = {
    JSON: _as_json,
    SVG: _as_svg,
    TEXT: _as_text,
}
