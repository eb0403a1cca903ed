"""Part 2: the engine alone. Whole random rounds per second, from deal to result, with all rules and events.

Only public functions are used, as the service uses them: list the legal moves, and make one of them. The other
libraries are driven by the same random choices over the same kind of round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import count
from random import Random
from time import perf_counter
from typing import Any, Final

from bench.figures import Spread, ratios, spread, take_turns
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import SETUPS
from bench.stand import Stand
from service.engine.deal import Deck
from service.engine.moves import DEAL
from service.engine.referee import advance, legal_moves
from service.engine.variant import Rules
from service.engine.variants import variants

Play = Callable[[], None]
"""One round, from the deal to its result."""
Choose = Callable[[Sequence[Any]], Any]

OPEN_SPIEL: Final = "OpenSpiel python_block_dominoes"
DOMINOES: Final = "PyPI dominoes"
BLOCK_TWO: Final = "this engine, block, 2 players"
BLOCK_FOUR: Final = "this engine, block, 4 players"
_BLOCK: Final = {"opening": "rotate", "hand": 7}
"""A first round is OpenSpiel's for two, and that of the package for four, but a pass is a move, which those skip."""
WANTED: Final = ((BLOCK_TWO, OPEN_SPIEL, 5.0), (BLOCK_FOUR, DOMINOES, 1.0))


def run(_stand: Stand, scale: Scale) -> Section:
    """Measure every setup, and the block game beside the other libraries."""
    rng = Random("engine")  # noqa: S311 # only the order of turns
    games = {setup.name: round_of(setup.rules) for setup in SETUPS}
    teams = variants()["domino"].rules({"teams": 2}, 4)
    block = {
        BLOCK_TWO: round_of(variants()["block"].rules(_BLOCK, 2)),
        BLOCK_FOUR: round_of(variants()["block"].rules(_BLOCK, 4)),
        "this engine, domino, 4 players in 2 teams": round_of(teams),
    }
    left_out = []
    for name, package, make in ((OPEN_SPIEL, "open_spiel", open_spiel_round), (DOMINOES, "dominoes", dominoes_round)):
        if find_spec(package):
            block[name] = make()
        else:
            left_out.append(f"{name}: {package} is not installed (make bench installs it)")

    def rate(plays: dict[str, Play]) -> dict[str, list[float]]:
        return take_turns(list(plays), scale.turns, lambda name: _rate(plays[name], scale.engine_seconds), rng)

    rates, beside = rate(games), rate(block)
    compared = [(mine, its, wanted, ratios(beside, mine, its)) for mine, its, wanted in WANTED if its in beside]
    return Section(
        title="The engine alone",
        text="Full random rounds a second on one core: shuffled, dealt, played with legal moves taken at random, "
        "counted; the state frozen and every event made, as in the service.",
        tables=[
            Table("Every game", ("game", "rounds a second"), [_row(name, spread(rates[name])) for name in games]),
            Table(
                "Block, double-six", ("who", "rounds a second"), [_row(name, spread(beside[name])) for name in block]
            ),
        ],
        goals=[
            Goal(f"{mine}, times {its}", f"≥ {wanted:.0f}", ratio.show(1), ratio.median >= wanted)
            for mine, its, wanted, ratio in compared
        ],
        left_out=left_out,
    )


def round_of(rules: Rules) -> Play:
    """One first round of these rules, with a different deal each time."""
    choose = _chooser()
    numbers = count()
    start = rules.start()

    def play() -> None:
        deck = Deck(next(numbers).to_bytes(32, "big"))
        state = advance(rules, deck, start, 0, DEAL)[1]
        while (seat := state.turn) is not None:
            state = advance(rules, deck, state, seat, choose(legal_moves(rules, state, seat)))[1]

    return play


def open_spiel_round() -> Play:
    """One game of OpenSpiel's block dominoes, including its deal and its returns."""
    import pyspiel  # noqa: PLC0415 # of the group bench
    from open_spiel.python import games  # noqa: F401, PLC0415 # registers it

    choose = _chooser()
    game = pyspiel.load_game("python_block_dominoes")

    def play() -> None:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(choose(state.chance_outcomes())[0])
            else:
                state.apply_action(choose(state.legal_actions()))
        state.returns()

    return play


def dominoes_round() -> Play:
    """One game of the package dominoes, including its deal and its result."""
    import dominoes  # noqa: PLC0415 # of the group bench

    choose = _chooser()

    def play() -> None:
        game = dominoes.Game.new(starting_player=0)
        while game.result is None:
            game.make_move(*choose(game.valid_moves))

    return play


def _chooser() -> Choose:
    """Choose an item of a sequence, by the same cheap random numbers for all candidates."""
    draw = Random(1).random  # noqa: S311 # reproducible on purpose
    return lambda things: things[int(draw() * len(things))]


def _rate(play: Play, seconds: float) -> float:
    played = 0
    began = perf_counter()
    while True:
        play()
        played += 1
        taken = perf_counter() - began
        if taken >= seconds:
            return played / taken


def _row(name: str, rates: Spread) -> tuple[str, str]:
    return name, rates.show(0)
