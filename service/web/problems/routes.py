"""``/problems``: every code and reason of a problem, as a page with an anchor for each, or as JSON."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import orjson
from flask import Blueprint, Response, render_template

from service.games.queries.catalogue import Language, localize
from service.reasons import REASONS
from service.web.http.headers import negotiate, preferred_language
from service.web.http.responses import HTML, JSON, public
from service.web.operation import Operation, ResponseSpec
from service.web.problems.answers import PROBLEMS
from service.web.problems.schemas import ProblemListSchema
from service.web.services import Services

blueprint: Final = Blueprint("problems", __name__, template_folder="templates")

_HEADINGS: Final = {
    "en": {
        "title": "Problems",
        "introduction": "Every error is application/problem+json. Its type leads here; its code and its reason are "
        "stable words for programs, and params has the values that a sentence names.",
    },
    "de": {
        "title": "Probleme",
        "introduction": "Jeder Fehler ist application/problem+json. Sein type führt hierher; code und reason sind "
        "feste Wörter für Programme, und params enthält die Werte, die ein Satz nennt.",
    },
}


@blueprint.get("/problems")
@Operation(
    id="listProblems",
    tag="service",
    headers=("Accept-Language", "If-None-Match"),
    responses={
        200: ResponseSpec(
            description="The problems.",
            schema=ProblemListSchema,
            streams={HTML: "A page with an anchor for each code and each reason."},
        )
    },
)
def list_problems(_services: Services) -> Response:
    """List the problems.

    Every `code` of an error, with its status, and every `reason` with its sentence. The `type` of a problem leads to
    its place in the page that a browser gets.
    """
    media_type = negotiate(JSON, HTML)
    language = preferred_language()
    return public(_body(media_type, language), media_type, language)


@cache
def _body(media_type: str, language: Language) -> bytes:
    problems = _problems(language)
    if media_type == JSON:
        return orjson.dumps({"problems": problems})
    return render_template("problems.html", language=language, problems=problems, **_HEADINGS[language]).encode()


def _problems(language: Language) -> list[dict[str, Any]]:
    return [
        {
            "code": code,
            "status": problem.status,
            "title": localize(problem.title, language),
            "description": localize(problem.description, language),
            "reasons": [
                {"reason": word, "text": localize(reason.text, language).replace("{{", "{").replace("}}", "}")}
                for word, reason in REASONS.items()
                if reason.code == code
            ],
        }
        for code, problem in PROBLEMS.items()
    ]
