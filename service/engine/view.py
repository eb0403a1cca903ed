"""Views of states and events for one viewer: the only place where anything is redacted.

A ``View`` contains only facts that its viewer can see, and every response about a match is made from views. If two
states differ only in facts hidden from a seat, the seat gets equal views. Does not depend on how a view is presented.

=========================  ==================================================================
secret                     visible to
=========================  ==================================================================
the tiles of a hand        its seat; to all in the result of the round
the order of the stock     nobody; to all in the record, once the round is over
a tile that was drawn      the seat that drew it; to all in the record, once the round is over
a deal                     each seat its own hand; to all in the record, once the round is over
the attempts at a deal     nobody; to all once the round is over
the seed of a round        nobody; to all once the round or the match is over
legal moves                the seat that can make them
=========================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from service.engine.deal import Deck, round_seed
from service.engine.events import Dealt, Drew, Event, Manche, Played
from service.engine.layout import Layout, empty_layout
from service.engine.moves import Move
from service.engine.presence import PresenceEvent
from service.engine.referee import legal_moves
from service.engine.state import FINISHED, PLAYING, Hand, Phase, State
from service.engine.tiles import Tile
from service.engine.variant import Rules, teams_of


class You(NamedTuple):
    """The viewer's own seat: its hand, and the row of each tile where hands are sorted by rows (rules 3.10)."""

    seat: int
    hand: Hand
    rows: tuple[int, ...] | None


class PlayerView(NamedTuple):
    """The public facts about a player."""

    seat: int
    tiles: int
    total: int
    in_match: bool
    team: int | None


class View(NamedTuple):
    """The facts of a match that one seat, or a spectator, can see. Those that ``State`` has, too, are the same."""

    phase: Phase
    round: int
    turn: int | None
    to_act: tuple[int, ...]
    you: You | None
    legal_moves: tuple[Move, ...]
    players: tuple[PlayerView, ...]
    stock: int
    drawable: int
    layout: Layout
    carry: int
    dealer: int | None
    winners: tuple[int, ...]
    eliminated_round: tuple[int, ...]
    next_leader: int | None
    manche: Manche | None = None


class DealtView(NamedTuple):
    """A deal as one viewer sees it: only the viewer's own hand; ``None`` for a spectator.

    A deal that can be verified also has the client seeds and the commitment to the next round's seed.
    """

    round: int
    arranged: bool
    hand: Hand | None
    client_seeds: tuple[str, ...] | None = None
    next_commitment: bytes | None = None


class DrewView(NamedTuple):
    """A draw as one viewer sees it; ``tile`` is ``None`` unless the viewer drew it."""

    seat: int
    tile: Tile | None
    auto: bool | None = None


class RecordedDeal(NamedTuple):
    """A deal in a record while its round is running. Hidden hands and the stock have only a number of tiles."""

    round: int
    arranged: bool
    hands: tuple[Hand | int, ...]
    stock: Hand | int


RecordedEvent = Event | RecordedDeal | DrewView | PresenceEvent
"""An event in the record for one viewer."""


def view(rules: Rules, state: State, seat: int | None) -> View:
    """Return the view of a seat; ``seat`` is ``None`` for a spectator."""
    you = None
    moves: tuple[Move, ...] = ()
    if seat is not None:
        hand = state.hands[seat]
        you = You(seat, hand, None if rules.rows is None else tuple([rules.rows[tile] for tile in hand]))
        moves = legal_moves(rules, state, seat)
    totals, teams = state.running_totals(), teams_of(rules.teams, rules.seats)
    return View(
        phase=state.phase,
        round=state.round,
        turn=state.turn,
        to_act=state.to_act,
        you=you,
        legal_moves=moves,
        players=tuple(
            [
                PlayerView(player, len(hand), totals[player], not state.eliminated_round[player], teams[player])
                for player, hand in enumerate(state.hands)
            ]
        ),
        stock=len(state.stock),
        drawable=rules.drawable(state),
        layout=state.layout,
        carry=state.carry,
        dealer=state.dealer,
        winners=state.winners,
        eliminated_round=state.eliminated_round,
        next_leader=state.next_leader,
        manche=state.manche,
    )


