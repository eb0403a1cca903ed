"""How strong the levels of computer players are in each game, as it was measured.

Owns the access to ``strength.json``, which ``make strength`` writes together with ``docs/strength.md``.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import orjson

from service.engine.options import Value


class Strength(NamedTuple):
    """By how much one level is stronger than another one at a certain table."""

    variant: str
    players: int
    options: dict[str, Value]
    stronger: str
    weaker: str
    share: float
    """Of the comparisons in a round, those that the stronger level wins; a tie counts half."""
    interval: float
    """Half of the 95 % interval of the share."""
    deals: int


@cache
def measured_strength() -> tuple[Strength, ...]:
    """Return every row that was measured with enough deals."""
    file = resources.files("service.games.queries") / "strength.json"
    rows: list[dict[str, Any]] = orjson.loads(file.read_bytes())
    return tuple([Strength(**row) for row in rows])
