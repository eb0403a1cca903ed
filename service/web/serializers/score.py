"""The score card and the results of rounds as JSON objects."""

from __future__ import annotations

from fractions import Fraction

from service.engine.events import RoundResult, ScoreLine
from service.engine.variant import Settlement
from service.games.views import ScoreCard
from service.web.serializers.values import JsonObject, tile_names


def score_json(card: ScoreCard) -> JsonObject:
    """The score card."""
    look = card.view
    standings = []
    for each in card.standings:
        standing: JsonObject = {"seat": each.seat}
        if each.name is not None:
            standing["name"] = each.name
        standing |= {"total": each.total, "rank": each.rank, "in": each.in_match}
        standings.append(standing)
    shown: JsonObject = {
        "game": look.id,
        "version": look.version,
        "status": look.status,
        "best": look.variant.best,
        "standings": standings,
        "rounds": [round_json(each) for each in card.rounds],
        "carry": look.view.carry,
        "winners": list(look.view.winners),
    }
    if card.settlement is not None:
        shown["settlement"] = _settlement(card.settlement)
    return shown


def round_json(counted: RoundResult) -> JsonObject:
    """The count of a round."""
    shown: JsonObject = {"number": counted.number, "ended_by": counted.ended_by}
    if counted.winner is not None:
        shown["winner"] = counted.winner
    if counted.loser is not None:
        shown["loser"] = counted.loser
    shown |= {
        "hands": [{"seat": left.seat, "tiles": tile_names(left.tiles), "value": left.value} for left in counted.hands],
        "scores": list(counted.scores),
        "carried": counted.carried,
        "lines": [_line(line) for line in counted.lines],
    }
    return shown


def _line(line: ScoreLine) -> JsonObject:
    return {"seat": line.seat, "points": line.points, "rule": line.rule, "text": line.text}


def _settlement(settlement: Settlement) -> JsonObject:
    return {
        "mode": settlement.mode,
        "amounts": [{"seat": seat, **_amount(amount)} for seat, amount in enumerate(settlement.amounts)],
        "payments": [
            {"from": payment.payer, "to": payment.payee, **_amount(payment.amount)} for payment in settlement.payments
        ],
    }


def _amount(amount: Fraction) -> JsonObject:
    rounded = int(amount) if amount.denominator == 1 else float(round(amount, 2))
    return {"amount": rounded, "exact": str(amount)}
