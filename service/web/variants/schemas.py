"""The schemas and serializers of variants, in the language of the reader."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.engine.options import Option
from service.engine.variant import Variant
from service.games.model.seats import LEVELS
from service.games.queries.catalogue import (
    deal_table,
    level_name,
    level_strength,
    option_description,
    option_title,
    value_titles,
)
from service.render.example_table import example_table
from service.texts import DEFAULT_LANGUAGE, LANGUAGES, Language, rule_page, text
from service.web.fields.shown import optional, required
from service.web.fields.strict import JsonObject, doc

_LANGUAGES: Final = " or ".join([f"`{language}`" for language in LANGUAGES])


class BoundsSchema(Schema):
    """Bounds, both included."""

    min = required(int, "The minimum.", example=2)
    max = required(int, "The maximum.", example=10)


class OtherNameSchema(Schema):
    """Another name of a game."""

    name = required(str, "The name.", example="Козёл")
    language = required(str, "Its language, as a language tag.", example="ru")
    region = required(str, "Where the game is called so.", example="Russia, Ukraine")


class ExampleTileSchema(Schema):
    """A tile on the table of an example, with its place as in `GET …/board.json`."""

    tile = required(str, "The tile.", example="3-5")
    x = required(int, "Its centre, to the right; a tile is 4 by 2.", example=4)
    y = required(int, "Its centre, downwards.", example=0)
    rotation = required(int, "0, 90, 180 or 270 degrees clockwise; at 0 the smaller half is left.", example=90)
    face_down = required(bool, "Whether it lies face down.", example=False)


class VariantSummarySchema(Schema):
    """An available variant."""

    id = required(str, "Its id.", example="domino")
    name = required(str, "Its name, in the requested language.", example="Dominó")
    summary = required(str, "A description in one sentence.")
    players = required(BoundsSchema, "The possible numbers of players.")
    difficulty = required(
        int,
        "How hard it is for beginners. 1: matching numbers is all that there is to know. 2: one thing more, such "
        "as a partner, arms, or several tiles in a turn. 3: the ends are added up at each tile, or several such "
        "things.",
        minimum=1,
        maximum=3,
        example=1,
    )
    minutes = required(
        int, "About how long a match with the default options takes at six seconds a move.", minimum=1, example=15
    )
    also_known_as = required([OtherNameSchema], "What its players call it elsewhere; may be empty.")
    example = required(
        [ExampleTileSchema], "An invented table in the middle of a round, for a small picture: always the same one."
    )


class BotSchema(Schema):
    """A level of computer players."""

    id = required(str, "Its id, as `bot` of a player.", example="greedy")
    name = required(str, "What it is called.", example="Medium")
    summary = required(str, "How it chooses its moves, in one sentence.")


class VariantBotSchema(BotSchema):
    """A level of computer players, and how strong it is in this game."""

    strength = required(str, "How strong it is, with what was measured in this game; a tie counts half.")


class VariantListSchema(Schema):
    """The available variants."""

    variants = required([VariantSummarySchema], "Sorted by id.")
    bots = required([BotSchema], "The levels of computer players, from weak to strong.")


class OptionValueSchema(Schema):
    """A value of an option, as a JSON Schema."""

    const = required(fields.Raw, "The value.", example="puerto_rico")
    title = required(str, "What it is called.", example="Puerto Rico")


class OptionSchemaSchema(Schema):
    """An option, as a JSON Schema."""

    title = required(str, "Its label.", example="Set")
    description = required(str, "What it does.")
    type = required(str, "`integer`, `string` or `boolean`.", example="integer")
    enum = optional([fields.Raw], "The possible values, if they are few.", example=[6, 9, 12])
    oneOf = optional(  # noqa: N815 # JSON Schema's own name
        [OptionValueSchema], "The same values with what they are called, where they have names."
    )
    minimum = optional(int, "The smallest value.", example=1)
    maximum = optional(int, "The greatest value.", example=100)
    default = optional(fields.Raw, "The default; absent where it depends on the number of players.")


class OptionsSchemaSchema(Schema):
    """The options of a variant, as a JSON Schema."""

    type = required(str, "Always `object`.", example="object")
    properties = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(OptionSchemaSchema),
        required=True,
        metadata=doc("Every option by its key."),
    )
    unevaluatedProperties = required(  # noqa: N815 # JSON Schema's own name; its sibling breaks generated clients
        bool, "Always `false`.", example=False
    )


class DealRowSchema(Schema):
    """A row of the deal table."""

    set = required(int, "The highest double of the set.", example=6)
    players = required(int, "The number of players.", example=4)
    hand = required(int, "Tiles in each hand.", example=7)
    stock = required(int, "Tiles left over.", example=0)
    drawable = required(int, "The number of them that can be drawn.", example=0)


class WordSchema(Schema):
    """A word of the players of a game, with which the `text` of a score line may begin."""

    word = required(str, "The word, in the players' own language.", example="bruk")
    text = required(str, "What it means.")


class ScoringSchema(Schema):
    """The scoring of a variant."""

    unit = required(str, "What totals count: `points`, or `wins` of rounds.", example="points")
    words = required([WordSchema], "The players' words; empty in most games.")

    best = required(str, "`highest` or `lowest`: which total wins.", example="lowest")
    text = required(str, "A short description.")


class VariantSchema(VariantSummarySchema):
    """A variant in full."""

    edition = required(int, "The edition of its rules, from 1.", example=1)
    language = required(str, f"The language of the texts: {_LANGUAGES}.", example=DEFAULT_LANGUAGE)
    options = required(OptionsSchemaSchema, "The possible contents of `options` when a game is created.")
    deals = required([DealRowSchema], "The deal table.")
    scoring = required(ScoringSchema, "The scoring.")
    bots = required([VariantBotSchema], "The levels of computer players, from weak to strong.")
    rules = required(str, "The rules, as a page in Markdown.")


def bots_json(language: Language) -> list[JsonObject]:
    """Return the levels of computer players."""
    return [_bot(level, language) for level in LEVELS]


def _bot(level: str, language: Language) -> JsonObject:
    return {"id": level, "name": level_name(level, language), "summary": text(f"levels.{level}.summary", language)}


def variant_summary_json(variant: Variant, language: Language) -> JsonObject:
    """Return a variant in the list of variants."""
    return {
        "id": variant.key,
        "name": text(f"games.{variant.key}.name", language),
        "summary": text(f"games.{variant.key}.summary", language),
        "players": {"min": variant.players.low, "max": variant.players.high},
        "difficulty": variant.difficulty,
        "minutes": variant.minutes,
        "also_known_as": [
            {
                "name": alias.name,
                "language": alias.language,
                "region": text(f"games.{variant.key}.regions.{alias.name}", language),
            }
            for alias in variant.aliases
        ],
        "example": [
            {"tile": laid.tile.name, "x": laid.x, "y": laid.y, "rotation": laid.rotation, "face_down": laid.face_down}
            for laid in example_table(variant)
        ],
    }


def variant_json(variant: Variant, language: Language) -> JsonObject:
    """Return a variant in full: its options as a JSON Schema, its deals, its scoring, its rules."""
    return {
        **variant_summary_json(variant, language),
        "edition": variant.edition,
        "language": language,
        "options": {
            "type": "object",
            "properties": {option.key: _option(variant, option, language) for option in variant.options},
            "unevaluatedProperties": False,
        },
        "deals": [
            {"set": row.highest, "players": row.players, "hand": row.hand, "stock": row.stock, "drawable": row.drawable}
            for row in deal_table(variant.key)
        ],
        "scoring": {
            "best": variant.best,
            "unit": variant.unit,
            "words": [
                {"word": word, "text": text(f"games.{variant.key}.words.{word}", language)} for word in variant.words
            ],
            "text": text(f"games.{variant.key}.scoring", language),
        },
        "bots": [{**_bot(level, language), "strength": level_strength(level, variant, language)} for level in LEVELS],
        "rules": rule_page(variant.key, language),
    }


def _option(variant: Variant, option: Option, language: Language) -> JsonObject:
    result: JsonObject = {
        "title": option_title(variant, option, language),
        "description": option_description(variant, option, language),
    }
    if option.values:
        kinds = {bool: "boolean", int: "integer", str: "string"}
        result["type"] = kinds[type(option.values[0])]
        if result["type"] != "boolean":
            result["enum"] = list(option.values)
        titles = value_titles(variant, option, language)
        if titles:
            named = zip(option.values, titles, strict=True)
            result["oneOf"] = [{"const": value, "title": title} for value, title in named]
    else:
        result |= {"type": "integer", "minimum": option.low, "maximum": option.high}
    if option.default is not None:
        result["default"] = option.default
    return result
