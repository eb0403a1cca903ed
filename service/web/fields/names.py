"""The fields of names, each one line of text that cannot change the text around it, and of refs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import groupby
from typing import Any, Final

from marshmallow import fields

from service.web.fields.strict import LINE_PATTERN, Length, SingleLine, described, invalid

MAX_NAME_CHARS: Final = 60
MAX_MARKS: Final = 4
"""Maximum number of combining marks on a character: languages need up to four; higher stacks cover other lines."""

_JOINERS: Final = "\u200c\u200d"
"""Zero-width characters that Persian, Indian languages and emoji need, between two characters that are not ASCII."""
_MISPLACED_JOINER: Final = re.compile(rf"(\A|[\x00-\x7f{_JOINERS}])[{_JOINERS}]|[{_JOINERS}]([\x00-\x7f]|\Z)")
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2065\u3164\uffa0\ufff0-\ufff8\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
"""Invisible characters that are not in the category ``Cf``: fillers, and code points reserved for such characters."""
_BLANK: Final = "\u2800"
"""The braille pattern without dots: invisible, but in the category of symbols."""
_INVISIBLE_IN_NAME: Final = ("C", "M", "Z")
"""First letters of categories of invisible characters, except ``Cn``: unassigned characters can be new emoji."""


class Name(SingleLine):
    """A name: one visible line of text, without invisible characters or stacks of combining marks.

    It is loaded trimmed and normalised (NFC), so that equal names have equal characters.
    """

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        name = unicodedata.normalize("NFC", super()._deserialize(value, attr, data, **kwargs).strip())
        if name.isascii():  # SingleLine has checked that it is not blank, and the checks below do not concern ASCII
            return name
        characters = [(character, unicodedata.category(character)) for character in name]
        is_formatted = any([category == "Cf" and character not in _JOINERS for character, category in characters])
        if is_formatted or _INVISIBLE.search(name) or _MISPLACED_JOINER.search(name):
            raise invalid("invisible_characters")
        if not any(
            category == "Cn" or (category[0] not in _INVISIBLE_IN_NAME and character != _BLANK)
            for character, category in characters
        ):
            raise invalid("nothing_visible")
        # NFD also shows the marks that are part of a character. A joiner does not end a stack of marks.
        decomposed = [unicodedata.category(character) for character in unicodedata.normalize("NFD", name)]
        marks = [category in {"Mn", "Me"} for category in decomposed if category != "Cf"]
        if any(are_marks and len(list(stack)) > MAX_MARKS for are_marks, stack in groupby(marks)):
            raise invalid("too_many_marks", max=MAX_MARKS)
        return name


def name_field(text: str, *, example: str = "Ada", **arguments: Any) -> Name:
    """Return the field of a name; ``text``, a sentence, says whose name it is."""
    return described(
        Name,
        f"{text} One line with something to see in it, without invisible characters (joiners, as in emoji, "
        f"excepted) and with at most {MAX_MARKS} combining marks on a character. Blanks around it are removed, and "
        "it is normalised (NFC).",
        validate=Length(1, MAX_NAME_CHARS),
        **arguments,
        pattern=LINE_PATTERN,
        example=example,
    )


# The field of a ref: the name that an application gives a game or a player.


MAX_REF_CHARS: Final = 64

_INVISIBLE_IN_REF: Final = ("C", "Z")
"""First letters of the categories of characters that cannot be seen."""


class Reference(fields.String):
    """A ref: 1 to 64 visible characters, without blanks."""

    def __init__(self, **more: Any) -> None:
        super().__init__(validate=Length(1, MAX_REF_CHARS), **more)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if len(text) <= MAX_REF_CHARS and not _is_visible(text):
            raise invalid("not_visible")
        return text


def is_reference(text: str) -> bool:
    """Return whether ``text`` is a valid ref."""
    return 1 <= len(text) <= MAX_REF_CHARS and _is_visible(text)


def _is_visible(text: str) -> bool:
    return not any([unicodedata.category(character)[0] in _INVISIBLE_IN_REF for character in text])


def ref_field(text: str, **more: Any) -> Reference:
    """Return the field of a ref; ``text``, without a full stop, says what it names and who can read it."""
    return described(
        Reference,
        f"{text}, and to nobody else. Opaque: {MAX_REF_CHARS} visible characters at most, without blanks.",
        **more,
        pattern=r"^[^\s\u0000-\u001f\u007f-\u009f]+$",
        example="player-4711",
    )
