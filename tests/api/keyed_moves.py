"""Matches in which every move has an idempotency key, so that each can be sent again."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from werkzeug.test import TestResponse

from tests.api.client import Api, Table
from tests.support.table import Json, match_finished, seat_to_move


class KeyedMove(NamedTuple):
    """A move that was made, the headers it was sent with, and its response."""

    seat: int
    move: dict[str, Any]
    headers: dict[str, str]
    response: TestResponse


def play_with_keys(
    api: Api, table: Table, random: Random, until: Callable[[Json], bool] = match_finished, if_match: bool = False
) -> list[KeyedMove]:
    """Make legal moves, each with its own key (and ``If-Match``), until the condition is fulfilled."""
    made: list[KeyedMove] = []
    view = api.view(table)
    while not until(view):
        seat = seat_to_move(view)
        move = random.choice(api.moves(table, seat))
        headers = {"Idempotency-Key": f"{table.id}-{len(made)}"}
        if if_match:
            headers["If-Match"] = f'"{view["version"]}"'
        response = api.move(table, seat, move, headers=headers)
        assert response.status_code == 201, response.json
        made.append(KeyedMove(seat, move, headers, response))
        view = response.get_json()
    return made
