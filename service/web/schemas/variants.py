"""The shapes of the games on offer, for the document and for the tests."""

from __future__ import annotations

from marshmallow import Schema, fields

from service.web.schemas.fields import doc


class Range(Schema):
    """Bounds, both included."""

    min = fields.Integer(required=True, metadata=doc("The least.", example=2))
    max = fields.Integer(required=True, metadata=doc("The most.", example=10))


class VariantSummary(Schema):
    """A game on offer."""

    id = fields.String(required=True, metadata=doc("Its id.", example="domino"))
    name = fields.String(required=True, metadata=doc("Its name, in the language asked for.", example="Dominó"))
    summary = fields.String(required=True, metadata=doc("A sentence about it."))
    players = fields.Nested(Range, required=True, metadata=doc("How many can play."))


class Variants(Schema):
    """The games on offer."""

    variants = fields.List(fields.Nested(VariantSummary), required=True, metadata=doc("Sorted by id."))
    bots = fields.List(
        fields.String(), required=True, metadata=doc("The levels of computer players; none yet.", example=[])
    )


class OptionSchema(Schema):
    """An option, as a JSON Schema."""

    title = fields.String(required=True, metadata=doc("Its label.", example="Set"))
    description = fields.String(required=True, metadata=doc("What it does."))
    type = fields.String(required=True, metadata=doc("`integer`, `string` or `boolean`.", example="integer"))
    enum = fields.List(fields.Raw(), metadata=doc("The values it takes, if they are few.", example=[6, 9, 12]))
    minimum = fields.Integer(metadata=doc("The least value.", example=1))
    maximum = fields.Integer(metadata=doc("The greatest value.", example=100))
    default = fields.Raw(metadata=doc("What it is when left out; absent where that depends on the players."))


class OptionsSchema(Schema):
    """The options of a game, as a JSON Schema."""

    type = fields.String(required=True, metadata=doc("Always `object`.", example="object"))
    properties = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(OptionSchema),
        required=True,
        metadata=doc("Every option by its key."),
    )
    unevaluatedProperties = fields.Boolean(  # noqa: N815 # JSON Schema's own name; its sibling breaks generated clients
        required=True, metadata=doc("Always `false`.", example=False)
    )


class DealRow(Schema):
    """How a number of players is dealt."""

    set = fields.Integer(required=True, metadata=doc("The highest double of the set.", example=6))
    players = fields.Integer(required=True, metadata=doc("How many play.", example=4))
    hand = fields.Integer(required=True, metadata=doc("Tiles in each hand.", example=7))
    stock = fields.Integer(required=True, metadata=doc("Tiles left over.", example=0))
    drawable = fields.Integer(required=True, metadata=doc("How many of them can be drawn.", example=0))


class Scoring(Schema):
    """How a game is scored."""

    best = fields.String(required=True, metadata=doc("`highest` or `lowest`: which total wins.", example="lowest"))
    text = fields.String(required=True, metadata=doc("In a few words."))


class Variant(VariantSummary):
    """A game in full."""

    edition = fields.Integer(required=True, metadata=doc("Counts the changes of its rules.", example=1))
    language = fields.String(required=True, metadata=doc("Of the texts: `en` or `de`.", example="en"))
    options = fields.Nested(OptionsSchema, required=True, metadata=doc("What `rules` may hold when creating."))
    deals = fields.List(fields.Nested(DealRow), required=True, metadata=doc("The deal table."))
    scoring = fields.Nested(Scoring, required=True, metadata=doc("How it is scored."))
    rules = fields.String(required=True, metadata=doc("The rules as a page to play from, in Markdown."))
