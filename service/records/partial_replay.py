"""Checks the form of the running round of a partial record.

Owns what one viewer can have seen of a running round: that each visible tile is in the set and in one place, where
tiles join and what the ends add up to, the sizes of the hands, and that the round is not over. Turns are not checked,
nor whether a seat had to open, play, draw or pass: that would need the hidden hands. Does not depend on legal moves or
turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.engine.events import Dealt, Done, Drew, Event, Passed, Played
from service.engine.presence import Forfeited, Presence, PresenceEvent
from service.engine.state import PLAYING, State
from service.engine.tiles import Tile
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedDeal, RecordedEvent
from service.records.deal_checks import tile_count
from service.records.event_checks import automatic_event_faults, move_faults, naming_fault
from service.records.presence_checks import consequences, presence_fault
from service.records.record import Record, VersionedEvent
from service.records.report import Fault
from service.records.writer import HEAD, Location

_MOVES: Final = (Played, Drew, DrewView, Passed, Done)
"""The events of a running round after its deal; a flip ends the round."""


def deal_visibility_fault(record: Record, index: int, dealt: RecordedDeal) -> Fault | None:
    """Return the fault of a deal that hides other tiles than those hidden from the record's viewer, else ``None``."""
    viewer, place = record.viewer, (index, 0)
    if viewer is None:
        return Fault("hidden_tile", place, "A complete record hides nothing.")
    if any([later.lines for later in record.rounds[index + 1 :]]):
        return Fault("hidden_tile", place, "Nothing is hidden in a round that is over.")
    if isinstance(viewer, int) and viewer >= len(dealt.hands):
        return Fault("wrong_seen", (HEAD, "Seen"), f"There is no seat {viewer}.")
    visible = [isinstance(hand, tuple) for hand in dealt.hands]
    if visible != [seat == viewer or hand == () for seat, hand in enumerate(dealt.hands)]:
        return Fault("wrong_seen", place, "Of a deal each seat sees its own hand, and no other.")
    if dealt.stock and isinstance(dealt.stock, tuple):
        return Fault("wrong_seen", place, "The stock is hidden.")
    return None


