"""The operations on games: what the OpenAPI document says of them, and who may call them."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import BODY_PROBLEMS, READ_PROBLEMS, VIEW_HEADERS, Operation, ResponseSpec
from service.web.schemas import events as event_schemas
from service.web.schemas import game as game_schemas
from service.web.schemas import requests as request_schemas
from service.web.schemas import score as score_schemas
from service.web.streams import NDJSON, SSE

_WRITE_PROBLEMS: Final = ("key_reused", "outcome_unknown")

CREATE_GAME: Final = Operation(
    id="createGame",
    tag="games",
    summary="Create a game",
    description="Names the seats and agrees on the house rules. Answers every seat's token, shown this once. "
    "The first deal happens as soon as no seat is open.",
    body=request_schemas.GameIn,
    headers=("Idempotency-Key",),
    responses={
        201: ResponseSpec(
            description="The game, as a spectator sees it, and the tokens.",
            schema=game_schemas.Opened,
            headers=("Location", "Cache-Control"),
            replayable=True,
            limited=True,
        )
    },
    problems=(*BODY_PROBLEMS, "rate_limited", "not_acceptable", *_WRITE_PROBLEMS),
)

GET_GAME: Final = Operation(
    id="getGame",
    tag="games",
    summary="Look at a game",
    description="The game as the bearer of the token may know it; without a token, as a spectator. With the "
    "bearer's legal moves, so that a client needs to know no rule.",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The game view.", schema=game_schemas.Game, headers=VIEW_HEADERS)},
    problems=READ_PROBLEMS,
)

JOIN_GAME: Final = Operation(
    id="joinGame",
    tag="games",
    summary="Take an open seat",
    description="Takes the first open seat with the game's join code. When it was the last one, the first "
    "round is dealt.",
    access="spectator",
    body=request_schemas.PlayerIn,
    headers=("Idempotency-Key",),
    responses={
        201: ResponseSpec(
            description="The seat, its token, shown this once, and the game as its owner sees it.",
            schema=game_schemas.Taken,
            headers=("Location", "Cache-Control"),
            replayable=True,
        )
    },
    problems=(*READ_PROBLEMS, "forbidden", *BODY_PROBLEMS, *_WRITE_PROBLEMS, "seats_taken"),
)

CHANGE_TOKEN: Final = Operation(
    id="changeToken",
    tag="games",
    summary="Change the token of a seat",
    description="Gives the bearer's own seat a new token, shown this once; the old one is worth nothing from "
    "then on, on whatever device it is. The body is empty, or an empty object.",
    access="own_seat",
    body=request_schemas.TokenIn,
    headers=("Idempotency-Key",),
    responses={
        201: ResponseSpec(
            description="The seat and its new token.",
            schema=game_schemas.SeatToken,
            headers=("Location", "Cache-Control"),
            replayable=True,
        )
    },
    problems=(*READ_PROBLEMS, "forbidden", *BODY_PROBLEMS, *_WRITE_PROBLEMS),
)

GET_MOVES: Final = Operation(
    id="getMoves",
    tag="moves",
    summary="The legal moves now",
    description="What the bearer's seat may do now, each ready to be posted back as it stands; none for a "
    "spectator, and none when it is not the seat's turn.",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The legal moves.", schema=game_schemas.LegalMoves, headers=VIEW_HEADERS)},
    problems=READ_PROBLEMS,
)

MAKE_MOVE: Final = Operation(
    id="makeMove",
    tag="moves",
    summary="Make a move",
    description="Makes one move for the bearer's seat. A refused move changes nothing and says why, with the "
    "legal moves as they are. With `version` or `If-Match`, the move is made at that version or not at all.",
    access="seat",
    body=request_schemas.MoveIn,
    headers=("If-Match", "Idempotency-Key"),
    responses={
        201: ResponseSpec(
            description="The game as the mover now sees it.",
            schema=game_schemas.Game,
            headers=("Location", *VIEW_HEADERS),
            replayable=True,
            limited=True,
        )
    },
    problems=(
        *READ_PROBLEMS,
        *BODY_PROBLEMS,
        *_WRITE_PROBLEMS,
        "stale_version",
        "not_your_turn",
        "illegal_move",
        "not_started",
        "round_over",
        "game_over",
    ),
)

GET_SCORE: Final = Operation(
    id="getScore",
    tag="games",
    summary="Read the score",
    description="The standings, every round's count explained line by line, and the settlement.",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The score card.", schema=score_schemas.Score, headers=VIEW_HEADERS)},
    problems=READ_PROBLEMS,
)

GET_EVENTS: Final = Operation(
    id="getEvents",
    tag="games",
    summary="Follow a game",
    description="What has happened after a version, as the bearer of the token may know it; without a token, "
    "as a spectator. By `Accept` as a page of JSON, with `wait` as a long poll, or as a stream: "
    "`text/event-stream` (each event's `id` is its version; no event has a name, so `onmessage` gets all) or "
    "`application/x-ndjson` (an event a line). A stream sends an empty comment or line at least every 15 s "
    "and ends after `finished`; asked again after that it is 204. Before the service stops it sends an event "
    "`closing`; connect again. Where the events asked for are not kept any more, or have never been, one "
    "event `reset` brings the game as it is now.",
    access="spectator",
    headers=("Last-Event-ID",),
    query=request_schemas.EventsQuery,
    responses={
        200: ResponseSpec(
            description="Events, oldest first.",
            schema=event_schemas.Events,
            headers=("Cache-Control", "Vary"),
            streams={SSE: "Each `data` is an event.", NDJSON: "Each line is an event."},
        ),
        204: ResponseSpec(
            description="As a stream: the match is finished, and there is nothing after this version.",
            media_type=None,
        ),
    },
    problems=(*READ_PROBLEMS, "invalid", "too_many_streams"),
)
