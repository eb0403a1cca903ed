"""The schemas of the table with its geometry, for the OpenAPI document and the tests, and of the queries for it."""

from __future__ import annotations

from typing import Final, get_args

from marshmallow import Schema, fields

from service.engine.tiles import TILES
from service.render.svg import Theme
from service.texts import LANGUAGES, language_names
from service.web.fields.moves import MAX_VERSION
from service.web.fields.shown import SeatedSchema, optional, required
from service.web.fields.strict import OneOf, QueryAspect, RequestSchema, doc, query_boolean, query_integer, string


class AreaSchema(Schema):
    """A rectangle, in units."""

    x = required(int, "Its left side.", example=-17)
    y = required(int, "Its upper side.", example=-11)
    width = required(int, "Its width.", minimum=0, example=34)
    height = required(int, "Its height.", minimum=0, example=22)


class TilePlaceSchema(Schema):
    """Where a tile lies."""

    x = required(int, "Its centre, in units from that of the first tile.", example=-3)
    y = required(int, "Its centre; y grows downwards.", example=0)
    rotation = required(
        int, "0, 90, 180 or 270 degrees, clockwise, of a tile that lies with its smaller half on the left.", example=90
    )


class PlacedTileSchema(SeatedSchema, TilePlaceSchema):
    """A tile on the table with its place."""

    tile = required(str, "The tile.", example="5-12")
    face_down = required(bool, "Whether it lies face down; its pips were shown.", example=False)
    link = fields.List(
        fields.List(
            optional(float, "A coordinate, in units; it may be a half one.", multipleOf=0.5, example=7.5),
            metadata=doc("A point: x and y.", minItems=2, maxItems=2),
        ),
        metadata=doc(
            "A line from the end that the tile covered to the tile, as its end points and corners; only where it was "
            "laid apart, as there was no room for it at the end. It crosses no tile."
        ),
    )


class PlacedEndSchema(Schema):
    """An end with its place."""

    id = required(str, "The id of the end, as in the view.", example="e7")
    number = required(int, "The number to match.", minimum=0, example=12)
    state = required(str, "`open`, `gated` or `closed`, as in the view.", example="open")
    x = required(
        float,
        "The middle of the edge that the tile at `place` will touch. Where that tile turns off, this edge is at "
        "the side of the half to match. Where it will lie apart, `x` and `y` are the point where its `link` "
        "begins. It may be a half unit.",
        multipleOf=0.5,
        example=2,
    )
    y = required(float, "As `x`.", multipleOf=0.5, example=0)
    direction = required(int, "Across that edge, towards the tile: 0 east, 90 south, 180 west, 270 north.", example=0)
    place = required(TilePlaceSchema, "Where a tile would lie that is no double.")
    place_double = required(
        TilePlaceSchema, "Where a double would lie; it may touch another edge of the half to match."
    )


class PlacedBoardSchema(Schema):
    """The table with the place of everything on it.

    A unit is a quarter of the length of a tile: a tile is 4 by 2. The origin is the centre of the first tile. A tile
    never moves while a round lasts.
    """

    version = required(int, "The version of the game.", minimum=1, example=17)
    round = required(int, "From 1; 0 before the first deal.", minimum=0, example=1)
    aspect = required(float, "Width by height of `table`.", example=1.6)
    table = required(
        AreaSchema, "The area planned for the whole round, the same from the first tile on; few tiles lie outside."
    )
    bounds = required(
        AreaSchema, "The area of the tiles, of their links, and of the places at the ends that are not closed."
    )
    tiles = required([PlacedTileSchema], "In the order of play, from the place `from` on.")
    ends = required([PlacedEndSchema], "All ends, as in the view.")
    text = optional(
        str,
        f"With `text=true`: the ends of the table in words, in {language_names(LANGUAGES)}.",
        example="Three tiles lie on the table. Ends: left six, right two.",
    )


_VERSION: Final = query_integer(
    "The version whose table is requested. Default: the current one, which is also the highest.", 1, MAX_VERSION
)


class BoardJsonQuerySchema(RequestSchema):
    """The requested table, as JSON."""

    aspect = QueryAspect()
    from_ = query_integer(
        "Only the tiles from this place on, as tiles never move.", 0, len(TILES), data_key="from", load_default=0
    )
    version = _VERSION
    text = query_boolean("Also the ends in words, as `text`.", load_default=False)


class BoardSvgQuerySchema(RequestSchema):
    """The requested table, as a picture."""

    aspect = QueryAspect()
    version = _VERSION
    theme = string(
        "Its colours; `auto`: `light` or `dark`, as the viewer prefers.",
        load_default="auto",
        validate=OneOf(get_args(Theme)),
    )
    digits = query_boolean("Digits in place of pips, always or never. Default: where pips would be too small.")


class BoardTextQuerySchema(RequestSchema):
    """The requested table, as text."""

    version = _VERSION
