"""The schemas and serializers of hints and reviews."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema

from service.learning.queries import HintResult
from service.learning.review import Decision, Review, SeatSummary, hint, sentence, summaries
from service.texts import Language
from service.web.fields.moves import MoveSchema
from service.web.fields.shown import SeatedSchema, optional, required
from service.web.fields.strict import JsonObject
from service.web.view.serializers import move_json

_ERROR = (
    "The standard error of that: how far the estimate may be off by chance; 0 where the end of the round is known "
    "exactly, and where the move that was made is itself estimated as the best."
)


class EstimatedMoveSchema(Schema):
    """What a legal move is worth."""

    move = required(MoveSchema, "The move, which can be posted back.")
    estimate = required(
        float,
        "By how many points the side of the seat will score more in this round than the others on average, if this "
        "move is made. Where `unit` is `wins` these are wins, and a match that the round decides counts as its "
        "`target` besides; in games with stars, what the stars are worth counts, too.",
        example=3.25,
    )
    error = required(float, _ERROR, minimum=0, example=0.75)


class HintSchema(Schema):
    """What the strongest computer player thinks of the legal moves of a seat, by what the seat knows."""

    version = required(int, "The version of the game that the hint is for.", minimum=1, example=17)
    moves = required([EstimatedMoveSchema], "The best first, eight at most; empty while the hint is being computed.")
    text = optional(
        str,
        "Why the best move is better than the next best, for people; absent while the hint is being computed.",
        example="Clearly better than the next best: it sheds more pips.",
    )


class ReviewedPlayerSchema(SeatedSchema):
    """The decisions of a seat, and how much of its result was luck.

    ``result``, ``luck`` and ``skill`` cover all finished rounds together, and add up to 0 over all seats.
    """

    decisions = required(int, "How many there were.", minimum=0, example=31)
    given_away = required(float, "The points that each of them gave away on average.", minimum=0, example=1.25)
    error = required(float, _ERROR, minimum=0, example=0.5)
    result = required(
        float,
        "By how many points the side of the seat scored better than the others on average, in all finished rounds "
        "together. Where the fewest points win, fewer points are better. It is the sum of `luck` and `skill`.",
        example=31.5,
    )
    luck = required(
        float,
        "How much of `result` is due to the deals: what it is on average if the same deals are replayed by equal "
        "computer players of the level `casual` at all seats, 50 times each, or less often with a large set. As the "
        "players are equal, exchanging their seats makes no difference.",
        example=22.25,
    )
    luck_error = required(float, "The standard error of `luck`.", minimum=0, example=4.5)
    skill = required(float, "The rest of `result`: what the players made of the deals.", example=9.25)
    skill_error = required(
        float,
        "How far `skill` strays by chance: the standard deviation that it has among equal players, of the level "
        "`casual`. Only a skill of more than twice this value is clearly not chance.",
        minimum=0,
        example=32.25,
    )


class ReviewedDecisionSchema(SeatedSchema):
    """A move that had an alternative."""

    version = required(int, "The version of its event.", minimum=1, example=17)
    move = required(MoveSchema, "The move that was made.")
    best = required(
        MoveSchema,
        "The best move by what the seat could know; where none is clearly better, by more than twice the error, "
        "the move that was made.",
    )
    given_away = required(
        float, "By how many points the best of all moves was ahead in the estimates.", minimum=0, example=6.5
    )
    error = required(float, _ERROR, minimum=0, example=1.5)
    text = required(
        str,
        "Why the best move was better, for people, or that no mistake is to be seen.",
        example="A better move was possible: it sheds more pips.",
    )


class ReviewSchema(Schema):
    """What the decisions of a match gave away against the best moves that their seats could have known."""

    players = required([ReviewedPlayerSchema], "One for each seat; empty while the review is being computed.")
    decisions = required(
        [ReviewedDecisionSchema],
        "In the order of the match, the first 1,000; empty while the review is being computed.",
    )


_DIGITS: Final = 2
"""Decimals of estimates in points, whose errors are rarely below a tenth."""


def hint_json(result: HintResult, language: Language) -> JsonObject:
    """Return a hint; without moves while it is being computed."""
    if result.hint is None:
        return {"version": result.version, "moves": []}
    return {
        "version": result.version,
        "moves": [
            {
                "move": move_json(each.move, result.version),
                "estimate": round(each.estimate, _DIGITS),
                "error": round(each.error, _DIGITS),
            }
            for each in result.hint.estimates
        ],
        "text": hint(result.hint.estimates, language),
    }


def review_json(review: Review | None, seats: int, language: Language) -> JsonObject:
    """Return the review of a match with this number of seats; empty while it is being computed."""
    if review is None:
        return {"players": [], "decisions": []}
    return {
        "players": [_player(summary) for summary in summaries(seats, review)],
        "decisions": [_decision(decision, language) for decision in review.decisions],
    }


def _player(summary: SeatSummary) -> JsonObject:
    """Return the review of a seat; its rounded luck and skill add up to its rounded result."""
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
    """Return a decision; only for a clear mistake is ``best`` another move."""
    return {
        "version": decision.version,
        "seat": decision.seat,
        "move": move_json(decision.move, decision.version - 1),
        "best": move_json(decision.shown_best, decision.version - 1),
        "given_away": round(decision.given_away, _DIGITS),
        "error": round(decision.error, _DIGITS),
        "text": sentence(decision, language),
    }
