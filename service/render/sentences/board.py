"""The table and the state of a match in words.

Owns the order in which a table is described, and the sentences about a state. Does not depend on hosted games.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from service import texts
from service.engine.layout import CLOSED, OPEN, SHORT, End, Layout
from service.engine.moves import PLAY
from service.engine.state import FINISHED, ROUND_OVER
from service.engine.view import View
from service.render.layout_text import arms_of
from service.render.sentences.numbers import capitalized, half_names, number_word, pip_word, tile_name
from service.render.sentences.places import Places, Reader, about, fitted, host_name, joined, place_name
from service.render.sentences.texts import plural, text

MAX_DESCRIPTION: Final = 4000
"""The maximum number of characters of a description; tiles beyond it are only counted."""
_RESERVED: Final = 40
"""The characters reserved for the sentence with that number."""


def board_sentence(layout: Layout, language: str) -> str:
    """Return a short description: the number of tiles, the ends, and their sum if ends are counted."""
    return " ".join([_count(layout, language), *_ends(layout, language)])


def board_description(layout: Layout, language: str) -> str:
    """Return the full description in at most ``MAX_DESCRIPTION`` characters: the tiles arm by arm, then the ends.

    The tiles of an arm are in order from the lead, each with the half that touches its host first. A line is described
    from left to right.
    """
    count, ends = _count(layout, language), " ".join(_ends(layout, language))
    remaining = MAX_DESCRIPTION - len(count) - len(ends) - _RESERVED
    sentences, described = [count], 0
    for sentence, tiles in _tiles(layout, language):
        remaining -= len(sentence) + 1
        if remaining < 0:
            more = len(layout.placements) - described
            sentences.append(capitalized(plural("board.more", more, language)))
            break
        sentences.append(sentence)
        described += tiles
    return " ".join([*sentences, *([ends] if ends else [])])


def _tiles(layout: Layout, language: str) -> Iterator[tuple[str, int]]:
    """Yield the sentences about the tiles, each with its number of tiles."""
    if not layout.placements:
        return
    places = Places(layout)
    if layout.is_line:
        line = [_tile(layout, 0, language)]
        for arm in arms_of(layout):
            to_the_left = places.of_tile(arm[0]).direction == "left"
            names = [_tile(layout, index, language, touching_last=to_the_left) for index in arm]
            line = [*names[::-1], *line] if to_the_left else [*line, *names]
        yield text("board.line", language, tiles=", ".join(line)), len(line)
        return
    yield text("board.lead", language, tile=tile_name(layout.placements[0].tile, language)), 1
    for arm in arms_of(layout):
        place = capitalized(place_name(places.of_tile(arm[0]), language))
        names = [_tile(layout, index, language) for index in arm]
        yield text("board.arm", language, place=place, tiles=", ".join(names)), len(names)


def _tile(layout: Layout, index: int, language: str, *, touching_last: bool = False) -> str:
    """Return a tile in words, with the half that touches its host first or last; a double has a name."""
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
    """Yield the ends in words, in order; two free short sides of a double are named together."""
    places = Places(layout)
    for _, group in groupby(layout.ends, key=lambda end: (end.host, end.side == SHORT)):
        ends = list(group)
        host = layout.placements[ends[0].host].tile
        directed = places.of_end(ends[0].name).direction is not None
        if len(ends) == 2 and not directed:
            both = text("place.shorts", language, host=tile_name(host, language, "genitive"))
            yield _with_state(both, ends[0], language)
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


# The state of a match in words: whose turn it is and which moves are possible.


def state_sentence(view: View, reader: Reader) -> str:
    """Return the state of the match; the reader must be the viewer of the view."""
    language, turn = reader.language, view.turn
    if view.phase == FINISHED:
        return winners_sentence(view.winners, reader)
    if view.phase == ROUND_OVER:
        return " ".join([text("round_over", language), *_other_actions(view, "may", language)])
    assert turn is not None
    if turn in reader.partners:
        return fitted(reader, lambda name: text("turn.partner", language, name=name(turn)))
    whose = about(reader, "turn", turn)
    return whose if turn != reader.seat else " ".join([whose, *_possible(view, language)])


def waiting_sentence(open_seats: int, language: str) -> str:
    """Return the sentence about a match before its first deal: it waits for players, or for the deal."""
    if not open_seats:
        return text("waiting.none", language)
    return plural("waiting", open_seats, language)


def winners_sentence(winners: tuple[int, ...], reader: Reader, before: str = "") -> str:
    """Return the sentence about the winners of the match, after the text ``before``."""
    language = reader.language
    others = [seat for seat in winners if seat != reader.seat]
    if not others:
        return before + text("finished.you", language)
    if len(others) < len(winners):
        key, you = "finished.you_and", [text("you", language)]
    else:
        key, you = "finished.one" if len(winners) == 1 else "finished.other", []
    return fitted(
        reader,
        lambda name: before + text(key, language, names=joined([*you, *[name(seat) for seat in others]], language)),
    )


def _possible(view: View, language: str) -> Iterator[str]:
    """Yield the sentences about the legal moves of the viewer."""
    tiles = list(dict.fromkeys([move.tile for move in view.legal_moves if move.tile is not None]))
    if not tiles:
        yield text("fits.none", language)
    elif not view.layout.placements:
        if len(tiles) == 1:
            yield text("opens.with", language, tile=tile_name(tiles[0], language, "dative"))
        else:
            yield text("opens", language, number=number_word(len(tiles), language))
    else:
        yield capitalized(plural("fits", len(tiles), language))
    yield from _other_actions(view, "may.also" if tiles else "may", language)


def _other_actions(view: View, key: str, language: str) -> Iterator[str]:
    """Yield the sentence about the legal moves other than plays, if there are any."""
    actions = [text(f"action.{move.action}", language) for move in view.legal_moves if move.action != PLAY]
    if actions:
        yield text(key, language, actions=joined(actions, language, "list.or"))
