"""Domino after FIDO, the points game: every double is a spinner, and sums of the ends score (rules 3)."""

from __future__ import annotations

from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.layout import End, LayoutForm
from service.engine.options import Option, Options
from service.engine.rules.ending import ONE_AND_WAIT, after_rounds
from service.engine.rules.opening import every_double, highest_double
from service.engine.rules.scoring import all_but_long_sides, placement_lines, round_result
from service.engine.state import State
from service.engine.tiles import Tile, double_set
from service.engine.variant import PlayerRange, Points, Rules, ScoreRound, Variant

_DIVISORS: Final = {6: 3, 9: 5, 12: 7, 15: 9, 18: 11}
_FEWEST: Final = 3
_HANDS: Final = {
    6: (7, 5, 4, 4, 3, 3, 2),
    9: (13, 11, 9, 7, 6, 6, 5),
    12: (22, 18, 15, 13, 11, 10, 9),
    15: (34, 27, 22, 19, 17, 15, 13),
    18: (47, 38, 31, 27, 23, 21, 19),
}
"""The size of a hand of three players, of four, … of nine, by the highest number of the set (rules 3.2)."""


def _build(options: Options, seats: int) -> Rules:
    highest = options["set"]
    divisor = _DIVISORS[highest]
    hands = dict(enumerate(_HANDS[highest], _FEWEST))
    return Rules(
        seats=seats,
        settings={**options, "divisor": divisor},
        tiles=double_set(highest),
        hand_size=lambda players: hands.get(players, 0),
        opening=highest_double,
        form=LayoutForm(line_ends=(), end_value=all_but_long_sides),
        branching=every_double,
        drawing=ONE_AND_WAIT,
        points=_points(divisor),
        score_round=_score_round(divisor),
        match_end=after_rounds(options["rounds"]),
        rows={tile: _row(tile, divisor) for tile in double_set(highest)},
    )


def _points(divisor: int) -> Points:
    """Return the points of a play: the quotient if the divisor divides the sum of the ends, else 0 (rules 3.6)."""

    def points(_state: State, _tile: Tile, _end: End | None, ends_sum: int | None) -> int:
        assert ends_sum is not None
        return 0 if ends_sum % divisor else ends_sum // divisor

    return points


def _score_round(divisor: int) -> ScoreRound:
    """Return the scoring of a round: the points of the plays minus the pips left in hand (rules 3.6, 3.8)."""

    def score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        lines = placement_lines(state, "3.6", lambda score: f"{score.ends_sum} ÷ {divisor}")
        lines += [ScoreLine(hand.seat, -hand.value, "3.8", f"0 − {hand.value}") for hand in hands if hand.value]
        return round_result(state, ended_by, hands, lines)

    return score_round


def _row(tile: Tile, divisor: int) -> int:
    """Return the row of a tile: the difference of its halves (a double: its number), modulo the divisor (rules 3.10).

    Row 0 is shown as the divisor.
    """
    return (tile.low if tile.double else tile.high - tile.low) % divisor or divisor


VARIANT: Final = Variant(
    key="fido",
    players=PlayerRange(_FEWEST, _FEWEST + len(_HANDS[6]) - 1),
    difficulty=3,
    minutes=7,
    build=_build,
    options=(Option(key="set", default=12, values=tuple(_DIVISORS)), Option(key="rounds", default=1, low=1, high=100)),
)