class PartialRound:
    """The visible part of a running round: the layout, the viewer's tiles, and the sizes of the hands and the stock.

    ``state`` has the layout and the points; of its hands only the viewer's is known, the others are empty. ``pending``
    is what must follow next.
    """

    def __init__(self, record: Record, rules: Rules, before: State, presence: Presence, *, dealt: RecordedDeal) -> None:
        """Start after a deal without a ``deal_visibility_fault``; ``before`` and ``presence`` are those before it."""
        self._record = record
        self._rules = rules
        self._viewer = record.viewer
        self.presence = presence
        self.pending: tuple[Event | Forfeited, ...] = ()
        self.hands = [tile_count(hand) for hand in dealt.hands]
        self.stock = tile_count(dealt.stock)
        self._last: RecordedEvent = dealt
        self._passed: set[int] = set()
        hands = tuple([hand if isinstance(hand, tuple) else () for hand in dealt.hands])
        self._own = {tile for hand in hands for tile in hand}
        self._unseen = set(rules.tiles) - self._own
        self.state = before._replace(
            phase=PLAYING,
            round=before.round + 1,
            hands=hands,
            stock=(),
            layout=rules.start().layout,
            turn=None,
            placements_scored=(),
        )

    def add(self, line: VersionedEvent, place: Location) -> Sequence[Fault]:
        """Apply the event of this line, or return its faults and change nothing."""
        event = line.event
        if self.pending or isinstance(event, PresenceEvent):
            return self._add_presence(event, place)
        fault = self._fault(event)
        if fault is not None:
            return [Fault(fault[0], place, fault[1])]
        if isinstance(event, Played):
            faults = self._play(event, place)
            if faults:
                return faults
        elif isinstance(event, Drew | DrewView):
            self.hands[event.seat] += 1
            self.stock -= 1
        if isinstance(event, Drew):
            self._unseen.remove(event.tile)
            self._own.add(event.tile)
        if not isinstance(event, Passed):
            self._passed.clear()
        elif not self._keeps_drawn_tile(event):
            self._passed.add(event.seat)
        self._last = event
        return []

    def _add_presence(self, event: RecordedEvent, place: Location) -> Sequence[Fault]:
        """Add the event of who plays a seat, or that which follows from one."""
        if self.pending:
            expected, *others = self.pending
            faults = automatic_event_faults(expected, event, place)
            if faults or not isinstance(expected, Forfeited):
                return faults or [Fault("wrong_seen", place, "The match is over, but the round is a running one.")]
            self.presence = self.presence.after(expected)
            self.pending = tuple(others)
            return []
        assert isinstance(event, PresenceEvent)
        fault = presence_fault(self._record, self.state, self.presence, event, place=place, whole=False)
        if fault is not None:
            return [fault]
        self.pending = consequences(self._rules, self.state, self.presence, event)
        self.presence = self.presence.after(event)
        return []

    def _fault(self, event: RecordedEvent) -> tuple[str, str] | None:
        """Return the code and message of a fault of this event, where a tile joins aside; ``None`` if it has none."""
        if isinstance(event, Dealt | RecordedDeal):
            return "not_dealt", "A round is dealt once, at its beginning."
        if not isinstance(event, _MOVES):
            return "wrong_seen", "This event ends the round, but the round is a running one."
        seat = event.seat
        if seat >= len(self.hands) or not self.hands[seat]:
            return "wrong_turn", f"Seat {seat} holds no tiles in this round."
        if isinstance(event, Played):
            if event.tile not in (self._own if seat == self._viewer else self._unseen):
                return "not_held", f"Seat {seat} cannot hold {event.tile}."
        elif not self.state.layout.placements:
            return "illegal_move", "The round begins with the lead."
        elif isinstance(event, Passed):
            return self._pass_fault(event)
        elif isinstance(event, Done):
            if not isinstance(self._last, Played) or self._last.seat != seat:
                return "wrong_done", f"Seat {seat} has not laid a tile in this turn."
        elif isinstance(event, Drew | DrewView):
            if isinstance(event, Drew) != (seat == self._viewer):
                return "wrong_seen", "Only the seat that draws a tile sees it."
            if not self.stock:
                return "wrong_draw", "The stock is empty."
            if isinstance(event, Drew) and event.tile not in self._unseen:
                return "wrong_draw", f"The tile {event.tile} is not in the stock."
        return None

    def _pass_fault(self, event: Passed) -> tuple[str, str] | None:
        """Return the fault of a pass after which every player had passed at the same layout: the round was over before.

        A seat that passed has no tile that fits. So somebody plays before it passes again, or nobody can: then the
        round has ended as soon as nothing was left to draw, and before that nobody passes (rules 1.7 d, 2.9 c, 3.8,
        4.6, 5.6).
        """
        if self._keeps_drawn_tile(event):
            return (
                ("wrong_auto", "A seat that passes with the tile that it has drawn has a choice.")
                if event.auto
                else None
            )
        others = {seat for seat, tiles in enumerate(self.hands) if tiles and seat != event.seat}
        if event.seat in self._passed or others <= self._passed:
            return "wrong_pass", "Everybody has passed, so the round is over."
        return None

    def _keeps_drawn_tile(self, event: Passed) -> bool:
        """Return whether a seat passes with the tile that it has just drawn, which fits."""
        return self._rules.drawing.keep and isinstance(self._last, Drew | DrewView) and self._last.seat == event.seat

    def _state_of_sizes(self, seat: int, tile: Tile) -> State:
        """Return the state with this seat to move and hands of these sizes, of any tiles, as only the sizes count."""
        return self.state._replace(turn=seat, hands=tuple([(tile,) * size for size in self.hands]))

    def _play(self, event: Played, place: Location) -> Sequence[Fault]:
        """Lay the tile, or return the faults of its end, the sum of the ends or the points."""
        rules, layout = self._rules, self.state.layout
        seat, tile, name, face_down, _, _, outer = event
        unnamed = naming_fault(layout, event)
        if unnamed is not None:
            return [Fault(unnamed[0], place, unnamed[1])]
        end = None if name is None else layout.end(name)
        fits = end is not None and layout.admits(end, tile, outer)
        if (name is not None and not fits) or (face_down and not (fits and tile.double and rules.face_down)):
            return [Fault("illegal_move", place, "This tile may not be laid there in this way.")]
        layout = rules.lay_tile(layout, end, tile, seat, face_down=face_down, outer=outer)
        ends_sum = points = None
        scored = self.state.placements_scored
        if rules.points is not None and not face_down:
            ends_sum = layout.ends_sum if layout.counts_ends else None
            points = rules.points(self._state_of_sizes(seat, tile), tile, end, ends_sum)
            scored += rules.placement_scores(seat, ends_sum, points) if points else ()
        faults = move_faults(event._replace(ends_sum=ends_sum, points=points), event, place)
        if not faults:
            self.state = self.state._replace(layout=layout, placements_scored=scored)
            self.hands[seat] -= 1
            (self._own if seat == self._viewer else self._unseen).remove(tile)
        return faults
