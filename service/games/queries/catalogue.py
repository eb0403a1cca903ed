"""The catalogue: the variants and their deals, and the texts about their options and the computer players."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import NamedTuple

import orjson

from service.engine.errors import InvalidSetup
from service.engine.options import Option, Value
from service.engine.variant import Variant
from service.engine.variants import variants
from service.games.model.errors import NotFound
from service.texts import Language, has_text, text


class Strength(NamedTuple):
    """A measurement of how much stronger one level is than another, with a number of players and options."""

    variant: str
    players: int
    options: dict[str, Value]
    stronger: str
    weaker: str
    share: float
    """How often a seat of the stronger level scores better in a round, from 0 to 1; a tie counts half."""
    interval: float
    """Half of the 95 % confidence interval of the share."""
    deals: int


@cache
def measured_strength() -> tuple[Strength, ...]:
    """Return all measurements that have enough deals."""
    file = resources.files("service.games.queries") / "strength.json"
    return tuple([Strength(**row) for row in orjson.loads(file.read_bytes())])


class DealRow(NamedTuple):
    """The deal for a number of players: numbers of tiles. ``highest``: the pips on each half of the highest double."""

    highest: int
    players: int
    hand: int
    stock: int
    drawable: int


def find_variant(key: str) -> Variant:
    """Return the variant with this key. Raises ``NotFound``."""
    variant = variants().get(key)
    if variant is None:
        raise NotFound("no_such_variant", allowed=list(variants()))
    return variant


def option_title(variant: Variant, option: Option, language: Language) -> str:
    """Return the name of a house rule of this variant."""
    return text(_option_key(variant, option, "title"), language)


def option_description(variant: Variant, option: Option, language: Language) -> str:
    """Return the description of a house rule of this variant."""
    return text(_option_key(variant, option, "description"), language, **option.params)


def value_titles(variant: Variant, option: Option, language: Language) -> tuple[str, ...]:
    """Return the names of the values of a house rule, in order; empty for plain numbers, and for yes and no."""
    keys = [_option_key(variant, option, f"values.{value}") for value in option.values]
    return tuple([text(key, language) for key in keys]) if keys and has_text(keys[0]) else ()


def _option_key(variant: Variant, option: Option, part: str) -> str:
    """Return the key of a text about a house rule: the text of this variant, else the text of all variants."""
    own = f"games.{variant.key}.options.{option.key}.{part}"
    return own if has_text(own) else f"options.{option.key}.{part}"


def level_name(level: str, language: Language) -> str:
    """Return the name of a level of computer players."""
    return text(f"levels.{level}.name", language)


@cache
def level_strength(level: str, variant: Variant, language: Language) -> str:
    """Return a text about the strength of a level in this variant: a general sentence, and measurements if any."""
    general = text(f"levels.{level}.strength", language)
    shares = [row for row in measured_strength() if row.variant == variant.key and row.stronger == level]
    if not shares:
        return general
    options = {option.key: option for option in variant.options}
    cases: list[str] = []
    for row in shares:
        players = text("levels.players", language, number=row.players)
        settings = [_setting(variant, options[key], value, language) for key, value in row.options.items()]
        table = ", ".join([players, *settings])
        share, interval = f"{100 * row.share:.0f}", max(1, round(100 * row.interval))
        case = "levels.case" if cases else "levels.first_case"
        cases.append(text(case, language, share=share, interval=interval, table=table))
    measured = text("levels.measured", language, weaker=level_name(shares[0].weaker, language), cases=", ".join(cases))
    return f"{general} {measured}"


def _setting(variant: Variant, option: Option, value: Value, language: Language) -> str:
    """Return a house rule with its value: *Set 9*, *Table Venezuela*."""
    named = dict(zip(option.values, value_titles(variant, option, language), strict=False))
    return f"{option_title(variant, option, language)} {named.get(value, value)}"


@cache
def deal_table(key: str) -> tuple[DealRow, ...]:
    """Return the deal for each set and each number of players with which this variant can be played."""
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
