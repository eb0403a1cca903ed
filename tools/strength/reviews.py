"""Rounds of each level, reviewed: whether what a review says is given away puts the levels in their order.

Owns which rounds those are, how they are kept, and the figures with their intervals, of which the project keeps those
of ``FIGURES``: a run replaces those of the games of which it has as many deals or more. In each deal the first round is
played once by each level at all seats, so that the levels are compared in the same deals. A decision is judged, and the
luck of a deal is found, as in any review; the luck of more deals than are reviewed, as it takes less time. Does not
depend on how the figures are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import pairwise
from math import inf, sqrt
from pathlib import Path
from time import monotonic, process_time
from typing import Any, Final, NamedTuple, TypeVar

from service.bots.choice import EDITIONS
from service.bots.endgame import is_all_known
from service.bots.knowledge import Observation
from service.engine.deal import Deck, seed_from_text
from service.engine.moves import Move
from service.engine.referee import deal
from service.learning.analysis import MAX_MOVES, luck_of, results, worlds_of
from service.learning.review import judge
from tools.strength.kept import DIGITS, KeptOutcomes, read_lines, write_lines
from tools.strength.rounds import play_round
from tools.strength.rows import IN_ORDER, Setup

LEVELS: Final = ("random", "greedy", "expert")
"""From weak to strong: the weaker, the more should be given away."""
SETUPS: Final = IN_ORDER
DEALS: Final = 20
"""Deals of each game that are reviewed."""
_MORE_DEALS: Final = {"bergen": 40, "tiddly-wink": 40, "kozel": 60, "menschenwolf": 100}
"""Where it is not ``DEALS``, as little is given away in a round, or ``DEALS`` have not shown the order."""
SHARED_DEALS: Final = 30
"""Deals of each game whose luck is found."""
FIGURES: Final = Path("tools/strength/reviews.jsonl")

Outcome = TypeVar("Outcome", bound="Reviewed | Shared")


class Reviewed(NamedTuple):
    """The first round of a deal as each of ``LEVELS`` plays it."""

    deal: int
    decisions: tuple[int, ...]
    """By level: the decisions of all seats."""
    given_away: tuple[float, ...]
    """By level: the points that they gave away, all together."""
    sampled: int
    """Decisions of any level with hidden tiles that were judged in sampled worlds, and were not the best move."""
    worlds: int
    """In how many worlds, all together."""
    squares: float
    """The squares of their errors, each times its worlds, all together: so what a single world would have."""
    milliseconds: float
    """CPU time of judging, all together."""


class Shared(NamedTuple):
    """The results of the first round of a deal as each of ``LEVELS`` plays it, and how much of them is luck."""

    deal: int
    results: tuple[float, ...]
    """By level: the squares of the results of all seats, all together."""
    skills: tuple[float, ...]
    """By level: the same of the results less the luck of the deal."""


class Comparison(NamedTuple):
    """How much more the weaker of two neighboring levels gives away at a decision, and half of the 95 % interval."""

    lead: float
    error: float

    @property
    def shown(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.lead > self.error


class Figures(NamedTuple):
    """What the deals of a game say so far."""

    setup: Setup
    deals: int
    """That were reviewed."""
    given_away: tuple[float, ...]
    """By level: points at a decision."""
    errors: tuple[float, ...]
    """By level: half of the 95 % interval, over deals."""
    comparisons: tuple[Comparison, ...]
    """Of each of ``LEVELS`` with the next one."""
    worlds: float
    """In how many worlds a move was played on, on average."""
    worlds_wanted: float
    """In how many a mistake would be clear that is as large as what ``random`` gives away at a decision."""
    milliseconds: float
    """CPU time of a decision, on average."""
    shared: int
    """Deals whose luck was found."""
    spread: float
    """The standard deviation of the results of the strongest level."""
    left: tuple[float, ...]
    """By level: which share of that of its results is left without the luck of the deals."""

    @property
    def shown(self) -> bool:
        """Whether the order of the levels is; of fewer deals than were fixed beforehand, nothing is."""
        return self.deals >= deals_of(self.setup) and all([each.shown for each in self.comparisons])


def deals_of(setup: Setup) -> int:
    """Return how many deals of this game are reviewed: fixed beforehand."""
    return _MORE_DEALS.get(setup.variant, DEALS)


_EDITIONS: Final = " and ".join([f"{level} {EDITIONS[level]}" for level in LEVELS])


class Kept(KeptOutcomes[Outcome]):
    """What was measured of a label, by game. ``kind`` names the folder, ``form`` makes an outcome."""

    def __init__(self, folder: Path, label: str, kind: str, form: Callable[..., Outcome]) -> None:
        super().__init__(folder / label / f"{kind} of {_EDITIONS}", form)
        self.label = label

    def of(self, setup: Setup) -> list[Outcome]:
        """Return what was measured of a game."""
        return self.named(setup.name)

    def following(self, setup: Setup) -> int:
        """Return the number of the next deal of a game."""
        return 1 + max([-1, *[each.deal for each in self.of(setup)]])

    def add(self, setup: Setup, outcome: Outcome) -> None:
        """Keep this deal, too."""
        self.keep(setup.name, [outcome])


def review_deal(setup: Setup, label: str, number: int, playouts: int | None = None) -> Reviewed:
    """Return this deal by each level; ``playouts`` as in ``analysis.estimates``."""
    seed = _seed(setup, label, number)
    judged = [_Judged(setup, playouts) for _ in LEVELS]
    for level, each in zip(LEVELS, judged, strict=True):
        play_round(setup.rules, seed, [level] * setup.seats, each.add)
    return Reviewed(
        number,
        tuple([each.decisions for each in judged]),
        tuple([each.given_away for each in judged]),
        sum([each.sampled for each in judged]),
        sum([each.worlds for each in judged]),
        sum([each.squares for each in judged]),
        round(sum([each.milliseconds for each in judged])),
    )


def share_deal(setup: Setup, label: str, number: int) -> Shared:
    """Return the luck in this deal."""
    rules, seed = setup.rules, _seed(setup, label, number)
    dealt, state = deal(rules, Deck(seed), rules.start())
    luck = luck_of(rules, dealt, state).points
    squares, left = [], []
    for level in LEVELS:
        scores = play_round(rules, seed, [level] * setup.seats, lambda *_: None)
        found = results(rules, state.active_seats(), scores)
        squares.append(sum([result**2 for result in found]))
        left.append(sum([(result - points) ** 2 for result, points in zip(found, luck, strict=True)]))
    return Shared(number, tuple(squares), tuple(left))


def _seed(setup: Setup, label: str, number: int) -> bytes:
    return seed_from_text(f"{label} {setup.name} {number}")


class _Judged:
    """The sums over the decisions of a round."""

    def __init__(self, setup: Setup, playouts: int | None) -> None:
        self._rules = setup.rules
        self._playouts = playouts
        self.decisions = self.sampled = self.worlds = 0
        self.given_away = self.squares = self.milliseconds = 0.0

    def add(self, observation: Observation, version: int, move: Move, _taken: float) -> None:
        """Judge this decision."""
        start = process_time()
        requested = move._replace(ends_sum=None, points=None)
        decision = judge(self._rules, observation, version, requested, playouts=self._playouts)
        self.milliseconds += 1000 * (process_time() - start)
        assert decision is not None
        self.decisions += 1
        self.given_away += decision.given_away
        if decision.error > 0 and not is_all_known(observation):
            many = min(MAX_MOVES, len(observation.view.legal_moves))
            worlds = worlds_of(self._rules, many, self._playouts)
            self.sampled += 1
            self.worlds += worlds
            self.squares += decision.error**2 * worlds


Task = Callable[[Setup, str, int], Outcome]


def measure(kept: Kept[Outcome], task: Task[Outcome], setups: Mapping[Setup, int], *, jobs: int, end: float) -> None:
    """Do this with so many deals of these games, all for as long, or until it is ``end`` by the clock."""
    spent = dict.fromkeys([each.name for each in setups], 0.0)
    following = {each.name: kept.following(each) for each in setups}
    running: dict[Future[tuple[Outcome, float]], Setup] = {}
    with ProcessPoolExecutor(jobs) as pool:
        while True:
            rest = [each for each in setups if following[each.name] < setups[each] and each not in running.values()]
            while rest and len(running) < jobs and monotonic() < end:
                chosen = min(rest, key=lambda each: spent[each.name])
                number = following[chosen.name]
                running[pool.submit(_timed, task, chosen, kept.label, number)] = chosen
                following[chosen.name] += 1
                rest.remove(chosen)
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done = running.pop(future)
                outcome, seconds = future.result()
                spent[done.name] += seconds
                kept.add(done, outcome)


def _timed(task: Task[Outcome], setup: Setup, label: str, number: int) -> tuple[Outcome, float]:
    """Return the outcome of a task, and its CPU time."""
    start = process_time()
    return task(setup, label, number), process_time() - start


def figures(setup: Setup, reviewed: Sequence[Reviewed], shared: Sequence[Shared] = ()) -> Figures:
    """Means and intervals over deals."""
    levels = range(len(LEVELS))
    means, residuals = zip(*[_given_away(reviewed, level) for level in levels], strict=True)
    comparisons = [
        Comparison(
            _rounded(means[weak] - means[strong]),
            _interval([a - b for a, b in zip(residuals[weak], residuals[strong], strict=True)]),
        )
        for weak, strong in pairwise(levels)
    ]
    sampled = max(1, sum([each.sampled for each in reviewed]))
    one_world = sum([each.squares for each in reviewed]) / sampled
    squares = [max(1e-9, sum([each.results[level] for each in shared])) for level in levels]
    return Figures(
        setup=setup,
        deals=len(reviewed),
        given_away=tuple([_rounded(each) for each in means]),
        errors=tuple([_interval(each) for each in residuals]),
        comparisons=tuple(comparisons),
        worlds=_rounded(sum([each.worlds for each in reviewed]) / sampled),
        worlds_wanted=_rounded(4 * one_world / means[0] ** 2) if means[0] else inf,
        milliseconds=_rounded(
            sum([each.milliseconds for each in reviewed]) / max(1, sum([sum(each.decisions) for each in reviewed]))
        ),
        shared=len(shared),
        spread=_rounded(sqrt(squares[-1] / max(1, len(shared) * setup.seats))),
        left=tuple([_rounded(sqrt(sum([each.skills[level] for each in shared]) / squares[level])) for level in levels]),
    )


def _given_away(reviewed: Sequence[Reviewed], level: int) -> tuple[float, list[float]]:
    """Return the points that a decision of this level gave away, and the difference from that of each deal."""
    decisions = [each.decisions[level] for each in reviewed]
    given_away = [each.given_away[level] for each in reviewed]
    total = max(1, sum(decisions))
    mean, share = sum(given_away) / total, total / max(1, len(reviewed))
    return mean, [(given - mean * many) / share for given, many in zip(given_away, decisions, strict=True)]


def _interval(residuals: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean of which these are the differences, deal by deal."""
    n = len(residuals)
    return _rounded(_quantile(n - 1) * sqrt(sum([each**2 for each in residuals]) / (n - 1) / n)) if n > 1 else inf


