"""What the engine is measured by: whole random rounds, decisions of an expert, and rounds of other libraries.

``python -m bench.plays`` is one process of the measurement: it says which build it runs, and then, for each line with a
name and a number of seconds, how many times a second of its own processor time it has played that.

Only public functions are used, as the service uses them. The other libraries are driven by the same random choices over
the same kind of round.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from random import Random
from time import process_time
from typing import Any, Final

from bench.setups import SETUPS, Setup
from service.bots.choice import choose_move
from service.bots.knowledge import Observation, observe
from service.engine.build import BUILD
from service.engine.deal import Deck, seed_from_text, seed_of_decision
from service.engine.events import Event
from service.engine.moves import DEAL
from service.engine.referee import advance, legal_moves
from service.engine.variant import Rules
from service.engine.variants import variants

Play = Callable[[], int]
"""A round from its deal to its result, or decisions; returns how many."""
Choose = Callable[[Sequence[Any]], Any]

OPEN_SPIEL: Final = "OpenSpiel python_block_dominoes"
DOMINOES: Final = "PyPI dominoes"
BLOCK_TWO: Final = "block, 2 players"
BLOCK_FOUR: Final = "block, 4 players"
TEAMS: Final = "domino, 4 players in 2 teams"
_BLOCK: Final = {"opening": "rotate", "hand": 7}
"""A first round is OpenSpiel's for two, and that of the package for four, but a pass is a move, which those skip."""
EXPERTS: Final = {
    "an expert, domino, 4 players": Setup("domino", 4, 6),
    "an expert, fido, double-12, 4 players": Setup("fido", 4, 12),
}
_APART: Final = 3
"""Moves from one situation of an expert to the next one."""


def play_of(name: str, decisions: int) -> Play:
    """Return what is played under a name; of an expert, so many decisions at once."""
    if name in EXPERTS:
        return decisions_of(EXPERTS[name].rules, decisions)
    block = {BLOCK_TWO: 2, BLOCK_FOUR: 4}
    if name in block:
        return round_of(variants()["block"].rules(_BLOCK, block[name]))
    makes: dict[str, Callable[[], Play]] = {
        OPEN_SPIEL: open_spiel_round,
        DOMINOES: dominoes_round,
        TEAMS: lambda: round_of(variants()["domino"].rules({"teams": 2}, 4)),
        **{setup.name: partial(round_of, setup.rules) for setup in SETUPS},
    }
    return makes[name]()


def round_of(rules: Rules) -> Play:
    """One first round of these rules, with a different deal each time."""
    choose = _chooser()
    numbers = count()
    start = rules.start()

    def play() -> int:
        deck = Deck(next(numbers).to_bytes(32, "big"))
        state = advance(rules, deck, start, 0, move=DEAL)[1]
        while (seat := state.turn) is not None:
            state = advance(rules, deck, state, seat, move=choose(legal_moves(rules, state, seat)))[1]
        return 1

    return play


def decisions_of(rules: Rules, many: int) -> Play:
    """Return an expert's decisions in the same situations each time, with all the deals that it plays out."""
    situations = _situations(rules, many)

    def play() -> int:
        for number, seen in enumerate(situations):
            choose_move(rules, seen, "expert", seed_of_decision(bytes(32), seen.seat, number))
        return len(situations)

    return play


def _situations(rules: Rules, many: int) -> list[Observation]:
    """Situations with a choice in random first rounds, some moves apart."""
    choose = _chooser()
    found: list[Observation] = []
    for number in count():
        deck = Deck(seed_from_text(f"expert {number}"))
        dealt, state = advance(rules, deck, rules.start(), 0, move=DEAL)
        events: tuple[Event, ...] = dealt
        while (seat := state.turn) is not None:
            moves = legal_moves(rules, state, seat)
            if len(moves) > 1 and len(events) % _APART == 0:
                found.append(observe(rules, state, events, seat))
                if len(found) == many:
                    return found
            new, state = advance(rules, deck, state, seat, move=choose(moves))
            events += new
    raise AssertionError


def open_spiel_round() -> Play:
    """One game of OpenSpiel's block dominoes, including its deal and its returns."""
    import pyspiel  # noqa: PLC0415 # of the group bench
    from open_spiel.python import games  # noqa: F401, PLC0415 # registers it

    choose = _chooser()
    game = pyspiel.load_game("python_block_dominoes")

    def play() -> int:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(choose(state.chance_outcomes())[0])
            else:
                state.apply_action(choose(state.legal_actions()))
        state.returns()
        return 1

    return play


def dominoes_round() -> Play:
    """One game of the package dominoes, including its deal and its result."""
    import dominoes  # noqa: PLC0415 # of the group bench

    choose = _chooser()

    def play() -> int:
        game = dominoes.Game.new(starting_player=0)
        while game.result is None:
            game.make_move(*choose(game.valid_moves))
        return 1

    return play


def _chooser() -> Choose:
    """Choose an item of a sequence, by the same cheap random numbers for all candidates."""
    draw = Random(1).random  # noqa: S311 # reproducible on purpose
    return lambda things: things[int(draw() * len(things))]


def rate(play: Play, seconds: float) -> float:
    """Return how many a second of processor time, played for so long at least."""
    played = 0
    began = process_time()
    while True:
        played += play()
        taken = process_time() - began
        if taken >= seconds:
            return played / taken


def main() -> None:
    """Answer line by line, until there are no more."""
    print(BUILD, flush=True)
    plays: dict[str, Play] = {}
    for line in sys.stdin:
        name, seconds, decisions = line.rstrip("\n").split("\t")
        if name not in plays:
            plays[name] = play_of(name, int(decisions))
            plays[name]()  # what is computed once is not measured
        print(rate(plays[name], float(seconds)), flush=True)


if __name__ == "__main__":
    main()
