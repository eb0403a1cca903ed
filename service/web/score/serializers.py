"""The score card and the results of rounds as JSON objects."""

from __future__ import annotations

from fractions import Fraction

from service.engine.events import RoundResult, ScoreLine
from service.engine.variant import Settlement
from service.games.model.views import ScoreCard
from service.web.fields.values import JsonObject


def score_json(card: ScoreCard) -> JsonObject:
    """Return the score card."""
    game = card.view
    standings = []
    for each in card.standings:
        standing: JsonObject = {"seat": each.seat}
        if each.name is not None:
            standing["name"] = each.name
        standing |= {"total": each.total, "rank": each.rank, "active": each.in_match}
        if each.team is not None:
            standing["team"] = each.team
        if each.forfeited:
            standing["forfeited"] = True
        standings.append(standing)
    result: JsonObject = {
        "game_id": game.id,
        "version": game.version,
        "status": game.status,
        "best": game.variant.best,
        "standings": standings,
        "rounds": [round_json(each) for each in card.rounds],
        "winners": list(game.view.winners),
    }
    if game.rules.carries:
        result["carry"] = game.view.carry
    if card.settlement is not None:
        result["settlement"] = _settlement(card.settlement)
    return result


def round_json(round_result: RoundResult) -> JsonObject:
    """Return the result of a round."""
    result: JsonObject = {"number": round_result.number, "ended_by": round_result.ended_by}
    if round_result.winner is not None:
        result["winner"] = round_result.winner
    if round_result.loser is not None:
        result["loser"] = round_result.loser
    result |= {
        "hands": [
            {"seat": left.seat, "tiles": [tile.name for tile in left.tiles], "value": left.value}
            for left in round_result.hands
        ],
        "scores": list(round_result.scores),
        "carried": round_result.carried,
        "lines": [_score_line(line) for line in round_result.lines],
    }
    return result


def _score_line(line: ScoreLine) -> JsonObject:
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
