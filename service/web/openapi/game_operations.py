"""The descriptions of the operations on games, with the access they require."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import (
    BODY_PROBLEMS,
    READ_PROBLEMS,
    TEXT_HEADERS,
    VIEW_HEADERS,
    Operation,
    ResponseSpec,
)
from service.web.request_parsing import TOKEN_KEY_LENGTH
from service.web.schemas import events as event_schemas
from service.web.schemas import game as game_schemas
from service.web.schemas import moves as move_schemas
from service.web.schemas import requests as request_schemas
from service.web.schemas import score as score_schemas
from service.web.streams import NDJSON, SSE

_WRITE_PROBLEMS: Final = ("key_reused", "outcome_unknown")
_TOKEN_PROBLEMS: Final = (*_WRITE_PROBLEMS, "secret_changed")

CREATE_GAME: Final = Operation(
    id="createGame",
    tag="games",
    summary="Create a game",
    description="Creates a game with its seats and house rules. Returns the token of every named seat, only here. "
    "The first round is dealt as soon as no seat is open. Computer players move by themselves, and deal where no "
    "player is left to do it. With the key of an application, the game belongs to that.",
    access="anyone_or_app",
    body=request_schemas.GameInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The game, as a spectator or, with a key, its application sees it, and the tokens.",
            schema=game_schemas.CreatedGameSchema,
            headers=("Location", "Cache-Control"),
            replayable=True,
            limited=True,
        )
    },
    problems=("unauthorized", *BODY_PROBLEMS, "rate_limited", "not_acceptable", *_TOKEN_PROBLEMS),
)

GET_GAME: Final = Operation(
    id="getGame",
    tag="games",
    summary="Get a game",
    description="The game as the bearer of the token may know it; without a token, as a spectator. It contains the "
    "legal moves of the bearer, so that a client need not implement any rules. With `after` and `wait` it is a long "
    "poll: answered as soon as the version of the game is past `after`, at the latest after `wait` seconds, at once if "
    "the match is finished; then 304 if `If-None-Match` is still current, else 200. While it waits it counts as a "
    "stream. With `text=true` the view has a sentence for people in `text`, in the language that `Accept-Language` "
    "prefers; its `ETag` is then one of that language, and as good for `If-Match` as the other.",
    access="spectator",
    headers=("If-None-Match", "Accept-Language"),
    query=request_schemas.GameQuerySchema,
    responses={
        200: ResponseSpec(
            description="The game view.",
            schema=game_schemas.GameSchema,
            headers=VIEW_HEADERS,
            optional_headers=TEXT_HEADERS,
        )
    },
    problems=(*READ_PROBLEMS, "invalid", "too_many_streams"),
)

JOIN_GAME: Final = Operation(
    id="joinGame",
    tag="games",
    summary="Take an open seat",
    description="Takes the first open seat, by the join code of the game. If it was the last one, the first round "
    "is dealt. The application that owns the game takes it for one of its users: with its key no code is needed, and "
    "with `ref` whatever follows, such as the first `game.turn`, is told of that user.",
    access="join",
    body=request_schemas.PlayerInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The seat with its token, which is returned only here, and the game as its player sees it.",
            schema=game_schemas.CreatedSeatSchema,
            headers=("Location", "Cache-Control"),
            replayable=True,
            limited=True,
        )
    },
    problems=(*READ_PROBLEMS, "forbidden", *BODY_PROBLEMS, *_TOKEN_PROBLEMS, "seats_taken"),
)

CHANGE_TOKEN: Final = Operation(
    id="changeToken",
    tag="games",
    summary="Change the token of a seat",
    description="Gives the bearer's own seat a new token, which is returned only here; the old one is revoked. The "
    "application that owns the game may do it for any seat that has a token, without it: for who has lost it. The body "
    "is empty, or an empty object.",
    access="token_change",
    body=request_schemas.EmptyInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The seat and its new token.",
            schema=game_schemas.CreatedTokenSchema,
            headers=("Location", "Cache-Control"),
            replayable=True,
        )
    },
    problems=(*READ_PROBLEMS, "forbidden", *BODY_PROBLEMS, *_TOKEN_PROBLEMS),
)

SET_PRESENCE: Final = Operation(
    id="setPresence",
    tag="games",
    summary="Leave, or come back",
    description="Has the bearer's own seat played by a computer player from now on, or no longer. Leaving again "
    "changes nothing. A move of the seat brings its player back, too. Works with and without a clock; a player who "
    "comes back has at least 10 s in its bank, or for the running turn, once in a match. While all players who are "
    "still in the match are away, nobody moves, unless all of them have forfeited. The application that owns the game "
    "may do it for any player: a computer player goes on for who is taken off the table.",
    access="seat_or_app",
    body=request_schemas.PresenceInSchema,
    responses={
        200: ResponseSpec(
            description="The game, as the bearer sees it.",
            schema=game_schemas.GameSchema,
            headers=VIEW_HEADERS,
            limited=True,
        )
    },
    problems=(
        *READ_PROBLEMS,
        "forbidden",
        *BODY_PROBLEMS,
        "outcome_unknown",
        "not_away",
        "not_in_match",
        "not_started",
        "game_over",
    ),
)

CLAIM_SEAT: Final = Operation(
    id="claimSeat",
    tag="games",
    summary="Claim a seat whose time is over",
    description='In a game with `"absence": {"then": "claim"}`: has the seat whose turn it is played by a computer '
    "player until its player is back. Any other seat that is in the match may claim it, from a second after the "
    "deadline of the turn on.",
    access="seat",
    body=request_schemas.ClaimInSchema,
    headers=("Idempotency-Key",),
    responses={
        201: ResponseSpec(
            description="The game after the claim, as the bearer sees it.",
            schema=game_schemas.GameSchema,
            headers=("Location", *VIEW_HEADERS),
            replayable=True,
            limited=True,
        )
    },
    problems=(
        *READ_PROBLEMS,
        *BODY_PROBLEMS,
        *_WRITE_PROBLEMS,
        "not_due",
        "not_in_match",
        "not_started",
        "game_over",
    ),
)

DELETE_GAME: Final = Operation(
    id="deleteGame",
    tag="games",
    summary="Delete a game",
    description="Deletes a game for the application that owns it, in whatever phase it is: its names, refs, hands and "
    "tokens are gone from the storage, the listing and the feed, and within two seconds from the memory of the "
    "service. Streams end with an event `deleted`. For as long as the game would have lived, every request for it is "
    "answered with 410, also this one: if its answer was lost, 410 says that the game is deleted.",
    access="app_game",
    responses={204: ResponseSpec(description="The game is deleted.", media_type=None)},
    problems=("unauthorized", "rate_limited", "outcome_unknown"),
)

REMATCH: Final = Operation(
    id="beginRematch",
    tag="games",
    summary="Play another game with the same players",
    description="After a finished match: the game that follows it, with the bearer's seat and token there. Every "
    "player who asks gets **the same new game**, whoever asks first, and whenever; so a request can be repeated. Its "
    "variant, rules, clock, pace, names and computer players are those of the finished one, its deals are shuffled "
    "anew. Everybody moves on by one seat (seat 1 becomes seat 0), so teams stay together. It is dealt at once, and "
    "its clock runs; who was away at the end still is. The finished game has the event `rematched`, and `rematch` in "
    "its view; the new one has `rematch_of`. The streams of the finished game have ended with `finished` by then, and "
    "requests with `wait` do not wait: who wants to know whether somebody else has begun asks for the view now and "
    "then. Where only applications create games, only their games have a rematch. The body is empty, or an empty "
    "object.",
    access="seat",
    body=request_schemas.EmptyInSchema,
    headers=("Idempotency-Key",),
    responses={
        201: ResponseSpec(
            description="The seat in the new game with its token, and the game as its player sees it.",
            schema=game_schemas.CreatedSeatSchema,
            headers=("Location", "Cache-Control"),
            replayable=True,
            limited=True,
        )
    },
    problems=(*READ_PROBLEMS, "forbidden", *BODY_PROBLEMS, *_TOKEN_PROBLEMS, "not_finished"),
)

GET_MOVES: Final = Operation(
    id="getMoves",
    tag="moves",
    summary="List the legal moves",
    description="The legal moves of the bearer's seat, each of which can be posted back unchanged; empty for a "
    "spectator, and when it is not the seat's turn.",
    access="spectator",
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(description="The legal moves.", schema=game_schemas.LegalMovesSchema, headers=VIEW_HEADERS)
    },
    problems=READ_PROBLEMS,
)

MAKE_MOVE: Final = Operation(
    id="makeMove",
    tag="moves",
    summary="Make a move",
    description="Makes one move for the bearer's seat. A rejected move changes nothing; the problem contains the "
    "reason and the legal moves. With `version` or `If-Match`, the move is made only if the match has not gone on "
    "since that version; the change of a token, or that a player left or returned, which are events too, does not "
    "count. A move of a seat that is away brings its player back. A move counts until the service has acted on the "
    "deadline of the turn, whichever comes first.",
    access="seat",
    body=move_schemas.MoveSchema,
    headers=("If-Match", "Idempotency-Key"),
    responses={
        201: ResponseSpec(
            description="The game after the move, as the bearer sees it.",
            schema=game_schemas.GameSchema,
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
        "not_in_match",
        "illegal_move",
        "not_started",
        "round_over",
        "game_over",
    ),
)

GET_SCORE: Final = Operation(
    id="getScore",
    tag="games",
    summary="Get the score",
    description="The standings, the result of every round explained line by line, and the settlement.",
    access="spectator",
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(description="The score card.", schema=score_schemas.ScoreSchema, headers=VIEW_HEADERS)
    },
    problems=READ_PROBLEMS,
)

GET_EVENTS: Final = Operation(
    id="getEvents",
    tag="games",
    summary="Follow a game",
    description="The events after a version, as the bearer of the token may know them; without a token, as a "
    "spectator. By `Accept` as a page of JSON, with `wait` as a long poll, or as a stream: "
    "`text/event-stream` (the `id` of an event is its version; events have no name, so `onmessage` gets all) or "
    "`application/x-ndjson` (one event per line). A stream sends an empty comment or line at least every 15 s as a "
    "keep-alive and ends after `finished`; a stream requested after that is answered with 204 without a body, which "
    "makes an `EventSource` stop (a page never is). Before the service stops, a stream ends with an event `closing`; "
    "clients should reconnect. If the game is deleted, streams and long polls end with an event `deleted`, and every "
    "later request is answered with 410. If the requested events are no longer stored, or never existed, a single "
    "event `reset` contains the current game. With `view=true` a page also has `game`, the "
    "bearer's view at the page's `version`; in a stream, events are followed by one more item, "
    '`{"type": "view", "version", "game"}` with the view at that version, whenever no more events follow for the '
    "moment. A client that shows each view needs no other request. A stream that is resumed by `Last-Event-ID` begins "
    "with the view if there are no newer events. With `text=true` each event, and each view, has a sentence for "
    "people in `text`, in the language that `Accept-Language` prefers.",
    access="spectator",
    headers=("Last-Event-ID", "Accept-Language"),
    query=request_schemas.EventsQuerySchema,
    responses={
        200: ResponseSpec(
            description="The events, oldest first.",
            schema=event_schemas.EventPageSchema,
            headers=("Cache-Control", "Vary"),
            optional_headers=TEXT_HEADERS,
            streams={SSE: "Each `data` is an event.", NDJSON: "Each line is an event."},
        ),
        204: ResponseSpec(
            description="As a stream: the match is finished, and there is nothing after this version.",
            media_type=None,
            for_streams=True,
        ),
    },
    problems=(*READ_PROBLEMS, "invalid", "too_many_streams"),
)
