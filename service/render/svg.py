"""The picture of a table, as an SVG document.

Owns the elements, the colours and the positions of pips. The document is valid XML without scripts and external links,
and shows only the tiles on the table and its ends. At full size, a half is 24 pixels wide; if the picture is shown
smaller, digits replace the pips. Does not depend on how the coordinates are computed.

Every tile is a group with two references: to a tile with its smaller number, and to its larger number. So a table of 91
tiles takes less than 20 kB, and a page that contains the picture finds each tile by its name::

    <g data-tile="3-5" transform="translate(-7 0)rotate(180)"><use href="#t3"/><use href="#n5" x="1"/></g>
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from math import cos, radians, sin
from typing import Final, Literal, NamedTuple

from service.engine.layout import CLOSED, GATED
from service.render.geometry import Area, Geometry, PlacedEnd, PlacedTile

# The pips of a half, as the path of an SVG.


_ROWS: Final = "000 010 000 000 202 212 303 313 323 333 424 434 444 535 545 555 646 656 666"
"""For each number on a half, the numbers of pips in the three rows; ``_DIAGONAL`` has those of 2 and 3."""

_STEP: Final = 0.54
"""The distance from the centre of a half to its outer rows, in units."""
_DIAGONAL: Final = {2: (-_STEP, _STEP), 3: (-_STEP, 0.0, _STEP)}
_SIZES: Final = {3: (_STEP, 0.42), 4: (0.62, 0.34), 5: (0.66, 0.28), 6: (0.7, 0.22)}
"""The distance from the centre to the outer pips, and the diameter of a pip, by the length of the longest row."""

HIGHEST_WITH_LARGE_PIPS: Final = 15
"""The highest number with pips that are legible in a half of 24 pixels; above it, a half needs 40 pixels."""


class Pips(NamedTuple):
    """The pips of a half as a path around its centre, in units."""

    path: str
    width: float
    """The width of the line of the path, which is the diameter of a pip."""


@cache
def pips_of(number: int) -> Pips:
    """Return the pips of a number, for a horizontal tile; 0 has none."""
    points = pip_places(number)
    _, width = _SIZES[max(3, *_rows(number))]
    return Pips("".join([f"M{short(x)}{_second(y)}h0" for x, y in points]), width)


def pip_places(number: int) -> list[tuple[float, float]]:
    """Return the centres of the pips, relative to the centre of the half, in units."""
    if number in _DIAGONAL:
        return [(place, place) for place in _DIAGONAL[number]]
    rows = _rows(number)
    longest = max(3, *rows)
    span, _ = _SIZES[longest]
    return [(x, y) for count, y in zip(rows, (-_STEP, 0.0, _STEP), strict=True) for x in _row(count, longest, span)]


def _rows(number: int) -> list[int]:
    """Return the numbers of pips in the three rows of a half."""
    return [int(count) for count in _ROWS.split()[number]]


def _row(count: int, longest: int, span: float) -> list[float]:
    """Return the positions of the pips in a row: in columns of the longest row if possible, else between them."""
    if count < 2:
        return [0.0] * count
    step = 2 * span / (longest - 1)
    if (longest - 1) % (count - 1) == 0:
        step = 2 * span / (count - 1)
    return [round(step * (at - (count - 1) / 2), 2) for at in range(count)]


def short(value: float) -> str:
    """Return a number in the shortest form that SVG allows."""
    text = f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _second(value: float) -> str:
    """Return a number that follows another one; a minus sign separates them, so only other numbers need a space."""
    text = short(value)
    return text if text.startswith("-") else f" {text}"


# The colours of a picture, for light and dark themes and for paper.


class Palette(NamedTuple):
    """Colours as CSS; ``none`` is no colour."""

    cloth: str
    rail: str
    """The line along the edge of the cloth."""
    seam: str
    """The thin line inside the rail."""
    shade: str
    """The shadow of a tile on the cloth."""
    face: str
    edge: str
    line: str
    """The line between the halves of a tile."""
    ink: str
    """The pips and digits, in sets whose numbers have no colours."""
    back: str
    back_edge: str
    lattice: str
    """The pattern and the cross on the back of a tile."""
    ring: str
    """The rings at open and gated ends, and the line from an end to a tile that lies apart."""
    outline: str
    """The outline of the tile laid last, and of its dot."""
    dot: str
    """The dot at a corner of the tile laid last."""
    numbers: tuple[str, ...]
    """The pips and digits of each number; empty if all of them use ``ink``."""


FIRST_COLOURED_SET: Final = 9
"""In sets from double-nine on, each number has its own colour."""


def _numbers(text: str) -> tuple[str, ...]:
    return tuple([f"#{colour}" for colour in text.split()])


# A program computed these colours: each differs from the next as much as possible, also for people who do not see red,
# green or blue.
_ON_LIGHT: Final = _numbers(
    "4b5563 005d4b 9b4382 0b5800 7652ac 5a4600 3566b8 7a2c00 0079a0 831826 00816c 751e5f 367b24 552f86 7c6900 124391 "
    "a15000 00557b ab4046"
)
_ON_DARK: Final = _numbers(
    "969fac 73ac9b eea1d5 78af70 c9adfb ae9d6f 93bfff d18b6e 82c9ea dc8181 84cfbc cd82b5 97d08a a98eda cdbe7d 759fe3 "
    "f3ab7c 71a6c7 fea09f"
)

_THEMES: Final = {
    "cloth": ("#2d6a50", "#14342a", "none", "Canvas"),
    "rail": ("#245842", "#0e271f", "none", "CanvasText"),
    "seam": ("#3b7d62", "#1f4739", "none", "none"),
    "shade": ("#1d4a37", "#0b1f19", "none", "none"),
    "face": ("#fffdf5", "#20242c", "#fff", "Canvas"),
    "edge": ("#e3dac2", "#8b94a3", "#000", "CanvasText"),
    "line": ("#c9bc9c", "#5b6472", "#000", "CanvasText"),
    "ink": ("#1f2933", "#e9ebf0", "#000", "CanvasText"),
    "back": ("#7c2d3a", "#4a1f29", "#fff", "Canvas"),
    "back_edge": ("#e3dac2", "#8b94a3", "#000", "CanvasText"),
    "lattice": ("#f3d9c0", "#e0b9a0", "#000", "CanvasText"),
    "ring": ("#ffe08a", "#e8c468", "#000", "LinkText"),
    "outline": ("#ffc53d", "#f2b632", "#000", "Highlight"),
    "dot": ("#c2410c", "#f2b632", "#000", "CanvasText"),
}
"""The colours of each theme: light, dark, on paper, and those of the system, for people who have set forced colours."""


def _palette(theme: int, numbers: tuple[str, ...] = ()) -> Palette:
    return Palette(**{name: colours[theme] for name, colours in _THEMES.items()}, numbers=numbers)


LIGHT: Final = _palette(0, _ON_LIGHT)
DARK: Final = _palette(1, _ON_DARK)
PRINT: Final = _palette(2)
FORCED: Final = _palette(3)


Theme = Literal["auto", "light", "dark", "print"]

_PIXELS: Final = 12
"""The pixels of a unit at full size; a half is two units wide."""
_PIXELS_OF_PIPS: Final = 12
"""If a unit has fewer pixels than this, digits replace the pips."""
_PIXELS_OF_SMALL_PIPS: Final = 20
"""The same for sets with small pips."""
_LAST_DIGIT: Final = 9
_MARGIN: Final = 2
"""The distance from the outermost tile to the edge of the cloth, in units."""
_RING_DISTANCE: Final = 0.54
_RING_RADIUS: Final = 0.34
"""A ring with its line stays within one unit of its end, and no other tile is that near."""

_TILE: Final = 'x="-1.92" y="-.92" width="3.84" height="1.84" rx=".34"'
_HALVES: Final = {0: ('x="-1"', 'x="1"'), 90: ('y="-1"', 'y="1"'), 180: ('x="1"', 'x="-1"'), 270: ('y="1"', 'y="-1"')}
"""The positions of the smaller and the larger half, by the rotation of the tile."""
_BACK: Final = ("M-1.5-.5l1 1M-1.5 .5l1-1M.5-.5l1 1M.5 .5l1-1", "M-1.6-.6h3.2v1.2h-3.2z", "M-.3-.3l.6 .6M-.3 .3l.6-.6")
"""The paths of a back: its pattern, its frame, and the cross in the middle."""

_SHAPES: Final = {
    "c": "stroke-width:.3",  # the cloth
    "z": "fill:none;stroke-width:.1",  # the seam on the cloth
    "f": "stroke-width:.08",  # the face of a tile
    "h": "stroke-width:.07",  # the line between its halves
    "b": "stroke-width:.08",  # the back of a tile
    "w": "fill:none;stroke-width:.09;stroke-linecap:round",  # the pattern on the back
    "x": "stroke-width:.2",  # the cross on the back
    "p": "fill:none;stroke:currentColor;stroke-linecap:round",  # pips
    "d": "fill:currentColor;font:700 1.3px system-ui,sans-serif;text-anchor:middle",  # digits
    "k": "font-size:1.12px",  # a number of two digits
    "e": "fill:none;stroke-width:.17",  # the ring at an end
    "g": "stroke-dasharray:.28 .254",  # the ring at a gated end
    "l": "stroke-linejoin:round;stroke-linecap:round",  # the line to a tile that lies apart
    "o": "fill:none;stroke-width:.17",  # the outline of the tile laid last
    "v": "stroke-width:.14",  # the dot of the tile laid last
}
"""The CSS classes without their colours."""
_COLOURS: Final = {
    "c": "fill:{cloth};stroke:{rail}",
    "z": "stroke:{seam}",
    "s": "fill:{shade}",
    "f": "fill:{face};stroke:{edge}",
    "h": "stroke:{line}",
    "i": "color:{ink}",
    "b": "fill:{back};stroke:{back_edge}",
    "w": "stroke:{lattice}",
    "e": "stroke:{ring}",
    "o": "stroke:{outline}",
    "v": "fill:{dot};stroke:{outline}",
}
"""The colours of the classes, with names from ``Palette``; ``s`` is the shadow of a tile, ``i`` all pips and digits."""


class Caption(NamedTuple):
    """The texts of a picture for people who do not see it."""

    title: str
    description: str
    language: str


def render_svg(
    geometry: Geometry, highest: int, caption: Caption, theme: Theme = "auto", *, digits: bool | None = None
) -> str:
    """Return the picture of a table; ``highest``: the highest number of the set.

    ``digits``: whether digits replace the pips; ``None``: by the width of the picture, which works only in its own
    document.
    """
    return "".join(_Picture(geometry, highest, theme, digits=digits).parts(caption))


class _Picture:
    def __init__(self, geometry: Geometry, highest: int, theme: Theme, *, digits: bool | None) -> None:
        self._geometry = geometry
        self._theme = theme
        self._digits = digits
        self._coloured = highest >= FIRST_COLOURED_SET
        self._large = highest <= HIGHEST_WITH_LARGE_PIPS
        shown = [half for laid in geometry.tiles if not laid.face_down for half in (laid.tile.low, laid.tile.high)]
        self._numbers = sorted(set(shown))
        self._cloth = _cloth(geometry)

    def parts(self, caption: Caption) -> Iterator[str]:
        """Yield the document in parts."""
        title, description, language = escape(caption.title), escape(caption.description), caption.language
        x, y, width, height = self._cloth
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * _PIXELS}" height="{height * _PIXELS}" '
            f'viewBox="{x} {y} {width} {height}" role="img" aria-labelledby="title" aria-describedby="desc" '
            f'xml:lang="{language}" lang="{language}"><title id="title">{title}</title>'
            f'<desc id="desc">{description}</desc>'
        )
        yield f"<style>{''.join(self._css())}</style><defs>{''.join(self._definitions())}</defs>"
        place = f'x="{x + 0.15:g}" y="{y + 0.15:g}" width="{width - 0.3:g}" height="{height - 0.3:g}"'
        yield f'<rect class="c" {place} rx="2"/>'
        place = f'x="{x + 0.7:g}" y="{y + 0.7:g}" width="{width - 1.4:g}" height="{height - 1.4:g}"'
        yield f'<rect class="z" {place} rx="1.5"/>'
        tiles = self._geometry.tiles
        for placed in tiles:
            if placed.link is not None:
                yield f'<path class="e l" d="{_line(placed.link)}"/>'
        yield '<g class="i">'
        for placed in tiles:
            yield self._tile(placed)
        yield "</g>"
        if tiles:
            yield self._last(tiles[-1])
        for end in self._geometry.ends:
            if end.end.gate != CLOSED:
                yield self._ring(end)
        yield "</svg>"

    def _css(self) -> Iterator[str]:
        for name, rule in _SHAPES.items():
            yield f".{name}{{{rule}}}"
        if self._digits is None:
            width = self._cloth.width * (_PIXELS_OF_PIPS if self._large else _PIXELS_OF_SMALL_PIPS) - 1
            turns = "".join([f".r{turn}{{--turn:-{turn}deg}}" for turn in (90, 180, 270)])
            yield f".d{{display:none;transform:rotate(var(--turn,0deg))}}{turns}"
            yield f"@media(max-width:{width}px){{.d{{display:inline}}.p{{display:none}}}}"
        yield from self._colours({"dark": DARK, "print": PRINT}.get(self._theme, LIGHT))
        if self._theme == "auto":
            yield "@media(prefers-color-scheme:dark){"
            yield from self._colours(DARK)
            yield "}"
        if self._theme != "print":
            yield "@media print{"
            yield from self._colours(PRINT)
            yield "}"
        yield "@media(forced-colors:active){"
        yield from self._colours(FORCED)
        yield "}"

    def _colours(self, palette: Palette) -> Iterator[str]:
        """Yield the CSS rules for the colours. They override all rules of an earlier palette."""
        colours = palette._asdict()
        for name, rule in _COLOURS.items():
            yield f".{name}{{{rule.format(**colours)}}}"
        if self._coloured and palette.numbers:
            for number in self._numbers:
                yield f".n{number}{{color:{palette.numbers[number]}}}"
        elif self._coloured:
            yield f".n{{color:{palette.ink}}}"

    def _definitions(self) -> Iterator[str]:
        shade = '<rect class="s" x="-2" y="-1" width="4" height="2" rx=".42"/>'
        yield f'<g id="t">{shade}<rect class="f" {_TILE}/><path class="h" d="M0-.7v1.4"/></g>'
        yield f'<circle id="e" class="e" r="{_RING_RADIUS}"/><circle id="g" class="e g" r="{_RING_RADIUS}"/>'
        if self._digits:
            yield '<use id="u" href="#t" transform="rotate(90)"/>'
        if any([placed.face_down for placed in self._geometry.tiles]):
            pattern, frame, cross = _BACK
            yield (
                f'<g id="b">{shade}<rect class="b" {_TILE}/><path class="w" d="{pattern}{frame}"/>'
                f'<path class="w x" d="{cross}"/></g>'
            )
        for number in self._numbers:
            pips = pips_of(number)
            drawn = "" if self._digits else f'<path class="p" stroke-width="{short(pips.width)}" d="{pips.path}"/>'
            if self._digits is not False:
                size = 'd k" y=".4' if number > _LAST_DIGIT else 'd" y=".46'
                drawn += f'<text class="{size}">{number}</text>'
            coloured = f' class="n n{number}"' if self._coloured else ""
            yield f'<g id="n{number}"{coloured}>{drawn}</g>'
            if not self._digits:
                yield f'<g id="t{number}"><use href="#t"/><use href="#n{number}" x="-1"/></g>'

    def _tile(self, placed: PlacedTile) -> str:
        tile, rotation = placed.tile, placed.rotation
        start = f'<g data-tile="{tile.name}" transform="translate({placed.x} {placed.y})'
        turned = f"rotate({rotation})" if rotation else ""
        if placed.face_down:
            return f'{start}{turned}"><use href="#b"/></g>'
        if self._digits:
            # Digits must stay upright, so the tile is not rotated.
            whole, (low, high) = "tu"[rotation // 90 % 2], _HALVES[rotation]
            halves = f'<use href="#n{tile.low}" {low}/><use href="#n{tile.high}" {high}/>'
            return f'{start}"><use href="#{whole}"/>{halves}</g>'
        if self._digits is None and rotation:
            turned += f'" class="r{rotation}'
        return f'{start}{turned}"><use href="#t{tile.low}"/><use href="#n{tile.high}" x="1"/></g>'

    def _last(self, placed: PlacedTile) -> str:
        """Return the marks of the tile laid last: an outline, and a dot at a corner."""
        width, height = (3.84, 1.84) if placed.rotation % 180 == 0 else (1.84, 3.84)
        edges = (placed.x - width / 2, placed.y - height / 2, placed.x + width / 2)
        left, top, right = [short(edge) for edge in edges]
        box = f'<rect class="o" x="{left}" y="{top}" width="{width}" height="{height}" rx=".34"/>'
        return f'{box}<circle class="v" cx="{right}" cy="{top}" r=".3"/>'

    def _ring(self, placed: PlacedEnd) -> str:
        turn = radians(placed.direction)
        x, y = [short(at + _RING_DISTANCE * part) for at, part in ((placed.x, cos(turn)), (placed.y, sin(turn)))]
        ring = "g" if placed.end.gate == GATED else "e"
        return f'<use data-end="{placed.end.name}" href="#{ring}" x="{x}" y="{y}"/>'


def _cloth(geometry: Geometry) -> Area:
    """Return the area of the cloth: the planned table, enlarged if the tiles need more, and a margin."""
    areas = (geometry.table, geometry.bounds)
    left, top = min([area.x for area in areas]), min([area.y for area in areas])
    right, bottom = max([area.x + area.width for area in areas]), max([area.y + area.height for area in areas])
    return Area(left - _MARGIN, top - _MARGIN, right - left + 2 * _MARGIN, bottom - top + 2 * _MARGIN)


def _line(points: Sequence[tuple[float, float]]) -> str:
    """Return a path through these points."""
    return "M" + "L".join([f"{short(x)} {short(y)}" for x, y in points])
