"""How a game is asked for, and whether what is asked can be played.

Owns the check of seats, house rules and arranged deals before there is a game. Must not know the store
or HTTP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from service.engine.deal import ArrangedDeal
from service.engine.errors import InvalidSetup
from service.engine.events import Dealt
from service.engine.referee import can_open
from service.engine.tiles import Tile, sort_tiles
from service.engine.variant import Rules, Variant
from service.engine.variants import variants
from service.games.forks import ForkSource
from service.games.game import SeatKind


class SeatRequest(NamedTuple):
    """Who is to sit at a seat: somebody with a name, or whoever takes it."""

    kind: SeatKind
    name: str | None = None
    client_seed: str | None = None


class GameRequest(NamedTuple):
    """A game as somebody asks for it."""

    variant: str
    seats: tuple[SeatRequest, ...]
    options: Mapping[str, bool | int | str]
    seed: str | None = None
    deals: tuple[ArrangedDeal, ...] = ()
    origin: ForkSource | None = None
    """The record to go on from; it names the variant and the options itself."""

    @property
    def arranged(self) -> bool:
        """Whether the chance of the game is fixed."""
        return self.seed is not None or bool(self.deals) or self.origin is not None


CHANCE_IS_FIXED: Final = "The chance of this game is fixed; there is nothing to add to it."


def check_request(request: GameRequest) -> tuple[Variant, Rules]:
    """The game and the rules that are asked for. Raises ``InvalidSetup`` with the complaints by field."""
    variant = variants().get(request.variant)
    if variant is None:
        raise InvalidSetup({"variant": [f"Must be one of {', '.join(variants())}."]})
    errors = {
        f"players.{seat}.bot": ["Computer players are not offered yet."]
        for seat, each in enumerate(request.seats)
        if each.kind == "bot"
    }
    if request.arranged:
        errors |= {
            f"players.{seat}.client_seed": [CHANCE_IS_FIXED]
            for seat, each in enumerate(request.seats)
            if each.client_seed is not None
        }
    try:
        rules = variant.rules(request.options, len(request.seats))
    except InvalidSetup as refusal:
        raise InvalidSetup(errors | refusal.errors) from None
    for place, deal in enumerate(request.deals):
        complaints = _deal_complaints(rules, place, deal)
        if complaints:
            errors[f"deals.{place}"] = complaints
    if errors:
        raise InvalidSetup(errors)
    return variant, rules


def _deal_complaints(rules: Rules, place: int, deal: ArrangedDeal) -> list[str]:
    """What keeps the rules from dealing this in that round."""
    if len(deal.hands) != rules.seats:
        return [f"There are {rules.seats} seats, so {rules.seats} hands are needed."]
    complaints = _set_complaints(rules.tiles, [tile for hand in (*deal.hands, deal.stock) for tile in hand])
    players = sum(bool(hand) for hand in deal.hands)
    size = rules.hand_size(players)
    if place == 0 and players < rules.seats:
        complaints.append("In the first round nobody is out, so no hand is empty.")
    elif not size:
        complaints.append(f"This game is not dealt to {players} players.")
    elif any(hand and len(hand) != size for hand in deal.hands):
        complaints.append(f"{players} players get {size} tiles each.")
    if complaints:
        return complaints
    dealt = Dealt(place + 1, tuple([sort_tiles(hand) for hand in deal.hands]), deal.stock, arranged=True)
    # In a later round the last winner may open with anything, so that any seat stands for the winner here.
    before = rules.start()._replace(round_winner=0)
    return [] if can_open(rules, before, dealt) else ["No hand can open this; the rules would deal it again."]


def _set_complaints(wanted: Sequence[Tile], given: Sequence[Tile]) -> list[str]:
    complaints = []
    twice = sort_tiles([tile for tile, times in Counter(given).items() if times > 1])
    foreign = sort_tiles(set(given) - set(wanted))
    missing = sort_tiles(set(wanted) - set(given))
    for tiles, words in ((twice, "twice"), (foreign, "not in the set"), (missing, "missing")):
        if tiles:
            complaints.append(f"{', '.join(tile.name for tile in tiles)}: {words}.")
    return complaints
