"""Variants as JSON objects, in the language of the reader."""

from __future__ import annotations

from service.engine.options import Option
from service.engine.variant import Variant
from service.games.queries.catalogue import BOT_LEVELS, Language, deal_table, level_strength, localize, rule_page
from service.web.fields.values import JsonObject


def bots_json(language: Language) -> list[JsonObject]:
    """The levels of computer players."""
    return [{"id": level.key, "summary": localize(level.summary, language)} for level in BOT_LEVELS]


def variant_summary_json(variant: Variant, language: Language) -> JsonObject:
    """A variant in the list of variants."""
    return {
        "id": variant.key,
        "name": localize(variant.name, language),
        "summary": localize(variant.summary, language),
        "players": {"min": variant.players.low, "max": variant.players.high},
        "minutes": variant.minutes,
        "also_known_as": [
            {"name": alias.name, "language": alias.language, "region": localize(alias.region, language)}
            for alias in variant.aliases
        ],
    }


def variant_json(variant: Variant, language: Language) -> JsonObject:
    """A variant in full: its options as a JSON Schema, its deals, its scoring, its rules."""
    return {
        **variant_summary_json(variant, language),
        "edition": variant.edition,
        "language": language,
        "options": {
            "type": "object",
            "properties": {option.key: _option(option, language) for option in variant.options},
            "unevaluatedProperties": False,
        },
        "deals": [
            {
                "set": row.highest,
                "players": row.players,
                "hand": row.hand,
                "stock": row.stock,
                "drawable": row.drawable,
            }
            for row in deal_table(variant.key)
        ],
        "scoring": {"best": variant.best, "text": localize(variant.scoring, language)},
        "bots": [
            {
                "id": level.key,
                "summary": localize(level.summary, language),
                "strength": level_strength(level, variant, language),
            }
            for level in BOT_LEVELS
        ],
        "rules": rule_page(variant.key, language),
    }


def _option(option: Option, language: Language) -> JsonObject:
    result: JsonObject = {"title": localize(option.label, language), "description": localize(option.help, language)}
    if option.values:
        kinds = {bool: "boolean", int: "integer", str: "string"}
        result["type"] = kinds[type(option.values[0])]
        if result["type"] != "boolean":
            result["enum"] = list(option.values)
    else:
        result |= {"type": "integer", "minimum": option.low, "maximum": option.high}
    if option.default is not None:
        result["default"] = option.default
    return result
