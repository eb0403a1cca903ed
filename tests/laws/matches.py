"""Random legal matches of every game in the registry, and how a law is put to them.

A *case* says all that a match depends on, so that a failing one can be played again:
``Match(Case(...))`` of the note under the failure. A *law* is a function of one match; ``@law`` puts it
to a fixed list of cases of every game, the same at every run, and to some that hypothesis makes up and
shrinks. ``LAWS_TIMES=20`` in the environment asks for twenty times as many of both, a lane of tests for fewer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import combinations, product
from math import prod
from random import Random
from typing import Final, NamedTuple
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from service.engine.deal import Deck, seed_from_text
from service.engine.errors import InvalidSetup
from service.engine.events import Event
from service.engine.moves import ACTIONS, PLAY, Move
from service.engine.options import Option, Value
from service.engine.referee import advance, apply, legal_moves
from service.engine.state import FINISHED, State
from service.engine.tiles import TILES
from service.engine.variants import variants
from tests.support.lanes import current, fewer

TIMES: Final = int(os.environ.get("LAWS_TIMES", "1"))
MAX_MOVES: Final = 250
"""Where a long match is left; every game is also played to its end."""

Choices = tuple[tuple[str, Value], ...]
SHORTENED: Final[dict[str, Choices]] = {"by-wins": (("target", 2),)}
"""What is chosen for a whole match of a game whose matches, with the usual options, may have hundreds of rounds."""
_MAX_CHOICES: Final = 20_000


class Case(NamedTuple):
    """All that a match depends on: ``seed`` of the deals, ``move_seed`` of the moves, at most ``moves`` of them."""

    key: str
    seats: int
    options: Choices
    seed: str
    move_seed: int
    moves: int = MAX_MOVES


class Step(NamedTuple):
    before: State
    seat: int
    move: Move
    events: tuple[Event, ...]
    after: State


class Happening(NamedTuple):
    before: State
    event: Event
    after: State


class Match:
    """A match that somebody without a plan has played, all its steps at hand."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.variant = variants()[case.key]
        self.rules = self.variant.rules(dict(case.options), case.seats)
        self.deck = Deck(seed_from_text(case.seed))
        self.seats = range(case.seats)
        self.rng = Random(f"what a law looks at, {case.move_seed}")

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All moves; the law to which the match is put may have them from another one (``_shared``)."""
        rng = Random(case_seed(self.case))
        favours = rng.choice(_TEMPERS)
        state = self.rules.start()
        steps: list[Step] = []
        while state.phase != FINISHED and len(steps) < self.case.moves:
            seat = state.turn if state.turn is not None else rng.choice(state.active_seats())
            moves = legal_moves(self.rules, state, seat)
            liked = [move for move in moves if favours(move)]
            move = rng.choice(liked if liked and rng.random() < 0.7 else moves)
            events, after = advance(self.rules, self.deck, state, seat, move=move)
            steps.append(Step(state, seat, move, events, after))
            state = after
        return tuple(steps)

    @property
    def states(self) -> tuple[State, ...]:
        """Every state somebody could be in, from before the first deal on."""
        return (self.steps[0].before, *[step.after for step in self.steps])

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple([event for step in self.steps for event in step.events])

    @property
    def happenings(self) -> Iterator[Happening]:
        """Event by event, with the states between events that one move caused."""
        for step in self.steps:
            state = step.before
            for event in step.events:
                after = apply(self.rules, state, event)
                yield Happening(state, event, after)
                state = after

    def some_states(self, many: int) -> list[State]:
        """The last state, and some of the others."""
        states = self.states
        return [*self.rng.sample(states[:-1], min(many - 1, len(states) - 1)), states[-1]]

    def some_steps(self, many: int) -> list[Step]:
        return self.rng.sample(self.steps, min(many, len(self.steps)))

    def conceivable(self, state: State, seat: int) -> Iterator[Move]:
        """Every action; every tile of the set (of a large one the hand and some more), a foreign one and none,
        at every end there is, at some that are not, and at none, both ways up; a tile of the hand either way round."""
        tiles = list(self.rules.tiles)
        if len(tiles) > 28:
            tiles = [*state.hands[seat], *self.rng.sample(tiles, 14)]
        foreign = [tile for tile in TILES[-1:] if tile not in self.rules.tiles]
        bogus = ("left", "right", "e1", f"e{state.layout.last_end_number + 1}", "e0", "1", "", "nowhere")
        ends = dict.fromkeys([None, *[end.name for end in state.layout.ends], *bogus])
        for action in ACTIONS:
            yield Move(action)
        for tile, end, face_down in product([*tiles, *foreign, None], ends, (False, True)):
            yield Move(PLAY, tile, end, face_down)
        for tile, end in product(state.hands[seat], [None, *[end.name for end in state.layout.ends]]):
            for outer in {tile.low, tile.high, TILES[-1].high}:
                yield Move(PLAY, tile, end, outer=outer)


_TEMPERS: Final[tuple[Callable[[Move], bool], ...]] = (
    lambda _move: False,
    lambda move: move.face_down,
    lambda move: move.tile is not None and move.tile.double,
    lambda move: move.tile is not None and not move.tile.double,
    lambda move: move.tile is not None and move.tile.pips > 6,
    lambda move: bool(move.points),
    lambda move: move.action in ("done", "pass", "flip"),
)


def case_seed(case: Case) -> str:
    return f"{case.key} {case.seats} {case.options} {case.seed} {case.move_seed}"


# Cases


@cache
def setups(key: str) -> tuple[tuple[int, Choices], ...]:
    """Every number of players with every choice of options that the game can be played with, bounds and all."""
    variant = variants()[key]
    counts = range(variant.players.low, variant.players.high + 1)
    found = []
    for options in _choices(variant.options):
        found += [(seats, options) for seats in counts if can_be_played(key, seats, options)]
    return tuple(found)


def _choices(options: Sequence[Option]) -> Iterator[Choices]:
    """Every choice of options; if these are very many, those that set at most three options, or two but for the night.

    To try those of three takes seconds of each process.
    """
    values = [[(option.key, value) for value in option_values(option)] for option in options]
    if prod([1 + len(each) for each in values]) <= _MAX_CHOICES:
        for chosen in product(*[(None, *each) for each in values]):
            yield tuple([choice for choice in chosen if choice is not None])
        return
    for size in range(4 if current() == "nightly" else 3):
        for some in combinations(values, size):
            yield from product(*some)


def can_be_played(key: str, seats: int, options: Choices) -> bool:
    try:
        variants()[key].rules(dict(options), seats)
    except InvalidSetup:
        return False
    return True


def option_values(option: Option) -> tuple[Value, ...]:
    """All values of a choice; of a number its bounds, and some low ones, as those end a match soon."""
    if option.values:
        return option.values
    some = (option.low, option.low + 1, option.low + 6, option.low + 40, option.high)
    return tuple([value for value in dict.fromkeys(some) if value <= option.high])


def cases(key: str, law: str, many: int) -> Iterator[Case]:
    """The fixed cases of a law; the numbers of players take turns."""
    players = variants()[key].players
    for number in range(many):
        rng = Random(f"{law} {key} {number}")
        seats = players.low + number % (players.high - players.low + 1)
        options = rng.choice([options for count, options in setups(key) if count == seats])
        yield Case(key, seats, options, f"{law} {number}", number)


@st.composite
def any_case(draw: st.DrawFn, key: str) -> Case:
    seats, options = draw(st.sampled_from(setups(key)))
    dealt, rng, moves = draw(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(1, MAX_MOVES)))
    return Case(key, seats, options, str(dealt), rng, moves)


# Laws

steady: Final = settings(derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Hypothesis draws the same at every run, and measures no time."""