def _quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t: within 0.01 from 10 degrees of freedom on (Cornish-Fisher)."""
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def write(project: Path, found: Sequence[Figures]) -> None:
    """Write the figures of the project, a game on each line."""
    lines = [
        {
            **each._asdict(),
            "setup": each.setup.name,
            "comparisons": [list(lead) for lead in each.comparisons],
            "editions": _EDITIONS,
        }
        for each in found
        if each.deals > 1 or each.shared
    ]
    write_lines(project / FIGURES, lines)


def known(project: Path, found: Sequence[Figures]) -> list[Figures]:
    """Return these figures, or those of the project where they are of more deals and of the same editions."""
    lines = read_lines(project / FIGURES)
    by_setup = {line.pop("setup"): line for line in lines if line.pop("editions") == _EDITIONS}
    return [_known(each, by_setup.get(each.setup.name)) for each in found]


def _known(found: Figures, line: Mapping[str, Any] | None) -> Figures:
    """Return the reviews, and the luck, each by whichever has more deals."""
    if line is None:
        return found
    comparisons = tuple([Comparison(*each) for each in line["comparisons"]])
    lists = {name: tuple(value) for name, value in line.items() if isinstance(value, list)}
    wanted = inf if line["worlds_wanted"] is None else line["worlds_wanted"]
    kept = Figures(**{**line, **lists, "setup": found.setup, "comparisons": comparisons, "worlds_wanted": wanted})
    reviews = found if found.deals >= kept.deals else kept
    luck = found if found.shared >= kept.shared else kept
    return reviews._replace(shared=luck.shared, spread=luck.spread, left=luck.left)


def _rounded(value: float) -> float:
    return round(value, DIGITS)
