"""The schemas of webhooks, of requests and of responses, and of the messages that they get."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.apps.messages import CHALLENGE, DELETED, MESSAGE_TYPES, PING
from service.outgoing.addresses import MAX_URL_CHARACTERS
from service.web.schemas.fields import BoundedList, RequestSchema, doc
from service.web.schemas.validation import Length, OneOf

_GAME_TYPES: Final = tuple(each for each in MESSAGE_TYPES if each not in (DELETED, PING))


def _url(*, required: bool) -> fields.String:
    return fields.String(
        required=required,
        validate=Length(1, MAX_URL_CHARACTERS),
        metadata=doc(
            "Where messages are posted: `https`, port 443, a host whose addresses are all public.",
            example="https://club.example/hooks/domino",
        ),
    )


def _events(*, required: bool) -> BoundedList:
    return BoundedList(
        fields.String(validate=OneOf(MESSAGE_TYPES)),
        1,
        len(MESSAGE_TYPES),
        required=required,
        metadata=doc("The types of messages that are sent there.", example=["game.turn", "game.finished"]),
    )


class WebhookIn(RequestSchema):
    """An endpoint to be registered."""

    url = _url(required=True)
    events = _events(required=True)


class WebhookChangeIn(RequestSchema):
    """What is to change of an endpoint."""

    url = _url(required=False)
    events = _events(required=False)
    status = fields.String(
        validate=OneOf(("active", "disabled")),
        metadata=doc(
            "`active`: messages are sent again, each game from where it was told; an endpoint that has not answered "
            "its challenge gets another one. `disabled`: none are sent."
        ),
    )


class WebhookSecretIn(RequestSchema):
    """An empty object."""


class PingIn(RequestSchema):
    """An empty object."""


class Webhook(Schema):
    """An endpoint of an application."""

    id = fields.String(required=True, metadata=doc("The id of the endpoint.", example="mfrggzdfmztwq2lk"))
    url = fields.String(required=True, metadata=doc("Where messages are posted."))
    events = fields.List(
        fields.String(),
        required=True,
        metadata=doc("The types of messages that are sent there."),
    )
    status = fields.String(
        required=True,
        metadata=doc(
            "`unverified`: it has not answered its challenge yet; `active`; `failing`: after five failures in a row, "
            "one message is tried at growing intervals; `disabled`: by the application, with 410, or after failing for "
            "three days."
        ),
    )
    failing_since = fields.DateTime(metadata=doc("When the first of the last failures in a row was."))
    created_at = fields.DateTime(required=True, metadata=doc("When it was registered."))


class NewWebhook(Webhook):
    """An endpoint with its secret, which is returned only here."""

    secret = fields.String(
        required=True, metadata=doc("Signs the messages (Standard Webhooks); returned only here.", example="whsec_…")
    )


class WebhookList(Schema):
    """The endpoints of an application."""

    webhooks = fields.List(fields.Nested(Webhook), required=True, metadata=doc("The oldest first."))


class Ping(Schema):
    """A message that will be sent as a test."""

    id = fields.String(required=True, metadata=doc("The id of the message.", example="msg_…"))


class Delivery(Schema):
    """One attempt to deliver a message."""

    id = fields.String(required=True, metadata=doc("The id of the message, the same for all attempts."))
    type = fields.String(required=True, metadata=doc("The type of the message.", example="game.turn"))
    game = fields.String(metadata=doc("The id of the game, if it is about one."))
    at = fields.DateTime(required=True, metadata=doc("When the attempt began."))
    milliseconds = fields.Integer(required=True, metadata=doc("How long it took."))
    status = fields.Integer(metadata=doc("The status of the answer, if there was one.", example=204))
    error = fields.String(
        metadata=doc(
            "What was wrong; absent after a success. `status`: not 2xx; `challenge`: not answered with the challenge; "
            "`given_up`: it failed for three days, and is not sent again. Without an answer: `refused_address`, "
            "`unresolved`, `connection`, `tls`, `timeout`, `too_large`, `not_http`.",
            example="timeout",
        )
    )


class DeliveryList(Schema):
    """The last attempts to deliver to an endpoint."""

    deliveries = fields.List(
        fields.Nested(Delivery), required=True, metadata=doc("The last 100 attempts, the newest first.")
    )


# Messages


def _type(*types: str) -> fields.String:
    names = ", ".join(f"`{name}`" for name in types)
    return fields.String(required=True, metadata=doc(f"The type of the message: {names}.", example=types[0]))


def _timestamp() -> fields.DateTime:
    return fields.DateTime(required=True, metadata=doc("When it happened; the header has the time of the attempt."))


class MessageSeat(Schema):
    """A seat that may move."""

    seat = fields.Integer(required=True, metadata=doc("The number of the seat."))
    ref = fields.String(metadata=doc("The `ref` of its player, if there is one."))


class GameMessageData(Schema):
    """What a message tells of a game: what a spectator may know, and the refs of the application."""

    game = fields.String(required=True, metadata=doc("The id of the game."))
    ref = fields.String(metadata=doc("The `ref` of the game, if it has one."))
    variant = fields.String(required=True, metadata=doc("The id of the variant."))
    version = fields.Integer(required=True, metadata=doc("The version to which what is told has led."))
    seat = fields.Integer(metadata=doc("Who has joined, whose time is over, or whose turn it is."))
    player_ref = fields.String(metadata=doc("The `ref` of that player, if there is one."))
    to_act = fields.List(fields.Nested(MessageSeat), required=True, metadata=doc("The seats that may move after it."))
    deadline = fields.DateTime(metadata=doc("Of a turn with a clock: when its time is over."))


class GameMessage(Schema):
    """A message about a game."""

    type = _type(*_GAME_TYPES)
    timestamp = _timestamp()
    data = fields.Nested(GameMessageData, required=True)


class DeletedMessageData(Schema):
    """Which game was deleted."""

    game = fields.String(required=True, metadata=doc("The id of the game."))
    version = fields.Integer(required=True, metadata=doc("The version to which its deletion has led."))


class DeletedMessage(Schema):
    """A game was deleted."""

    type = _type(DELETED)
    timestamp = _timestamp()
    data = fields.Nested(DeletedMessageData, required=True)


class PingData(Schema):
    """Where the test was asked for."""

    webhook = fields.String(required=True, metadata=doc("The id of the endpoint."))


class PingMessage(Schema):
    """A test."""

    type = _type(PING)
    timestamp = _timestamp()
    data = fields.Nested(PingData, required=True)


class ChallengeData(Schema):
    """What has to be answered."""

    challenge = fields.String(required=True, metadata=doc("A random text."))


class ChallengeMessage(Schema):
    """The first message to a new URL."""

    type = _type(CHALLENGE)
    timestamp = _timestamp()
    data = fields.Nested(ChallengeData, required=True)
