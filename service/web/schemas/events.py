"""The shapes of what has happened in a game, for the document and for the tests."""

from __future__ import annotations

from marshmallow import Schema, fields

from service.games.game import GAME_EVENT_TYPES
from service.web.schemas.fields import doc
from service.web.schemas.game import Game, digest, seat_field
from service.web.schemas.score import HandLeft, ScoreLine


class EventData(Schema):
    """What there is to say of an event; each kind has some of these.

    `created`: `commitment`, unless arranged. `dealt`: `round`, `arranged`, for a seat its `hand`, and unless arranged
    `client_seeds` and `next_commitment`. `played`: `tile`, `end`, `face_down`, and where ends are
    counted `points` and `ends_sum`. `drew`: `tile`, for who drew it. `joined`: `name`. `round_ended`: the round as in
    the score card. `finished`: `winners`. `reset`: `game`.
    """

    round = fields.Integer(metadata=doc("The number of the round that was dealt.", minimum=1, example=1))
    arranged = fields.Boolean(metadata=doc("Whether the deal was arranged, not shuffled.", example=False))
    hand = fields.List(fields.String(), metadata=doc("The bearer's own hand.", example=["0-5", "5-12"]))
    commitment = digest("What binds the seed of the first round.")
    client_seeds = fields.List(
        fields.String(), metadata=doc("What each seat has added to the luck; empty for nothing.", example=["", "mu"])
    )
    next_commitment = digest("What binds the seed of the next round.")
    tile = fields.String(metadata=doc("The tile that was laid or drawn.", example="5-12"))
    end = fields.String(metadata=doc("Where it was laid; absent for the first tile.", example="e7"))
    face_down = fields.Boolean(metadata=doc("Whether it was laid face down.", example=False))
    points = fields.Integer(metadata=doc("What the tile scored, where ends are counted.", example=4))
    ends_sum = fields.Integer(metadata=doc("The sum of the ends after it, where ends are counted.", example=28))
    name = fields.String(metadata=doc("Who has joined.", example="Bo"))
    winners = fields.List(fields.Integer(), metadata=doc("The seats that have won the match.", example=[0]))
    game = fields.Nested(Game, metadata=doc("The game as it is now."))
    number = fields.Integer(metadata=doc("The number of the round that was counted.", minimum=1, example=1))
    ended_by = fields.String(metadata=doc("`out`, `blocked`, `closed` or `flip`.", example="out"))
    winner = seat_field("Who laid their last tile first; in `menschenwolf` the winner of the round; else absent.")
    loser = seat_field("The single loser, in `menschenwolf`.")
    hands = fields.List(fields.Nested(HandLeft), metadata=doc("The hands of everybody who was in."))
    scores = fields.List(fields.Integer(), metadata=doc("What the round wrote, a number a seat.", example=[5, 0]))
    carried = fields.Integer(metadata=doc("What the round carried on.", minimum=0, example=0))
    lines = fields.List(fields.Nested(ScoreLine), metadata=doc("Every point explained."))


class Event(Schema):
    """Something that has happened."""

    version = fields.Integer(required=True, metadata=doc("The version it led to.", minimum=1, example=18))
    type = fields.String(
        required=True,
        metadata=doc(
            f"{', '.join(f'`{kind.name}`' for kind in GAME_EVENT_TYPES)}; "
            "`reset`, which brings the game as it is now, where the "
            "events asked for are not kept any more; and in a stream `closing`, the last one before the service stops.",
            example="played",
        ),
    )
    seat = fields.Integer(metadata=doc("Whose doing it was, or whom it is about.", minimum=0, example=2))
    at = fields.DateTime(required=True, metadata=doc("When.", example="2026-01-06T19:30:00.000Z"))
    data = fields.Nested(EventData, required=True, metadata=doc("What there is to say of it."))


class Events(Schema):
    """A page of what has happened."""

    events = fields.List(fields.Nested(Event), required=True, metadata=doc("Oldest first."))
    version = fields.Integer(
        required=True,
        metadata=doc(
            "The version to go on from, as `after`: that of the last event here, or what was asked for.",
            minimum=0,
            example=18,
        ),
    )
    more = fields.Boolean(required=True, metadata=doc("Whether there were more events already.", example=False))
