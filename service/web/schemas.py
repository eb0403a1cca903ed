"""The shapes of what goes out, for the document and for the tests; ``present`` makes the answers themselves."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from service.engine.moves import ACTIONS
from service.web.fields import about
from service.web.house_rules import option_fields


def _shown_tile(text: str, **arguments: Any) -> fields.String:
    return fields.String(metadata=about(text, example="5-12"), **arguments)


def seat_field(text: str = "A seat, from 0, clockwise.", **arguments: Any) -> fields.Integer:
    """The number of a seat."""
    return fields.Integer(metadata=about(text, minimum=0, example=2), **arguments)


class SeatOut(Schema):
    """A seat."""

    seat = seat_field(required=True)


class Turn(SeatOut):
    """Whose turn it is."""


class You(SeatOut):
    """The bearer's own seat."""

    hand = fields.List(_shown_tile("A tile."), required=True, metadata=about("Your tiles, sorted."))
    rows = fields.List(
        fields.Integer(),
        metadata=about("The row (rules 3.10) of each tile of `hand`, in the same order; in `fido` only."),
    )


class Move(Schema):
    """A legal move, ready to be posted back as it stands."""

    action = fields.String(
        required=True, metadata=about(f"One of {', '.join(f'`{each}`' for each in ACTIONS)}.", example="play")
    )
    tile = _shown_tile("The tile, of a play.")
    end = fields.String(metadata=about("Where it joins; absent on the empty table.", example="e7"))
    face_down = fields.Boolean(metadata=about("Whether the double is laid face down; of a play."))
    version = fields.Integer(required=True, metadata=about("The version the move is for.", minimum=1, example=17))
    ends_sum = fields.Integer(metadata=about("The sum of the ends after it, where ends are counted.", example=28))
    points = fields.Integer(metadata=about("What it scores, where ends are counted.", example=4))


class Player(SeatOut):
    """What everybody knows of a player."""

    name = fields.String(metadata=about("Absent while the seat is open.", example="Ada"))
    kind = fields.String(required=True, metadata=about("`human`, `bot` or `open`.", example="human"))
    tiles = fields.Integer(required=True, metadata=about("How many tiles are in the hand.", minimum=0, example=5))
    total = fields.Integer(
        required=True,
        metadata=about("The match score so far; in `fido` the points of the running round count at once.", example=9),
    )
    in_ = fields.Boolean(
        required=True, data_key="in", metadata=about("Whether the player is still in the match.", example=True)
    )
    team = fields.Integer(metadata=about("The team, in team games.", minimum=0, example=0))


class Stock(Schema):
    """The undealt tiles."""

    tiles = fields.Integer(required=True, metadata=about("How many there are.", minimum=0, example=19))
    drawable = fields.Integer(required=True, metadata=about("How many can be drawn.", minimum=0, example=19))


class On(Schema):
    """What a tile was attached to."""

    tile = _shown_tile("The host tile.", required=True)
    side = fields.String(
        required=True,
        metadata=about("`end` (the outer half of a non-double), `long` or `short` (of a double).", example="long"),
    )


class LaidTile(SeatOut):
    """A tile on the table."""

    tile = _shown_tile("The tile.", required=True)
    face_down = fields.Boolean(required=True, metadata=about("Whether it lies face down; it was shown.", example=False))
    on = fields.Nested(On, metadata=about("What it was attached to; absent for the first tile."))


class End(Schema):
    """A place that is, was or may become playable."""

    id = fields.String(required=True, metadata=about("Names the end as long as it lasts.", example="e7"))
    number = fields.Integer(required=True, metadata=about("The number to match.", minimum=0, example=12))
    tile = _shown_tile("The tile it belongs to.", required=True)
    side = fields.String(required=True, metadata=about("`end`, `long` or `short`.", example="short"))
    open = fields.Boolean(
        required=True,
        metadata=about("`false`: closed by a face-down double, or not open yet.", example=True),
    )
    counts = fields.Integer(required=True, metadata=about("What it adds to `ends_sum`.", minimum=0, example=12))


