"""A hosted game in sentences: its events one after the other, and how it stands.

Owns what is told beside a match: of seats that are taken, and of tokens. What is told of the match is in
``service.render.sentences``, all texts are in ``service.render.sentences.texts``. Made from views only, so that no
sentence tells what its reader may not know; does not depend on how sentences are shown.
"""

from __future__ import annotations

from service.engine.layout import Layout
from service.engine.replay import layout_after
from service.engine.variant import Rules
from service.games.game import OPEN_SEAT, Created, Joined, Rematched, TokenChanged
from service.games.views import Deleted, EventView, GameView, Reset
from service.render.sentences.events import event_sentence
from service.render.sentences.people import Reader, about
from service.render.sentences.states import state_sentence, waiting_sentence
from service.render.sentences.texts import text


def game_sentence(game: GameView, language: str) -> str:
    """How the game stands for its viewer, in at most ``people.MAX_SENTENCE`` characters."""
    if game.status == "waiting":
        return waiting_sentence(len([seat for seat in game.seats if seat.kind == OPEN_SEAT]), language)
    you = game.view.you
    return state_sentence(game.view, Reader(None if you is None else you.seat, _names(game), language))


class EventSentences:
    """The sentences of consecutive events for one reader; follows the table and the names from one to the next.

    ``layout`` is the table before the first of them; where it is not known, a play is told without its place.
    """

    def __init__(self, rules: Rules, layout: Layout | None, reader: Reader) -> None:
        self._rules = rules
        self._layout = layout
        self._reader = reader

    def sentence(self, view: EventView) -> str:
        """What to tell of the next event."""
        match view.event:
            case Reset(game):
                self._layout = game.view.layout
                self._reader = self._reader._replace(names=_names(game))
                return game_sentence(game, self._reader.language)
            case Deleted():
                return text("deleted", self._reader.language)
            case Created():
                return text("created", self._reader.language)
            case Joined(seat, name):
                names = self._reader.names
                self._reader = self._reader._replace(names=(*names[:seat], name, *names[seat + 1 :]))
                return about(self._reader, "joined", seat)
            case TokenChanged(seat):
                return about(self._reader, "token_changed", seat)
            case Rematched():
                return text("rematched", self._reader.language)
        self._layout = layout_after(self._rules, self._layout, view.event)
        return event_sentence(view.event, self._layout, self._reader)


def _names(game: GameView) -> tuple[str | None, ...]:
    return tuple([seat.name for seat in game.seats])
