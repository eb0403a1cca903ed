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
from service.games.commands.join import JoinCommand, check_join_code
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings
from service.games.model.forks import ForkSource
from service.games.model.seats import BOT, HUMAN, OPEN_SEAT, REMOTE
from service.outgoing.addresses import RefusedUrl
from service.web.access import key_check, limit_expensive, operation
from service.web.openapi.game_operations import (
    CHANGE_TOKEN,
    CLAIM_SEAT,
    CREATE_GAME,
    DELETE_GAME,
    GET_GAME,
    GET_MOVES,
    GET_SCORE,
    JOIN_GAME,
    MAKE_MOVE,
    REMATCH,
    SET_PRESENCE,
)
from service.web.posted_moves import read_move
from service.web.problems import InvalidBody
from service.web.request_parsing import (
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
from service.web.schemas import requests as request_schemas
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

_game_in: Final = request_schemas.GameIn()
_game_query_in: Final = request_schemas.GameQuery()
_player_in: Final = request_schemas.PlayerIn()
_empty_in: Final = request_schemas.EmptyIn()
_presence_in: Final = request_schemas.PresenceIn()
_claim_in: Final = request_schemas.ClaimIn()


@blueprint.post("/v1/games")
@operation(CREATE_GAME)
def create_game(services: Services, application: Application | None) -> RawResponse:
    """Create a game."""
    limit_expensive(services)
    negotiate(JSON)
    body = read_json()
    fields = validate(_game_in, body)
    if application is not None:
        _check_urls(services, fields["players"])
    requested = _game_request(fields, application)
    game, replayed = services.games.commands.create(requested, idempotency(body, CREATE_GAME.min_key_length))
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
@operation(GET_GAME)
def get_game(services: Services, access: Access) -> RawResponse:
    """View a game, at once or when it has changed."""
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
@operation(JOIN_GAME)
def join_game(services: Services, access: Access) -> RawResponse:
    """Take an open seat."""
    limit_expensive(services)
    negotiate(JSON)
    body = read_json()
    join_code = body.get("join_code") if isinstance(body, dict) else None
    if isinstance(join_code, str) and "Idempotency-Key" not in request.headers:
        # A wrong code is reported before any other error in the body; that of a repeated request may be an old one.
        check_join_code(access.game, join_code)
    player = validate(_player_in, body)
    key = idempotency(body, JOIN_GAME.min_key_length)
    command = JoinCommand(player.get("join_code"), player["name"], player.get("client_seed"), key, player.get("ref"))
    joined, replayed = services.games.commands.join(access, command)
    return created_secret(joined_seat_json(joined), f"/v1/games/{joined.view.id}", replayed=replayed)


@blueprint.post("/v1/games/<game>/players/<int:seat>/token")
@operation(CHANGE_TOKEN)
def change_token(services: Services, granted: TokenRotation | Access) -> RawResponse:
    """Change the token of a seat: for its player, or for the application that owns the game."""
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
    token, replayed = change(idempotency(body, CHANGE_TOKEN.min_key_length))
    return created_secret(seat_token_json(token), f"/v1/games/{game}", replayed=replayed)


@blueprint.put("/v1/games/<game>/players/<int:seat>/presence")
@operation(SET_PRESENCE)
def set_presence(services: Services, access: Access) -> RawResponse:
    """Leave a seat to a computer player, or come back."""
    negotiate(JSON)
    assert access.target is not None
    services.limits.limit_presence(access.game.id, access.target)
    away = validate(_presence_in, read_json())["away"]
    view = services.games.commands.set_presence(access, away=away)
    return ok(game_view_json(view), etag=view.etag)


@blueprint.post("/v1/games/<game>/claims")
@operation(CLAIM_SEAT)
def claim_seat(services: Services, access: Access) -> RawResponse:
    """Claim a seat whose time is over."""
    negotiate(JSON)
    body = read_json()
    seat = validate(_claim_in, body)["seat"]
    view, replayed = services.games.commands.claim(access, seat, idempotency(body, CLAIM_SEAT.min_key_length))
    return created(game_view_json(view), etag=view.etag, location=f"/v1/games/{view.id}", replayed=replayed)


@blueprint.delete("/v1/games/<game>")
@operation(DELETE_GAME)
def delete_game(services: Services, access: Access) -> RawResponse:
    """Delete a game."""
    services.games.commands.delete(access.game)
    return no_content()


@blueprint.post("/v1/games/<game>/rematch")
@operation(REMATCH)
def begin_rematch(services: Services, access: Access) -> RawResponse:
    """Begin another game with the same players, or take the own seat in it."""
    if services.apps.needed_for_games and access.game.ownership is None:
        raise no_valid_key()
    limit_expensive(services)
    negotiate(JSON)
    body = read_json_or_nothing()
    validate(_empty_in, body)
    joined, replayed = services.games.rematches.begin(access, idempotency(body, REMATCH.min_key_length))
    return created_secret(joined_seat_json(joined), f"/v1/games/{joined.view.id}", replayed=replayed)


@blueprint.get("/v1/games/<game>/moves")
@operation(GET_MOVES)
def get_moves(services: Services, access: Access) -> RawResponse:
    """List the legal moves."""
    return conditional(access.etag, lambda: to_json(legal_moves_json(services.games.queries.legal_moves(access))))


@blueprint.post("/v1/games/<game>/moves")
@operation(MAKE_MOVE)
def make_move(services: Services, access: Access) -> RawResponse:
    """Make a move."""
    negotiate(JSON)
    body = read_json()
    move, version, client_seed = read_move(body)
    expected = expected_game(version)
    key = idempotency(body, MAKE_MOVE.min_key_length)
    command = MoveCommand(move, expected, client_seed, key)
    view, replayed = services.games.commands.make_move(access, command)
    return created(game_view_json(view), etag=view.etag, location=f"/v1/games/{view.id}", replayed=replayed)


@blueprint.get("/v1/games/<game>/score")
@operation(GET_SCORE)
def get_score(services: Services, access: Access) -> RawResponse:
    """Read the score."""
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
