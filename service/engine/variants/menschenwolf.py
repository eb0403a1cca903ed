"""Der Mensch ist des Menschen Wolf: a mother tile, a flip, and one loser who gets all points (rules 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.layout import LayoutForm
from service.engine.options import Option, Options
from service.engine.rules.ending import all_ends_closed, best_seats, doubles_after_a_double, flipped, last_side_standing
from service.engine.rules.opening import first_face_up, first_held, highest_double_or_heaviest
from service.engine.rules.scoring import format_hand, format_sum, round_result
from service.engine.state import Hand, State
from service.engine.tiles import double_set, parse_tile, pips
from service.engine.variant import Opening, PlayerRange, Rules, ScoreRound, Variant, Verdict, first_seat_out

_HANDS: Final = {2: 7, 3: 9, 4: 7, 5: 5, 6: 4, 7: 4, 8: 3, 9: 3, 10: 2, 11: 2, 12: 2, 13: 2}
"""The size of a hand, by the number of players (rules 2.1)."""
_HIDDEN: Final = 2
"""The number of tiles of the stock that stay hidden and out of play (rules 2.2)."""
_ONE_TWO: Final = parse_tile("1-2")
_ZEROS: Final = parse_tile("0-0")
_SIXES: Final = parse_tile("6-6")


def _build(options: Options, seats: int) -> Rules:
    return Rules(
        seats=seats,
        settings=options,
        tiles=double_set(6),
        hand_size=lambda players: _HANDS.get(players, 0),
        reserve=_HIDDEN,
        opening=_opening,
        form=LayoutForm(line_ends=()),
        branching=first_face_up,
        face_down=True,
        may_follow=doubles_after_a_double,
        may_flip=_may_flip,
        end_checks=(flipped, first_seat_out, all_ends_closed),  # a flip also closes every end
        hand_value=_hand_value,
        score_round=_score_round(others_write_own=options["others_write_own"]),
        match_end=_match_end(options["limit"]),
        carries="loser",
        dealer=_dealer,
    )


def _opening(state: State) -> Opening | None:
    """Let 1-2 lead, else the highest double, else the heaviest tile; later the last winner, any tile (rules 2.3)."""
    if state.round > 1:
        seat = state.clockwise(state.next_leader)[0]
        return Opening(seat, state.hands[seat])
    return first_held(state, (_ONE_TWO,)) or highest_double_or_heaviest(state)


def _may_flip(state: State) -> bool:
    """Return whether the second player is to move and only the lead lies (rules 2.8).

    With one tile on the table, this is always the first turn of that player: before a second turn, all players would
    have passed, and the round would be over.
    """
    return len(state.layout.placements) == 1 and state.turn == state.clockwise(state.opener)[1]


def _hand_value(hand: Hand) -> int:
    """Return the pips; 0-0 counts 10, and a hand of only 6-6 counts 50 (rules 2.10)."""
    if hand == (_SIXES,):
        return 50
    return pips(hand) + (10 if _ZEROS in hand else 0)


def _score_round(*, others_write_own: bool) -> ScoreRound:
    """Return the scoring of a round: a single loser gets the points of all hands and the carry (rules 2.11)."""

    def score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        values = [hand.value for hand in hands]
        highest = max(values)
        losers = [hand.seat for hand in hands if hand.value == highest]
        loser = losers[0] if len(losers) == 1 else None
        lines: list[ScoreLine] = []
        if loser is not None:
            lines.append(ScoreLine(loser, sum(values), "2.11", format_sum(values)))
            if state.carry:
                lines.append(ScoreLine(loser, state.carry, "2.11", f"{state.carry} carried over"))
            if others_write_own:
                lines += [
                    ScoreLine(hand.seat, hand.value, "2.10", format_hand(hand)) for hand in hands if hand.seat != loser
                ]
        card = round_result(state, ended_by, hands, lines, loser=loser, carried=sum(values) if loser is None else 0)
        return card._replace(winner=_winner(state, hands))

    return score_round


def _winner(state: State, hands: tuple[RemainingHand, ...]) -> int:
    """Return the seat that went out, else the lightest hand; tied: the first from the opener (rules 2.15)."""
    if state.went_out_first is not None:
        return state.went_out_first
    value = {hand.seat: hand.value for hand in hands}
    return min(state.clockwise(state.opener), key=value.__getitem__)


def _match_end(limit: int) -> Callable[[State], Verdict]:
    """Eliminate seats over the limit; the last one wins; a hand of only 0-0 ends the match (rules 2.12, 2.13, 2.14)."""

    def match_end(state: State) -> Verdict:
        verdict = last_side_standing(state, lambda total: total > limit)
        if verdict.winners or (_ZEROS,) not in state.hands:
            return verdict
        remaining = [seat for seat in state.active_seats() if seat not in verdict.eliminated]
        return Verdict(verdict.eliminated, best_seats(state, remaining, "lowest"))

    return match_end


def _dealer(state: State) -> int | None:
    """Return the seat with the highest total; tied: the first clockwise from the opener (rules 2.15)."""
    return max(state.clockwise(state.opener), key=state.totals.__getitem__)


VARIANT: Final = Variant(
    key="menschenwolf",
    players=PlayerRange(min(_HANDS), max(_HANDS)),
    best="lowest",
    difficulty=3,
    minutes=15,
    build=_build,
    options=(
        Option(key="limit", default=100, low=1, high=1000),
        Option(key="others_write_own", default=False, values=(False, True)),
    ),
)
