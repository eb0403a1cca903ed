"""What follows from an observation about the tiles that a seat cannot see.

Written against the engine alone: what a draw, a pass or the end of a turn tells follows from the questions that the
rules answer. Does not depend on how a move is chosen.

=============================  =====================================================================================
seen of another seat           follows for its slots
=============================  =====================================================================================
it opened                      no seat was dealt a tile with which another one, or another tile, would have led
it drew, or turned the lead    none had a place
it passed                      none had a place; a tile that was drawn and kept had one
the tile that it drew          a slot of its own, of which ``rules.drawing`` and the next event tell whether it fits
it laid a tile                 the narrowest slot that admits the tile is gone
its turn ended by itself       none may follow and fits
it ended its turn, or goes on  one of them may follow and fits: a ``Condition``
=============================  =====================================================================================

Two slots of a seat that both admit a tile are nested: a tile drawn later is either known to fit where the older ones
do not, or admits all that they admit. So a tile may be taken from the narrowest slot whichever it was in.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from service.bots.observation import Observation
from service.bots.opening import DealtToOpener, before_opening, opening_hands
from service.engine.events import Done, Drew, Event, Played, RoundEnded
from service.engine.layout import Layout
from service.engine.referee import placeable, placeable_set
from service.engine.rules.turns import one_tile
from service.engine.state import PLAYING, Hand
from service.engine.tiles import Tile
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, imagined

_SeenEvent = Event | DealtView | DrewView


class Condition(NamedTuple):
    """One of the slots of a seat holds a tile of its own set here."""

    seat: int
    tiles: tuple[int, ...]
    """By slot: the tiles of which it would have to hold one, as a set."""


class Dealt(NamedTuple):
    """What is known of the hands that were dealt; of a tile in doubt, it was dealt to the opener, not to the others."""

    opener: int
    lead: Tile | None
    """What the opener led; ``None`` before the lead."""
    known: tuple[Hand, ...]
    """By seat: tiles that it was dealt."""
    slots: tuple[tuple[int, ...], ...]
    """By seat and slot: the tiles that it was dealt if it holds them, as a set."""


class Knowledge(NamedTuple):
    """What one seat knows of the hidden tiles.

    A *slot* is a tile that another seat holds, as the set of tiles that it may be: bit i stands for the tile with the
    index i. The true hand of a seat always fits its slots, one tile each.
    """

    unseen: tuple[Tile, ...]
    """The tiles of the set that are neither on the table nor in the own hand, sorted."""
    slots: tuple[tuple[int, ...], ...]
    """By seat: the slots of its hand, those of drawn tiles behind, in the order of drawing; none for the own seat."""
    conditions: tuple[Condition, ...] = ()
    """What is known of several slots together."""
    dealt: Dealt | None = None
    """The hands dealt, if who opens may depend on several hidden tiles together."""


def infer(rules: Rules, observation: Observation) -> Knowledge:
    """What the seat of this observation knows of the hidden tiles."""
    view = observation.view
    seen = {placement.tile for placement in view.layout.placements}
    if view.you is not None:
        seen.update(view.you.hand)
    unseen = tuple([tile for tile in rules.tiles if tile not in seen])
    if view.phase != PLAYING:
        return Knowledge(unseen, _shown(observation))
    return _Inference(rules, observation).knowledge(unseen)


@lru_cache(maxsize=4096)
def tile_set(tiles: Hand) -> int:
    """These tiles as a set: bit i stands for the tile with the index i."""
    return sum([1 << tile.index for tile in tiles])


def _shown(observation: Observation) -> tuple[tuple[int, ...], ...]:
    """The slots after a round, whose result shows all hands."""
    slots: list[tuple[int, ...]] = [()] * len(observation.view.players)
    for event in observation.events:
        if isinstance(event, RoundEnded):
            for left in event.round.hands:
                if left.seat != observation.seat:
                    slots[left.seat] = tuple([tile_set((tile,)) for tile in left.tiles])
    return tuple(slots)


class _Slots:
    """Slots of a seat that are alike: for so ``many`` tiles that it has ``since`` this event, 0: the deal.

    ``older``: by event, tiles that it may have had since then, as a set. A play takes the narrowest slot, but
    the tile may have been the one of a wider slot; then that one holds the tile of the narrower slot now.
    """

    __slots__ = ("many", "older", "since", "tiles")

    def __init__(self, tiles: int, many: int, since: int) -> None:
        self.tiles = tiles
        self.many = many
        self.since = since
        self.older: dict[int, int] = {}

    def held_since(self, event: int) -> int:
        """The tiles that these slots may have held at this event, as a set."""
        if self.since <= event:
            return self.tiles
        held = 0
        for since, tiles in self.older.items():
            if since <= event:
                held |= tiles
        return held & self.tiles

    def may_be_older(self, taken: _Slots) -> None:
        """The tile of these slots was laid, or theirs was, and then they hold the tile of ``taken``."""
        for since, tiles in ((taken.since, taken.tiles), *taken.older.items()):
            self.older[since] = self.older.get(since, 0) | tiles & taken.tiles


class _Table:
    """The layout after some events. A tile is laid when the layout is asked for, as most plays tell nothing."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._layout = rules.empty_layout()
        self._waiting: list[Played] = []

    def lay(self, played: Played) -> None:
        """The next tile."""
        self._waiting.append(played)

    @property
    def layout(self) -> Layout:
        """The layout with all these tiles."""
        if self._waiting:
            layout = self._layout
            for seat, tile, name, face_down, _, _, outer in self._waiting:
                end = None if name is None else layout.end(name)
                layout = self._rules.lay_tile(layout, end, tile, seat, face_down, outer=outer)
            self._layout = layout
            self._waiting = []
        return self._layout


