"""How a game stands, in words: whose turn it is and what is possible, or what everybody waits for.

Owns what is told of a state. It is told from the view that its reader may have, so nothing hidden can be told; it names
no key or button, so that any client can show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from service.engine.moves import PLAY
from service.engine.state import Phase
from service.engine.view import View
from service.render.sentences.numbers import capitalized, number_word, tile_name
from service.render.sentences.people import Reader, about, fitted, joined
from service.render.sentences.texts import plural, text


def state_sentence(view: View, reader: Reader) -> str:
    """Return how the match stands for the viewer of the view, who is the reader."""
    return _SENTENCES[view.phase](view, reader)


def waiting_sentence(open_seats: int, language: str) -> str:
    """Return what a match waits for that has not begun: players for its open seats, else its first deal."""
    if not open_seats:
        return text("waiting.none", language)
    return plural("waiting", open_seats, language)


def winners_sentence(winners: tuple[int, ...], reader: Reader, before: str = "") -> str:
    """Return who wins the match, after the words ``before``."""
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


def _playing(view: View, reader: Reader) -> str:
    turn = view.turn
    assert turn is not None
    if turn in reader.partners:
        return fitted(reader, lambda name: text("turn.partner", reader.language, name=name(turn)))
    whose = about(reader, "turn", turn)
    return whose if turn != reader.seat else " ".join([whose, *_possible(view, reader.language)])


def _possible(view: View, language: str) -> Iterator[str]:
    """Yield what the viewer may do on its turn."""
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
    """Yield what the viewer may do but lay a tile."""
    actions = [text(f"action.{move.action}", language) for move in view.legal_moves if move.action != PLAY]
    if actions:
        yield text(key, language, actions=joined(actions, language, "list.or"))


def _round_over(view: View, reader: Reader) -> str:
    return " ".join([text("round_over", reader.language), *_other_actions(view, "may", reader.language)])


def _finished(view: View, reader: Reader) -> str:
    return winners_sentence(view.winners, reader)


_SENTENCES: Final[dict[Phase, Callable[[View, Reader], str]]] = {
    "playing": _playing,
    "round_over": _round_over,
    "finished": _finished,
}
