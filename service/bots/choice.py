"""The entrance to the computer players: from what a seat may know to its move.

Owns the table of the levels. Does not depend on games that are hosted, on clocks or on who asks.

A move is determined by the rules, the observation, the level and the luck: the same four give the same move in any
process. Only ``random()`` and ``getrandbits()`` of the generator made from the luck are used, whose sequences Python
guarantees for a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple

from service.bots import expert, greedy, random_bot
from service.bots.observation import Observation
from service.engine.moves import Move
from service.engine.options import LocalizedText
from service.engine.variant import Rules

EDITION: Final = 1
"""Counts the changes after which a level may choose another move."""


class Level(NamedTuple):
    """A strength of computer players."""

    key: str
    summary: LocalizedText
    """How it chooses, in one sentence."""
    strength: LocalizedText
    """How strong it is, in one sentence; measured by ``bench.strength``."""
    choose: Callable[[Rules, Observation, Random], Move]


LEVELS: Final[Mapping[str, Level]] = {
    level.key: level
    for level in (
        Level(
            "random",
            LocalizedText("Makes any legal move.", "Macht irgendeinen erlaubten Zug."),
            LocalizedText(
                "Does not try to win: for a first game, and for tests.",
                "Will nicht gewinnen: für die erste Partie und für Tests.",
            ),
            random_bot.choose,
        ),
        Level(
            "greedy",
            LocalizedText(
                "Scores, sheds heavy tiles, stays able to follow and hinders the next player.",
                "Punktet, wird schwere Steine los, bleibt anlegefähig und behindert den Nächsten.",
            ),
            LocalizedText(
                "Has the better round against random in 57 to 98 of 100 comparisons, depending on the game.",
                "Hat gegen random je nach Spiel in 57 bis 98 von 100 Vergleichen die bessere Runde.",
            ),
            greedy.choose,
        ),
        Level(
            "expert",
            LocalizedText(
                "Plays its best moves on over many deals that agree with all it has seen, and takes the best of them.",
                "Spielt seine besten Züge über viele Verteilungen weiter, die zu allem Gesehenen passen, und nimmt den "
                "besten.",
            ),
            LocalizedText(
                "The strongest: clearly better than greedy between two sides, a little at larger tables, where luck "
                "decides more.",
                "Die stärkste Stufe: zwischen zwei Seiten klar besser als greedy, an größeren Tischen ein wenig, weil "
                "dort mehr das Glück entscheidet.",
            ),
            expert.choose,
        ),
    )
}
"""The levels by key, from weak to strong."""


def choose_move(rules: Rules, observation: Observation, level: str, luck: bytes) -> Move:
    """The move of the seat to act, one of its legal moves; ``luck`` are 32 bytes (``deal.bot_luck``).

    A move without an alternative costs no work, as all deals between rounds.
    """
    moves = observation.view.legal_moves
    if len(moves) == 1:
        return moves[0]
    return LEVELS[level].choose(rules, observation, Random(int.from_bytes(luck, "big")))  # noqa: S311 # not a secret
