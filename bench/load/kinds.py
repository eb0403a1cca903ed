"""What is played in the load run: the kinds of games, and how often each is played.

All are matches of domino with double-six for two, to 50 points: some five rounds, as people play between two stops of a
train. Every third table belongs to an application.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final, NamedTuple


class Kind(NamedTuple):
    """A kind of game; ``bot`` is the level of the second player, if it is a computer player."""

    name: str
    often: int
    """Of ``ROUND`` tables."""
    bot: str | None = None
    turn: int | None = None
    """The seconds of a turn, by the clock."""
    absent: float = 0.0
    """How often a person lets the clock run out."""

    @property
    def request(self) -> dict[str, Any]:
        """The body of the request that creates a game of this kind."""
        second = {"name": "Bo"} if self.bot is None else {"bot": self.bot}
        wanted: dict[str, Any] = {"variant": "domino", "options": {"limit": 50}, "players": [{"name": "Ada"}, second]}
        if self.bot is not None:
            wanted["pace"] = 0
        if self.turn is not None:
            wanted |= {"clock": {"turn": self.turn}, "absence": {"then": "move"}}
        return wanted


KINDS: Final = (
    Kind("two people", 24),
    Kind("two people with a clock", 10, turn=60),
    Kind("two people, who are absent now and then", 4, turn=5, absent=0.05),
    Kind("against greedy", 8, bot="greedy"),
    Kind("against casual", 3, bot="casual"),
    Kind("against expert", 1, bot="expert"),
)
ROUND: Final = sum(kind.often for kind in KINDS)
OWNED_EVERY: Final = 3
_ORDER: Final = Random("kinds").sample(KINDS, ROUND, counts=[kind.often for kind in KINDS])  # noqa: S311 # an order


def kind_of(table: int) -> Kind:
    """Return the kind of a table: in every ``ROUND`` tables all are there as often as they should."""
    return _ORDER[table % ROUND]
