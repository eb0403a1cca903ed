"""Dominospiel, simple domino: several tiles in a turn, pips as points, and payments at the end (rules 4)."""

from __future__ import annotations

from typing import Final

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.options import Option, Options
from service.engine.rules.ending import ONE_AND_GO_ON, all_seats_out, any_number, total_reached
from service.engine.rules.opening import lowest_double
from service.engine.rules.scoring import format_hand, round_result
from service.engine.rules.settlement import average, difference, fixed
from service.engine.state import State
from service.engine.tiles import double_set, pips, sort_tiles
from service.engine.variant import PlayerRange, Rules, ScoreRound, Variant, first_seat_out

_PLAYERS: Final = PlayerRange(2, 7)
_SET: Final = double_set(6)
"""All players get the same number of tiles; only the rest is the stock (rules 4.1)."""


def _build(options: Options, seats: int) -> Rules:
    first_out = options["round_end"] == "first_out"
    settlements = {"average": average, "difference": difference, "fixed": fixed(options["stake"])}
    return Rules(
        seats=seats,
        settings=options,
        tiles=_SET,
        hand_size=lambda players: len(_SET) // players if _PLAYERS.low <= players <= _PLAYERS.high else 0,
        opening=lowest_double,
        may_follow=any_number,
        drawing=ONE_AND_GO_ON,
        end_checks=(first_seat_out if first_out else all_seats_out,),
        score_round=_score_round(loser_writes_stock=first_out),
        match_end=total_reached(options["limit"], "lowest"),
        settlement=settlements[options["settlement"]],
    )


def _score_round(*, loser_writes_stock: bool) -> ScoreRound:
    """Return the scoring of a round: each seat gets the pips of its hand (rules 4.6).

    ``loser_writes_stock``: the seat with most pips also gets those of the stock; so does each of several tied seats.
    """

    def score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        lines = [ScoreLine(hand.seat, hand.value, "4.6", format_hand(hand)) for hand in hands if hand.tiles]
        stock = pips(state.stock)
        if loser_writes_stock and stock:
            highest = max(hand.value for hand in hands)
            text = f"stock: {', '.join([tile.name for tile in sort_tiles(state.stock)])} = {stock}"
            lines += [ScoreLine(hand.seat, stock, "4.6", text) for hand in hands if hand.value == highest]
        return round_result(state, ended_by, hands, lines)

    return score_round


VARIANT: Final = Variant(
    key="dominospiel",
    players=_PLAYERS,
    best="lowest",
    difficulty=1,
    minutes=25,
    build=_build,
    options=(
        Option(key="limit", default=50, low=1, high=1000),
        Option(key="round_end", default="play_on", values=("play_on", "first_out")),
        Option(key="settlement", default="average", values=("average", "difference", "fixed")),
        Option(key="stake", default=1, low=1, high=1000),
    ),
)
