"""The problems of an operation in the document: its own, or the names of those that it shares with others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from apispec import APISpec

from service.texts import DEFAULT_LANGUAGE
from service.web.operation import Operation
from service.web.problems.answers import PROBLEM_JSON, PROBLEMS, SHARE_STATUS, SHARES, problem_description
from service.web.problems.schemas import ProblemSchema
from tools.openapi.headers import headers_section
from tools.openapi.layout import Example
from tools.openapi.operations import QUOTA
from tools.openapi.session import Examples

_SHARE_CODE: Final = "limit_reached"
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


def problem_responses(codes: list[str], described: Operation, examples: Examples, spec: APISpec) -> dict[str, Any]:
    """Return the problems of an operation by status, or the names of those that operations share."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        for status in _statuses(code, described):
            by_status.setdefault(status, []).append(code)
    result: dict[str, Any] = {}
    for status, each in by_status.items():
        example = examples.operations.get((described.id, status, PROBLEM_JSON))
        if status in _OWN_EXAMPLES and example is not None:
            result[str(status)] = _problem(status, each, {"example": Example(example.response)})
        else:
            result[str(status)] = _shared_problem(status, each, examples, spec)
    return result


def _statuses(code: str, described: Operation) -> Iterator[int]:
    """Yield the statuses with which an operation answers a problem."""
    if code != _SHARE_CODE or code in described.own_problems or not described.stores:
        yield PROBLEMS[code].status
    if code == _SHARE_CODE and described.stores:
        yield SHARE_STATUS


def _shared_problem(status: int, codes: list[str], examples: Examples, spec: APISpec) -> str:
    """Return the name of a component that describes these problems; it is added if it is new."""
    name = "Or".join(_component_name(code, status) for code in codes)
    components = spec.components
    if name not in components.responses:
        for code in codes:
            shown = _component_name(code, status)
            if shown not in components.examples:
                components.example(shown, {"value": Example(examples.problems[_example_key(code, status)])})
        named = {code: _component_name(code, status) for code in codes}
        components.response(name, _problem(status, codes, {"examples": named}))
    return name


def _component_name(code: str, status: int) -> str:
    return _example_key(code, status).title().replace("_", "")


def _example_key(code: str, status: int) -> str:
    """Return the name of the example of a problem: that of a share has another status than others of its code."""
    return min(SHARES) if (code, status) == (_SHARE_CODE, SHARE_STATUS) else code


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
