"""The problems of an operation in the document: its own, or the names of those that it shares with others."""

from __future__ import annotations

from typing import Any, Final

from apispec import APISpec

from service.texts import DEFAULT_LANGUAGE
from service.web.problems.answers import PROBLEM_JSON
from service.web.problems.schemas import ProblemSchema
from service.web.problems.table import PROBLEMS, problem_description
from tools.openapi.headers import QUOTA, headers_section
from tools.openapi.layout import Example
from tools.openapi.session import Examples

_OWN_EXAMPLES: Final = (403, 409, 412, 422)
"""The statuses of problems that differ from one operation to the next; others are described once, for all."""
_HEADERS_OF_EVERY_PROBLEM: Final = ("Content-Language", "Cache-Control", "Vary")
_HEADERS_OF_PROBLEMS: Final = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    415: ("Accept-Patch",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


def problem_responses(codes: list[str], operation_id: str, examples: Examples, spec: APISpec) -> dict[str, Any]:
    """The problems of an operation by status: its own, or the names of those that it shares with other operations."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(PROBLEMS[code].status, []).append(code)
    result: dict[str, Any] = {}
    for status, each in by_status.items():
        example = examples.operations.get((operation_id, status, PROBLEM_JSON))
        if status in _OWN_EXAMPLES and example is not None:
            result[str(status)] = _problem(status, each, {"example": Example(example.response)})
        else:
            result[str(status)] = _shared_problem(status, each, examples, spec)
    return result


def _shared_problem(status: int, codes: list[str], examples: Examples, spec: APISpec) -> str:
    """The name of a component that describes these problems; it is added if it is new."""
    name = "Or".join(_component_name(code) for code in codes)
    components = spec.components
    if name not in components.responses:
        for code in codes:
            if _component_name(code) not in components.examples:
                components.example(_component_name(code), {"value": Example(examples.problems[code])})
        shown = {code: _component_name(code) for code in codes}
        components.response(name, _problem(status, codes, {"examples": shown}))
    return name


def _component_name(code: str) -> str:
    return code.title().replace("_", "")


def _problem(status: int, codes: list[str], example: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "description": " ".join(f"`{code}`: {problem_description(code, DEFAULT_LANGUAGE)}" for code in codes),
        "content": {PROBLEM_JSON: {"schema": ProblemSchema, **example}},
    }
    # Refusals of requests that are counted have the quota, and most are described once for all operations. A request
    # that cannot be read at all is refused in English, whatever it says.
    names = (*_HEADERS_OF_EVERY_PROBLEM, *_HEADERS_OF_PROBLEMS.get(status, ()), *QUOTA)
    result["headers"] = headers_section(names, optional=("Vary",))
    return result
