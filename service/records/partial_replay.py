"""The running round of a partial record, checked in its form.

Owns what one viewer can have been told of a running round: whose tiles, that each is in the set and in one place, the
places on the table with their sums, and how many tiles everybody holds. Whose turn it was, and who had to open, to
play, to draw or to pass is not checked: that would need the hidden hands. Must not know legal moves or turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.engine.events import Dealt, Done, Drew, Passed, Played
from service.engine.layout import NEVER, OPEN
from service.engine.state import PLAYING, PlacementScore, State
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedDeal, RecordedEvent
from service.records.deal_checks import tile_count
from service.records.event_checks import move_faults
from service.records.record import Record, VersionedEvent, Viewer
from service.records.report import Fault
from service.records.writer import HEAD, Location

_MOVES: Final = (Played, Drew, DrewView, Passed, Done)
"""What can stand in a running round after its deal; a flip ends the round."""


def deal_visibility_fault(record: Record, index: int, dealt: RecordedDeal) -> Fault | None:
    """What of this deal the viewer of the record cannot have seen, or must have; ``None`` if that is right."""
    viewer, place = record.viewer, (index, 0)
    if viewer is None:
        return Fault("hidden_tile", place, "A whole record leaves nothing out.")
    if any([later.lines for later in record.rounds[index + 1 :]]):
        return Fault("hidden_tile", place, "Everything is told of a round that is over.")
    if isinstance(viewer, int) and viewer >= len(dealt.hands):
        return Fault("wrong_seen", (HEAD, "Seen"), f"There is no seat {viewer}.")
    told = [isinstance(hand, tuple) for hand in dealt.hands]
    if told != [seat == viewer or hand == () for seat, hand in enumerate(dealt.hands)]:
        return Fault("wrong_seen", place, "Of a deal each seat sees its own hand, and no other.")
    if dealt.stock and isinstance(dealt.stock, tuple):
        return Fault("wrong_seen", place, "Nobody sees the stock.")
    return None


class PartialRound:
    """What is known of a running round: the table, the viewer's tiles, and how many tiles there are elsewhere.

    ``state`` has the table and the points; of its hands only the viewer's is known, the others are empty.
    """

    def __init__(self, rules: Rules, before: State, dealt: RecordedDeal, viewer: Viewer) -> None:
        """Begin after a deal in which ``deal_visibility_fault`` finds nothing; ``before`` is the state before it."""
        self._rules = rules
        self._viewer = viewer
        self.hands = [tile_count(hand) for hand in dealt.hands]
        self.stock = tile_count(dealt.stock)
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
        """Let the event of this line happen; or give what is wrong with it, and then nothing has happened."""
        event = line.event
        fault = self._fault(event)
        if fault is not None:
            return [Fault(fault[0], place, fault[1])]
        if isinstance(event, Played):
            return self._play(event, place)
        if isinstance(event, Drew | DrewView):
            self.hands[event.seat] += 1
            self.stock -= 1
        if isinstance(event, Drew):
            self._unseen.remove(event.tile)
            self._own.add(event.tile)
        return []

    def _fault(self, event: RecordedEvent) -> tuple[str, str] | None:
        """What keeps the event from happening, the place of a tile left aside: a code and a sentence."""
        if isinstance(event, Dealt | RecordedDeal):
            return "not_dealt", "A round is dealt once, at its beginning."
        if not isinstance(event, _MOVES):
            return "wrong_seen", "What ends a round makes everything known, so it cannot stand in a running one."
        seat = event.seat
        if seat >= len(self.hands) or not self.hands[seat]:
            return "wrong_turn", f"Seat {seat} holds no tiles in this round."
        if isinstance(event, Played):
            if event.tile not in (self._own if seat == self._viewer else self._unseen):
                return "not_held", f"Seat {seat} cannot hold {event.tile}."
        elif not self.state.layout.placements:
            return "illegal_move", "The round begins with the lead."
        elif isinstance(event, Drew | DrewView):
            if isinstance(event, Drew) != (seat == self._viewer):
                return "wrong_seen", "Who draws a tile sees it, and nobody else."
            if not self.stock:
                return "wrong_draw", "The stock is empty."
            if isinstance(event, Drew) and event.tile not in self._unseen:
                return "wrong_draw", f"The tile {event.tile} is not in the stock."
        return None

    def _play(self, event: Played, place: Location) -> Sequence[Fault]:
        """Lay the tile, or give what is wrong with its place, the sum of the ends or the points."""
        rules, layout = self._rules, self.state.layout
        seat, tile, name, face_down, _, _ = event
        if layout.placements and name is None:
            return [Fault("unnamed_end", place, "The end where the tile was laid is not named.")]
        end = None if name is None else layout.end(name)
        fits = end is not None and end.gate == OPEN and tile.mask >> end.number & 1
        if (name is not None and not fits) or (face_down and not (fits and tile.double and rules.face_down)):
            return [Fault("illegal_move", place, "This tile may not be laid there in this way.")]
        branching = rules.branching(layout, tile) if tile.double and not face_down else NEVER
        if end is None:
            layout = layout.lead(tile, seat, branching)
        else:
            layout = layout.join(end, tile, seat, face_down, branching)
        ends_sum = points = None
        scored = self.state.placements_scored
        if rules.points is not None and not face_down:
            ends_sum = layout.ends_sum
            points = rules.points(ends_sum)
            scored += (PlacementScore(seat, ends_sum, points),) if points else ()
        faults = move_faults(event._replace(ends_sum=ends_sum, points=points), event, place)
        if not faults:
            self.state = self.state._replace(layout=layout, placements_scored=scored)
            self.hands[seat] -= 1
            (self._own if seat == self._viewer else self._unseen).remove(tile)
        return faults
