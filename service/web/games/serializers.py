"""Games and seats just created as JSON objects, with their tokens, which are returned only here."""

from __future__ import annotations

from service.games.model.results import CreatedGame, JoinedSeat, SeatToken
from service.texts import Language
from service.web.fields.values import JsonObject
from service.web.view.serializers import game_view_json


def created_game_json(created: CreatedGame, language: Language | None = None) -> JsonObject:
    """Return a game just created, with all tokens, which are returned only here.

    ``language`` is as in ``game_view_json``.
    """
    result: JsonObject = {
        "game": game_view_json(created.view, language),
        "seats": [seat_token_json(each) for each in created.seats],
    }
    if created.join_code is not None:
        result["join_code"] = created.join_code
    return result


def joined_seat_json(joined: JoinedSeat, language: Language | None = None) -> JsonObject:
    """Return a seat just taken, with its token, which is returned only here; ``language`` as above."""
    return {**seat_token_json(joined.seat), "game": game_view_json(joined.view, language)}


def seat_token_json(seat: SeatToken) -> JsonObject:
    """Return a seat with its token, which is returned only here."""
    return {"seat": seat.seat, "name": seat.name, "token": seat.token}
