"""How a request for a game begins: who asks, and whether they may ask so often.

Owns the order of the two, and that what is left of a limit is told with every answer. Must not know what is asked.
"""

from __future__ import annotations

from typing import Final

from flask import request

from service.games.answers import Entered
from service.games.hosting import Games
from service.web.limiting import Limits, Quota
from service.web.reading import bearer_token
from service.web.watching import MORE_HEADERS

PAGE: Final = 4096
"""Characters of a record that cost about as much as the creation of a game."""


def enter(games: Games, limits: Limits, game: str) -> Entered:
    """The game as the bearer enters it. Raises ``RateLimited`` for a seat that asks too often."""
    entered = games.enter(game, bearer_token())
    limits.seat(game, entered.seat)
    return entered


def count_address(limits: Limits, weight: int = 1) -> None:
    """Count what costs much and needs no token, by the address it comes from. Raises ``RateLimited``."""
    tell_quota(limits.create(request.environ.get("REMOTE_ADDR", ""), weight))


def count_record(limits: Limits, text: str) -> None:
    """Count a record that is to be looked through: what is more than a page of it as further requests."""
    pages = len(text) // PAGE
    if pages:
        count_address(limits, pages)


def tell_quota(quota: Quota | None) -> None:
    """Say in the answer, whatever it will be, what is left."""
    if quota is not None:
        request.environ[MORE_HEADERS] = quota.headers()
