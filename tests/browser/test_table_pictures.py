"""The picture of a table on the page: every tile is where the service says it lies, and shows its numbers."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.engine.variants import variants
from tests.browser.pages import DESK, PHONE
from tests.whole.table import Table

pytestmark = pytest.mark.nightly

TABLES: list[tuple[str, int, dict[str, int], tuple[int, int]]] = [
    *((variant, 16, {}, DESK) for variant in variants()),
    ("fido", 45, {"set": 12}, PHONE),
]
"""Variant, moves, house rules and viewport: a table of every game, and a large one on a small screen."""

TILES = """(tiles) => {
  const box = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height];
  };
  const count = (pips) => pips.getAttribute("d").split("h0").length - 1;
  return {
    cloth: box(document.querySelector(".cloth")),
    tiles: Object.fromEntries(tiles.map((each) => [each.dataset.tile, {
      box: box(each.querySelector(".face, .back")),
      halves: [...each.querySelectorAll(".pips")].map((pips) => [count(pips), ...box(pips)]),
      digits: [...each.querySelectorAll(".digit")].map((digit) => [Number(digit.textContent), ...box(digit)]),
    }])),
  };
}"""
"""Boxes in CSS pixels; of a half also its number of pips, or its digit."""

FACE = (3.88, 1.88)
"""The width and height of a lying tile as it is drawn, a little smaller than its place."""


def test_every_tile_is_drawn_where_it_lies(http: httpx.Client, page: Page) -> None:
    for variant, moves, rules, (width, height) in TABLES:
        page.set_viewport_size({"width": width, "height": height})
        check(page, http, arranged(http, variant, moves, rules))


def arranged(http: httpx.Client, variant: str, moves: int, rules: dict[str, int]) -> Table:
    """The same table at every run."""
    table = Table.create(http, variant, seed="six pictures", options=rules)
    random = Random("six pictures")
    for _ in range(moves):
        if table.view()["status"] != "playing":
            break
        table.make_legal_move(random)
    return table


def check(page: Page, http: httpx.Client, table: Table) -> None:
    """Watch the table, and compare its picture with what the service says."""
    page.goto(f"/#/watch/{table.id}")
    laid = table.view()["board"]["tiles"]
    expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(len(laid))
    page.get_by_role("button", name="Show all").click()
    shown = page.locator(".cloth .tiles [data-tile]").evaluate_all(TILES)
    boxes = {name: each["box"] for name, each in shown["tiles"].items()}
    board = board_of(page, http, table)
    assert len(board) == len(laid) >= 5

    scale, left, top = projection(board, boxes)
    for name, tile in board.items():
        across, along = FACE if tile["rotation"] % 180 == 0 else FACE[::-1]
        expected = (
            left + scale * (tile["x"] - across / 2),
            top + scale * (tile["y"] - along / 2),
            scale * across,
            scale * along,
        )
        assert boxes[name] == pytest.approx(expected, abs=1), name
        assert inside(boxes[name], shown["cloth"]), name
        if not tile["face_down"]:
            check_halves(tile, shown["tiles"][name], scale, left, top)
    for one, other in combinations(boxes, 2):
        assert not overlap(boxes[one], boxes[other]), (one, other)


def board_of(page: Page, http: httpx.Client, table: Table) -> dict[str, Any]:
    """The tiles of the table in the form that the page asked for, by name."""
    asked = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
    url = next(each for each in asked if f"/{table.id}/board.json?" in each)
    return {tile["tile"]: tile for tile in http.get(url).raise_for_status().json()["tiles"]}


def projection(board: dict[str, Any], boxes: dict[str, Any]) -> tuple[float, float, float]:
    """CSS pixels for a unit of the board, and where its origin is, from the two tiles that lie farthest apart."""

    def middle(name: str) -> tuple[float, float]:
        x, y, width, height = boxes[name]
        return x + width / 2, y + height / 2

    def place(name: str) -> tuple[float, float]:
        return board[name]["x"], board[name]["y"]

    one, other = max(combinations(board, 2), key=lambda pair: math.dist(place(pair[0]), place(pair[1])))
    scale = math.dist(middle(one), middle(other)) / math.dist(place(one), place(other))
    return scale, middle(one)[0] - scale * place(one)[0], middle(one)[1] - scale * place(one)[1]


def check_halves(tile: dict[str, Any], drawn: dict[str, Any], scale: float, left: float, top: float) -> None:
    """Each half has its number, as pips or as a digit, on its side of the tile."""
    x, y = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[tile["rotation"]]
    numbers = [int(number) for number in tile["tile"].split("-")]
    halves = drawn["digits"] or drawn["halves"]
    assert sorted(half[0] for half in halves) == numbers, tile["tile"]
    for number, half_x, half_y, half_width, half_height in halves:
        if number == 0 and not drawn["digits"]:
            continue  # nothing is drawn
        away = ((half_x + half_width / 2 - left) / scale - tile["x"]) * x
        away += ((half_y + half_height / 2 - top) / scale - tile["y"]) * y
        assert numbers[0] == numbers[1] or (away > 0) == (number == numbers[1]), tile["tile"]


def inside(box: list[float], around: list[float]) -> bool:
    """Whether a box is in another one, but for a pixel."""
    return all(
        around[axis] - 1 <= box[axis] <= box[axis] + box[axis + 2] <= around[axis] + around[axis + 2] + 1
        for axis in (0, 1)
    )


def overlap(one: list[float], other: list[float]) -> bool:
    """Whether two boxes have a common area."""
    return all(one[axis] < other[axis] + other[axis + 2] and other[axis] < one[axis] + one[axis + 2] for axis in (0, 1))
