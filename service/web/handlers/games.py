"""``/v1/games``: create a game, view it, take a seat, leave it and come back, claim one, move, read the score."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import Any, Final

from flask import Blueprint, request

from service.backends.keys import no_valid_key
from service.backends.ports import Application
from service.engine.deal import ArrangedDeal
from service.engine.errors import Reason
from service.games.access import Access, TokenRotation
from service.games.commands.player import JoinCommand, MoveCommand, check_join_code
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings
from service.games.model.forks import ForkSource
from service.games.model.game import BOT, HUMAN, OPEN_SEAT, REMOTE
from service.outgoing.addresses import RefusedUrl
from service.web.access import key_check, limit_expensive
from service.web.operation import Operation, ResponseSpec
from service.web.posted_moves import read_move
from service.web.problems import InvalidBody
from service.web.request_parsing import (
    TOKEN_KEY_LENGTH,
    expected_game,
    idempotency,
    negotiate,
    preferred_language,
    read_json,
    read_json_or_nothing,
    read_query,
    validate,
)
from service.web.response_cache import cached_json
from service.web.responses import JSON, RawResponse, conditional, created, created_secret, no_content, ok, to_json
from service.web.schemas import game as game_schemas
from service.web.schemas import moves as move_schemas
from service.web.schemas import requests as request_schemas
from service.web.schemas import score as score_schemas
from service.web.serializers.game import (
    created_game_json,
    game_view_json,
    joined_seat_json,
    legal_moves_json,
    seat_token_json,
)
from service.web.serializers.score import score_json
from service.web.services import Services
from service.web.streams import stream_client, wait_while_valid

blueprint: Final = Blueprint("games", __name__)

_game_in: Final = request_schemas.GameInSchema()
_game_query_in: Final = request_schemas.GameQuerySchema()
_player_in: Final = request_schemas.PlayerInSchema()
_empty_in: Final = request_schemas.EmptyInSchema()
_presence_in: Final = request_schemas.PresenceInSchema()
_claim_in: Final = request_schemas.ClaimInSchema()


@blueprint.post("/v1/games")
@Operation(
    id="createGame",
    tag="games",
    access="anyone_or_app",
    headers=("Idempotency-Key",),
    body=request_schemas.GameInSchema,
    secret=True,
    responses={
        201: ResponseSpec(
            description="The game, as a spectator or, with a key, its application sees it, and the tokens.",
            schema=game_schemas.CreatedGameSchema,
        )
    },
)
def create_game(services: Services, application: Application | None) -> RawResponse:
    """Create a game.

    Creates a game with its seats and house rules. Returns the token of every named seat, only here. The first round is
    dealt as soon as no seat is open. Computer players move by themselves, and deal where no player is left to do it.
    With the key of an application, the game belongs to that.
    """
    limit_expensive(services)
    negotiate(JSON)
    body = read_json()
    fields = validate(_game_in, body)
    if application is not None:
        _check_urls(services, fields["players"])
    requested = _game_request(fields, application)
    game, replayed = services.games.commands.create(requested, idempotency(body, TOKEN_KEY_LENGTH))
    return created_secret(created_game_json(game), f"/v1/games/{game.view.id}", replayed=replayed)


def _check_urls(services: Services, players: list[dict[str, Any]]) -> None:
    """Raises ``InvalidBody`` for players with a URL at which nobody is asked."""
    errors = {}
    for seat, player in enumerate(players):
        try:
            if "url" in player:
                services.apps.check_player_url(player["url"])
        except RefusedUrl as error:
            errors[f"players.{seat}.url"] = [Reason(f"url_{error.reason}")]
    if errors:
        raise InvalidBody(errors)


@blueprint.get("/v1/games/<game>")
@Operation(
    id="getGame",
    tag="games",
    access="spectator",
    headers=("If-None-Match", "Accept-Language"),
    query=request_schemas.GameQuerySchema,
    responses={200: ResponseSpec(description="The game view.", schema=game_schemas.GameSchema)},
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
        access.etag, lambda: to_json(game_view_json(services.games.queries.view(access), language)), language
    )


def _awaited(services: Services, access: Access, after: int, wait: int) -> Access:
    """The same viewer's access when the version is past ``after``, or when ``wait`` seconds are over.

    A match that is finished is not awaited.
    """
    game = access.game
    if game.version > after or not wait or request.method == "HEAD" or game.status == "finished":
        return access
    queries, deadline = services.games.queries, monotonic() + wait
    check = None if access.app is None else key_check(services)
    with services.streams.open(
        lambda: queries.subscribe(access, game.version), stream_client(request.environ, game.id)
    ) as subscription:
        while subscription.cursor <= after and not subscription.finished:
            if wait_while_valid(subscription, deadline - monotonic(), check) is None:
                break
        return queries.at_cursor(subscription)


@blueprint.post("/v1/games/<game>/players")
@Operation(
    id="joinGame",
    tag="games",
    access="join",
    headers=("Idempotency-Key",),
    body=request_schemas.PlayerInSchema,
    secret=True,
    responses={
        201: ResponseSpec(
            description="The seat with its token, which is returned only here, and the game as its player sees it.",
            schema=game_schemas.CreatedSeatSchema,
        )
    },
    own_problems=("forbidden", "seats_taken"),
)
def join_game(services: Services, access: Access) -> RawResponse:
    """Take an open seat.

    Takes the first open seat, by the join code of the game. If it was the last one, the first round is dealt. The
    application that owns the game takes it for one of its users: with its key no code is needed, and with `ref`
    whatever follows, such as the first `game.turn`, is told of that user.
    """
    limit_expensive(services)
    negotiate(JSON)
    body = read_json()
    join_code = body.get("join_code") if isinstance(body, dict) else None
    if isinstance(join_code, str) and "Idempotency-Key" not in request.headers:
        # A wrong code is reported before any other error in the body; that of a repeated request may be an old one.
        check_join_code(access.game, join_code)
    player = validate(_player_in, body)
    key = idempotency(body, TOKEN_KEY_LENGTH)
    command = JoinCommand(player.get("join_code"), player["name"], player.get("client_seed"), key, player.get("ref"))
    joined, replayed = services.games.commands.join(access, command)
    return created_secret(joined_seat_json(joined), f"/v1/games/{joined.view.id}", replayed=replayed)


@blueprint.post("/v1/games/<game>/players/<int:seat>/token")
@Operation(
    id="changeToken",
    tag="games",
    access="token_change",
    headers=("Idempotency-Key",),
    body=request_schemas.EmptyInSchema,
    secret=True,
    responses={201: ResponseSpec(description="The seat and its new token.", schema=game_schemas.CreatedTokenSchema)},
    own_problems=("forbidden",),
)
def change_token(services: Services, granted: TokenRotation | Access) -> RawResponse:
    """Change the token of a seat.

    Gives the bearer's own seat a new token, which is returned only here; the old one is revoked. The application that
    owns the game may do it for any seat that has a token, without it: for who has lost it. The body is empty, or an
    empty object.
    """
    if isinstance(granted, TokenRotation):
        game, seat = granted.game_id, granted.seat
        change = partial(services.games.commands.rotate_token, granted)
    else:
        assert granted.target is not None
        game, seat = granted.game.id, granted.target
        change = partial(services.games.owner_commands.change_token, granted, seat)
    services.limits.limit_token(game, seat)
    negotiate(JSON)
    body = read_json_or_nothing()
    validate(_empty_in, body)
    token, replayed = change(idempotency(body, TOKEN_KEY_LENGTH))
    return created_secret(seat_token_json(token), f"/v1/games/{game}", replayed=replayed)


@blueprint.put("/v1/games/<game>/players/<int:seat>/presence")
@Operation(
    id="setPresence",
    tag="games",
    access="seat_or_app",
    body=request_schemas.PresenceInSchema,
    responses={
        200: ResponseSpec(description="The game, as the bearer sees it.", schema=game_schemas.GameSchema, etag=True)
    },
    own_problems=("forbidden", "outcome_unknown", "not_away", "not_in_match", "not_started", "game_over"),
)
def set_presence(services: Services, access: Access) -> RawResponse:
    """Leave, or come back.

    Has the bearer's own seat played by a computer player from now on, or no longer. Leaving again changes nothing. A
    move of the seat brings its player back, too. Works with and without a clock; a player who comes back has at least
    10 s in its bank, or for the running turn, once in a match. While all players who are still in the match are away,
    nobody moves, unless all of them have forfeited. The application that owns the game may do it for any player: a
    computer player goes on for who is taken off the table.
    """
    negotiate(JSON)
    assert access.target is not None
    services.limits.limit_presence(access.game.id, access.target)
    away = validate(_presence_in, read_json())["away"]
    view = services.games.commands.set_presence(access, away=away)
    return ok(game_view_json(view), etag=view.etag)


@blueprint.post("/v1/games/<game>/claims")
@Operation(
    id="claimSeat",
    tag="games",
    access="seat",
    headers=("Idempotency-Key",),
    body=request_schemas.ClaimInSchema,
    responses={
        201: ResponseSpec(
            description="The game after the claim, as the bearer sees it.", schema=game_schemas.GameSchema
        )
    },
    own_problems=("not_due", "not_in_match", "not_started", "game_over"),
)
def claim_seat(services: Services, access: Access) -> RawResponse:
    """Claim a seat whose time is over.

    In a game with `"absence": {"then": "claim"}`: has the seat whose turn it is played by a computer player until its
    player is back. Any other seat that is in the match may claim it, from a second after the deadline of the turn on.
    """
    negotiate(JSON)
    body = read_json()
    seat = validate(_claim_in, body)["seat"]
    view, replayed = services.games.commands.claim(access, seat, idempotency(body))
    return created(game_view_json(view), etag=view.etag, location=f"/v1/games/{view.id}", replayed=replayed)


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
    headers=("Idempotency-Key",),
    body=request_schemas.EmptyInSchema,
    secret=True,
    shortest_key=1,
    responses={
        201: ResponseSpec(
            description="The seat in the new game with its token, and the game as its player sees it.",
            schema=game_schemas.CreatedSeatSchema,
        )
    },
    own_problems=("forbidden", "not_finished"),
)
def begin_rematch(services: Services, access: Access) -> RawResponse:
    """Play another game with the same players.

    After a finished match: the game that follows it, with the bearer's seat and token there. Every player who asks gets
    **the same new game**, whoever asks first, and whenever; so a request can be repeated. Its variant, rules, clock,
    pace, names and computer players are those of the finished one, its deals are shuffled anew. Everybody moves on by
    one seat (seat 1 becomes seat 0), so teams stay together. It is dealt at once, and its clock runs; who was away at
    the end still is. The finished game has the event `rematched`, and `rematch` in its view; the new one has
    `rematch_of`. The streams of the finished game have ended with `finished` by then, and requests with `wait` do not
    wait: who wants to know whether somebody else has begun asks for the view now and then. Where only applications
    create games, only their games have a rematch. The body is empty, or an empty object.
    """
    if services.apps.needed_for_games and access.game.ownership is None:
        raise no_valid_key()
    limit_expensive(services)
    negotiate(JSON)
    body = read_json_or_nothing()
    validate(_empty_in, body)
    joined, replayed = services.games.rematches.begin(access, idempotency(body))
    return created_secret(joined_seat_json(joined), f"/v1/games/{joined.view.id}", replayed=replayed)


@blueprint.get("/v1/games/<game>/moves")
@Operation(
    id="getMoves",
    tag="moves",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The legal moves.", schema=game_schemas.LegalMovesSchema)},
)
def get_moves(services: Services, access: Access) -> RawResponse:
    """List the legal moves.

    The legal moves of the bearer's seat, each of which can be posted back unchanged; empty for a spectator, and when it
    is not the seat's turn.
    """
    return conditional(access.etag, lambda: to_json(legal_moves_json(services.games.queries.legal_moves(access))))


@blueprint.post("/v1/games/<game>/moves")
@Operation(
    id="makeMove",
    tag="moves",
    access="seat",
    headers=("If-Match", "Idempotency-Key"),
    body=move_schemas.MoveSchema,
    responses={
        201: ResponseSpec(description="The game after the move, as the bearer sees it.", schema=game_schemas.GameSchema)
    },
    own_problems=(
        "stale_version",
        "not_your_turn",
        "not_in_match",
        "illegal_move",
        "not_started",
        "round_over",
        "game_over",
    ),
)
def make_move(services: Services, access: Access) -> RawResponse:
    """Make a move.

    Makes one move for the bearer's seat. A rejected move changes nothing; the problem contains the reason and the legal
    moves. With `version` or `If-Match`, the move is made only if the match has not gone on since that version; the
    change of a token, or that a player left or returned, which are events too, does not count. A move of a seat that is
    away brings its player back. A move counts until the service has acted on the deadline of the turn, whichever comes
    first.
    """
    negotiate(JSON)
    body = read_json()
    move, version, client_seed = read_move(body)
    expected = expected_game(version)
    key = idempotency(body)
    command = MoveCommand(move, expected, client_seed, key)
    view, replayed = services.games.commands.make_move(access, command)
    return created(game_view_json(view), etag=view.etag, location=f"/v1/games/{view.id}", replayed=replayed)


@blueprint.get("/v1/games/<game>/score")
@Operation(
    id="getScore",
    tag="games",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The score card.", schema=score_schemas.ScoreSchema)},
)
def get_score(services: Services, access: Access) -> RawResponse:
    """Get the score.

    The standings, the result of every round explained line by line, and the settlement.
    """
    return cached_json(services.responses, access, "score", lambda: score_json(services.games.queries.score(access)))


def _game_request(fields: dict[str, Any], application: Application | None) -> GameRequest:
    source = fields.get("from_")
    return GameRequest(
        variant=fields.get("variant", ""),
        seats=tuple([_seat_request(seat) for seat in fields["players"]]),
        options=fields.get("rules", {}),
        seed=fields.get("seed"),
        deals=tuple(
            [
                ArrangedDeal(tuple([tuple(hand) for hand in deal["hands"]]), tuple(deal["stock"]))
                for deal in fields.get("deals", ())
            ]
        ),
        source=None if source is None else ForkSource(source["record"], source.get("version")),
        unique_names=fields.get("unique_names", False),
        spectators=fields.get("spectators", True),
        clock=_clock_settings(fields),
        pace=fields.get("pace"),
        app=None if application is None else application.id,
        ref=fields.get("ref"),
        public=fields.get("public"),
    )


def _clock_settings(fields: dict[str, Any]) -> ClockSettings | None:
    """The clock of a request for a game, in milliseconds; ``None`` without one."""
    clock = fields.get("clock")
    if clock is None:
        return None
    then = fields.get("absence", {}).get("then", "bot")
    if "turn" in clock:
        return ClockSettings(turn=clock["turn"] * 1000, absence=then)
    return ClockSettings(bank=clock["bank"] * 1000, increment=clock.get("increment", 0) * 1000, absence=then)


def _seat_request(fields: dict[str, Any]) -> SeatRequest:
    ref, url = fields.get("ref"), fields.get("url")
    if "name" in fields:
        return SeatRequest(
            HUMAN if url is None else REMOTE, fields["name"], fields.get("client_seed"), ref=ref, url=url
        )
    return SeatRequest(OPEN_SEAT, ref=ref) if "open" in fields else SeatRequest(BOT, level=fields["bot"], ref=ref)
