"""Part 3: the engine alone. Whole random rounds and decisions of an expert per second of processor time.

Each build of the engine on each Python is a process of its own; they take turns.
"""

from __future__ import annotations

from contextlib import ExitStack
from importlib.util import find_spec
from random import Random
from typing import Final, NamedTuple

from bench.builds import no_compiled_service
from bench.figures import Spread, ratios, spread
from bench.players import Engine, Player, engines
from bench.plays import BLOCK_FOUR, BLOCK_TWO, DOMINOES, EXPERTS, OPEN_SPIEL, TEAMS
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import SETUPS
from bench.stand import Stand

LIBRARIES: Final = {OPEN_SPIEL: "open_spiel", DOMINOES: "dominoes"}
WANTED: Final = ((BLOCK_TWO, OPEN_SPIEL, 6.0), (BLOCK_FOUR, DOMINOES, 1.2))
"""What the compiled engine must reach beside the other libraries."""
WANTED_OF_EXPERTS: Final = 1.8
"""Times as many decisions as the pure engine makes."""

Rates = dict[str, list[float]]
"""By the name of an engine or of another library: how many a second, turn by turn."""


class _Measured(NamedTuple):
    """The engines, the first of which are of this Python, and the rates by what was played."""

    engines: list[Engine]
    rates: dict[str, Rates]

    def builds(self) -> list[Engine]:
        """Those of this Python."""
        return [engine for engine in self.engines if engine.python == self.engines[0].python]


def run(_stand: Stand, scale: Scale) -> Section:
    """Measure every setup, the block game beside the other libraries, and experts."""
    there = {library: package for library, package in LIBRARIES.items() if find_spec(package)}
    measured = _measure(scale, list(there))
    left_out = [
        f"{library}: {package} is not installed (make bench installs it)"
        for library, package in LIBRARIES.items()
        if library not in there
    ]
    if scale.compiled and (reason := no_compiled_service()):
        left_out.append(f"the compiled build: {reason}")
    return Section(
        title="The engine alone",
        text="A second of processor time on one core. Full random rounds: shuffled, dealt, played with legal moves "
        "taken at random, counted; the state frozen and every event made, as in the service. Decisions of an expert: "
        f"whole ones, in {scale.decisions} situations with a choice, the same for all.",
        tables=[
            _table("Rounds a second of every game", measured, [setup.name for setup in SETUPS]),
            _table("Rounds a second beside other libraries", measured, [BLOCK_TWO, BLOCK_FOUR, TEAMS, *there]),
            _ratios(measured, there),
            _table("Decisions a second", measured, list(EXPERTS), digits=1),
        ],
        goals=_goals(measured, there),
        left_out=left_out,
    )


def _measure(scale: Scale, libraries: list[str]) -> _Measured:
    """Let all play in turns; other libraries are played on every Python."""
    rng = Random("engine")  # noqa: S311 # only the order of turns
    found = engines(scale)
    played = [*[setup.name for setup in SETUPS], BLOCK_TWO, BLOCK_FOUR, TEAMS, *EXPERTS, *libraries]
    with ExitStack() as stack:
        players = {engine.name: stack.enter_context(Player(engine, scale)) for engine in found}
        pure = [engine.name for engine in found if engine.build == "pure"]
        rates: dict[str, Rates] = {name: {} for name in played}
        for _ in range(scale.turns):
            for name in rng.sample(played, len(played)):
                who = pure if name in libraries else list(players)
                for engine in rng.sample(who, len(who)):
                    rates[name].setdefault(engine, []).append(players[engine].rate(name))
    return _Measured(found, rates)


def _table(title: str, measured: _Measured, names: list[str], digits: int = 0) -> Table:
    rows = []
    for name in names:
        rates = measured.rates[name]
        cells = [spread(rates[each.name]).show(digits) if each.name in rates else "" for each in measured.engines]
        rows.append((name, *cells))
    return Table(title, ("what", *[engine.name for engine in measured.engines]), rows)


def _beside(measured: _Measured, engine: Engine, mine: str, its: str) -> Spread:
    """Return how often the engine plays its game while the library plays one on the same Python."""
    (pure,) = [each.name for each in measured.engines if each.python == engine.python and each.build == "pure"]
    return ratios({"mine": measured.rates[mine][engine.name], "its": measured.rates[its][pure]}, "mine", "its")


def _faster(measured: _Measured, engine: Engine, name: str) -> Spread:
    """Return how many times as many as the pure engine on this Python."""
    return ratios(measured.rates[name], engine.name, measured.engines[0].name)


def _ratios(measured: _Measured, libraries: dict[str, str]) -> Table:
    rows = [
        (f"{mine}, times {its}", *[_beside(measured, engine, mine, its).show() for engine in measured.engines])
        for mine, its, _ in WANTED
        if its in libraries
    ]
    first = measured.engines[0].name
    rows += [
        (f"{name}, times {first}", *[_faster(measured, engine, name).show() for engine in measured.engines])
        for name in (BLOCK_TWO, *EXPERTS)
    ]
    return Table("Ratios; to other libraries on the same Python", ("what", *[e.name for e in measured.engines]), rows)


def _goals(measured: _Measured, libraries: dict[str, str]) -> list[Goal]:
    """Return what is asked of the compiled engine on this Python; what the pure one does is in the tables."""
    compiled = [engine for engine in measured.builds() if engine.build == "compiled"]
    goals = []
    for engine in compiled:
        for mine, its, wanted in WANTED:
            if its in libraries:
                ratio = _beside(measured, engine, mine, its)
                what = f"{mine}, compiled, times {its}"
                goals.append(Goal(what, f"≥ {wanted}", ratio.show(), ratio.median >= wanted))
        for name in EXPERTS:
            ratio = _faster(measured, engine, name)
            what = f"decisions of {name}, compiled, times pure"
            goals.append(Goal(what, f"≥ {WANTED_OF_EXPERTS}", ratio.show(), ratio.median >= WANTED_OF_EXPERTS))
    return goals
