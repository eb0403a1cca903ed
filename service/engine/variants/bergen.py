"""Bergen: a line, and points for a tile that makes its two ends equal (rules 15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.layout import LONG, End
from service.engine.options import Option, Options
from service.engine.rules.common_options import fill_defaults, opening_option, reserve_option, target_option
from service.engine.rules.ending import total_reached
from service.engine.rules.opening import highest_double, lowest_double
from service.engine.rules.scoring import lightest_side, round_result
from service.engine.state import State
from service.engine.tiles import Tile, double_set, pips
from service.engine.variant import PlayerRange, Rules, ScoreRound, Variant

_SET: Final = double_set(6)
_HANDS: Final = {2: 6, 3: 6, 4: 5}
_TARGETS: Final = {2: 15, 3: 10, 4: 10}
"""Both by the number of players (rules 15.1, 15.9)."""

_DOUBLE_HEADING: Final = 2
_TRIPLE_HEADING: Final = 3
_HEADINGS: Final = {_DOUBLE_HEADING: "double-heading", _TRIPLE_HEADING: "triple-heading"}
_OPENINGS: Final = {"lowest_double": lowest_double, "highest_double": highest_double}
_Hands = tuple[RemainingHand, ...]


def _build(options: Options, seats: int) -> Rules:
    settings = fill_defaults(options, {"target": _TARGETS[seats]})
    return Rules(
        seats=seats,
        settings=settings,
        tiles=_SET,
        hand_size=lambda players: _HANDS[seats] if players == seats else 0,
        opening=_OPENINGS[settings["opening"]],
        reserve=settings["reserve"],
        points=_points,
        score_round=_score_round(settings["bonus"], _LIGHTEST[settings["blocked"]]),
        match_end=total_reached(settings["target"], "highest"),
    )


def _points(state: State, tile: Tile, end: End | None, _ends_sum: int | None) -> int:
    """Return 2 for equal ends, 3 if one of them is a double, else 0; the lead is both ends (rules 15.5, 15.6)."""
    if end is None:
        return _DOUBLE_HEADING
    left, right = state.layout.ends
    other = right if end.name == left.name else left
    if other.number != tile.other_half(end.number):
        return 0
    return _TRIPLE_HEADING if tile.double or other.side == LONG else _DOUBLE_HEADING


def _score_round(bonus: int, lightest: Callable[[_Hands], int | None]) -> ScoreRound:
    """Return the scoring of a round: the points of the plays, and a bonus for the winner (rules 15.7, 15.8)."""

    def score_round(state: State, ended_by: EndReason, hands: _Hands) -> RoundResult:
        lines = [
            ScoreLine(score.seat, score.points, "15.5" if place else "15.6", _HEADINGS[score.points])
            for place, score in enumerate(state.placements_scored)
        ]
        if ended_by == "out":
            assert state.went_out_first is not None
            lines.append(ScoreLine(state.went_out_first, bonus, "15.7", str(bonus)))
        elif (winner := lightest(hands)) is not None:
            lines.append(ScoreLine(winner, bonus, "15.8", str(bonus)))
        return round_result(state, ended_by, hands, lines)

    return score_round


def _lightest_without_doubles(hands: _Hands) -> int | None:
    """Return the lightest seat among hands without a double; if there is none, doubles do not count (rules 15.8)."""
    plain = tuple([hand for hand in hands if not any(tile.double for tile in hand.tiles)])
    return lightest_side(
        plain or tuple([hand._replace(value=pips(tile for tile in hand.tiles if not tile.double)) for hand in hands])
    )


_LIGHTEST: Final = {"lightest": lightest_side, "no_doubles": _lightest_without_doubles}
"""The functions that return the winner of a blocked round, by the word of the option (rules 15.8)."""


VARIANT: Final = Variant(
    key="bergen",
    players=PlayerRange(2, 4),
    build=_build,
    options=(
        opening_option("lowest_double", "highest_double"),
        reserve_option(2),
        Option(key="bonus", default=1, values=(1, 2)),
        Option(key="blocked", default="lightest", values=("lightest", "no_doubles")),
        target_option(None, high=100),
    ),
    difficulty=2,
    minutes=10,
)
