"""How a request for a game begins: who asks, and whether they may ask so often.

Owns the order of the two, and that what is left of a limit is told with every answer. Must not know what is asked.
"""

from __future__ import annotations

from flask import request

from service.games.answers import Entered
from service.games.hosting import Games
from service.web.limiting import Limits, Quota
from service.web.reading import bearer_token
from service.web.watching import MORE_HEADERS


def enter(games: Games, limits: Limits, game: str) -> Entered:
    """The game as the bearer enters it. Raises ``RateLimited`` for a seat that asks too often."""
    entered = games.enter(game, bearer_token())
    limits.seat(game, entered.seat)
    return entered


def count_address(limits: Limits) -> None:
    """Count what costs much and needs no token, by the address it comes from. Raises ``RateLimited``."""
    tell_quota(limits.create(request.environ.get("REMOTE_ADDR", "")))


def tell_quota(quota: Quota | None) -> None:
    """Say in the answer, whatever it will be, what is left."""
    if quota is not None:
        request.environ[MORE_HEADERS] = quota.headers()
