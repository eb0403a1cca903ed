"""Fields that accept only JSON values of their own type, without conversions, and limit the work on an invalid value.

The fields of marshmallow convert ``"2"`` and ``true`` to numbers; these refuse them. Marshmallow also loads every
element of a list before it checks the length. Here a list or an object that is too long is refused first, and a list is
loaded only up to its tenth invalid element. Owns which values are accepted. Does not depend on their meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from marshmallow import RAISE, Schema, ValidationError, fields, missing, validate
from marshmallow.error_store import ErrorStore
from marshmallow.validate import And

from service.engine.errors import Param, Reason
from service.engine.tiles import MAX_PIPS, TILES_BY_TEXT, Tile

F = TypeVar("F")

# Reasons in place of the messages of marshmallow, so that every error of a field can be translated.


_REASON_OF_MESSAGE: Final = {
    fields.Field.default_error_messages["null"]: "null",
    Schema().error_messages["type"]: "not_an_object",
    fields.Nested.default_error_messages["type"]: "not_an_object",
    fields.List.default_error_messages["invalid"]: "not_a_list",
    fields.String.default_error_messages["invalid"]: "not_a_string",
}
"""The words of reasons, by the message of marshmallow."""


def reason_of(message: Any) -> Reason:
    """Return the reason of a message in a ``ValidationError``."""
    if isinstance(message, Reason):
        return message
    return Reason(_REASON_OF_MESSAGE.get(message, "invalid_value"))


def invalid(word: str, **params: Param) -> ValidationError:
    """Return the validation error of a field for this reason."""
    return ValidationError([Reason(word, params)])


class Length(validate.Length):
    """Refuses a string or a list that is too short or too long."""

    def _format_error(self, value: Any, message: str) -> Any:  # marshmallow's signature
        limits = {name: limit for name, limit in (("min", self.min), ("max", self.max)) if limit is not None}
        return [Reason("length" if len(limits) == 2 else "too_short" if "min" in limits else "too_long", limits)]


class Range(validate.Range):
    """Refuses a number that is too small or too large."""

    def _format_error(self, value: Any, message: str) -> Any:  # marshmallow's signature
        return [Reason("out_of_range", {"min": self.min, "max": self.max})]


class OneOf(validate.OneOf):
    """Refuses a value that is not one of the choices."""

    choices: Sequence[str]

    def _format_error(self, value: Any) -> Any:  # marshmallow's signature
        return [Reason("not_one_of", {"allowed": list(self.choices)})]


class Equal(validate.Equal):
    """Refuses ``false`` where only ``true`` is possible."""

    def _format_error(self, value: Any) -> Any:  # marshmallow's signature
        return [Reason("not_true")]


_DIGITS: Final = re.compile(r"0|-?[1-9][0-9]*")
_MAX_DIGITS: Final = 19
"""Characters of an integer that are read: a longer integer is out of range, and so are its first 19 characters."""
_RFC3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T"
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
    re.IGNORECASE,
)
"""A ``date-time`` of RFC 3339 without leap seconds, which POSIX time cannot represent."""
_TENTHS: Final = re.compile(r"([0-9])(?:\.([0-9]))?")
_ASPECTS: Final = range(4, 26)
_ASPECT: Final = 16
"""The default width by height of a table, in tenths."""
_NO_CONTROLS: Final = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
LINE_PATTERN: Final = rf"^[^{_NO_CONTROLS}]*[^\s{_NO_CONTROLS}][^{_NO_CONTROLS}]*$"
"""The pattern of ``SingleLine`` in the OpenAPI document."""
MAX_FIELDS: Final = 64
"""Maximum number of fields of an object in a request."""
MAX_LINE_CHARS: Final = 1000
"""Maximum length of a line whose characters are checked; no field allows a longer one."""
MAX_TIME_CHARS: Final = 40
"""Maximum length of a time; RFC 3339 needs less."""
MAX_FAULTY_ELEMENTS: Final = 10
"""Number of invalid elements of a list after which the others are not loaded."""


class Known:
    """As ``OneOf``, but not a closed enumeration in the OpenAPI document, as more words may be added later."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._check = OneOf(words)

    def __call__(self, value: Any) -> None:
        self._check(value)


def reason_if_missing(field: fields.Field[Any]) -> Reason:
    """Return the reason for a missing field, with the values that it may have."""
    if isinstance(field, fields.Boolean):
        return Reason("required_one_of", {"allowed": ["true", "false"]})
    for check in field.validators:
        match check:
            case OneOf():
                return Reason("required_one_of", {"allowed": list(check.choices)})
            case Known():
                return Reason("required_one_of", {"allowed": list(check.words)})
            case Range(min=int(low), max=int(high)):
                return Reason("required_number", {"min": low, "max": high})
            case Length(min=int(low), max=int(high)) if isinstance(field, fields.List):
                return Reason("required_list", {"min": low, "max": high})
    return Reason("required")


