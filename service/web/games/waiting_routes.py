"""Games that wait for players: seek a seat, free or fill a seat, begin without the open seats."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.backends.values import Backend
from service.games.access import Access
from service.games.commands.seek import SeekCommand
from service.web.fields.strict import EmptyInSchema
from service.web.games.creation_schemas import SeekInSchema, sought_game
from service.web.games.schemas import CreatedSeekSchema, SeatFillInSchema
from service.web.http.body import read_json, read_nothing, validate
from service.web.http.headers import idempotency, negotiate_texts
from service.web.http.responses import RawResponse, created, created_secret, no_content, ok
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import limit_bot, limit_bots, limit_expensive
from service.web.services import Services
from service.web.view.schemas import GameSchema, ViewQuerySchema, view_query_in
from service.web.view.serializers import game_view_json, joined_seat_json

blueprint: Final = Blueprint("waiting", __name__)

_fill_in: Final = SeatFillInSchema()
_seek_in: Final = SeekInSchema()


@blueprint.post("/v1/seeks")
@Operation(
    id="seekTable",
    tag="games",
    access="anyone_or_app",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=SeekInSchema,
    secret=True,
    responses={
        201: ResponseSpec(
            description="The seat with its token, which is returned only here, and the game as its player sees it.",
            schema=CreatedSeekSchema,
        )
    },
    own_problems=("not_found",),
    stores=True,
)
def seek_table(services: Services, backend: Backend | None) -> RawResponse:
    """Sit down at a table with strangers.

    Takes a seat at the table that has waited longest among those that match the request in everything, options with
    their defaults. If there is none, opens a table, at which the next players sit down. With the key of an application,
    its tables with a `lobby` are considered, and those that were opened by this operation; without a key, those with
    `"lobby": "all"`, and those that were opened without a key. The first round is dealt as soon as no seat is open.

    Read the game while you wait: a table that no seat has read for two minutes is not offered to anybody, and a player
    who got a seat here and has not read the game for two minutes, as a view, events or an open stream, loses the seat
    while the game waits (`freed`). A request with the key of the application that owns the game counts for all its
    players. Send an `Idempotency-Key`: a request that is repeated with it gets the same seat, otherwise another one; or
    404 `no_player`, if the player has left it since.
    """
    limit_expensive(services)
    language = negotiate_texts(view_query_in)
    body = read_json()
    fields = validate(_seek_in, body)
    request = sought_game(fields, backend)
    limit_bots(services, request)
    command = SeekCommand(request, fields["name"], fields.get("ref"), idempotency(body))
    seat, replayed = services.games.commands.seek(command)
    shown = {**joined_seat_json(seat.joined, language), "opened": seat.opened}
    return created_secret(shown, f"/v1/games/{seat.joined.view.id}", replayed=replayed, language=language)


@blueprint.delete("/v1/games/<game>/players/<int:seat>")
@Operation(
    id="freeSeat",
    tag="games",
    access="seat_or_app",
    responses={204: ResponseSpec(description="The seat is open.", media_type=None)},
    own_problems=("forbidden", "outcome_unknown", "seats_taken"),
    stores=True,
)
def free_seat(services: Services, access: Access) -> RawResponse:
    """Leave a game that waits, or free a seat.

    While seats are open: opens the bearer's own seat again, and revokes its token; so 401 after a lost response says
    that it is done. The application that owns the game may free any seat, also that of a computer player; an open seat
    stays open. The event is `freed`. No data of the player is kept: earlier events have the name `Player` and the
    number of the seat, from 1. Once the match has begun, the response is 409 `seats_taken`; to leave a match, use `PUT
    …/presence`.
    """
    assert access.target is not None
    services.games.commands.free_seat(access, access.target)
    return no_content()


@blueprint.put("/v1/games/<game>/players/<int:seat>")
@Operation(
    id="fillSeat",
    tag="games",
    access="any_seat_or_app",
    headers=("Accept-Language",),
    query=ViewQuerySchema,
    body=SeatFillInSchema,
    responses={200: ResponseSpec(description="The game, as the bearer sees it.", schema=GameSchema, etag=True)},
    own_problems=("outcome_unknown", "seats_taken"),
    stores=True,
)
def fill_seat(services: Services, access: Access) -> RawResponse:
    """Give an open seat to a computer player.

    For any seat of the game, or the application that owns it. If it was the last open one, the first round is dealt.
    The event is `filled`. Where a computer player of this level sits already, nothing happens.
    """
    assert access.target is not None
    limit_expensive(services)
    language = negotiate_texts(view_query_in)
    level = validate(_fill_in, read_json())["bot"]
    limit_bot(services, access.game, access.target, level)
    view = services.games.commands.fill_seat(access, access.target, level)
    return ok(game_view_json(view, language), etag=view.etag, language=language)


@blueprint.post("/v1/games/<game>/start")
@Operation(
    id="startGame",
    tag="games",
    access="any_seat_or_app",
    headers=("Idempotency-Key", "Accept-Language"),
    query=ViewQuerySchema,
    body=EmptyInSchema,
    responses={201: ResponseSpec(description="The game, which has begun, as the bearer sees it.", schema=GameSchema)},
    own_problems=("invalid", "seats_taken"),
    stores=True,
)
def start_game(services: Services, access: Access) -> RawResponse:
    """Begin without the open seats.

    For any seat of the game, or the application that owns it: the match begins with the players who are there,
    including computer players. If the game cannot be played by that number, or if the deals are arranged, the response
    is 422 `invalid`. The open seats are removed and the others move up: the event `started` has their former numbers in
    `seats`, the view has the new ones, and tokens stay valid. The body is empty, or an empty object.
    """
    limit_expensive(services)
    language = negotiate_texts(view_query_in)
    view, replayed = services.games.commands.start(access, idempotency(read_nothing()))
    return created(game_view_json(view, language), view, replayed=replayed, language=language)
