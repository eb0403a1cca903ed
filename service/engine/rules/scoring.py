"""The result of a round from its score lines, and the text of their arithmetic."""

from __future__ import annotations

from collections.abc import Iterable

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.state import State


def round_result(
    state: State,
    ended_by: EndReason,
    hands: tuple[RemainingHand, ...],
    lines: Iterable[ScoreLine],
    *,
    loser: int | None = None,
    carried: int = 0,
) -> RoundResult:
    """The result that these score lines add up to; its winner is the seat that went out first, ``None`` if none did."""
    lines = tuple(lines)
    scores = [0] * len(state.hands)
    for line in lines:
        scores[line.seat] += line.points
    return RoundResult(
        number=state.round,
        ended_by=ended_by,
        winner=state.went_out_first,
        loser=loser,
        hands=hands,
        scores=tuple(scores),
        lines=lines,
        carried=carried,
    )


def format_sum(numbers: Iterable[int]) -> str:
    """Numbers as a sum, ``14 + 50 + 7``; ``0`` if there are none."""
    return " + ".join([str(number) for number in numbers]) or "0"


def format_hand(left: RemainingHand) -> str:
    """The tiles of a hand and its value, which may differ from its pips: ``5-6, 1-2 = 14``."""
    return f"{', '.join([tile.name for tile in left.tiles]) or 'no tiles'} = {left.value}"
