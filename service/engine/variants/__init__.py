"""The games. Each module of this package defines one game, as ``VARIANT``; no other code names a game.

The texts about a game are in ``service.texts``, under its key.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules

from service.engine.variant import Variant


@cache
def variants() -> dict[str, Variant]:
    """Return all games by key, sorted by key."""
    games = [import_module(f"{__name__}.{module.name}").VARIANT for module in iter_modules(__path__)]
    return {variant.key: variant for variant in sorted(games, key=attrgetter("key"))}
