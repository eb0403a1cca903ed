"""Count the current request in the rate limits, by its application or by the address of its client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from service.client_address import client_network
from service.engine.variants import variants
from service.games.commands.validation import GameRequest
from service.games.model.clock import ClockSettings
from service.games.model.game import Game
from service.games.model.schedule import MAX_ROUNDS_OF_BOTS
from service.games.model.seats import BOT, OPEN_SEAT, SLOW_LEVELS, SeatKind, may_go_on_alone
from service.web.http.body import body_units
from service.web.http.errors import current_environ
from service.web.http.middleware import QUOTA
from service.web.rate_limits import RateLimited, RateLimits
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
    fill, variant = game.fill, variants().get(game.variant)
    kinds = [seat.kind for seat in game.seats]
    levels = [fill.level if fill and seat.kind == OPEN_SEAT else seat.level for seat in game.seats]
    defaults = {} if variant is None else {option.key: option.default for option in variant.options}
    # The options of a game that continues a record are in the record, which is not read yet.
    settings = {"rounds": MAX_ROUNDS_OF_BOTS} if game.source is not None else {**defaults, **game.options}
    _limit_bots(services, kinds, levels, game.clock, settings=settings, fills=fill is not None)


def limit_bots_of_rematch(services: Services, game: Game) -> None:
    """Count the expected work of the computer players of a rematch, as requests. Raises ``RateLimited``."""
    kinds, levels = [seat.kind for seat in game.seats], [seat.level for seat in game.seats]
    _limit_bots(services, kinds, levels, game.clock, settings=game.rules.settings)


def limit_bot(services: Services, game: Game, place: int, level: str) -> None:
    """Count the expected work of a computer player that gets this seat, as requests. Raises ``RateLimited``."""
    kinds = [BOT if seat == place else player.kind for seat, player in enumerate(game.seats)]
    fills = game.room is not None and game.room.fill is not None
    _limit_bots(services, kinds, [level], game.clock, settings=game.rules.settings, fills=fills)


def _limit_bots(
    services: Services,
    kinds: Sequence[SeatKind],
    levels: Sequence[str | None],
    clock: ClockSettings | None,
    *,
    settings: Mapping[str, object],
    fills: bool = False,
) -> None:
    """Count the slow ones of these ``levels`` for each round if computer players may play them alone.

    Otherwise count them once: where people play, the next round waits for them.
    ``kinds``: of all seats of the game.
    ``settings``: all options; they can be invalid.
    ``fills``: as in ``may_go_on_alone``.
    """
    slow, rounds = len([level for level in levels if level in SLOW_LEVELS]), settings.get("rounds")
    if not slow:
        return
    count = max(min(rounds, MAX_ROUNDS_OF_BOTS), 1) if isinstance(rounds, int) else ROUNDS_OF_BOTS
    alone = may_go_on_alone(kinds, None if clock is None else clock.absence, fills=fills)
    _limit_games(services, slow * count if alone else slow)


def _limit_games(services: Services, weight: int) -> None:
    environ = current_environ()
    app = environ.get(APP)
    if app is not None:
        quota = services.limits.count("app_games", app.id, weight, limit=services.limits.app_games(app) or 0)
    else:
        quota = services.limits.count("create", client_network(environ.get("REMOTE_ADDR", "")), weight)
    if quota is not None:
        environ[QUOTA] = quota


def limit_guesses(services: Services) -> None:
    """Raise ``RateLimited`` if the address of the client has sent too many wrong tokens or join codes."""
    quota = services.limits.count("failure", request_network(), 0)
    if quota is not None and not quota.remaining:
        raise RateLimited(quota)


def request_network() -> str:
    """Return the network of the client of the current request."""
    return client_network(current_environ().get("REMOTE_ADDR", ""))


def limit_reads(limits: RateLimits, items: int, *, per_read: int = 1) -> None:
    """Count what the current request reads, of which ``per_read`` items are one read. Raises ``RateLimited``.

    Reads count as requests of its application if that has a limit of requests, else as reads of the client's address.
    """
    reads = items // per_read
    if reads <= 0:
        return
    app = current_environ().get(APP)
    if app is None or limits.app_requests(app) is None:
        limits.count("read", request_network(), reads)
    else:
        limits.limit_bearer("", None, app, reads)