@lru_cache(maxsize=400)
def _steps(case: Case) -> tuple[Step, ...]:
    return Match(case).steps


def _shared(case: Case) -> Match:
    """The match of a case, played once for all laws of a file: its steps are frozen."""
    match = Match(case)
    match.__dict__["steps"] = _steps(case)
    return match


def law(
    *, matches: int = 20, drawn: int = 5, game: str | None = None
) -> Callable[[Callable[[Match], None]], Callable[[str], None]]:
    """Put a law to so many fixed matches of every game (or of the one that has it), and to so many that are drawn.

    In the nightly lane each law has matches of its own; in the shorter ones the laws of a file are put to the same.
    """

    def put(check: Callable[[Match], None]) -> Callable[[str], None]:
        name = check.__name__
        named, play = (name, Match) if current() == "nightly" else (check.__module__, _shared)

        def held(play: Callable[[Case], Match]) -> Callable[[Case], None]:
            def hold(case: Case) -> None:
                try:
                    check(play(case))
                except Exception as broken:
                    broken.add_note(f"Match({case!r})")
                    raise

            return hold

        @pytest.mark.parametrize("key", variants() if game is None else [game])
        def test(key: str) -> None:
            for case in cases(key, named, fewer(matches) * TIMES):
                held(play)(case)
            if fewer(drawn) * TIMES == 1:  # hypothesis draws the simplest match first, which has one move
                return
            draws = given(any_case(key))(held(Match))
            seed(crc32(f"{name} {key}".encode()))(
                settings(
                    steady,
                    derandomize=False,
                    max_examples=fewer(drawn) * TIMES,
                    suppress_health_check=list(HealthCheck),
                )(draws)
            )()

        test.__name__ = test.__qualname__ = name
        test.__module__ = check.__module__
        return test

    return put
