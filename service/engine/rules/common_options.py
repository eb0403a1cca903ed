"""House rules that several games share, and the check of hands and teams (rules A11, A12, A14, A15).

Owns their bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from service.engine.errors import InvalidSetup, Reason
from service.engine.options import Option, Value

_TEAM_OF_TWO: Final = 2
_SEATS_IN_TEAMS: Final = 4


def opening_option(default: str, *others: str) -> Option:
    """Who leads, and with what: one of these words of rules A11 or of the game."""
    return Option(key="opening", default=default, values=(default, *others))


def blocked_score_option(default: str, *others: str) -> Option:
    """What the winner of a blocked round scores: one of these words of rules A12."""
    return Option(key="blocked_score", default=default, values=(default, *others))


def target_option(default: int | None, *, low: int = 1, high: int = 1000) -> Option:
    """The total that ends the match (rules A8, A14)."""
    return Option(key="target", default=default, low=low, high=high)


def teams_option(default: int | None = 0) -> Option:
    """Alone or four in two teams (rules A9, A14)."""
    return Option(key="teams", default=default, values=(0, 2))


def hand_option(usual: Mapping[int, int], low: int, high: int) -> Option:
    """How many tiles everybody gets (rules A15); ``usual``: by the number of players, if it is left out."""
    sizes, players = ", ".join(map(str, usual.values())), ", ".join(map(str, usual))
    return Option(key="hand", default=None, low=low, high=high, params={"sizes": sizes, "players": players})


def reserve_option(default: int) -> Option:
    """How many tiles of the stock are never drawn (rules A5)."""
    return Option(key="reserve", default=default, low=0, high=2)


def settled(options: Mapping[str, Value | None], seats: int, tiles: int, **usual: Value) -> dict[str, Any]:
    """These options with what is ``usual`` for so many players where no value is given.

    Raises ``InvalidSetup`` as ``check_hands_and_teams``.
    """
    settings: dict[str, Any] = {key: usual[key] if value is None else value for key, value in options.items()}
    check_hands_and_teams(seats, settings["hand"], settings["teams"], tiles)
    return settings


def check_hands_and_teams(seats: int, hand: int, teams: Value | None, tiles: int) -> None:
    """Raise ``InvalidSetup`` if the set is too small for these hands, or if there are teams without four players."""
    errors = {}
    if hand * seats > tiles:
        errors["options.hand"] = [Reason("hands_too_large", {"players": seats, "hand": hand, "max": tiles})]
    if teams == _TEAM_OF_TWO and seats != _SEATS_IN_TEAMS:
        errors["options.teams"] = [Reason("no_such_teams", {"players": seats, "teams": teams})]
    if errors:
        raise InvalidSetup(errors)