def _validator(field: fields.Field[Any]) -> Callable[[Any], Any]:
    """Return the validator of a loaded value of a field; marshmallow would build it again for each value."""
    assert not field.pre_load, "RequestSchema does not call it"
    assert not field.post_load, "RequestSchema does not call it"
    return field.validators[0] if len(field.validators) == 1 else And(*field.validators)


class RequestSchema(Schema):
    """The schema of an object in a request; it refuses an object with too many fields before it loads them.

    The error of an unknown field lists the known ones.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._by_key = {
            field.data_key or name: (field.attribute or name, field, _UNCHANGED.get(type(field)), _validator(field))
            for name, field in self.load_fields.items()
        }
        self._never_skipped = {
            key for key, (_, field, *_) in self._by_key.items() if field.required or field.load_default is not missing
        }
        for field in self.load_fields.values():
            field.error_messages["required"] = [reason_if_missing(field)]
        allowed = list(self._by_key)
        unknown = Reason("unknown_field", {"allowed": allowed}) if allowed else Reason("no_fields")
        self.error_messages = {**self.error_messages, "unknown": unknown}  # type: ignore[dict-item]  # a reason

    def _deserialize(
        self, data: Any, *, error_store: ErrorStore, unknown: Any = RAISE, index: int | None = None, **options: Any
    ) -> Any:
        """Load an object as marshmallow does, but skip missing fields that are optional and have no default.

        Marshmallow would process every field of the schema: sixty for a new game that has four.
        """
        if isinstance(data, dict) and len(data) > MAX_FIELDS:
            raise invalid("too_many_fields", max=MAX_FIELDS)
        if not isinstance(data, dict) or unknown != RAISE or index is not None or any(options.values()):
            return super()._deserialize(data, error_store=error_store, unknown=unknown, index=index, **options)
        loaded: dict[str, Any] = {}
        for key in self._by_key:
            if key not in data and key not in self._never_skipped:
                continue
            name, field, unchanged, check = self._by_key[key]
            value = data.get(key, missing)
            try:
                if value is None or value is missing:
                    value = field.deserialize(value, key, data)
                else:  # same as deserialize, in half the time
                    if type(value) is not unchanged:
                        value = field._deserialize(value, key, data)  # noqa: SLF001
                    check(value)
            except ValidationError as error:
                error_store.store_error(error.messages, key)  # type: ignore[no-untyped-call]
                continue
            if value is not missing:
                loaded[name] = value
        for key in data:
            if key not in self._by_key:
                error_store.store_error([self.error_messages["unknown"]], key)  # type: ignore[no-untyped-call]
        return loaded


class BoundedList(fields.List[Any]):
    """A list of ``low`` to ``high`` elements; a list of another length is refused before its elements are loaded."""

    def __init__(self, element: fields.Field[Any] | type[fields.Field[Any]], low: int, high: int, **more: Any) -> None:
        self.high = high
        self._length = Length(low, high)
        super().__init__(element, validate=self._length, **more)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        self._length(value)
        loaded: list[Any] = []
        errors: dict[int, Any] = {}
        for index, element in enumerate(value):
            try:
                loaded.append(self.inner.deserialize(element, **kwargs))
            except ValidationError as error:
                errors[index] = error.messages
                if len(errors) == MAX_FAULTY_ELEMENTS:
                    break
        if errors:
            raise ValidationError(errors)
        return loaded


def doc(text: str, **more: Any) -> dict[str, Any]:
    """Return the metadata of a field for the document."""
    return {"description": text, **more}


_METADATA: Final = ("enum", "example", "pattern")


def described(kind: Callable[..., F], text: str, *arguments: Any, **more: Any) -> F:
    """Return the field ``kind(*arguments)`` of a request; ``more``: its other arguments, and metadata as of ``doc``."""
    metadata = {name: more.pop(name) for name in list(more) if name in _METADATA}
    return kind(*arguments, metadata=doc(text, **metadata), **more)


class StrictInteger(fields.Integer):
    """A JSON integer: neither ``"2"`` nor ``2.0`` nor ``true``."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if type(value) is not int:
            raise invalid("not_an_integer")
        return value


class Seconds(fields.Float):
    """A JSON number of seconds from ``low`` to ``high``, possibly with a fraction; loaded as whole milliseconds."""

    def __init__(self, *, low: int, high: int, metadata: dict[str, Any]) -> None:
        self._low = low
        self._high = high
        super().__init__(metadata={**metadata, "minimum": low, "maximum": high})

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if type(value) not in (int, float):
            raise invalid("not_a_number")
        if not self._low <= value <= self._high:
            raise invalid("out_of_range", min=self._low, max=self._high)
        milliseconds: int = round(value * 1000)
        return milliseconds


