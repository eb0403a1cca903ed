"""The lines of a record, from a text as an editor or a mail may have left it.

A record is written in exactly one form, and read with what such programs add or lose: a byte order mark, carriage
returns and white space at the ends of lines, blank lines around the text, no line feed at its end. None of it can mean
anything. Owns what is forgiven.
"""

from __future__ import annotations

from typing import NamedTuple

_BYTE_ORDER_MARK = "\ufeff"


class SourceLines(NamedTuple):
    """The lines, without their ends, and how many lines of the text were before them."""

    lines: list[str]
    before: int


def split_lines(text: str) -> SourceLines:
    """Return the lines of a text that may be a record. Takes linear time."""
    lines = [line.rstrip(" \t\r") for line in text.removeprefix(_BYTE_ORDER_MARK).split("\n")]
    before, end = 0, len(lines)
    while end and not lines[end - 1]:
        end -= 1
    while before < end and not lines[before]:
        before += 1
    return SourceLines(lines[before:end], before)
