"""``/v1/games/{game}/hint`` and ``/v1/games/{game}/review``: for players who want to learn.

Bot workers compute hints and reviews. Until a result is stored, the response is 202 with ``Retry-After``.
"""

from __future__ import annotations

from typing import Final

from flask import Blueprint
from marshmallow import Schema

from service.games.access import Access
from service.web.fields.strict import EmptyInSchema
from service.web.http.body import read_nothing
from service.web.http.headers import idempotency, negotiate, preferred_language
from service.web.http.responses import JSON, RawResponse, accepted_without_body, not_ready, ok
from service.web.learning.schemas import HintSchema, ReviewSchema, hint_json, review_json
from service.web.operation import Operation, ResponseSpec
from service.web.services import Services

blueprint: Final = Blueprint("learning", __name__)

HINT_RETRY_SECONDS: Final = 1
REVIEW_RETRY_SECONDS: Final = 2


def _computing(schema: type[Schema]) -> ResponseSpec:
    """Return the response while a bot worker computes the result; it has the schema of the result."""
    text = "It is being computed: ask again after `Retry-After` seconds."
    return ResponseSpec(description=text, schema=schema, headers=("Retry-After",))


@blueprint.get("/v1/games/<game>/hint")
@Operation(
    id="getHint",
    tag="learning",
    access="seat",
    headers=("Accept-Language",),
    responses={200: ResponseSpec(description="The hint.", schema=HintSchema), 202: _computing(HintSchema)},
    own_problems=("forbidden", "not_your_turn", "round_over", "game_over"),
)
def get_hint(services: Services, access: Access) -> RawResponse:
    """Get a hint.

    The strongest computer player's opinion of the legal moves of the bearer's seat, on its turn: the best first, each
    with an estimate and its error, and why the best is better than the next. It is computed from what the seat has
    seen, and from nothing hidden: a seat that has seen the same gets the same hint. Only where all other players are
    computer players; else 403 with the reason `hint_among_people`. Another process computes it, once for each version;
    the request waits for the hint for at most 1.5 seconds, and is 202 if it is not ready by then.
    """
    negotiate(JSON)
    result = services.learning.hint(access)
    language = preferred_language()
    shown = hint_json(result, language)
    return not_ready(shown, HINT_RETRY_SECONDS) if result.hint is None else ok(shown, language=language)


@blueprint.post("/v1/games/<game>/review")
@Operation(
    id="beginReview",
    tag="learning",
    access="any_seat_or_app",
    headers=("Idempotency-Key",),
    body=EmptyInSchema,
    responses={202: ResponseSpec(description="It is computed, or will be.", media_type=None, headers=("Location",))},
    repeatable=True,
    own_problems=("not_finished",),
    stores=True,
)
def begin_review(services: Services, access: Access) -> RawResponse:
    """Have a match reviewed.

    Compares every decision of a finished match with the best move that its seat could have known, in the background.
    Any seat of the match may request it, or the application that owns the game. It takes some seconds for a short match
    and minutes for a long one, or longer if the service is busy; `GET` returns the review when it is done. A match is
    reviewed once, and its review is stored as long as the game; the request may be repeated. The body is empty, or an
    empty object.
    """
    body = read_nothing()
    idempotency(body)  # checks the key; the request is idempotent without it
    services.learning.begin_review(access)
    return accepted_without_body(f"/v1/games/{access.game.id}/review")


@blueprint.get("/v1/games/<game>/review")
@Operation(
    id="getReview",
    tag="learning",
    access="any_seat_or_app",
    headers=("Accept-Language",),
    responses={200: ResponseSpec(description="The review.", schema=ReviewSchema), 202: _computing(ReviewSchema)},
)
def get_review(services: Services, access: Access) -> RawResponse:
    """Get the review of a match.

    How many points each seat gave away at its decisions, the moves that had an alternative, on average, and every
    decision with its estimate and error. A better move is only named where it is clearly better: by more than twice the
    error. Even perfect play seems to give away a little, because estimates have errors; these affect all players alike,
    so compare players with each other. The result of each seat is split into luck, which is what equal computer players
    make of the same deals, and skill, which is the rest. It is 202 while it is being computed, and 404 with the reason
    `no_review` if nobody has asked for it by `POST`.
    """
    negotiate(JSON)
    review = services.learning.review(access)
    language = preferred_language()
    shown = review_json(review, len(access.game.seats), language)
    return not_ready(shown, REVIEW_RETRY_SECONDS) if review is None else ok(shown, language=language)