def imagined(
    rules: Rules,
    seen: View,
    events: Sequence[Event | DealtView | DrewView],
    hands: tuple[Hand, ...],
    *,
    stock: tuple[Tile, ...],
) -> State:
    """Return the state that a view describes if these are the hands and this is the stock.

    ``events``: the events of the current round, from its deal on. With the true hands and stock, the result is the true
    state.
    """
    placements = seen.layout.placements
    playing = seen.phase == PLAYING
    scored = tuple(
        [
            score
            for event in events
            if isinstance(event, Played) and event.points
            for score in rules.placement_scores(event.seat, event.ends_sum, event.points)
        ]
    )
    totals = [player.total for player in seen.players]
    if playing:
        for score in scored:
            totals[score.seat] -= score.points
    tiles_laid, drew = _running_turn(rules, seen, events, hands) if playing else (0, False)
    return State(
        hands=hands,
        stock=stock,
        layout=seen.layout,
        turn=seen.turn,
        tiles_laid=tiles_laid,
        drew=drew,
        went_out_first=_first_out(seen, events),
        placements_scored=scored if playing else (),
        phase=seen.phase,
        round=seen.round,
        opener=placements[0].seat if placements else seen.turn,
        totals=tuple(totals),
        eliminated_round=seen.eliminated_round,
        carry=seen.carry,
        next_leader=seen.next_leader,
        manche=seen.manche,
        dealer=seen.dealer,
        winners=seen.winners,
    )


def _first_out(seen: View, events: Sequence[Event | DealtView | DrewView]) -> int | None:
    """Return the first seat that laid its last tile in this round."""
    last_play = {event.seat: place for place, event in enumerate(events) if isinstance(event, Played)}
    out = [seat for seat in last_play if not seen.players[seat].tiles]
    return min(out, key=last_play.__getitem__) if out else None


def _running_turn(
    rules: Rules, seen: View, events: Sequence[Event | DealtView | DrewView], hands: tuple[Hand, ...]
) -> tuple[int, bool]:
    """Return the number of tiles that the seat to move laid in this turn, and whether it drew one."""
    seat = seen.turn
    assert seat is not None
    start = len(events)
    while start and isinstance(event := events[start - 1], Played | Drew | DrewView) and event.seat == seat:
        start -= 1
    run = events[start:]
    if any([player.tiles and player.seat != seat for player in seen.players]):
        drawn = sum([not isinstance(event, Played) for event in run])
        return len(run) - drawn, drawn > 0
    return _running_turn_of_the_last(rules, events, start, hands[seat])


def _running_turn_of_the_last(
    rules: Rules, events: Sequence[Event | DealtView | DrewView], start: int, hand: Hand
) -> tuple[int, bool]:
    """Return the same as ``_running_turn`` if only one seat has tiles, and so moves again after its turn (rules 4.6).

    ``start``: the index of the first of the last events, all of which are plays and draws of this seat.
    """
    tiles_laid, drew = 0, False
    layout = empty_layout(rules.form)
    for place, event in enumerate(events):
        following = events[place + 1] if place + 1 < len(events) else None
        if isinstance(event, Played):
            end = layout.end(event.end)
            layout = rules.lay_tile(layout, end, event.tile, event.seat, face_down=event.face_down, outer=event.outer)
        if place < start:
            continue
        held = hand
        if following is not None:
            held = (following.tile,) if isinstance(following, Played) else ()
        if isinstance(event, Played):
            continues = layout.fits_any(rules.may_follow(layout, held))
            tiles_laid = tiles_laid + 1 if continues else 0
            drew = drew and continues
        else:
            tiles_laid = 0
            drew = rules.drawing.place if layout.fits_any(held) else rules.drawing.again
    return tiles_laid, drew


def event_view(event: Event, seat: int | None) -> Event | DealtView | DrewView:
    """Return an event as a seat sees it (``None``: a spectator). All events but deals and draws are public."""
    if isinstance(event, Dealt):
        hand, proof = None if seat is None else event.hands[seat], event.proof
        if proof is None:
            return DealtView(event.round, event.arranged, hand)
        return DealtView(event.round, event.arranged, hand, proof.client_seeds, proof.next_commitment)
    if isinstance(event, Drew):
        return DrewView(event.seat, event.tile if event.seat == seat else None, event.auto)
    return event


def view_for_record(event: Event | PresenceEvent, seat: int | None, *, over: bool) -> RecordedEvent:
    """Return an event for the record of a seat (``None``: a spectator). ``over``: whether the event's round is over.

    Once a round is over, all of it is visible; before, only the seat's own hand and draws. The proof of a deal is left
    out, because a record has its own section for it.
    """
    if isinstance(event, Dealt):
        if over:
            return replace(event, proof=None)
        hands = tuple([hand if player == seat or not hand else len(hand) for player, hand in enumerate(event.hands)])
        return RecordedDeal(event.round, event.arranged, hands, len(event.stock) or ())
    if isinstance(event, Drew) and event.seat != seat and not over:
        return DrewView(event.seat, None, event.auto)
    return event


def round_is_over(state: State, round_number: int) -> bool:
    """Return whether a round is over, so that all of it can be published."""
    return round_number < state.round or (round_number == state.round and state.phase != PLAYING)


def revealed_seed(deck: Deck, state: State, round_number: int) -> bytes | None:
    """Return the seed of a round; ``None`` if its deals cannot be verified, or if the seed is still secret."""
    if deck.game is None or not (round_is_over(state, round_number) or state.phase == FINISHED):
        return None
    return round_seed(deck.seed, round_number)
