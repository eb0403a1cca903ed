"""Reads from the query whether the view in an answer has a sentence, and in which language.

Owns the parameter of all operations that answer with a view because they have changed it.
"""

from __future__ import annotations

from typing import Final

from flask import request

from service.texts import Language
from service.web.fields.shown import text_field
from service.web.fields.strict import RequestSchema
from service.web.http.headers import preferred_language, read_query

OF_VIEW: Final = "that tells how the game stands, as `text` of the view"
"""What the sentence of a view is, for ``text_field``."""


class ViewQuerySchema(RequestSchema):
    """Whether the view in the answer has a sentence."""

    text = text_field(OF_VIEW)


_view_query_in: Final = ViewQuerySchema()


def language_of_view() -> Language | None:
    """Return the language of the sentence of the view, ``None`` if none is asked for. Raises ``InvalidBody``."""
    if not request.query_string:
        return None
    return preferred_language() if read_query(_view_query_in)["text"] else None
