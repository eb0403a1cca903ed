"""Small things as text, and how a text is read that has only one spelling.

Owns how numbers and quoted texts are written, and the place of the first character that cannot be right. A
character that would break a quoted text (a control character, a quotation mark, a backslash, a line separator,
half of a surrogate pair) is written as a backslash and six hexadecimal digits; no other one is. Must not know
what a text says.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from service.engine.errors import InvalidNotation

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


def quote(text: str) -> str:
    """The text between quotation marks, on one line whatever it holds."""
    return f'"{_UNQUOTED.sub(lambda found: f"{chr(92)}{ord(found[0]):06x}", text)}"'


class Scanner:
    """A text read from left to right; what is not as it must be is ``InvalidNotation`` with its place."""

    __slots__ = ("at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def accept(self, literal: str) -> bool:
        """Whether this stands here; then it has been read."""
        if self.text.startswith(literal, self.at):
            self.at += len(literal)
            return True
        return False

    def peek(self, pattern: re.Pattern[str]) -> bool:
        """Whether the pattern finds something here; it is not read."""
        return pattern.match(self.text, self.at) is not None

    def expect(self, literal: str) -> None:
        """Read this, which must stand here."""
        if not self.accept(literal):
            for character in literal:
                if not self.accept(character):
                    self.fail(f"Here {literal!r} is expected.")

    def match(self, pattern: re.Pattern[str], what: str) -> str:
        """Read what the pattern finds here, which must be something; ``what`` names it."""
        found = pattern.match(self.text, self.at)
        if found is None:
            self.fail(f"Here {what} is expected.")
        self.at = found.end()
        return found[0]

    def number(self, pattern: re.Pattern[str] = INTEGER) -> int:
        """Read a number of one of the four forms above."""
        return int(self.match(pattern, "a number"))

    def quoted(self) -> str:
        """Read a text between quotation marks."""
        self.expect('"')
        found = _QUOTED.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        if not self.accept('"'):
            self.fail("The quoted text must go on, or end, here in another way.")
        return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), found[0])

    def end(self) -> None:
        """Nothing more may follow."""
        if self.at < len(self.text):
            self.fail("Here the line must end.")

    def fail(self, sentence: str, at: int | None = None) -> NoReturn:
        """Say that the text cannot be right here, or at the given place."""
        raise InvalidNotation(sentence, self.at if at is None else at)
