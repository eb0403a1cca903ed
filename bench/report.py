"""The results as tables: on the terminal and as the page RESULTS.md.

Does not depend on how they were measured.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.builds import pythons
from service.engine.build import BUILD

PACKAGES = (
    "flask", "gunicorn", "gevent", "redis", "hiredis", "orjson", "marshmallow",
    "open-spiel", "dominoes", "fastapi", "uvicorn",
)  # fmt: skip


class Page(NamedTuple):
    """A page of results: its file, its title, and how to read it."""

    name: str
    title: str
    text: str


RESULTS = Page(
    "RESULTS.md",
    "Results of `make bench`",
    "Ratios are medians over turns of short bursts, all candidates side by side and in shuffled order, with the "
    "quartiles in parentheses. Absolute figures are of this machine at that time.",
)
LOAD = Page(
    "LOAD.md",
    "Results of `make bench ARGS=load`",
    "All figures are of this machine at that time.",
)


class Table(NamedTuple):
    """Rows under a head; the first column is text, the others are figures."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Goal(NamedTuple):
    """A target, and the measured value."""

    what: str
    wanted: str
    measured: str
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The results of one part of the benchmark."""

    title: str
    text: str
    tables: list[Table]
    goals: list[Goal] = field(default_factory=list)
    plots: dict[str, str] = field(default_factory=dict)
    """File name to SVG."""
    left_out: list[str] = field(default_factory=list)
    """What could not be measured here, with reasons."""


class Kept(NamedTuple):
    """A section with the time and the commit at which it was measured."""

    section: Section
    at: str
    commit: str


def show(section: Section, *, goals: bool = True) -> str:
    """Return a section for the terminal: aligned columns, and its goals if requested."""
    parts = [f"═══ {section.title} ═══", section.text]
    for table in section.tables:
        widths = [max(len(row[column]) for row in (table.head, *table.rows)) for column in range(len(table.head))]
        lines = [_line(row, widths) for row in [table.head, *table.rows]]
        parts.append("\n".join([table.title, *lines]))
    parts += [f"Left out: {each}" for each in section.left_out]
    if goals and section.goals:
        parts.append("\n".join(_goal_line(goal) for goal in section.goals))
    return "\n\n".join(parts) + "\n"


def now(section: Section) -> Kept:
    """Return a section that was measured now."""
    return Kept(section, datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), _commit())


def keep(folder: Path, name: str, measured: Kept) -> None:
    """Keep the section of a part for the page, instead of what was measured before."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_bytes(msgspec.json.encode(measured))


def kept(folder: Path, names: Sequence[str]) -> list[Kept]:
    """Return the sections of these parts. Raises ``FileNotFoundError`` if one was never measured."""
    return [msgspec.json.decode((folder / f"{name}.json").read_bytes(), type=Kept) for name in names]


def page(measured: Sequence[Kept], server: str, which: Page = RESULTS) -> str:
    """Return the page as a whole; ``server`` says which Redis it was."""
    parts = [f"# {which.title}", f"{which.text}\n\n{_machine(measured, server, which)}"]
    sections = [each.section for each in measured]
    goals = [goal for section in sections for goal in section.goals]
    if goals:
        rows = [(goal.what, goal.wanted, goal.measured, "yes" if goal.reached else "**no**") for goal in goals]
        parts.append("## The figures to reach\n\n" + _markdown(("figure", "wanted", "measured", "reached"), rows))
    for section in sections:
        parts += [f"## {section.title}", section.text]
        for table in section.tables:
            parts.append(f"{table.title}\n\n{_markdown(table.head, table.rows)}")
        parts += [f"![{name}]({name})" for name in section.plots]
        parts += [f"Left out: {each}" for each in section.left_out]
    return "\n\n".join(parts) + "\n"


def write(folder: Path, measured: Sequence[Kept], server: str, which: Page = RESULTS) -> None:
    """Write the page and the plots beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in measured:
        for name, svg in each.section.plots.items():
            (folder / name).write_text(svg)
    (folder / which.name).write_text(page(measured, server, which))


def _machine(measured: Sequence[Kept], server: str, which: Page) -> str:
    times = sorted({each.at for each in measured})
    own, *others = [f"{python.name}, built {python.built}" for python in pythons()]
    engine: tuple[str, str] = ("engine", BUILD)
    if which is RESULTS:
        engine = ("engine", "pure and compiled (`make wheel-compiled`), where a table names them; else pure")
    facts = [
        ("date", " to ".join(dict.fromkeys([times[0], times[-1]]))),
        ("machine", f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"),
        ("Python", own),
        *[("another Python, where a table names it", other) for other in others if which is RESULTS],
        engine,
        ("server", server),
        ("packages", ", ".join(f"{name} {number}" for name in PACKAGES if (number := _version(name)))),
        ("service", ", ".join(dict.fromkeys([each.commit for each in measured]))),
    ]
    return _markdown(("", ""), facts)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str:
    asked = ["git", "describe", "--always", "--dirty"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    except OSError:
        return "unknown"
    return said.stdout.strip() or "unknown"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruler = ["---", *["---:"] * (len(head) - 1)] if len(head) > 2 else ["---"] * len(head)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ruler, *rows])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [
        cell.rjust(width) if column else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  " + "  ".join([first, *others])


def _goal_line(goal: Goal) -> str:
    return f"{'reached' if goal.reached else 'NOT REACHED'}: {goal.what}: {goal.measured} (wanted: {goal.wanted})"
