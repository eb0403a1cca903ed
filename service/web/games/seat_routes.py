"""``/v1/games/{game}/players`` for seats, and what the application that owns the game may change."""

from __future__ import annotations

from functools import partial
from typing import Final

from flask import Blueprint, request

from service.games.access import Access, TokenRotation
from service.games.commands.join import JoinCommand, check_join_code
from service.games.commands.owner import PlayerChange
from service.web.fields.strict import EmptyInSchema
from service.web.games.schemas import (
    ClaimInSchema,
    CreatedJoinCodeSchema,
    CreatedSeatSchema,
    CreatedTokenSchema,
    JoinInSchema,
    PlayerChangeInSchema,
    PlayerInSchema,
    PresenceInSchema,
)
from service.web.http.body import read_json, read_nothing, validate
from service.web.http.headers import idempotency, negotiate, negotiate_texts
from service.web.http.responses import JSON, RawResponse, created, created_secret, ok
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import limit_expensive, limit_guesses
from service.web.services import Services
from service.web.view.schemas import GameSchema, ViewQuerySchema, view_query_in
from service.web.view.serializers import game_view_json, joined_seat_json

blueprint: Final = Blueprint("owner", __name__)

_player_in: Final = PlayerChangeInSchema()


@blueprint.patch("/v1/games/<game>/players/<int:seat>")
@Operation(
    id="changePlayer",
    tag="games",
    access="app_game",
    headers=("Accept-Language",),
    query=ViewQuerySchema,
    body=PlayerChangeInSchema,
    needs_body=True,
    responses={200: ResponseSpec(description="The game, as the application sees it.", schema=GameSchema, etag=True)},
    own_problems=("outcome_unknown",),
    stores=True,
)
def change_player(services: Services, access: Access) -> RawResponse:
    """Change a player.

    Gives the player of a seat another name, another `ref`, or both; `null` removes the `ref`. What is missing stays as
    it is, and a request that changes nothing makes no event. Computer players can be renamed, too; an open seat has no
    name, but may have a `ref`. The event is `renamed`, without `name` if only the `ref` was changed. From then on the
    former name is shown nowhere: earlier events and records have the current names, too. Moves that are being made at
    the same time are not affected. The body may also be sent as `application/merge-patch+json`.
    """
    language = negotiate_texts(view_query_in)
    assert access.target is not None
    change: PlayerChange = validate(_player_in, read_json())
    view = services.games.commands.rename(access, access.target, change)
    return ok(game_view_json(view, language), etag=view.etag, language=language)


@blueprint.post("/v1/games/<game>/join-code")
@Operation(
    id="changeJoinCode",
    tag="games",
    access="app_game",
    headers=("Idempotency-Key",),
    body=EmptyInSchema,
    secret=True,
    responses={201: ResponseSpec(description="The new join code.", schema=CreatedJoinCodeSchema)},
    own_problems=("seats_taken",),
    stores=True,
)
def change_join_code(services: Services, access: Access) -> RawResponse:
    """Change the join code.

    Gives a game with open seats a new join code, which is in this answer, in the views and lists of the application,
    and in the lobby if the game is public. With the old one no seat can be taken any more. The event is
    `join_code_changed`. The body is empty, or an empty object.
    """
    negotiate(JSON)
    code, replayed = services.games.commands.change_join_code(access, idempotency(read_nothing()))
    return created_secret({"join_code": code}, f"/v1/games/{access.game.id}", replayed=replayed)


# The seats of a game: take one, change its token, leave and come back, resign, claim one.


_new_player_in: Final = PlayerInSchema()
_seat_in: Final = JoinInSchema()
_presence_in: Final = PresenceInSchema()
_claim_in: Final = ClaimInSchema()
_TAKEN: Final = {
    201: ResponseSpec(
        description="The seat with its token, which is returned only here, and the game as its player sees it.",
        schema=CreatedSeatSchema,
    )
}


@blueprint.post("/v1/games/<game>/players")
@Operation(
    id="joinGame",
    tag="games",
    access="join",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=PlayerInSchema,
    secret=True,
    responses=_TAKEN,
    own_problems=("forbidden", "seats_taken"),
    stores=True,
)
def join_game(services: Services, access: Access) -> RawResponse:
    """Take an open seat.

    Takes the first open seat, by the join code of the game. If it was the last one, the first round is dealt. The
    application that owns the game needs no code, and can set the `ref` of the user who sits there, which messages such
    as `game.turn` contain.
    """
    limit_expensive(services)
    language = negotiate_texts(view_query_in)
    body = read_json()
    join_code = body.get("join_code") if isinstance(body, dict) else None
    if access.app is None:
        limit_guesses(services)
    if isinstance(join_code, str) and "Idempotency-Key" not in request.headers:
        # A wrong code is reported before any other error in the body. A repeated request may have an old code.
        check_join_code(access.game, join_code)
    player = validate(_new_player_in, body)
    command = JoinCommand(**{"join_code": None, **player}, key=idempotency(body))
    return _join(services, access, command, language)


def _join(services: Services, access: Access, command: JoinCommand, language: str | None) -> RawResponse:
    joined, replayed = services.games.commands.join(access, command)
    shown, location = joined_seat_json(joined, language), f"/v1/games/{joined.view.id}"
    return created_secret(shown, location, replayed=replayed, language=language)


