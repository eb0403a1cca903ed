"""The tiles on the table as lines of text.

Owns this notation. A layout that is a line takes one line of text, with the number of each open end::

    6 ‹ 6-3 3-1 [1-1] 1-2* 2-5 › 5
    [5-5] 5-1* › 1

A layout that branches takes one line for each arm. The arms of a double that branches follow under the name of the
double, so the text needs no deeper indentation::

    [12-12]  12-10 10-11 [11-11] 11-6 › 6 e9
             12-0 › 0 e7
             › 12 e3   › 12 e4
    [11-11]  11-1 › 1 e10
             › 11 e6
    sides    [3-3] › 3 e12   › 3 e13

``[3-3]`` is a double; ``×`` marks a face-down tile, which closes its end; ``*`` marks the tile laid last; ``› 6 e9`` is
an open end with its number and name; ``(› 6 e9)`` is an end that opens later. Does not depend on hands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from service.engine.layout import CLOSED, GATED, LEFT, SHORT, End, Layout

LEGEND = "[6-6] double · × face down, closed · * laid last · › 6 e9 open end and its name · (› 6 e9) opens later"


def render_layout(layout: Layout, width: int) -> Iterator[str]:
    """Yield the lines of the layout, not wider than ``width`` where possible."""
    if layout.placements:
        yield from (_line if layout.is_line else _arms)(layout, width)


def wrap_words(words: Sequence[str], width: int, *, indent: str = "", separator: str = " ") -> Iterator[str]:
    """Yield the words wrapped into at least one line; all lines but the first begin with ``indent``."""
    line = ""
    for word in words:
        if not line:
            line = word
        elif len(line) + len(separator) + len(word) <= width:
            line += separator + word
        else:
            yield line
            line = indent + word
    yield line


def arms_of(layout: Layout) -> Iterator[list[int]]:
    """Yield the arms in the order in which they began, each as the indexes of its tiles from the lead outwards.

    An arm begins at a side of the lead, or at a short side of another double. The far long side of a double continues
    the arm.
    """
    ahead: dict[int, int] = {}
    starts: list[int] = []
    for number, placement in enumerate(layout.placements[1:], 1):
        if placement.host and placement.side != SHORT:
            ahead[placement.host] = number
        else:
            starts.append(number)
    for start in starts:
        arm = [start]
        while arm[-1] in ahead:
            arm.append(ahead[arm[-1]])
        yield arm


def _line(layout: Layout, width: int) -> Iterator[str]:
    tile = partial(_tile, layout)
    words = [tile(0)]
    arms = {arm[-1]: arm for arm in arms_of(layout)}
    for end in layout.ends:
        arm = arms.get(end.host, [])
        if end.name == LEFT:
            words = [f"{end.number} ‹", *[tile(index, flipped=True) for index in reversed(arm)], *words]
        else:
            words = [*words, *[tile(index) for index in arm], f"› {end.number}"]
    yield from wrap_words(words, width, indent="    ")


def _arms(layout: Layout, width: int) -> Iterator[str]:
    arms: dict[int, list[list[int]]] = defaultdict(list)
    """The arms that begin at each placement."""
    for arm in arms_of(layout):
        arms[layout.placements[arm[0]].host].append(arm)
    ends: dict[int, list[End]] = defaultdict(list)
    for end in layout.ends:
        ends[end.host].append(end)
    blocks = [0]
    sides: list[str] = []
    rows: list[tuple[str, list[str]]] = []
    for spinner in blocks:
        name = _tile(layout, spinner)
        free = [end for end in ends[spinner] if not spinner or end.side == SHORT]
        if spinner and not arms[spinner]:
            sides += [f"{name} {_ends(free)}"] if free else []
            continue
        written = []
        for arm in arms[spinner]:
            blocks += [index for index in arm if arms[index] or any([end.side == SHORT for end in ends[index]])]
            outer = _ends([end for end in ends[arm[-1]] if end.side != SHORT])
            written.append([*[_tile(layout, index) for index in arm], *([outer] if outer else [])])
        if free:
            written.append([_ends(free)])
        rows += [("" if at else name, words) for at, words in enumerate(written)]
    if sides:
        rows.append(("sides", [f"{side} " for side in sides]))
    margin = max(len(name) for name, _ in rows) + 2
    for name, words in rows:
        for line in wrap_words(words, width - margin, indent="    "):
            yield f"{name:{margin}}{line}".rstrip()
            name = ""  # noqa: PLW2901 # only the first line has the name


def _tile(layout: Layout, index: int, *, flipped: bool = False) -> str:
    """Return the text of a tile with the half that touches its host first, or last if ``flipped``.

    The lead has its lower half first.
    """
    placement = layout.placements[index]
    halves = layout.inner_half(index), layout.outer_half(index)
    name = "-".join(map(str, reversed(halves) if flipped else halves))
    written = f"[{name}]" if placement.tile.double else name
    return f"{written}{'×' if placement.face_down else ''}{'*' if index == len(layout.placements) - 1 else ''}"


def _ends(ends: Sequence[End]) -> str:
    """Return the text of the ends where a tile can join, now or later."""
    texts = [(f"› {end.number} {end.name}", end.gate) for end in ends if end.gate != CLOSED]
    return "   ".join([f"({text})" if gate == GATED else text for text, gate in texts])
