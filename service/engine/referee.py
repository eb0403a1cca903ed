"""The referee: the legal moves of a seat, the events of a move, and the state after an event.

Owns the course of a turn, which is the same for all games; ``Rules`` answers the questions in which games differ. Does
not depend on any game, or on what is hidden from whom (``view``).

``legal_moves`` lists the moves. ``advance`` returns the events of a move and the state after them, or raises a
``Refusal``. ``apply`` returns the state after a single event and never rejects one. A turn:

===========================  =================================================================
the seat to move             may
===========================  =================================================================
has a tile that fits         play; after laying a tile in this turn also done; after drawing one
                             that may be kept also pass
has no tile that fits        draw, if the stock and the drawing rule allow one more; else pass
the second player (2.8)      if none of its tiles fits, also flip
===========================  =================================================================

A turn ends automatically when the seat has no action left: after the last tile that it can lay, after a drawn tile that
it may not lay in this turn, and after a drawn tile that does not fit if only one draw is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from service.engine.deal import Deck, shuffle, split
from service.engine.errors import GameOver, IllegalMove, NotInMatch, NotYourTurn, RoundOver
from service.engine.events import (
    DealProof,
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
from service.engine.layout import NEVER, OPEN, End, Layout, empty_layout, gains, outer_halves
from service.engine.moves import DEAL, DONE, DRAW, FLIP, PASS, PLAY, Move, play
from service.engine.state import FINISHED, PLAYING, ROUND_OVER, Hand, State
from service.engine.tiles import Tile, sort_hands, sort_tiles
from service.engine.variant import Rules

MAX_DEAL_ATTEMPTS: Final = 10_000
"""The maximum number of attempts to deal a round; far more than are ever needed."""

_new: Final = tuple.__new__  # see ``layout._new``


# The legal moves


def legal_moves(rules: Rules, state: State, seat: int) -> tuple[Move, ...]:
    """Return all legal moves of a seat in a fixed order: first the plays, by tile and end."""
    if seat != state.turn:
        return (DEAL,) if state.phase == ROUND_OVER and not state.eliminated_round[seat] else ()
    layout, laid = state.layout, state.tiles_laid
    tiles = _admitted(rules, state) if laid or not layout.ends else state.hands[seat]
    moves = _plays(rules, state, tiles)
    if not moves:
        return _without_a_play(rules, state)
    if laid:
        moves.append(DONE)
    elif (state.drew and rules.drawing.keep) or (not layout.ends and rules.may_leave_lead(state)):
        moves.append(PASS)
    return tuple(moves)


def _admitted(rules: Rules, state: State) -> Hand:
    """Return the tiles that can lead, or follow in the same turn, whether they fit or not."""
    if state.tiles_laid:
        assert state.turn is not None
        return rules.may_follow(state.layout, state.hands[state.turn])
    opening = rules.opening(state)
    assert opening is not None
    return opening.tiles


def _plays(rules: Rules, state: State, tiles: Hand) -> list[Move]:
    """Return the plays of these tiles: one for each end that fits, two for a double that can lie face down."""
    ends, open_mask = state.layout.ends, state.layout.open_mask
    if not ends:
        return [_lead(rules, state, tile) for tile in tiles]
    if rules.points is not None:
        return _scored_plays(rules, state, tiles)
    if rules.form.wants is not None:
        return _plays_by_outer_half(state.layout, tiles)
    moves = []
    for tile in tiles:
        offers = tile.offers
        if offers & open_mask:
            for end in ends:
                if offers & end.wants and end.gate == OPEN:
                    moves.append(play(tile, end.name))
                    if tile.double and rules.face_down:
                        moves.append(play(tile, end.name, face_down=True))
    return moves


def _plays_by_outer_half(layout: Layout, tiles: Hand) -> list[Move]:
    """Return the plays in a game that names outer halves: one for each end and possible outer half (rules 14.6)."""
    return [
        play(tile, end.name, outer=outer)
        for tile in tiles
        for end in layout.ends
        if end.gate == OPEN
        for outer in outer_halves(tile, end.wants)
    ]


def _scored_plays(rules: Rules, state: State, tiles: Hand) -> list[Move]:
    """Return the plays in a game in which plays score, on a layout with tiles."""
    layout, points, end_value = state.layout, rules.points, rules.form.end_value
    assert points is not None
    open_mask, covered_sums = layout.open_mask, layout.covered_sums()
    ends_sum = None
    moves = []
    for tile in tiles:
        offers = tile.offers
        if offers & open_mask:
            branching = rules.branching(layout, tile) if tile.double else NEVER
            gain_by_low, gain_by_high = gains(tile, branching, end_value)
            for end, covered_sum in covered_sums:
                if offers & end.wants:
                    if end_value is not None:
                        ends_sum = covered_sum + (gain_by_low if end.number == tile.low else gain_by_high)
                    scored = points(state, tile, end, ends_sum)
                    moves.append(_new(Move, (PLAY, tile, end.name, False, ends_sum, scored, None)))
                    if tile.double and rules.face_down:
                        moves.append(play(tile, end.name, face_down=True))
    return moves


def _lead(rules: Rules, state: State, tile: Tile) -> Move:
    if rules.points is None:
        return play(tile, None)
    ends_sum = None
    if rules.form.end_value is not None:
        ends_sum = rules.lay_tile(state.layout, None, tile, 0, face_down=False).ends_sum
    return Move(PLAY, tile, ends_sum=ends_sum, points=rules.points(state, tile, None, ends_sum))


def _without_a_play(rules: Rules, state: State) -> tuple[Move, ...]:
    can_draw = len(state.stock) > rules.reserve and (rules.drawing.again or not state.drew)
    moves = (DRAW,) if can_draw else (PASS,)
    return (*moves, FLIP) if rules.may_flip(state) else moves


def forced_move(rules: Rules, state: State) -> Move | None:
    """Return the draw or pass that is the only legal move of the seat on turn; otherwise ``None``.

    The service makes this move for the seat. It never makes a forced play, because that would reveal that no other tile
    of the hand fits. A forced draw or pass reveals only that no tile fits. The pass of a seat that keeps a drawn tile
    (rules 5.5) is not forced, since the seat could also play this tile.
    """
    if state.turn is None:
        return None
    moves = legal_moves(rules, state, state.turn)
    return moves[0] if len(moves) == 1 and moves[0] in (DRAW, PASS) else None


# The events of a move


def advance(rules: Rules, deck: Deck, state: State, seat: int, *, move: Move) -> tuple[tuple[Event, ...], State]:
    """Return the events of this move, with those that follow automatically, and the state after them.

    A play can omit its end if the tile fits only one end, and its outer half if only one half can stay outside. Raises
    ``GameOver``, ``RoundOver``, ``NotYourTurn``, ``NotInMatch`` or ``IllegalMove``.
    """
    event: Event
    if seat == state.turn and move.action == PLAY:
        event, layout = _decide_play(rules, state, seat, move)
        state = _apply_play(rules, state, event, layout)
    elif state.phase != PLAYING:
        event, state = _decide_deal(rules, deck, state, seat, move=move)
        return (event,), state
    else:
        event = _decide_other(rules, state, seat, move)
        state = apply(rules, state, event)
        if not isinstance(event, (Drew, Flipped)):
            return (event,), state
    reason = rules.round_end(state)
    return ((event,), state) if reason is None else _end_round(rules, state, event, reason)


def _end_round(rules: Rules, state: State, event: Event, reason: EndReason) -> tuple[tuple[Event, ...], State]:
    """Return the events of the end of a round, from its last play, draw or flip on, and the state after them."""
    events = [event, RoundEnded(rules.score_round(state, reason, rules.hands_left(state)))]
    state = apply(rules, state, events[-1])
    verdict = rules.match_end(state)
    consequences: list[Event] = [Eliminated(seat) for seat in verdict.eliminated]
    if verdict.winners:
        consequences.append(Finished(verdict.winners))
    for consequence in consequences:
        state = apply(rules, state, consequence)
    return (*events, *consequences), state


def deal(rules: Rules, deck: Deck, state: State) -> tuple[Dealt, State]:
    """Return the deal of the next round, and the state after it.

    An arranged deal is used if exactly the eliminated seats have an empty hand in it; otherwise the first shuffled deal
    that a seat can open.
    """
    round_number = state.round + 1
    arranged = deck.arranged[state.round] if state.round < len(deck.arranged) else None
    if arranged and [bool(hand) for hand in arranged.hands] == [not out for out in state.eliminated_round]:
        dealt = Dealt(round_number, sort_hands(arranged.hands), arranged.stock, arranged=True)
        return dealt, _apply_dealt(rules, state, dealt)
    size = rules.hand_size(state.eliminated_round.count(0))
    sizes = [0 if out else size for out in state.eliminated_round]
    attempt, dealt, opened = first_valid_deal(rules, state, deck.shuffle_seed(round_number), sizes)
    next_commitment = deck.commitment(round_number + 1)
    if next_commitment is not None:
        dealt = replace(dealt, proof=DealProof(attempt, deck.client_seeds, next_commitment))
    return dealt, opened


def first_valid_deal(rules: Rules, state: State, seed: bytes, sizes: Sequence[int]) -> tuple[int, Dealt, State]:
    """Return the first attempt from this seed that a seat can open: its number, its deal, and the state after it."""
    for attempt in range(MAX_DEAL_ATTEMPTS):
        dealt = deal_attempt(rules, seed, state.round + 1, attempt, sizes=sizes)
        opened = _open(rules, state, dealt)
        if opened is not None:
            return attempt, dealt, opened
    raise AssertionError("no deal that the rules accept")  # pragma: no cover  # practically impossible


def deal_attempt(rules: Rules, seed: bytes, round_number: int, attempt: int, *, sizes: Sequence[int]) -> Dealt:
    """Return the deal of this attempt, one hand of each size, whether the rules accept it or not.

    ``seed``: the seed of the shuffle.
    """
    hands, stock = split(shuffle(rules.tiles, seed, round_number, attempt), sizes)
    return Dealt(round_number, sort_hands(hands), stock, arranged=False)


def can_open(rules: Rules, state: State, dealt: Dealt) -> bool:
    """Return whether a seat can open this deal; if none can, it is dealt again (rules 3.3, 5.3)."""
    return _open(rules, state, dealt) is not None


def _decide_other(rules: Rules, state: State, seat: int, move: Move) -> Event:
    """Return the event of a move during a round that is not a play of the seat to move."""
    if seat != state.turn:
        assert state.turn is not None
        _check_in_match(state, seat)
        raise NotYourTurn("not_your_turn", seat=state.turn)
    legal = legal_moves(rules, state, seat)
    if move.action not in [move.action for move in legal]:
        raise _not_legal(rules, state, move.action, legal)
    return _EVENT_OF_ACTION[move.action](state, seat)


def _decide_deal(rules: Rules, deck: Deck, state: State, seat: int, *, move: Move) -> tuple[Dealt, State]:
    """Return the event of a move between two rounds, when only a deal is legal, and the state after it."""
    if state.phase == FINISHED:
        raise GameOver("game_over")
    _check_in_match(state, seat)
    if move.action != "deal":
        raise RoundOver("round_over")
    return deal(rules, deck, state)


def _check_in_match(state: State, seat: int) -> None:
    if state.eliminated_round[seat]:
        raise NotInMatch("out_of_match", seat=seat)


def _not_legal(rules: Rules, state: State, action: str, legal: tuple[Move, ...]) -> IllegalMove:
    """Return the error for an action, not a play, that is not among these legal moves of the seat to move."""
    if action not in ("draw", "pass"):
        return IllegalMove(_NOT_NOW[action], action=action)
    if DONE in legal:
        return IllegalMove("turn_to_end", action=action)
    if legal[0].tile is not None:
        return IllegalMove("must_play", action=action, tile=legal[0].tile.name)
    if action == "pass":
        return IllegalMove("must_draw", action=action)
    return IllegalMove("already_drew" if rules.drawable(state) else "stock_empty", action=action)


def _decide_play(rules: Rules, state: State, seat: int, move: Move) -> tuple[Played, Layout]:
    """Return the event of a play, and the layout after it."""
    tile, name, face_down, layout = move.tile, move.end, move.face_down, state.layout
    if tile is None or tile not in state.hands[seat]:
        raise _not_held(rules, tile)
    leads = not layout.ends
    if (leads or state.tiles_laid) and tile not in _admitted(rules, state):
        word = "may_not_lead" if leads else "may_not_follow"
        raise IllegalMove(word, tile=tile.name, allowed=[action.name for action in _admitted(rules, state)])
    end = None if leads and name is None else _find_end(layout, tile, name)
    if face_down and (leads or not tile.double or not rules.face_down):
        raise IllegalMove("must_lie_face_up", tile=tile.name)
    if end is not None:
        name = end.name
    outer = move.outer
    if outer is not None or rules.form.wants is not None:
        outer = _find_outer(layout, end, tile, outer)
    layout = rules.lay_tile(layout, end, tile, seat, face_down=face_down, outer=outer)
    ends_sum = points = None
    if rules.points is not None and not face_down:
        ends_sum = None if rules.form.end_value is None else layout.ends_sum
        points = rules.points(state, tile, end, ends_sum)
    return _new(Played, (seat, tile, name, face_down, points, ends_sum, outer)), layout


def _find_end(layout: Layout, tile: Tile, name: str | None) -> End:
    """Return the open end with this name; without a name, the only open end where the tile fits.

    Raises ``IllegalMove`` if the tile does not fit there, or fits several ends and none is named.
    """
    offers = tile.offers
    if name is not None:
        for end in layout.ends:
            if end.name == name and offers & end.wants and end.gate == OPEN:
                return end
    places = [end for end in layout.ends if offers & end.wants and end.gate == OPEN]
    if name is None and len(places) == 1:
        return places[0]
    raise _no_place(layout, tile, name, [end.name for end in places])


def _find_outer(layout: Layout, end: End | None, tile: Tile, outer: int | None) -> int | None:
    """Return the half that stays outside: ``outer``, or the only possible half; ``None`` if the game does not name it.

    Raises ``IllegalMove`` if ``outer`` cannot stay outside, or if it is missing and both halves can.
    """
    if end is None:
        if outer is not None:
            raise IllegalMove("both_halves_outside", tile=tile.name)
        return None
    halves = outer_halves(tile, end.wants)
    if outer is None:
        if len(halves) > 1:
            raise IllegalMove("either_way", tile=tile.name, end=end.name, halves=[str(half) for half in halves])
        return halves[0]
    if outer not in halves:
        raise IllegalMove("wrong_half_outside", tile=tile.name, end=end.name, half=outer)
    return outer if layout.names_outer else None


def _not_held(rules: Rules, tile: Tile | None) -> IllegalMove:
    if tile is None or tile in rules.tiles:
        return IllegalMove("tile_not_held", **{} if tile is None else {"tile": tile.name})
    return IllegalMove("not_in_set", tile=tile.name, max=max([tile.high for tile in rules.tiles]))


def _no_place(layout: Layout, tile: Tile, name: str | None, places: Sequence[str]) -> IllegalMove:
    """Return the error for a tile that fits at ``places``, but not at the end with this name."""
    if name is None:
        return IllegalMove("several_ends" if places else "fits_nowhere", tile=tile.name, ends=places)
    if not layout.ends:
        return IllegalMove("table_empty", tile=tile.name, end=name)
    end = layout.end(name)
    if end is None:
        return IllegalMove("no_such_end", end=name, ends=[end.name for end in layout.ends])
    if end.gate != OPEN:
        return IllegalMove(f"end_{end.gate}", end=name)
    return IllegalMove("does_not_fit", tile=tile.name, end=name, number=end.number, ends=places)


_EVENT_OF_ACTION: Final[dict[str, Callable[[State, int], Event]]] = {
    "draw": lambda state, seat: Drew(seat, state.stock[0]),
    "pass": lambda _state, seat: Passed(seat),
    "done": lambda _state, seat: Done(seat),
    "flip": lambda _state, seat: Flipped(seat),
}

_NOT_NOW: Final = {"done": "nothing_to_end", "flip": "may_not_flip", "deal": "round_not_over"}


# The state after an event


def apply(rules: Rules, state: State, event: Event) -> State:
    """Return the state after an event. Accepts every event that ``advance`` returned for this state."""
    return _APPLY[type(event)](rules, state, event)


def _apply_dealt(rules: Rules, state: State, event: Dealt) -> State:
    opened = _open(rules, state, event)
    assert opened is not None
    return opened


def _open(rules: Rules, state: State, event: Dealt) -> State | None:
    """Return the state after this deal, its opener to move; ``None`` if no seat can open it."""
    dealt = state._replace(
        hands=event.hands,
        stock=event.stock,
        layout=empty_layout(rules.form),
        turn=None,
        tiles_laid=0,
        drew=False,
        went_out_first=None,
        placements_scored=(),
        phase=PLAYING,
        round=event.round,
    )
    opening = rules.opening(dealt)
    return None if opening is None else dealt._replace(turn=opening.seat, opener=opening.seat)


def _apply_played(rules: Rules, state: State, event: Played) -> State:
    end = state.layout.end(event.end)
    layout = rules.lay_tile(state.layout, end, event.tile, event.seat, face_down=event.face_down, outer=event.outer)
    return _apply_play(rules, state, event, layout)


def _apply_play(rules: Rules, state: State, event: Played, layout: Layout) -> State:
    """Return the state after a play; ``layout``: the layout after it."""
    seat, hands, points = event.seat, state.hands, event.points
    held = list(hands[seat])
    held.remove(event.tile)
    hand = tuple(held)
    hands = (*hands[:seat], hand, *hands[seat + 1 :])
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
        placements_scored += rules.placement_scores(seat, event.ends_sum, points)
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
    seat, tile, hands = event.seat, event.tile, state.hands
    hands = (*hands[:seat], sort_tiles((*hands[seat], tile)), *hands[seat + 1 :])
    turn_continues = rules.drawing.place if tile.offers & state.layout.open_mask else rules.drawing.again
    turn = seat if turn_continues else _next_seat(hands, seat)
    return state._replace(hands=hands, stock=state.stock[1:], turn=turn, tiles_laid=0, drew=turn_continues)


def _apply_turn_end(rules: Rules, state: State, event: Passed | Done) -> State:
    if not state.layout.ends:
        partner = rules.partner(event.seat)
        return state._replace(turn=partner, opener=partner)
    return state._replace(turn=_next_seat(state.hands, event.seat), tiles_laid=0, drew=False)


def _apply_flipped(_rules: Rules, state: State, _event: Flipped) -> State:
    return state._replace(layout=state.layout.flip_lead())


def _apply_round_ended(rules: Rules, state: State, event: RoundEnded) -> State:
    result = event.round
    decided_for = result.winner if rules.carries == "winner" else result.loser
    state = state._replace(
        phase=ROUND_OVER,
        turn=None,
        tiles_laid=0,
        drew=False,
        placements_scored=(),
        totals=tuple([total + score for total, score in zip(state.totals, result.scores, strict=True)]),
        carry=state.carry + result.carried if decided_for is None else 0,
        manche=result.manche,
    )
    state = state._replace(next_leader=rules.leads_next(state, result))
    dealer = rules.dealer(state)
    return state if dealer == state.dealer else state._replace(dealer=dealer)


def _apply_eliminated(rules: Rules, state: State, event: Eliminated) -> State:
    seat = event.seat
    rounds = (*state.eliminated_round[:seat], state.round, *state.eliminated_round[seat + 1 :])
    state = state._replace(eliminated_round=rounds)
    return state._replace(dealer=rules.dealer(state) if state.active_seats() else None)


def _apply_finished(_rules: Rules, state: State, event: Finished) -> State:
    return state._replace(phase=FINISHED, turn=None, tiles_laid=0, drew=False, dealer=None, winners=event.winners)


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


def _next_seat(hands: tuple[Hand, ...], seat: int) -> int | None:
    """Return the next seat clockwise that holds tiles, perhaps the same one; ``None`` if no seat holds any.

    A seat that is out of the match or of the round (rules 4.6) holds none.
    """
    next_seat = seat
    for _ in hands:
        next_seat += 1
        if next_seat == len(hands):
            next_seat = 0
        if hands[next_seat]:
            return next_seat
    return None
