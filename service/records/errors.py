"""Records that are rejected.

::

    Refusal
    ├── InvalidRecord      a text that is not a record                           invalid
    └── InvalidForkPoint   a version from which a match cannot be continued    invalid

Owns these errors.
"""

from __future__ import annotations

from service.engine.errors import Refusal


class InvalidRecord(Refusal):
    """A text that is not a record.

    ``sentence`` says in English what was expected; ``line`` and ``column``, from 1, are those of the first wrong
    character.
    """

    code = "invalid"

    def __init__(self, sentence: str, line: int, column: int) -> None:
        super().__init__("record_syntax", line=line, column=column, message=sentence)
        self.sentence = sentence
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.sentence}"


class InvalidForkPoint(Refusal):
    """A version from which a recorded match cannot be continued."""

    code = "invalid"
