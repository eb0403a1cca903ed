"""What is told of the luck of a game, as plain values, ready for JSON."""

from __future__ import annotations

from service.games.fairness import Fairness, RoundFairness
from service.web.present import Shown


def present_fairness(fairness: Fairness) -> Shown:
    """The luck of a game, round by round."""
    shown: Shown = {"game": fairness.game, "version": fairness.version, "provable": fairness.method is not None}
    if fairness.method is not None:
        shown["method"] = fairness.method
    return shown | {
        "seats": fairness.seats,
        "set": fairness.highest,
        "rounds": [_round(each) for each in fairness.rounds],
    }


def _round(told: RoundFairness) -> Shown:
    shown: Shown = {"round": told.number, "commitment": told.commitment.hex()}
    if told.client_seeds is not None:
        shown["client_seeds"] = list(told.client_seeds)
    if told.seed is not None:
        shown["seed"] = told.seed.hex()
    if told.drawn is not None:
        shown |= {
            "attempt": told.drawn.attempt,
            "hands": [[tile.name for tile in hand] for hand in told.drawn.hands],
            "stock": [tile.name for tile in told.drawn.stock],
        }
    return shown
