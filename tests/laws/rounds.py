"""The layouts of random rounds of every game, with every number of players and every set."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from random import Random
from typing import NamedTuple

from service.engine.layout import Layout
from service.engine.variant import Rules
from service.engine.variants import variants
from tests.laws.matches import Case, Choices, Match, setups

_MOVES = 600
"""Enough for a round on the largest set."""


class Kind(NamedTuple):
    """What tables depend on: the game, the number of players, and the size of the set."""

    key: str
    seats: int
    tiles: int


class Round(NamedTuple):
    """A round by its layouts: after each tile, and after the lead was turned over."""

    case: Case
    rules: Rules
    layouts: tuple[Layout, ...]


@cache
def kinds() -> dict[Kind, tuple[Choices, ...]]:
    """Every kind of table with all options that lead to it."""
    found: dict[Kind, list[Choices]] = {}
    for key, variant in variants().items():
        for seats, options in setups(key):
            kind = Kind(key, seats, len(variant.rules(dict(options), seats).tiles))
            found.setdefault(kind, []).append(options)
    return {kind: tuple(options) for kind, options in found.items()}


def rounds(kind: Kind, many: int, seed: str) -> Iterator[Round]:
    """So many random rounds of a kind, the same at every run; not all of them are played to their end."""
    number = 0
    while many:
        name = f"{seed} {number}"
        case = Case(kind.key, kind.seats, Random(f"{name} {kind}").choice(kinds()[kind]), name, number, _MOVES)
        number += 1
        match = Match(case)
        for layouts in _by_round(match):
            yield Round(case, match.rules, layouts)
            many -= 1
            if not many:
                return


def _by_round(match: Match) -> Iterator[tuple[Layout, ...]]:
    for _, states in groupby(match.states, key=lambda state: state.round):
        layouts = tuple([layout for layout, _ in groupby([state.layout for state in states]) if layout.placements])
        if layouts:
            yield layouts
