"""What one seat may know: of a state, and of an event. The only redaction there is.

A ``View`` is made of facts that its viewer may see, and of nothing else; what is shown of a match is made
from a view, or is public (a count), or is the viewer's own (the legal moves). Two states that differ only
in what a seat cannot see give that seat equal views.
Must not know how a view is shown.

=========================  ==================================================================
secret                     who may know
=========================  ==================================================================
the tiles of a hand        its seat; everybody once the round is counted, from the count
the order of the stock     nobody; everybody from the record, once the round is over
the tile that was drawn    who drew it; likewise
what was dealt             each seat its own hand; everybody all of it, once the round is over
how often it was dealt     everybody, once the round is over
the seed of a round        everybody, once the round is over; if the match ends before it is dealt, then
legal moves                the seat that may make them
=========================  ==================================================================
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from service.engine.deal import Deck, round_seed
from service.engine.events import Dealt, Drew, Event
from service.engine.layout import Layout
from service.engine.moves import Move
from service.engine.referee import legal_moves
from service.engine.state import FINISHED, PLAYING, Hand, Phase, State
from service.engine.tiles import Tile
from service.engine.variant import Rules


class You(NamedTuple):
    """The viewer's own seat: its hand, and the row of each tile where hands are sorted by rows (rules 3.10)."""

    seat: int
    hand: Hand
    rows: tuple[int, ...] | None


class PlayerView(NamedTuple):
    """What everybody knows of a player."""

    seat: int
    tiles: int
    total: int
    in_match: bool
    team: int | None


class View(NamedTuple):
    """A match as one seat, or a spectator, may know it."""

    phase: Phase
    round: int
    turn: int | None
    you: You | None
    legal_moves: tuple[Move, ...]
    players: tuple[PlayerView, ...]
    stock: int
    drawable: int
    layout: Layout
    carry: int
    dealer: int | None
    winners: tuple[int, ...]


class DealtView(NamedTuple):
    """A deal as one viewer may know it: the viewer's own hand, if there is one.

    Where deals can be proven, also what the seats have added to the luck, and the commitment to the next round's seed.
    """

    round: int
    arranged: bool
    hand: Hand | None
    client_seeds: tuple[str, ...] | None = None
    next_commitment: bytes | None = None


class DrewView(NamedTuple):
    """A draw as one viewer may know it: the tile, for who drew it."""

    seat: int
    tile: Tile | None


class RecordedDeal(NamedTuple):
    """A deal as one viewer may know it, seat by seat: the tiles, or only how many there are."""

    round: int
    arranged: bool
    hands: tuple[Hand | int, ...]
    stock: Hand | int


RecordedEvent = Event | RecordedDeal | DrewView
"""An event as a record tells it to one viewer."""


def view(rules: Rules, state: State, seat: int | None) -> View:
    """What ``seat`` may know of the match; ``None`` is a spectator."""
    you = None
    moves: tuple[Move, ...] = ()
    if seat is not None:
        hand = state.hands[seat]
        you = You(seat, hand, None if rules.row is None else tuple([rules.row(tile) for tile in hand]))
        moves = legal_moves(rules, state, seat)
    totals = state.running_totals()
    return View(
        phase=state.phase,
        round=state.round,
        turn=state.turn,
        you=you,
        legal_moves=moves,
        players=tuple(
            [
                PlayerView(each, len(hand), totals[each], not state.eliminated_round[each], rules.team(each))
                for each, hand in enumerate(state.hands)
            ]
        ),
        stock=len(state.stock),
        drawable=rules.drawable(state),
        layout=state.layout,
        carry=state.carry,
        dealer=state.dealer,
        winners=state.winners,
    )


def event_view(event: Event, seat: int | None) -> Event | DealtView | DrewView:
    """What ``seat`` may know of an event; ``None`` is a spectator. All but deals and draws is public."""
    if isinstance(event, Dealt):
        hand, luck = None if seat is None else event.hands[seat], event.proof
        if luck is None:
            return DealtView(event.round, event.arranged, hand)
        return DealtView(event.round, event.arranged, hand, luck.client_seeds, luck.next_commitment)
    if isinstance(event, Drew):
        return DrewView(event.seat, event.tile if event.seat == seat else None)
    return event


def view_for_record(event: Event, seat: int | None, *, over: bool) -> RecordedEvent:
    """What a record tells ``seat`` of an event of a round, which is ``over`` or running; ``None`` is a spectator.

    A round that is over is told whole; of a running one a seat gets its own hand and what it drew itself. The luck of
    a deal is no part of it: a record has that for itself.
    """
    if isinstance(event, Dealt):
        if over:
            return replace(event, proof=None)
        hands = tuple([hand if each == seat or not hand else len(hand) for each, hand in enumerate(event.hands)])
        return RecordedDeal(event.round, event.arranged, hands, len(event.stock) or ())
    if isinstance(event, Drew) and event.seat != seat and not over:
        return DrewView(event.seat, None)
    return event


def round_is_over(state: State, round_number: int) -> bool:
    """Whether a round is over, so that all of it may be told."""
    return round_number < state.round or (round_number == state.round and state.phase != PLAYING)


def revealed_seed(deck: Deck, state: State, round_number: int) -> bytes | None:
    """The seed of a round, if its deals can be proven and it may be told by now: no deal to come depends on it."""
    if deck.game is None or not (round_is_over(state, round_number) or state.phase == FINISHED):
        return None
    return round_seed(deck.seed, round_number)
