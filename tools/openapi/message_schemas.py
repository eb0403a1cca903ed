"""The schemas of the messages that the service sends to the endpoints of applications.

No operation of the service refers to them. Does not depend on how a message is made or sent.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, fields

from service.backends.webhooks.messages import CHALLENGE, DELETED, MESSAGE_TYPES, PING
from service.web.fields.shown import SeatResultSchema, optional, rematch_of_field, required, waiting_for_field

_GAME_TYPES: Final = tuple(each for each in MESSAGE_TYPES if each not in (DELETED, PING))


def _type(*types: str) -> fields.Field[Any]:
    names = ", ".join(f"`{name}`" for name in types)
    return required(str, f"The type of the message: {names}.", example=types[0])


def _timestamp() -> fields.Field[Any]:
    return required(datetime, "When it happened; the header has the time of the attempt.")


def _sample() -> fields.Field[Any]:
    return optional(bool, "`true`: a sample that was asked for as a test, all of whose data is invented; else absent.")


class GameMessageDataSchema(Schema):
    """What a message tells of a game: what a spectator may know, and the refs of the application."""

    game_id = required(str, "The id of the game.")
    ref = optional(str, "The `ref` of the game, if it has one.")
    variant = required(str, "The id of the variant.")
    version = required(int, "The version to which what is told has led.")
    seat = optional(int, "Who has joined, whose time is over, or whose turn it is.")
    player_ref = optional(str, "The `ref` of that player, if there is one.")
    to_act = required([int], "The seats that may move after it.", example=[2])
    waiting_for = waiting_for_field(required=True)
    deadline = optional(datetime, "Of a turn with a clock: when its time is over.")
    rematch_of = rematch_of_field("Of `game.created`")
    winners = optional([int], "Of `game.finished`: the seats that have won the match.", example=[1])
    players = optional(
        [SeatResultSchema], "Of `game.finished`: what the match has come to for each seat, in seat order."
    )
    sample = _sample()


class GameMessageSchema(Schema):
    """A message about a game."""

    type = _type(*_GAME_TYPES)
    timestamp = _timestamp()
    data = fields.Nested(GameMessageDataSchema, required=True)


class DeletedMessageDataSchema(Schema):
    """Which game was deleted."""

    game_id = required(str, "The id of the game.")
    version = required(int, "The version to which its deletion has led.")
    sample = _sample()


class DeletedMessageSchema(Schema):
    """A game was deleted."""

    type = _type(DELETED)
    timestamp = _timestamp()
    data = fields.Nested(DeletedMessageDataSchema, required=True)


class PingDataSchema(Schema):
    """Where the test was asked for."""

    webhook = required(str, "The id of the endpoint.")


class PingMessageSchema(Schema):
    """A test."""

    type = _type(PING)
    timestamp = _timestamp()
    data = fields.Nested(PingDataSchema, required=True)


class ChallengeDataSchema(Schema):
    """What has to be answered."""

    challenge = required(str, "A random text.")


class ChallengeMessageSchema(Schema):
    """The first message to a new URL."""

    type = _type(CHALLENGE)
    timestamp = _timestamp()
    data = fields.Nested(ChallengeDataSchema, required=True)
