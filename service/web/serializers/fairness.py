"""What is told of the luck of a game, as plain values, ready for JSON."""

from __future__ import annotations

from service.games.fairness import FairnessReport, RoundFairness
from service.web.serializers.values import JsonObject


def fairness_json(fairness: FairnessReport) -> JsonObject:
    """The luck of a game, round by round."""
    shown: JsonObject = {"game": fairness.game, "version": fairness.version, "provable": fairness.method is not None}
    if fairness.method is not None:
        shown["method"] = fairness.method
    return shown | {
        "seats": fairness.seats,
        "set": fairness.highest,
        "rounds": [_round(each) for each in fairness.rounds],
    }


def _round(told: RoundFairness) -> JsonObject:
    shown: JsonObject = {"round": told.number, "commitment": told.commitment.hex()}
    if told.client_seeds is not None:
        shown["client_seeds"] = list(told.client_seeds)
    if told.seed is not None:
        shown["seed"] = told.seed.hex()
    if told.deal is not None:
        shown |= {
            "attempt": told.deal.attempt,
            "hands": [[tile.name for tile in hand] for hand in told.deal.hands],
            "stock": [tile.name for tile in told.deal.stock],
        }
    return shown