class Board(Schema):
    """The table."""

    tiles = fields.List(fields.Nested(LaidTile), required=True, metadata=about("In the order of play."))
    ends = fields.List(fields.Nested(End), required=True, metadata=about("None on an empty table."))
    ends_sum = fields.Integer(metadata=about("The sum of the ends, where ends are counted.", minimum=0, example=34))


RulesOut = Schema.from_dict(
    option_fields(
        sent=False,
        divisor=fields.Integer(metadata=about("By what the sum of the ends is divided; in `fido`.", example=7)),
    ),
    name="Rules",
)


def digest(text: str, **arguments: Any) -> fields.String:
    """256 bits in hexadecimal."""
    return fields.String(metadata=about(text, pattern="^[0-9a-f]{64}$", example="9f" * 32), **arguments)


class Commitment(Schema):
    """What binds the server to the seed of a round before it is told; `GET …/fairness` has the rest."""

    round = fields.Integer(required=True, metadata=about("The round it is for.", minimum=1, example=1))
    commitment = digest("SHA-256 over a label and the seed, in hexadecimal.", required=True)


class Game(Schema):
    """A game as the bearer of the token may know it; without a token, as a spectator."""

    id = fields.String(required=True, metadata=about("Opaque.", example="5m1Gd5tIvN3vYhYkS0oJGA"))
    variant = fields.String(required=True, metadata=about("Which game is played.", example="fido"))
    rules = fields.Nested(RulesOut, required=True, metadata=about("The house rules in force."))
    arranged = fields.Boolean(required=True, metadata=about("Whether the chance was fixed by somebody.", example=False))
    status = fields.String(
        required=True,
        metadata=about(
            "`waiting` (open seats), `playing`, `round_over` (a deal is due) or `finished`.", example="playing"
        ),
    )
    version = fields.Integer(required=True, metadata=about("The number of the last event.", minimum=1, example=17))
    round = fields.Integer(required=True, metadata=about("From 1; 0 before the first deal.", minimum=0, example=1))
    turn = fields.Nested(Turn, metadata=about("Whose turn it is; absent unless `playing`."))
    you = fields.Nested(You, metadata=about("Absent for a spectator."))
    legal_moves = fields.List(
        fields.Nested(Move), required=True, metadata=about("What you may do now; empty when it is not your turn.")
    )
    players = fields.List(fields.Nested(Player), required=True, metadata=about("In seat order."))
    stock = fields.Nested(Stock, required=True, metadata=about("The undealt tiles."))
    board = fields.Nested(Board, required=True, metadata=about("After a round it lies as it is until the next deal."))
    carry = fields.Integer(
        required=True,
        metadata=about("Points waiting for the next single loser (`menschenwolf`).", minimum=0, example=0),
    )
    dealer = seat_field("Who deals, in the games that have a dealer.")
    commitments = fields.List(
        fields.Nested(Commitment),
        metadata=about("To the seeds of the round dealt last, if any, and of the next; absent in an arranged game."),
    )
    winners = fields.List(fields.Integer(), required=True, metadata=about("The seats that have won.", example=[]))
    created_at = fields.DateTime(required=True, metadata=about("When the game was created."))
    updated_at = fields.DateTime(required=True, metadata=about("When the last event happened."))
    expires_at = fields.DateTime(required=True, metadata=about("When it is forgotten unless it goes on."))


class SeatToken(SeatOut):
    """A seat with the token that plays it."""

    name = fields.String(required=True, metadata=about("Who sits there.", example="Ada"))
    token = fields.String(required=True, metadata=about("Sent as `Authorization: Bearer`; shown this once."))


class Opened(Schema):
    """A game just created."""

    game = fields.Nested(Game, required=True, metadata=about("As a spectator sees it."))
    seats = fields.List(fields.Nested(SeatToken), required=True, metadata=about("Every named seat with its token."))
    join_code = fields.String(metadata=about("Takes an open seat; only with open seats.", example="KJ2W3ZQ7P6XA5BCD"))


class Taken(SeatToken):
    """A seat just taken."""

    game = fields.Nested(Game, required=True, metadata=about("As its new owner sees it."))


