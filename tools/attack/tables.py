"""The tables of ``make attack``: their heads, what they mean in words, and their rows.

Does not depend on how the figures are measured.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from bench.figures import percentile
from tools.attack.attackers import ATTACKERS, Done
from tools.attack.cost import Cost
from tools.attack.faults import Outcome
from tools.attack.honest import PLAYERS, THINKING_SECONDS
from tools.attack.measure import WATCHDOG_SECONDS, Held, Result
from tools.attack.shares import MAX_MEMORY_MB

HEAD: Final = (
    "attack",
    "service",
    "honest moves",
    "honest bots",
    "p50 ms",
    "p99 ms",
    "5xx",
    "refused",
    "workers killed",
    "CPU ms",
    "attack requests",
)
HELD_HEAD: Final = (
    "attack",
    "service",
    "honest moves",
    "honest bots",
    "greedy, longest s",
    "expert, longest s",
    "others",
    "stored in a day",
    "CPU ms",
    "attack requests",
)
COST_HEAD: Final = ("route", "large input", "CPU ms", "answer", "answer bytes")
FAULT_HEAD: Final = ("fault", "how often", "games", "bot moves", "deadlines", "lost", "doubled", "early", "other")
SENTENCE: Final = (
    f"Measured by `make attack` on one machine with {os.cpu_count()} processor cores: a service with two workers and "
    f"default settings but for gunicorn's watchdog, which is at {WATCHDOG_SECONDS} s, {PLAYERS} honest players with "
    f"{1000 * THINKING_SECONDS:.0f} ms between two moves, and {ATTACKERS} attackers in processes of their own. Each "
    "honest player has an address of its own, the attackers share one. *Honest moves* are a fraction of those just "
    "before and after the attack; so are *honest bots*, the answers of computer players to people who play `greedy` or "
    "`expert` ones at a pace of 0, of the level that fares worse. *Refused* counts closed connections and answers 4xx "
    "of honest players. *CPU ms* is the processor time of all processes of the service for a request of an attacker, "
    "beyond what the honest cost in calm."
)
HELD_SENTENCE: Final = (
    f"What one may hold, each in a service of its own with a store of {MAX_MEMORY_MB} MiB and applications that all "
    "may register: one address, or one application, takes what stays taken. *Longest s* is the longest wait of honest "
    "people for an answer, in calm and beside the attack. *Others* is what another address or application gets then: "
    "the status of a new game, application or endpoint, and its time; the median and the longest time of a message to "
    "its endpoint; whether its game is in the lobby; how soon a stranger is dealt to; who joins by a code. *Stored "
    "in a day* is what one address can make the store hold, as a part of the store, and for each request."
)

Row = tuple[str, ...]


def attack_figures(result: Result | str) -> Row:
    """Return the columns of an attack, after its name and the service."""
    if isinstance(result, str):
        return (*["–"] * (len(HEAD) - 3), result)
    fared = result.attacked.fared
    times = fared.latencies or [fared.seconds]
    return (
        f"{result.moves:.2f}",
        _fraction(result.bots),
        f"{1000 * percentile(times, 50):.0f}",
        f"{1000 * percentile(times, 99):.0f}",
        str(fared.server_errors),
        str(fared.refusals),
        str(result.killed),
        _milliseconds(result.cpu_seconds),
        "; ".join([*_outcomes(result.done), *result.notes]) or "none",
    )


def held_figures(held: Held | str) -> Row:
    """Return the columns of an attack on what is held, after its name and the service."""
    if isinstance(held, str):
        return (*["–"] * (len(HELD_HEAD) - 3), held)
    result = held.result
    waited = [result.attacked.waited.get(level) for level in ("greedy", "expert")]
    calm = [result.calm[0].waited.get(level) for level in ("greedy", "expert")]
    return (
        f"{result.moves:.2f}",
        _fraction(result.bots),
        *[
            "–" if each is None or was is None else f"{was.longest:.1f} → {each.longest:.1f}"
            for each, was in zip(waited, calm, strict=True)
        ],
        f"{held.others_calm} → {held.others}" if held.others != "–" else "–",
        held.stored,
        _milliseconds(result.cpu_seconds),
        "; ".join(_outcomes(result.done)) or "none",
    )


def _fraction(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1000 * seconds:.1f}"


def _outcomes(done: Done) -> list[str]:
    outcomes = ", ".join([f"{name} × {many}" for name, many in done.most_common(4)])
    return [outcomes] if outcomes else []


def fault_figures(outcome: Outcome) -> Row:
    """Return the columns of a fault, after its name."""
    counted = outcome.counted
    faults = ", ".join([f"{many:,} {name}" for name, many in outcome.faults.items()])
    figures = [counted["games"], counted["moves"], counted["deadlines"]]
    wrong = [outcome.lost, outcome.doubled, outcome.early, outcome.wrong]
    return (faults or "–", *[f"{number:,}" for number in figures], *[str(len(each)) for each in wrong])


def cost_row(cost: Cost) -> Row:
    """Return the row of a request."""
    return (cost.route, cost.what, f"{1000 * cost.seconds:.1f}", cost.outcome, f"{cost.answer_bytes:,}")


def line(row: Row, widths: Sequence[int]) -> str:
    """Return a row for a terminal."""
    return "  ".join([text.ljust(width) for text, width in zip(row, widths, strict=True)]).rstrip()


def markdown(head: Row, rows: Sequence[Row]) -> str:
    """Return a table for a page."""
    lines = [head, tuple(["---"] * len(head)), *rows]
    return "\n".join(["| " + " | ".join([text.replace("|", "\\|") for text in line]) + " |" for line in lines])
