"""House rules that several games share, and the check of hands and teams (rules A11, A12, A14, A15).

Owns their texts and bounds. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from service.engine.errors import InvalidSetup, Reason
from service.engine.options import LocalizedText, Option, Value

_TEAM_OF_TWO: Final = 2
_SEATS_IN_TEAMS: Final = 4

_OPENING_LABEL: Final = LocalizedText("Opening", "Eröffnung")
_OPENINGS: Final = {
    "highest_double": LocalizedText("highest_double: the highest double", "highest_double: der höchste Doppelstein"),
    "lowest_double": LocalizedText("lowest_double: the lowest double", "lowest_double: der niedrigste Doppelstein"),
    "rotate": LocalizedText("rotate: the seats in turn", "rotate: die Plätze reihum"),
    "winner": LocalizedText(
        "winner: after the first round who went out last", "winner: nach der ersten Runde, wer zuletzt fertig wurde"
    ),
}
_BLOCKED_SCORES: Final = {
    "minus_own": LocalizedText(
        "minus_own: the pips of the others less their own", "minus_own: die Augen der anderen abzüglich der eigenen"
    ),
    "others": LocalizedText("others: the pips of the others", "others: die Augen der anderen"),
    "all": LocalizedText("all: the pips of all hands", "all: die Augen aller Hände"),
}


def opening_option(default: str, *others: str) -> Option:
    """Who leads, and with what: one of these words of rules A11 or of the game."""
    return Option(
        key="opening",
        label=_OPENING_LABEL,
        help=_listed(LocalizedText("What leads a round", "Was eine Runde eröffnet"), _OPENINGS, (default, *others)),
        default=default,
        values=(default, *others),
    )


def blocked_score_option(default: str, *others: str) -> Option:
    """What the winner of a blocked round scores: one of these words of rules A12."""
    return Option(
        key="blocked_score",
        label=LocalizedText("Blocked round", "Blockierte Runde"),
        help=_listed(
            LocalizedText("What the lightest side scores", "Was die leichteste Seite bekommt"),
            _BLOCKED_SCORES,
            (default, *others),
        ),
        default=default,
        values=(default, *others),
    )


def target_option(default: int | None, usual: LocalizedText | None = None, *, low: int = 1, high: int = 1000) -> Option:
    """The total that ends the match (rules A8, A14); ``usual``: a clause about a default that is computed."""
    en, de = usual or LocalizedText("", "")
    return Option(
        key="target",
        label=LocalizedText("Target", "Ziel"),
        help=LocalizedText(
            f"A side whose total reaches this ends the match{en}.",
            f"Wessen Summe diesen Wert erreicht, beendet die Partie{de}.",
        ),
        default=default,
        low=low,
        high=high,
    )


def teams_option(default: int | None = 0, usual: LocalizedText | None = None) -> Option:
    """Alone or four in two teams (rules A9, A14); ``usual``: a clause about a default that is computed."""
    en, de = usual or LocalizedText("", "")
    return Option(
        key="teams",
        label=LocalizedText("Teams", "Teams"),
        help=LocalizedText(
            f"2: four players in two teams, partners opposite; 0: everybody plays alone{en}.",
            f"2: vier Spieler in zwei Teams, Partner gegenüber; 0: jeder spielt für sich{de}.",
        ),
        default=default,
        values=(0, 2),
    )


def hand_option(usual: Mapping[int, int], low: int, high: int) -> Option:
    """How many tiles everybody gets (rules A15); ``usual``: by the number of players, if it is left out."""
    sizes, players = ", ".join(map(str, usual.values())), ", ".join(map(str, usual))
    return Option(
        key="hand",
        label=LocalizedText("Hand", "Hand"),
        help=LocalizedText(
            f"How many tiles everybody gets, as far as the set lasts; usually {sizes} for {players} players.",
            f"Wie viele Steine jeder bekommt, soweit der Satz reicht; üblich sind {sizes} bei {players} Spielern.",
        ),
        default=None,
        low=low,
        high=high,
    )


def reserve_option(default: int) -> Option:
    """How many tiles of the stock are never drawn (rules A5)."""
    return Option(
        key="reserve",
        label=LocalizedText("Reserve", "Rest"),
        help=LocalizedText(
            "How many tiles of the stock are never drawn.", "Wie viele Steine des Talons nie gezogen werden."
        ),
        default=default,
        low=0,
        high=2,
    )


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
        errors["rules.hand"] = [Reason("hands_too_large", {"players": seats, "hand": hand, "max": tiles})]
    if teams == _TEAM_OF_TWO and seats != _SEATS_IN_TEAMS:
        errors["rules.teams"] = [Reason("no_such_teams", {"players": seats, "teams": teams})]
    if errors:
        raise InvalidSetup(errors)


def _listed(lead: LocalizedText, texts: Mapping[str, LocalizedText], words: tuple[str, ...]) -> LocalizedText:
    """A sentence that explains each of these words."""
    return LocalizedText(
        f"{lead.en}; {'; '.join([texts[word].en for word in words])}.",
        f"{lead.de}; {'; '.join([texts[word].de for word in words])}.",
    )
