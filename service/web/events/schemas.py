"""The schemas of events, for the document and for the tests."""

from __future__ import annotations

from datetime import datetime

from marshmallow import Schema

from service.games.model.game_events import GAME_EVENT_TYPES
from service.web.fields.moves import MAX_VERSION
from service.web.fields.shown import (
    MAX_WAIT_SECONDS,
    SeatResultSchema,
    digest,
    optional,
    rematch_of_field,
    required,
    seat_field,
    text_field,
    waiting_for_field,
)
from service.web.fields.strict import RequestSchema, query_boolean, query_integer
from service.web.view.schemas import LOSER, WINNER, GameSchema, HandLeftSchema, MancheSchema, ScoreLineSchema


class EventDataSchema(Schema):
    """The data of an event; each type has some of these fields.

    `created`: `commitment`, unless arranged. `dealt`: `round`, `arranged`, for a seat its `hand`, and unless arranged
    `client_seeds` and `next_commitment`. `played`: `tile`, `end`, `face_down`, where listed moves have it `outer`,
    where plays score `points`, and where ends are counted `ends_sum`. `drew`: `tile`, for the seat that drew it;
    it and `passed`: `auto`, `true` where the service made the move, as the seat had no choice.
    `joined`: `name`. `filled`: `name`, `bot`. `started`: `seats`. `renamed`: `name`, unless only what the application
    calls the player is another. `round_ended`: the round as in the score card. `timed_out`: `then`. `claimed`: `by`.
    `finished`: `winners`, and `ended_by` if that was not by the rules. `rematched`: `game_id`. `reset`: `view`.
    """

    round = optional(int, "The number of the round that was dealt.", minimum=1, example=1)
    arranged = optional(bool, "Whether the deal was arranged, not shuffled.", example=False)
    hand = optional([str], "The bearer's own hand.", example=["0-5", "5-12"])
    commitment = digest("The commitment to the seed of the first round.")
    client_seeds = optional([str], "The client seed of each seat; empty without one.", example=["", "mu"])
    next_commitment = digest("The commitment to the seed of the next round.")
    tile = optional(str, "The tile that was laid or drawn.", example="5-12")
    end = optional(str, "The end where it was laid; absent for the first tile.", example="e7")
    face_down = optional(bool, "Whether it was laid face down.", example=False)
    outer = optional(
        int,
        "The half of the tile that stayed outside, where listed moves have `outer`; absent for the first tile.",
        example=6,
    )
    points = optional(int, "The points that the tile scored, 0 too, where plays score.", example=4)
    ends_sum = optional(int, "The sum of the ends after it, where ends are counted.", example=28)
    auto = optional(bool, "`true` for a move without a choice that the service made.", example=True)
    name = optional(str, "The current name of the player who joined or was renamed.", example="Bo")
    winners = optional([int], "The seats that have won the match.", example=[0])
    bot = optional(str, "The level of the computer player that took the seat.", example="casual")
    seats = optional(
        [int],
        "The former seats of the players who begin the match: the first is seat 0 from now on, and so on.",
        example=[0, 2],
    )
    game_id = optional(str, "Of `rematched`: the id of the new game.")
    view = optional(GameSchema, "Of `reset`: the bearer's view of the game as it is now.")
    number = optional(int, "The number of the round that was counted.", minimum=1, example=1)
    ended_by = optional(
        str,
        "How the round ended: `out`, `blocked`, `closed`, `flip` or `target`. Of `finished`: `forfeit`, where "
        "all sides but one have forfeited.",
        example="out",
    )
    then = optional(
        str,
        "What follows: `bot` (a computer player plays the seat from now on), `move` (it plays this one turn) or "
        "`forfeit` (as `bot`, and the seat forfeits).",
        example="bot",
    )
    by = seat_field("The seat that claimed.")
    winner = WINNER
    loser = LOSER
    manche = optional(MancheSchema, "The stars after the round; only in games with manches.")
    hands = optional([HandLeftSchema], "The hands of all seats that were in the match.")
    scores = optional([int], "The points of the round, one number per seat.", example=[5, 0])
    carried = optional(int, "What the round adds to the `carry` of the view.", minimum=0, example=0)
    lines = optional([ScoreLineSchema], "The score lines that explain every point.")


