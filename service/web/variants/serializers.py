"""Variants as JSON objects, in the language of the reader."""

from __future__ import annotations

from service.engine.options import Option
from service.engine.variant import Variant
from service.games.model.seats import LEVELS
from service.games.queries.catalogue import (
    deal_table,
    level_name,
    level_strength,
    option_description,
    option_title,
    value_titles,
)
from service.render.example_table import example_table
from service.texts import Language, rule_page, text
from service.web.fields.values import JsonObject


def bots_json(language: Language) -> list[JsonObject]:
    """Return the levels of computer players."""
    return [_bot(level, language) for level in LEVELS]


def _bot(level: str, language: Language) -> JsonObject:
    return {"id": level, "name": level_name(level, language), "summary": text(f"levels.{level}.summary", language)}


def variant_summary_json(variant: Variant, language: Language) -> JsonObject:
    """Return a variant in the list of variants."""
    return {
        "id": variant.key,
        "name": text(f"games.{variant.key}.name", language),
        "summary": text(f"games.{variant.key}.summary", language),
        "players": {"min": variant.players.low, "max": variant.players.high},
        "difficulty": variant.difficulty,
        "minutes": variant.minutes,
        "also_known_as": [
            {
                "name": alias.name,
                "language": alias.language,
                "region": text(f"games.{variant.key}.regions.{alias.name}", language),
            }
            for alias in variant.aliases
        ],
        "example": [
            {"tile": each.tile.name, "x": each.x, "y": each.y, "rotation": each.rotation, "face_down": each.face_down}
            for each in example_table(variant)
        ],
    }


def variant_json(variant: Variant, language: Language) -> JsonObject:
    """Return a variant in full: its options as a JSON Schema, its deals, its scoring, its rules."""
    return {
        **variant_summary_json(variant, language),
        "edition": variant.edition,
        "language": language,
        "options": {
            "type": "object",
            "properties": {option.key: _option(variant, option, language) for option in variant.options},
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
        "scoring": {"best": variant.best, "text": text(f"games.{variant.key}.scoring", language)},
        "bots": [{**_bot(level, language), "strength": level_strength(level, variant, language)} for level in LEVELS],
        "rules": rule_page(variant.key, language),
    }


def _option(variant: Variant, option: Option, language: Language) -> JsonObject:
    result: JsonObject = {
        "title": option_title(variant, option, language),
        "description": option_description(variant, option, language),
    }
    if option.values:
        kinds = {bool: "boolean", int: "integer", str: "string"}
        result["type"] = kinds[type(option.values[0])]
        if result["type"] != "boolean":
            result["enum"] = list(option.values)
        titles = value_titles(variant, option, language)
        if titles:
            named = zip(option.values, titles, strict=True)
            result["oneOf"] = [{"const": value, "title": title} for value, title in named]
    else:
        result |= {"type": "integer", "minimum": option.low, "maximum": option.high}
    if option.default is not None:
        result["default"] = option.default
    return result
