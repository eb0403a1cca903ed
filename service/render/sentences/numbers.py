"""Numbers and tiles in words: *three five*, *double six*, *fünfunddreißig*.

The numbers on tiles, 0 to 18, have words of their own, such as *blank* for 0.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from service.engine.tiles import Tile
from service.texts import Language, text, words

Case = Literal["nominative", "genitive", "dative", "accusative"]
"""The grammatical case of a noun, in languages with cases."""


class NumberWord(str):
    """A number in words whose ending a text can change: ``{number:uno/una}`` is *veintiuna* for *veintiuno*.

    Of several pairs, as in ``{number:iuno/iún|uno/un}``, the first whose ending matches the word is used.
    """

    __slots__ = ()

    def __format__(self, endings: str) -> str:
        for pair in endings.split("|") if endings else ():
            ending, _, other = pair.partition("/")
            if self.endswith(ending):
                return f"{self.removesuffix(ending)}{other}"
        return str(self)


def pip_word(number: int, language: Language) -> str:
    """Return a number on a tile: *blank*, *one* … *eighteen*."""
    return words("tiles.pips", language)[number]


def number_word(number: int, language: Language) -> NumberWord:
    """Return a number in words up to 999, in digits from 1000 on. A negative number begins with *minus*."""
    return NumberWord(_in_words(number, language))


def _in_words(number: int, language: Language) -> str:
    if number < 0:
        return text("numbers.negative", language, number=_in_words(-number, language))
    if number >= 1000:
        return str(number)
    hundreds, rest = divmod(number, 100)
    below_hundred = words("numbers.below_hundred", language)[rest]
    if not hundreds:
        return below_hundred
    if not rest:
        return words("numbers.hundreds", language)[hundreds - 1]
    return words("numbers.hundreds_and", language)[hundreds - 1].format(rest=below_hundred)


@cache
def tile_name(tile: Tile, language: Language, case: Case = "nominative") -> str:
    """Return the name of a tile, lower half first: *three five*; a double has an article: *the double six*."""
    if not tile.double:
        return half_names(tile.low, tile.high, language)
    return text(f"tiles.double.{case}", language, double=double_name(tile, language))


@cache
def half_names(first: int, second: int, language: Language) -> str:
    """Return the name of a tile with its halves in this order: *five three*."""
    return text("tiles.halves", language, first=pip_word(first, language), second=pip_word(second, language))


def double_name(tile: Tile, language: Language) -> str:
    """Return the name of a double without an article: *double six*, *Sechserpasch*."""
    return words("tiles.doubles", language)[tile.low]


def capitalized(text: str) -> str:
    """Return the text with a capital first letter; the other letters do not change."""
    return text[:1].upper() + text[1:]
