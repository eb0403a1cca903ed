"""Sebastopol: four players, who first cover the four sides of 6-6 (rules 12)."""

from __future__ import annotations

from typing import Final

from service.engine.layout import LEAD_COVERED, LayoutForm
from service.engine.options import Options
from service.engine.rules.common_options import blocked_score_option, target_option
from service.engine.rules.ending import total_reached
from service.engine.rules.opening import highest_double, lead_only
from service.engine.rules.scoring import WinnerTakes
from service.engine.tiles import double_set
from service.engine.variant import Alias, PlayerRange, Rules, Variant

_SEATS: Final = 4
_SET: Final = double_set(6)
_HAND: Final = len(_SET) // _SEATS
"""The whole set is dealt, so that a hand always has 6-6, which leads (rules 12.1, 12.2)."""


def _build(options: Options, seats: int) -> Rules:
    return Rules(
        seats=seats,
        settings=options,
        tiles=_SET,
        hand_size=lambda players: _HAND if players == _SEATS else 0,
        opening=highest_double,
        form=LayoutForm(line_ends=(), gates=LEAD_COVERED),
        branching=lead_only,
        reserve=len(_SET),
        score_round=WinnerTakes("12.5", "12.5", options["blocked_score"]).result,
        match_end=total_reached(options["target"], "highest"),
    )


VARIANT: Final = Variant(
    key="sebastopol",
    players=PlayerRange(_SEATS, _SEATS),
    build=_build,
    options=(blocked_score_option("minus_own", "others", "all"), target_option(60)),
    aliases=(Alias("Севастополь", "ru"),),
    difficulty=2,
    minutes=18,
)
