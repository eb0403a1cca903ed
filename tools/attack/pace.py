"""Whether the time of a computer player's answer tells how many moves it had: forced and free answers are compared.

People play at once, against one computer player each, at a pace. Owns the comparison; the times are those of the
events, which every player sees.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from service.engine.events import Dealt, Done, Drew, Passed, Played
from service.engine.moves import DEAL
from service.engine.referee import apply, legal_moves
from service.games.commands.move import MoveCommand
from service.games.model.errors import MoveRefused
from service.games.model.game_events import HostingEvent
from service.games.model.views import CreatedGame
from service.games.store.redis_store import RedisStore
from service.redis.topology import open_topology
from tests.histories.checker import Verdict, read_game
from tests.storage.servers import RealServer
from tests.support.background import Background
from tests.support.stores.redis_stores import redis_store
from tests.workers.tables import TTL, Hosted, on_redis, request

PACE_MS: Final = 300
WANTED: Final = 500
"""Forced answers, and free ones, of each level."""
TABLES: Final = {"greedy": 8, "expert": 2}
"""Games at a time, so that the computer players are not busy."""
_LOOK_SECONDS: Final = 0.02


class Compared(NamedTuple):
    """The answers of a level, in milliseconds after the event before, and the probability of so large a difference."""

    forced: list[int]
    free: list[int]

    @property
    def p(self) -> float:
        """Of the test by Kolmogorov and Smirnov for two samples."""
        return same_distribution(self.forced, self.free)


def same_distribution(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the asymptotic probability that samples of one distribution differ as much (Kolmogorov, Smirnov)."""
    one, other = sorted(first), sorted(second)
    largest = max([abs(bisect_right(one, at) / len(one) - bisect_right(other, at) / len(other)) for at in one + other])
    size = math.sqrt(len(one) * len(other) / (len(one) + len(other)))
    x = largest * (size + 0.12 + 0.11 / size)
    if x < 0.2:
        return 1.0
    terms = [(-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 101)]
    return float(min(1.0, 2 * math.fsum(terms)))


def compare(level: str, seconds: float, wanted: int = WANTED) -> Compared:
    """Let people play against this level until there are so many forced and free answers, or the time is over."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="domino-pace-")))
        server = RealServer(folder / "redis")
        stack.callback(server.stop)
        for _ in range(2):
            stack.enter_context(Background("bots", server.url, folder / "logs"))
        hosted, store = on_redis(server.url), redis_store(open_topology(server.url), TTL)
        names = count()
        tables: list[CreatedGame] = []
        compared = Compared([], [])
        until = time.monotonic() + seconds
        while min(map(len, compared)) < wanted and time.monotonic() < until:
            while len(tables) < TABLES[level]:
                seed = f"{level}-{next(names)}"
                tables.append(hosted.create(request("domino", f"p{level[0]}", seed=seed, pace=PACE_MS)))
            for created in list(tables):
                if _play(hosted, created.view.id, created.seats[0].token):
                    tables.remove(created)
                    _add(compared, _answers(store, created.view.id))
            time.sleep(_LOOK_SECONDS)
        for created in tables:
            _add(compared, _answers(store, created.view.id))
    return compared


def _add(compared: Compared, answers: Compared) -> None:
    for mine, new in zip(compared, answers, strict=True):
        mine.extend(new)


def _play(hosted: Hosted, game_id: str, token: str) -> bool:
    """Move for the person if it is their turn; returns whether the game is finished."""
    access = hosted.games.access.authenticate(game_id, token)
    game = access.game
    if game.status == "finished":
        return True
    with suppress(MoveRefused):
        if game.status == "round_over":
            hosted.games.commands.make_move(access, MoveCommand(DEAL))
        elif game.state.turn == 0:
            move = legal_moves(game.rules, game.state, 0)[0]
            hosted.games.commands.make_move(access, MoveCommand(move))
    return False


def _answers(store: RedisStore, game_id: str) -> Compared:
    """Return the times of the answers of seat 1, each after the event before it."""
    read = read_game(store, game_id, Verdict())
    assert read is not None
    game, history = read
    compared = Compared([], [])
    state, before = game.rules.start(), 0
    for _, at, event, _ in history:
        if isinstance(event, HostingEvent):
            continue
        if isinstance(event, Played | Drew | Passed | Done) and event.seat == 1:
            is_forced = len(legal_moves(game.rules, state, 1)) == 1
            (compared.forced if is_forced else compared.free).append(at - before)
        state = apply(game.rules, state, event)
        if isinstance(event, Dealt | Played | Drew | Passed | Done):
            before = at
    return compared
