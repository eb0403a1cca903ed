"""Plots as SVG, where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from io import StringIO
from typing import Any, NamedTuple

from bench.figures import Spread


def can_plot() -> bool:
    """Return whether there is matplotlib."""
    return find_spec("matplotlib") is not None


class Panel(NamedTuple):
    """One of several plots above each other: its curves by name."""

    up: str
    curves: dict[str, list[float]]
    logarithmic: bool = False


def panels(across: str, values: Sequence[float], each: Sequence[Panel]) -> str:
    """Draw plots above each other over the same values, as SVG."""
    pyplot = _pyplot()
    figure, all_axes = pyplot.subplots(len(each), sharex=True, figsize=(8, 3 * len(each)))
    for panel, axes in zip(each, all_axes, strict=True):
        for name, curve in panel.curves.items():
            axes.plot(values, curve, marker=".", label=name)
        axes.set(ylabel=panel.up)
        if panel.logarithmic:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    all_axes[-1].set(xlabel=across)
    all_axes[-1].set_xlim(left=0)
    return _svg(pyplot, figure)


def line_with_band(values: Sequence[Spread], *, title: str, across: str, up: str) -> str:
    """Return a curve of medians with the quartiles as a band around it, numbered from 1, as SVG."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(8, 4))
    numbers = range(1, len(values) + 1)
    axes.fill_between(numbers, [each.low for each in values], [each.high for each in values], alpha=0.25)
    axes.plot(numbers, [each.median for each in values])
    axes.set(title=title, xlabel=across, ylabel=up)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=1)
    axes.grid(alpha=0.3)
    return _svg(pyplot, figure)


def _pyplot() -> Any:
    import matplotlib as mpl  # noqa: PLC0415 # of the group bench

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "bench"
    from matplotlib import pyplot  # noqa: PLC0415 # as above

    return pyplot


def _svg(pyplot: Any, figure: Any) -> str:
    drawn = StringIO()
    figure.savefig(drawn, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n"
