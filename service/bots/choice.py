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
                "No strength at all: for tests, and to win against.", "Ohne Spielstärke: für Tests und zum Gewinnen."
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
                "Plays like a practised player who does not calculate.",
                "Spielt wie ein geübter Mensch, der nicht rechnet.",
            ),
            greedy.choose,
        ),
        Level(
            "expert",
            LocalizedText(
                "Plays its best moves to the end of the round over deals that fit all it has seen, and takes the best.",
                "Spielt seine besten Züge bis zum Rundenende über Verteilungen durch, die zu allem Gesehenen passen, "
                "und nimmt den besten.",
            ),
            LocalizedText("The strongest.", "Die stärkste Stufe."),
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
