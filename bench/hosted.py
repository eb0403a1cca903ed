"""Games on the candidates: real ones on the service, and stand-ins of the same size on the floor.

Owns the requests that create, get and play a game, and the sizes of its stored value, events and responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from statistics import fmean
from typing import Any, Final, NamedTuple

import orjson

from bench.driver import Address, Connection, request
from bench.floor.sizes import Sizes
from bench.setups import CREATED_VERSION, Match, Step
from service.redis import keys

_NUMBERS: Final = count()


class Hosted(NamedTuple):
    """A game on the service: its id, and the tokens of its seats."""

    id: str
    tokens: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path of the game."""
        return f"/v1/games/{self.id}"

    def move(self, step: Step) -> bytes:
        """Return the request for a move."""
        return request("POST", f"{self.path}/moves", body=step.body, token=self.tokens[step.seat])


class Measures(NamedTuple):
    """The sizes in a match, in bytes: on average over its moves, and in its middle."""

    move: Sizes
    view: Sizes
    moves: Sizes


def create_game(connection: Connection, match: Match) -> Hosted:
    """Create a game in which this match can be played."""
    answer = connection.send(request("POST", "/v1/games", body=match.request, token=match.key)).body
    opened: dict[str, Any] = orjson.loads(answer)
    assert opened["game"]["version"] == CREATED_VERSION
    return Hosted(opened["game"]["id"], tuple([seat["token"] for seat in opened["seats"]]))


def play(connection: Connection, game: Hosted, steps: Sequence[Step]) -> None:
    """Make these moves in order."""
    for step in steps:
        connection.send(game.move(step))


def create_stand_in(connection: Connection, sizes: Sizes) -> str:
    """Create a stand-in of these sizes on the floor; returns its path."""
    path = f"/v1/games/{sizes.id(next(_NUMBERS))}"
    connection.send(request("POST", path, body=b"{}"))
    return path


def measure(address: Address, redis: Any, match: Match) -> Measures:
    """Play the match on the service and measure the sizes of stored values and responses."""
    values, events, replies = [], [], []
    view = moves = Sizes(0, 0, 0)
    with Connection(address) as connection:
        game = create_game(connection, match)
        state, list_of_events = keys.state(game.id), keys.part(b"events", game.id)
        kept = redis.llen(list_of_events)
        for place, step in enumerate(match.steps):
            if place == len(match.steps) // 2:
                token = game.tokens[step.seat]
                viewed = len(connection.send(request("GET", game.path, token=token)).body)
                listed = len(connection.send(request("GET", f"{game.path}/moves", token=token)).body)
                length = redis.strlen(state)
                view, moves = Sizes(length, 0, viewed), Sizes(length, 0, listed)
            replies.append(len(connection.send(game.move(step)).body))
            values.append(redis.strlen(state))
            new = redis.lrange(list_of_events, kept, -1)
            kept += len(new)
            events.append(sum(map(len, new)))
    return Measures(
        move=Sizes(round(fmean(values)), round(fmean(events)), round(fmean(replies))),
        view=view,
        moves=moves,
    )