class _Inference:
    """The slots of the other seats, event by event."""

    def __init__(self, rules: Rules, observation: Observation) -> None:
        seat, view, events = observation
        self.rules = rules
        self.seat = seat
        self.turn = view.turn
        self.events = events
        self.every = tile_set(rules.tiles)
        self.held = held = [player.tiles for player in view.players]
        """By seat: how many tiles it holds; first, how many it was dealt."""
        self.known: list[list[Tile]] = [[] for _ in held]
        """By seat: tiles that it was dealt; of the others those that they laid from slots of the deal."""
        for event in events:
            if isinstance(event, Played):
                held[event.seat] += 1
            elif isinstance(event, DrewView | Drew):
                held[event.seat] -= 1
            elif isinstance(event, DealtView):
                self.known[seat] += event.hand or ()
        self.conditions: list[tuple[int, int, int]] = []
        """Of each condition its seat, its tiles, and the event before which the seat had one of them."""
        placements = view.layout.placements
        opener = placements[0].seat if placements else view.turn
        assert opener is not None
        self.opener = opener
        self.lead = placements[0].tile if placements else None
        self.start = before_opening(rules, imagined(rules, view, events, ((),) * len(held), ()))
        own = opener == seat
        dealt = tuple(self.known[seat]) if own else () if self.lead is None else (self.lead,)
        told = opening_hands(rules, self.start, opener, self.lead, DealtToOpener(dealt, own, (0,) * rules.seats))
        self.joint, self.excluded = told.joint, told.excluded
        self.slots = [
            [_Slots(self.every & ~excluded, many, 0)] if other != seat and many else []
            for other, (excluded, many) in enumerate(zip(told.excluded, held, strict=True))
        ]
        """By seat: its slots, the oldest first."""

    def knowledge(self, unseen: Hand) -> Knowledge:
        """What follows from all events."""
        self._follow()
        if self.joint and self.lead is not None:
            self._look_back_at_the_opening()
        tiles = tile_set(unseen)
        return Knowledge(
            unseen=unseen,
            slots=tuple([tuple([each.tiles & tiles for each in of for _ in range(each.many)]) for of in self.slots]),
            conditions=tuple(
                [
                    Condition(seat, tuple([held & wanted & tiles for held in self._held_since(seat, event)]))
                    for seat, wanted, event in self.conditions
                ]
            ),
            dealt=self._dealt() if self.joint else None,
        )

    def _look_back_at_the_opening(self) -> None:
        """The same again, with all tiles that the opener has laid since and that it may have been dealt."""
        dealt = tuple(dict.fromkeys(self.known[self.opener]))
        complete = not any(self._held_since(self.opener, 0))
        told = opening_hands(
            self.rules, self.start, self.opener, self.lead, DealtToOpener(dealt, complete, self.excluded)
        )
        self.joint = told.joint
        for excluded, of in zip(told.excluded, self.slots, strict=True):
            for slots in of:
                if not slots.since:
                    slots.tiles &= ~excluded

    def _dealt(self) -> Dealt:
        slots = [
            tuple(self._held_since(seat, 0))
            if seat == self.opener
            else tuple([0 if each.since else each.tiles for each in of for _ in range(each.many)])
            for seat, of in enumerate(self.slots)
        ]
        return Dealt(self.opener, self.lead, tuple([tuple(tiles) for tiles in self.known]), tuple(slots))

    def _held_since(self, seat: int, event: int) -> list[int]:
        """By slot of this seat: the tiles that it may have held at this event, as a set."""
        return [slots.held_since(event) for slots in self.slots[seat] for _ in range(slots.many)]

    def _follow(self) -> None:
        """Go through the events of the round."""
        rules, events, held = self.rules, self.events, self.held
        table = _Table(rules)
        several_tiles = rules.may_follow is not one_tile
        for place, event in enumerate(events):
            if isinstance(event, DealtView):
                continue
            seat: int = event.seat  # type: ignore[union-attr]  # the others end a round, and this one is running
            following = events[place + 1] if place + 1 < len(events) else None
            moves_next = self.turn if following is None else following.seat  # type: ignore[union-attr]  # likewise
            if isinstance(event, Played):
                table.lay(event)
                held[seat] -= 1
                if seat != self.seat:
                    self._take(seat, event.tile)
                    if several_tiles and held[seat]:
                        self._after_play(seat, place, following, moves_next, table)
            elif isinstance(event, DrewView | Drew):
                held[seat] += 1
                if seat != self.seat:
                    self._drew(seat, place, following, moves_next, table.layout)
            elif seat != self.seat and not isinstance(event, Done) and not self._kept(place, seat):
                self._strike(seat, placeable_set(rules, table.layout))

    def _strike(self, seat: int, tiles: int) -> None:
        """No slot of this seat holds one of these tiles."""
        for slots in self.slots[seat]:
            slots.tiles &= ~tiles

    def _take(self, seat: int, tile: Tile) -> None:
        """The seat laid this tile: the narrowest slot that admits it is gone."""
        bit = 1 << tile.index
        admitting = [slots for slots in self.slots[seat] if slots.tiles & bit]
        taken = admitting[0]
        if len(admitting) > 1:
            taken = min(admitting, key=lambda slots: slots.tiles.bit_count())
            for slots in admitting:
                if slots.since > taken.since:
                    slots.may_be_older(taken)
        if self.conditions:
            self.conditions = [
                (who, wanted, event)
                for who, wanted, event in self.conditions
                if who != seat or not bit & wanted & taken.held_since(event)
            ]
        if bit & taken.held_since(0) and (len(admitting) == 1 or seat == self.opener):
            self.known[seat].append(tile)
        taken.many -= 1
        if not taken.many:
            self.slots[seat].remove(taken)

    def _after_play(
        self, seat: int, place: int, following: _SeenEvent | None, moves_next: int | None, table: _Table
    ) -> None:
        """What follows from who moves after a play, where a turn may be several tiles."""
        ended = moves_next != seat
        goes_on = isinstance(following, Done) or (following is None and not self._alone(seat))
        if ended or goes_on:
            layout = table.layout
            tiles = self.rules.may_follow(layout, self.rules.tiles)
            followers = tile_set(placeable(self.rules, layout, tiles)) if tiles else 0
            if ended:
                self._strike(seat, followers)
            else:
                self.conditions.append((seat, followers, place))

    def _drew(
        self, seat: int, place: int, following: _SeenEvent | None, moves_next: int | None, layout: Layout
    ) -> None:
        """None of the tiles that the seat had fits; whether the drawn one does shows in what follows."""
        fitting = placeable_set(self.rules, layout) & self.every
        self._strike(seat, fitting)
        drawing = self.rules.drawing
        fits = misses = True
        if isinstance(following, Played) and following.seat == seat:
            misses = False
        elif moves_next != seat or not self._alone(seat):
            goes_on = moves_next == seat
            fits, misses = drawing.place == goes_on, drawing.again == goes_on
        tiles = (fitting if fits else 0) | (self.every & ~fitting if misses else 0)
        self.slots[seat].append(_Slots(tiles, 1, place))

    def _kept(self, place: int, seat: int) -> bool:
        """Whether the seat that passes here may hold a tile that fits, which it has just drawn."""
        before = self.events[place - 1]
        return self.rules.drawing.keep and isinstance(before, DrewView | Drew) and before.seat == seat

    def _alone(self, seat: int) -> bool:
        """Whether no other seat holds tiles, so that this one moves whether its turn is over or not (rules 4.6)."""
        return not any([many and other != seat for other, many in enumerate(self.held)])
