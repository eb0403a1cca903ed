"""The names of ends and of players in sentences.

Owns the name of a place on the table, and the second or third person of a sentence. Does not depend on the sentence
around a name.

The sides of the lead have the directions *left*, *right*, *up* and *down*, in the order in which they opened. A place
on an arm of the lead has the direction of the arm. If another double of the arm branches, a place at that double or
behind it is named by its host instead: *the twelve of ten twelve*. A tile is unique in a set, so all names on a table
differ, and the name of an end never changes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from service.engine.layout import SHORT, Layout, Side
from service.engine.tiles import Tile
from service.engine.variant import Rules, Unit
from service.render.sentences.numbers import double_name, half_names, tile_name
from service.render.sentences.texts import text
from service.texts import words

Direction = Literal["left", "right", "up", "down"]

_DIRECTIONS: Final[dict[str, Direction]] = {
    "left": "left",
    "right": "right",
    "e1": "left",
    "e2": "right",
    "e3": "up",
    "e4": "down",
}
"""The direction of each side of the lead, by the name of its end."""
_ORDINALS: Final = ("ordinal.first", "ordinal.second")


class NamedSide(NamedTuple):
    """A side of a tile, with the facts from which its name follows."""

    direction: Direction | None
    """The direction from the lead; ``None`` if the side is named by its host."""
    host: Tile
    side: Side
    number: int
    ordinal: int
    """1 for the short side of a double that opened second, else 0."""
    branches: bool
    """Whether tiles can join short sides of the host."""


class Places:
    """The places of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._covered = layout.covered_ends()
        self._short_sides: dict[int, list[str]] = {}
        """The names of the short sides of each double that branches, in the order in which they opened."""
        sides = [(end.host, end.side, end.name) for end in layout.ends]
        sides += [
            (placement.host, placement.side, name)
            for placement, name in zip(layout.placements, self._covered, strict=True)
            if name is not None
        ]
        for host, side, name in sides:
            if side == SHORT:
                self._short_sides.setdefault(host, []).append(name)
        for names in self._short_sides.values():
            names.sort(key=lambda name: int(name[1:]))  # ends are numbered in the order in which they open

    def of_end(self, name: str) -> NamedSide:
        """Return the place of an end; the end must exist."""
        end = self._layout.end(name)
        assert end is not None
        return self._place(name, end.host, end.side, end.number)

    def of_tile(self, index: int) -> NamedSide:
        """Return the place where a tile joined; the tile must not be the lead."""
        placements, name = self._layout.placements, self._covered[index]
        tile, host, side, _, _, outer = placements[index]
        assert name is not None
        number = tile.shared_number(placements[host].tile) if outer is None else self._layout.outer_half(host)
        return self._place(name, host, side, number)

    def _place(self, name: str, host: int, side: Side, number: int) -> NamedSide:
        names = self._short_sides.get(host, [])
        return NamedSide(
            direction=self._direction(name, host),
            host=self._layout.placements[host].tile,
            side=side,
            number=number,
            ordinal=names.index(name) if side == SHORT else 0,
            branches=bool(names),
        )

    def _direction(self, name: str, host: int) -> Direction | None:
        """Return the direction of an end, free or covered, with this name and host."""
        while host:
            if host in self._short_sides:
                return None
            name, host = self._covered[host] or "", self._layout.placements[host].host
        return _DIRECTIONS[name]


def place_name(place: NamedSide, language: str, *, at: bool = False) -> str:
    """Return the name of a place: *left*, *the twelve of ten twelve*.

    ``at``: return it as an adverbial: *on the left*, *an die Zwölf von zehn zwölf*.
    """
    if place.direction is not None:
        return text(f"at.{place.direction}" if at else f"direction.{place.direction}", language)
    if place.host.double and not place.branches:
        name = host_name(place.host, language)
        return text("at.double", language, place=name) if at else name
    host = tile_name(place.host, language, "genitive")
    if not place.host.double:
        number = words("tiles.pip_nouns", language)[place.number]
        return text("at.half" if at else "place.half", language, number=number, host=host)
    if place.side == SHORT:
        ordinal = text(_ORDINALS[place.ordinal], language)
        return text("at.short" if at else "place.short", language, ordinal=ordinal, host=host)
    return text("at.long" if at else "place.long", language, host=host)


