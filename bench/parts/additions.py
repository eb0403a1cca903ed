"""Part 2: what a clock, a bot among the players and an application cost a move.

The web workers and Redis are measured. What other processes do of it afterwards, the moves of the bot and the messages
to the application, is not: nobody waits for it.
"""

from __future__ import annotations

from random import Random

from bench.additions import LEAST, additions
from bench.bursts import Work, prepared
from bench.candidates import LABELS, PURE, Name, services
from bench.costs import cost
from bench.figures import ratios, spread, take_turns
from bench.hosted import measure
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import USUAL, matches
from bench.stand import Stand


def run(stand: Stand, scale: Scale) -> Section:
    """Measure each beside the same game without it."""
    rng = Random("additions")  # noqa: S311 # only the order of turns
    builds = services(compiled=scale.compiled)
    played = matches(USUAL, scale.matches, scale.longest)
    usual = Work(played, measure(stand[PURE].address, stand.redis, played[0]), scale.clients, scale.reads)
    rows, goals = [], []
    for addition in additions(stand, usual):
        works = {"without": addition.without, "having": addition.having}
        names = [(name, which) for name in builds for which in works]

        def seconds(each: str, works: dict[str, Work] = works) -> float:
            name, which = _parts(each)
            return cost(stand[name], stand.redis, "POST move", prepared(stand, "POST move", works[which], name)).seconds

        taken = take_turns([f"{name}|{which}" for name, which in names], scale.turns, seconds, rng)
        row = [f"with {addition.name}"]
        for name in builds:
            ratio = ratios(taken, f"{name}|without", f"{name}|having")
            both = [spread(taken[f"{name}|{which}"]).median * 1e6 for which in works]
            row += [ratio.show(), *[f"{each:.0f}" for each in both]]
            what = f"POST move with {addition.name}, {LABELS[name]}, of one without"
            goals.append(Goal(what, f"≥ {LEAST}", ratio.show(), ratio.median >= LEAST))
        rows.append(tuple(row))
    heads = [(f"{LABELS[name]}, of one without", "µs without", "µs with") for name in builds]
    return Section(
        title="A clock, a bot, an owner",
        text=f"POST move in games with one of them beside the same without, {USUAL.name}: processor time of the web "
        "workers and of Redis, the one without over the one with. Beside a bot, the moves before its first one.",
        tables=[Table("A move", ("game", *[cell for head in heads for cell in head]), rows)],
        goals=goals,
    )


def _parts(each: str) -> tuple[Name, str]:
    name, _, which = each.partition("|")
    (found,) = [build for build in LABELS if build == name]
    return found, which
