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


def _line(layout: Layout, width: int) -> Iterator[str]:
    tile = partial(_tile, layout)
    words = [tile(0)]
    for end in layout.ends:
        if end.name == LEFT:
            before = [tile(index, flipped=True) for index in _outwards(layout, end)]
            words = [f"{end.number} ‹", *reversed(before), *words]
        else:
            after = [tile(index) for index in _outwards(layout, end)]
            words = [*words, *after, f"› {end.number}"]
    yield from wrap_words(words, width, indent="    ")


def _outwards(layout: Layout, end: End) -> list[int]:
    """Return the indexes of the tiles between the lead and this end, from the lead outwards."""
    indexes, host = [], end.host
    while host > 0:
        indexes.append(host)
        host = layout.placements[host].host
    return indexes[::-1]


def _arms(layout: Layout, width: int) -> Iterator[str]:
    tree = _Tree(layout)
    blocks = [0]
    sides: list[str] = []
    rows: list[tuple[str, list[str]]] = []
    for spinner in blocks:
        children, ends = tree.children[spinner], tree.ends[spinner]
        if spinner:
            children = [child for child in children if layout.placements[child].side == SHORT]
            ends = [end for end in ends if end.side == SHORT]
        name = _tile(layout, spinner)
        if spinner and not children:
            sides += [f"{name} {_ends(ends)}"] if ends else []
            continue
        arms = [tree.arm(child, blocks) for child in children]
        if ends:
            arms.append([_ends(ends)])
        rows += [(name if not at else "", arm) for at, arm in enumerate(arms)]
    if sides:
        rows.append(("sides", [f"{side} " for side in sides]))
    margin = max(len(name) for name, _ in rows) + 2
    for name, words in rows:
        for line in wrap_words(words, width - margin, indent="    "):
            yield f"{name:{margin}}{line}".rstrip()
            name = ""  # noqa: PLW2901 # only the first line has the name


class _Tree:
    """The placements and ends at each placement, by its index."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.children: dict[int, list[int]] = defaultdict(list)
        self.ends: dict[int, list[End]] = defaultdict(list)
        for index, placement in enumerate(layout.placements[1:], 1):
            self.children[placement.host].append(index)
        for end in layout.ends:
            self.ends[end.host].append(end)

    def arm(self, first: int, spinners: list[int]) -> list[str]:
        """Return the words of the arm that starts with this placement.

        Appends the doubles of the arm that branch to ``spinners``.
        """
        words: list[str] = []
        placements = self._layout.placements
        next_index: int | None = first
        while next_index is not None:
            here = next_index
            words.append(_tile(self._layout, here))
            ahead = [child for child in self.children[here] if placements[child].side != SHORT]
            if len(ahead) < len(self.children[here]) or any([end.side == SHORT for end in self.ends[here]]):
                spinners.append(here)
            next_index = ahead[0] if ahead else None
        end = _ends([end for end in self.ends[here] if end.side != SHORT])
        return [*words, end] if end else words


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
    return "   ".join(
        [
            f"(› {end.number} {end.name})" if end.gate == GATED else f"› {end.number} {end.name}"
            for end in ends
            if end.gate != CLOSED
        ]
    )