@blueprint.post("/v1/seats")
@Operation(
    id="takeSeat",
    tag="games",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=JoinInSchema,
    secret=True,
    responses=_TAKEN,
    own_problems=("forbidden", "seats_taken"),
    stores=True,
)
def take_seat(services: Services) -> RawResponse:
    """Take an open seat by its code alone.

    As `POST /v1/games/{game}/players`, without the id of the game: no two games with open seats have the same join
    code. A code with which no seat can be taken is 403, whatever the reason, and counts as a wrong token; after too
    many of those, no code is looked up. A token or key is ignored: to set a `ref`, an application uses the other path.
    """
    limit_expensive(services)
    language = negotiate_texts(view_query_in)
    body = read_json()
    seat, key = validate(_seat_in, body), idempotency(body)
    limit_guesses(services)
    access = services.games.access.find_invited(seat["join_code"], None if key is None else key.key)
    return _join(services, access, JoinCommand(**seat, key=key), language)


@blueprint.post("/v1/games/<game>/players/<int:seat>/token")
@Operation(
    id="changeToken",
    tag="games",
    access="token_change",
    headers=("Idempotency-Key",),
    body=EmptyInSchema,
    secret=True,
    responses={201: ResponseSpec(description="The seat and its new token.", schema=CreatedTokenSchema)},
    own_problems=("forbidden",),
    stores=True,
)
def change_token(services: Services, granted: TokenRotation | Access) -> RawResponse:
    """Change the token of a seat.

    Gives the bearer's own seat a new token, which is returned only here; the old one is revoked. The application that
    owns the game may do it for any seat that has a token, for example when the player has lost it. The body
    is empty, or an empty object.
    """
    if isinstance(granted, TokenRotation):
        game, seat = granted.game_id, granted.seat
        change = partial(services.games.commands.rotate_token, granted)
    else:
        assert granted.target is not None
        game, seat = granted.game.id, granted.target
        change = partial(services.games.commands.change_token, granted, seat)
    services.limits.count("token", f"{game}/{seat}")
    negotiate(JSON)
    token, replayed = change(idempotency(read_nothing()))
    return created_secret(token._asdict(), f"/v1/games/{game}", replayed=replayed)


@blueprint.put("/v1/games/<game>/players/<int:seat>/presence")
@Operation(
    id="setPresence",
    tag="games",
    access="seat_or_app",
    headers=("Accept-Language",),
    query=ViewQuerySchema,
    body=PresenceInSchema,
    responses={200: ResponseSpec(description="The game, as the bearer sees it.", schema=GameSchema, etag=True)},
    own_problems=("forbidden", "outcome_unknown", "not_away", "not_in_match", "not_started", "game_over"),
    stores=True,
)
def set_presence(services: Services, access: Access) -> RawResponse:
    """Leave, or come back.

    A computer player plays the bearer's own seat from now on, or no longer. Leaving again changes nothing. A move of
    the seat brings its player back, too. Works with and without a clock; a player who comes back has at least 10 s in
    its bank, or for the running turn, once in a match. While all players who are still in the match are away, nobody
    moves, unless all of them have forfeited. The application that owns the game may do it for any player.
    """
    language = negotiate_texts(view_query_in)
    assert access.target is not None
    services.limits.count("presence", f"{access.game.id}/{access.target}")
    away = validate(_presence_in, read_json())["away"]
    view = services.games.commands.set_presence(access, away=away)
    return ok(game_view_json(view, language), etag=view.etag, language=language)


@blueprint.post("/v1/games/<game>/players/<int:seat>/resignation")
@Operation(
    id="resign",
    tag="games",
    access="seat_or_app",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=EmptyInSchema,
    responses={201: ResponseSpec(description="The game, as the bearer sees it.", schema=GameSchema)},
    own_problems=("forbidden", "not_in_match", "not_started", "game_over"),
    stores=True,
)
def resign(services: Services, access: Access) -> RawResponse:
    """Resign.

    The bearer's own seat forfeits the match, as at a deadline with `"absence": {"then": "forfeit"}`: it is ranked
    behind all that have not, a computer player goes on for it, and the match ends at once if one side is left. The
    events are `resigned`, `forfeited`, and then `finished` with `ended_by`. Resigning again changes nothing. The
    application that owns the game may do it for any player. The body is empty, or an empty object.
    """
    language = negotiate_texts(view_query_in)
    view, replayed = services.games.commands.resign(access, idempotency(read_nothing()))
    return created(game_view_json(view, language), view, replayed=replayed, language=language)


@blueprint.post("/v1/games/<game>/claims")
@Operation(
    id="claimSeat",
    tag="games",
    access="seat",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=ClaimInSchema,
    responses={201: ResponseSpec(description="The game after the claim, as the bearer sees it.", schema=GameSchema)},
    own_problems=("not_due", "not_in_match", "not_started", "game_over"),
    stores=True,
)
def claim_seat(services: Services, access: Access) -> RawResponse:
    """Claim a seat whose time is over.

    In a game with `"absence": {"then": "claim"}`: a computer player plays the seat whose turn it is until its player is
    back. Any other seat that is in the match may claim it, beginning one second after the deadline of the turn.
    """
    language = negotiate_texts(view_query_in)
    body = read_json()
    seat = validate(_claim_in, body)["seat"]
    view, replayed = services.games.commands.claim(access, seat, key=idempotency(body))
    return created(game_view_json(view, language), view, replayed=replayed, language=language)
