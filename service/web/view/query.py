"""The query parameter ``text``, which requests a sentence in the view, for operations that change a game."""

from __future__ import annotations

from typing import Final

from flask import request

from service.texts import Language
from service.web.fields.shown import text_field
from service.web.fields.strict import RequestSchema
from service.web.http.headers import preferred_language, read_query

OF_VIEW: Final = "that tells how the game stands, as `text` of the view"
"""The place and content of the sentence of a view, for ``text_field``."""


class ViewQuerySchema(RequestSchema):
    """Whether the view in the response has a sentence."""

    text = text_field(OF_VIEW)


_view_query_in: Final = ViewQuerySchema()


def language_of_view() -> Language | None:
    """Return the language of the sentence of the view, ``None`` if none is requested. Raises ``InvalidBody``."""
    if not request.query_string:
        return None
    return preferred_language() if read_query(_view_query_in)["text"] else None
