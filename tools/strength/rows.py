"""What is measured: pairs of levels in the games, and the win that each must reach."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

from service.engine.options import Value
from service.engine.variant import Rules
from service.engine.variants import variants
from service.games.model.seats import LEVELS
from tools.strength.levels import ALL_HANDS, EARLIER
from tools.strength.programs import BLOCK_PROGRAMS, LATIN_PROGRAMS, installed


class Setup(NamedTuple):
    """A game with its seats and options."""

    variant: str
    seats: int
    options: tuple[tuple[str, Value], ...] = ()

    @property
    def name(self) -> str:
        """For people and for files."""
        return " ".join([self.variant, *[f"{key}={value}" for key, value in self.options], f"players={self.seats}"])

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return variants()[self.variant].rules(dict(self.options), self.seats)


class Row(NamedTuple):
    """Two levels in one setup: the stronger one, the other, and the win that the interval must not fall below."""

    stronger: str
    weaker: str
    setup: Setup
    bound: float
    deals: int
    """How many deals are enough."""
    whole: bool = False
    """Whether whole matches are played, and what counts is who has won them."""

    @property
    def name(self) -> str:
        """For people and for files."""
        return f"{self.stronger} over {self.weaker}, {self.setup.name}{', matches' if self.whole else ''}"


_TEAMS: Final = (("teams", 2),)
_GREEDY: Final = (
    (Setup("homo-homini-lupus", 4), 0.55),
    (Setup("menschenwolf", 2), 0.60),
    (Setup("menschenwolf", 4), 0.55),
    (Setup("fido", 3, (("set", 6),)), 0.78),
    (Setup("fido", 3, (("set", 12),)), 0.78),
    (Setup("dominospiel", 2), 0.78),
    (Setup("dominospiel", 4), 0.55),
    (Setup("domino", 2), 0.60),
    (Setup("domino", 4), 0.55),
    (Setup("domino", 4, _TEAMS), 0.60),
    (Setup("domino", 8, (("set", 12),)), 0.55),
    (Setup("block", 2), 0.55),
    (Setup("block", 4), 0.5),
    (Setup("block", 4, _TEAMS), 0.5),
    (Setup("draw", 2), 0.55),
    (Setup("draw", 4), 0.5),
    (Setup("all-fives", 2), 0.6),
    (Setup("all-fives", 4), 0.6),
    (Setup("fives-and-threes", 2), 0.6),
    (Setup("fives-and-threes", 4), 0.6),
    (Setup("latin", 4), 0.55),
    (Setup("kozel", 2), 0.55),
    (Setup("kozel", 4), 0.55),
    (Setup("sebastopol", 4), 0.5),
    (Setup("tiddly-wink", 6), 0.5),
    (Setup("matador", 2), 0.55),
    (Setup("matador", 4), 0.5),
    (Setup("bergen", 2), 0.55),
    (Setup("bergen", 4), 0.55),
)
_GREEDY_ALONE: Final = (
    (Setup("by-wins", 2), 0.5),
    (Setup("by-wins", 4), 0.5),
    (Setup("cochon", 3), 0.5),
)
"""Games in which no other level is measured yet."""
_EXPERT_DEALS: Final = {
    Setup("homo-homini-lupus", 4): 700,
    Setup("fido", 3, (("set", 12),)): 100,
    Setup("domino", 8, (("set", 12),)): 400,
    Setup("block", 4): 1500,
    Setup("draw", 4): 2000,
    Setup("tiddly-wink", 6): 2000,
    Setup("bergen", 4): 1000,
}
"""Where it is not 200 for the expert over greedy: more if its first edition gained little, fewer if they take long."""
_COMPARED: Final = (
    Setup("block", 2),
    Setup("block", 4, _TEAMS),
    Setup("latin", 4),
    Setup("kozel", 4),
    Setup("domino", 4, _TEAMS),
)
IN_ORDER: Final = tuple({setup.variant: setup for setup, _ in reversed(_GREEDY)}.values())
"""One setup of each game."""
ROWS: Final = (
    *[Row("greedy", "random", setup, bound, 1000) for setup, bound in (*_GREEDY, *_GREEDY_ALONE)],
    *[Row("expert", "greedy", setup, 0.5, _EXPERT_DEALS.get(setup, 200)) for setup, _ in _GREEDY],
    *[Row(stronger, weaker, setup, 0.5, 4000) for weaker, stronger in pairwise(LEVELS[:-1]) for setup in IN_ORDER],
    *[Row("expert", EARLIER, setup, 0.5, 1500) for setup in _COMPARED],
)
"""Those of ``reports/strength.md``."""

_EVEN: Final = tuple([Setup("fido", 4, (("set", 6),)) if setup.variant == "fido" else setup for setup in IN_ORDER])
"""One setup of each game with as many seats for one level as for the other."""
OPEN_SPIEL: Final = Setup("block", 2, (("opening", "rotate"), ("blocked_score", "others")))
"""The rules of ``python_block_dominoes``."""
OPEN_SPIEL_TEAMS: Final = Setup(
    "block", 4, (("hand", 7), ("teams", 2), ("opening", "rotate"), ("blocked_score", "others"))
)
"""The rules of ``python_team_dominoes``, but that there the team with fewer pips wins even if a player went out."""
_TABLES: Final = (
    *[(program, Setup("latin", 4)) for program in LATIN_PROGRAMS],
    *[(program, setup) for setup in (OPEN_SPIEL, OPEN_SPIEL_TEAMS) for program in BLOCK_PROGRAMS],
)
_SLOW_DEALS: Final = {("OpenSpiel's MCTSBot", OPEN_SPIEL_TEAMS): 200}
"""Where it is not 500 for greedy over a program, as the program takes 0.2 s for a decision."""
MATCHES: Final = (
    *[Row("greedy", "random", setup, 0.5, 1000, whole=True) for setup in _EVEN],
    *[Row("expert", "greedy", setup, 0.5, 50, whole=True) for setup in _EVEN],
)
CEILING: Final = tuple([Row(ALL_HANDS, "expert", setup, 0.5, 200) for setup in _COMPARED])
AGAINST_PROGRAMS: Final = (
    *[
        Row("greedy", program, setup, 0.5, _SLOW_DEALS.get((program, setup), 500))
        for program, setup in _TABLES
        if program in installed()
    ],
    *[Row("expert", program, setup, 0.5, 100) for program, setup in _TABLES if program in installed()],
)
_OTHERS: Final = tuple([setup for setup in IN_ORDER if setup.variant not in {each.variant for each in _COMPARED}])
EDITIONS_ELSEWHERE: Final = tuple([Row("expert", EARLIER, setup, 0.5, 100) for setup in _OTHERS])
"""The games in which the present edition need only not be worse."""
AGAINST_RANDOM: Final = tuple(
    [Row(level, "random", setup, 0.5, 100) for setup in _COMPARED for level in ("expert", EARLIER)]
)
DUELS: Final = (*MATCHES, *CEILING, *AGAINST_PROGRAMS, *EDITIONS_ELSEWHERE, *AGAINST_RANDOM)
"""Those of ``reports/duels.md``."""
