"""A hosted game in sentences: its events one after the other, and the current state.

``service.render.sentences`` has the sentences about the match. Sentences are made from views only, so that they contain
nothing that is hidden from their reader.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.engine.layout import Layout
from service.engine.replay import layout_after
from service.engine.variant import Rules
from service.games.model.game_events import (
    Created,
    Filled,
    Freed,
    JoinCodeChanged,
    Joined,
    Rematched,
    Reminded,
    Renamed,
    Started,
    TokenChanged,
)
from service.games.model.seats import OPEN_SEAT
from service.games.model.views import Deleted, EventView, GameView, Reset
from service.render.sentences.board import state_sentence, waiting_sentence
from service.render.sentences.events import event_sentence
from service.render.sentences.places import Reader, about, fitted
from service.render.sentences.texts import text


def game_sentence(game: GameView, language: str) -> str:
    """Return a sentence of at most ``places.MAX_SENTENCE`` characters about the current state of the game."""
    if game.status == "waiting":
        return waiting_sentence(len([seat for seat in game.seats if seat.kind == OPEN_SEAT]), language)
    seat = None if game.view.you is None else game.view.you.seat
    partners = partners_of(seat, [player.team for player in game.view.players])
    return state_sentence(game.view, Reader(seat, _names(game), language, partners))


def partners_of(seat: int | None, teams: Sequence[int | None]) -> frozenset[int]:
    """Return the other seats in the team of this seat. ``teams``: the team of each seat."""
    if seat is None or teams[seat] is None:
        return frozenset()
    return frozenset([other for other, team in enumerate(teams) if team == teams[seat] and other != seat])


class EventSentences:
    """Makes the sentences of consecutive events for one reader, and updates layout and names after each event.

    ``layout``: before the first event; if it is ``None``, sentences about plays do not name the place.
    """

    def __init__(self, rules: Rules, layout: Layout | None, reader: Reader) -> None:
        self._rules = rules
        self._layout = layout
        self._reader = reader.of_game(rules)

    def sentence(self, view: EventView) -> str:
        """Return the sentence about the next event."""
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
                self._set_name(seat, name)
                return about(self._reader, "joined", seat)
            case Renamed(seat, None):
                return about(self._reader, "renamed.ref", seat)
            case Renamed(seat, name):
                self._set_name(seat, name)
                return self._renamed(seat)
            case JoinCodeChanged():
                return text("join_code_changed", self._reader.language)
            case TokenChanged(seat):
                return about(self._reader, "token_changed", seat)
            case Rematched():
                return text("rematched", self._reader.language)
            case Reminded(seat):
                return about(self._reader, "reminded", seat)
            case Freed(seat):
                sentence = about(self._reader, "freed", seat)
                self._set_name(seat, None)
                return sentence
            case Filled(seat, name):
                self._set_name(seat, name)
                return fitted(self._reader, lambda named: text("filled", self._reader.language, name=named(seat)))
            case Started(seats):
                return self._started(seats)
        self._layout = layout_after(self._rules, self._layout, view.event)
        return event_sentence(view.event, self._layout, self._reader)

    def _started(self, seats: Sequence[int]) -> str:
        """Return the sentence about a beginning without the open seats, and renumber the seats."""
        reader = self._reader
        names = tuple([reader.names[seat] for seat in seats])
        own = seats.index(reader.seat) if reader.seat in seats else None
        self._reader = reader._replace(names=names, seat=own, partners=frozenset())
        return text("started", reader.language, number=str(len(seats)))

    def _set_name(self, seat: int, name: str | None) -> None:
        names = self._reader.names
        self._reader = self._reader._replace(names=(*names[:seat], name, *names[seat + 1 :]))

    def _renamed(self, seat: int) -> str:
        """Return the sentence about the new name of a seat, without the old name, which may have been erased."""
        reader, number = self._reader, str(seat + 1)
        key = "renamed.you" if seat == reader.seat else "renamed"
        return fitted(reader, lambda name: text(key, reader.language, number=number, name=name(seat)))


def _names(game: GameView) -> tuple[str | None, ...]:
    return tuple([seat.name for seat in game.seats])
