"""The games. Each module of this package defines one game, as ``VARIANT``; no other code names a game.

The texts about a game are in ``service.texts``, under its key.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from service.engine.variant import Variant


@cache
def modules() -> dict[str, str]:
    """Return the name of each game's module by the key of the game, sorted by key."""
    names = {}
    for module in iter_modules(__path__):
        variant: Variant = import_module(f"{__name__}.{module.name}").VARIANT
        names[variant.key] = module.name
    return dict(sorted(names.items()))


@cache
def variants() -> dict[str, Variant]:
    """Return all games by key, sorted by key."""
    return {key: import_module(f"{__name__}.{name}").VARIANT for key, name in modules().items()}
