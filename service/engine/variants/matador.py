"""Matador: touching halves add up to 7, and four tiles fit everywhere (rules 14)."""

from __future__ import annotations

from typing import Final

from service.engine.layout import LayoutForm
from service.engine.options import Options
from service.engine.rules.common_options import (
    blocked_score_option,
    hand_option,
    opening_option,
    reserve_option,
    target_option,
    teams_option,
    with_defaults,
)
from service.engine.rules.ending import total_reached
from service.engine.rules.opening import OPENINGS, seven_or_a_matador
from service.engine.rules.scoring import WinnerTakes
from service.engine.tiles import double_set
from service.engine.variant import Alias, PlayerRange, Rules, Variant

_SET: Final = double_set(6)
_HANDS: Final = {2: 7, 3: 6, 4: 5}
"""The size of a hand, by the number of players (rules 14.2)."""


def _build(options: Options, seats: int) -> Rules:
    settings = with_defaults(options, seats, len(_SET), hand=_HANDS[seats])
    return Rules(
        seats=seats,
        settings=settings,
        tiles=_SET,
        hand_size=lambda players: settings["hand"] if players == seats else 0,
        opening=OPENINGS[settings["opening"]],
        form=LayoutForm(wants=seven_or_a_matador, doubles_across=False),
        reserve=settings["reserve"],
        score_round=WinnerTakes("14.9", "14.9", settings["blocked_score"], settings["teams"]).result,
        match_end=total_reached(settings["target"], "highest"),
        teams=settings["teams"],
    )


VARIANT: Final = Variant(
    key="matador",
    players=PlayerRange(2, 4),
    build=_build,
    options=(
        hand_option(_HANDS, 3, 9),
        reserve_option(2),
        opening_option("highest_double", "rotate", "winner"),
        blocked_score_option("minus_own", "others", "all"),
        target_option(100),
        teams_option(),
    ),
    aliases=(Alias("Russian dominoes", "en"), Alias("All Sevens", "en")),
    difficulty=2,
    minutes=9,
)