def host_name(tile: Tile, language: str) -> str:
    """Return the name of a tile without an article."""
    return double_name(tile, language) if tile.double else half_names(tile.low, tile.high, language)


# The names of players, and the second or third person of a sentence.


MAX_SENTENCE: Final = 140
"""The maximum number of characters of a sentence about an event or a state."""
MAX_NAME: Final = 24
"""The maximum number of characters of a name in a sentence; a longer name is cut and ends with an ellipsis."""
_JOINER: Final = "\u200d"
_ELLIPSIS: Final = "…"

Naming = Callable[[int], str]
"""Returns the name of a seat."""


class Reader(NamedTuple):
    """The reader of the sentences, and the facts of the game that the sentences need."""

    seat: int | None
    """The seat that is *you*; ``None`` for a spectator."""
    names: tuple[str | None, ...]
    """In seat order. A seat without a name is *Player 1*, *Player 2*, … in the language."""
    language: str
    partners: frozenset[int] = frozenset()
    """The seats that are called partners."""
    unit: Unit = "points"
    words: tuple[str, ...] = ()
    """As in ``Variant``."""
    low_wins: bool = False
    """Whether the lowest total wins; sentences then speak of points against a player."""

    def of_game(self, rules: Rules) -> Reader:
        """Return this reader with the facts of the game."""
        return self._replace(unit=rules.unit, words=rules.words, low_wins=rules.best == "lowest")


def about(reader: Reader, key: str, seat: int, **values: str) -> str:
    """Return the text with this key about a seat: with its name, or in the second person if it is the reader's."""
    return fitted(reader, lambda name: in_person(reader, name, key, seat, **values))


def in_person(reader: Reader, name: Naming, key: str, seat: int, **values: str) -> str:
    """Return the same as ``about``, with the name that ``name`` returns."""
    if seat == reader.seat:
        return text(f"{key}.you", reader.language, **values)
    return text(key, reader.language, name=name(seat), **values)


def fitted(reader: Reader, make: Callable[[Naming], str]) -> str:
    """Return the sentence that ``make`` builds, with names short enough for ``MAX_SENTENCE`` characters."""
    sentence = ""
    for max_length in range(MAX_NAME, 0, -1):
        sentence = make(lambda seat, max_length=max_length: _name(reader, seat, max_length))  # type: ignore[misc]
        if len(sentence) <= MAX_SENTENCE:
            break
    return sentence


def joined(words: Sequence[str], language: str, key: str = "list.and") -> str:
    """Return the words as a list: *one, two and three*; with ``list.or``: *one, two or three*."""
    if len(words) == 1:
        return words[0]
    return text(key, language, first=", ".join(words[:-1]), last=words[-1])


def _name(reader: Reader, seat: int, max_length: int) -> str:
    name = reader.names[seat]
    shown = _shortened(text("player", reader.language, number=str(seat + 1)) if name is None else name, max_length)
    return text("partner", reader.language, name=shown) if seat in reader.partners else shown


def _shortened(name: str, max_length: int) -> str:
    """Return the name in at most ``max_length`` characters; an accented letter or joined emoji is not divided."""
    if len(name) <= max_length:
        return name
    end = max_length - len(_ELLIPSIS)
    while end and (_belongs(name[end]) or name[end - 1] == _JOINER):
        end -= 1
    return name[:end].rstrip() + _ELLIPSIS


def _belongs(character: str) -> bool:
    """Return whether a character combines with the character before it."""
    return character == _JOINER or unicodedata.category(character) in {"Mn", "Mc", "Me"}
