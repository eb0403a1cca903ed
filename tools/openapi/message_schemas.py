"""The schemas of the messages that the service sends to the endpoints of applications.

No operation of the service refers to them. Does not depend on how a message is made or sent.
"""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.backends.webhooks.messages import CHALLENGE, DELETED, MESSAGE_TYPES, PING
from service.web.fields.shown import rematch_of_field, results_field, to_act_field, waiting_for_field, winners_field
from service.web.fields.strict import doc

_GAME_TYPES: Final = tuple(each for each in MESSAGE_TYPES if each not in (DELETED, PING))


def _type(*types: str) -> fields.String:
    names = ", ".join(f"`{name}`" for name in types)
    return fields.String(required=True, metadata=doc(f"The type of the message: {names}.", example=types[0]))


def _timestamp() -> fields.DateTime:
    return fields.DateTime(required=True, metadata=doc("When it happened; the header has the time of the attempt."))


def _sample() -> fields.Boolean:
    return fields.Boolean(
        metadata=doc("`true`: a sample that was asked for as a test, all of whose data is invented; else absent.")
    )


class GameMessageDataSchema(Schema):
    """What a message tells of a game: what a spectator may know, and the refs of the application."""

    game_id = fields.String(required=True, metadata=doc("The id of the game."))
    ref = fields.String(metadata=doc("The `ref` of the game, if it has one."))
    variant = fields.String(required=True, metadata=doc("The id of the variant."))
    version = fields.Integer(required=True, metadata=doc("The version to which what is told has led."))
    seat = fields.Integer(metadata=doc("Who has joined, whose time is over, or whose turn it is."))
    player_ref = fields.String(metadata=doc("The `ref` of that player, if there is one."))
    to_act = to_act_field("The seats that may move after it.", required=True)
    waiting_for = waiting_for_field(required=True)
    deadline = fields.DateTime(metadata=doc("Of a turn with a clock: when its time is over."))
    rematch_of = rematch_of_field("Of `game.created`")
    winners = winners_field("Of `game.finished`: the seats that have won the match.")
    players = results_field("Of `game.finished`: what the match has come to for each seat, in seat order.")
    sample = _sample()


class GameMessageSchema(Schema):
    """A message about a game."""

    type = _type(*_GAME_TYPES)
    timestamp = _timestamp()
    data = fields.Nested(GameMessageDataSchema, required=True)


class DeletedMessageDataSchema(Schema):
    """Which game was deleted."""

    game_id = fields.String(required=True, metadata=doc("The id of the game."))
    version = fields.Integer(required=True, metadata=doc("The version to which its deletion has led."))
    sample = _sample()


class DeletedMessageSchema(Schema):
    """A game was deleted."""

    type = _type(DELETED)
    timestamp = _timestamp()
    data = fields.Nested(DeletedMessageDataSchema, required=True)


class PingDataSchema(Schema):
    """Where the test was asked for."""

    webhook = fields.String(required=True, metadata=doc("The id of the endpoint."))


class PingMessageSchema(Schema):
    """A test."""

    type = _type(PING)
    timestamp = _timestamp()
    data = fields.Nested(PingDataSchema, required=True)


class ChallengeDataSchema(Schema):
    """What has to be answered."""

    challenge = fields.String(required=True, metadata=doc("A random text."))


class ChallengeMessageSchema(Schema):
    """The first message to a new URL."""

    type = _type(CHALLENGE)
    timestamp = _timestamp()
    data = fields.Nested(ChallengeDataSchema, required=True)
