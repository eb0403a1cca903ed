"""The schemas of variants, for the document and for the tests."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.texts import DEFAULT_LANGUAGE, LANGUAGES
from service.web.fields.strict import doc

_LANGUAGES: Final = " or ".join([f"`{language}`" for language in LANGUAGES])


class BoundsSchema(Schema):
    """Bounds, both included."""

    min = fields.Integer(required=True, metadata=doc("The minimum.", example=2))
    max = fields.Integer(required=True, metadata=doc("The maximum.", example=10))


class OtherNameSchema(Schema):
    """Another name of a game."""

    name = fields.String(required=True, metadata=doc("The name.", example="Козёл"))
    language = fields.String(required=True, metadata=doc("Its language, as a language tag.", example="ru"))
    region = fields.String(required=True, metadata=doc("Where the game is called so.", example="Russia, Ukraine"))


class VariantSummarySchema(Schema):
    """An available variant."""

    id = fields.String(required=True, metadata=doc("Its id.", example="domino"))
    name = fields.String(required=True, metadata=doc("Its name, in the requested language.", example="Dominó"))
    summary = fields.String(required=True, metadata=doc("A description in one sentence."))
    players = fields.Nested(BoundsSchema, required=True, metadata=doc("The possible numbers of players."))
    minutes = fields.Integer(
        required=True,
        metadata=doc(
            "About how long a match with the default options takes at six seconds a move.", minimum=1, example=15
        ),
    )
    also_known_as = fields.List(
        fields.Nested(OtherNameSchema), required=True, metadata=doc("What its players call it elsewhere; may be empty.")
    )


class BotSchema(Schema):
    """A level of computer players."""

    id = fields.String(required=True, metadata=doc("Its id, as `bot` of a player.", example="greedy"))
    summary = fields.String(required=True, metadata=doc("How it chooses its moves, in one sentence."))


class VariantBotSchema(BotSchema):
    """A level of computer players, and how strong it is in this game."""

    strength = fields.String(
        required=True, metadata=doc("How strong it is, with what was measured in this game; a tie counts half.")
    )


class VariantListSchema(Schema):
    """The available variants."""

    variants = fields.List(fields.Nested(VariantSummarySchema), required=True, metadata=doc("Sorted by id."))
    bots = fields.List(
        fields.Nested(BotSchema), required=True, metadata=doc("The levels of computer players, from weak to strong.")
    )


class OptionSchemaSchema(Schema):
    """An option, as a JSON Schema."""

    title = fields.String(required=True, metadata=doc("Its label.", example="Set"))
    description = fields.String(required=True, metadata=doc("What it does."))
    type = fields.String(required=True, metadata=doc("`integer`, `string` or `boolean`.", example="integer"))
    enum = fields.List(fields.Raw(), metadata=doc("The possible values, if they are few.", example=[6, 9, 12]))
    minimum = fields.Integer(metadata=doc("The smallest value.", example=1))
    maximum = fields.Integer(metadata=doc("The greatest value.", example=100))
    default = fields.Raw(metadata=doc("The default; absent where it depends on the number of players."))


class OptionsSchemaSchema(Schema):
    """The options of a variant, as a JSON Schema."""

    type = fields.String(required=True, metadata=doc("Always `object`.", example="object"))
    properties = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(OptionSchemaSchema),
        required=True,
        metadata=doc("Every option by its key."),
    )
    unevaluatedProperties = fields.Boolean(  # noqa: N815 # JSON Schema's own name; its sibling breaks generated clients
        required=True, metadata=doc("Always `false`.", example=False)
    )


class DealRowSchema(Schema):
    """A row of the deal table."""

    set = fields.Integer(required=True, metadata=doc("The highest double of the set.", example=6))
    players = fields.Integer(required=True, metadata=doc("The number of players.", example=4))
    hand = fields.Integer(required=True, metadata=doc("Tiles in each hand.", example=7))
    stock = fields.Integer(required=True, metadata=doc("Tiles left over.", example=0))
    drawable = fields.Integer(required=True, metadata=doc("The number of them that can be drawn.", example=0))


class ScoringSchema(Schema):
    """The scoring of a variant."""

    best = fields.String(required=True, metadata=doc("`highest` or `lowest`: which total wins.", example="lowest"))
    text = fields.String(required=True, metadata=doc("A short description."))


class VariantSchema(VariantSummarySchema):
    """A variant in full."""

    edition = fields.Integer(required=True, metadata=doc("The edition of its rules, from 1.", example=1))
    language = fields.String(
        required=True, metadata=doc(f"The language of the texts: {_LANGUAGES}.", example=DEFAULT_LANGUAGE)
    )
    options = fields.Nested(
        OptionsSchemaSchema, required=True, metadata=doc("The possible contents of `rules` when a game is created.")
    )
    deals = fields.List(fields.Nested(DealRowSchema), required=True, metadata=doc("The deal table."))
    scoring = fields.Nested(ScoringSchema, required=True, metadata=doc("The scoring."))
    bots = fields.List(
        fields.Nested(VariantBotSchema),
        required=True,
        metadata=doc("The levels of computer players, from weak to strong."),
    )
    rules = fields.String(required=True, metadata=doc("The rules, as a page in Markdown."))
