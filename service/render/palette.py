"""The colours of pictures of a table, for light and dark surroundings and for paper.

Owns the colours alone; a test computes their contrasts. A colour is never the only sign: numbers are pips or digits,
states are lines and shapes.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Palette(NamedTuple):
    """Colours as CSS; ``none`` is no colour."""

    cloth: str
    rail: str
    """The line along the edge of the cloth."""
    seam: str
    """A thin line within that one."""
    shade: str
    """Around a tile, on the cloth."""
    face: str
    edge: str
    line: str
    """Between the halves of a tile."""
    ink: str
    """Pips and digits, where numbers have no colours of their own."""
    back: str
    back_edge: str
    lattice: str
    """The pattern and the cross on a back."""
    ring: str
    """Around an end that is open or gated, and from an end to a tile that lies apart."""
    outline: str
    """Around the tile laid last."""
    dot: str
    """Within a ring of the colour ``outline``, at a corner of the tile laid last."""
    numbers: tuple[str, ...]
    """Pips and digits of each number; empty if all have the colour ``ink``."""


FIRST_COLOURED_SET: Final = 9
"""The highest number of the smallest set whose numbers have colours."""


def _numbers(text: str) -> tuple[str, ...]:
    return tuple([f"#{colour}" for colour in text.split()])


# Computed: each number is as far as possible from the next one, for eyes that see all colours and for those that do
# not see red, green or blue.
_ON_LIGHT: Final = _numbers(
    "4b5563 005d4b 9b4382 0b5800 7652ac 5a4600 3566b8 7a2c00 0079a0 831826 00816c 751e5f 367b24 552f86 7c6900 124391 "
    "a15000 00557b ab4046"
)
_ON_DARK: Final = _numbers(
    "969fac 73ac9b eea1d5 78af70 c9adfb ae9d6f 93bfff d18b6e 82c9ea dc8181 84cfbc cd82b5 97d08a a98eda cdbe7d 759fe3 "
    "f3ab7c 71a6c7 fea09f"
)

LIGHT: Final = Palette(
    cloth="#2d6a50",
    rail="#245842",
    seam="#3b7d62",
    shade="#1d4a37",
    face="#fffdf5",
    edge="#e3dac2",
    line="#c9bc9c",
    ink="#1f2933",
    back="#7c2d3a",
    back_edge="#e3dac2",
    lattice="#f3d9c0",
    ring="#ffe08a",
    outline="#ffc53d",
    dot="#c2410c",
    numbers=_ON_LIGHT,
)
DARK: Final = Palette(
    cloth="#14342a",
    rail="#0e271f",
    seam="#1f4739",
    shade="#0b1f19",
    face="#20242c",
    edge="#8b94a3",
    line="#5b6472",
    ink="#e9ebf0",
    back="#4a1f29",
    back_edge="#8b94a3",
    lattice="#e0b9a0",
    ring="#e8c468",
    outline="#f2b632",
    dot="#f2b632",
    numbers=_ON_DARK,
)
PRINT: Final = Palette(
    cloth="none",
    rail="none",
    seam="none",
    shade="none",
    face="#fff",
    edge="#000",
    line="#000",
    ink="#000",
    back="#fff",
    back_edge="#000",
    lattice="#000",
    ring="#000",
    outline="#000",
    dot="#000",
    numbers=(),
)
FORCED: Final = Palette(
    cloth="Canvas",
    rail="CanvasText",
    seam="none",
    shade="none",
    face="Canvas",
    edge="CanvasText",
    line="CanvasText",
    ink="CanvasText",
    back="Canvas",
    back_edge="CanvasText",
    lattice="CanvasText",
    ring="LinkText",
    outline="Highlight",
    dot="CanvasText",
    numbers=(),
)
"""The system's colours, where the viewer insists on them."""
