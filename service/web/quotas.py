"""Count the current request in the rate limits, by its application or by the address of its client.

Owns how much work counts as one request or read.
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
"""Events of a history that count as one read: about a millisecond of work."""
SENTENCES_PER_READ: Final = 20
"""Events with sentences that count as one read."""
PLACES_PER_READ: Final = 4
"""Tiles and ends whose computed places count as one read."""
ROUNDS_OF_BOTS: Final = 10
"""Rounds that are counted for a match that computer players may play alone, if its options do not set a number."""
APP: Final = "domino.app"
"""The key in the WSGI environment for the application that was authenticated."""


def limit_expensive(services: Services) -> None:
    """Count an expensive request that needs no token, by the size of its body. Raises ``RateLimited``."""
    _limit_games(services, 1 + body_units())


def limit_bots(services: Services, game: GameRequest) -> None:
    """Count the expected work of the computer players of a requested game, as requests. Raises ``RateLimited``."""
    levels = [game.fill.level if game.fill and seat.kind == OPEN_SEAT else seat.level for seat in game.seats]
    slow = len([level for level in levels if level in SLOW_LEVELS])
    if not slow:
        return
    rounds = 1  # where people play, the next round waits for them
    absence = None if game.clock is None else game.clock.absence
    if may_go_on_alone([seat.kind for seat in game.seats], absence):
        requested = game.options.get("rounds")
        rounds = min(requested, MAX_ROUNDS_OF_BOTS) if isinstance(requested, int) else ROUNDS_OF_BOTS
    _limit_games(services, slow * max(rounds, 1))


def limit_bot(services: Services, level: str) -> None:
    """Count a computer player that is added to a game as a request, if its level is slow. Raises ``RateLimited``."""
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
    """Raise ``RateLimited`` if the address of the client has sent too many wrong tokens or join codes."""
    services.limits.check_failures(current_environ().get("REMOTE_ADDR", ""))


def request_network() -> str:
    """Return the network of the client of the current request."""
    return client_network(current_environ().get("REMOTE_ADDR", ""))


def limit_history(limits: RateLimits, events: int) -> None:
    """Count the events of a history that the current request reads, as reads. Raises ``RateLimited``."""
    limit_reads(limits, max(events, 0) // EVENTS_PER_READ)


def limit_sentences(limits: RateLimits, events: int) -> None:
    """Count events with sentences, as reads. Raises ``RateLimited``."""
    limit_reads(limits, max(events, 0) // SENTENCES_PER_READ)


def limit_places(limits: RateLimits, places: int) -> None:
    """Count tiles and ends whose places are computed, as reads. Raises ``RateLimited``."""
    limit_reads(limits, places // PLACES_PER_READ)


def limit_reads(limits: RateLimits, reads: int) -> None:
    """Count reads of the current request. Raises ``RateLimited``.

    They count as requests of its application if that has a limit of requests, else as reads of the client's address.
    """
    environ = current_environ()
    app = environ.get(APP)
    if app is None or limits.app_requests(app) is None:
        limits.limit_read(environ.get("REMOTE_ADDR", ""), reads)
    elif reads:
        limits.limit_bearer("", None, app, reads)
