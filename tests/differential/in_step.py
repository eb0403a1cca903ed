"""One of our matches, and a round of it played in step with the same round of somebody else's game.

Owns what every comparison has in common; only the public questions of the engine are asked. Does not depend on any
library, or on what a game is compared with.

A play is compared as a tile and the number that it covers, so two ends that are alike are one play. Passes are moves
only here: other people's games skip who cannot place, and so ours passes by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple, Protocol

from service.engine.deal import Deck
from service.engine.events import Event, RoundEnded, RoundResult
from service.engine.moves import DEAL, PASS, Move
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED, PLAYING, Hand, State
from service.engine.tiles import Tile
from service.engine.variants import variants


class Game(NamedTuple):
    """One of our games, as it is set up."""

    key: str
    seats: int
    options: Mapping[str, object]

    def __str__(self) -> str:
        return " ".join([self.key, str(self.seats), *[f"{name}={value}" for name, value in self.options.items()]])


class Play(NamedTuple):
    """A tile and the number that it covers, ``None`` for the lead."""

    tile: Tile
    number: int | None


class OurMatch:
    """A match of one of our games; ``events`` are those of the running or last round."""

    def __init__(self, game: Game, deck: Deck) -> None:
        self.rules = variants()[game.key].rules(game.options, game.seats)
        self.deck = deck
        self.state: State = self.rules.start()
        self.events: list[Event] = []

    def deal(self) -> tuple[Hand, ...]:
        """Deal the next round, and return its hands."""
        self.events = []
        self._make(self.state.to_act[0], DEAL)
        return self.state.hands

    @property
    def turn(self) -> int | None:
        """The seat to move; ``None`` after the round."""
        return self.state.turn

    @property
    def finished(self) -> bool:
        return self.state.phase == FINISHED

    @property
    def result(self) -> RoundResult:
        """The count of the last round."""
        (counted,) = [event.round for event in self.events if isinstance(event, RoundEnded)]
        return counted

    def legal(self) -> tuple[Move, ...]:
        """What the seat to move may do."""
        assert self.turn is not None
        return legal_moves(self.rules, self.state, self.turn)

    def make(self, move: Move) -> Event:
        """Make this move of the seat to move, and return what it is as an event."""
        assert self.turn is not None
        return self._make(self.turn, move)

    def plays(self) -> dict[Play, list[Move]]:
        """The moves that each play of the seat to move can mean."""
        found: dict[Play, list[Move]] = {}
        for move in self.legal():
            assert move.tile is not None, f"{move.action} is no play"
            end = self.state.layout.end(move.end)
            found.setdefault(Play(move.tile, None if end is None else end.number), []).append(move)
        return found

    def make_and_pass(self, move: Move) -> None:
        """Make this move, and let everybody pass who then can do nothing else."""
        self.make(move)
        while self.turn is not None and self.legal() == (PASS,):
            self.make(PASS)

    def _make(self, seat: int, move: Move) -> Event:
        events, self.state = advance(self.rules, self.deck, self.state, seat, move=move)
        self.events += events
        return events[0]


class Theirs(Protocol):
    """A round of somebody else's game; its seats are numbered as ours."""

    @property
    def turn(self) -> int | None:
        """The seat to move; ``None`` after the round."""

    def plays(self) -> set[Play]:
        """What the seat to move may play."""

    def play(self, play: Play, end: str | None) -> None:
        """Lay this tile there; ``end`` is the one that we lay it at."""


def play_in_step(ours: OurMatch, theirs: Theirs, rng: Random) -> Iterator[Play]:
    """Play a round that was just dealt to its end, with any of the plays that both must allow; each when it is made."""
    while theirs.turn is not None:
        plays = ours.plays()
        assert (ours.turn, set(plays)) == (theirs.turn, theirs.plays()), f"after {ours.events}"
        play = rng.choice(list(plays))
        move = rng.choice(plays[play])
        ours.make_and_pass(move)
        theirs.play(play, move.end)
        yield play
    assert ours.state.phase != PLAYING, f"only theirs is over after {ours.events}"
