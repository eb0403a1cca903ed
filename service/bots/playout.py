"""Playouts: the rest of a round, played by a simple policy.

Owns the policy, a fast form of greedy's formula, and the value of the score of a round. The policy of a seat uses its
own hand and what all have seen. If it used other hands, it would play better than anybody at the table can, and moves
would be judged by play that never happens; if it ignored on which numbers others passed, it would play worse than they
do. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from math import comb, inf
from operator import or_
from typing import Final

from service.bots.greedy import HINDERING_PIPS, PIPS_PER_POINT
from service.bots.knowledge import Knowledge, Observation, next_holder, tile_set
from service.engine.deal import NO_DECK
from service.engine.events import Event, RoundEnded
from service.engine.layout import End
from service.engine.moves import PASS, Move
from service.engine.referee import advance, apply, legal_moves
from service.engine.state import Hand, State
from service.engine.tiles import Tile, tiles_with
from service.engine.variant import Rules

_MOVES: Final = 10
_MOVES_PER_SEAT: Final = 2
"""A playout is cut off after this number of moves of each seat, or after ``_MOVES`` in total if that is more."""


def tiles_possible(observation: Observation, knowledge: Knowledge) -> list[int]:
    """Return for each seat the set of tiles that the others must expect in its hand.

    They do not know the hand of the seat to act, so its tiles are in every set.
    """
    seat, view, _ = observation
    assert view.you is not None
    own = tile_set(view.you.hand)
    possible = [reduce(or_, hidden, own) for hidden in knowledge.candidates]
    possible[seat] = own | tile_set(knowledge.unseen)
    return possible


def moves_of(rules: Rules) -> int:
    """Return the maximum number of moves of a playout, including the first one."""
    return max(_MOVES, _MOVES_PER_SEAT * rules.seats) + 1


def play_out(rules: Rules, state: State, move: Move, possible: Sequence[int]) -> float:
    """Play the round out after ``move``; return its value for the seat to move, in points.

    ``possible`` is the result of ``tiles_possible`` for this seat. After ``moves_of`` moves the round is scored as if
    it were blocked, because later moves are mostly chance.
    """
    seat = turn = state.turn
    assert seat is not None
    active = state.active_seats()
    left = possible[seat]
    possible = list(possible)
    for _ in range(moves_of(rules)):
        assert turn is not None
        if move.tile is not None:
            left &= ~(1 << move.tile.index)
        elif move == PASS:
            possible[turn] &= ~tiles_with(state.layout.open_mask)
        events, state = advance(rules, NO_DECK, state, turn, move=move)
        if len(events) > 1:
            return value_of_end(rules, active, events[1], state, seat=seat)
        turn = state.turn
        assert turn is not None
        moves = legal_moves(rules, state, turn)
        move = moves[0] if len(moves) == 1 else best_of(rules, state, moves, left, possible=possible)
    blocked = RoundEnded(rules.score_round(state, "blocked", rules.hands_left(state)))
    return value_of_end(rules, active, blocked, apply(rules, state, blocked), seat=seat)


def value_of_end(rules: Rules, active: Sequence[int], ended: Event, state: State, *, seat: int) -> float:
    """Return the value of a round for this seat, in points; ``state`` is the one after its end."""
    assert isinstance(ended, RoundEnded)
    return worth(rules, active, ended.round.scores, seat) + _prize(rules, active, state, seat)


def worth(rules: Rules, active: Sequence[int], scores: Sequence[float], seat: int) -> float:
    """Return by how many points the side of this seat scored better than the other active seats, on average."""
    side = rules.side(seat)
    own = [scores[other] for other in active if other in side]
    others = [scores[other] for other in active if other not in side]
    lead = sum(own) / len(own) - sum(others) / len(others)
    return lead if rules.best == "highest" else -lead


def _prize(rules: Rules, active: Sequence[int], state: State, seat: int) -> float:
    """Return the value of this round for the side of this seat beyond its scores; ``state`` is the one after it.

    In games whose totals are wins, and if the match ended: plus or minus the number of wins that a match takes, so that
    losing the match is worse than losing any round. In games with stars: the value of the stars. Else 0.
    """
    if rules.prospects is not None:
        return worth(rules, active, rules.prospects(state), seat)
    if rules.unit == "points":
        return 0.0
    winners = state.winners or rules.match_end(state).winners
    target = rules.settings["target"]
    assert isinstance(target, int)
    return 0.0 if not winners else target if seat in winners else -target


def best_of(
    rules: Rules,
    state: State,
    moves: Sequence[Move],
    left: int,
    *,
    possible: Sequence[int],
    worths: list[float] | None = None,
) -> Move:
    """Return the best of these moves for the seat to move, and append the worth of each to ``worths``.

    The worth adds up the points of the move, the pips that it sheds, the fitting tiles and the numbers that it leaves
    in the hand, and the probability that the next seat cannot follow. That seat may hold every tile that is in ``left``
    and in its set in ``possible``. A last tile is always laid.

    The function is long for speed: it is called for every move of every playout.
    """
    turn = state.turn
    assert turn is not None
    hand = state.hands[turn]
    own_tiles, every, several = _held(hand)
    hidden = hindering = hand_size = 0
    next_seat = next_holder(state.hands, turn)
    if next_seat is not None:
        hidden = possible[next_seat] & left & ~own_tiles
        hand_size = len(state.hands[next_seat])
        partner = rules.teams and rules.team(next_seat) == rules.team(turn)
        hindering = -HINDERING_PIPS if partner else HINDERING_PIPS
    count = hidden.bit_count()
    layout = state.layout
    open_mask, wants_of = layout.open_mask, layout.form.wants
    ends_by_name: dict[str, End] = {}
    wanted, wanted_twice = 0, 0
    for end in layout.ends:
        ends_by_name[end.name] = end
        wanted_twice |= wanted & end.wants
        wanted |= end.wants
    prospects: dict[int, float] = {}
    laid: Tile | None = None
    move_worth: float
    own, shed = 0, 0.0
    best, best_worth = moves[0], -inf
    for move in moves:
        _, tile, name, face_down, _, points, outer = move
        if tile is None:
            if len(hand) == 1:
                if worths is not None:
                    worths.append(-inf)
                continue
            move_worth = float(every.bit_count())
            laid, own, after = None, 0, open_mask
        else:
            if tile is not laid:  # all moves with the same tile are adjacent
                laid, own = tile, tile.offers
                shed = float(tile.pips + (every & ~(tile.mask & ~several)).bit_count())
            move_worth = shed
            if points:
                move_worth += PIPS_PER_POINT * points
            if name is None:
                after = tile.mask if wants_of is None else wants_of(tile.low) | wants_of(tile.high)
            else:
                joined_end = ends_by_name[name]
                after = open_mask & ~(joined_end.wants & ~wanted_twice)
                if wants_of is not None and outer is not None:
                    after |= wants_of(outer)
                elif not face_down:
                    after |= tile.mask if tile.double else tile.mask ^ joined_end.wants
        prospect = prospects.get(after)
        if prospect is None:
            fitting = tiles_with(after)
            none = _probability_of_none(count, (hidden & fitting).bit_count(), hand_size)
            prospect = prospects[after] = (own_tiles & fitting).bit_count() + hindering * none
        move_worth += prospect
        if own & after:
            move_worth -= 1
        if worths is not None:
            worths.append(move_worth)
        if move_worth > best_worth:
            best, best_worth = move, move_worth
    return best


@lru_cache(maxsize=4096)
def _held(hand: Hand) -> tuple[int, int, int]:
    """Return the set of these tiles, the mask of their numbers, and the mask of numbers that several of them have."""
    numbers = several = 0
    for tile in hand:
        several |= numbers & tile.mask
        numbers |= tile.mask
    return tile_set(hand), numbers, several


@lru_cache(maxsize=1 << 16)
def _probability_of_none(count: int, fitting: int, hand_size: int) -> float:
    """Return the probability that a random hand from ``count`` tiles has none of the ``fitting`` ones of them."""
    return comb(count - fitting, hand_size) / comb(count, hand_size) if hand_size <= count else 0.0
