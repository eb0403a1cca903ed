"""Sampled worlds: states of the match that a seat cannot distinguish from the true one.

A world deals the unseen tiles to the hands of the other seats and to the stock. Its *places* are the hidden tiles, seat
by seat, and then the stock in the order of drawing. A *free* place admits every tile; a *bound* place admits only the
candidates of its hidden tile.

1. Each bound place gets a random tile of those that it admits and that are left. Places with fewer candidates come
   first.
2. Some worlds would result more often than others if the candidates of two places overlap and neither set contains the
   other. The probability of a world is inversely proportional to its *product*: the numbers of tiles that its places
   could choose from, multiplied. So an attempt is accepted with a probability proportional to its product, which makes
   all worlds equally likely. After several rejected attempts, one of them is chosen with a probability proportional to
   its product, and random swaps of tiles between places that admit them reduce the remaining difference. If every
   attempt left a bound place without a tile, a matching of tiles and places is computed, which always exists.
3. The remaining tiles are shuffled over the free places.
4. A world is rejected unless it meets these conditions: a seat whose turn did not end by itself had a tile to continue
   with, the seat that opened is the one that the rules let open, and the round is not over.

For example, 1-1, 1-2 and 5-5 are unseen. The other seat passed on a 5 when it held one tile, and then drew another.
Step 1 deals 1-1 or 1-2 to the place of the first tile, step 3 the other two tiles to the second place of the hand and
to the stock. This gives four equally likely worlds.

Owns how worlds are dealt. The only source of randomness is ``random()`` of the generator that is passed in. Does not
depend on how a move is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import prod
from random import Random
from typing import Final

from service.bots.knowledge import Knowledge, Observation
from service.engine.state import PLAYING, Hand, State
from service.engine.variant import Rules
from service.engine.view import imagined

_ATTEMPTS: Final = range(2, 9)
"""The possible numbers of attempts of step 2."""
_PLACES_DEALT: Final = 96
"""The number of places that all attempts together may fill: fewer attempts are made if many places are bound."""
_SWAPS: Final = 2
"""The number of swaps for each bound place after the attempts were rejected."""
_SWAPS_AFTER_MATCHING: Final = 20
"""The number of swaps for each bound place after a matching."""
_WORLDS: Final = 1000
"""The number of worlds that are dealt until one meets the conditions; the last one is returned even if it does not."""

_new: Final = tuple.__new__  # as in ``layout``


class Sampler:
    """Samples worlds for one decision. It computes once what all of them share."""

    def __init__(self, rules: Rules, observation: Observation, knowledge: Knowledge) -> None:
        seat, view, events = observation
        self._rules = rules
        self._observation = observation
        self._seat = seat
        self._own: Hand = () if view.you is None else view.you.hand
        self._unseen = unseen = knowledge.unseen
        hands: tuple[Hand, ...] = tuple([self._own if other == seat else () for other in range(rules.seats)])
        self._base = imagined(rules, view, events, hands, stock=())
        self._rest = self._base[2:]
        others = [player.tiles for player in view.players if player.seat not in (seat, view.turn)]
        self._turn_depends_on_hands = view.turn not in (None, seat) and not self._own and not any(others)
        self._position = {tile.index: place for place, tile in enumerate(unseen)}
        self._make_places(knowledge, view.stock)
        self._bounds = [
            None if other == seat else (start, start + len(hidden))
            for other, (start, hidden) in enumerate(zip(self._starts, knowledge.candidates, strict=True))
        ]
        """By seat: the start and the end of its places; ``None`` for the own seat."""
        self._conditions = [
            [
                (self._starts[condition.seat] + index, self._positions(tiles))
                for index, tiles in enumerate(condition.tiles)
                if tiles
            ]
            for condition in knowledge.conditions
        ]
        """For each condition, pairs of a place and a set of positions: one of the places must have a tile of its set.

        Places without such a tile are left out.
        """
        self._dealt = knowledge.dealt
        base, layout = self._base, self._base.layout
        self._may_be_over = base.phase == PLAYING and bool(layout.placements) and not layout.fits_any(self._own)

    def _positions(self, tiles: int) -> int:
        """Convert a set of tile indexes to a set of positions in ``unseen``."""
        return sum([1 << place for index, place in self._position.items() if tiles >> index & 1])

    def _make_places(self, knowledge: Knowledge, stock: int) -> None:
        """Compute the places, which are the same in all worlds."""
        count = len(knowledge.unseen)
        every = (1 << count) - 1
        self._starts: list[int] = []
        """By seat: its first place."""
        self._admitted: list[int] = []
        """By place: the set of positions of the tiles that it admits."""
        by_tiles = {tiles: self._positions(tiles) for hidden in knowledge.candidates for tiles in set(hidden)}
        for hidden in knowledge.candidates:
            self._starts.append(len(self._admitted))
            self._admitted += [by_tiles[tiles] for tiles in hidden]
        self._stock_start = len(self._admitted)
        self._stock_end = self._stock_start + stock
        self._admitted += [every] * (count - self._stock_start)
        places: dict[int, list[int]] = {}
        for place, admitted in enumerate(self._admitted):
            places.setdefault(admitted, []).append(place)
        self._free = places.pop(every, [])
        self._groups = [
            ([index for index in range(count) if admitted >> index & 1], places[admitted])
            for admitted in sorted(places, key=int.bit_count)
        ]
        """The bound places, grouped by what they admit, fewest candidates first: pairs of positions and places."""
        self._bound = [place for _, group in self._groups for place in group]
        self._attempts = max(_ATTEMPTS[0], min(_ATTEMPTS[-1], _PLACES_DEALT // max(1, len(self._bound))))
        self._max_choices = None if _nested(list(places)) else _max_choices(places)

    def sample(self, random: Random) -> State:
        """Return a world: a complete state that the seat cannot distinguish from the true one."""
        draw = random.random
        for _ in range(_WORLDS):
            world = self._deal(draw)
            if self._meets_conditions(world) and self._may_open(world):
                state = self._state(world)
                if not self._may_be_over or self._rules.round_end(state) is None:
                    return state
        return self._state(world)

    def _state(self, world: list[int]) -> State:
        unseen, own = self._unseen, self._own
        hands = tuple(
            [
                own if bounds is None else tuple([unseen[index] for index in sorted(world[bounds[0] : bounds[1]])])
                for bounds in self._bounds
            ]
        )
        stock = tuple([unseen[index] for index in world[self._stock_start : self._stock_end]])
        if self._turn_depends_on_hands:
            view, events = self._observation.view, self._observation.events
            return imagined(self._rules, view, events, hands, stock=stock)
        return _new(State, (hands, stock, *self._rest))

    # The deal

    def _deal(self, draw: Callable[[], float]) -> list[int]:
        """Deal a world: return for each place the position of its tile."""
        count, max_choices = len(self._unseen), self._max_choices
        selected: list[int] | None = None
        sum_of_shares = 0.0
        for _ in range(self._attempts):
            world = [-1] * count
            left = [True] * count
            choices = self._attempt(world, left, draw)
            if not choices:
                continue
            if max_choices is None or draw() * max_choices < choices:
                self._fill(world, left, draw)
                return world
            share = choices / max_choices
            sum_of_shares += share
            if draw() * sum_of_shares < share:
                selected, selected_left = world, left
        swaps = _SWAPS_AFTER_MATCHING if selected is None else _SWAPS
        if selected is None:
            selected, selected_left = self._matching(draw)
        self._fill(selected, selected_left, draw)
        self._swap(selected, swaps * len(self._bound), draw)
        return selected

    def _attempt(self, world: list[int], left: list[bool], draw: Callable[[], float]) -> int:
        """Fill the bound places; return the product of step 2, or 0 if a place gets no tile."""
        product = 1
        for positions, places in self._groups:
            candidates = [position for position in positions if left[position]]
            if len(candidates) < len(places):
                return 0
            for place in places:
                count = len(candidates)
                product *= count
                chosen = int(draw() * count)
                tile = candidates[chosen]
                candidates[chosen] = candidates[-1]
                candidates.pop()
                world[place] = tile
                left[tile] = False
        return product

    def _fill(self, world: list[int], left: list[bool], draw: Callable[[], float]) -> None:
        rest = [tile for tile, is_left in enumerate(left) if is_left]
        for last in range(len(rest) - 1, 0, -1):
            chosen = int(draw() * (last + 1))
            rest[last], rest[chosen] = rest[chosen], rest[last]
        for place, tile in zip(self._free, rest, strict=True):
            world[place] = tile

    def _matching(self, draw: Callable[[], float]) -> tuple[list[int], list[bool]]:
        """Return a world in which each bound place has a tile that it admits, and by tile whether it is left."""
        count = len(self._unseen)
        holder: list[int | None] = [None] * count
        admitted = self._admitted

        def find(place: int, tried: set[int]) -> bool:
            tiles = [index for index in range(count) if admitted[place] >> index & 1 and index not in tried]
            tiles.sort(key=lambda _: draw())
            for tile in tiles:
                if tile in tried:
                    continue
                tried.add(tile)
                other = holder[tile]
                if other is None or find(other, tried):
                    holder[tile] = place
                    return True
            return False

        for place in self._bound:
            find(place, set())
        world = [-1] * count
        for tile, place_of in enumerate(holder):
            if place_of is not None:
                world[place_of] = tile
        return world, [place_of is None for place_of in holder]

    def _swap(self, world: list[int], times: int, draw: Callable[[], float]) -> None:
        """Try ``times`` times to swap the tiles of a bound place and any place; both must admit their new tile."""
        admitted, bound, count = self._admitted, self._bound, len(world)
        choices = len(bound)
        for _ in range(times):
            first, second = bound[int(draw() * choices)], int(draw() * count)
            first_tile, second_tile = world[first], world[second]
            if admitted[first] >> second_tile & 1 and admitted[second] >> first_tile & 1:
                world[first], world[second] = second_tile, first_tile

    # Conditions

    def _meets_conditions(self, world: list[int]) -> bool:
        for places in self._conditions:
            for place, tiles in places:
                if tiles >> world[place] & 1:
                    break
            else:
                return False
        return True

    def _may_open(self, world: list[int]) -> bool:
        """Return whether the opener opens with the hands of this world, and may lead what it led."""
        dealt = self._dealt
        if dealt is None:
            return True
        hands = [
            (
                *known,
                *[
                    tile
                    for place, tiles in enumerate(candidates, first)
                    if tiles >> (tile := self._unseen[world[place]]).index & 1
                ],
            )
            for known, candidates, first in zip(dealt.known, dealt.candidates, self._starts, strict=True)
        ]
        return dealt.opening.opens(hands)


def _nested(sets: Sequence[int]) -> bool:
    """Return whether any two of these sets are disjoint, or one contains the other."""
    return all(one & other in (0, one, other) for one, other in combinations(sets, 2))


def _max_choices(places: dict[int, list[int]]) -> int:
    """Return an upper bound of the product of step 2.

    ``places`` has the places by the set of tiles that they admit. Of the tiles that a place admits, the bound subtracts
    those that earlier places must have taken, because these admit too few other tiles.
    """
    product = 1
    narrower: list[tuple[int, int]] = []
    anywhere = 0
    for admitted in sorted(places, key=int.bit_count):
        each_took = sum([max(0, count - (tiles & ~admitted).bit_count()) for tiles, count in narrower])
        all_took = sum([count for _, count in narrower]) - (anywhere & ~admitted).bit_count()
        available = admitted.bit_count() - max(each_took, all_took)
        count = len(places[admitted])
        product *= prod(range(available - count + 1, available + 1))
        narrower.append((admitted, count))
        anywhere |= admitted
    return product
