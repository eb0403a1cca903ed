"""A round played on by a simple policy, every seat by its own hand only.

Owns the policy, a fast form of greedy's formula without the hands of others, and what the score of a round is worth. A
policy that looked at other hands would play better than anybody at the table can, and so would judge moves by play
that never happens. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.engine.deal import Deck
from service.engine.events import RoundEnded
from service.engine.moves import Move
from service.engine.referee import advance, legal_moves
from service.engine.state import State
from service.engine.variant import Rules

_SHORTEST: Final = 10
_EACH: Final = 2
"""A playout goes on for so many moves at least, and for so many of each seat."""
_POINTS: Final = 2
"""As in ``greedy``."""
_NO_DECK: Final = Deck(b"")
"""No round is dealt in a playout."""


def play_out(rules: Rules, state: State, move: Move) -> float:
    """What the round is worth to the seat to move if it makes this move.

    After some moves the round is counted as if it were blocked: what is scored and what is held by then says enough,
    and what happens later is mostly luck.
    """
    seat = turn = state.turn
    assert seat is not None
    active = state.active_seats()
    for _ in range(max(_SHORTEST, _EACH * rules.seats) + 1):
        assert turn is not None
        events, state = advance(rules, _NO_DECK, state, turn, move)
        if len(events) > 1:
            ended = events[1]
            assert isinstance(ended, RoundEnded)
            return worth(rules, active, ended.round.scores, seat)
        turn = state.turn
        assert turn is not None
        moves = legal_moves(rules, state, turn)
        move = moves[0] if len(moves) == 1 else _best_by_own_hand(state, moves)
    return worth(rules, active, rules.score_round(state, "blocked", rules.hands_left(state)).scores, seat)


def worth(rules: Rules, active: Sequence[int], scores: Sequence[int], seat: int) -> float:
    """How much better the side of this seat scored than the other active seats on average."""
    teams = rules.teams
    own: list[int] = []
    others: list[int] = []
    for each in active:
        same_side = each == seat or (teams and each % teams == seat % teams)
        (own if same_side else others).append(scores[each])
    lead = sum(own) / len(own) - sum(others) / len(others)
    return lead if rules.best == "highest" else -lead


def _best_by_own_hand(state: State, moves: Sequence[Move]) -> Move:
    """The best of these moves of the seat to move by points, pips shed, and the tiles and numbers that they leave.

    The last tile is always laid.
    """
    assert state.turn is not None
    masks = [tile.mask for tile in state.hands[state.turn]]
    every, several = 0, 0
    for mask in masks:
        several |= every & mask
        every |= mask
    open_mask = state.layout.open_mask
    number_of: dict[str, int] = {}
    ends, several_ends = 0, 0
    for end in state.layout.ends:
        number = end.number
        number_of[end.name] = number
        several_ends |= ends & 1 << number
        ends |= 1 << number
    fitting: dict[int, int] = {}
    best, best_worth = moves[0], -1
    for move in moves:
        _, tile, name, face_down, _, points = move
        if tile is None:
            if len(masks) == 1:
                continue
            move_worth, own, after = every.bit_count(), 0, open_mask
        else:
            own = tile.mask
            move_worth = tile.pips + (every & ~(own & ~several)).bit_count()
            if points:
                move_worth += _POINTS * points
            if name is None:
                after = own
            else:
                number = number_of[name]
                after = open_mask if several_ends >> number & 1 else open_mask ^ 1 << number
                if not face_down:
                    after |= 1 << tile.other_half(number)
        if after in fitting:
            move_worth += fitting[after]
        else:
            fitting[after] = fits = sum([1 for mask in masks if mask & after])
            move_worth += fits
        if own & after:
            move_worth -= 1
        if move_worth > best_worth:
            best, best_worth = move, move_worth
    return best
