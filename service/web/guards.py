"""How a request for a game begins: who asks, and whether they may ask so often.

Owns the order of the two, and that what is left of a limit is told with every answer. Must not know what is asked.
"""

from __future__ import annotations

from typing import Final

from flask import request

from service.games.commands import GameService
from service.games.results import Access
from service.web.middleware import EXTRA_HEADERS
from service.web.rate_limits import Quota, RateLimits
from service.web.request_parsing import bearer_token

RECORD_UNIT_CHARS: Final = 4096
"""Characters of a record that cost about as much as the creation of a game."""


def authenticate(games: GameService, limits: RateLimits, game: str) -> Access:
    """The game as the bearer enters it. Raises ``RateLimited`` for a seat that asks too often."""
    entered = games.authenticate(game, bearer_token())
    limits.limit_seat(game, entered.seat)
    return entered


def limit_address(limits: RateLimits, weight: int = 1) -> None:
    """Count what costs much and needs no token, by the address it comes from. Raises ``RateLimited``."""
    add_rate_headers(limits.limit_create(request.environ.get("REMOTE_ADDR", ""), weight))


def limit_record(limits: RateLimits, text: str) -> None:
    """Count a record that is to be looked through: what is more than a page of it as further requests."""
    pages = len(text) // RECORD_UNIT_CHARS
    if pages:
        limit_address(limits, pages)


def add_rate_headers(quota: Quota | None) -> None:
    """Say in the answer, whatever it will be, what is left."""
    if quota is not None:
        request.environ[EXTRA_HEADERS] = quota.headers()
