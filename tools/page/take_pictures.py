"""Takes the pictures of the page that the documents show.

``python -m tools.page.take_pictures`` writes them to ``docs/pictures``; names after it take only those. Deals, moves
and names are fixed, so that a picture changes only with the page.

Owns which pictures there are, what they show and how large they are. Plays over HTTP, on a service of its own, with
the browser of the tests.
"""

from __future__ import annotations

import base64
import os
import struct
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.installation import NODE, find_browser
from tests.support.serving import ROOT, Service
from tests.support.table import round_over
from tests.whole.table import Table, connect

FOLDER: Final = ROOT / "docs" / "pictures"
DESK: Final = (960, 600)
LARGE_DESK: Final = (1280, 800)
PHONE: Final = (390, 844)
"""Sizes of the window in CSS pixels, which are also those of the pictures."""

SEED: Final = "a rainy evening"
"""Of the deals and of the choice of moves."""

PLAIN: Final = """
  .picture::before, .room::before, .table-area::before, .hand::before { background: var(--cloth) !important }
  .picture::before, .players *, .room * { box-shadow: none !important }
  .room::before { background: var(--wood-deep) !important }
  .room .table-area::before, .room .hand::before { background: var(--wood) !important }
  .ask { display: none !important }
"""
"""The table without the light and the grain of its wood and cloth, which make a file four times as large."""

Until = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True)
class Picture:
    """One picture: a game, how far it is played, and what of it a device shows."""

    variant: str
    players: Sequence[str]
    until: Until
    view: Literal["seat", "score", "replay"] = "seat"
    """``seat`` is the table, as the seat to move sees it."""
    options: dict[str, Any] = field(default_factory=dict)
    do: Callable[[Page], None] | None = None
    """What is done on the page before it is taken."""
    size: tuple[int, int] = DESK
    language: Literal["en", "de"] = "en"
    scheme: Literal["light", "dark"] = "light"


def on_turn(tiles: int, *, places: int = 1) -> Until:
    """At least so many tiles lie on the table, and the seat to move can lay one of its own at so many places."""

    def reached(view: dict[str, Any]) -> bool:
        laid = Counter(move["tile"] for move in view["legal_moves"] if move["action"] == "play")
        return len(view["board"]["tiles"]) >= tiles and max(laid.values(), default=0) >= places

    return reached


def choose_a_tile(page: Page) -> None:
    """Choose the first tile of the hand that fits at several places."""
    for tile in page.get_by_role("option").all():
        tile.click()
        if page.locator(".places li").count():
            return


def show_all(page: Page) -> None:
    """Show the whole table, however small."""
    page.locator(".picture-tools button").first.click()


def go_to_the_last_step(page: Page) -> None:
    """Show the end of the round in a replay."""
    page.locator("[data-step=last]").click()


FOUR: Final = ("Ada", "Bo", "Cleo", "Dan")

PICTURES: Final = {
    "domino": Picture("domino", FOUR[:3], on_turn(13)),
    "fido": Picture(
        "fido",
        FOUR,
        on_turn(45),
        options={"set": 12},
        do=show_all,
        size=LARGE_DESK,
        language="de",
        scheme="dark",
    ),
    "lupus": Picture("homo-homini-lupus", FOUR, on_turn(14), size=PHONE),
    "menschenwolf": Picture(
        "menschenwolf",
        (*FOUR, "Eva"),
        on_turn(10, places=3),
        do=choose_a_tile,
        size=PHONE,
        language="de",
        scheme="dark",
    ),
    "score": Picture("dominospiel", FOUR[:3], round_over, "score", size=PHONE),
    "replay": Picture("homo-homini-lupus", FOUR, round_over, "replay", do=go_to_the_last_step, size=(960, 760)),
}
"""By their names, which are also those of their files."""


def take(picture: Picture, browser: Browser, url: str) -> bytes:
    """Play the game on the service at ``url``, and take the picture, as PNG."""
    with connect(url) as http:
        players = [{"name": name} for name in picture.players]
        table = Table.create(http, picture.variant, players, seed=SEED, options=picture.options)
        view = _play(table, picture.until)
    width, height = picture.size
    context = browser.new_context(
        base_url=url,
        locale={"en": "en-GB", "de": "de-DE"}[picture.language],
        viewport={"width": width, "height": height},
        color_scheme=picture.scheme,
        reduced_motion="reduce",
        bypass_csp=True,  # for PLAIN
    )
    page = context.new_page()
    if picture.view == "seat":
        page.goto(f"/#/seat/{table.id}/{table.tokens[table.to_move(view)]}")
        expect(page.locator(".table-area [data-tile]")).to_have_count(len(view["board"]["tiles"]))
    else:
        page.goto(f"/#/{picture.view}/{table.id}")
        page.get_by_role("heading", level=2).first.wait_for()
    if picture.do:
        picture.do(page)
    page.wait_for_timeout(500)  # what is still loaded, and the focus, which is drawn for what was clicked
    png = _with_palette(page.screenshot(style=PLAIN), page, picture.size)
    context.close()
    return png


def _play(table: Table, until: Until) -> dict[str, Any]:
    """Play by legal moves until the view of the seat to move fulfils the condition; that view."""
    random = Random(SEED)  # noqa: S311 - for pictures
    while True:
        view = table.view()
        if view["status"] == "playing":
            view = table.view(table.to_move(view))
        if until(view):
            return view
        if view["status"] == "finished":
            raise AssertionError("the match ended before the picture")
        table.make_legal_move(random)


# A browser writes PNG with 24 bits a pixel, three times as large as with a palette.

_PIXELS: Final = """async ([png, width, height]) => {
  const bytes = Uint8Array.from(atob(png), (each) => each.charCodeAt(0));
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(await createImageBitmap(new Blob([bytes])), 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  let text = "";
  for (let at = 0; at < data.length; at += 4) text += String.fromCharCode(data[at], data[at + 1], data[at + 2]);
  return btoa(text);
}"""


def _with_palette(png: bytes, page: Page, size: tuple[int, int]) -> bytes:
    """Return the same picture in the 256 colours that most of its pixels have.

    The others become the nearest of them.
    """
    width, height = size
    pixels = base64.b64decode(page.evaluate(_PIXELS, [base64.b64encode(png).decode(), width, height]))
    colours = [pixels[at : at + 3] for at in range(0, len(pixels), 3)]
    palette = [colour for colour, _ in Counter(colours).most_common(256)]
    index = {colour: min(range(len(palette)), key=lambda at: _distance(palette[at], colour)) for colour in set(colours)}
    rows = (bytes([0, *(index[each] for each in colours[row * width : (row + 1) * width])]) for row in range(height))
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": b"".join(palette),
        b"IDAT": zlib.compress(b"".join(rows), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts.items()
    )


def _distance(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


@contextmanager
def browser_and_service() -> Iterator[tuple[Browser, str]]:
    """Yield the browser of the tests, and the URL of a service with nothing in it."""
    os.environ["PLAYWRIGHT_NODEJS_PATH"] = str(NODE)
    with tempfile.TemporaryDirectory() as folder:
        found = find_browser(Path(folder))
        with Service(Path(folder, "data")) as service, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found.executable, env={**os.environ, **found.environ})
            yield browser, service.url
            browser.close()


def main(names: Sequence[str]) -> None:
    """Take the pictures of these names, all of them without any."""
    FOLDER.mkdir(exist_ok=True)
    with browser_and_service() as (browser, url):
        for name in names or PICTURES:
            file = FOLDER / f"{name}.png"
            file.write_bytes(take(PICTURES[name], browser, url))
            print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
