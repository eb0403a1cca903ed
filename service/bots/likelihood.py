"""The likelihood of the choices that other seats made in this round, if they held the hands of a world.

Owns the model of the others: each plays by the formula of the playouts, with noise. A world in which somebody kept a
better tile than the one that was laid is less likely than one in which that tile was the best; how much less is what
weighs the worlds of the level ``expert``.

For example, the ends are 3 and 5, and a seat laid 3-4. A world in which it holds 5-6, too, would have had it shed more,
so that world weighs less than one in which no other tile of the seat fits.

A choice counts as long as its seat has drawn nothing since: what it held then is what it holds in the world and has
laid since. The lead is left out, as most games say with which tile a round is opened. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp
from typing import Any, Final, NamedTuple

from service.bots.knowledge import Observation, tile_set
from service.bots.playout import best_of
from service.engine.events import Drew, Event, Passed, Played
from service.engine.moves import Move
from service.engine.referee import legal_moves
from service.engine.replay import layout_after
from service.engine.rules.ending import one_tile
from service.engine.state import Hand, State
from service.engine.tiles import sort_tiles, tiles_with
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, imagined

_TEMPERATURE: Final = 1.5
"""Pips: a move that is worth so much less than another is chosen e times more rarely.

With this and the noise, the true deals of rounds of experts are about as likely as they can be made, in several games.
"""
_NOISE: Final = 0.1
"""How often a seat is taken to choose any of its moves, as likely as any other."""
_MAX_CHOICES: Final = 20
"""The number of the last choices of all others that count, with up to ``_FEW_TILES``."""
_FEW_TILES: Final = 28
"""Those of a set of double-six. With more, a choice tells two worlds further apart, and fewer choices count: with
double-twelve one of the few worlds that can be played outweighed all others, what it said by chance seemed certain, and
the expert lost to greedy. Of so few as count now, about half of the worlds have a say."""


class Choice(NamedTuple):
    """A tile that another seat laid where it may have had a choice."""

    played: Played
    before: State
    """The state before it, in which all hands have their true sizes, but no true tiles."""
    laid: Hand
    """The tiles that the seat has laid from then on."""
    left: int
    possible: tuple[int, ...]
    """As in ``playout``: the tiles that were not on the table then, and by seat those that it could hold."""
    known: dict[Hand, float]
    """By hand: how likely the choice is, as far as it was asked for."""


class Likelihood:
    """The likelihood of the choices that the others have made, the last ones, for the worlds of one decision."""

    def __init__(self, rules: Rules, observation: Observation) -> None:
        self._rules = rules
        self._choices = list(choices_of(rules, observation))[-most_choices(rules) :]

    def __len__(self) -> int:
        """Return how many choices count."""
        return len(self._choices)

    def of(self, world: State) -> float:
        """Return how likely the choices are if the hands are those of this world: above 0, at most 1."""
        likelihood = 1.0
        for choice in self._choices:
            seat = choice.played.seat
            hand = world.hands[seat]
            probability = choice.known.get(hand)
            if probability is None:
                probability = choice.known[hand] = _probability(self._rules, choice, sort_tiles((*hand, *choice.laid)))
            likelihood *= probability
        return likelihood


def most_choices(rules: Rules) -> int:
    """Return how many choices count: 20 with double-six, 5 with double-nine, 2 with double-twelve, then 1."""
    return max(round(_MAX_CHOICES * (_FEW_TILES / max(_FEW_TILES, len(rules.tiles))) ** 2), 1)


def _probability(rules: Rules, choice: Choice, hand: Hand) -> float:
    """Return how likely a seat with this hand makes the choice."""
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
    """Return whether this move is the one that was played."""
    return (
        move.tile is played.tile
        and move.end == played.end
        and move.face_down == played.face_down
        and move.outer == played.outer
    )


def choices_of(rules: Rules, observation: Observation) -> Iterator[Choice]:
    """Yield the choices of the others, the first one first."""
    seat, view, events = observation
    every = tile_set(rules.tiles)
    hand_sizes = _dealt(observation)
    base = imagined(rules, view, events, tuple([() if view.you is None else view.you.hand] * len(hand_sizes)), stock=())
    layout = rules.empty_layout()
    left, possible = every, [every] * len(hand_sizes)
    several_tiles = rules.may_follow is not one_tile
    before: object = None
    tiles_laid = 0
    for place, event in enumerate(events):
        if isinstance(event, Played):
            drew = isinstance(before, Drew | DrewView) and before.seat == event.seat
            tiles_laid = tiles_laid + 1 if several_tiles and _is_by(before, Played, event.seat) else 0
            laid = _laid_since(events[place:], event.seat)
            if event.seat != seat and layout.placements and laid is not None:
                hands = tuple([rules.tiles[:1] * count for count in hand_sizes])
                state = base._replace(hands=hands, layout=layout, turn=event.seat, tiles_laid=tiles_laid, drew=drew)
                yield Choice(event, state, laid, left, tuple(possible), {})
            left &= ~(1 << event.tile.index)
            hand_sizes[event.seat] -= 1
        elif isinstance(event, Drew | DrewView):
            hand_sizes[event.seat] += 1
            possible[event.seat] = every
        elif isinstance(event, Passed) and not (rules.drawing.keep and _is_by(before, Drew | DrewView, event.seat)):
            possible[event.seat] &= ~tiles_with(layout.open_mask)
        after = layout_after(rules, layout, event)
        assert after is not None
        layout, before = after, event


def _is_by(event: object, kind: Any, seat: int) -> bool:
    """Return whether an event is of this kind and seat."""
    return isinstance(event, kind) and event.seat == seat


def _dealt(observation: Observation) -> list[int]:
    """By seat: how many tiles it was dealt."""
    hand_sizes = [player.tiles for player in observation.view.players]
    for event in observation.events:
        if isinstance(event, Played):
            hand_sizes[event.seat] += 1
        elif isinstance(event, Drew | DrewView):
            hand_sizes[event.seat] -= 1
    return hand_sizes


def _laid_since(events: Sequence[Event | DealtView | DrewView], seat: int) -> Hand | None:
    """Return the tiles that a seat has laid from the first of these events on; ``None`` if it has drawn one since."""
    if any([_is_by(event, Drew | DrewView, seat) for event in events]):
        return None
    return tuple([event.tile for event in events if isinstance(event, Played) and event.seat == seat])
