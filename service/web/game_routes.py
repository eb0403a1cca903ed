"""``/v1/games``: create a game, look at it, take a seat, change its token, move, read the score."""

from __future__ import annotations

from typing import Any

from flask import Blueprint

from service.engine.deal import ArrangedDeal
from service.engine.moves import Move
from service.games.game import HUMAN, OPEN_SEAT, Status
from service.games.hosting import Games
from service.games.keeping import Origin
from service.games.look import Look
from service.games.setup import GameRequest, SeatRequest
from service.web import bodies, schemas, score_schemas
from service.web.entering import count_address, count_record, enter, tell_quota
from service.web.limiting import Limits, RateLimited
from service.web.metrics import Metrics
from service.web.operations import BODY_PROBLEMS, READ_PROBLEMS, VIEW_HEADERS, Answer, Operation, operation
from service.web.present import (
    present_legal_moves,
    present_look,
    present_opened,
    present_score,
    present_seat_token,
    present_taken,
)
from service.web.problems import BadRequest, InvalidBody
from service.web.reading import (
    bearer_token,
    check_accepts,
    idempotency_key,
    load,
    once,
    precondition,
    read_json,
    read_json_or_nothing,
)
from service.web.replies import JSON, Reply, reply_made, reply_with_secrets, view_reply

_WRITE_PROBLEMS = ("key_reused", "outcome_unknown")

_game_in = bodies.GameIn()
_player_in = bodies.PlayerIn()
_token_in = bodies.TokenIn()
_move_in = bodies.MoveIn()


