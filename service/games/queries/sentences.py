"""A hosted game in sentences: its events one after the other, and how it stands.

Owns what is told beside a match: of seats that are taken, of names and tokens, and of a rematch. What is told of the
match is in ``service.render.sentences``, all texts are in ``service.render.sentences.places``. Made from views only, so
that no sentence tells what its reader may not know; does not depend on how sentences are shown.
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
    """Return how the game stands for its viewer, in at most ``people.MAX_SENTENCE`` characters."""
    if game.status == "waiting":
        return waiting_sentence(len([seat for seat in game.seats if seat.kind == OPEN_SEAT]), language)
    you = game.view.you
    if you is None:
        return state_sentence(game.view, Reader(None, _names(game), language))
    partners = partners_of(you.seat, [player.team for player in game.view.players])
    return state_sentence(game.view, Reader(you.seat, _names(game), language, partners))


def partners_of(seat: int | None, teams: Sequence[int | None]) -> frozenset[int]:
    """Return the other seats in the team of this one, by the team of each seat."""
    if seat is None or teams[seat] is None:
        return frozenset()
    return frozenset([other for other, team in enumerate(teams) if team == teams[seat] and other != seat])


class EventSentences:
    """The sentences of consecutive events for one reader; follows the table and the names from one to the next.

    ``layout`` is the table before the first of them; where it is not known, a play is told without its place.
    """

    def __init__(self, rules: Rules, layout: Layout | None, reader: Reader) -> None:
        self._rules = rules
        self._layout = layout
        self._reader = reader.of_game(rules)

    def sentence(self, view: EventView) -> str:
        """Return what to tell of the next event."""
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
                self._name(seat, name)
                return about(self._reader, "joined", seat)
            case Renamed(seat, None):
                return about(self._reader, "renamed.ref", seat)
            case Renamed(seat, name):
                assert name is not None
                self._name(seat, name)
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
                self._name(seat, None)
                return sentence
            case Filled(seat, name):
                self._name(seat, name)
                return fitted(self._reader, lambda named: text("filled", self._reader.language, name=named(seat)))
            case Started(seats):
                return self._started(seats)
        self._layout = layout_after(self._rules, self._layout, view.event)
        return event_sentence(view.event, self._layout, self._reader)

    def _started(self, seats: Sequence[int]) -> str:
        """Tell of the beginning with open seats, after which the players of these seats have others."""
        reader = self._reader
        names = tuple([reader.names[seat] for seat in seats])
        own = seats.index(reader.seat) if reader.seat in seats else None
        self._reader = reader._replace(names=names, seat=own, partners=frozenset())
        return text("started", reader.language, number=str(len(seats)))

    def _name(self, seat: int, name: str | None) -> None:
        names = self._reader.names
        self._reader = self._reader._replace(names=(*names[:seat], name, *names[seat + 1 :]))

    def _renamed(self, seat: int) -> str:
        """Return the new name of a seat, without the old one: it may have been one that nobody is to read."""
        reader, number = self._reader, str(seat + 1)
        key = "renamed.you" if seat == reader.seat else "renamed"
        return fitted(reader, lambda name: text(key, reader.language, number=number, name=name(seat)))


def _names(game: GameView) -> tuple[str | None, ...]:
    return tuple([seat.name for seat in game.seats])
