"""The measured games, and whole matches of them, played in advance by the engine.

A match is determined by its seed: the service deals the same tiles for it, and every move of the match can be prepared
as a client would post it. Does not depend on HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import count, islice
from random import Random
from typing import Final, NamedTuple

import orjson

from service.engine.deal import Deck, seed_from_text
from service.engine.moves import Move
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import FINISHED, State
from service.engine.variant import Rules
from service.engine.variants import variants

CREATED_VERSION: Final = 2
"""The version of a game that was created without open seats: it was created, and the first round was dealt."""


class Setup(NamedTuple):
    """A game with its players and the only option that is varied: the highest double of the set."""

    key: str
    seats: int
    highest: int | None = None
    """``None``: the game only has double-six."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.key}, double-{self.highest or 6}, {self.seats} players"

    @property
    def options(self) -> dict[str, int]:
        """As they are asked for."""
        return {} if self.highest is None else {"set": self.highest}

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return variants()[self.key].rules(self.options, self.seats)


class Step(NamedTuple):
    """One move of a match: the seat and the body of the request."""

    seat: int
    body: bytes


class Match(NamedTuple):
    """A match played in advance: the request that creates it, and its moves in order."""

    setup: Setup
    request: bytes
    """The body of the request that creates it."""
    steps: tuple[Step, ...]
    key: str | None = None
    """Of the application that creates it, if any does."""


SETUPS: Final = (
    Setup("homo-homini-lupus", 4),
    Setup("menschenwolf", 4),
    Setup("dominospiel", 4),
    Setup("domino", 4, 6),
    Setup("domino", 6, 9),
    Setup("domino", 8, 12),
    Setup("fido", 4, 6),
    Setup("fido", 5, 9),
    Setup("fido", 4, 12),
    Setup("fido", 6, 15),
    Setup("fido", 9, 18),
)
USUAL: Final = Setup("fido", 4, 12)
"""The setup for measurements that use only one."""
LONGEST: Final = Setup("fido", 9, 18)
"""The longest game."""
WHOLE: Final = 100_000
"""More moves than any match has."""


@cache
def match(setup: Setup, seed: str, longest: int = WHOLE, *, slowly: bool = False) -> Match:
    """Return the match of this seed, played by random legal moves, up to ``longest`` moves.

    Played ``slowly``, they take the moves after which the fewest tiles fit, so that everybody has to draw.
    """
    rules = setup.rules
    deck = Deck(seed_from_text(seed))
    rng = Random(seed)  # noqa: S311 # reproducible on purpose
    _, state = deal(rules, deck, rules.start())
    version = CREATED_VERSION
    steps: list[Step] = []
    while state.phase != FINISHED and len(steps) < longest:
        seat = state.active_seats()[0] if state.turn is None else state.turn
        moves = legal_moves(rules, state, seat)
        move = _slowest(rules, deck, state, moves) if slowly else rng.choice(moves)
        steps.append(Step(seat, _body(move, version)))
        events, state = advance(rules, deck, state, seat, move=move)
        version += len(events)
    request = {
        "variant": setup.key,
        "players": [{"name": f"Player {seat}"} for seat in range(setup.seats)],
        "options": setup.options,
        "seed": seed,
    }
    return Match(setup, orjson.dumps(request), tuple(steps))


def matches(setup: Setup, many: int, longest: int = WHOLE) -> list[Match]:
    """Different matches of a setup, the same ones in every run."""
    return [match(setup, f"bench {number}", longest) for number in range(many)]


def long_matches(setup: Setup, many: int, moves: int) -> list[Match]:
    """Different matches with a minimum number of moves, of a setup that has them."""
    slow = (match(setup, f"bench {number}", slowly=True) for number in count())
    return list(islice((each for each in slow if len(each.steps) >= moves), many))


def _slowest(rules: Rules, deck: Deck, state: State, moves: Sequence[Move]) -> Move:
    """Return the first of the moves after which the fewest tiles in all hands are playable."""

    def fitting(move: Move) -> int:
        assert state.turn is not None
        after = advance(rules, deck, state, state.turn, move=move)[1]
        return sum(bool(tile.offers & after.layout.open_mask) for hand in after.hands for tile in hand)

    return min(moves, key=fitting)


def _body(move: Move, version: int) -> bytes:
    listed: dict[str, object] = {"action": move.action}
    if move.tile is not None:
        listed["tile"] = move.tile.name
        if move.end is not None:
            listed["end"] = move.end
        listed["face_down"] = move.face_down
        if move.outer is not None:
            listed["outer"] = move.outer
    listed["version"] = version
    if move.ends_sum is not None:
        listed |= {"ends_sum": move.ends_sum, "points": move.points}
    return orjson.dumps(listed)
