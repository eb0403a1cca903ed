"""A match of the laws as a hosted game."""

from __future__ import annotations

from collections.abc import Sequence

from service.engine.deal import Deck, seed_from_text
from service.engine.state import State
from service.engine.variants import variants
from service.games.model.game import Game, rules_for
from service.games.model.seats import Seat, Seats
from tests.laws.matches import Match


def hosted(match: Match, state: State, names: Sequence[str | None] = ()) -> Game:
    """The game of a match in this state, of players with these names."""
    names = names or [f"Ada {seat}" for seat in match.seats]
    return Game(
        id="an id",
        variant=variants()[match.case.key],
        options=dict(match.case.options),
        rules=rules_for(match.case.key, dict(match.case.options), len(match.seats)),
        seats=Seats([Seat("human", name, b"h" * 32) for name in names]),
        join_hash=None,
        arranged=False,
        deck=Deck(seed_from_text("a seed")),
        version=1,
        created_at=0,
        updated_at=0,
        round_ends=(),
        state=state,
    )
