"""The parameters of a query that several resources share.

Owns the longest wait.
"""

from __future__ import annotations

from typing import Final

from service.texts import LANGUAGES, named
from service.web.fields.strict import (
    QueryBoolean,
    doc,
)

MAX_WAIT_SECONDS: Final = 25
"""Of a long poll."""


def text_field(where: str) -> QueryBoolean:
    """Return whether texts for people are requested; ``where`` says where they are."""
    return QueryBoolean(
        load_default=False,
        metadata=doc(f"Also a sentence for people {where}, in {named(LANGUAGES)} by `Accept-Language`."),
    )
