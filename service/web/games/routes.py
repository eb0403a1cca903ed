"""``/v1/games``: create a game, view it, move in it, read its score, delete it, play it again."""

from __future__ import annotations

from time import monotonic
from typing import Final

import orjson
from flask import Blueprint, request

from service.backends.keys import no_key
from service.backends.values import Backend
from service.engine.moves import Move
from service.games.access import Access
from service.games.commands.move import MoveCommand
from service.web.access import key_check
from service.web.fields.moves import MoveSchema
from service.web.fields.strict import EmptyInSchema
from service.web.games.creation_schemas import GameInSchema, game_request
from service.web.games.schemas import CreatedGameSchema, CreatedSeatSchema, GameQuerySchema
from service.web.http.body import read_json, read_nothing, validate
from service.web.http.headers import (
    expected_game,
    idempotency,
    negotiate,
    negotiate_texts,
    preferred_language,
    read_query,
)
from service.web.http.responses import JSON, RawResponse, cached_json, conditional, created, created_secret, no_content
from service.web.http.streams import wait_while_valid
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import limit_bots, limit_bots_of_rematch, limit_expensive
from service.web.services import Services
from service.web.view.schemas import GameSchema, MoveListSchema, ScoreSchema, ViewQuerySchema, view_query_in
from service.web.view.serializers import (
    created_game_json,
    game_view_json,
    joined_seat_json,
    legal_moves_json,
    score_json,
)

blueprint: Final = Blueprint("games", __name__)
_game_in: Final = GameInSchema()
_game_query_in: Final = GameQuerySchema()


@blueprint.post("/v1/games")
@Operation(
    id="createGame",
    tag="games",
    access="anyone_or_app",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=GameInSchema,
    secret=True,
    responses={
        201: ResponseSpec(
            description="The game, as a spectator or, with a key, its application sees it, and the tokens.",
            schema=CreatedGameSchema,
        )
    },
    stores=True,
)
def create_game(services: Services, backend: Backend | None) -> RawResponse:
    """Create a game.

    Creates a game with its seats and house rules. Returns the token of every named seat, only here. The first round is
    dealt as soon as no seat is open. Computer players move by themselves, and deal where no player is left to do it.
    With the key of an application, the game belongs to that.
    """
    limit_expensive(services)
    language = negotiate_texts(view_query_in)
    body = read_json()
    fields = validate(_game_in, body)
    requested = game_request(fields, backend)
    limit_bots(services, requested)
    game, replayed = services.games.commands.create(requested, idempotency(body))
    shown, location = created_game_json(game, language), f"/v1/games/{game.view.id}"
    return created_secret(shown, location, replayed=replayed, language=language)


@blueprint.get("/v1/games/<game>")
@Operation(
    id="getGame",
    tag="games",
    access="spectator",
    headers=("If-None-Match", "Accept-Language"),
    query=GameQuerySchema,
    responses={200: ResponseSpec(description="The game view.", schema=GameSchema)},
)
def get_game(services: Services, access: Access) -> RawResponse:
    """Get a game.

    The game as the bearer of the token may know it; without a token, as a spectator. It contains the legal moves of the
    bearer, so that a client need not implement any rules. With `after` and `wait` it is a long poll: answered as soon
    as the version of the game is past `after`, at the latest after `wait` seconds, at once if the match is finished;
    then 304 if `If-None-Match` is still current, else 200. While it waits it counts as a stream. With `text=true` the
    view has a sentence for people in `text`, in the language that `Accept-Language` prefers; its `ETag` is then one of
    that language, and as good for `If-Match` as the other.
    """
    language = None
    if request.query_string:
        negotiate(JSON)
        query = read_query(_game_query_in)
        access = _awaited(services, access, query["after"], query["wait"])
        language = preferred_language() if query["text"] else None
    return conditional(
        access.etag, lambda: orjson.dumps(game_view_json(services.games.queries.view(access), language)), language
    )


def _awaited(services: Services, access: Access, after: int, wait: int) -> Access:
    """Wait, at most ``wait`` seconds, until the version is past ``after`` or the match over; return the access then."""
    game = access.game
    if game.version > after or not wait or request.method == "HEAD" or game.status == "finished":
        return access
    queries, deadline = services.games.queries, monotonic() + wait
    check = None if access.app is None else key_check(services)
    with services.streams.open(lambda: queries.subscribe(access, game.version), game.id) as subscription:
        while subscription.cursor <= after and not subscription.finished:
            if wait_while_valid(subscription, deadline - monotonic(), check) is None:
                break
        return queries.at_cursor(subscription)


