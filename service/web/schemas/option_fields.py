"""The fields of house rules, derived from the options of the variants, for requests and for responses."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from service.engine.options import Option, format_value
from service.engine.variants import variants
from service.web.schemas.fields import StrictBoolean, StrictInteger, doc


def _option_field(key: str, *, in_request: bool) -> fields.Field[Any]:
    """The field of a house rule; an enumeration is closed only in requests."""
    options = [option for variant in variants().values() for option in variant.options if option.key == key]
    where = [variant.key for variant in variants().values() if any(option.key == key for option in variant.options)]
    text = f"{options[0].help.en} In {', '.join(f'`{each}`' for each in where)}."
    values = sorted({format_value(value) for option in options for value in option.values})
    if not in_request:
        kind = type(options[0].values[0]) if options[0].values else int
        choices = f" One of {', '.join(f'`{value}`' for value in values)}." if kind is str else ""
        fields_of: dict[type, type[fields.Field[Any]]] = {bool: fields.Boolean, int: fields.Integer, str: fields.String}
        return fields_of[kind](metadata=doc(text + choices))
    if not options[0].values:
        low, high = min(option.low for option in options), max(option.high for option in options)
        return StrictInteger(metadata=doc(text, minimum=low, maximum=high))
    if isinstance(options[0].values[0], bool):
        return StrictBoolean(metadata=doc(text))
    if isinstance(options[0].values[0], int):
        return StrictInteger(metadata=doc(text, enum=sorted(int(value) for value in values)))
    return fields.String(metadata=doc(text, enum=values))


def option_fields(*, in_request: bool, **more: fields.Field[Any]) -> dict[str, fields.Field[Any]]:
    """A field for every option of every variant, by its key, and the fields in ``more``."""
    keys: dict[str, Option] = {option.key: option for variant in variants().values() for option in variant.options}
    return {key: _option_field(key, in_request=in_request) for key in sorted(keys)} | more
