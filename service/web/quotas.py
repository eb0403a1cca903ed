"""Count the current request in the rate limits, by its application or by the address of its client.

Owns how much work counts as one request or read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from service.client_address import client_network
from service.engine.options import Value
from service.engine.variants import variants
from service.games.commands.validation import GameRequest
from service.games.model.clock import ClockSettings
from service.games.model.game import Game
from service.games.model.schedule import MAX_ROUNDS_OF_BOTS
from service.games.model.seats import BOT, OPEN_SEAT, SLOW_LEVELS, SeatKind, may_go_on_alone
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
"""Rounds that are counted for a match that computer players may play alone, if its game has no number of them."""
APP: Final = "domino.app"
"""The key in the WSGI environment for the application that was authenticated."""


def limit_expensive(services: Services) -> None:
    """Count an expensive request by the size of its body. Raises ``RateLimited``."""
    _limit_games(services, 1 + body_units())


def limit_bots(services: Services, game: GameRequest) -> None:
    """Count the expected work of the computer players of a requested game, as requests. Raises ``RateLimited``."""
    fill = game.fill
    kinds = [BOT if fill and seat.kind == OPEN_SEAT else seat.kind for seat in game.seats]
    levels = [fill.level if fill and seat.kind == OPEN_SEAT else seat.level for seat in game.seats]
    # The options of a game that continues a record are in the record, which is not read yet.
    options = None if game.source is not None else game.options
    _limit_bots(services, kinds, levels, game.clock, variant=game.variant, options=options)


def limit_bots_of_rematch(services: Services, game: Game) -> None:
    """Count the expected work of the computer players of a rematch, as requests. Raises ``RateLimited``."""
    kinds, levels = [seat.kind for seat in game.seats], [seat.level for seat in game.seats]
    _limit_bots(services, kinds, levels, game.clock, variant=game.variant.key, options=game.options)


def limit_bot(services: Services, game: Game, place: int, level: str) -> None:
    """Count the expected work of a computer player that gets this seat, as requests. Raises ``RateLimited``."""
    kinds = [BOT if seat == place else player.kind for seat, player in enumerate(game.seats)]
    _limit_bots(services, kinds, [level], game.clock, variant=game.variant.key, options=game.options)


def _limit_bots(
    services: Services,
    kinds: Sequence[SeatKind],
    levels: Sequence[str | None],
    clock: ClockSettings | None,
    *,
    variant: str,
    options: Mapping[str, Value] | None,
) -> None:
    """Count the slow ones of these ``levels`` for each round if computer players may play them alone.

    Otherwise count them once: where people play, the next round waits for them. ``kinds``: of all seats of the game.
    ``options``: can be invalid; ``None`` if they are unknown.
    """
    slow = len([level for level in levels if level in SLOW_LEVELS])
    if slow:
        alone = may_go_on_alone(kinds, None if clock is None else clock.absence)
        _limit_games(services, slow * (_rounds(variant, options) if alone else 1))


def _rounds(variant: str, options: Mapping[str, Value] | None) -> int:
    """Return the rounds that are counted for a match; with unknown options as many as possible."""
    if options is None:
        return MAX_ROUNDS_OF_BOTS
    known = variants().get(variant)
    defaults = {} if known is None else {option.key: option.default for option in known.options}
    rounds = {**defaults, **options}.get("rounds")
    return max(min(rounds, MAX_ROUNDS_OF_BOTS), 1) if isinstance(rounds, int) else ROUNDS_OF_BOTS


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
