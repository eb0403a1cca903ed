"""The request for a new game, its validation, and the limit on games that only computer players play.

Owns the validation of seats, options and arranged deals before a game is created. Does not depend on HTTP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from service.bounded_cache import BoundedCache
from service.engine.deal import ArrangedDeal
from service.engine.errors import InvalidSetup, Reason
from service.engine.events import Dealt
from service.engine.referee import can_open
from service.engine.tiles import Tile, sort_hands, sort_tiles
from service.engine.variant import Rules
from service.engine.variants import variants
from service.games.model.clock import ClockSettings
from service.games.model.errors import Gone, TooManyGamesOfBots
from service.games.model.forks import ForkSource
from service.games.model.game import Audience, Game, rules_for
from service.games.model.schedule import MAX_ROUNDS_OF_BOTS, is_under_way
from service.games.model.seats import BOT, LEVELS, OPEN_SEAT, Fill, SeatKind, is_taken, may_go_on_alone
from service.games.ports import GamesOfBots, TimeSource
from service.games.store.repository import GameRepository
from service.redis.errors import StorageUnavailable


class SeatRequest(NamedTuple):
    """The requested player of a seat: a person with a name, a computer player, or nobody (an open seat).

    ``level``: the level of a computer player.
    ``ref``: the name that the application uses for the player.
    """

    kind: SeatKind
    name: str | None = None
    client_seed: str | None = None
    level: str | None = None
    ref: str | None = None


class GameRequest(NamedTuple):
    """A request for a new game. The fields of ``GameFacts`` and ``Ownership`` have the same meanings here."""

    variant: str
    seats: tuple[SeatRequest, ...]
    options: Mapping[str, bool | int | str]
    seed: str | None = None
    deals: tuple[ArrangedDeal, ...] = ()
    source: ForkSource | None = None
    """The record to continue; its variant and options replace the requested ones."""
    unique_names: bool = False
    spectators: bool = True
    auto: bool = False
    clock: ClockSettings | None = None
    pace: int | None = None
    app: str | None = None
    """The application that creates the game and will own it."""
    network: str = ""
    """The network of the client's address; the tenant of a game without an application."""
    ref: str | None = None
    lobby: Audience | None = None
    fill: Fill | None = None
    """When computer players take the open seats; ``None`` for never."""

    @property
    def arranged(self) -> bool:
        """Return whether the request fixes the deals, so that they cannot be proven fair."""
        return self.seed is not None or bool(self.deals) or self.source is not None


FIXED_DEALS: Final = Reason("fixed_deals")
"""The error of a client seed that would have no effect."""

NEEDS_KEY: Final = Reason("needs_key")
"""The error of a field that only an application can send."""

NAME_TAKEN: Final = Reason("name_taken")

MAX_ERRORS: Final = 10
"""The number of errors after which no more deals are checked."""


def check_request(request: GameRequest, yield_control: Callable[[], None]) -> Rules:
    """Validate a request; return the rules of the requested game. Raises ``InvalidSetup`` with the errors by field.

    ``yield_control`` is called before each deal is checked.
    """
    if request.variant not in variants():
        raise InvalidSetup({"variant": [Reason("not_one_of", {"allowed": list(variants())})]})
    errors = {
        f"players.{seat}.bot": [Reason("not_one_of", {"allowed": list(LEVELS)})]
        for seat, player in enumerate(request.seats)
        if player.kind == BOT and player.level not in LEVELS
    } | _ownership_errors(request)
    rounds, bots_alone = request.options.get("rounds"), all([player.kind == BOT for player in request.seats])
    if bots_alone and isinstance(rounds, int) and rounds > MAX_ROUNDS_OF_BOTS:
        errors["options.rounds"] = [Reason("rounds_of_bots", {"max": MAX_ROUNDS_OF_BOTS})]
    if request.fill is not None and not any([player.kind == OPEN_SEAT for player in request.seats]):
        errors["fill"] = [Reason("only_with_open_seats")]
    if request.unique_names:
        names = [player.name for player in request.seats]
        taken = [seat for seat, name in enumerate(names) if is_taken(name, names[:seat])]
        errors |= {f"players.{seat}.name": [NAME_TAKEN] for seat in taken}
    errors |= {
        f"players.{seat}.client_seed": [FIXED_DEALS]
        for seat, player in enumerate(request.seats)
        if player.client_seed is not None and request.arranged
    }
    try:
        rules = rules_for(request.variant, request.options, len(request.seats))
    except InvalidSetup as refusal:
        raise InvalidSetup(errors | refusal.errors) from None
    for index, deal in enumerate(request.deals):
        yield_control()
        if deal_errors := _deal_errors(rules, index, deal):
            errors[f"deals.{index}"] = deal_errors
            if len(errors) >= MAX_ERRORS:
                break
    if errors:
        raise InvalidSetup(errors)
    return rules


