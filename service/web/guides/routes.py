"""``/guide`` and ``/backends``, as Markdown or as a page; ``/llms.txt`` and ``/robots.txt``.

Owns who gets which form.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from flask import Blueprint, Response

from service.web.http.headers import negotiate
from service.web.http.responses import HTML, TEXT, hashes_of_inline, public
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import limit_reads
from service.web.services import Services

MARKDOWN: Final = "text/markdown"

blueprint: Final = Blueprint("guides", __name__)


def _guide(description: str) -> dict[int, ResponseSpec]:
    page = {HTML: "The same as a page for people."}
    return {200: ResponseSpec(description=description, media_type=MARKDOWN, streams=page)}


@blueprint.get("/guide")
@Operation(
    id="getGuide",
    tag="service",
    headers=("If-None-Match",),
    ignores_query=True,
    own_problems=("not_acceptable",),
    responses=_guide("The guide, as Markdown."),
)
def show_guide(services: Services) -> Response:
    """Get the guide for authors of clients.

    How to write a client: tokens, moves, retrying, errors, following a game, computer players, records. As Markdown; a
    browser gets a page.
    """
    return _in_two_forms(services, "guide")


@blueprint.get("/backends")
@Operation(
    id="getBackendsGuide",
    tag="service",
    headers=("If-None-Match",),
    ignores_query=True,
    own_problems=("not_acceptable",),
    responses=_guide("The guide for backends, as Markdown."),
)
def show_backends_guide(services: Services) -> Response:
    """Get the guide for authors of backends.

    How to build a backend for an app with users: keys, webhooks, lists of games, players, deletion. As Markdown; a
    browser gets a page.
    """
    return _in_two_forms(services, "backends")


@blueprint.get("/llms.txt")
@Operation(
    id="getTextForAssistants",
    tag="service",
    headers=("If-None-Match",),
    ignores_query=True,
    responses={200: ResponseSpec(description="What this service is, and where to read on.", media_type=TEXT)},
)
def show_text_for_assistants(services: Services) -> Response:
    """Get the summary for assistants.

    By the convention of `/llms.txt`: the five calls that play, one line for each operation, and the documents with
    their sizes, so that nobody has to read the whole OpenAPI document.
    """
    limit_reads(services.limits, 1)
    return public(_file("llms.md"), TEXT)


@blueprint.get("/robots.txt")
@Operation(
    id="getRobots",
    tag="service",
    headers=("If-None-Match",),
    ignores_query=True,
    responses={200: ResponseSpec(description="What search engines may fetch.", media_type=TEXT)},
)
def show_robots(services: Services) -> Response:
    """Get the rules for search engines.

    They may read the pages and the documentation, and no games.
    """
    limit_reads(services.limits, 1)
    return public(_file("robots.md"), TEXT)


def _in_two_forms(services: Services, name: str) -> Response:
    limit_reads(services.limits, 1)
    if negotiate(MARKDOWN, HTML) == MARKDOWN:
        return public(_file(f"{name}.md"), MARKDOWN)
    response = public(_file(f"{name}.html"), HTML)
    response.headers["Content-Security-Policy"] = _policy(name)
    return response


@cache
def _policy(name: str) -> str:
    """Return the Content-Security-Policy of a page: its own style, and nothing else."""
    styles = hashes_of_inline("style", _file(f"{name}.html").decode())
    return f"default-src 'none'; style-src {styles}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@cache
def _file(name: str) -> bytes:
    return (files("service.web.guides") / "files" / name).read_bytes()
