"""The fairness report of a game as a JSON object."""

from __future__ import annotations

from service.games.queries.fairness import FairnessReport, RoundFairness
from service.web.serializers.values import JsonObject


def fairness_json(fairness: FairnessReport) -> JsonObject:
    """What is revealed of the deals of a game, round by round."""
    result: JsonObject = {"game": fairness.game, "version": fairness.version, "provable": fairness.method is not None}
    if fairness.method is not None:
        result["method"] = fairness.method
    return result | {
        "seats": fairness.seats,
        "set": fairness.highest,
        "rounds": [_round(each) for each in fairness.rounds],
    }


def _round(fairness: RoundFairness) -> JsonObject:
    result: JsonObject = {"round": fairness.number, "commitment": fairness.commitment.hex()}
    if fairness.client_seeds is not None:
        result["client_seeds"] = list(fairness.client_seeds)
    if fairness.seed is not None:
        result["seed"] = fairness.seed.hex()
    if fairness.deal is not None:
        result |= {
            "attempt": fairness.deal.attempt,
            "hands": [[tile.name for tile in hand] for hand in fairness.deal.hands],
            "stock": [tile.name for tile in fairness.deal.stock],
        }
    return result
