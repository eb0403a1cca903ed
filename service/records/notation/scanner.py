"""A scanner for texts with exactly one spelling, and the notation of numbers, tiles and quoted texts.

Owns these notations, and the offset of the first wrong character. In a quoted text, a control character, a quotation
mark, a backslash, a line separator and half of a surrogate pair are escaped by a backslash and six hexadecimal digits;
other characters are never escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NoReturn, TypeVar

from service.engine.errors import InvalidNotation
from service.engine.tiles import TILES, Tile

NATURAL: Final = re.compile(r"0|[1-9][0-9]{0,14}")
"""A number from 0 on, of at most 15 digits."""
POSITIVE: Final = re.compile(r"[1-9][0-9]{0,14}")
"""A number from 1 on, of at most 15 digits."""
INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,14}")
"""A number of at most 15 digits."""
SIGNED: Final = re.compile(r"\+(?:0|[1-9][0-9]{0,14})|-[1-9][0-9]{0,14}")
"""The same with its sign."""

_QUOTED: Final = re.compile(
    r'(?:[^\x00-\x1f"\\\x7f-\x9f\u2028\u2029\ud800-\udfff]'
    r"|\\0000(?:[0189][0-9a-f]|22|5c|7f)|\\00202[89]|\\00d[89a-f][0-9a-f]{2})*"
)
_ESCAPED: Final = re.compile(r"\\([0-9a-f]{6})")
_UNQUOTED: Final = re.compile(r'[\x00-\x1f"\\\x7f-\x9f\u2028\u2029\ud800-\udfff]')


Parsed = TypeVar("Parsed")


def quote(text: str) -> str:
    """Return the text in quotation marks, escaped so that it is on one line."""
    return f'"{_UNQUOTED.sub(lambda match: f"{chr(92)}{ord(match[0]):06x}", text)}"'


class Scanner:
    """Reads a text from left to right. All methods but ``accept`` and ``peek`` can raise ``InvalidNotation``."""

    __slots__ = ("offset", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0

    def accept(self, literal: str) -> bool:
        """Read this literal if it comes next; return whether it did."""
        if self.text.startswith(literal, self.offset):
            self.offset += len(literal)
            return True
        return False

    def peek(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the pattern matches here, without reading."""
        return pattern.match(self.text, self.offset) is not None

    def expect(self, literal: str) -> None:
        """Read this literal, which must come next."""
        if not self.accept(literal):
            for character in literal:
                if not self.accept(character):
                    self.fail(f"Here {literal!r} is expected.")

    def match(self, pattern: re.Pattern[str], description: str) -> str:
        """Read and return the text that the pattern matches here; the error message contains ``description``."""
        match = pattern.match(self.text, self.offset)
        if match is None:
            self.fail(f"Here {description} is expected.")
        self.offset = match.end()
        return match[0]

    def number(self, pattern: re.Pattern[str] = INTEGER) -> int:
        """Read a number in one of the four forms above."""
        return int(self.match(pattern, "a number"))

    def quoted(self) -> str:
        """Read a quoted text; returns it unescaped."""
        self.expect('"')
        match = _QUOTED.match(self.text, self.offset)
        assert match is not None
        self.offset = match.end()
        if not self.accept('"'):
            self.fail("The quoted text must go on, or end, here in another way.")
        return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), match[0])

    def row(self, separator: str, scan: Callable[[Scanner], Parsed]) -> tuple[Parsed, ...]:
        """Read one part or more with ``scan``, as many as separators follow."""
        parts = [scan(self)]
        while self.accept(separator):
            parts.append(scan(self))
        return tuple(parts)

    def end(self) -> None:
        """Check that everything has been read."""
        if self.offset < len(self.text):
            self.fail("Here the line must end.")

    def fail(self, sentence: str, offset: int | None = None) -> NoReturn:
        """Raise ``InvalidNotation`` for the current offset, or for ``offset``."""
        raise InvalidNotation(sentence, self.offset if offset is None else offset)


# The notation of tiles. ``-`` stands for no tile.


_TILE: Final = re.compile(r"[0-9]{1,2}-[0-9]{1,2}")
_ANOTHER: Final = re.compile(" [0-9]")
_NAMED: Final = {tile.name: tile for tile in TILES}


def format_tiles(tiles: Iterable[Tile]) -> str:
    """Return the names of the tiles, separated by spaces."""
    return " ".join([tile.name for tile in tiles]) or "-"


def scan_tile(scanner: Scanner) -> Tile:
    """Read a tile, written with its lower half first."""
    start = scanner.offset
    tile = _NAMED.get(scanner.match(_TILE, "a tile"))
    if tile is None:
        scanner.fail('A tile is written like "0-6": two halves from 0 to 18, the lower one first.', start)
    return tile


def scan_tiles(scanner: Scanner) -> tuple[Tile, ...]:
    """Read all tiles that follow."""
    if scanner.accept("-"):
        return ()
    tiles = [scan_tile(scanner)]
    while scanner.peek(_ANOTHER):
        scanner.expect(" ")
        tiles.append(scan_tile(scanner))
    return tuple(tiles)
