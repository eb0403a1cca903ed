"""The table in words: its ends in one sentence each, and the whole of it, arm by arm.

Owns the order in which a table is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from service import texts
from service.engine.layout import CLOSED, OPEN, SHORT, End, Layout
from service.render.sentences.numbers import capitalized, half_names, number_word, pip_word, tile_name
from service.render.sentences.places import Places, both_short_sides, host_name, place_name
from service.render.sentences.texts import LEFT, plural, text

MAX_DESCRIPTION: Final = 4000
"""The most characters of a description; of tiles beyond it only the number is described."""
_RESERVED: Final = 40
"""Characters of the sentence with that number."""


def board_sentence(layout: Layout, language: str) -> str:
    """Return the number of tiles, the ends in their order, and their sum where ends are counted."""
    return " ".join([_count(layout, language), *_ends(layout, language)])


def board_description(layout: Layout, language: str) -> str:
    """Return the whole table in at most ``MAX_DESCRIPTION`` characters: the tiles arm by arm, then the ends.

    The tiles of an arm are in their order from the lead, each with the half first that touches the one before; those of
    a line are read from left to right.
    """
    first, last = _count(layout, language), " ".join(_ends(layout, language))
    left = MAX_DESCRIPTION - len(first) - len(last) - _RESERVED
    sentences, described = [first], 0
    for sentence, tiles in _tiles(layout, language):
        left -= len(sentence) + 1
        if left < 0:
            more = len(layout.placements) - described
            sentences.append(capitalized(plural("board.more", more, language)))
            break
        sentences.append(sentence)
        described += tiles
    return " ".join([*sentences, *([last] if last else [])])


def _tiles(layout: Layout, language: str) -> Iterator[tuple[str, int]]:
    """Yield the tiles in sentences, each with the number of tiles in it."""
    if not layout.placements:
        return
    places = Places(layout)
    arms = _arms(layout)
    if layout.is_line:
        line = [_tile(layout, 0, language)]
        for arm in arms:
            to_the_left = places.of_tile(arm[0]).direction == LEFT
            names = [_tile(layout, index, language, touching_last=to_the_left) for index in arm]
            line = [*names[::-1], *line] if to_the_left else [*line, *names]
        yield text("board.line", language, tiles=", ".join(line)), len(line)
        return
    yield text("board.lead", language, tile=tile_name(layout.placements[0].tile, language)), 1
    for arm in arms:
        place = capitalized(place_name(places.of_tile(arm[0]), language))
        names = [_tile(layout, index, language) for index in arm]
        yield text("board.arm", language, place=place, tiles=", ".join(names)), len(names)


def _arms(layout: Layout) -> Iterator[list[int]]:
    """Yield the arms in the order in which they began: the tiles of each from the lead on.

    An arm begins at a side of the lead or at a short side of another double, whose far long side continues its own arm.
    """
    placements = layout.placements
    ahead: dict[int, int] = {}
    first: list[int] = []
    for joined, placement in enumerate(placements[1:], 1):
        if placement.host and placement.side != SHORT:
            ahead[placement.host] = joined
        else:
            first.append(joined)
    for each in first:
        index: int | None = each
        arm = []
        while index is not None:
            arm.append(index)
            index = ahead.get(index)
        yield arm


def _tile(layout: Layout, index: int, language: str, *, touching_last: bool = False) -> str:
    """Return a tile with the half first that touches its host, or last; a double by its name."""
    tile, face_down = layout.placements[index].tile, layout.placements[index].face_down
    first, second = layout.inner_half(index), layout.outer_half(index)
    if touching_last:
        first, second = second, first
    name = host_name(tile, language) if tile.double else half_names(first, second, language)
    return texts.text("tiles.face_down", language, tile=name) if face_down else name


def _count(layout: Layout, language: str) -> str:
    if not layout.placements:
        return text("board.empty", language)
    return capitalized(plural("board.count", len(layout.placements), language))


def _ends(layout: Layout, language: str) -> Iterator[str]:
    if not layout.placements:
        return
    if all([end.gate == CLOSED for end in layout.ends]):
        yield text("board.all_closed", language)
    else:
        yield plural("board.ends", len(layout.ends), language, ends=", ".join(_end_names(layout, language)))
    if layout.counts_ends:
        yield text("board.sum", language, number=number_word(layout.ends_sum, language))


def _end_names(layout: Layout, language: str) -> Iterator[str]:
    """Yield the ends in their order; two short sides that are alike as one."""
    places = Places(layout)
    for _, group in groupby(layout.ends, key=lambda end: (end.host, end.side == SHORT)):
        ends = list(group)
        host = layout.placements[ends[0].host].tile
        directed = places.of_end(ends[0].name).direction is not None
        if len(ends) == 2 and not directed:
            yield _with_state(both_short_sides(host, language), ends[0], language)
        else:
            yield from [_end_name(places, end, language) for end in ends]


def _end_name(places: Places, end: End, language: str) -> str:
    place = places.of_end(end.name)
    if place.direction is None:
        return _with_state(place_name(place, language), end, language)
    direction = place_name(place, language)
    return text(f"end.{end.gate}", language, direction=direction, number=pip_word(end.number, language))


def _with_state(place: str, end: End, language: str) -> str:
    return place if end.gate == OPEN else text(f"end.place_{end.gate}", language, place=place)
