"""What is said no to when a record is read, or played on from.

::

    Refusal
    ├── BadRecord     a text that is no record            invalid
    └── BadPosition   no version that can be played on    invalid
"""

from __future__ import annotations

from service.engine.errors import Refusal


class InvalidRecord(Refusal):
    """A text that is no record. ``line`` and ``column`` count from 1 and name the first place that cannot be right."""

    code = "invalid"

    def __init__(self, sentence: str, line: int, column: int) -> None:
        super().__init__(sentence)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.sentence}"


class InvalidForkPoint(Refusal):
    """A version from which a recorded match cannot be played on."""

    code = "invalid"
