"""The request for a new game, and whether the requested game can be played.

Owns the validation of seats, options and arranged deals before a game is created. Does not depend on the store or HTTP.
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
from service.engine.tiles import Tile, sort_tiles
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
    """The requested player of a seat: a person with a name, a bot, or open to the join code.

    ``ref`` is the name of the player in the application.
    """

    kind: SeatKind
    name: str | None = None
    client_seed: str | None = None
    level: str | None = None
    ref: str | None = None


class GameRequest(NamedTuple):
    """The requested game."""

    variant: str
    seats: tuple[SeatRequest, ...]
    options: Mapping[str, bool | int | str]
    seed: str | None = None
    deals: tuple[ArrangedDeal, ...] = ()
    source: ForkSource | None = None
    """The record to continue; its variant and options replace the requested ones."""
    unique_names: bool = False
    """Whether no two players may have the same name."""
    spectators: bool = True
    auto: bool = False
    """Whether turns without a choice play themselves."""
    """Whether anybody may read the game, and not only its seats and its owner."""
    clock: ClockSettings | None = None
    pace: int | None = None
    """Milliseconds between an event and the move of a computer player; ``None``: the default."""
    app: str | None = None
    """The application that creates the game, and then owns it."""
    network: str = ""
    """The network of the address, in whose share a game of no application counts."""
    ref: str | None = None
    """What the application calls the game."""
    lobby: Audience | None = None
    """Who finds the open seats in the lobby; ``None``: nobody."""
    fill: Fill | None = None
    """When open seats go to computer players; ``None``: never by itself."""

    @property
    def arranged(self) -> bool:
        """Whether the deals are fixed in advance, so that they cannot be proven fair."""
        return self.seed is not None or bool(self.deals) or self.source is not None


FIXED_DEALS: Final = Reason("fixed_deals")
"""Why a client seed is refused: it would have no effect."""

NEEDS_KEY: Final = Reason("needs_key")
"""Why something is refused that only an application may ask for."""

NAME_TAKEN: Final = Reason("name_taken")

MAX_ERRORS: Final = 10
"""The number of errors after which no further deals are checked."""


def check_request(request: GameRequest, yield_control: Callable[[], None]) -> Rules:
    """Return the rules of the requested game. Raises ``InvalidSetup`` with the errors by field.

    ``yield_control`` is called before each deal is checked, to let other requests run.
    """
    if request.variant not in variants():
        raise InvalidSetup({"variant": [Reason("not_one_of", {"allowed": list(variants())})]})
    errors = {
        f"players.{seat}.bot": [Reason("not_one_of", {"allowed": list(LEVELS)})]
        for seat, player in enumerate(request.seats)
        if player.kind == BOT and player.level not in LEVELS
    }
    errors |= _ownership_errors(request) | _rounds_errors(request)
    if request.fill is not None and not any([player.kind == OPEN_SEAT for player in request.seats]):
        errors["fill"] = [Reason("only_with_open_seats")]
    if request.unique_names:
        names = [player.name for player in request.seats]
        errors |= {
            f"players.{seat}.name": [NAME_TAKEN] for seat, name in enumerate(names) if is_taken(name, names[:seat])
        }
    if request.arranged:
        errors |= {
            f"players.{seat}.client_seed": [FIXED_DEALS]
            for seat, player in enumerate(request.seats)
            if player.client_seed is not None
        }
    try:
        rules = rules_for(request.variant, request.options, len(request.seats))
    except InvalidSetup as refusal:
        raise InvalidSetup(errors | refusal.errors) from None
    for index, deal in enumerate(request.deals):
        yield_control()
        deal_errors = _deal_errors(rules, index, deal)
        if deal_errors:
            errors[f"deals.{index}"] = deal_errors
            if len(errors) >= MAX_ERRORS:
                break
    if errors:
        raise InvalidSetup(errors)
    return rules


def _ownership_errors(request: GameRequest) -> dict[str, list[Reason]]:
    """Why the request has what only an application may ask for, by field; empty if it may."""
    if request.app is not None:
        has_open = any([player.kind == OPEN_SEAT for player in request.seats])
        return {"lobby": [Reason("only_with_open_seats")]} if request.lobby and not has_open else {}
    fields: dict[str, object] = {"ref": request.ref, "lobby": request.lobby}
    fields["clock.remind"] = None if request.clock is None else request.clock.remind
    fields |= {f"players.{seat}.ref": player.ref for seat, player in enumerate(request.seats)}
    return {field: [NEEDS_KEY] for field, value in fields.items() if value}


def _rounds_errors(request: GameRequest) -> dict[str, list[Reason]]:
    """Why computer players alone are not dealt as many rounds as are requested, by field; empty if they are."""
    rounds = request.options.get("rounds")
    if (
        isinstance(rounds, int)
        and rounds > MAX_ROUNDS_OF_BOTS
        and all([player.kind == BOT for player in request.seats])
    ):
        return {"options.rounds": [Reason("rounds_of_bots", {"max": MAX_ROUNDS_OF_BOTS})]}
    return {}


def _deal_errors(rules: Rules, index: int, deal: ArrangedDeal) -> list[Reason]:
    """Why this cannot be the deal of round ``index + 1``; empty if it can."""
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
    dealt = Dealt(index + 1, tuple([sort_tiles(hand) for hand in deal.hands]), deal.stock, arranged=True)
    # In a later round the last winner, or the seat after the last leader, may open with any tile; which seat that is
    # makes no difference here.
    before = rules.start()._replace(next_leader=0, opener=0)
    return [] if can_open(rules, before, dealt) else [Reason("cannot_open")]


def _set_errors(expected: Sequence[Tile], given: Sequence[Tile]) -> list[Reason]:
    """Return how the given tiles differ from the expected set."""
    errors = []
    duplicate = sort_tiles([tile for tile, count in Counter(given).items() if count > 1])
    foreign = sort_tiles(set(given) - set(expected))
    missing = sort_tiles(set(expected) - set(given))
    for tiles, word in ((duplicate, "tiles_twice"), (foreign, "tiles_foreign"), (missing, "tiles_missing")):
        if tiles:
            errors.append(Reason(word, {"tiles": [tile.name for tile in tiles]}))
    return errors


def check_client_seed(game: Game) -> None:
    """Raise ``InvalidSetup`` where the deals do not depend on client seeds."""
    if game.deck.game is None:
        raise InvalidSetup({"client_seed": [FIXED_DEALS]})


# How many games a tenant may have that computer players may go on with alone: they take time of the service.


RETRY_SECONDS: Final = 10
"""After a refusal, the games of the tenant are not looked at again before."""
CREATION_MS: Final = 30_000
"""The time for which a game that was noted and does not exist yet counts: it may be about to be stored."""
MAX_REFUSED: Final = 1000
"""Tenants who were refused lately, of which a process knows."""


class BotsAlone:
    """The games that computer players may go on with alone, ``most`` of one tenant; 0 for no limit."""

    def __init__(self, games: GamesOfBots, repository: GameRepository, clock: TimeSource, most: int) -> None:
        self._games = games
        self._repository = repository
        self._clock = clock
        self._most = most
        self._refused = BoundedCache[str, int](MAX_REFUSED)

    def admit(self, game: Game) -> None:
        """Note a game that is about to be created; one that was admitted before is again.

        Raises ``TooManyGamesOfBots`` if its tenant has as many as may be under way, ``StorageUnavailable``,
        ``OutcomeUnknown``.
        """
        absence = None if game.clock is None else game.clock.absence
        fills = game.room is not None and game.room.fill is not None
        kinds = [BOT if fills and seat.kind == OPEN_SEAT else seat.kind for seat in game.seats]
        if may_go_on_alone(kinds, absence):
            self.admit_alone(game)

    def admit_alone(self, game: Game) -> None:
        """Admit a game with which computer players go on alone, also if it was no such game at first; see ``admit``."""
        if not self._most:
            return
        tenant = game.tenant
        now = self._clock()
        if not self._games.add(tenant, game.id, now):
            return
        others = {other: at for other, at in self._games.all(tenant).items() if other != game.id}
        if len(others) < self._most:
            return
        counted = self._was_refused(tenant)
        ended = [] if counted else [other for other, at in others.items() if not self._is_under_way(other, now - at)]
        left = len(others) - len(ended)
        if left >= self._most:
            ended.append(game.id)
            self._refused.put(tenant, self._clock())
        if ended:
            self._games.remove(tenant, ended)
        if left >= self._most:
            raise TooManyGamesOfBots(self._most, RETRY_SECONDS)

    def _was_refused(self, tenant: str) -> bool:
        at = self._refused.get(tenant)
        return at is not None and self._clock() - at < RETRY_SECONDS * 1000

    def _is_under_way(self, game_id: str, age: int) -> bool:
        """Return whether a game that was noted ``age`` milliseconds ago goes on, or may be about to be stored."""
        try:
            game = self._repository.reader.load(game_id)
        except Gone:
            return False
        except StorageUnavailable:
            return True
        return age < CREATION_MS if game is None else is_under_way(game)
