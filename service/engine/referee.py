"""The referee: what a seat may do, what then happens, and what that makes of the match.

Owns the course of a turn, the same for all games; every question that a game answers in its own way is
put to its ``Rules``. Must not know any game, nor who may see what (``view``).

``legal_moves`` lists the moves, ``advance`` turns one into events and the state after them or refuses
it, ``apply`` makes the state after a single event and is total: it refuses nothing. A turn:

===========================  =================================================================
the seat to move             may
===========================  =================================================================
has a tile that fits         play; once it has laid one in this turn: or say done; if a tile it
                             drew may be kept: or pass
nothing fits, none laid      draw, if the stock and the drawing rule allow one more; else pass
the second player (2.8)      with nothing that fits: also flip
===========================  =================================================================

A turn ends by itself when nothing may follow: after the last tile that can be laid, and after a draw
that may not be placed or does not fit where only one may be drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from service.engine.deal import Deck, shuffle, split
from service.engine.errors import GameOver, IllegalMove, NotYourTurn, RoundOver
from service.engine.events import (
    Dealt,
    Done,
    Drew,
    Eliminated,
    EndReason,
    Event,
    Finished,
    Flipped,
    Passed,
    Played,
    RoundEnded,
)
from service.engine.layout import NEVER, OPEN, Branching, End, Layout
from service.engine.moves import DEAL, DONE, DRAW, FLIP, PASS, PLAY, Move, play
from service.engine.state import FINISHED, PLAYING, ROUND_OVER, Hand, PlacementScore, State
from service.engine.tiles import Tile, add_tile, sort_tiles
from service.engine.variant import Rules

MAX_DEAL_ATTEMPTS: Final = 10_000
"""Attempts at dealing a round; the rules accept one long before."""

_new: Final = tuple.__new__  # as in ``layout``


# What a seat may do


def legal_moves(rules: Rules, state: State, seat: int) -> tuple[Move, ...]:
    """Every move that ``seat`` may make now, each once, in a fixed order: plays by tile and end, then the others."""
    if seat != state.turn:
        return (DEAL,) if state.phase == ROUND_OVER and not state.eliminated_round[seat] else ()
    layout, laid = state.layout, state.tiles_laid
    tiles = _admitted(rules, state) if laid or not layout.ends else state.hands[seat]
    moves = _plays(rules, layout, tiles)
    if not moves:
        return _without_a_play(rules, state)
    if laid:
        moves.append(DONE)
    elif state.drew and rules.drawing.keep:
        moves.append(PASS)
    return tuple(moves)


def _admitted(rules: Rules, state: State) -> Hand:
    """The tiles that may lead, or follow in the same turn, whether they fit or not; else a whole hand is admitted."""
    if state.tiles_laid:
        assert state.turn is not None
        return rules.may_follow(state.layout, state.hands[state.turn])
    opening = rules.opening(state)
    assert opening is not None
    return opening.tiles


def _plays(rules: Rules, layout: Layout, tiles: Hand) -> list[Move]:
    """The places of these tiles: an end each, and for a double that may lie face down two."""
    ends, open_mask = layout.ends, layout.open_mask
    if not ends:
        return [_lead(rules, layout, tile) for tile in tiles]
    if rules.points is not None:
        return _scored_plays(rules, layout, tiles)
    moves = []
    for tile in tiles:
        mask = tile.mask
        if mask & open_mask:
            for end in ends:
                if mask >> end.number & 1 and end.gate == OPEN:
                    moves.append(play(tile, end.name))
                    if tile.double and rules.face_down:
                        moves.append(play(tile, end.name, face_down=True))
    return moves


def _scored_plays(rules: Rules, layout: Layout, tiles: Hand) -> list[Move]:
    """As ``_plays``, each with what it counts; no tile leads."""
    if not layout.fits_any(tiles):
        return []
    open_mask, covered_sums, points = layout.open_mask, layout.covered_sums(), rules.points
    assert points is not None
    moves = []
    for tile in tiles:
        mask, low = tile.mask, tile.low
        if mask & open_mask:
            gain_by_low, gain_by_high = layout.gains(tile, _branching(rules, layout, tile))
            for number, end, covered_sum in covered_sums:
                if mask >> number & 1:
                    ends_sum = covered_sum + (gain_by_low if number == low else gain_by_high)
                    moves.append(_new(Move, (PLAY, tile, end, False, ends_sum, points(ends_sum))))
                    if tile.double and rules.face_down:
                        moves.append(play(tile, end, face_down=True))
    return moves


def _lead(rules: Rules, layout: Layout, tile: Tile) -> Move:
    """The move that leads this tile, with what it counts."""
    if rules.points is None:
        return play(tile, None)
    ends_sum = layout.sum_after(None, tile, _branching(rules, layout, tile))
    return Move(PLAY, tile, ends_sum=ends_sum, points=rules.points(ends_sum))


def _branching(rules: Rules, layout: Layout, tile: Tile) -> Branching:
    """How a tile branches when it is laid face up."""
    return rules.branching(layout, tile) if tile.double else NEVER


def _without_a_play(rules: Rules, state: State) -> tuple[Move, ...]:
    can_draw = len(state.stock) > rules.reserve and (rules.drawing.again or not state.drew)
    moves = (DRAW,) if can_draw else (PASS,)
    return (*moves, FLIP) if rules.may_flip(state) else moves


# What then happens


def advance(rules: Rules, deck: Deck, state: State, seat: int, move: Move) -> tuple[tuple[Event, ...], State]:
    """The events of this move, those that follow by themselves included, and the state they lead to.

    A play may leave out its end when the tile has one legal place. Raises ``GameOver``, ``RoundOver``,
    ``NotYourTurn`` or ``IllegalMove``; then nothing has happened.
    """
    event: Event
    if seat == state.turn and move.action == PLAY:
        event, end = _answer_play(rules, state, seat, move)
        state = _lay(rules, state, event, end)
    else:
        event = _answer(rules, deck, state, seat, move)
        state = apply(rules, state, event)
        if not isinstance(event, (Drew, Flipped)):
            return (event,), state
    reason = rules.round_end(state)
    return ((event,), state) if reason is None else _end_round(rules, state, event, reason)


def _end_round(rules: Rules, state: State, event: Event, reason: EndReason) -> tuple[tuple[Event, ...], State]:
    """The event that ended the round, and what follows by itself: the count, and what that means for the match."""
    events = [event, RoundEnded(rules.score_round(state, reason, rules.hands_left(state)))]
    state = apply(rules, state, events[-1])
    verdict = rules.match_end(state)
    follow: list[Event] = [Eliminated(seat) for seat in verdict.eliminated]
    if verdict.winners:
        follow.append(Finished(verdict.winners))
    for each in follow:
        state = apply(rules, state, each)
    return (*events, *follow), state


def deal(rules: Rules, deck: Deck, state: State) -> Dealt:
    """The next round's deal: the one arranged for it, else a shuffle that the rules do not deal again.

    An arranged deal is taken when its empty hands are those of the seats that are out.
    """
    round_number = state.round + 1
    arranged = deck.arranged_for(round_number)
    if arranged and [bool(hand) for hand in arranged.hands] == [not gone for gone in state.eliminated_round]:
        return Dealt(round_number, tuple([sort_tiles(hand) for hand in arranged.hands]), arranged.stock, arranged=True)
    size = rules.hand_size(len(state.active_seats()))
    sizes = [0 if gone else size for gone in state.eliminated_round]
    attempt, dealt = first_valid_deal(rules, state, deck.shuffle_seed(round_number), sizes)
    luck = deck.deal_proof(round_number, attempt)
    return dealt if luck is None else replace(dealt, proof=luck)


def first_valid_deal(rules: Rules, state: State, seed: bytes, sizes: Sequence[int]) -> tuple[int, Dealt]:
    """The attempt at dealing the next round from this seed that the rules do not deal again, and its deal."""
    for attempt in range(MAX_DEAL_ATTEMPTS):
        dealt = deal_attempt(rules, seed, state.round + 1, attempt, sizes)
        if can_open(rules, state, dealt):
            return attempt, dealt
    raise AssertionError("no deal that the rules accept")  # pragma: no cover: less likely than a bad bit of memory


def deal_attempt(rules: Rules, seed: bytes, round_number: int, attempt: int, sizes: Sequence[int]) -> Dealt:
    """The deal from this seed of a shuffle in this attempt, a hand of each size, whether the rules accept it or not."""
    hands, stock = split(shuffle(rules.tiles, seed, round_number, attempt), sizes)
    return Dealt(round_number, tuple([sort_tiles(hand) for hand in hands]), stock, arranged=False)


def can_open(rules: Rules, state: State, dealt: Dealt) -> bool:
    """Whether somebody can open this deal; if not, the rules deal again (rules 3.3, 5.3)."""
    return rules.opening(_with_deal(rules, state, dealt, None, state.opener)) is not None


def _answer(rules: Rules, deck: Deck, state: State, seat: int, move: Move) -> Event:
    """The event of a move that is not a play of the seat to move."""
    if state.phase != PLAYING:
        return _answer_after_round(rules, deck, state, seat, move)
    if seat != state.turn:
        raise NotYourTurn("It is not your turn.")
    if move.action not in [legal.action for legal in legal_moves(rules, state, seat)]:
        raise IllegalMove(_WHY_NOT[move.action])
    return _SIMPLE[move.action](state, seat)


def _answer_after_round(rules: Rules, deck: Deck, state: State, seat: int, move: Move) -> Dealt:
    if state.phase == FINISHED:
        raise GameOver("The match is over.")
    if move.action != "deal":
        raise RoundOver("The round is over; the next one has to be dealt first.")
    if state.eliminated_round[seat]:
        raise NotYourTurn("You are out of the match.")
    return deal(rules, deck, state)


def _answer_play(rules: Rules, state: State, seat: int, move: Move) -> tuple[Played, End | None]:
    """The event of a play, and the end that it names."""
    _, tile, name, face_down, _, _ = move
    layout = state.layout
    if tile is None or tile not in state.hands[seat]:
        raise IllegalMove("You do not hold this tile.")
    leads = not layout.ends
    if (leads or state.tiles_laid) and tile not in _admitted(rules, state):
        raise IllegalMove("This tile may not be laid now.")
    end = None if leads and name is None else _end_meant(layout, tile, name)
    if face_down and (leads or not tile.double or not rules.face_down):
        raise IllegalMove(_NOT_THERE)
    if end is not None:
        name = end.name
    ends_sum = points = None
    if rules.points is not None and not face_down:
        ends_sum = layout.sum_after(end, tile, _branching(rules, layout, tile))
        points = rules.points(ends_sum)
    return _new(Played, (seat, tile, name, face_down, points, ends_sum)), end


def _end_meant(layout: Layout, tile: Tile, name: str | None) -> End:
    """The open end of that name, or the only one, where the tile fits."""
    mask = tile.mask
    if name is not None:
        for end in layout.ends:
            if end.name == name and mask >> end.number & 1 and end.gate == OPEN:
                return end
    places = [end for end in layout.ends if mask >> end.number & 1 and end.gate == OPEN]
    if name is None and len(places) == 1:
        return places[0]
    if name is None and places:
        raise IllegalMove("This tile has several places; name the end.")
    raise IllegalMove(_NOT_THERE if places or not layout.ends else "This tile fits no open end.")


_SIMPLE: Final[dict[str, Callable[[State, int], Event]]] = {
    "draw": lambda state, seat: Drew(seat, state.stock[0]),
    "pass": lambda _state, seat: Passed(seat),
    "done": lambda _state, seat: Done(seat),
    "flip": lambda _state, seat: Flipped(seat),
}

_NOT_THERE: Final = "This tile may not be laid there in this way."
_WHY_NOT: Final = {
    "draw": "You may not draw now.",
    "pass": "You may not pass now.",
    "done": "There is no turn of several tiles to end.",
    "flip": "You may not turn the opening tile over now.",
    "deal": "The round is not over; there is nothing to deal.",
}


# What that makes of the match


def apply(rules: Rules, state: State, event: Event) -> State:
    """The state after an event. Total: an event that ``advance`` gave for this state is never refused."""
    return _APPLY[type(event)](rules, state, event)


def _apply_dealt(rules: Rules, state: State, event: Dealt) -> State:
    opening = rules.opening(_with_deal(rules, state, event, None, state.opener))
    assert opening is not None
    return _with_deal(rules, state, event, opening.seat, opening.seat)


def _with_deal(rules: Rules, state: State, event: Dealt, turn: int | None, opener: int | None) -> State:
    return state.after_deal(
        hands=event.hands,
        stock=event.stock,
        layout=rules.empty_layout(),
        turn=turn,
        round_number=event.round,
        opener=opener,
    )


def _apply_played(rules: Rules, state: State, event: Played) -> State:
    return _lay(rules, state, event, None if event.end is None else state.layout.end(event.end))


def _lay(rules: Rules, state: State, event: Played, end: End | None) -> State:
    """The state after a play at this end; the lead joins none."""
    seat, tile, _, face_down, points, ends_sum = event
    layout = state.layout
    branching = rules.branching(layout, tile) if tile.double and not face_down else NEVER
    if end is None:
        layout = layout.lead(tile, seat, branching)
    else:
        layout = layout.join(end, tile, seat, face_down, branching)
    held = list(state.hands[seat])
    held.remove(tile)
    hand = tuple(held)
    hands = _with_hand(state.hands, seat, hand)
    followers = rules.may_follow(layout, hand)
    if followers and layout.fits_any(followers):
        turn: int | None = seat
        tiles_laid, drew = state.tiles_laid + 1, state.drew
    else:
        turn = _next_seat(hands, seat)
        tiles_laid, drew = 0, False
    went_out_first = state.went_out_first
    if not hand and went_out_first is None:
        went_out_first = seat
    placements_scored = state.placements_scored
    if points:
        assert ends_sum is not None
        placements_scored += (PlacementScore(seat, ends_sum, points),)
    return state.after_move(
        hands=hands,
        stock=state.stock,
        layout=layout,
        turn=turn,
        tiles_laid=tiles_laid,
        drew=drew,
        went_out_first=went_out_first,
        placements_scored=placements_scored,
    )


def _apply_drew(rules: Rules, state: State, event: Drew) -> State:
    seat, tile = event.seat, event.tile
    hands = _with_hand(state.hands, seat, add_tile(state.hands[seat], tile))
    goes_on = rules.drawing.place if tile.mask & state.layout.open_mask else rules.drawing.again
    return state.after_move(
        hands=hands,
        stock=state.stock[1:],
        layout=state.layout,
        turn=seat if goes_on else _next_seat(hands, seat),
        tiles_laid=0,
        drew=goes_on,
        went_out_first=state.went_out_first,
        placements_scored=state.placements_scored,
    )


def _apply_turn_end(_rules: Rules, state: State, event: Passed | Done) -> State:
    return state.after_move(
        hands=state.hands,
        stock=state.stock,
        layout=state.layout,
        turn=_next_seat(state.hands, event.seat),
        tiles_laid=0,
        drew=False,
        went_out_first=state.went_out_first,
        placements_scored=state.placements_scored,
    )


def _apply_flipped(_rules: Rules, state: State, _event: Flipped) -> State:
    return state._replace(layout=state.layout.flip_lead())


def _apply_round_ended(rules: Rules, state: State, event: RoundEnded) -> State:
    counted = event.round
    state = state._replace(
        phase=ROUND_OVER,
        turn=None,
        tiles_laid=0,
        drew=False,
        placements_scored=(),
        totals=tuple([total + score for total, score in zip(state.totals, counted.scores, strict=True)]),
        carry=state.carry + counted.carried if counted.loser is None else 0,
        round_winner=counted.winner,
    )
    dealer = rules.dealer(state)
    return state if dealer == state.dealer else state._replace(dealer=dealer)


def _apply_eliminated(rules: Rules, state: State, event: Eliminated) -> State:
    seat = event.seat
    state = state._replace(
        eliminated_round=(*state.eliminated_round[:seat], state.round, *state.eliminated_round[seat + 1 :])
    )
    return state._replace(dealer=rules.dealer(state) if state.active_seats() else None)


def _apply_finished(_rules: Rules, state: State, event: Finished) -> State:
    return state._replace(phase=FINISHED, dealer=None, winners=event.winners)


_APPLY: Final[dict[type[Event], Callable[..., State]]] = {
    Dealt: _apply_dealt,
    Played: _apply_played,
    Drew: _apply_drew,
    Passed: _apply_turn_end,
    Done: _apply_turn_end,
    Flipped: _apply_flipped,
    RoundEnded: _apply_round_ended,
    Eliminated: _apply_eliminated,
    Finished: _apply_finished,
}


def _with_hand(hands: tuple[Hand, ...], seat: int, hand: Hand) -> tuple[Hand, ...]:
    changed = list(hands)
    changed[seat] = hand
    return tuple(changed)


def _next_seat(hands: tuple[Hand, ...], seat: int) -> int | None:
    """Clockwise the next seat that holds tiles; this one again if it is the only one, nobody if there is none.

    A seat that is out of the match holds none, nor does one that is out of the round (rules 4.6).
    """
    following = seat
    for _ in hands:
        following += 1
        if following == len(hands):
            following = 0
        if hands[following]:
            return following
    return None
