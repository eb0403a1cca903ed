"""The score card explains every point of a match, and checks its deals in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.browser.accessibility import Axe, fits
from tests.browser.pages import DESK, NARROW, OpenPage
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module")
def finished(service_url: str) -> Iterator[Table]:
    """A finished match of more than one round, at whose end is settled up.

    The set has 168 pips, so that nobody reaches the limit in one round.
    """
    with connect(service_url) as http:
        table = Table.create(http, "dominospiel", 2, options={"limit": 200})
        for _ in table.play("score"):
            pass
        yield table


def test_every_line_of_every_count_is_on_the_score_card(finished: Table, open_page: OpenPage) -> None:
    score = finished.client.score(finished)
    page = open_page(f"/#/score/{finished.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Score card")
    for seat in score["winners"]:
        expect(page.locator(".winner")).to_contain_text(f"P{seat}")
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    lines = [line for each in (score["rounds"][-1], *score["rounds"][-2::-1]) for line in each["lines"]]
    assert len(lines) > 1
    rows = page.locator("table.lines tbody tr")
    expect(rows).to_have_count(len(lines))
    names = {each["seat"]: each["name"] for each in score["standings"]}
    for row, line in zip(rows.all(), lines, strict=True):
        cells = [names[line["seat"]], line["text"], line["rule"], str(line["points"]).replace("-", "−")]
        assert row.locator("th, td").all_inner_texts() == cells
        expect(row.get_by_role("link")).to_have_attribute("href", f"#/rules/dominospiel/{line['rule']}")
    expect(page.get_by_text(" pays ")).to_have_count(len(score["settlement"]["payments"]))


def test_every_deal_is_said_to_have_been_fixed(finished: Table, open_page: OpenPage) -> None:
    page = open_page(f"/#/score/{finished.id}")
    rounds = len(finished.client.score(finished)["rounds"])
    fixed = page.get_by_text(re.compile(r"^The deal of round \d+ was fixed before it began\.$"))
    expect(fixed).to_have_count(rounds)


def test_a_deal_that_does_not_follow_from_its_seed_is_named(finished: Table, open_page: OpenPage) -> None:
    def exchange_two_tiles(route: Route) -> None:
        document = route.fetch().json()
        hands = document["rounds"][0]["hands"]
        hands[0][0], hands[1][0] = hands[1][0], hands[0][0]
        route.fulfill(body=json.dumps(document), content_type="application/json")

    page = open_page(None)
    page.route("**/fairness", exchange_two_tiles)
    page.goto(f"/#/score/{finished.id}")
    assert finished.client.score(finished)["standings"][0]["name"]
    expect(page.locator(".deals .wrong summary")).to_have_text(
        re.compile(r"^The deal of round 1 does not hold: the tiles of P\d do not follow from the seed\.$")
    )


def test_the_score_card_is_accessible(finished: Table, open_page: OpenPage, axe: Axe) -> None:
    for page in (
        open_page(f"/#/score/{finished.id}"),
        open_page(f"/#/score/{finished.id}", locale="de", viewport=NARROW, scheme="dark"),
    ):
        expect(page.locator(".deals li").first).to_be_visible()
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert axe(page) == []
        assert fits(page)


def test_on_paper_every_count_is_open(finished: Table, open_page: OpenPage) -> None:
    page = open_page(f"/#/score/{finished.id}", scheme="dark", viewport=DESK)
    expect(page.locator(".deals li").first).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    rounds = len(finished.client.score(finished)["rounds"])
    for table in page.locator("table.lines").all():
        expect(table).to_be_visible()
    expect(page.locator("table.hands")).to_have_count(rounds)
    expect(page.get_by_role("button", name="Print")).to_be_hidden()


def test_wins_are_told_apart_from_pips_and_words_are_explained(service_url: str, open_page: OpenPage) -> None:
    with connect(service_url) as http:
        options = {"table": "brazilian", "target": 3, "value_double": 3}
        table = Table.create(http, "by-wins", 2, options=options, seed="wins")
        for _ in table.play("wins"):
            pass
        score = table.client.score(table)
    page = open_page(f"/#/score/{table.id}")
    expect(page.locator("table.hands").first.get_by_role("columnheader").nth(2)).to_have_text("Pips")
    expect(page.locator("table.lines").first.get_by_role("columnheader").nth(3)).to_have_text("Wins")
    said = [line["text"].split(" ")[0] for each in score["rounds"] for line in each["lines"] if line["points"] == 3]
    assert said
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    for word in said:
        expect(page.get_by_text(f"{word}: In Brazil: the last tile").first).to_be_visible()


def test_the_stars_are_at_the_seats_and_on_the_score_card_with_the_end_of_a_manche(
    service_url: str, open_page: OpenPage
) -> None:
    with connect(service_url) as http:
        table = Table.create(http, "cochon", 3, options={"target": 1}, seed="stars")
        page = open_page(f"/#/watch/{table.id}")
        shown = False
        for view in table.play("stars"):
            if not shown and any(view["manche"]["stars"]):
                shown = True
                for seat, many in enumerate(view["manche"]["stars"]):
                    expect(page.locator(f"li[data-seat='{seat}'] .total")).to_contain_text(f", {many} star")
        last = table.client.score(table)["rounds"][-1]["manche"]
    page.goto(f"/#/score/{table.id}")
    stars = "; ".join([f"P{seat} {many} star{'' if many == 1 else 's'}" for seat, many in enumerate(last["stars"])])
    expect(page.get_by_text(f"Manche {last['number']}: {stars}.").first).to_be_visible()
    ended = "The manche is won." if last["ended"] == "won" else "nobody wins the manche"
    expect(page.get_by_text(ended).first).to_be_visible()
