"""The games on offer, described for people and for clients, in English and in German.

Reads the rule pages that lie beside the recipes. Must not know HTTP.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final, Literal, NamedTuple

from service.engine.errors import InvalidSetup
from service.engine.options import LocalizedText, Value
from service.engine.variant import Variant
from service.engine.variants import modules, variants
from service.games.errors import NotFound

Language = Literal["en", "de"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "de")


class DealRow(NamedTuple):
    """How a number of players is dealt; ``highest`` is the set's highest double."""

    highest: int
    players: int
    hand: int
    stock: int
    drawable: int


def find_variant(key: str) -> Variant:
    """The game of that key. Raises ``NotFound``."""
    variant = variants().get(key)
    if variant is None:
        raise NotFound("There is no such variant.")
    return variant


def localize(text: LocalizedText, language: Language) -> str:
    """The words in that language."""
    return text.de if language == "de" else text.en


@cache
def rule_page(key: str, language: Language) -> str:
    """The rules of a game as a page to play from, in Markdown."""
    page = resources.files("service.engine.variants").joinpath(f"{modules()[key]}.{language}.md")
    return page.read_text("utf-8")


@cache
def deal_table(key: str) -> tuple[DealRow, ...]:
    """What everybody gets, for each set and number of players that can be played."""
    variant = variants()[key]
    sets: list[dict[str, Value]] = [
        {option.key: value} for option in variant.options if option.key == "set" for value in option.values
    ]
    rows = []
    for options in sets or [{}]:
        for players in range(variant.players.low, variant.players.high + 1):
            try:
                rules = variant.rules(options, players)
            except InvalidSetup:
                continue
            hand = rules.hand_size(players)
            stock = len(rules.tiles) - hand * players
            rows.append(DealRow(rules.tiles[-1].high, players, hand, stock, max(0, stock - rules.reserve)))
    return tuple(rows)