class LegalMoves(Schema):
    """What the bearer's seat may do now."""

    version = fields.Integer(required=True, metadata=about("The version of the game.", minimum=1, example=17))
    turn = fields.Nested(Turn, metadata=about("Whose turn it is; absent unless `playing`."))
    moves = fields.List(fields.Nested(Move), required=True, metadata=about("The legal moves, in a fixed order."))


class Standing(SeatOut):
    """A seat's place in the match."""

    name = fields.String(metadata=about("Absent while the seat is open.", example="Ada"))
    total = fields.Integer(required=True, metadata=about("The match score so far.", example=625))
    rank = fields.Integer(required=True, metadata=about("From 1; ties share a rank.", minimum=1, example=1))
    in_ = fields.Boolean(required=True, data_key="in", metadata=about("Still in the match.", example=True))


class HandLeft(SeatOut):
    """A hand as the round left it."""

    tiles = fields.List(_shown_tile("A tile."), required=True, metadata=about("Sorted."))
    value = fields.Integer(required=True, metadata=about("What it counts.", minimum=0, example=5))


class ScoreLine(SeatOut):
    """Some points, explained."""

    points = fields.Integer(required=True, metadata=about("The points.", example=625))
    rule = fields.String(required=True, metadata=about("The number of the rule.", example="1.8"))
    text = fields.String(required=True, metadata=about("The arithmetic.", example="(25 ÷ 4 − 0) × 100"))


class Round(Schema):
    """The count of a round."""

    number = fields.Integer(required=True, metadata=about("From 1.", minimum=1, example=1))
    ended_by = fields.String(required=True, metadata=about("`out`, `blocked`, `closed` or `flip`.", example="out"))
    winner = seat_field("Who laid their last tile first; in `menschenwolf` the winner of the round; else absent.")
    loser = seat_field("The single loser, in `menschenwolf`.")
    hands = fields.List(fields.Nested(HandLeft), required=True, metadata=about("Of everybody who was in."))
    scores = fields.List(
        fields.Integer(),
        required=True,
        metadata=about(
            "What the round wrote, a number a seat; in teams every seat carries its team's.", example=[5, 0]
        ),
    )
    carried = fields.Integer(required=True, metadata=about("What this round carried on.", minimum=0, example=0))
    lines = fields.List(
        fields.Nested(ScoreLine), required=True, metadata=about("Every point explained; they add up to the scores.")
    )


class Amount(SeatOut):
    """What a seat gets, or pays if negative."""

    amount = fields.Float(required=True, metadata=about("Rounded to two decimals.", example=-8))
    exact = fields.String(required=True, metadata=about("An integer or a fraction.", example="77/3"))


class Payment(Schema):
    """What one seat hands to another."""

    from_ = seat_field("Who pays.", required=True, data_key="from")
    to = seat_field("Who is paid.", required=True)
    amount = fields.Float(required=True, metadata=about("Rounded to two decimals.", example=8))
    exact = fields.String(required=True, metadata=about("An integer or a fraction.", example="8"))


class Settlement(Schema):
    """Who pays what to whom."""

    mode = fields.String(required=True, metadata=about("`average`, `difference` or `fixed`.", example="average"))
    amounts = fields.List(fields.Nested(Amount), required=True, metadata=about("One a seat; they add up to 0."))
    payments = fields.List(fields.Nested(Payment), required=True, metadata=about("Payments that make them up."))


class Score(Schema):
    """The score card."""

    game = fields.String(required=True, metadata=about("The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA"))
    version = fields.Integer(required=True, metadata=about("The version of the game.", minimum=1, example=40))
    status = fields.String(required=True, metadata=about("As in the game view.", example="finished"))
    best = fields.String(required=True, metadata=about("`highest` or `lowest`: which total wins.", example="highest"))
    standings = fields.List(fields.Nested(Standing), required=True, metadata=about("From first to last."))
    rounds = fields.List(fields.Nested(Round), required=True, metadata=about("The rounds that have been counted."))
    carry = fields.Integer(
        required=True, metadata=about("Points waiting for the next single loser.", minimum=0, example=0)
    )
    winners = fields.List(fields.Integer(), required=True, metadata=about("The seats that have won.", example=[0]))
    settlement = fields.Nested(Settlement, metadata=about("In `dominospiel`, when finished."))


