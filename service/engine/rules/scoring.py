"""The value of an end, the result of a round from its score lines, and the text of their arithmetic."""

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
    """Return the result with these score lines; the winner is the seat that went out first, or ``None``."""
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
    """Return the score lines of the tiles that scored in this round; one for each seat of the side."""
    return [ScoreLine(score.seat, score.points, rule, arithmetic(score)) for score in state.placements_scored]


class WinnerTakes(NamedTuple):
    """The scoring in which the winning side gets the pips of the other sides (rules A12, 6.5).

    If a player went out, the hand of the partner does not count. A blocked round is won by the side with the fewest
    pips; if several sides have the fewest, nobody wins.
    """

    out_rule: str
    """The number of the rule in the score lines, if a player went out."""
    blocked_rule: str
    """The number of the rule in the score lines of a blocked round."""
    blocked_score: str
    """The score of a blocked round: ``others``: the pips of the other sides; ``minus_own``: these minus the winner's
    own pips; ``all``: the pips of all hands."""
    teams: int = 0
    round_hand: Callable[[int], int] = int
    """Rounds the pips of each hand before they are added."""
    round_total: Callable[[int], int] = int
    """Rounds the sum."""

    def result(self, state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        """Return the result of a round in which nothing else scores."""
        return round_result(state, ended_by, hands, self.lines(state, ended_by, hands))

    def lines(self, state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> list[ScoreLine]:
        """Return a score line for each seat of the winning side; none if nobody wins."""
        teams, went_out = self.teams, ended_by == "out"
        if went_out:
            assert state.went_out_first is not None
            winner: int | None = side_number(state.went_out_first, teams)
        else:
            winner = lightest_side(hands, teams)
        if winner is None:
            return []
        own = [self.round_hand(hand.value) for hand in hands if side_number(hand.seat, teams) == winner]
        counted = [self.round_hand(hand.value) for hand in hands if side_number(hand.seat, teams) != winner]
        minus = 0
        if not went_out and self.blocked_score == "all":
            counted += own
        elif not went_out and self.blocked_score == "minus_own":
            minus = sum(own)
        total = sum(counted) - minus
        points = max(0, self.round_total(total))
        text = format_sum(counted) + (f" − {minus}" if minus else "") + ("" if points == total else f" → {points}")
        rule = self.out_rule if went_out else self.blocked_rule
        return [ScoreLine(hand.seat, points, rule, text) for hand in hands if side_number(hand.seat, teams) == winner]


def side_number(seat: int, teams: int) -> int:
    """Return the team of this seat; without teams, the seat itself."""
    return seat % teams if teams else seat


def values_by_side(hands: Iterable[RemainingHand], teams: int) -> dict[int, int]:
    """Return the value that each side has in hand."""
    values: dict[int, int] = {}
    for hand in hands:
        side = side_number(hand.seat, teams)
        values[side] = values.get(side, 0) + hand.value
    return values


def lightest_side(hands: Iterable[RemainingHand], teams: int = 0) -> int | None:
    """Return the side (a team or a seat) with the lowest value in hand; ``None`` if several have it (rules A12)."""
    values = values_by_side(hands, teams)
    lowest = min(values.values())
    lightest = [side for side, value in values.items() if value == lowest]
    return lightest[0] if len(lightest) == 1 else None


def lightest_seat(state: State, hands: Iterable[RemainingHand], teams: int = 0) -> int | None:
    """Return the seat with the lightest hand; ``None`` if several sides have one (rules 10.5, 16.5, 16.12).

    If both partners have one, return the first clockwise from this round's leader.
    """
    values = {hand.seat: hand.value for hand in hands}
    lowest = min(values.values())
    seats = [seat for seat in state.clockwise(state.opener) if values[seat] == lowest]
    return seats[0] if len({side_number(seat, teams) for seat in seats}) == 1 else None


def format_sum(numbers: Iterable[int]) -> str:
    """Return the text of a sum, ``14 + 50 + 7``; ``0`` if there are no numbers."""
    return " + ".join([str(number) for number in numbers]) or "0"


def format_hand(hand: RemainingHand) -> str:
    """Return the tiles of a hand and its value, which can differ from its pips: ``5-6, 1-2 = 14``."""
    return f"{', '.join([tile.name for tile in hand.tiles]) or 'no tiles'} = {hand.value}"


# Answers to ``LayoutForm.end_value``; ``layout.EndValue`` explains the arguments.


def all_but_long_sides(number: int, side: Side, _paired: bool) -> int:
    """Return the number of the end; 0 for the long side of a double (rules 3.5)."""
    return 0 if side == LONG else number


def double_both_halves(number: int, side: Side, paired: bool) -> int:
    """Return the number of the end; a double with a free long side counts both halves, once (rules 8.7, 9.5).

    A short side counts nothing.
    """
    if side == END:
        return number
    if side == LONG:
        return number if paired else 2 * number
    return 0
