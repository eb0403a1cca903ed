"""``/problems``: every code and reason of a problem, as a page with an anchor for each, or as JSON."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import orjson
from flask import Blueprint, Response, render_template

from service.reasons import REASONS
from service.texts import Language, template, text
from service.web.http.headers import negotiate, preferred_language
from service.web.http.responses import HTML, JSON, public
from service.web.operation import Operation, ResponseSpec
from service.web.problems.answers import PROBLEMS, problem_description, problem_title
from service.web.problems.schemas import ProblemListSchema
from service.web.services import Services

blueprint: Final = Blueprint("problems", __name__, template_folder="templates")


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
    problems: list[dict[str, Any]] = [
        {
            "code": code,
            "status": problem.status,
            "title": problem_title(code, language),
            "description": problem_description(code, language),
            "reasons": [
                {"reason": word, "text": template(f"reasons.{word}", language).replace("{{", "{").replace("}}", "}")}
                for word, its_code in REASONS.items()
                if its_code == code
            ],
        }
        for code, problem in PROBLEMS.items()
    ]
    if media_type == JSON:
        return orjson.dumps({"problems": problems})
    return render_template(
        "problems.html",
        language=language,
        problems=problems,
        title=text("problems.page_title", language),
        introduction=text("problems.page_introduction", language),
    ).encode()
