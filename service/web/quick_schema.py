"""A schema for what comes in most often: moves.

marshmallow goes through all the fields that could be there, with room for a complaint about each, which makes it the
costliest part of reading a move. Here only the fields that are there are asked, by the same questions; at the first
complaint marshmallow begins again, for it alone says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, missing, validates_schema


class QuickSchema(Schema):
    """A schema of plain fields: each has the name that it has in the body, and there is none where it is left out."""

    def __init__(self) -> None:
        super().__init__()
        for name, field in self.load_fields.items():
            assert field.load_default is missing, name
            assert field.attribute is field.data_key is None, name
        self._required = [name for name, field in self.load_fields.items() if field.required]

    def check(self, loaded: Mapping[str, Any]) -> None:
        """Look at the fields together, each of which is good. Raises ``ValidationError``."""

    @validates_schema(skip_on_field_errors=True)
    def _check_together(self, loaded: Mapping[str, Any], **_: Any) -> None:
        self.check(loaded)

    def load(self, data: Any, **options: Any) -> Any:
        """What marshmallow makes of ``data``. Raises ``ValidationError``."""
        loaded = None if options else self._load_good(data)
        return super().load(data, **options) if loaded is None else loaded

    def _load_good(self, data: Mapping[str, Any]) -> dict[str, Any] | None:
        """The same of what has no fault; ``None`` if it has one."""
        fields = self.load_fields
        loaded = {}
        try:
            for name, value in data.items():
                if name not in fields:
                    return None
                loaded[name] = fields[name].deserialize(value, name, data)
            for name in self._required:
                if name not in loaded:
                    return None
            self.check(loaded)
        except ValidationError:
            return None
        return loaded
