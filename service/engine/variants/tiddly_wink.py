"""Tiddly-Wink: five to nine players with three tiles each, and a line with one end (rules 13)."""

from __future__ import annotations

from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.layout import LEFT, RIGHT, LayoutForm
from service.engine.options import Option, Options
from service.engine.rules.ending import after_rounds, any_tile_after_a_double
from service.engine.rules.opening import highest_double
from service.engine.rules.scoring import WinnerTakes, lightest_side, round_result
from service.engine.state import State
from service.engine.tiles import double_set
from service.engine.variant import Alias, PlayerRange, Rules, ScoreRound, Variant

_PLAYERS: Final = PlayerRange(5, 9)
_SET: Final = double_set(6)
_HAND: Final = 3
"""The size of a hand in the American game; the British game deals as many as divide evenly (rules 13.1, 13.8)."""


def _build(options: Options, seats: int) -> Rules:
    british = options["version"] == "british"
    hand = len(_SET) // seats if british else _HAND
    by_pips = WinnerTakes("13.7", "13.7", "others")
    return Rules(
        seats=seats,
        settings=options,
        tiles=_SET,
        hand_size=lambda players: hand if players == seats else 0,
        opening=highest_double,
        form=LayoutForm(line_ends=(LEFT, RIGHT) if british else (RIGHT,)),
        may_follow=any_tile_after_a_double,
        reserve=len(_SET),
        score_round=_pool(options["stake"]) if options["scoring"] == "pool" else by_pips.result,
        match_end=after_rounds(options["rounds"]),
    )


def _pool(stake: int) -> ScoreRound:
    """Return the scoring of a round: the others pay their stakes to the winner, if there is one (rules 13.6, 13.7)."""

    def score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        winner = state.went_out_first if ended_by == "out" else lightest_side(hands)
        others = len(hands) - 1
        lines = [
            ScoreLine(hand.seat, stake * others, "13.7", f"{stake} × {others}")
            if hand.seat == winner
            else ScoreLine(hand.seat, -stake, "13.7", f"0 − {stake}")
            for hand in hands
        ]
        return round_result(state, ended_by, hands, lines if winner is not None else ())

    return score_round


VARIANT: Final = Variant(
    key="tiddly-wink",
    players=_PLAYERS,
    build=_build,
    options=(
        Option(key="version", default="american", values=("american", "british")),
        Option(key="scoring", default="pool", values=("pool", "pips")),
        Option(key="stake", default=1, low=1, high=1000),
        Option(key="rounds", default=10, low=1, high=100),
    ),
    aliases=(Alias("Tiddle-a-wink", "en"),),
    difficulty=2,
    minutes=14,
)
