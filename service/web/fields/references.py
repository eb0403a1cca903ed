"""The field of a reference: the name that an application gives a game or a player.

Owns which characters a reference may have. It is opaque: never shown to people by the service, and kept as it is, so
that two of them are the same exactly if their characters are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from marshmallow import fields

from service.web.fields.strict import doc
from service.web.fields.validation import Length, invalid

MAX_REF_CHARS: Final = 64

_NOT_SEEN: Final = ("C", "Z")
"""First letters of the categories of characters that cannot be seen."""


class Reference(fields.String):
    """1 to 64 visible characters, without blanks."""

    def __init__(self, **more: Any) -> None:
        super().__init__(validate=Length(1, MAX_REF_CHARS), **more)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if len(text) <= MAX_REF_CHARS and not _is_visible(text):
            raise invalid("not_visible")
        return text


def is_reference(text: str) -> bool:
    """Return whether this may be a reference."""
    return 1 <= len(text) <= MAX_REF_CHARS and _is_visible(text)


def _is_visible(text: str) -> bool:
    return not any([unicodedata.category(each)[0] in _NOT_SEEN for each in text])


def ref_field(text: str, **more: Any) -> Reference:
    """Return a reference; ``text`` says what it names, and to whom it is told, without a full stop."""
    return Reference(
        metadata=doc(
            f"{text}, and to nobody else. Opaque: {MAX_REF_CHARS} visible characters at most, without blanks.",
            pattern=r"^[^\s\u0000-\u001f\u007f-\u009f]+$",
            example="player-4711",
        ),
        **more,
    )
