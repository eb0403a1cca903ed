"""Formats the sentences in the texts of a language, by key.

The values of a sentence must already have the right grammatical form.
"""

from __future__ import annotations

from service.render.sentences.numbers import number_word
from service.texts import Language, template


def text(key: str, language: Language, /, **values: str) -> str:
    """Return the sentence with this key in this language, with its values."""
    return template(f"sentences.{key}", language).format_map(values)


def plural(key: str, number: int, language: Language, /, **values: str) -> str:
    """Return the form of the sentence for this number; its value ``number`` is the number as a word."""
    form = f"{key}.one" if number == 1 else f"{key}.other"
    return text(form, language, number=number_word(number, language), **values)
