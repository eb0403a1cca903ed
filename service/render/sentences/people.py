"""Who is spoken to and who is spoken of: names, and the person of a sentence.

Owns how a player is named, and how long a sentence is: at most ``MAX_SENTENCE`` characters, for which names are
shortened where they have to be.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from service.render.sentences.texts import text

MAX_SENTENCE: Final = 140
"""The most characters of what is told of an event or a state."""
LONGEST_NAME: Final = 24
"""The most characters of a name in it; a longer one ends with an ellipsis."""
_JOINER: Final = "\u200d"
_ELLIPSIS: Final = "…"

Naming = Callable[[int], str]
"""Names a seat."""


class Reader(NamedTuple):
    """For whom the sentences are: the seat that *you* are, ``None`` for nobody; the names of all seats; the language.

    A seat without a name is *Player 1*, *Player 2*, … or *Spieler 1*, … The seats of ``partners`` are called so.
    """

    seat: int | None
    names: tuple[str | None, ...]
    language: str
    partners: frozenset[int] = frozenset()


def about(reader: Reader, key: str, seat: int, **values: str) -> str:
    """Return the text with this key about a seat, with its name, or in the second person for its player."""
    if seat == reader.seat:
        return text(f"{key}.you", reader.language, **values)
    return fitted(reader, lambda name: text(key, reader.language, name=name(seat), **values))


def fitted(reader: Reader, make: Callable[[Naming], str]) -> str:
    """Return what ``make`` returns, with names so short that it has at most ``MAX_SENTENCE`` characters."""
    sentence = ""
    for longest in range(LONGEST_NAME, 0, -1):
        sentence = make(lambda seat, longest=longest: _name(reader, seat, longest))  # type: ignore[misc]
        if len(sentence) <= MAX_SENTENCE:
            break
    return sentence


def joined(words: Sequence[str], language: str, key: str = "list.and") -> str:
    """Return the words as a list: *one, two and three*; with ``list.or``: *one, two or three*."""
    if len(words) == 1:
        return words[0]
    return text(key, language, first=", ".join(words[:-1]), last=words[-1])


def _name(reader: Reader, seat: int, longest: int) -> str:
    name = reader.names[seat]
    shown = _shortened(text("player", reader.language, number=str(seat + 1)) if name is None else name, longest)
    return text("partner", reader.language, name=shown) if seat in reader.partners else shown


def _shortened(name: str, longest: int) -> str:
    """Return the name in at most this many characters; no accent or joined emoji is cut off from what it belongs to."""
    if len(name) <= longest:
        return name
    end = longest - len(_ELLIPSIS)
    while end and (_belongs(name[end]) or name[end - 1] == _JOINER):
        end -= 1
    return name[:end].rstrip() + _ELLIPSIS


def _belongs(character: str) -> bool:
    """Return whether a character is a part of the one before it."""
    return character == _JOINER or unicodedata.category(character) in {"Mn", "Mc", "Me"}
