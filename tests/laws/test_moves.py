"""What may be done, what is refused, and whose turn it is."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from service.engine.errors import GameOver, IllegalMove, NotInMatch, NotYourTurn, Refusal, RoundOver
from service.engine.events import Dealt, Done, Drew, Flipped, Passed, Played
from service.engine.layout import Layout
from service.engine.moves import DEAL, DONE, DRAW, FLIP, PASS, PLAY, Move
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED, PLAYING, ROUND_OVER, State
from tests.laws.fits import fits, ways
from tests.laws.matches import Match, Step, law

pytestmark = pytest.mark.quick

MATCH_FACTS = (
    *("phase", "round", "opener", "totals", "eliminated_round"),
    *("carry", "next_leader", "dealer", "winners", "manche"),
)


def refusal(match: Match, state: State, seat: int, move: Move) -> type[Refusal] | None:
    try:
        advance(match.rules, match.deck, state, seat, move=move)
    except Refusal as refused:
        return type(refused)
    return None


def is_listed(move: Move, listed: Iterable[Move], layout: Layout) -> bool:
    """Whether a move is on the list; a play may leave out its end, or its outer half, if there is only one."""
    same = [legal for legal in listed if (legal.action, legal.tile) == (move.action, move.tile)]
    same = [legal for legal in same if legal.face_down == move.face_down]
    if move.end is None and len({legal.end for legal in same}) > 1:
        return False
    same = [legal for legal in same if move.end in (None, legal.end)]
    return len(same) == 1 if move.outer is None else move.outer in [outer_half(legal, layout) for legal in same]


def outer_half(play: Move, layout: Layout) -> int | None:
    """The half of a tile that a listed play leaves outside; it may be named where it follows from the end, too."""
    end = layout.end(play.end)
    if play.tile is None or end is None or play.outer is not None:
        return play.outer
    return play.tile.other_half(end.number)


@law(matches=12, drawn=4)
def test_a_move_is_accepted_exactly_when_it_is_listed(match: Match) -> None:
    for state in match.some_states(4):
        for seat in match.seats:
            listed = legal_moves(match.rules, state, seat)
            for move in match.conceivable(state, seat):
                assert (refusal(match, state, seat, move) is None) == is_listed(move, listed, state.layout), (
                    seat,
                    move,
                    listed,
                )


@law()
def test_a_refusal_says_what_kind_it_is(match: Match) -> None:
    for state in match.some_states(5):
        for seat in match.seats:
            wanted: type[Refusal] = IllegalMove if seat == state.turn else NotYourTurn
            moves = list(match.conceivable(state, seat))
            for move in [*moves[:6], *match.rng.sample(moves, 6)]:
                if state.phase == FINISHED:
                    wanted = GameOver
                elif state.eliminated_round[seat]:
                    wanted = NotInMatch
                elif state.phase == ROUND_OVER:
                    wanted = RoundOver
                assert refusal(match, state, seat, move) in (wanted, None)


@law(matches=10)
def test_a_refusal_changes_nothing(match: Match) -> None:
    for step in match.some_steps(4):
        before = repr((step.before, match.deck))
        for seat in match.seats:
            moves = list(match.conceivable(step.before, seat))
            refused = [move for move in match.rng.sample(moves, 12) if refusal(match, step.before, seat, move)]
            assert len(refused) > 2
        assert repr((step.before, match.deck)) == before
        assert advance(match.rules, match.deck, step.before, step.seat, move=step.move) == (step.events, step.after)


@law()
def test_legal_moves_are_unique_and_in_a_fixed_order(match: Match) -> None:
    """Plays by the order of the hand, then of the ends, face up and the lower half outside first; then the others."""
    without_a_tile = [DRAW, PASS, DONE, FLIP]
    for state in match.states:
        for seat in match.seats:
            moves = legal_moves(match.rules, state, seat)
            assert legal_moves(match.rules, state, seat) == moves
            assert len({(*move[:4], move.outer) for move in moves}) == len(moves)
            plays = [move for move in moves if move.action == PLAY]
            others = [move for move in moves if move.action != PLAY]
            assert list(moves) == plays + others
            hand = state.hands[seat]
            ends = [None, *[end.name for end in state.layout.ends]]
            assert plays == sorted(
                plays, key=lambda move: (hand.index(move.tile), ends.index(move.end), move.face_down, move.outer or 0)
            )
            if state.phase == PLAYING:
                assert others == sorted(others, key=without_a_tile.index)


@law()
def test_what_fits_is_listed_wherever_it_fits_and_nothing_else(match: Match) -> None:
    """Who has laid no tile in this turn may lay any that fits; who can lay one may neither draw nor pass."""
    rules = match.rules
    for state in match.states:
        if state.phase != PLAYING:
            continue
        assert state.turn is not None
        moves = legal_moves(rules, state, state.turn)
        plays = {(*move[:4], move.outer) for move in moves if move.action == PLAY}
        others = set(moves) - {move for move in moves if move.action == PLAY}
        hand = state.hands[state.turn]
        if not state.layout.placements:
            opening = rules.opening(state)
            assert opening is not None
            assert opening.seat == state.turn == state.opener
            assert plays == {(PLAY, tile, None, False, None) for tile in opening.tiles}
            assert set(opening.tiles) <= set(hand)
            assert others == ({PASS} if rules.may_leave_lead(state) else set())
            continue
        fitting = {
            (PLAY, tile, end.name, face_down, outer)
            for tile in hand
            for end in state.layout.ends
            if end.gate == "open"
            for outer in ways(rules, tile, end.number)
            for face_down in ((False, True) if tile.double and rules.face_down else (False,))
        }
        if state.tiles_laid:
            followers = rules.may_follow(state.layout, hand)
            fitting = {play for play in fitting if play[1] in followers}
        assert plays == fitting
        if plays:
            leaves = not state.layout.ends and rules.may_leave_lead(state)
            assert (
                others == {PASS}
                if leaves
                else others == ({DONE} if state.tiles_laid else {PASS} if state.drew and rules.drawing.keep else set())
            )
        else:
            can_draw = len(state.stock) > rules.reserve and (rules.drawing.again or not state.drew)
            assert others - {FLIP} == {DRAW if can_draw else PASS}
            assert (FLIP in others) == rules.may_flip(state)
            assert not state.tiles_laid


@law()
def test_what_happens_is_what_was_listed(match: Match) -> None:
    simple = {"draw": Drew, "pass": Passed, "done": Done, "flip": Flipped, "deal": Dealt}
    for step in match.steps:
        event, move = step.events[0], step.move
        if move.action == PLAY:
            assert move.tile is not None
            played = Played(step.seat, move.tile, move.end, move.face_down, move.points, move.ends_sum, move.outer)
            assert event == played
        else:
            assert type(event) is simple[move.action]
            assert getattr(event, "seat", step.seat) == step.seat


@law(matches=10)
def test_the_points_that_somebody_claims_are_ignored(match: Match) -> None:
    for step in match.some_steps(20):
        claimed = step.move._replace(ends_sum=5, points=1000)
        assert advance(match.rules, match.deck, step.before, step.seat, move=claimed) == (step.events, step.after)


@law()
def test_in_a_running_round_exactly_the_seat_to_move_has_moves(match: Match) -> None:
    for state in match.states:
        movers = [seat for seat in match.seats if legal_moves(match.rules, state, seat)]
        if state.phase == PLAYING:
            assert movers == [state.turn]
            assert state.hands[movers[0]]
        else:
            assert state.turn is None
            assert movers == (list(state.active_seats()) if state.phase == ROUND_OVER else [])
            assert all(legal_moves(match.rules, state, seat) == (DEAL,) for seat in movers)


@law()
def test_a_seat_that_is_out_never_moves(match: Match) -> None:
    for step in match.steps:
        assert not step.before.eliminated_round[step.seat]
        for seat in match.seats:
            if step.before.eliminated_round[seat]:
                assert legal_moves(match.rules, step.before, seat) == ()


def goes_on(match: Match, step: Step) -> bool:
    """Whether the turn goes on after this step: a tile may follow, or the draw may be placed or repeated."""
    rules, layout, event = match.rules, step.after.layout, step.events[0]
    if isinstance(event, Played):
        return fits(rules, layout, rules.may_follow(layout, step.after.hands[step.seat]))
    if isinstance(event, Drew):
        return rules.drawing.place if fits(rules, layout, (event.tile,)) else rules.drawing.again
    return False


@law()
def test_the_turn_passes_clockwise_to_the_next_seat_with_tiles(match: Match) -> None:
    for step in match.steps:
        if step.after.phase == PLAYING and not isinstance(step.events[0], Dealt):
            others = [(step.seat + by) % len(match.seats) for by in range(1, len(match.seats) + 1)]
            following = next(seat for seat in others if step.after.hands[seat])
            assert step.after.turn == (step.seat if goes_on(match, step) else following)


@law()
def test_a_state_knows_what_was_laid_and_drawn_in_this_turn(match: Match) -> None:
    laid, drew = 0, False
    for step in match.steps:
        assert (step.before.tiles_laid, step.before.drew) == (laid, drew)
        laid += isinstance(step.events[0], Played)
        drew |= isinstance(step.events[0], Drew)
        if step.after.phase != PLAYING or not goes_on(match, step):
            laid, drew = 0, False


@law()
def test_only_deals_and_results_change_the_facts_of_the_match(match: Match) -> None:
    for before, event, after in match.happenings:
        if isinstance(event, (Played, Drew, Passed, Done, Flipped)):
            assert [getattr(after, fact) for fact in MATCH_FACTS] == [getattr(before, fact) for fact in MATCH_FACTS]


@law()
def test_the_fast_update_of_a_state_does_what_replace_does(match: Match) -> None:
    for before, _, after in match.happenings:
        running = after._asdict()
        for fact in MATCH_FACTS:
            del running[fact]
        assert before.after_move(**running) == before._replace(**running)


@law(matches=60)
def test_only_the_second_player_on_the_first_turn_may_turn_the_lead_over(match: Match) -> None:
    turns: list[int] = []
    for step in match.steps:
        state = step.before
        if FLIP in legal_moves(match.rules, state, step.seat):
            assert len(state.layout.placements) == 1
            assert turns == [state.opener]
            in_play = state.active_seats()
            assert step.seat == in_play[(in_play.index(turns[0]) + 1) % len(in_play)]
        if isinstance(step.events[0], Dealt):
            turns = []
        elif step.after.turn != step.seat:
            turns.append(step.seat)


@law()
def test_with_more_than_the_lead_on_the_table_it_may_not_be_turned_over(match: Match) -> None:
    """Whoever is to move, and even if nothing in hand fits; with the lead alone only the second player may."""
    for state in match.some_states(25):
        if state.phase == PLAYING and state.layout.placements:
            in_play = state.active_seats()
            second = in_play[(in_play.index(state.layout.placements[0].seat) + 1) % len(in_play)]
            for seat in in_play:
                unfit = tuple([tile for tile in state.hands[seat] if not fits(match.rules, state.layout, (tile,))])
                hands = (*state.hands[:seat], unfit, *state.hands[seat + 1 :])
                asked = state._replace(turn=seat, tiles_laid=0, drew=False, hands=hands)
                if FLIP in legal_moves(match.rules, asked, seat):
                    assert len(state.layout.placements) == 1
                    assert seat == second
