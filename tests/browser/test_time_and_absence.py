"""Computer players, the clock of a game, and players who are away, on the page and in a service that plays for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.api.saved_games import shortest
from tests.browser.accessibility import Axe
from tests.browser.pages import DESK, LONG_MS, PHONE, ExpectConsole, OpenPage, Scheme
from tests.browser.playing import MAX_MOVES, Keyboard, log, take_seats
from tests.support.lanes import in_lane
from tests.support.serving import Service
from tests.support.table import round_over
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

BOT = {"bot": "greedy"}


class Games(NamedTuple):
    """Games whose deadlines pass while other tests run."""

    claimable: tuple[Table, Table]
    forfeited: Table


@pytest.fixture(scope="module")
def http(service_url: str) -> Iterator[httpx.Client]:
    with connect(service_url) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def games(http: httpx.Client) -> Games:
    one, other, forfeited = (
        two_people(http, clock={"turn": 5}, absence={"then": then}) for then in ("claim", "claim", "forfeit")
    )
    return Games((one, other), forfeited)


def two_people(http: httpx.Client, **more: Any) -> Table:
    """A game of Ada and Bo."""
    return Table.create(http, "domino", [{"name": "Ada"}, {"name": "Bo"}], seed="somebody is away", **more)


def view_of(table: Table) -> re.Pattern[str]:
    """The address of the view of a game."""
    return re.compile(rf"{re.escape(table.path)}(\?|$)")


def clock(page: Page) -> Locator:
    """The time left, beside the state of the game."""
    return page.get_by_role("timer")


def seconds_left(page: Page) -> int:
    """What the clock shows."""
    minutes, seconds = re.findall(r"\d+", clock(page).inner_text())
    return 60 * int(minutes) + int(seconds)


def player(page: Page, seat: int) -> Locator:
    """What is shown of the player of that seat."""
    return page.locator(f".player[data-seat='{seat}']")


def test_a_whole_match_against_computer_players_is_played_by_keys(open_page: OpenPage) -> None:
    page = open_page("/#/new/domino")
    page.get_by_role("button", name="Me against the computer").click()
    page.get_by_label("Name on seat 1").fill("Ada")
    expect(page.get_by_label("Who sits on seat 4")).to_have_accessible_description(re.compile(r"^Medium: .+\."))
    page.get_by_text("House rules").click()
    for name, value in shortest("domino").items():
        page.get_by_role("spinbutton", name=name.capitalize()).fill(str(value))
    page.get_by_text("More settings").click()
    page.get_by_label("Seconds before a computer player’s move").fill("0")
    page.get_by_role("button", name="Start the game").click()
    expect(page.locator(".player").filter(has_text="computer")).to_have_count(3)
    levels = page.locator(".player .tag-text").filter(has_text="Medium")
    expect(levels).to_have_count(3)
    expect(levels.first).to_be_visible()

    keys = Keyboard(page)
    finished = page.locator(".play.finished")
    for _ in range(MAX_MOVES):
        page.locator(".state.turn, [data-action=deal]").or_(finished).first.wait_for()
        if finished.count():
            break
        keys.move()
    expect(page.get_by_role("link", name="Score card").first).to_be_visible()


def test_a_game_against_the_computer_begins_with_one_tap(open_page: OpenPage) -> None:
    page = open_page("/", locale="de-DE", viewport=PHONE, touch=True)
    page.get_by_role("button", name="Homo homini lupus: Gegen den Computer spielen").tap()
    expect(page.locator(".player").filter(has_text="Computer")).to_have_count(3)
    expect(page.get_by_role("listitem").filter(has_text="Gast")).to_have_count(1)
    expect(page.get_by_role("option").first).to_be_visible()


def test_a_clock_is_chosen_in_words(open_page: OpenPage, expect_console: ExpectConsole, axe: Axe) -> None:
    expect_console("status of 422")
    page = open_page("/#/new/domino")
    sent: list[Any] = []

    def keep(route: Route) -> None:
        sent.append(route.request.post_data_json)
        route.fallback()

    page.route("**/v1/games", keep)
    page.get_by_role("button", name="Each on their own").click()
    page.get_by_label("Name on seat 1").fill("Ada")
    page.locator("summary", has_text="Time").click()
    choice = page.get_by_label("Clock")
    choice.select_option("3 days a turn")
    page.get_by_label("The others decide").check()
    choice.select_option("Another time for the match …")
    page.get_by_label("Time of each player for the match").fill("2")
    page.get_by_label("Unit").select_option("days")
    page.get_by_label("Seconds that each turn adds").fill("5")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")  # no field is half below the bar with the start
    assert axe(page) == []
    page.get_by_role("button", name="Start the game").click()
    wrong = page.get_by_label("Time of each player for the match")
    expect(wrong).to_be_focused()
    expect(wrong).to_have_accessible_description(re.compile("10.+86.?400"))

    page.get_by_label("Unit").select_option("hours")
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_url(re.compile("#/g/"))
    assert [(each["clock"], each["absence"]) for each in sent] == [
        ({"bank": seconds, "increment": 5}, {"then": "claim"}) for seconds in (172_800, 7_200)
    ]
    page.get_by_text("Options and rules").click()
    expect(
        page.get_by_text("2 hours for the match + 5 s a turn. When a player’s time is up: The others")
    ).to_be_visible()


def test_the_time_left_is_that_of_the_service_whatever_the_clock_of_the_device_says(
    http: httpx.Client, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("status of 409")
    table = two_people(http, clock={"turn": 60}, absence={"then": "claim"})
    seat = table.to_move()
    own, other = open_page(None), open_page(None)
    for page, shown in ((own, seat), (other, 1 - seat)):
        page.route("**/events?**", lambda _: None)  # no answer tells that the clock was set during the game
        page.clock.install(time=datetime(2031, 5, 1, tzinfo=UTC))
        take_seats(page, table, shown)
    status = own.locator("#status p").last

    expect(clock(own)).to_have_text(re.compile(r"Time left: (1:00|0:5\d)"))
    for page in (own, other):
        page.route(view_of(table), lambda _: None)  # nor does the view, which is asked for again after a deadline
    expect(status).to_have_text(re.compile(r"^Your turn\. "))
    own.get_by_role("option").first.press("t")
    expect(own.locator("[data-said]")).to_have_text(re.compile(r"^Your turn\. .*Time left: \d:\d\d\.$"))
    for page in (own, other):
        page.clock.fast_forward(1000 * (seconds_left(page) - 29))
    expect(status).to_have_text("30 seconds left.")
    expect(own.locator(".clock.short")).to_have_count(0)
    own.clock.fast_forward(1000 * (seconds_left(own) - 9))
    expect(status).to_have_text("10 seconds left.")
    expect(own.locator(".clock.short")).to_be_visible()
    for page in (own, other):
        page.clock.fast_forward(60_000)
        expect(clock(page)).to_have_text("Time is up", timeout=LONG_MS)
    assert other.locator("#status").inner_text() == "", "others are not told of each other's seconds"
    expect(own.locator("[data-claim]")).to_have_count(0)

    other.locator("[data-claim]").click()
    expect(other.locator("[data-said]")).to_have_text(re.compile(r"\w+ .*\."))
    expect(other.get_by_role("alert")).to_have_text(other.locator("[data-said]").inner_text())


def test_a_deadline_that_an_outage_has_postponed_is_shown_after_the_one_before(
    http: httpx.Client, open_page: OpenPage
) -> None:
    table = two_people(http, clock={"turn": 5}, absence={"then": "claim"})
    page = open_page(None)
    take_seats(page, table, 0)
    asked: list[str] = []

    def postpone(route: Route) -> None:
        """Answer as after an outage: the deadline is another, the version is not."""
        answer = route.fetch()
        game = answer.json()
        asked.append(game["turn"]["deadline"])
        later = datetime.fromisoformat(game["turn"]["deadline"]) + timedelta(seconds=300)
        game["turn"]["deadline"] = later.isoformat()
        route.fulfill(response=answer, json=game)

    page.route(view_of(table), postpone)
    expect(clock(page)).to_have_text("Time is up", timeout=LONG_MS)
    expect(clock(page)).to_have_text(re.compile(r"Time left: 4:\d\d"), timeout=LONG_MS)
    assert len(asked) == 1, "it is asked for once after each deadline"


@pytest.fixture
def no_bots(tmp_path: Path) -> Iterator[Service]:
    """A service without a bot worker, where nobody plays for the absent."""
    with Service(tmp_path, WORKERS="1", BOT_WORKERS="0", MESSENGERS="0") as running:
        yield running


def test_a_player_leaves_and_comes_back_by_a_button_or_by_moving(no_bots: Service, open_page: OpenPage) -> None:
    with connect(no_bots.url) as http:
        table = Table.create(http, "domino", [{"name": "Ada"}, {"name": "Bo"}], seed="leaving")
        seat = table.to_move()
        name = ["Ada", "Bo"][seat]
        page, other = open_page(url=no_bots.url), open_page(url=no_bots.url)
        take_seats(page, table, seat)
        take_seats(other, table, 1 - seat)
        page.keyboard.press("Backquote")
        leave = page.get_by_role("button", name="Leave the table (a computer player goes on)")

        page.locator("#menu-button").click()
        leave.click()
        expect(player(page, seat)).to_contain_text("away")
        expect(page.locator(".developer")).to_contain_text(f"/v1/games/{table.id}/players/{seat}/presence")
        page.keyboard.press("Backquote")
        expect(leave).to_have_count(0)
        expect(player(other, seat)).to_contain_text("away")
        expect(log(other).last).to_have_text(f"{name} left; a computer player goes on.")
        page.get_by_role("button", name="I am back").click()
        expect(log(page).last).to_have_text("You are back.")
        expect(player(other, seat)).not_to_contain_text("away")

        page.locator("#menu-button").click()
        leave.click()
        expect(page.get_by_text("A computer player plays for you")).to_be_visible()
        page.get_by_role("option").first.focus()
        Keyboard(page).move()
        expect(page.get_by_role("button", name="I am back")).to_have_count(0)
        expect(log(other).filter(has_text=f"{name} is back.")).to_have_count(2)
        expect(log(other).last).to_contain_text(f"{name} ")


def test_a_match_that_ends_by_forfeit_says_so(games: Games, open_page: OpenPage) -> None:
    table = games.forfeited
    page = open_page(f"/#/watch/{table.id}")
    page.locator(".play.finished").wait_for(timeout=LONG_MS)
    late = page.locator(".player:not(.winner)")
    expect(late).to_contain_text("forfeited")
    name = late.locator(".name").inner_text().split()[0]
    expect(page.get_by_text("All others have forfeited. This round is not counted.")).to_be_visible()
    expect(log(page).filter(has_text=f"{name} has forfeited the match.")).to_have_count(1)

    page.goto(f"/#/score/{table.id}")
    expect(page.locator(".score .winner")).to_contain_text("All others have forfeited.")
    expect(page.get_by_role("row", name=name)).to_contain_text("forfeited")
    table.client.ask("POST", f"{table.path}/rematch", token=table.tokens[0])  # one more event after the end
    page.reload()
    expect(page.locator(".score .winner")).to_contain_text("All others have forfeited.")
    page.goto(f"/#/replay/{table.id}")
    steps = page.locator(".replay .steps")
    expect(steps).to_contain_text(f"{name} ran out of time")
    expect(steps).to_contain_text(f"{name} has forfeited the match.")


class Device(NamedTuple):
    """How somebody looks at the page."""

    locale: str
    viewport: tuple[int, int]
    scheme: Scheme


DEVICES = (Device("en-GB", DESK, "light"), Device("de-DE", PHONE, "dark"))


@pytest.mark.parametrize("device", in_lane(DEVICES, gate=DEVICES[1:]))
def test_the_clock_and_what_follows_are_accessible(
    device: Device, http: httpx.Client, games: Games, open_page: OpenPage, axe: Axe
) -> None:
    german = device.locale == "de-DE"
    page = open_page(None, **device._asdict())
    table = Table.create(http, "domino", [{"name": "Ada"}, {"name": "Bo"}, BOT], clock={"bank": 600}, pace=10)
    take_seats(page, table, 0)
    expect(player(page, 1)).to_contain_text(re.compile(r"10:00|9:5\d"))
    assert axe(page) == [], "a clock"
    page.locator("#menu-button").click()
    page.locator("[data-leave]").click()
    expect(page.locator("[data-back]")).to_be_visible()
    assert axe(page) == [], "away"

    counted = two_people(http, clock={"turn": 600})
    counted.client.play_until(counted, round_over)
    take_seats(page, counted, 0)
    label = "Nächste Runde in:" if german else "Next round in:"
    expect(clock(page)).to_have_text(re.compile(rf"{label} (10:00|9:5\d)"))
    assert axe(page) == [], "between two rounds"

    claimable = games.claimable[german]
    late = claimable.to_move()
    take_seats(page, claimable, 1 - late)
    claim = page.locator("[data-claim]")
    claim.wait_for(timeout=LONG_MS)
    assert axe(page) == [], "a claim"
    claim.click()
    expect(player(page, late)).to_contain_text("abwesend" if german else "away")
    expect(
        log(page).filter(has_text=re.compile("you have a computer player|du lässt einen Computerspieler"))
    ).to_have_count(1)
