"""Numbers and tiles in words, as they are said: *three five*, *double six*, *fünfunddreißig*.

Owns the words for numbers and for tiles. The numbers on tiles have nineteen words in each language, 0 is *blank*; any
other number is said as people count. Does not depend on sentences.
"""

from __future__ import annotations

from typing import Final, Literal

from service.engine.tiles import Tile

Case = Literal["nominative", "genitive", "dative", "accusative"]
"""The grammatical case of a German noun; English has none."""

BLANK: Final = "blank"
_ONES: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    ),
    "de": (
        *("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"),
        *("dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"),
    ),
}
_TENS: Final[dict[str, tuple[str, ...]]] = {
    "en": ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
    "de": ("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"),
}
_MINUS: Final = "minus"
"""The same word in both languages."""
_ARTICLES: Final[dict[Case, str]] = {"nominative": "der", "genitive": "des", "dative": "dem", "accusative": "den"}


def pip_word(number: int, language: str) -> str:
    """A number on a tile: *blank*, *one* … *eighteen*."""
    return _ONES[language][number] if number else BLANK


def number_word(number: int, language: str) -> str:
    """A number as people count, in words up to 999, in digits from 1000 on; a negative one begins with *minus*."""
    if number < 0:
        return f"{_MINUS} {number_word(-number, language)}"
    if number >= 1000:
        return str(number)
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _below_hundred(rest, language)
    if language == "de":
        return f"{_prefix(hundreds)}hundert{_below_hundred(rest, language) if rest else ''}"
    return f"{_ONES[language][hundreds]} hundred{f' and {_below_hundred(rest, language)}' if rest else ''}"


def _below_hundred(number: int, language: str) -> str:
    if number < 20:
        return _ONES[language][number]
    ten, one = _TENS[language][number // 10 - 2], number % 10
    if not one:
        return ten
    return f"{_prefix(one)}und{ten}" if language == "de" else f"{ten}-{_ONES[language][one]}"


def _prefix(number: int) -> str:
    """A German digit as the first part of a word: *ein*undzwanzig, *ein*hundert."""
    return "ein" if number == 1 else _ONES["de"][number]


def tile_name(tile: Tile, language: str, case: Case = "nominative") -> str:
    """The name of a tile, the lower half first: *three five*, *double six*; a German double with its article."""
    if not tile.double:
        return half_names(tile.low, tile.high, language)
    if language == "de":
        return f"{_ARTICLES[case]} {double_name(tile, language, case)}"
    return double_name(tile, language)


def half_names(first: int, second: int, language: str) -> str:
    """A tile by its halves, in this order, as it lies in a line: *five three*."""
    return f"{pip_word(first, language)} {pip_word(second, language)}"


def double_name(tile: Tile, language: str, case: Case = "nominative") -> str:
    """The name of a double without an article: *double six*, *Sechserpasch*."""
    word = pip_word(tile.low, language)
    if language == "en":
        return f"double {word}"
    stem = {"blank": "Blank", "eins": "Einer", "sieben": "Siebener"}.get(word, f"{word}er".capitalize())
    return f"{stem}pasch{'s' if case == 'genitive' else ''}"


def capitalized(text: str) -> str:
    """The text with its first letter as at the beginning of a sentence; the others as they are."""
    return text[:1].upper() + text[1:]