class EventData(Schema):
    """What there is to say of an event; each kind has some of these.

    `created`: `commitment`, unless arranged. `dealt`: `round`, `arranged`, for a seat its `hand`, and unless arranged
    `client_seeds` and `next_commitment`. `played`: `tile`, `end`, `face_down`, and where ends are
    counted `points` and `ends_sum`. `drew`: `tile`, for who drew it. `joined`: `name`. `round_ended`: the round as in
    the score card. `finished`: `winners`. `reset`: `game`.
    """

    round = fields.Integer(metadata=about("The number of the round that was dealt.", minimum=1, example=1))
    arranged = fields.Boolean(metadata=about("Whether the deal was arranged, not shuffled.", example=False))
    hand = fields.List(fields.String(), metadata=about("The bearer's own hand.", example=["0-5", "5-12"]))
    commitment = digest("What binds the seed of the first round.")
    client_seeds = fields.List(
        fields.String(), metadata=about("What each seat has added to the luck; empty for nothing.", example=["", "mu"])
    )
    next_commitment = digest("What binds the seed of the next round.")
    tile = fields.String(metadata=about("The tile that was laid or drawn.", example="5-12"))
    end = fields.String(metadata=about("Where it was laid; absent for the first tile.", example="e7"))
    face_down = fields.Boolean(metadata=about("Whether it was laid face down.", example=False))
    points = fields.Integer(metadata=about("What the tile scored, where ends are counted.", example=4))
    ends_sum = fields.Integer(metadata=about("The sum of the ends after it, where ends are counted.", example=28))
    name = fields.String(metadata=about("Who has joined.", example="Bo"))
    winners = fields.List(fields.Integer(), metadata=about("The seats that have won the match.", example=[0]))
    game = fields.Nested(Game, metadata=about("The game as it is now."))
    number = fields.Integer(metadata=about("The number of the round that was counted.", minimum=1, example=1))
    ended_by = fields.String(metadata=about("`out`, `blocked`, `closed` or `flip`.", example="out"))
    winner = seat_field("Who laid their last tile first; in `menschenwolf` the winner of the round; else absent.")
    loser = seat_field("The single loser, in `menschenwolf`.")
    hands = fields.List(fields.Nested(HandLeft), metadata=about("The hands of everybody who was in."))
    scores = fields.List(fields.Integer(), metadata=about("What the round wrote, a number a seat.", example=[5, 0]))
    carried = fields.Integer(metadata=about("What the round carried on.", minimum=0, example=0))
    lines = fields.List(fields.Nested(ScoreLine), metadata=about("Every point explained."))


class Event(Schema):
    """Something that has happened."""

    version = fields.Integer(required=True, metadata=about("The version it led to.", minimum=1, example=18))
    type = fields.String(
        required=True,
        metadata=about(
            "`created`, `joined`, `token_changed`, `dealt`, `played`, `drew`, `passed`, `done`, `flipped`, "
            "`round_ended`, `eliminated`, `finished`; `reset`, which brings the game as it is now, where the "
            "events asked for are not kept any more; and in a stream `closing`, the last one before the service stops.",
            example="played",
        ),
    )
    seat = fields.Integer(metadata=about("Whose doing it was, or whom it is about.", minimum=0, example=2))
    at = fields.DateTime(required=True, metadata=about("When.", example="2026-01-06T19:30:00.000Z"))
    data = fields.Nested(EventData, required=True, metadata=about("What there is to say of it."))


class Events(Schema):
    """A page of what has happened."""

    events = fields.List(fields.Nested(Event), required=True, metadata=about("Oldest first."))
    version = fields.Integer(
        required=True,
        metadata=about(
            "The version to go on from, as `after`: that of the last event here, or what was asked for.",
            minimum=0,
            example=18,
        ),
    )
    more = fields.Boolean(required=True, metadata=about("Whether there were more events already.", example=False))


class Range(Schema):
    """Bounds, both included."""

    min = fields.Integer(required=True, metadata=about("The least.", example=2))
    max = fields.Integer(required=True, metadata=about("The most.", example=10))


