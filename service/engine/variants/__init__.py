"""The games. Each module of this folder is one, its recipe named ``VARIANT``; nobody else names them.

What is said of a game is in ``service.texts``, under its key.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from service.engine.variant import Variant


@cache
def modules() -> dict[str, str]:
    """The module name of every game by its key, in the order of the keys."""
    names = {}
    for module in iter_modules(__path__):
        variant: Variant = import_module(f"{__name__}.{module.name}").VARIANT
        names[variant.key] = module.name
    return dict(sorted(names.items()))


@cache
def variants() -> dict[str, Variant]:
    """Every game by its key, in the order of the keys."""
    return {key: import_module(f"{__name__}.{name}").VARIANT for key, name in modules().items()}
