"""The ranking of the seats in a match, the same for all games."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from service.engine.state import State
from service.engine.variant import ScoreOrder


def ranking(best: ScoreOrder, state: State, forfeited: AbstractSet[int] = frozenset()) -> tuple[int, ...]:
    """Return the rank of each seat, from 1. Tied seats share a rank, and the ranks after it are skipped (1, 1, 3).

    Seats still in the match come first, then eliminated seats, the last eliminated first. Within a group, the totals
    decide. Seats that have ``forfeited`` come after all others.
    """
    totals = state.running_totals()
    sign = -1 if best == "highest" else 1

    def key(seat: int) -> tuple[bool, int, int]:
        eliminated = state.eliminated_round[seat]
        return (seat in forfeited, -eliminated if eliminated else -state.round - 1, sign * totals[seat])

    keys = [key(seat) for seat in range(len(totals))]
    return tuple([1 + sum(other < key for other in keys) for key in keys])
