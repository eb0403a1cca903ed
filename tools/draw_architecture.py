"""Draws the picture of the architecture from the import contracts in ``pyproject.toml``.

``python -m tools.draw_architecture`` writes it to ``docs/architecture.svg``.

Owns the picture only. A test compares the file with what this module draws, so the picture is never out of date.
"""

from __future__ import annotations

import sys
import tomllib
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
PICTURE: Final = ROOT / "docs" / "architecture.svg"

CAPTIONS: Final = {
    "web": "HTTP: requests, answers, streams, limits",
    "redis": "Redis: connections, scripts, keys",
    "limits": "what an address or application may use",
    "workers": "bot worker, scheduler, messenger: what is due by itself",
    "devserver": "a run without a Redis of one's own",
    "server": "what gunicorn loads",
    "bootstrap": "puts each process together",
    "backends": "customers: keys, index, feed, webhooks",
    "games": "hosting: seats, tokens, versions, events",
    "records": "a match as one text, verified",
    "render": "a match as text and picture",
    "learning": "hints and reviews of matches",
    "bots": "computer players, as blind as a person",
    "engine": "the rules, pure",
    "client": "the page, for browsers",
    "outgoing": "requests to addresses that strangers give",
    "texts": "all texts, by language",
}
"""What each package of ``service`` is for."""

_MARGIN: Final = 24
_WIDTHS: Final = (620, 500)
_HEAD: Final = 34
_ROW: Final = 58
_SMALL_ROW: Final = 29
_GAP: Final = 8
_CAPTION_WIDTH: Final = 150
_CHARACTER: Final = 7  # about as wide as a character of a name, and
_SMALL_CHARACTER: Final = 6  # of a caption
_STYLE: Final = """
  text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1f2933; text-anchor: middle }
  .title { font-weight: 600; font-size: 14px; text-anchor: start }
  .caption { font-size: 11px; fill: #52606d }
  .panel { fill: #f5f7fa; stroke: #9aa5b1 }
  .box { fill: #ffffff; stroke: #52606d }
  .package { fill: #e3f0fb; stroke: #2b6cb0; stroke-width: 1.5 }
  .arrow { stroke: #52606d; stroke-width: 1.5; fill: none; marker-end: url(#head) }
"""


_ARROW_HEAD: Final = (
    '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
    '<path d="M0,0 L6,3 L0,6 z" fill="#52606d"/></marker></defs>'
)


class Panel(NamedTuple):
    """One package: the layers from the top, each the modules side by side in it."""

    name: str
    layers: list[list[str]]


def panels(project: Path = ROOT) -> list[Panel]:
    """Return what the contracts of type ``layers`` say, without modules that may be there but are not."""
    settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    found = []
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        [package] = contract["containers"]
        layers = [
            [name for name in (each.strip(" ()") for each in layer.split("|")) if _exists(project, package, name)]
            for layer in contract["layers"]
        ]
        found.append(Panel(package, [layer for layer in layers if layer]))
    return found


def picture(project: Path = ROOT) -> str:
    """Return the picture as SVG."""
    service, *parts = panels(project)
    parts_height = sum(_height(each, _SMALL_ROW) + _GAP for each in parts) - _GAP
    row = max(_ROW, (parts_height - _HEAD - _GAP) // len(service.layers))
    width = sum(_WIDTHS) + 3 * _MARGIN
    height = max(_height(service, row), parts_height) + 2 * _MARGIN
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Who may import whom: every module only what is below it</title>",
        f"<style>{_STYLE}</style>",
        _ARROW_HEAD,
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_panel(service, _MARGIN, _MARGIN, _WIDTHS[0], row=row),
    ]
    top = _MARGIN
    for each in parts:
        drawn += _panel(each, _WIDTHS[0] + 2 * _MARGIN, top, _WIDTHS[1], row=_SMALL_ROW)
        top += _height(each, _SMALL_ROW) + _GAP
    return "\n".join([*drawn, "</svg>", ""])


def _exists(project: Path, package: str, name: str) -> bool:
    path = project.joinpath(*package.split("."), name)
    return path.is_dir() or path.with_suffix(".py").is_file()


def _height(panel: Panel, row: int) -> int:
    return _HEAD + row * len(panel.layers) + _GAP


def _panel(panel: Panel, left: int, top: int, width: int, *, row: int) -> list[str]:
    drawn = [
        f'<rect class="panel" x="{left}" y="{top}" width="{width}" height="{_height(panel, row)}" rx="6"/>',
        f'<text class="title" x="{left + 14}" y="{top + 22}">{escape(panel.name)}</text>',
        f'<path class="arrow" d="M{left + width - 20},{top + 10} V{top + 26}"/>',
    ]
    for number, layer in enumerate(panel.layers):
        captions = {name: CAPTIONS.get(name, "") if panel.name == "service" else "" for name in layer}
        wanted = [max(len(name) * _CHARACTER + 12, _CAPTION_WIDTH if captions[name] else 0) for name in layer]
        room = width - 2 * 14 - _GAP * (len(layer) - 1)
        box_left = left + 14
        for name, want in zip(layer, wanted, strict=True):
            box_width = room * want // sum(wanted)
            drawn += _box(name, captions[name], (box_left, top + _HEAD + number * row, box_width, row - _GAP))
            box_left += box_width + _GAP
    return drawn


def _box(name: str, caption: str, place: tuple[int, int, int, int]) -> list[str]:
    left, top, width, height = place
    lines = wrap(caption, width // _SMALL_CHARACTER)
    middle = left + width // 2
    base = top + height // 2 + 5 - 7 * len(lines)
    kind = "package" if lines else "box"
    return [
        f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{height}" rx="4"/>',
        f'<text x="{middle}" y="{base}">{escape(name)}</text>',
        *[
            f'<text class="caption" x="{middle}" y="{base + 2 + 13 * number}">{escape(line)}</text>'
            for number, line in enumerate(lines, 1)
        ],
    ]


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)} is written\n")