def _ownership_errors(request: GameRequest) -> dict[str, list[Reason]]:
    """Return the errors of the fields that only an application can send, and of ``lobby``, by field."""
    if request.app is not None:
        has_open = any([player.kind == OPEN_SEAT for player in request.seats])
        return {"lobby": [Reason("only_with_open_seats")]} if request.lobby and not has_open else {}
    fields: dict[str, object] = {"ref": request.ref, "lobby": request.lobby}
    fields["clock.remind"] = None if request.clock is None else request.clock.remind
    fields |= {f"players.{seat}.ref": player.ref for seat, player in enumerate(request.seats)}
    return {field: [NEEDS_KEY] for field, value in fields.items() if value}


def _deal_errors(rules: Rules, index: int, deal: ArrangedDeal) -> list[Reason]:
    """Return why this cannot be the deal of round ``index + 1``; empty if it can."""
    if len(deal.hands) != rules.seats:
        return [Reason("number_of_hands", {"players": rules.seats})]
    errors = _set_errors(rules.tiles, [tile for hand in (*deal.hands, deal.stock) for tile in hand])
    players = sum(bool(hand) for hand in deal.hands)
    size = rules.hand_size(players)
    if index == 0 and players < rules.seats:
        errors.append(Reason("empty_hand"))
    elif not size:
        errors.append(Reason("no_such_deal", {"players": players}))
    elif any(hand and len(hand) != size for hand in deal.hands):
        errors.append(Reason("hand_size", {"players": players, "hand": size}))
    if errors:
        return errors
    dealt = Dealt(index + 1, sort_hands(deal.hands), deal.stock, arranged=True)
    # In a later round, the last winner or the seat after the last leader can open with any tile; here seat 0.
    before = rules.start()._replace(next_leader=0, opener=0)
    return [] if can_open(rules, before, dealt) else [Reason("cannot_open")]


def _set_errors(expected: Sequence[Tile], given: Sequence[Tile]) -> list[Reason]:
    """Return how the given tiles differ from the expected set."""
    differences = {
        "tiles_twice": sort_tiles([tile for tile, count in Counter(given).items() if count > 1]),
        "tiles_foreign": sort_tiles(set(given) - set(expected)),
        "tiles_missing": sort_tiles(set(expected) - set(given)),
    }
    return [Reason(word, {"tiles": [tile.name for tile in tiles]}) for word, tiles in differences.items() if tiles]


def check_client_seed(game: Game) -> None:
    """Raise ``InvalidSetup`` if the deals of this game do not depend on client seeds."""
    if game.deck.game is None:
        raise InvalidSetup({"client_seed": [FIXED_DEALS]})


# The limit on games that can go on with computer players alone, which use processor time without requests.


RETRY_SECONDS: Final = 10
"""Seconds after a refusal in which the games of the tenant are not counted again."""
CREATION_MS: Final = 30_000
"""Milliseconds for which a listed game counts even if it does not exist, because it may be about to be stored."""
MAX_REFUSED: Final = 1000
"""The maximum number of recently refused tenants that a process remembers."""


class BotsAlone:
    """Limits the games that can go on with computer players alone: ``limit`` for each tenant, 0 for no limit."""

    def __init__(self, games: GamesOfBots, repository: GameRepository, clock: TimeSource, limit: int) -> None:
        self._games = games
        self._repository = repository
        self._clock = clock
        self._limit = limit
        self._refused = BoundedCache[str, int](MAX_REFUSED)

    def admit(self, game: Game) -> None:
        """Count a game that is about to be dealt, if it can go on with computer players alone; it counts only once.

        Raises ``StorageUnavailable``, ``OutcomeUnknown``, and ``TooManyGamesOfBots`` if the tenant has the maximum.
        """
        absence = None if game.clock is None else game.clock.absence
        fills = game.room is not None and game.room.fill is not None
        if game.is_automatic and may_go_on_alone([seat.kind for seat in game.seats], absence, fills=fills):
            self.admit_alone(game)

    def admit_alone(self, game: Game) -> None:
        """Count a game without checking its seats. Raises as ``admit``."""
        if not self._limit:
            return
        tenant, now = game.tenant, self._clock()
        if not self._games.add(tenant, game.id, now):
            return
        others = {other: at for other, at in self._games.all(tenant).items() if other != game.id}
        if len(others) < self._limit:
            return
        refused_at = self._refused.get(tenant)
        recount = refused_at is None or now - refused_at >= RETRY_SECONDS * 1000
        ended = [other for other, at in others.items() if recount and not self._is_under_way(other, now - at)]
        remaining = len(others) - len(ended)
        if remaining >= self._limit:
            ended.append(game.id)
            self._refused.put(tenant, self._clock())
        if ended:
            self._games.remove(tenant, ended)
        if remaining >= self._limit:
            raise TooManyGamesOfBots(self._limit, RETRY_SECONDS)

    def _is_under_way(self, game_id: str, age: int) -> bool:
        """Return whether a game that was listed ``age`` milliseconds ago is running, or may be about to be stored."""
        try:
            game = self._repository.reader.load(game_id)
        except Gone:
            return False
        except StorageUnavailable:
            return True
        return age < CREATION_MS if game is None else is_under_way(game)
