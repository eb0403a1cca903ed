"""``/v1/games/{game}/moves``: list the legal moves, and make one."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.games.access import Access
from service.games.commands.move import MoveCommand
from service.web.fields.moves import MoveSchema, posted_move
from service.web.http.body import read_json, validate
from service.web.http.headers import expected_game, idempotency, negotiate
from service.web.http.responses import JSON, RawResponse, conditional, created, to_json
from service.web.moves.schemas import MoveListSchema
from service.web.moves.serializers import legal_moves_json
from service.web.operation import Operation, ResponseSpec
from service.web.services import Services
from service.web.view.query import ViewQuerySchema, language_of_view
from service.web.view.schemas import GameSchema
from service.web.view.serializers import game_view_json

blueprint: Final = Blueprint("moves", __name__)

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
    return conditional(access.etag, lambda: to_json(legal_moves_json(services.games.queries.legal_moves(access))))


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
    away brings its player back. A move counts until the service has acted on the deadline of the turn, whichever comes
    first.
    """
    negotiate(JSON)
    language = language_of_view()
    body = read_json()
    move, version, client_seed = posted_move(validate(_move_in, body))
    expected = expected_game(version)
    key = idempotency(body)
    command = MoveCommand(move, expected, client_seed, key)
    view, replayed = services.games.commands.make_move(access, command)
    location = f"/v1/games/{view.id}"
    shown = game_view_json(view, language)
    return created(shown, etag=view.etag, location=location, replayed=replayed, language=language)
