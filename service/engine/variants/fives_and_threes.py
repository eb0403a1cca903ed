"""Fives and Threes, 5s & 3s: points if three or five divides the sum of the ends, to exactly 61 (rules 9)."""

from __future__ import annotations

from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.layout import End, LayoutForm
from service.engine.options import Option, Options
from service.engine.rules.common_options import hand_option, opening_option, target_option, teams_option, with_defaults
from service.engine.rules.ending import side_out, target_reached, total_reached
from service.engine.rules.opening import OPENINGS
from service.engine.rules.scoring import double_both_halves, round_result
from service.engine.state import PlacementScore, State
from service.engine.tiles import Tile, double_set
from service.engine.variant import Alias, PlayerRange, Points, Rules, Variant

_SET: Final = double_set(6)
_HANDS: Final = {2: 7, 3: 5, 4: 5}
"""The size of a hand, by the number of players (rules 9.2)."""
_DIVISORS: Final = (3, 5)


def _build(options: Options, seats: int) -> Rules:
    settings = with_defaults(options, seats, len(_SET), hand=_HANDS[seats])
    target, teams = settings["target"], settings["teams"]
    return Rules(
        seats=seats,
        settings=settings,
        tiles=_SET,
        hand_size=lambda players: settings["hand"] if players == seats else 0,
        opening=OPENINGS[settings["opening"]],
        reserve=len(_SET),
        form=LayoutForm(end_value=double_both_halves),
        points=_points(target if settings["exact"] else None, teams),
        end_checks=(target_reached(target), side_out(teams)),
        score_round=_score_round,
        match_end=total_reached(target, "highest"),
        teams=teams,
    )


def _points(exactly: int | None, teams: int) -> Points:
    """Return the points of a play: the quotients of the sum, and 1 for the last tile of a side (rules 9.6, 9.7).

    ``exactly``: the target; a play that would pass it scores nothing (rules 9.9).
    """

    def points(state: State, _tile: Tile, _end: End | None, ends_sum: int | None) -> int:
        seat = state.turn
        assert seat is not None
        assert ends_sum is not None
        hands = state.hands
        tiles_left = sum([len(hand) for hand in hands[seat % teams :: teams]]) if teams else len(hands[seat])
        scored = sum([ends_sum // divisor for divisor in _divisors(ends_sum)]) + (tiles_left == 1)
        if exactly is not None and state.running_totals()[seat] + scored > exactly:
            return 0
        return scored

    return points


def _divisors(ends_sum: int) -> list[int]:
    return [divisor for divisor in _DIVISORS if ends_sum % divisor == 0]


def _score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
    """Return the points of the plays; the winner laid the tile that ended the round (rules 9.8, 9.10)."""
    result = round_result(state, ended_by, hands, [_line(score) for score in state.placements_scored])
    return result._replace(winner=None if ended_by == "blocked" else state.layout.placements[-1].seat)


def _line(scored: PlacementScore) -> ScoreLine:
    """Return the score line of a play: of rules 9.7 if it has the point for the last tile, else of 9.6."""
    seat, ends_sum, points = scored
    assert ends_sum is not None
    divisors = _divisors(ends_sum) if ends_sum else []
    terms = [f"{ends_sum} ÷ {divisor}" for divisor in divisors]
    chips_out = points > sum([ends_sum // divisor for divisor in divisors])
    if chips_out:
        terms.append("1")
    return ScoreLine(seat, points, "9.7" if chips_out else "9.6", " + ".join(terms))


VARIANT: Final = Variant(
    key="fives-and-threes",
    players=PlayerRange(2, 4),
    build=_build,
    options=(
        hand_option(_HANDS, 3, 9),
        opening_option("rotate", "highest_double"),
        target_option(61),
        Option(key="exact", default=True, values=(True, False)),
        teams_option(),
    ),
    aliases=(Alias("5s & 3s", "en"), Alias("Threes and Fives", "en")),
    difficulty=3,
    minutes=23,
)
