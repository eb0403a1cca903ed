"""``/v1/games``: create a game, look at it, take a seat, change its token, move, read the score."""

from __future__ import annotations

from typing import Any

from flask import Blueprint

from service.engine.deal import ArrangedDeal
from service.engine.moves import Move
from service.games.commands import GameService
from service.games.forks import ForkSource
from service.games.game import HUMAN, OPEN_SEAT, GameStatus
from service.games.validation import GameRequest, SeatRequest
from service.games.views import GameView
from service.web.guards import add_rate_headers, authenticate, limit_address, limit_record
from service.web.metrics import Metrics
from service.web.openapi.operations import (
    BODY_PROBLEMS,
    READ_PROBLEMS,
    VIEW_HEADERS,
    Operation,
    ResponseSpec,
    operation,
)
from service.web.problems import InvalidBody, RequestError
from service.web.rate_limits import RateLimited, RateLimits
from service.web.request_parsing import (
    bearer_token,
    check_accepts,
    expected_version,
    idempotency,
    idempotency_key,
    read_json,
    read_json_or_nothing,
    validate,
)
from service.web.responses import JSON, RawResponse, conditional, created, created_secret
from service.web.schemas import game as game_schemas
from service.web.schemas import requests as request_schemas
from service.web.schemas import score as score_schemas
from service.web.serializers.games import (
    created_game_json,
    game_view_json,
    joined_seat_json,
    legal_moves_json,
    score_json,
    seat_token_json,
)

_WRITE_PROBLEMS = ("key_reused", "outcome_unknown")

_game_in = request_schemas.GameIn()
_player_in = request_schemas.PlayerIn()
_token_in = request_schemas.TokenIn()
_move_in = request_schemas.MoveIn()


def blueprint(games: GameService, metrics: Metrics | None, limits: RateLimits) -> Blueprint:
    """The routes of the games."""
    routes = Blueprint("games", __name__)

    def count(look: GameView, before: GameStatus | None, *, moved: bool = False) -> None:
        """Count what was just made of a game that was at ``before``."""
        if metrics is None:
            return
        if moved:
            metrics.move_made(look.variant.key)
        if look.status != before:
            metrics.status_changed(look.status)

    @routes.post("/v1/games")
    @operation(
        Operation(
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
    )
    def create_game() -> RawResponse:
        limit_address(limits)
        check_accepts(JSON)
        body = read_json()
        wanted = _game_request(validate(_game_in, body))
        if wanted.origin is not None:
            limit_record(limits, wanted.origin.record)
        opened, _, replayed = games.create(wanted, idempotency(body))
        if not replayed:
            count(opened.view, None)
        return created_secret(created_game_json(opened), f"/v1/games/{opened.view.id}", replayed=replayed)

    @routes.get("/v1/games/<game>")
    @operation(
        Operation(
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
    )
    def get_game(game: str) -> RawResponse:
        entered = authenticate(games, limits, game)
        return conditional(entered.etag, lambda: game_view_json(games.view(entered)))

    @routes.post("/v1/games/<game>/players")
    @operation(
        Operation(
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
    )
    def join_game(game: str) -> RawResponse:
        entered = authenticate(games, limits, game)
        check_accepts(JSON)
        body = read_json()
        join_code = body.get("join_code") if isinstance(body, dict) else None
        if isinstance(join_code, str):
            # A wrong code is named before any other fault of the body.
            games.check_join_code(entered, join_code)
        player = validate(_player_in, body)
        taken, before, replayed = games.join(
            entered, player["join_code"], player["name"], player.get("client_seed"), idempotency(body)
        )
        if not replayed:
            count(taken.view, before)
        return created_secret(joined_seat_json(taken), f"/v1/games/{game}", replayed=replayed)

    @routes.post("/v1/games/<game>/players/<int:seat>/token")
    @operation(
        Operation(
            id="changeToken",
            tag="games",
            summary="Change the token of a seat",
            description="Gives the bearer's own seat a new token, shown this once; the old one is worth nothing from "
            "then on, on whatever device it is. The body is empty, or an empty object.",
            access="seat",
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
    )
    def change_token(game: str, seat: int) -> RawResponse:
        changing = games.authorize_rotation(game, bearer_token(), seat, idempotency_key())
        limits.limit_seat(game, seat)
        check_accepts(JSON)
        body = read_json_or_nothing()
        validate(_token_in, body)
        changed, _, replayed = games.rotate_token(changing, idempotency(body))
        return created_secret(seat_token_json(changed), f"/v1/games/{game}", replayed=replayed)

    @routes.get("/v1/games/<game>/moves")
    @operation(
        Operation(
            id="getMoves",
            tag="moves",
            summary="The legal moves now",
            description="What the bearer's seat may do now, each ready to be posted back as it stands; none for a "
            "spectator, and none when it is not the seat's turn.",
            access="spectator",
            headers=("If-None-Match",),
            responses={
                200: ResponseSpec(description="The legal moves.", schema=game_schemas.LegalMoves, headers=VIEW_HEADERS)
            },
            problems=READ_PROBLEMS,
        )
    )
    def get_moves(game: str) -> RawResponse:
        entered = authenticate(games, limits, game)
        return conditional(entered.etag, lambda: legal_moves_json(games.legal_moves(entered)))

    @routes.post("/v1/games/<game>/moves")
    @operation(
        Operation(
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
    )
    def make_move(game: str) -> RawResponse:
        token = bearer_token()
        entered = games.authenticate_cached(game, token)
        try:
            add_rate_headers(limits.limit_seat(game, entered.seat))
            check_accepts(JSON)
            body = read_json()
            asked = validate(_move_in, body)
            wish = idempotency(body)
        except (RequestError, InvalidBody, RateLimited):
            games.recheck(entered, token)
            raise
        move = Move(asked["action"], asked.get("tile"), asked.get("end"), asked.get("face_down", False))
        look, before, replayed = games.make_move(
            entered, move, expected_version(asked.get("version")), asked.get("client_seed"), wish
        )
        if not replayed:
            count(look, before, moved=True)
        return created(game_view_json(look), etag=look.etag, location=f"/v1/games/{game}", replayed=replayed)

    @routes.get("/v1/games/<game>/score")
    @operation(
        Operation(
            id="getScore",
            tag="games",
            summary="Read the score",
            description="The standings, every round's count explained line by line, and the settlement.",
            access="spectator",
            headers=("If-None-Match",),
            responses={
                200: ResponseSpec(description="The score card.", schema=score_schemas.Score, headers=VIEW_HEADERS)
            },
            problems=READ_PROBLEMS,
        )
    )
    def get_score(game: str) -> RawResponse:
        entered = authenticate(games, limits, game)
        return conditional(entered.etag, lambda: score_json(games.queries.score(entered)))

    return routes


def _game_request(asked: dict[str, Any]) -> GameRequest:
    origin = asked.get("from_")
    return GameRequest(
        variant=asked.get("variant", ""),
        seats=tuple([_seat_request(seat) for seat in asked["players"]]),
        options=asked.get("rules", {}),
        seed=asked.get("seed"),
        deals=tuple(
            [
                ArrangedDeal(tuple([tuple(hand) for hand in deal["hands"]]), tuple(deal["stock"]))
                for deal in asked.get("deals", ())
            ]
        ),
        origin=None if origin is None else ForkSource(origin["record"], origin.get("version")),
    )


def _seat_request(seat: dict[str, Any]) -> SeatRequest:
    if "name" in seat:
        return SeatRequest(HUMAN, seat["name"], seat.get("client_seed"))
    return SeatRequest(OPEN_SEAT) if "open" in seat else SeatRequest("bot")