def blueprint(games: Games, metrics: Metrics | None, limits: Limits) -> Blueprint:
    """The routes of the games."""
    routes = Blueprint("games", __name__)

    def count(look: Look, before: Status | None, *, moved: bool = False) -> None:
        """Count what was just made of a game that was at ``before``."""
        if metrics is None:
            return
        if moved:
            metrics.moved(look.recipe.key)
        if look.status != before:
            metrics.came_to(look.status)

    @routes.post("/v1/games")
    @operation(
        Operation(
            id="createGame",
            tag="games",
            summary="Create a game",
            description="Names the seats and agrees on the house rules. Answers every seat's token, shown this once. "
            "The first deal happens as soon as no seat is open.",
            body=bodies.GameIn,
            headers=("Idempotency-Key",),
            answers={
                201: Answer(
                    meaning="The game, as a spectator sees it, and the tokens.",
                    schema=schemas.Opened,
                    headers=("Location", "Cache-Control"),
                    replayable=True,
                    limited=True,
                )
            },
            problems=(*BODY_PROBLEMS, "rate_limited", "not_acceptable", *_WRITE_PROBLEMS),
        )
    )
    def create_game() -> Reply:
        count_address(limits)
        check_accepts(JSON)
        body = read_json()
        wanted = _game_request(load(_game_in, body))
        if wanted.origin is not None:
            count_record(limits, wanted.origin.record)
        opened, _, replayed = games.open(wanted, once(body))
        if not replayed:
            count(opened.look, None)
        return reply_with_secrets(present_opened(opened), f"/v1/games/{opened.look.id}", replayed=replayed)

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
            answers={200: Answer(meaning="The game view.", schema=schemas.Game, headers=VIEW_HEADERS)},
            problems=READ_PROBLEMS,
        )
    )
    def get_game(game: str) -> Reply:
        entered = enter(games, limits, game)
        return view_reply(entered.etag, lambda: present_look(games.look(entered)))

    @routes.post("/v1/games/<game>/players")
    @operation(
        Operation(
            id="joinGame",
            tag="games",
            summary="Take an open seat",
            description="Takes the first open seat with the game's join code. When it was the last one, the first "
            "round is dealt.",
            access="spectator",
            body=bodies.PlayerIn,
            headers=("Idempotency-Key",),
            answers={
                201: Answer(
                    meaning="The seat, its token, shown this once, and the game as its owner sees it.",
                    schema=schemas.Taken,
                    headers=("Location", "Cache-Control"),
                    replayable=True,
                )
            },
            problems=(*READ_PROBLEMS, "forbidden", *BODY_PROBLEMS, *_WRITE_PROBLEMS, "seats_taken"),
        )
    )
    def join_game(game: str) -> Reply:
        entered = enter(games, limits, game)
        check_accepts(JSON)
        body = read_json()
        join_code = body.get("join_code") if isinstance(body, dict) else None
        if isinstance(join_code, str):
            # A wrong code is named before any other fault of the body.
            games.check_join_code(entered, join_code)
        player = load(_player_in, body)
        taken, before, replayed = games.join(
            entered, player["join_code"], player["name"], player.get("client_seed"), once(body)
        )
        if not replayed:
            count(taken.look, before)
        return reply_with_secrets(present_taken(taken), f"/v1/games/{game}", replayed=replayed)

    @routes.post("/v1/games/<game>/players/<int:seat>/token")
    @operation(
        Operation(
            id="changeToken",
            tag="games",
            summary="Change the token of a seat",
            description="Gives the bearer's own seat a new token, shown this once; the old one is worth nothing from "
            "then on, on whatever device it is. The body is empty, or an empty object.",
            access="seat",
            body=bodies.TokenIn,
            headers=("Idempotency-Key",),
            answers={
                201: Answer(
                    meaning="The seat and its new token.",
                    schema=schemas.SeatToken,
                    headers=("Location", "Cache-Control"),
                    replayable=True,
                )
            },
            problems=(*READ_PROBLEMS, "forbidden", *BODY_PROBLEMS, *_WRITE_PROBLEMS),
        )
    )
    def change_token(game: str, seat: int) -> Reply:
        changing = games.enter_to_change(game, bearer_token(), seat, idempotency_key())
        limits.seat(game, seat)
        check_accepts(JSON)
        body = read_json_or_nothing()
        load(_token_in, body)
        changed, _, replayed = games.change_token(changing, once(body))
        return reply_with_secrets(present_seat_token(changed), f"/v1/games/{game}", replayed=replayed)

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
            answers={200: Answer(meaning="The legal moves.", schema=schemas.LegalMoves, headers=VIEW_HEADERS)},
            problems=READ_PROBLEMS,
        )
    )
    def get_moves(game: str) -> Reply:
        entered = enter(games, limits, game)
        return view_reply(entered.etag, lambda: present_legal_moves(games.legal_moves(entered)))

    @routes.post("/v1/games/<game>/moves")
    @operation(
        Operation(
            id="makeMove",
            tag="moves",
            summary="Make a move",
            description="Makes one move for the bearer's seat. A refused move changes nothing and says why, with the "
            "legal moves as they are. With `version` or `If-Match`, the move is made at that version or not at all.",
            access="seat",
            body=bodies.MoveIn,
            headers=("If-Match", "Idempotency-Key"),
            answers={
                201: Answer(
                    meaning="The game as the mover now sees it.",
                    schema=schemas.Game,
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
    def make_move(game: str) -> Reply:
        token = bearer_token()
        entered = games.enter_to_move(game, token)
        try:
            tell_quota(limits.seat(game, entered.seat))
            check_accepts(JSON)
            body = read_json()
            asked = load(_move_in, body)
            wish = once(body)
        except (BadRequest, InvalidBody, RateLimited):
            games.confirm(entered, token)
            raise
        move = Move(asked["action"], asked.get("tile"), asked.get("end"), asked.get("face_down", False))
        look, before, replayed = games.move(
            entered, move, precondition(asked.get("version")), asked.get("client_seed"), wish
        )
        if not replayed:
            count(look, before, moved=True)
        return reply_made(present_look(look), etag=look.etag, location=f"/v1/games/{game}", replayed=replayed)

    @routes.get("/v1/games/<game>/score")
    @operation(
        Operation(
            id="getScore",
            tag="games",
            summary="Read the score",
            description="The standings, every round's count explained line by line, and the settlement.",
            access="spectator",
            headers=("If-None-Match",),
            answers={200: Answer(meaning="The score card.", schema=score_schemas.Score, headers=VIEW_HEADERS)},
            problems=READ_PROBLEMS,
        )
    )
    def get_score(game: str) -> Reply:
        entered = enter(games, limits, game)
        return view_reply(entered.etag, lambda: present_score(games.chronicle.score(entered)))

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
        origin=None if origin is None else Origin(origin["record"], origin.get("version")),
    )


def _seat_request(seat: dict[str, Any]) -> SeatRequest:
    if "name" in seat:
        return SeatRequest(HUMAN, seat["name"], seat.get("client_seed"))
    return SeatRequest(OPEN_SEAT) if "open" in seat else SeatRequest("bot")
