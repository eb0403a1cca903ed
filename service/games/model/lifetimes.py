"""How long a game is kept after its last write.

Owns on what that depends. Does not depend on who deletes it then: the store lets it expire.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from service.engine.state import FINISHED
from service.games.model.game import Game

DAY_MS: Final = 86_400_000


class Lifetimes(NamedTuple):
    """Milliseconds for which games are kept after their last write: ``longest``, and at most that the others.

    ``unmoved``: those in which neither a person nor a remote player has moved, finished or not.
    """

    longest: int
    finished: int
    unmoved: int = DAY_MS

    def of(self, game: Game) -> int:
        """Those of this game."""
        if game.first_move is None or game.version <= game.first_move:
            return self.unmoved
        return self.finished if game.state.phase == FINISHED else self.longest

    @classmethod
    def at_most(cls, longest: int, finished: int | None = None) -> Lifetimes:
        """The lifetimes none of which is longer than ``longest``."""
        return cls(longest, longest if finished is None else min(finished, longest), min(DAY_MS, longest))
