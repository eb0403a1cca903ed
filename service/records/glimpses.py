"""A running round as one viewer has seen it, made again as far as that goes.

Everything about the table is held against the rules, and everything about the viewer's own hand. Of another seat it
is known how many tiles it holds; it is taken to hold any tile that lies nowhere else. So it is checked that a tile
could be laid, and what it counts; that there was a tile to draw; and whose turn it can be. Whether somebody else who
drew or passed held nothing that fits, who had to open, and whether the tile drawn fits, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from service.engine.deal import Deck
from service.engine.errors import IllegalMove
from service.engine.events import Done, Drew, Passed, Played
from service.engine.layout import NEVER
from service.engine.moves import DONE, DRAW, PASS, Move
from service.engine.referee import advance, apply, legal_moves
from service.engine.state import PLAYING, State
from service.engine.tiles import Tile
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedDeal, RecordedEvent
from service.records.event_checks import move_faults, move_of
from service.records.record import Record, VersionedEvent
from service.records.report import Fault
from service.records.steps import Step
from service.records.writer import HEAD, Location

_NO_DECK: Final = Deck(b"")


def seen_round(record: Record, rules: Rules, state: State, index: int) -> Iterator[Step | Fault]:
    """The running round of a partial record, step by step to its end or its first fault; ``state`` is before it."""
    lines = record.rounds[index].lines
    dealt = lines[0].event
    assert isinstance(dealt, RecordedDeal)
    fault = _unseen(record, index, dealt)
    if fault is not None:
        yield fault
        return
    glimpse = _Glimpse(rules, state, dealt, record.viewer if isinstance(record.viewer, int) else None)
    yield glimpse.step(lines[0], (index, 0))
    for at, line in enumerate(lines[1:], 1):
        problem = glimpse.take(line.event)
        if problem is not None:
            yield Fault(problem[0], (index, at), problem[1])
            return
        yield glimpse.step(line, (index, at))


def _unseen(record: Record, index: int, dealt: RecordedDeal) -> Fault | None:
    """What the viewer cannot have seen, or must have."""
    viewer = record.viewer
    if viewer is None:
        return Fault("hidden_tile", (index, 0), "A whole record leaves nothing out.")
    if any([later.lines for later in record.rounds[index + 1 :]]):
        return Fault("hidden_tile", (index, 0), "Everything is told of a round that is over.")
    if isinstance(viewer, int) and viewer >= len(dealt.hands):
        return Fault("wrong_seen", (HEAD, "Seen"), f"There is no seat {viewer}.")
    told = [isinstance(hand, tuple) for hand in dealt.hands]
    if told != [seat == viewer or hand == () for seat, hand in enumerate(dealt.hands)]:
        return Fault("wrong_seen", (index, 0), "Of a deal each seat sees its own hand, and no other.")
    if dealt.stock and isinstance(dealt.stock, tuple):
        return Fault("wrong_seen", (index, 0), "Nobody sees the stock.")
    return None


class _Glimpse:
    """What is known of a running round: a state in which hidden hands are made up, and how many tiles there are."""

    def __init__(self, rules: Rules, before: State, dealt: RecordedDeal, viewer: int | None) -> None:
        self._rules = rules
        self._viewer = viewer
        own = () if viewer is None else dealt.hands[viewer]
        assert isinstance(own, tuple)
        self._own = own
        self._unseen = [tile for tile in rules.tiles if tile not in self._own]
        self._hands = [hand if isinstance(hand, int) else len(hand) for hand in dealt.hands]
        self._stock = dealt.stock if isinstance(dealt.stock, int) else len(dealt.stock)
        self._may_move = {seat for seat, hand in enumerate(self._hands) if hand}
        self._state = before._replace(
            phase=PLAYING,
            round=before.round + 1,
            layout=rules.start().layout,
            tiles_laid=0,
            drew=False,
            went_out_first=None,
            placements_scored=(),
            opener=None,
        )

    def step(self, line: VersionedEvent, place: Location) -> Step:
        """The step that has just been taken."""
        return Step(line, place, self._state, tuple(self._hands), self._stock)

    def take(self, event: RecordedEvent) -> tuple[str, str] | None:
        """Make this happen; or say what is wrong with it: a code and a sentence."""
        if not isinstance(event, Played | Drew | DrewView | Passed | Done):
            return "wrong_seen", "What ends a round makes everything known, so it cannot stand in a running one."
        seat = event.seat
        if seat not in self._may_move:
            return "wrong_turn", f"Seat {seat} is not to move."
        if not self._state.layout.placements and not isinstance(event, Played):
            return "illegal_move", "The round begins with the lead."
        goes_on = seat == self._state.turn
        self._state = self._state._replace(
            turn=seat,
            tiles_laid=self._state.tiles_laid if goes_on else 0,
            drew=self._state.drew and goes_on,
            hands=self._made_up(),
            stock=tuple(self._unseen[: self._stock]),
        )
        if isinstance(event, Played):
            return self._play(event)
        if isinstance(event, Drew | DrewView):
            return self._draw(event)
        return self._turn_over(event)

    def _made_up(self) -> tuple[tuple[Tile, ...], ...]:
        """The viewer's hand, and for everybody else any tile it could be."""
        unseen = tuple(self._unseen)
        return tuple(
            [self._own if seat == self._viewer else unseen if number else () for seat, number in enumerate(self._hands)]
        )

    def _play(self, event: Played) -> tuple[str, str] | None:
        seat, tile = event.seat, event.tile
        if tile not in (self._own if seat == self._viewer else self._unseen):
            return "not_held", f"Seat {seat} cannot hold {tile}."
        if self._hands[seat] == 1:
            self._state = self._state._replace(
                hands=(*self._state.hands[:seat], (tile,), *self._state.hands[seat + 1 :])
            )
        if self._state.layout.placements:
            try:
                (made, *ended), after = advance(self._rules, _NO_DECK, self._state, seat, move_of(event))
            except IllegalMove as refusal:
                return "illegal_move", refusal.sentence
            if ended:
                return "missing_count", "The round is over and must be counted."
        else:
            made = self._lead(seat, tile)
            after = apply(self._rules, self._state._replace(opener=seat), made)
        faults = move_faults(made, event, (0, 0))
        if faults:
            return faults[0].code, faults[0].message
        self._state = after
        self._hands[seat] -= 1
        if seat == self._viewer:
            self._own = after.hands[seat]
        else:
            self._unseen.remove(tile)
        self._may_move = {seat for seat in (after.turn, self._next(seat)) if seat is not None}
        if seat == self._viewer or after.turn != seat:
            self._may_move.intersection_update({after.turn})
        return None

    def _lead(self, seat: int, tile: Tile) -> Played:
        ends_sum = points = None
        layout = self._state.layout
        if self._rules.points is not None:
            ends_sum = layout.sum_after(None, tile, self._rules.branching(layout, tile) if tile.double else NEVER)
            points = self._rules.points(ends_sum)
        return Played(seat, tile, None, face_down=False, points=points, ends_sum=ends_sum)

    def _draw(self, event: Drew | DrewView) -> tuple[str, str] | None:
        seat = event.seat
        if isinstance(event, Drew) != (seat == self._viewer):
            return "wrong_seen", "Who draws a tile sees it, and nobody else."
        if not self._may_draw(seat):
            return "wrong_draw", "You may not draw now."
        self._hands[seat] += 1
        self._stock -= 1
        if isinstance(event, Drew):
            if event.tile not in self._unseen:
                return "wrong_draw", f"The tile {event.tile} is not in the stock."
            self._state = apply(self._rules, self._state, event)
            self._own = self._state.hands[seat]
            self._unseen.remove(event.tile)
            self._may_move = {seat for seat in (self._state.turn,) if seat is not None}
            return None
        drawing, following = self._rules.drawing, self._next(seat)
        goes_on = {drawing.place, drawing.again}
        self._may_move = {seat for seat, may in ((seat, True in goes_on), (following, False in goes_on)) if may}
        self._state = self._state._replace(turn=seat, tiles_laid=0, drew=True in goes_on and following != seat)
        return None

    def _turn_over(self, event: Passed | Done) -> tuple[str, str] | None:
        seat = event.seat
        if isinstance(event, Done):
            legal = self._own_move(seat, DONE) if seat == self._viewer else self._state.tiles_laid > 0
            if not legal:
                return "wrong_done", "There is no turn of several tiles to end."
        else:
            keeps = self._state.drew and self._rules.drawing.keep
            legal = self._own_move(seat, PASS) if seat == self._viewer else keeps or not self._may_draw(seat)
            if not legal:
                return "wrong_pass", "You may not pass now."
        self._state = apply(self._rules, self._state, event)
        self._may_move = {self._next(seat)}
        return None

    def _may_draw(self, seat: int) -> bool:
        if seat == self._viewer:
            return self._own_move(seat, DRAW)
        again = self._rules.drawing.again or not self._state.drew
        begins = not self._state.tiles_laid or self._next(seat) == seat
        return begins and again and self._stock > self._rules.reserve

    def _own_move(self, seat: int, move: Move) -> bool:
        return move in legal_moves(self._rules, self._state, seat)

    def _next(self, seat: int) -> int:
        """Clockwise the next seat that holds tiles."""
        seats = len(self._hands)
        return next(each % seats for each in range(seat + 1, seat + seats + 1) if self._hands[each % seats])
