"""Hints and reviews as JSON objects."""

from __future__ import annotations

from typing import Final

from service.games.queries.learning import HintFound, ReviewFound
from service.records.review import Decision, SeatSummary, hint, sentence, summaries
from service.texts import Language
from service.web.fields.values import JsonObject
from service.web.view.serializers import moves_json

_DIGITS: Final = 2
"""Of estimates in points, whose errors are rarely below a tenth."""


def hint_json(found: HintFound, language: Language) -> JsonObject:
    """Return a hint; without moves while it is being computed."""
    if found.hint is None:
        return {"version": found.version, "moves": []}
    estimates = found.hint.estimates
    moves = moves_json([each.move for each in estimates], found.version)
    return {
        "version": found.version,
        "moves": [
            {"move": move, "estimate": round(each.estimate, _DIGITS), "error": round(each.error, _DIGITS)}
            for move, each in zip(moves, estimates, strict=True)
        ],
        "text": hint(estimates, language),
    }


def review_json(found: ReviewFound, language: Language) -> JsonObject:
    """Return a review; without players and decisions while it is being computed."""
    if found.review is None:
        return {"players": [], "decisions": []}
    return {
        "players": [_player(each) for each in summaries(found.seats, found.review)],
        "decisions": [_decision(each, language) for each in found.review.decisions],
    }


def _player(summary: SeatSummary) -> JsonObject:
    """Return what is told of a seat; the result is exactly luck and skill, as they are rounded."""
    result, luck = round(summary.luck.result, _DIGITS), round(summary.luck.luck, _DIGITS)
    return {
        "seat": summary.seat,
        "decisions": summary.decisions,
        "given_away": round(summary.given_away, _DIGITS),
        "error": round(summary.error, _DIGITS),
        "result": result,
        "luck": luck,
        "luck_error": round(summary.luck.luck_error, _DIGITS),
        "skill": round(result - luck, _DIGITS),
        "skill_error": round(summary.luck.skill_error, _DIGITS),
    }


def _decision(decision: Decision, language: Language) -> JsonObject:
    """Return a decision; only a clear mistake names another move."""
    move_json, best_json = moves_json([decision.move, decision.named], decision.version - 1)
    return {
        "version": decision.version,
        "seat": decision.seat,
        "move": move_json,
        "best": best_json,
        "given_away": round(decision.given_away, _DIGITS),
        "error": round(decision.error, _DIGITS),
        "text": sentence(decision, language),
    }
