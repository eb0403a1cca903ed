"""Games with remote players, created without the web."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from service.games.clock import ClockSettings
from service.games.creation import create_game, deal_if_full
from service.games.game import REMOTE, Created, Ownership, Remote
from service.games.ports import Clock, RandomBytes
from service.games.repository import GameRepository
from service.games.tokens import new_game_id
from service.games.validation import GameRequest, SeatRequest, check_request

APP = "A" * 24
SECRET = bytes(range(32))


class RemoteGame(NamedTuple):
    """A new game: its id, and the tokens of the seats of people and of remote players."""

    id: str
    tokens: dict[int, str]


def wanted(
    variant: str,
    seats: str,
    *,
    seed: str | None = "seed",
    clock: ClockSettings | None = None,
    pace: int | None = None,
    options: Mapping[str, bool | int | str] | None = None,
) -> GameRequest:
    """A game with a seat for each letter: a person (p), a remote player (x), or a bot: random (r), greedy (g)."""
    levels = {"r": "random", "g": "greedy"}
    names = {"p": "Player", "x": "Remote"}
    players = [
        SeatRequest("bot", level=levels[letter])
        if letter in levels
        else SeatRequest("human", f"{names[letter]} {seat}")
        for seat, letter in enumerate(seats)
    ]
    return GameRequest(variant, tuple(players), options or {}, seed, clock=clock, pace=pace)


def create(
    repository: GameRepository,
    request: GameRequest,
    seats: str,
    url: str,
    *,
    clock: Clock,
    random_bytes: RandomBytes = os.urandom,
) -> RemoteGame:
    """Create the requested game, whose seats ``x`` are asked at this URL."""
    variant, rules = check_request(request, lambda: None)
    new = create_game(
        request,
        variant,
        rules.start(),
        game_id=new_game_id(random_bytes),
        now=clock(),
        token_bytes=random_bytes,
        random_bytes=random_bytes,
    )
    players = tuple(
        [
            each._replace(kind=REMOTE, remote=Remote(url, SECRET)) if letter == "x" else each
            for letter, each in zip(seats, new.game.seats, strict=True)
        ]
    )
    game = new.game._replace(seats=players, ownership=Ownership(APP))
    game = game._replace(is_automatic=game.is_set_up_automatic)
    repository.create(*deal_if_full(game, [Created(game.deck.commitment(1))]), None)
    return RemoteGame(game.id, {each.seat: each.token for each in new.tokens})
