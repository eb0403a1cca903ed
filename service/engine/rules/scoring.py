"""What an end counts, the result of a round from its score lines, and the text of their arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.layout import END, LONG, Side
from service.engine.state import PlacementScore, State


def round_result(
    state: State,
    ended_by: EndReason,
    hands: tuple[RemainingHand, ...],
    lines: Iterable[ScoreLine],
    *,
    loser: int | None = None,
    carried: int = 0,
) -> RoundResult:
    """The result that these score lines add up to; its winner is the seat that went out first, ``None`` if none did."""
    lines = tuple(lines)
    scores = [0] * len(state.hands)
    for line in lines:
        scores[line.seat] += line.points
    return RoundResult(
        number=state.round,
        ended_by=ended_by,
        winner=state.went_out_first,
        loser=loser,
        hands=hands,
        scores=tuple(scores),
        lines=lines,
        carried=carried,
    )


def placement_lines(state: State, rule: str, arithmetic: Callable[[PlacementScore], str]) -> list[ScoreLine]:
    """A line for every placement of the round that scored, once for each seat of its side."""
    return [ScoreLine(score.seat, score.points, rule, arithmetic(score)) for score in state.placements_scored]


class WinnerTakes(NamedTuple):
    """The count in which the winning side scores the pips of all other sides (rules A12, 6.5).

    When a player went out, the partner's hand counts for nobody. A blocked round is won by the side that alone has the
    fewest pips; ``blocked_score``: with ``others`` it scores the pips of the others, with ``minus_own`` these less its
    own, with ``all`` those of all hands.
    """

    out_rule: str
    blocked_rule: str
    """The rules on the score card for the two cases."""
    blocked_score: str
    teams: int = 0
    round_hand: Callable[[int], int] = int
    """Applied to the pips of each hand before they are added."""
    round_total: Callable[[int], int] = int
    """Applied to what the hands come to."""

    def result(self, state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        """The result of a round in which nothing else scores."""
        return round_result(state, ended_by, hands, self.lines(state, ended_by, hands))

    def lines(self, state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> list[ScoreLine]:
        """The line of each seat of the winning side; none if nobody wins."""
        teams, went_out = self.teams, ended_by == "out"
        if went_out:
            assert state.went_out_first is not None
            winner: int | None = side_number(state.went_out_first, teams)
        else:
            winner = lightest_side(hands, teams)
        if winner is None:
            return []
        own = [self.round_hand(left.value) for left in hands if side_number(left.seat, teams) == winner]
        taken = [self.round_hand(left.value) for left in hands if side_number(left.seat, teams) != winner]
        less = 0
        if not went_out and self.blocked_score == "all":
            taken += own
        elif not went_out and self.blocked_score == "minus_own":
            less = sum(own)
        come_to = sum(taken) - less
        points = max(0, self.round_total(come_to))
        text = format_sum(taken) + (f" − {less}" if less else "") + ("" if points == come_to else f" → {points}")
        rule = self.out_rule if went_out else self.blocked_rule
        return [ScoreLine(left.seat, points, rule, text) for left in hands if side_number(left.seat, teams) == winner]


def side_number(seat: int, teams: int) -> int:
    """The team of this seat, or without teams the seat itself."""
    return seat % teams if teams else seat


def lightest_side(hands: Iterable[RemainingHand], teams: int) -> int | None:
    """The team or seat that alone has the lowest value in hand; ``None`` if several have it (rules A12)."""
    values: dict[int, int] = {}
    for left in hands:
        side = side_number(left.seat, teams)
        values[side] = values.get(side, 0) + left.value
    lowest = min(values.values())
    lightest = [side for side, value in values.items() if value == lowest]
    return lightest[0] if len(lightest) == 1 else None


def lightest_seat(state: State, hands: Iterable[RemainingHand], teams: int) -> int | None:
    """The seat with the lightest hand; of partners who share it the first clockwise from this round's leader.

    ``None`` if several sides share it (rules 10.5, 16.5, 16.12).
    """
    values = {left.seat: left.value for left in hands}
    lowest = min(values.values())
    assert state.opener is not None
    seats = [seat for seat in state.clockwise(state.opener) if values[seat] == lowest]
    return seats[0] if len({side_number(seat, teams) for seat in seats}) == 1 else None


def format_sum(numbers: Iterable[int]) -> str:
    """Numbers as a sum, ``14 + 50 + 7``; ``0`` if there are none."""
    return " + ".join([str(number) for number in numbers]) or "0"


def format_hand(left: RemainingHand) -> str:
    """The tiles of a hand and its value, which may differ from its pips: ``5-6, 1-2 = 14``."""
    return f"{', '.join([tile.name for tile in left.tiles]) or 'no tiles'} = {left.value}"


# What an end counts, in the games that count ends; ``layout.EndValue`` explains the arguments.


def all_but_long_sides(number: int, side: Side, _paired: bool) -> int:
    """Its number; but the long side of a double counts nothing (rules 3.5)."""
    return 0 if side == LONG else number


def double_both_halves(number: int, side: Side, paired: bool) -> int:
    """Its number; a double with an uncovered long side both its halves, once; a short side nothing (rules 8.7, 9.5)."""
    if side == END:
        return number
    if side == LONG:
        return number if paired else 2 * number
    return 0
