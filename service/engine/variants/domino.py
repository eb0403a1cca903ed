"""Dominó: a line with two ends, played to a limit, alone or in teams (rules 5)."""

from __future__ import annotations

from typing import Final

from service.engine.errors import InvalidSetup, Reason
from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.options import Option, Options
from service.engine.rules.ending import ONE_TO_PLACE_OR_KEEP, last_side_standing
from service.engine.rules.opening import any_double_of_the_highest_holder
from service.engine.rules.scoring import format_hand, round_result, side_number
from service.engine.state import Hand, State
from service.engine.tiles import double_set, parse_tile, pips
from service.engine.variant import PlayerRange, Rules, ScoreRound, Variant

_DOUBLE_SIX: Final = 6
_MAX_ON_DOUBLE_SIX: Final = 4
_TEAM_SIZES: Final = {2: (2, 3, 4, 5), 3: (2, 3), 4: (2,), 5: (2,)}
"""The possible sizes of a team, by the number of teams (rules 5.9)."""
_ZEROS: Final = parse_tile("0-0")


def _build(options: Options, seats: int) -> Rules:
    highest, limit, teams = options["set"], options["limit"], options["teams"]
    tiles = double_set(highest)
    size = options["hand"] or _default_hand(highest, seats)
    errors = {}
    if highest == _DOUBLE_SIX and seats > _MAX_ON_DOUBLE_SIX:
        errors["options.set"] = [Reason("set_too_small", {"players": seats, "max": _MAX_ON_DOUBLE_SIX})]
    elif size * seats > len(tiles):
        errors["options.hand"] = [Reason("hands_too_large", {"players": seats, "hand": size, "max": len(tiles)})]
    if teams and (seats % teams or seats // teams not in _TEAM_SIZES[teams]):
        errors["options.teams"] = [Reason("no_such_teams", {"players": seats, "teams": teams})]
    if errors:
        raise InvalidSetup(errors)
    return Rules(
        seats=seats,
        settings={**options, "hand": size},
        tiles=tiles,
        hand_size=lambda players: size if 2 <= players <= seats else 0,
        opening=any_double_of_the_highest_holder,
        drawing=ONE_TO_PLACE_OR_KEEP,
        hand_value=_hand_value,
        score_round=_score_round(teams),
        match_end=lambda state: last_side_standing(state, lambda total: total >= limit, teams),
        teams=teams,
    )


def _default_hand(highest: int, seats: int) -> int:
    """Return the default size of a hand: 7; on double-nine 6 for six or seven players, 5 for more (rules 5.2)."""
    if highest != 9 or seats <= 5:
        return 7
    return 6 if seats <= 7 else 5


def _hand_value(hand: Hand) -> int:
    """Return the pips; a hand of only 0-0 counts 10 (rules 5.7)."""
    return 10 if hand == (_ZEROS,) else pips(hand)


def _score_round(teams: int) -> ScoreRound:
    """Return the scoring of a round: each side writes its own hands.

    If a player went out, that player's side writes 0, and all others also write the hands left on that side. The lines
    name rules 5.7, or with teams 5.9.
    """
    rule = "5.9" if teams else "5.7"

    def score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        sides = [side_number(seat, teams) for seat in range(len(state.hands))]
        finisher = None if state.went_out_first is None else sides[state.went_out_first]
        unfinished = [hand for hand in hands if hand.tiles]
        lines = [
            ScoreLine(seat, hand.value, rule, (f"seat {hand.seat}: " if teams else "") + format_hand(hand))
            for seat in state.active_seats()
            if sides[seat] != finisher
            for hand in unfinished
            if sides[hand.seat] == sides[seat] or sides[hand.seat] == finisher
        ]
        return round_result(state, ended_by, hands, lines)

    return score_round


VARIANT: Final = Variant(
    key="domino",
    players=PlayerRange(2, 10),
    best="lowest",
    difficulty=1,
    minutes=35,
    build=_build,
    options=(
        Option(key="set", default=6, values=(6, 9, 12)),
        Option(key="hand", default=None, low=5, high=7),
        Option(key="limit", default=100, low=1, high=1000),
        Option(key="teams", default=0, values=(0, 2, 3, 4, 5)),
    ),
)
