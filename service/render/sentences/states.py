"""How a game stands, in words: whose turn it is and what is possible, or what everybody waits for.

Owns what is told of a state. It is told from the view that its reader may have, so nothing hidden can be told; it names
no key or button, so that any client can show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from service.engine.moves import PLAY
from service.games.catalogue import Language
from service.games.game import OPEN_SEAT, GameStatus
from service.games.views import GameView
from service.render.sentences.numbers import capitalized, number_word, tile_name
from service.render.sentences.people import Reader, about, fitted, joined, names_of
from service.render.sentences.texts import text


def state_sentence(game: GameView, language: Language) -> str:
    """How the game stands for its viewer, in at most ``people.MAX_SENTENCE`` characters."""
    you = game.view.you
    reader = Reader(None if you is None else you.seat, names_of(game.seats), language)
    return _SENTENCES[game.status](game, reader)


def winners_sentence(winners: tuple[int, ...], reader: Reader) -> str:
    """Who wins the match."""
    language = reader.language
    others = [seat for seat in winners if seat != reader.seat]
    if not others:
        return text("finished.you", language)
    if len(others) < len(winners):
        key, you = "finished.you_and", [text("you", language)]
    else:
        key, you = "finished" if len(winners) == 1 else "finished.several", []
    return fitted(
        reader, lambda name: text(key, language, names=joined([*you, *[name(seat) for seat in others]], language))
    )


def _waiting(game: GameView, reader: Reader) -> str:
    many = len([seat for seat in game.seats if seat.kind == OPEN_SEAT])
    if many == 1:
        return text("waiting.one", reader.language)
    return text("waiting", reader.language, number=number_word(many, reader.language))


def _playing(game: GameView, reader: Reader) -> str:
    turn = game.view.turn
    assert turn is not None
    whose = about(reader, "turn", turn)
    return whose if turn != reader.seat else " ".join([whose, *_possible(game, reader.language)])


def _possible(game: GameView, language: Language) -> Iterator[str]:
    """What the viewer may do on its turn."""
    tiles = list(dict.fromkeys([move.tile for move in game.view.legal_moves if move.tile is not None]))
    many = number_word(len(tiles), language)
    if not tiles:
        yield text("fits.none", language)
    elif not game.view.layout.placements:
        if len(tiles) == 1:
            yield text("opens.with", language, tile=tile_name(tiles[0], language, "dative"))
        else:
            yield text("opens", language, number=many)
    elif len(tiles) == 1:
        yield text("fits.one", language)
    else:
        yield capitalized(text("fits", language, number=many))
    yield from _other_actions(game, "may.also" if tiles else "may", language)


def _other_actions(game: GameView, key: str, language: Language) -> Iterator[str]:
    """What the viewer may do but lay a tile."""
    actions = [text(f"action.{move.action}", language) for move in game.view.legal_moves if move.action != PLAY]
    if actions:
        yield text(key, language, actions=joined(actions, language, "list.or"))


def _round_over(game: GameView, reader: Reader) -> str:
    return " ".join([text("round_over", reader.language), *_other_actions(game, "may", reader.language)])


def _finished(game: GameView, reader: Reader) -> str:
    return winners_sentence(game.view.winners, reader)


_SENTENCES: Final[dict[GameStatus, Callable[[GameView, Reader], str]]] = {
    "waiting": _waiting,
    "playing": _playing,
    "round_over": _round_over,
    "finished": _finished,
}
