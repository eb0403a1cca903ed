"""Fields that accept only JSON values of their own type, without conversions.

The fields of marshmallow convert ``"2"`` and ``true`` to numbers; here they are reported as errors of the client.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from marshmallow import ValidationError, fields

from service.engine.errors import InvalidNotation
from service.engine.tiles import Tile, parse_tile

_DIGITS: Final = re.compile(r"0|[1-9][0-9]{0,18}")


def doc(text: str, **more: Any) -> dict[str, Any]:
    """The metadata of a field for the document."""
    return {"description": text, **more}


class StrictInteger(fields.Integer):
    """A JSON integer: neither ``"2"`` nor ``2.0`` nor ``true``."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if type(value) is not int:
            raise ValidationError("Not an integer.")
        return value


class QueryInteger(fields.Integer):
    """An integer in a query: digits without leading zeros."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if not isinstance(value, str) or not _DIGITS.fullmatch(value):
            raise ValidationError("Not an integer.")
        return int(value)


class StrictBoolean(fields.Boolean):
    """``true`` or ``false``."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if type(value) is not bool:
            raise ValidationError("Not a boolean.")
        return value


class SingleLine(fields.String):
    """One line of text for people: no control characters, and not only spaces."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("Not a string.")
        if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value):
            raise ValidationError("Must not contain control characters.")
        if not value.strip():
            raise ValidationError("Must not be blank.")
        return value


class TileField(fields.String):
    """A tile in its notation, loaded as ``Tile``."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else str(value)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Tile:  # type: ignore[override]  # a tile is what comes of the text
        if not isinstance(value, str):
            raise ValidationError("Not a string.")
        try:
            return parse_tile(value)
        except InvalidNotation as error:
            raise ValidationError(error.sentence) from None
