"""The inference of the hidden tiles from an observation.

Owns the conclusions from each event. They use only functions of the engine that every game has. Does not depend on how
a move is chosen.

=============================  =====================================================================================
event of another seat          conclusion about its hidden tiles
=============================  =====================================================================================
it opened                      no seat was dealt a tile that would have made another seat, or another tile, open
it drew, or turned the lead    no tile fitted
it passed                      no tile fitted, except perhaps a tile that it drew just before and had to keep
it drew a tile                 one more hidden tile; ``rules.drawing`` and the next event show whether it fits
it laid a tile                 of the hidden tiles that can be this one, the one with the fewest candidates is removed
its turn ended by itself       no tile fits that ``rules.may_follow`` allows
it ended its turn, or goes on  at least one tile fits that ``rules.may_follow`` allows: a ``Condition``
=============================  =====================================================================================

For example, a seat with seven tiles draws while the ends are 1 and 2: none of the seven has a 1 or a 2. If it then
passes, the eighth has neither.

If two hidden tiles of a seat can both be a certain tile, the candidates of one contain those of the other: a tile drawn
later either is known to fit where the older ones do not, or can be everything that they can be. So when a tile is laid,
the hidden tile with the fewest candidates can be removed, whichever tile it really was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial, reduce

from service.bots.knowledge import Condition, Knowledge, KnownDeal, Observation, dealt_sizes, next_holder, tile_set
from service.bots.opening import DealtToOpener, opening_hands, opening_of
from service.engine.events import Done, Drew, Event, Played, RoundEnded
from service.engine.layout import Layout
from service.engine.replay import layout_after
from service.engine.state import PLAYING, Hand
from service.engine.tiles import Tile, tiles_with
from service.engine.variant import Rules, one_tile
from service.engine.view import DealtView, DrewView

_SeenEvent = Event | DealtView | DrewView


def infer(rules: Rules, observation: Observation) -> Knowledge:
    """Return the knowledge of the seat of this observation."""
    view = observation.view
    seen = {placement.tile for placement in view.layout.placements}
    if view.you is not None:
        seen.update(view.you.hand)
    unseen = tuple([tile for tile in rules.tiles if tile not in seen])
    if view.phase != PLAYING:
        return Knowledge(unseen, _shown(observation))
    return _Inference(rules, observation).knowledge(unseen)


def _shown(observation: Observation) -> tuple[tuple[int, ...], ...]:
    """Return the candidates after a round: its result shows all hands, so each hidden tile has one candidate."""
    shown: list[tuple[int, ...]] = [()] * len(observation.view.players)
    for event in observation.events:
        if isinstance(event, RoundEnded):
            for left in event.round.hands:
                if left.seat != observation.seat:
                    shown[left.seat] = tuple([tile_set((tile,)) for tile in left.tiles])
    return tuple(shown)


@dataclass(slots=True, eq=False)
class _HiddenTiles:
    """Hidden tiles of a seat with the same candidates."""

    candidates: int
    """The set of tiles that each can be."""
    count: int
    since: int
    """The index of the event at which the seat got them; 0: the deal."""
    older: dict[int, int] = field(default_factory=dict)
    """By index of an earlier event, the set of tiles that one of these can be if the seat got it at that event.

    It is set when a tile is laid that could be one of these, and an older hidden tile with fewer candidates is removed:
    if the seat really laid one of these, the older tile is still in its hand, and is counted here.
    """

    def held_since(self, event: int) -> int:
        """Return the set of tiles that these can be if the seat held them at this event."""
        if self.since <= event:
            return self.candidates
        held = 0
        for since, tiles in self.older.items():
            if since <= event:
                held |= tiles
        return held & self.candidates

    def may_be_older(self, removed: _HiddenTiles) -> None:
        """Record that one of these may be an older tile: the seat laid either the tile ``removed`` or one of these."""
        for since, tiles in ((removed.since, removed.candidates), *removed.older.items()):
            self.older[since] = self.older.get(since, 0) | tiles & removed.candidates


class _Inference:
    """The hidden tiles of the other seats, event by event."""

    def __init__(self, rules: Rules, observation: Observation) -> None:
        seat, view, events = observation
        self.rules = rules
        self.seat = seat
        self.turn = view.turn
        self.events = events
        self.all_tiles = tile_set(rules.tiles)
        self.held = held = dealt_sizes(observation)
        """By seat: the number of tiles that it holds after the processed events; at first, the number it was dealt."""
        self.known: list[list[Tile]] = [[] for _ in held]
        """By seat: tiles that it was certainly dealt. Of another seat, these are the dealt tiles that it has laid."""
        for event in events:
            if isinstance(event, DealtView):
                self.known[seat] += event.hand or ()
        self.conditions: list[tuple[int, int, int]] = []
        """Of each condition: its seat, its set of tiles, and the event at which the seat held one of them."""
        self.opening = opening = opening_of(rules, view)
        self.layout: Layout | None = opening.start.layout
        self.events_laid = 0
        """The number of events after which ``layout`` is the layout."""
        own = opening.opener == seat
        dealt = tuple(self.known[seat]) if own else () if opening.lead is None else (opening.lead,)
        self.excluded, self.joint = opening_hands(opening, DealtToOpener(dealt, own, (0,) * rules.seats))
        self.hidden = [
            [_HiddenTiles(self.all_tiles & ~excluded, count, 0)] if other != seat and count else []
            for other, (excluded, count) in enumerate(zip(self.excluded, held, strict=True))
        ]
        """By seat: its hidden tiles, the oldest first."""

    def knowledge(self, unseen: Hand) -> Knowledge:
        """Return the knowledge after all events; ``unseen`` are the tiles that the seat has not seen."""
        self._process_events()
        if self.joint and self.opening.lead is not None:
            self._repeat_opening_inference()
        tiles = tile_set(unseen)
        return Knowledge(
            unseen=unseen,
            candidates=tuple(
                [
                    tuple([group.candidates & tiles for group in hidden for _ in range(group.count)])
                    for hidden in self.hidden
                ]
            ),
            conditions=tuple(
                [
                    Condition(seat, tuple([held & condition_tiles & tiles for held in self._held_since(seat, event)]))
                    for seat, condition_tiles, event in self.conditions
                ]
            ),
            dealt=self._dealt() if self.joint else None,
        )

    def _repeat_opening_inference(self) -> None:
        """Repeat the inference from the opening, now that more of the opener's dealt tiles are known."""
        opener = self.opening.opener
        dealt = tuple(dict.fromkeys(self.known[opener]))
        complete = not any(self._held_since(opener, 0))
        self.excluded, self.joint = opening_hands(self.opening, DealtToOpener(dealt, complete, self.excluded))
        for excluded, hidden in zip(self.excluded, self.hidden, strict=True):
            for group in hidden:
                if not group.since:
                    group.candidates &= ~excluded

    def _dealt(self) -> KnownDeal:
        candidates = [
            tuple(self._held_since(seat, 0))
            if seat == self.opening.opener
            else tuple([0 if group.since else group.candidates for group in hidden for _ in range(group.count)])
            for seat, hidden in enumerate(self.hidden)
        ]
        return KnownDeal(self.opening, tuple([tuple(tiles) for tiles in self.known]), tuple(candidates))

    def _held_since(self, seat: int, event: int) -> list[int]:
        """Return for each hidden tile of this seat the set of tiles that it can be if the seat had it at this event."""
        return [group.held_since(event) for group in self.hidden[seat] for _ in range(group.count)]

    def _process_events(self) -> None:
        events, held = self.events, self.held
        several_tiles = self.rules.may_follow is not one_tile
        for index, event in enumerate(events):
            if isinstance(event, DealtView):
                continue
            seat: int = event.seat  # type: ignore[union-attr]  # events without a seat end a round; this one is running
            next_event = events[index + 1] if index + 1 < len(events) else None
            next_seat = self.turn if next_event is None else next_event.seat  # type: ignore[union-attr]  # likewise
            if isinstance(event, Played):
                held[seat] -= 1
                if seat != self.seat:
                    self._remove_laid(seat, event.tile)
                    if several_tiles and held[seat]:
                        self._after_play(seat, index, next_event, next_seat)
            elif isinstance(event, DrewView | Drew):
                held[seat] += 1
                if seat != self.seat:
                    self._drew(seat, index, next_event, next_seat)
            elif seat != self.seat and not isinstance(event, Done) and not self._may_hold_fitting(index, seat):
                self._exclude(seat, tiles_with(self._layout_after(index).open_mask))

    def _layout_after(self, index: int) -> Layout:
        """Return the layout after an event; call it in the order of events. Most events need none."""
        newer = self.events[self.events_laid : index + 1]
        self.layout = reduce(partial(layout_after, self.rules), newer, self.layout)
        self.events_laid = index + 1
        assert self.layout is not None
        return self.layout

    def _exclude(self, seat: int, tiles: int) -> None:
        for group in self.hidden[seat]:
            group.candidates &= ~tiles

    def _remove_laid(self, seat: int, tile: Tile) -> None:
        """Remove one hidden tile after the seat laid ``tile``: the one with fewest candidates that can be this tile."""
        bit = 1 << tile.index
        possible = [group for group in self.hidden[seat] if group.candidates & bit]
        removed = possible[0]
        if len(possible) > 1:
            removed = min(possible, key=lambda group: group.candidates.bit_count())
            for group in possible:
                if group.since > removed.since:
                    group.may_be_older(removed)
        if self.conditions:
            self.conditions = [
                (condition_seat, condition_tiles, event)
                for condition_seat, condition_tiles, event in self.conditions
                if condition_seat != seat or not bit & condition_tiles & removed.held_since(event)
            ]
        if bit & removed.held_since(0) and (len(possible) == 1 or seat == self.opening.opener):
            self.known[seat].append(tile)
        removed.count -= 1
        if not removed.count:
            self.hidden[seat].remove(removed)

    def _after_play(self, seat: int, index: int, next_event: _SeenEvent | None, next_seat: int | None) -> None:
        """Conclude from the next move whether the seat could have laid another tile in its turn.

        Only for games with several tiles in one turn. ``next_seat`` is the seat that moves next.
        """
        ended = next_seat != seat
        goes_on = isinstance(next_event, Done) or (next_event is None and not self._is_only_holder(seat))
        if ended or goes_on:
            layout = self._layout_after(index)
            followers = tile_set(self.rules.may_follow(layout, self.rules.tiles)) & tiles_with(layout.open_mask)
            if ended:
                self._exclude(seat, followers)
            else:
                self.conditions.append((seat, followers, index))

    def _drew(self, seat: int, index: int, next_event: _SeenEvent | None, next_seat: int | None) -> None:
        """Conclude from a draw that no tile fitted, and from the next event whether the drawn tile fits."""
        fitting = tiles_with(self._layout_after(index).open_mask) & self.all_tiles
        self._exclude(seat, fitting)
        drawing = self.rules.drawing
        fits = misses = True
        if isinstance(next_event, Played) and next_event.seat == seat:
            misses = False
        elif next_seat != seat or not self._is_only_holder(seat):
            goes_on = next_seat == seat
            fits, misses = drawing.place == goes_on, drawing.again == goes_on
        tiles = (fitting if fits else 0) | (self.all_tiles & ~fitting if misses else 0)
        self.hidden[seat].append(_HiddenTiles(tiles, 1, index))

    def _may_hold_fitting(self, index: int, seat: int) -> bool:
        """Return whether the seat that passes may hold a tile that fits, because it drew it just before."""
        before = self.events[index - 1]
        return self.rules.drawing.keep and isinstance(before, DrewView | Drew) and before.seat == seat

    def _is_only_holder(self, seat: int) -> bool:
        """Return whether no other seat holds tiles, so that this one moves again after its turn (rules 4.6)."""
        return next_holder(self.held, seat) is None
