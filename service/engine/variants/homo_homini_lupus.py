"""Homo homini lupus: four players without teams, one spinner, and doubles that close an arm (rules 1)."""

from __future__ import annotations

from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.layout import LayoutForm
from service.engine.options import Option, Options
from service.engine.rules.ending import after_rounds, all_ends_closed, nothing_left_fits
from service.engine.rules.opening import lead_only, lowest_double
from service.engine.rules.scoring import round_result
from service.engine.state import State
from service.engine.tiles import double_set
from service.engine.variant import PlayerRange, Rules, Variant, first_seat_out

_SEATS: Final = 4
_HAND: Final = 6
"""The size of a hand (rules 1.1)."""


def _build(options: Options, seats: int) -> Rules:
    return Rules(
        seats=seats,
        settings=options,
        tiles=double_set(6),
        hand_size=lambda players: _HAND if players == _SEATS else 0,
        opening=lowest_double,
        form=LayoutForm(line_ends=()),
        branching=lead_only,
        face_down=True,
        end_checks=(first_seat_out, all_ends_closed, nothing_left_fits),
        score_round=_score_round,
        match_end=after_rounds(options["rounds"]),
    )


def _score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
    """Return the scores: a hand of p pips gets (S/4 − p) × 100 = 25·S − 100·p; S: all pips in hands (rules 1.8)."""
    everything = sum([hand.value for hand in hands])
    lines = [
        ScoreLine(hand.seat, 25 * everything - 100 * hand.value, "1.8", f"({everything} ÷ 4 − {hand.value}) × 100")
        for hand in hands
    ]
    return round_result(state, ended_by, hands, lines)


VARIANT: Final = Variant(
    key="homo-homini-lupus",
    players=PlayerRange(_SEATS, _SEATS),
    difficulty=3,
    minutes=10,
    build=_build,
    options=(Option(key="rounds", default=4, low=1, high=100),),
)
