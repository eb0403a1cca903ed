"""All Fives, Muggins: the sum of the open ends scores if five divides it (rules 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult
from service.engine.layout import BOTH_LONG_SIDES, LEFT, RIGHT, End, LayoutForm
from service.engine.options import Option, Options
from service.engine.rules.common_options import (
    blocked_score_option,
    hand_option,
    opening_option,
    reserve_option,
    target_option,
    teams_option,
    with_defaults,
)
from service.engine.rules.ending import target_reached, total_reached
from service.engine.rules.opening import OPENINGS, first_double
from service.engine.rules.scoring import WinnerTakes, double_both_halves, placement_lines, round_result
from service.engine.state import State
from service.engine.tiles import Tile, double_set
from service.engine.variant import Alias, PlayerRange, Rules, ScoreRound, Variant, first_seat_out, no_branches

_SET: Final = double_set(6)
_HANDS: Final = {2: 7, 3: 5, 4: 5}
_TARGETS: Final = {2: 250, 3: 200, 4: 200}
"""Both by the number of players (rules 8.2, 8.11)."""
_FIVE: Final = 5


def _build(options: Options, seats: int) -> Rules:
    settings = with_defaults(options, seats, len(_SET), hand=_HANDS[seats], target=_TARGETS[seats])
    reserve, target, teams = settings["reserve"], settings["target"], settings["teams"]
    branches, at_once = settings["spinner"] == "after_sides", settings["finish"] == "at_once"
    return Rules(
        seats=seats,
        settings=settings,
        tiles=_SET,
        hand_size=lambda players: settings["hand"] if players == seats else 0,
        opening=OPENINGS[settings["opening"]],
        form=LayoutForm(() if branches else (LEFT, RIGHT), double_both_halves, gates=BOTH_LONG_SIDES),
        branching=first_double if branches else no_branches,
        reserve=reserve,
        points=_points,
        end_checks=(target_reached(target), first_seat_out) if at_once else (first_seat_out,),
        score_round=_score_round(settings["blocked_score"], teams, _ROUNDINGS[settings["rounding"]]),
        match_end=total_reached(target, "highest"),
        teams=teams,
    )


def _points(_state: State, _tile: Tile, _end: End | None, ends_sum: int | None) -> int:
    """Return the sum of the ends if five divides it, else 0 (rules 8.8)."""
    assert ends_sum is not None
    return 0 if ends_sum % _FIVE else ends_sum


def _to_five(pips: int) -> int:
    """Return the nearest multiple of five (rules 8.9)."""
    return _FIVE * ((pips + 2) // _FIVE)


_Rounding = tuple[Callable[[int], int], Callable[[int], int]]
_ROUNDINGS: Final[Mapping[str, _Rounding]] = {"total": (int, _to_five), "each_hand": (_to_five, int)}
"""The functions that round a hand and the sum of the hands, by the word of the option (rules 8.9)."""


def _score_round(blocked_score: str, teams: int, rounding: _Rounding) -> ScoreRound:
    """Return the scoring of a round: the points of the plays, and the pips of the other sides (rules 8.9 to 8.11).

    The pips do not count if the target ended the round.
    """
    hands_count = WinnerTakes("8.9", "8.10", blocked_score, teams, *rounding)

    def score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        lines = placement_lines(state, "8.8", lambda score: str(score.ends_sum))
        if ended_by == "target":
            return round_result(state, ended_by, hands, lines)._replace(winner=state.layout.placements[-1].seat)
        return round_result(state, ended_by, hands, lines + hands_count.lines(state, ended_by, hands))

    return score_round


VARIANT: Final = Variant(
    key="all-fives",
    players=PlayerRange(2, 4),
    build=_build,
    options=(
        hand_option(_HANDS, 5, 9),
        reserve_option(0),
        opening_option("winner", "highest_double", "rotate"),
        Option(key="spinner", default="after_sides", values=("after_sides", "none")),
        Option(key="rounding", default="total", values=("total", "each_hand")),
        blocked_score_option("others", "minus_own"),
        target_option(None, low=50),
        Option(key="finish", default="round", values=("round", "at_once")),
        teams_option(),
    ),
    aliases=(Alias("Muggins", "en"), Alias("Fives Up", "en"), Alias("Bones", "en"), Alias("Sniffy", "en")),
    difficulty=3,
    minutes=16,
)