@blueprint.delete("/v1/games/<game>")
@Operation(
    id="deleteGame",
    tag="games",
    access="app_game",
    limited=False,
    responses={204: ResponseSpec(description="The game is deleted.", media_type=None)},
    own_problems=("outcome_unknown",),
)
def delete_game(services: Services, access: Access) -> RawResponse:
    """Delete a game.

    Deletes a game for the application that owns it, in whatever phase it is: its names, refs, hands and tokens are gone
    from the storage, the listing and the feed, and within two seconds from the memory of the service. Streams end with
    an event `deleted`. For as long as the game would have lived, every request for it is answered with 410, also this
    one: if its answer was lost, 410 says that the game is deleted.
    """
    services.games.commands.delete(access.game)
    return no_content()


@blueprint.post("/v1/games/<game>/rematch")
@Operation(
    id="beginRematch",
    tag="games",
    access="seat",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=EmptyInSchema,
    secret=True,
    shortest_key=1,
    responses={
        201: ResponseSpec(
            description="The seat in the new game with its token, and the game as its player sees it.",
            schema=CreatedSeatSchema,
        )
    },
    own_problems=("forbidden", "not_finished"),
    stores=True,
)
def begin_rematch(services: Services, access: Access) -> RawResponse:
    """Play another game with the same players.

    After a finished match: the game that follows it, with the bearer's seat and token there. Every player who asks gets
    **the same new game**, whoever asks first, and whenever; so a request can be repeated. Its variant, rules, clock,
    pace, names and computer players are those of the finished one, its deals are shuffled anew. Everybody moves on by
    one seat (seat 1 becomes seat 0), so teams stay together. It is dealt at once, and its clock runs; players who were
    away at the end still are. The finished game has the event `rematched`, and `rematch` in its view; the new one has
    `rematch_of`. The streams of the finished game have ended with `finished` by then, and requests with `wait` do not
    wait: to learn whether another player has begun a rematch, read the view from time to time. Where only applications
    create games, only their games have a rematch. The body is empty, or an empty object.
    """
    if services.backends.needed_for_games and access.game.ownership is None:
        raise no_key()
    limit_expensive(services)
    language = negotiate_texts(view_query_in)
    body = read_nothing()
    limit_bots_of_rematch(services, access.game)
    joined, replayed = services.games.rematches.begin(access, idempotency(body))
    shown, location = joined_seat_json(joined, language), f"/v1/games/{joined.view.id}"
    return created_secret(shown, location, replayed=replayed, language=language)


# ``/v1/games/{game}/moves``: list the legal moves, and make one.


_move_in: Final = MoveSchema()


@blueprint.get("/v1/games/<game>/moves")
@Operation(
    id="getMoves",
    tag="moves",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The legal moves.", schema=MoveListSchema)},
)
def get_moves(services: Services, access: Access) -> RawResponse:
    """List the legal moves.

    The legal moves of the bearer's seat, each of which can be posted back unchanged; empty for a spectator, and when it
    is not the seat's turn.
    """
    return conditional(access.etag, lambda: orjson.dumps(legal_moves_json(services.games.queries.legal_moves(access))))


@blueprint.post("/v1/games/<game>/moves")
@Operation(
    id="makeMove",
    tag="moves",
    access="seat",
    headers=("If-Match", "Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=MoveSchema,
    responses={201: ResponseSpec(description="The game after the move, as the bearer sees it.", schema=GameSchema)},
    own_problems=(
        "stale_version",
        "not_your_turn",
        "not_in_match",
        "illegal_move",
        "not_started",
        "round_over",
        "game_over",
    ),
    stores=True,
)
def make_move(services: Services, access: Access) -> RawResponse:
    """Make a move.

    Makes one move for the bearer's seat. A rejected move changes nothing; the problem contains the reason and the legal
    moves. With `version` or `If-Match`, the move is made only if the match has not gone on since that version; the
    change of a token, or that a player left or returned, which are events too, does not count. A move of a seat that is
    away brings its player back. After the deadline of the turn a move still counts, unless the service has already
    acted on the deadline.
    """
    language = negotiate_texts(view_query_in)
    body = read_json()
    fields = validate(_move_in, body)
    move = Move(
        fields["action"],
        fields.get("tile"),
        fields.get("end"),
        fields.get("face_down", False),
        outer=fields.get("outer"),
    )
    command = MoveCommand(move, expected_game(fields.get("version")), fields.get("client_seed"), idempotency(body))
    view, replayed = services.games.commands.make_move(access, command)
    return created(game_view_json(view, language), view, replayed=replayed, language=language)


# ``/v1/games/{game}/score``: read the score.


@blueprint.get("/v1/games/<game>/score")
@Operation(
    id="getScore",
    tag="games",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The score card.", schema=ScoreSchema)},
)
def get_score(services: Services, access: Access) -> RawResponse:
    """Get the score.

    The standings, the result of every round explained line by line, and the settlement.
    """
    return cached_json(services.responses, access, "score", lambda: score_json(services.games.queries.score(access)))
