"""Schema fields for the variants: their keys, numbers of seats and options, as the registry has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from marshmallow import fields

from service.engine.options import Option, format_value
from service.engine.variant import Variant
from service.engine.variants import variants
from service.games.queries.catalogue import option_description
from service.texts import DEFAULT_LANGUAGE
from service.web.fields.strict import Known, StrictBoolean, StrictInteger, doc

MAX_SEATS: Final = max(variant.players.high for variant in variants().values())
MIN_SEATS: Final = min(variant.players.low for variant in variants().values())
KNOWN_VARIANT: Final = Known(list(variants()))


def _option_field(key: str, *, in_request: bool) -> fields.Field[Any]:
    """Return the field of an option; its words are a closed enumeration in requests only."""
    by_variant = [
        (variant, option) for variant in variants().values() for option in variant.options if option.key == key
    ]
    options = [option for _, option in by_variant]
    text = " ".join([f"{', '.join(where)}: {text}" for text, where in _variants_by_text(by_variant).items()])
    kind = type(options[0].values[0]) if options[0].values else int
    if kind is bool:
        return StrictBoolean(metadata=doc(text))
    if kind is str:
        values = {"enum": sorted({str(value) for option in options for value in option.values})} if in_request else {}
        return fields.String(metadata=doc(text, **values))
    if not in_request:
        return fields.Integer(metadata=doc(text))
    low = min(min(option.values, default=option.low) for option in options)
    high = max(max(option.values, default=option.high) for option in options)
    return StrictInteger(metadata=doc(text, minimum=low, maximum=high))


def _variants_by_text(options: Sequence[tuple[Variant, Option]]) -> dict[str, list[str]]:
    """Return the descriptions of an option with its values, each with the variants that it describes."""
    result: dict[str, list[str]] = {}
    for variant, option in options:
        text = option_description(variant, option, DEFAULT_LANGUAGE)
        if option.values and not isinstance(option.values[0], bool):
            text += f" One of {', '.join(f'`{format_value(value)}`' for value in option.values)}."
        result.setdefault(text, []).append(f"`{variant.key}`")
    return result


def option_fields(*, in_request: bool) -> dict[str, fields.Field[Any]]:
    """Return a field for every option of every variant, by its key."""
    keys = sorted({option.key for variant in variants().values() for option in variant.options})
    return {key: _option_field(key, in_request=in_request) for key in keys}
