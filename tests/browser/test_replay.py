"""A match is replayed step by step: the table, the hands and the sentence of every step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import ExpectConsole, OpenPage
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module")
def finished(service_url: str) -> Iterator[Table]:
    with connect(service_url) as http:
        table = Table.create(http, "menschenwolf", 3, seed="replay", options={"limit": 20})
        for _ in table.play("replay"):
            pass
        yield table


def tiles_on_table(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.cloth [data-tile]')].map((each) => each.dataset.tile)"
    )
    return found


def test_a_game_is_replayed_by_keys_from_the_deal_to_the_count(finished: Table, open_page: OpenPage) -> None:
    recorded = finished.get("/record").json()["rounds"][0]
    page = open_page(f"/#/replay/{finished.id}")
    sentence = page.locator("[data-sentence]")
    expect(sentence).not_to_be_empty()
    page.locator("h1").focus()
    laid: list[str] = []
    for number, event in enumerate(recorded["events"], 2):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".controls")).to_contain_text(f"Step {number} of {len(recorded['events']) + 1}")
        if event["type"] == "played":
            laid.append(event["data"]["tile"])
        assert tiles_on_table(page) == laid
    left = next(each["data"]["hands"] for each in recorded["events"] if each["type"] == "round_ended")
    shown = page.locator(".open-hands > li")
    for hand, item in zip(left, shown.all(), strict=True):
        expect(item.locator("svg.tile")).to_have_count(len(hand["tiles"]))
    page.keyboard.press("Home")
    expect(page.locator(".controls")).to_contain_text("Step 1 of ")
    assert tiles_on_table(page) == []
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator(".controls")).to_contain_text("Step 2 of ")


@pytest.mark.nightly
def test_a_match_plays_by_itself_when_it_is_asked_to(finished: Table, open_page: OpenPage) -> None:
    page = open_page(None)
    page.clock.install(time="2026-01-01T08:00:00Z")
    page.goto(f"/#/replay/{finished.id}")
    position = page.locator(".controls")
    expect(position).to_contain_text("Step 1 of ")
    page.clock.pause_at("2026-01-01T20:00:00Z")  # from now on no time passes but what the test lets pass
    expect(position).to_contain_text("Step 1 of ")
    page.get_by_role("button", name="Play", exact=True).click()
    page.clock.run_for(3_000)
    expect(position).to_contain_text("Step 4 of ")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(3_000)
    expect(position).to_contain_text("Step 4 of ")


def test_a_file_is_replayed_and_played_on(finished: Table, open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "match.txt"
    file.write_text(finished.record(), "utf-8")
    page = open_page("/#/replay")
    page.get_by_label("From a file").set_input_files(file)
    page.locator("[data-step=next]").click()
    page.get_by_role("button", name="Play on from here").click()
    expect(page).to_have_url(re.compile("#/g/"))
    expect(page.locator(".cloth [data-tile]")).to_have_count(1)


def test_a_replay_ends_where_the_rules_are_broken(finished: Table, open_page: OpenPage) -> None:
    lines = finished.record().splitlines(keepends=True)
    moves = [index for index, line in enumerate(lines) if re.match(r"\d+\. \d: \d", line)]
    broken = moves[3]
    lines[broken] = lines[broken].replace(lines[broken].split()[2], lines[moves[0]].split()[2])
    page = open_page("/#/replay")
    page.get_by_label("Record", exact=True).fill("".join(lines))
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator("[data-fault]")).to_contain_text(f"at line {broken + 1}: ")
    page.locator("[data-step=last]").click()
    assert len(tiles_on_table(page)) == 3


def test_a_running_round_is_not_replayed(service_url: str, open_page: OpenPage) -> None:
    with connect(service_url) as http:
        table = Table.create(http, "homo-homini-lupus", 4)
        table.make_legal_move()
    page = open_page(f"/#/replay/{table.id}")
    expect(page.locator("[data-failure]")).to_contain_text("The tiles of this round are hidden")
    expect(page.locator("svg.tile")).to_have_count(0)


@pytest.mark.nightly
def test_what_is_no_record_is_told(open_page: OpenPage, expect_console: ExpectConsole) -> None:
    expect_console("status of 422")
    hostile = '[Player 0 "<img src=x onerror=alert(1)>"]\n'
    page = open_page("/#/replay")
    page.get_by_label("Record", exact=True).fill(hostile)
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator("[data-failure]")).to_contain_text("line 1")
    expect(page.get_by_label("Record", exact=True)).to_have_value(hostile)
