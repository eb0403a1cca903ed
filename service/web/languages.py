"""The language of the texts in a response, by ``Accept-Language``.

Does not depend on which texts there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from service.texts import LANGUAGES, Language

_MAX_CHARS: Final = 1024
"""The most characters of the header that are parsed; other handlers reject a longer one."""


def accepted_language(environ: Mapping[str, Any]) -> Language:
    """The one that the request with this WSGI environment prefers of those that there are, else the default one."""
    header = environ.get("HTTP_ACCEPT_LANGUAGE")
    if header is None or len(header) > _MAX_CHARS:
        return LANGUAGES[0]
    for tag, quality in parse_accept_header(header, LanguageAccept):  # in order of quality
        for known in LANGUAGES:
            if quality and tag.partition("-")[0].lower() == known:
                return known
    return LANGUAGES[0]