class VariantSummary(Schema):
    """A game on offer."""

    id = fields.String(required=True, metadata=about("Its id.", example="domino"))
    name = fields.String(required=True, metadata=about("Its name, in the language asked for.", example="Dominó"))
    summary = fields.String(required=True, metadata=about("A sentence about it."))
    players = fields.Nested(Range, required=True, metadata=about("How many can play."))


class Variants(Schema):
    """The games on offer."""

    variants = fields.List(fields.Nested(VariantSummary), required=True, metadata=about("Sorted by id."))
    bots = fields.List(
        fields.String(), required=True, metadata=about("The levels of computer players; none yet.", example=[])
    )


class OptionSchema(Schema):
    """An option, as a JSON Schema."""

    title = fields.String(required=True, metadata=about("Its label.", example="Set"))
    description = fields.String(required=True, metadata=about("What it does."))
    type = fields.String(required=True, metadata=about("`integer`, `string` or `boolean`.", example="integer"))
    enum = fields.List(fields.Raw(), metadata=about("The values it takes, if they are few.", example=[6, 9, 12]))
    minimum = fields.Integer(metadata=about("The least value.", example=1))
    maximum = fields.Integer(metadata=about("The greatest value.", example=100))
    default = fields.Raw(metadata=about("What it is when left out; absent where that depends on the players."))


class OptionsSchema(Schema):
    """The options of a game, as a JSON Schema."""

    type = fields.String(required=True, metadata=about("Always `object`.", example="object"))
    properties = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(OptionSchema),
        required=True,
        metadata=about("Every option by its key."),
    )
    unevaluatedProperties = fields.Boolean(  # noqa: N815 # JSON Schema's own name; its sibling breaks generated clients
        required=True, metadata=about("Always `false`.", example=False)
    )


class DealRow(Schema):
    """How a number of players is dealt."""

    set = fields.Integer(required=True, metadata=about("The highest double of the set.", example=6))
    players = fields.Integer(required=True, metadata=about("How many play.", example=4))
    hand = fields.Integer(required=True, metadata=about("Tiles in each hand.", example=7))
    stock = fields.Integer(required=True, metadata=about("Tiles left over.", example=0))
    drawable = fields.Integer(required=True, metadata=about("How many of them can be drawn.", example=0))


class Scoring(Schema):
    """How a game is scored."""

    best = fields.String(required=True, metadata=about("`highest` or `lowest`: which total wins.", example="lowest"))
    text = fields.String(required=True, metadata=about("In a few words."))


class Variant(VariantSummary):
    """A game in full."""

    edition = fields.Integer(required=True, metadata=about("Counts the changes of its rules.", example=1))
    language = fields.String(required=True, metadata=about("Of the texts: `en` or `de`.", example="en"))
    options = fields.Nested(OptionsSchema, required=True, metadata=about("What `rules` may hold when creating."))
    deals = fields.List(fields.Nested(DealRow), required=True, metadata=about("The deal table."))
    scoring = fields.Nested(Scoring, required=True, metadata=about("How it is scored."))
    rules = fields.String(required=True, metadata=about("The rules as a page to play from, in Markdown."))


class Health(Schema):
    """The service is there."""

    status = fields.String(required=True, metadata=about("Always `ok`.", example="ok"))


class Problem(Schema):
    """A refusal (RFC 9457)."""

    type = fields.String(required=True, metadata=about("Where the code is explained.", example="/docs#illegal_move"))
    title = fields.String(required=True, metadata=about("The kind of problem.", example="Illegal move"))
    status = fields.Integer(required=True, metadata=about("The HTTP status.", example=409))
    detail = fields.String(
        required=True, metadata=about("A sentence for people.", example="This tile fits no open end.")
    )
    code = fields.String(required=True, metadata=about("A stable word for programs.", example="illegal_move"))
    errors = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        metadata=about("With `invalid`: the complaints by the path of the field.", example={"tile": ["Not a string."]}),
    )
    version = fields.Integer(metadata=about("With a refused move: the version of the game.", minimum=1, example=17))
    legal_moves = fields.List(fields.Nested(Move), metadata=about("With a refused move: what you may do now."))
    retry_after = fields.Integer(metadata=about("With 429 and 503: seconds to wait.", minimum=0, example=1))