class GameEventSchema(Schema):
    """An event of a game."""

    version = required(int, "The version of the game after the event.", minimum=1, example=18)
    type = required(
        str,
        f"{', '.join(f'`{kind.name}`' for kind in GAME_EVENT_TYPES)}; "
        "`reset`, which contains the current game, where the requested events are no longer stored; `deleted`, the "
        "last one, if the game is deleted; and in a stream `closing`, the last one before the service stops.",
        example="played",
    )
    seat = seat_field("The seat that caused the event or is affected by it.")
    to_act = optional(
        [int],
        "The seats that may move after the event, as in the game view. A move may cause several events, as a play that "
        "ends the round; those of the last one count. Absent in `closing`.",
        example=[2],
    )
    at = required(datetime, "The time of the event.", example="2026-01-06T19:30:00.000Z")
    text = optional(
        str,
        "With `text=true`: a sentence for the bearer about it, at most 140 characters, in the language of the "
        "response; absent in `closing`.",
        example="Bo played four six on the right; ends one and six.",
    )
    data = required(EventDataSchema, "The data of the event.")


class StreamItemSchema(Schema):
    """An item of a stream: of the events of a game, or of the feed of an application.

    Only `type` and `version` are in all of them. The others are those of `GameEvent` in the one stream and of
    `FeedItem` in the other; the item `view` follows events.
    """

    type = required(str, "As of the events of a game and of the feed, and `view`.", example="played")
    version = required(int, "The version of the game; in the feed 0 in `reset` and `closing`.", minimum=0, example=18)
    cursor = optional(str, "In the feed: the place of the item; opaque.", example="1767727800000-3")
    game_id = optional(str, "In the feed: the id of the game; absent in `reset` and `closing`.")
    ref = optional(str, "In the feed: what the application calls the game now.", example="match-17")
    seat = seat_field("The seat that caused the event or is affected by it.")
    to_act = optional([int], "The seats that may move after the event.", example=[2])
    waiting_for = waiting_for_field(" In the feed.")
    deadline = optional(datetime, "In the feed: the deadline of the next move.")
    at = optional(datetime, "The time of the event.", example="2026-01-06T19:30:00.000Z")
    text = optional(
        str,
        "In the stream of a game with `text=true`: a sentence for the bearer about the event.",
        example="Bo played four six on the right; ends one and six.",
    )
    data = optional(EventDataSchema, "In the stream of a game: the data of the event.")
    game = optional(GameSchema, "In the item `view`: the game as the bearer sees it.")
    winners = optional([int], "In the feed, of `finished`: the seats that have won the match.", example=[1])
    rematch_of = rematch_of_field("In the feed, of `created`")
    players = optional([SeatResultSchema], "In the feed, of `finished`: the result of each seat, in seat order.")


class EventPageSchema(Schema):
    """A page of events."""

    events = required([GameEventSchema], "Oldest first.")
    version = required(
        int,
        "The cursor for the next request, as `after`: the version of the last event here, or the requested one.",
        minimum=0,
        example=18,
    )
    more = required(bool, "Whether there are more events already.", example=False)
    game = optional(GameSchema, "With `view=true`: the bearer's view of the game at `version`.")


class EventsQuerySchema(RequestSchema):
    """The requested events."""

    after = query_integer(
        "The version after which events are requested; the cursor of the last page.", 0, MAX_VERSION, load_default=0
    )
    limit = query_integer("The maximum number of events in a page.", 1, 1000, load_default=100)
    wait = query_integer(
        "Seconds that a page waits for an event (long poll); ignored for streams.", 0, MAX_WAIT_SECONDS, load_default=0
    )
    view = query_boolean(
        "Also the bearer's view of the game: in a page as `game`, in a stream as an item after events.",
        load_default=False,
    )
    text = text_field("for each event, as its `text`, and with `view` for the view")
