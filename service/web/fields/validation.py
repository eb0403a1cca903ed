"""Reasons in place of the messages of marshmallow, so that each fault of a field can be told in any language.

Owns which reason each message of marshmallow is. The validators are marshmallow's, which also describe the field in the
document.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from service.engine.errors import Param, Reason

_FIELD: Final = fields.Field.default_error_messages
_SCHEMA: Final = Schema().error_messages
_REASON_OF_MESSAGE: Final = {
    _FIELD["null"]: "null",
    _SCHEMA["type"]: "not_an_object",
    fields.Nested.default_error_messages["type"]: "not_an_object",
    fields.List.default_error_messages["invalid"]: "not_a_list",
    fields.String.default_error_messages["invalid"]: "not_a_string",
}
"""The words of reasons without values, by the message of marshmallow."""


def reason_of(message: Any) -> Reason:
    """Return the reason of a message in a ``ValidationError``."""
    if isinstance(message, Reason):
        return message
    return Reason(_REASON_OF_MESSAGE.get(message, "invalid_value"))


def invalid(word: str, **params: Param) -> ValidationError:
    """Return the error of a field with this reason."""
    return ValidationError([Reason(word, params)])


class Length(validate.Length):
    """A text or a list that is too short or too long."""

    def _format_error(self, value: Any, message: str) -> Any:  # noqa: ARG002 # marshmallow's signature
        return _between("length", "too_short", "too_long", least=self.min, most=self.max)


class Range(validate.Range):
    """A number that is too small or too large."""

    def _format_error(self, value: Any, message: str) -> Any:  # noqa: ARG002 # marshmallow's signature
        return [Reason("out_of_range", {"min": self.min, "max": self.max})]


class OneOf(validate.OneOf):
    """A value that is not among those possible."""

    choices: Sequence[str]

    def _format_error(self, value: Any) -> Any:  # noqa: ARG002 # marshmallow's signature
        return [Reason("not_one_of", {"allowed": list(self.choices)})]


class Equal(validate.Equal):
    """``false`` where only ``true`` is possible."""

    def _format_error(self, value: Any) -> Any:  # noqa: ARG002 # marshmallow's signature
        return [Reason("not_true")]


def _between(both: str, low: str, high: str, *, least: int | None, most: int | None) -> list[Reason]:
    """Return the reason that names the limits that there are."""
    limits = {name: value for name, value in (("min", least), ("max", most)) if value is not None}
    return [Reason(both if len(limits) == 2 else low if "min" in limits else high, limits)]