class QueryInteger(fields.Integer):
    """An integer in a query, without leading zeros."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if not isinstance(value, str) or not _DIGITS.fullmatch(value):
            raise invalid("not_an_integer")
        return int(value[:_MAX_DIGITS])


class QueryAspect(fields.Float):
    """Width by height of a table in a query: a number from 0.4 to 2.5 with at most one decimal; loaded in tenths."""

    def __init__(self) -> None:
        low, high = _ASPECTS[0] / 10, _ASPECTS[-1] / 10
        text = f"Width by height of the planned table, from {low} to {high} in steps of 0.1."
        super().__init__(load_default=_ASPECT, metadata=doc(text, minimum=low, maximum=high, default=_ASPECT / 10))

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        match = _TENTHS.fullmatch(value) if isinstance(value, str) else None
        tenths = 0 if match is None else int(match[1]) * 10 + int(match[2] or 0)
        if tenths not in _ASPECTS:
            raise invalid("not_an_aspect")
        return tenths


class QueryTime(fields.DateTime):
    """A time in a query, in the form of RFC 3339 and with its zone; loaded in milliseconds since 1970."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        if not isinstance(value, str) or len(value) > MAX_TIME_CHARS or not _RFC3339.fullmatch(value):
            raise invalid("not_a_time")
        try:
            return max(int(datetime.fromisoformat(value.upper()).timestamp() * 1000), 0)
        except (ValueError, OverflowError):
            raise invalid("not_a_time") from None


class QueryWords(fields.List[str]):
    """Comma-separated words in a query, some of ``words``; loaded as a tuple without duplicates."""

    def __init__(self, words: Sequence[str], **more: Any) -> None:
        self._words = words
        super().__init__(fields.String(validate=OneOf(words)), **more)

    def _deserialize(  # type: ignore[override]  # a tuple, which cannot be changed
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> tuple[str, ...]:
        given = tuple(dict.fromkeys(value.split(",")))
        if not set(given) <= set(self._words):
            raise invalid("not_one_of", allowed=list(self._words))
        return given


class QueryBoolean(fields.Boolean):
    """``true`` or ``false`` in a query."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if value not in ("true", "false"):
            raise invalid("not_a_boolean")
        return bool(value == "true")


class StrictBoolean(fields.Boolean):
    """``true`` or ``false``."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if type(value) is not bool:
            raise invalid("not_a_boolean")
        return value


_UNCHANGED: Final[Mapping[type[fields.Field[Any]], type]] = {
    fields.String: str,
    StrictBoolean: bool,
    StrictInteger: int,
}
"""Fields that load a value of this type unchanged."""


class SingleLine(fields.String):
    """One line of text for people: no control characters, and not only spaces."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise invalid("not_a_string")
        if len(value) > MAX_LINE_CHARS:
            raise invalid("too_long", max=MAX_LINE_CHARS)
        if not value.isprintable() and any(
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value
        ):
            raise invalid("control_characters")
        if not value.strip():
            raise invalid("blank")
        return value


class TileField(fields.String):
    """A tile in its notation, loaded as ``Tile``."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Tile:  # type: ignore[override]  # a string is loaded as a tile
        if not isinstance(value, str):
            raise invalid("not_a_string")
        tile = TILES_BY_TEXT.get(value)
        if tile is None:
            raise invalid("not_a_tile", max=MAX_PIPS)
        return tile


class TileList(BoundedList):
    """A list of tiles in their notation; loaded faster if all are valid, as a request may have thousands."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> list[Any]:
        if isinstance(value, list) and len(value) <= self.high:
            try:
                return [TILES_BY_TEXT[name] for name in value]
            except (KeyError, TypeError):  # not a tile, or not a string
                pass
        return super()._deserialize(value, attr, data, **kwargs)


class EmptyInSchema(RequestSchema):
    """An empty object."""


# The usual fields of requests; the first argument is the description.


string: Final[Callable[..., fields.String]] = partial(described, fields.String)
nested: Final[Callable[..., fields.Nested]] = partial(described, fields.Nested)
integer: Final[Callable[..., StrictInteger]] = partial(described, StrictInteger)
boolean: Final[Callable[..., StrictBoolean]] = partial(described, StrictBoolean)
bounded_list: Final[Callable[..., BoundedList]] = partial(described, BoundedList)
query_boolean: Final[Callable[..., QueryBoolean]] = partial(described, QueryBoolean)


def query_integer(text: str, low: int, high: int, **more: Any) -> QueryInteger:
    """Return the field of an integer from ``low`` to ``high`` in a query."""
    return described(QueryInteger, text, validate=Range(low, high), **more)


JsonObject = dict[str, Any]
"""A JSON object, as serializers return it, before it is encoded."""
