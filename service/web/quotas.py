"""Counts the current request in the rate limits, by its application or by the address of its client.

Owns how much work counts as one.
"""

from __future__ import annotations

from typing import Final

from service.client_address import client_network
from service.games.commands.validation import GameRequest
from service.games.model.schedule import MAX_ROUNDS_OF_BOTS
from service.games.model.seats import OPEN_SEAT, SLOW_LEVELS, may_go_on_alone
from service.web.http.body import body_units
from service.web.http.errors import current_environ
from service.web.http.middleware import EXTRA_HEADERS
from service.web.rate_limits import RateLimits
from service.web.services import Services

EVENTS_PER_READ: Final = 100
"""Events whose reading counts as one in the rate limit of reads: about a millisecond."""
SENTENCES_PER_READ: Final = 20
"""Events that take as long to be told in a sentence each."""
PLACES_PER_READ: Final = 4
"""Tiles and ends whose places on a table take as long."""
ROUNDS_OF_BOTS: Final = 10
"""The rounds of a match that computer players may play alone and that does not say how many it has."""
APP: Final = "domino.app"
"""The key in the WSGI environment for the application whose key was presented, once it was accepted."""


def limit_expensive(services: Services) -> None:
    """Count an expensive request that needs no token by the size of its body, and by its application or its address.

    Raises ``RateLimited``.
    """
    _limit_games(services, 1 + body_units())


def limit_bots(services: Services, game: GameRequest) -> None:
    """Count what the computer players of a requested game will calculate, as requests. Raises ``RateLimited``."""
    levels = [game.fill.level if game.fill and seat.kind == OPEN_SEAT else seat.level for seat in game.seats]
    slow = len([level for level in levels if level in SLOW_LEVELS])
    if not slow:
        return
    rounds = 1  # people wait for each other, and deal
    absence = None if game.clock is None else game.clock.absence
    if may_go_on_alone([seat.kind for seat in game.seats], absence):
        requested = game.options.get("rounds")
        rounds = min(requested, MAX_ROUNDS_OF_BOTS) if isinstance(requested, int) else ROUNDS_OF_BOTS
    _limit_games(services, slow * max(rounds, 1))


def limit_bot(services: Services, level: str) -> None:
    """Count a computer player that joins people, if it calculates, as a request. Raises ``RateLimited``."""
    if level in SLOW_LEVELS:
        _limit_games(services, 1)


def _limit_games(services: Services, weight: int) -> None:
    environ = current_environ()
    app = environ.get(APP)
    if app is not None:
        quota = services.limits.limit_app_games(app, weight)
    else:
        quota = services.limits.limit_create(environ.get("REMOTE_ADDR", ""), weight)
    if quota is not None:
        environ[EXTRA_HEADERS] = quota.headers()


def limit_guesses(services: Services) -> None:
    """Check that the address of the client may send a join code. Raises ``RateLimited``."""
    services.limits.check_failures(current_environ().get("REMOTE_ADDR", ""))


def request_network() -> str:
    """Return the network of the client of the current request."""
    return client_network(current_environ().get("REMOTE_ADDR", ""))


def limit_history(limits: RateLimits, events: int) -> None:
    """Count the events that the current request reads, by the address of its client. Raises ``RateLimited``."""
    limit_reads(limits, max(events, 0) // EVENTS_PER_READ)


def limit_sentences(limits: RateLimits, events: int) -> None:
    """Count events that are told in sentences, as reads. Raises ``RateLimited``."""
    limit_reads(limits, max(events, 0) // SENTENCES_PER_READ)


def limit_places(limits: RateLimits, places: int) -> None:
    """Count tiles and ends whose places are computed, as reads. Raises ``RateLimited``."""
    limit_reads(limits, places // PLACES_PER_READ)


def limit_reads(limits: RateLimits, reads: int) -> None:
    """Count reads of the current request by its application, as requests, or by its address.

    By the address also where the requests of applications have no limit, which lifts no other. Raises ``RateLimited``.
    """
    environ = current_environ()
    app = environ.get(APP)
    if app is None or limits.app_requests(app) is None:
        limits.limit_read(environ.get("REMOTE_ADDR", ""), reads)
    elif reads:
        limits.limit_bearer("", None, app, reads)
