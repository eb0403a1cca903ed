"""Measures how smoothly the page runs on a slow phone while a match is played.

``python -m tools.page.measure_frames`` plays a match by touch against three computer players, in a browser whose
processor is slowed down, and prints the share of frames that came in time. ``--variant`` and ``--slower`` change what
is measured.

Owns what a phone is, and which figures are printed. They belong to the machine and to what else it does meanwhile: no
test asserts one.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from playwright.sync_api import Browser, Page

from service.engine.variants import variants
from tests.api.saved_games import shortest
from tests.browser.playing import MAX_MOVES, Touch
from tests.whole.table import Table, connect
from tools.page.browsing import browser_and_service

PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 3,
    "has_touch": True,
    "is_mobile": True,
    "locale": "en-GB",
}
SLOWER: Final = 4
"""How many times slower than this machine the processor is, by the browser's protocol."""
IN_TIME_MS: Final = 17
"""Of a frame at 60 in a second, rounded up."""

RECORD: Final = """() => {
  window.frames = [];
  let last = performance.now();
  const frame = (now) => {
    frames.push([now - last, document.querySelector(".flying") !== null]);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame((now) => {
    last = now;
    requestAnimationFrame(frame);
  });
}"""
"""Keeps how long each frame took, in milliseconds, and whether a tile was flying then."""

TURN: Final = ".state.turn, .actions [data-action=deal], .play.finished"


def play(page: Page, table: Table) -> None:
    """Play the match on the page until it is over."""
    way = Touch(page)
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    page.locator(TURN).first.wait_for()
    page.evaluate(RECORD)
    for _ in range(MAX_MOVES):
        if page.locator(".play.finished").count():
            return
        way.move()
        page.locator(TURN).first.wait_for()
    raise AssertionError(f"no end after {MAX_MOVES} moves")


def measure(browser: Browser, url: str, variant: str, slower: float) -> list[tuple[float, bool]]:
    """Return the time of each frame, in milliseconds, and whether a tile was flying then."""
    with connect(url) as http:
        low, high = variants()[variant].players
        players = [{"name": "Ada"}, *({"bot": "greedy"} for _ in range(min(max(low, 4), high) - 1))]
        rules = shortest(variant)
        table = Table.create(http, variant, players, seed="frames", options=rules, pace=1)
        context = browser.new_context(base_url=url, **PHONE)
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
        play(page, table)
        frames: list[tuple[float, bool]] = page.evaluate("frames")
        context.close()
    return frames


def told(frames: Sequence[float]) -> str:
    """Return the figures of these frames."""
    if not frames:
        return "none"
    ordered = sorted(frames)
    in_time = sum(each <= IN_TIME_MS for each in ordered) / len(ordered)
    median, rare = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
    return (
        f"{len(ordered):,} frames, {in_time:.1%} within {IN_TIME_MS} ms; "
        f"median {median:.1f}, 99 of 100 within {rare:.1f}, longest {ordered[-1]:.1f} ms"
    )


def main() -> None:
    """Measure, and print the figures."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", choices=list(variants()), default="latin")
    parser.add_argument("--slower", type=float, default=SLOWER, help="how many times slower the processor is")
    options = parser.parse_args()
    with browser_and_service() as (browser, url):
        frames = measure(browser, url, options.variant, options.slower)
    print(f"{options.variant}, {options.slower:g} times slower: {told([each for each, _ in frames])}")
    print(f"while tiles fly: {told([each for each, flies in frames if flies])}")


if __name__ == "__main__":
    main()
