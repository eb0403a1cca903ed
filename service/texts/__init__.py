"""All texts for people, in one folder for each language.

Owns the list of languages, and the texts by their keys. A key is the path of a text in the JSON files of its language,
such as ``reasons.fits_nowhere`` or ``games.fido.name``; all languages have the same keys. To add a language, add a
folder. A text can contain values as ``{name}``; a text that depends on a number or a grammatical case has a key for
each form. Does not depend on the use of the texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

Language = str
"""The tag of a language, such as ``en``: the name of its folder."""

Text = str | tuple[str, ...]
"""A text, or a list of words."""

DEFAULT_LANGUAGE: Final = "en"
"""The language for a person who prefers none of ``LANGUAGES``."""


def template(key: str, language: Language) -> str:
    """Return the text with this key, with ``{name}`` in place of each value. Raises ``KeyError``."""
    return _CATALOGUES[language][key]


def text(key: str, language: Language, /, **values: object) -> str:
    """Return the text with this key, with these values inserted. Raises ``KeyError``."""
    return _CATALOGUES[language][key].format_map(values)


def has_text(key: str) -> bool:
    """Return whether there is a text with this key; all languages have the same keys."""
    return key in _CATALOGUES[DEFAULT_LANGUAGE]


def words(key: str, language: Language) -> tuple[str, ...]:
    """Return the list of words with this key, such as the numbers from 0 on. Raises ``KeyError``."""
    return _LISTS[language][key]


def language_names(languages: Sequence[Language]) -> str:
    """Return a list of these languages by their English names: *English, German or Spanish*."""
    *others, last = [text("language.in_english", language) for language in languages]
    return f"{', '.join(others)} or {last}" if others else last


@cache
def rule_page(game: str, language: Language) -> str:
    """Return the rules of the game ``game`` for its players, in Markdown. Raises ``FileNotFoundError``."""
    return (_FOLDER / language / "games" / f"{game}.md").read_text("utf-8")


def page_texts(language: Language) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts that the page shows: under ``table`` those for a running game, under ``views`` all others.

    The names of tiles are the same as in sentences.
    """
    folder = _FOLDER / language
    table, views, tiles = [
        json.loads((folder / name).read_bytes()) for name in ("page/table.json", "page/views.json", "tiles.json")
    ]
    return {"table": table | {"tiles": tiles}, "views": views}


def languages_in(folder: Traversable) -> tuple[Language, ...]:
    """Return the languages with a folder in ``folder``, the default language first."""
    tags = sorted([entry.name for entry in folder.iterdir() if (entry / "games").is_dir()])
    return (DEFAULT_LANGUAGE, *[language for language in tags if language != DEFAULT_LANGUAGE])


def read_texts(folder: Traversable, path: str = "") -> Iterator[tuple[str, Text]]:
    """Yield every text and every list of words in the JSON files of a folder, with its key."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name, _, suffix = entry.name.rpartition(".")
        if entry.is_dir():
            yield from read_texts(entry, f"{path}{entry.name}.")
        elif suffix == "json":
            yield from _flattened(json.loads(entry.read_bytes()), f"{path}{name}")


def _flattened(value: Any, key: str) -> Iterator[tuple[str, Text]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _flattened(item, f"{key}.{name}")
    else:
        yield key, tuple(value) if isinstance(value, list) else value


_FOLDER: Final = files("service.texts")
LANGUAGES: Final = languages_in(_FOLDER)
"""All languages, the default language first."""

_ALL: Final = {language: dict(read_texts(_FOLDER / language)) for language in LANGUAGES}
_CATALOGUES: Final[Mapping[Language, Mapping[str, str]]] = {
    language: {key: value for key, value in texts.items() if isinstance(value, str)} for language, texts in _ALL.items()
}
_LISTS: Final[Mapping[Language, Mapping[str, tuple[str, ...]]]] = {
    language: {key: value for key, value in texts.items() if isinstance(value, tuple)}
    for language, texts in _ALL.items()
}
