"""How many lines of play there are to a depth, from fixed deals, and from the middle of a round.

A row of ``<game>.txt`` tells the seats, the options that are not at their default, the seed text, the
round, how many moves have been made in it, and then how many lines of 1, 2, 3, … moves there are from
there. A line ends with its round. The moves that were made: first the first one listed, then the second
one, and so on, around the list. ``pytest --rewrite`` writes the files anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.options import format_value
from service.engine.referee import advance, legal_moves
from service.engine.state import PLAYING, ROUND_OVER, State
from service.engine.variant import Rules
from service.engine.variants import variants
from tests.laws.matches import Choices, option_values, setups
from tests.support.lanes import GATE_VARIANTS, in_lane

pytestmark = pytest.mark.quick_and_gate

ALL: Final = list(variants())
HERE: Final = Path(__file__).parent
MAX_STATES: Final = 600
"""A row goes no deeper than this many positions."""
DEEPEST: Final = 12
SEEDS: Final = ("one", "two", "three", "four", "five", "six")
"""Two of them, or more for a game with few positions."""


@pytest.mark.parametrize(
    "key", in_lane(ALL, quick=GATE_VARIANTS, gate=[key for key in ALL if key not in GATE_VARIANTS])
)
def test_lines_of_play(key: str, same_as_file: Callable[[Path, str], None]) -> None:
    starts = list(positions(key))
    seeds = SEEDS[: max(2, 12 // len(starts))]
    rows = [row for seats, options in starts for seed in seeds for row in count_lines(key, seats, options, seed)]
    same_as_file(HERE / f"{key}.txt", "\n".join([*rows, ""]))


def test_every_game_has_its_file_and_every_file_its_game() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == set(variants())


def positions(key: str) -> Iterator[tuple[int, Choices]]:
    """Every number of players by default; and every value of an option that has few, as simply as it can be had."""
    simple = sorted(setups(key), key=lambda setup: len(setup[1]))
    yield from [setup for setup in simple if not setup[1]]
    for option in variants()[key].options:
        if option.values or option.high - option.low < 10:
            for value in option_values(option):
                if value != option.default:
                    yield next(setup for setup in simple if (option.key, value) in setup[1])


def count_lines(key: str, seats: int, options: Choices, seed: str) -> Iterator[str]:
    rules = variants()[key].rules(dict(options), seats)
    deck = Deck(seed_from_text(seed))
    chosen = " ".join([f"{name}={format_value(value)}" for name, value in options]) or "-"
    first, after = one_round(rules, deck, rules.start())
    second = one_round(rules, deck, after)[0] if after.phase == ROUND_OVER else []
    for states, made in ((first, 0), (first, len(first) // 2), (second, 0)):
        if states:
            counts = " ".join(map(str, lines(rules, deck, states[made])))
            number = states[made].round
            yield f"{seats} seats · {chosen} · seed {seed} · round {number} after {made} moves: {counts}"


def one_round(rules: Rules, deck: Deck, state: State) -> tuple[list[State], State]:
    """The positions of the next round from its deal on, and what came out of it."""
    dealer = state.active_seats()[0]
    state = advance(rules, deck, state, dealer, move=legal_moves(rules, state, dealer)[0])[1]
    states: list[State] = []
    while state.turn is not None:
        moves = legal_moves(rules, state, state.turn)
        move = moves[len(states) % len(moves)]
        states.append(state)
        assert len(states) < 5_000, "the round does not end"
        state = advance(rules, deck, state, state.turn, move=move)[1]
    return states, state


def lines(rules: Rules, deck: Deck, state: State) -> Iterator[int]:
    """The number of lines of 1, 2, 3, … moves, until there are none, or too many positions to go on from."""
    states = [state]
    for _ in range(DEEPEST):
        listed = [(each, each.turn, legal_moves(rules, each, each.turn)) for each in states if each.turn is not None]
        count = sum(len(moves) for _, _, moves in listed)
        if not count:
            return
        yield count
        if count > MAX_STATES:
            return
        states = [
            after
            for each, seat, moves in listed
            for move in moves
            if (after := advance(rules, deck, each, seat, move=move)[1]).phase == PLAYING
        ]
