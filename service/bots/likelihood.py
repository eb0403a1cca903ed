"""The likelihood of the choices that the other seats made in this round, if they held the hands of a world.

Owns the model of the other players: each plays by the formula of the playouts, with noise. A world in which a seat did
not lay its best tile is less likely than one in which it did. The level ``expert`` weights worlds by this likelihood.

For example, the ends are 3 and 5, and a seat laid 3-4. If it also holds 5-6 in a world, it could have shed more pips;
so this world has a lower weight than one in which no other tile of the seat fits.

A choice is used only if its seat has drawn nothing since: its hand at that time was its hand in the world, plus the
tiles that it has laid since. The lead is not used, because most games prescribe it. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp
from typing import Any, Final, NamedTuple

from service.bots.knowledge import Observation, dealt_sizes, tile_set
from service.bots.playout import best_of
from service.engine.events import Drew, Event, Passed, Played
from service.engine.layout import empty_layout
from service.engine.moves import Move
from service.engine.referee import legal_moves
from service.engine.replay import layout_after
from service.engine.state import Hand, State
from service.engine.tiles import sort_tiles, tiles_with
from service.engine.variant import Rules, one_tile
from service.engine.view import DealtView, DrewView, imagined

_TEMPERATURE: Final = 1.5
"""Pips: a move whose worth is lower by this amount is chosen e times more rarely.

This value and the noise were chosen to maximise the likelihood of the true deals in matches between experts.
"""
_NOISE: Final = 0.1
"""The probability that a seat chooses a random move."""
_MAX_CHOICES: Final = 20
"""The maximum number of choices that are used, the last ones of all other seats together."""
_FEW_TILES: Final = 28
"""The size of a double-six set, up to which ``_MAX_CHOICES`` are used. In larger sets fewer are used.

In larger sets, one choice distinguishes worlds more strongly: with double-twelve and all choices, one of the few worlds
outweighed all others, and expert lost to greedy. With the reduced number, about half of the worlds have some weight.
"""


class Choice(NamedTuple):
    """A play of another seat that may have had an alternative."""

    played: Played
    before: State
    """The state before the play. Its hands have their true sizes, but arbitrary tiles."""
    laid: Hand
    """The tiles that the seat has laid from this play on."""
    left: int
    """The set of tiles that were not on the table before the play, as in ``playout``."""
    possible: tuple[int, ...]
    """By seat: the set of tiles that it could hold before the play, as in ``playout``."""
    cache: dict[Hand, float]
    """A cache: the likelihood of the choice by the present hand of the seat."""


class Likelihood:
    """The likelihood of the last choices of the other seats, for the worlds of one decision."""

    def __init__(self, rules: Rules, observation: Observation) -> None:
        self._rules = rules
        self._choices = list(choices_of(rules, observation))[-max_choices(rules) :]

    def __len__(self) -> int:
        return len(self._choices)

    def of(self, world: State) -> float:
        """Return the likelihood of the choices given the hands of this world: above 0, at most 1."""
        likelihood = 1.0
        for choice in self._choices:
            hand = world.hands[choice.played.seat]
            probability = choice.cache.get(hand)
            if probability is None:
                probability = choice.cache[hand] = _probability(self._rules, choice, sort_tiles((*hand, *choice.laid)))
            likelihood *= probability
        return likelihood


def max_choices(rules: Rules) -> int:
    """Return the number of choices to use: 20 with double-six, 5 with double-nine, 2 with double-twelve, then 1."""
    return max(round(_MAX_CHOICES * (_FEW_TILES / max(_FEW_TILES, len(rules.tiles))) ** 2), 1)


def _probability(rules: Rules, choice: Choice, hand: Hand) -> float:
    """Return the probability that a seat with this hand makes the choice."""
    played, before = choice.played, choice.before
    seat, hands = played.seat, before.hands
    state = before._replace(hands=(*hands[:seat], hand, *hands[seat + 1 :]))
    moves = legal_moves(rules, state, seat)
    if len(moves) == 1:
        return 1.0
    worths: list[float] = []
    best = best_of(rules, state, moves, choice.left, possible=choice.possible, worths=worths)
    highest = worths[moves.index(best)]
    shares = [exp((worth - highest) / _TEMPERATURE) for worth in worths]
    chosen = sum([share for move, share in zip(moves, shares, strict=True) if _is_of(move, played)])
    ways = sum([_is_of(move, played) for move in moves])
    return (1 - _NOISE) * chosen / sum(shares) + _NOISE * ways / len(moves)


def _is_of(move: Move, played: Played) -> bool:
    """Return whether ``played`` is the event of this move."""
    return (
        move.tile is played.tile
        and move.end == played.end
        and move.face_down == played.face_down
        and move.outer == played.outer
    )


def choices_of(rules: Rules, observation: Observation) -> Iterator[Choice]:
    """Yield the choices of the other seats in their order."""
    seat, view, events = observation
    all_tiles = tile_set(rules.tiles)
    hand_sizes = dealt_sizes(observation)
    base = imagined(rules, view, events, tuple([() if view.you is None else view.you.hand] * len(hand_sizes)), stock=())
    layout = empty_layout(rules.form)
    left, possible = all_tiles, [all_tiles] * len(hand_sizes)
    several_tiles = rules.may_follow is not one_tile
    previous_event: object = None
    tiles_laid = 0
    for index, event in enumerate(events):
        if isinstance(event, Played):
            drew = isinstance(previous_event, Drew | DrewView) and previous_event.seat == event.seat
            tiles_laid = tiles_laid + 1 if several_tiles and _is_by(previous_event, Played, event.seat) else 0
            laid = _laid_since(events[index:], event.seat)
            if event.seat != seat and layout.placements and laid is not None:
                hands = tuple([rules.tiles[:1] * count for count in hand_sizes])
                state = base._replace(hands=hands, layout=layout, turn=event.seat, tiles_laid=tiles_laid, drew=drew)
                yield Choice(event, state, laid, left, tuple(possible), {})
            left &= ~(1 << event.tile.index)
            hand_sizes[event.seat] -= 1
        elif isinstance(event, Drew | DrewView):
            hand_sizes[event.seat] += 1
            possible[event.seat] = all_tiles
        elif isinstance(event, Passed) and not (
            rules.drawing.keep and _is_by(previous_event, Drew | DrewView, event.seat)
        ):
            possible[event.seat] &= ~tiles_with(layout.open_mask)
        after = layout_after(rules, layout, event)
        assert after is not None
        layout, previous_event = after, event


def _is_by(event: object, kind: Any, seat: int) -> bool:
    return isinstance(event, kind) and event.seat == seat


def _laid_since(events: Sequence[Event | DealtView | DrewView], seat: int) -> Hand | None:
    """Return the tiles that a seat lays in these events; ``None`` if it draws in them."""
    if any([_is_by(event, Drew | DrewView, seat) for event in events]):
        return None
    return tuple([event.tile for event in events if isinstance(event, Played) and event.seat == seat])
