"""The past of a game: how it stood at an earlier version.

Owns the way back from events to a game; what is the same for ever (its rules, its seats' names) comes from the
game as it is now. Must not know how events are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from service.engine.replay import replay
from service.games.game import OPEN_SEAT, Created, EventEnvelope, Game, Joined, Seat, TokenChanged, commitments_after

_OUTSIDE: Final = (Created, Joined, TokenChanged)
"""Events of the game around the match."""


def rebuild_game(game: Game, happened: Sequence[EventEnvelope], version: int) -> Game:
    """The game as it stood at ``version``; ``happened`` is all that has happened in it.

    Its tokens and its deck are those of now: what anybody may know of a game does not depend on them.
    """
    later = {each.event.seat for each in happened[version:] if isinstance(each.event, Joined)}
    earlier = [each.event for each in happened[:version]]
    return game._replace(
        seats=tuple([Seat(OPEN_SEAT) if place in later else seat for place, seat in enumerate(game.seats)]),
        version=version,
        updated_at=happened[version - 1].at,
        state=replay(game.rules, [event for event in earlier if not isinstance(event, _OUTSIDE)]),
        commitments=reduce(commitments_after, earlier, ()),
    )
