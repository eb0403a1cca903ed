"""House rules that several games share, and the validation of hands and teams (rules A11, A12, A14, A15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from service.engine.errors import InvalidSetup, Reason
from service.engine.options import Option, Options, Value

_TWO_TEAMS: Final = 2
_SEATS_IN_TEAMS: Final = 4


def opening_option(default: str, *others: str) -> Option:
    """Return the option for who leads, and with which tile; the words are those of rules A11 or of the game."""
    return Option(key="opening", default=default, values=(default, *others))


def blocked_score_option(default: str, *others: str) -> Option:
    """Return the option for the score of the winner of a blocked round; the words are those of rules A12."""
    return Option(key="blocked_score", default=default, values=(default, *others))


def target_option(default: int | None, *, low: int = 1, high: int = 1000) -> Option:
    """Return the option for the total that ends the match (rules A8, A14)."""
    return Option(key="target", default=default, low=low, high=high)


def teams_option(default: int | None = 0) -> Option:
    """Return the option for playing alone (0) or, with four players, in two teams (rules A9, A14)."""
    return Option(key="teams", default=default, values=(0, 2))


def hand_option(defaults: Mapping[int, int], low: int, high: int) -> Option:
    """Return the option for the size of a hand (rules A15); ``defaults``: the default by the number of players."""
    sizes, players = ", ".join(map(str, defaults.values())), ", ".join(map(str, defaults))
    return Option(key="hand", default=None, low=low, high=high, params={"sizes": sizes, "players": players})


def reserve_option(default: int) -> Option:
    """Return the option for the number of tiles of the stock that are never drawn (rules A5)."""
    return Option(key="reserve", default=default, low=0, high=2)


def fill_defaults(options: Options, defaults: Mapping[str, Value]) -> Options:
    """Return the options with defaults in place of missing values."""
    return {key: defaults[key] if value is None else value for key, value in options.items()}


def with_defaults(options: Options, seats: int, tiles: int, **defaults: Value) -> Options:
    """Return the options with defaults in place of missing values, for a game in which hands and teams are options.

    Raises ``InvalidSetup`` if a set of this many tiles is too small for the hands, or if there are teams without four
    players.
    """
    settings = fill_defaults(options, defaults)
    hand, teams = settings["hand"], settings["teams"]
    errors = {}
    if hand * seats > tiles:
        errors["options.hand"] = [Reason("hands_too_large", {"players": seats, "hand": hand, "max": tiles})]
    if teams == _TWO_TEAMS and seats != _SEATS_IN_TEAMS:
        errors["options.teams"] = [Reason("no_such_teams", {"players": seats, "teams": teams})]
    if errors:
        raise InvalidSetup(errors)
    return settings
