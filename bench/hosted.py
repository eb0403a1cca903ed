"""Games as the candidates have them: opened on the service, and their likes on the floor.

Owns the requests that open, look at and play a game, and how long its stored value, events and answers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from statistics import fmean
from typing import Any, Final, NamedTuple

import orjson

from bench.driver import Address, Line, request
from bench.floor.sizes import Sizes
from bench.setups import CREATED_VERSION, Match, Step
from service.storage import keys

_NUMBERS: Final = count()


class Hosted(NamedTuple):
    """A game on the service: its id, the tokens of its seats, and the answer that opened it."""

    id: str
    tokens: tuple[str, ...]
    answer: bytes

    @property
    def path(self) -> str:
        """Where it is."""
        return f"/v1/games/{self.id}"

    def move(self, step: Step) -> bytes:
        """The request of a move."""
        return request("POST", f"{self.path}/moves", body=step.body, token=self.tokens[step.seat])


class Measures(NamedTuple):
    """How long things of a match are, in bytes: on average over its moves, and in its middle."""

    move: Sizes
    create: Sizes
    view: Sizes
    moves: Sizes


def open_game(line: Line, match: Match) -> Hosted:
    """Open a game in which this match can be played."""
    answer = line.ask(request("POST", "/v1/games", body=match.request)).body
    opened: dict[str, Any] = orjson.loads(answer)
    assert opened["game"]["version"] == CREATED_VERSION
    return Hosted(opened["game"]["id"], tuple([seat["token"] for seat in opened["seats"]]), answer)


def play(line: Line, game: Hosted, steps: Sequence[Step]) -> None:
    """Make these moves one after the other."""
    for step in steps:
        line.ask(game.move(step))


def open_like(line: Line, sizes: Sizes) -> str:
    """Make a game of the floor of these lengths; returns its path."""
    path = f"/v1/games/{sizes.id(next(_NUMBERS))}"
    line.ask(request("POST", path, body=b"{}"))
    return path


def like_creation(sizes: Sizes, body: bytes) -> bytes:
    """The request that makes a game of the floor."""
    return request("POST", f"/v1/games/{sizes.id(next(_NUMBERS))}", body=body)


def measure(address: Address, redis: Any, match: Match) -> Measures:
    """Play the match on the service and take the lengths of what is stored and answered."""
    values, events, replies = [], [], []
    view = moves = Sizes(0, 0, 0)
    with Line(address) as line:
        game = open_game(line, match)
        state, list_of_events = keys.state(game.id), keys.events(game.id)
        first_value, first_events = redis.strlen(state), redis.lrange(list_of_events, 0, -1)
        kept = len(first_events)
        for place, step in enumerate(match.steps):
            if place == len(match.steps) // 2:
                token = game.tokens[step.seat]
                looked = len(line.ask(request("GET", game.path, token=token)).body)
                listed = len(line.ask(request("GET", f"{game.path}/moves", token=token)).body)
                length = redis.strlen(state)
                view, moves = Sizes(length, 0, looked), Sizes(length, 0, listed)
            replies.append(len(line.ask(game.move(step)).body))
            values.append(redis.strlen(state))
            new = redis.lrange(list_of_events, kept, -1)
            kept += len(new)
            events.append(sum(map(len, new)))
    return Measures(
        move=Sizes(round(fmean(values)), round(fmean(events)), round(fmean(replies))),
        create=Sizes(first_value, sum(map(len, first_events)), len(game.answer)),
        view=view,
        moves=moves,
    )
