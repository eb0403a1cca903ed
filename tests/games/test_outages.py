"""Deadlines after an outage: what is shown is what is applied, at the same version, and so the ETag is another."""

from __future__ import annotations

import orjson
import pytest

from service.backends.index.summaries import deferred_summary, index_entry
from service.backends.webhooks.messages import TURN, game_messages
from service.engine.presence import Claimed, TimedOut
from service.games.commands.move import Expected
from service.games.model.clock import GRACE_MS, ClockSettings
from service.games.model.errors import NotDue
from service.games.model.schedule import Lifetimes
from service.games.model.views import format_rfc3339
from service.games.reminders import OutageAllowance
from service.web.view.serializers import game_view_json
from tests.games.tables import Hosted

MINUTE = ClockSettings(turn=60_000)
BANK = ClockSettings(bank=60_000)
LIFETIMES = Lifetimes(0, 0, 0)
"""What is looked at does not depend on them."""


def after_outage(clock: ClockSettings, before: int = 30_000, outage: int = 40_000, seats: str = "hh") -> Hosted:
    """A game whose first turn took so long when an outage of so long began, which has just ended."""
    hosted = Hosted(seats, clock)
    hosted.store.beat()
    hosted.wait(before)
    hosted.now += outage
    hosted.store.beat()
    return hosted


@pytest.mark.parametrize("clock", [MINUTE, BANK])
def test_a_deadline_is_shown_as_it_is_applied(clock: ClockSettings) -> None:
    hosted = after_outage(clock)
    seat = hosted.turn
    shown = hosted.view(seat).deadline
    assert shown == hosted.now + 40_000 - GRACE_MS
    assert hosted.games.queries.legal_moves(hosted.access(seat)).deadline == shown
    assert game_view_json(hosted.view(seat))["turn"] == {"seat": seat, "deadline": format_rfc3339(shown)}
    hosted.wait(shown - hosted.now + GRACE_MS - 1)
    assert hosted.time_out() == []
    hosted.wait(1)
    assert hosted.time_out() == [TimedOut(seat, "bot")]


def test_the_deadline_of_the_deal_is_shown_as_it_is_applied() -> None:
    hosted = Hosted("hb", MINUTE)
    hosted.play_on(lambda game: game.status == "round_over")
    hosted.store.beat()
    hosted.now += 100_000
    hosted.store.beat()
    shown = hosted.view(0).deadline
    assert shown == hosted.now + 100_000 - GRACE_MS
    assert game_view_json(hosted.view(0))["deal"] == {"deadline": format_rfc3339(shown)}
    hosted.wait(100_000 - 1)
    assert hosted.time_out() == []
    hosted.wait(1)
    assert hosted.time_out()


def test_an_outage_that_leaves_enough_time_changes_no_deadline() -> None:
    hosted = after_outage(ClockSettings(turn=600_000))
    seat, view = hosted.turn, hosted.view(0)
    assert view.deadline == hosted.game.deadline == hosted.game.created_at + 600_000
    assert view.etag == f"{view.version}-{hosted.game.match_write_id}-0"
    assert hosted.turn == seat


def test_a_turn_that_begins_after_the_outage_has_its_own_deadline() -> None:
    hosted = after_outage(MINUTE)
    moved = hosted.move()
    assert moved.deadline == hosted.now + 60_000
    assert hosted.view(0).etag == moved.etag[:-1] + "0"


def test_with_a_bank_all_turns_of_a_game_have_the_allowance_that_is_left() -> None:
    hosted = after_outage(BANK)
    seat = hosted.turn
    until = hosted.now + 40_000
    hosted.move()
    hosted.play_on(lambda game: game.state.turn == seat)
    assert hosted.game.deadline is not None
    assert hosted.game.deadline < hosted.now, "the outage has used up the bank"
    assert hosted.view(seat).deadline == until - GRACE_MS


def test_a_claim_before_the_deadline_that_is_shown_is_refused_with_it() -> None:
    hosted = after_outage(MINUTE._replace(absence="claim"))
    seat, shown = hosted.turn, hosted.view(0).deadline
    assert shown is not None
    with pytest.raises(NotDue) as refused:
        hosted.claim(1 - seat, seat)
    assert refused.value.reason.params["deadline"] == format_rfc3339(shown)
    hosted.wait(shown + GRACE_MS - hosted.now)
    hosted.claim(1 - seat, seat)
    assert hosted.events()[-1] == Claimed(seat, 1 - seat)


def test_a_deadline_that_an_outage_changes_changes_the_etag_and_no_version() -> None:
    hosted = Hosted("hh", MINUTE._replace(absence="claim"))
    hosted.store.beat()
    before = hosted.view(0)
    hosted.now += 70_000
    hosted.store.beat()
    after = hosted.view(0)
    assert after.version == before.version
    assert after.deadline != before.deadline
    assert after.etag != before.etag
    hosted.wait(200_000)  # it has passed, and nobody has claimed
    assert hosted.view(0) == after


@pytest.mark.parametrize("outages", [0, 1])
def test_a_move_may_be_guarded_by_the_etag_of_before_and_after_an_outage(outages: int) -> None:
    hosted = Hosted("hh", MINUTE)
    seat = hosted.turn
    hosted.store.beat()
    tags = [hosted.view(seat).etag]
    hosted.now += 70_000
    hosted.store.beat()
    tags.append(hosted.view(seat).etag)
    assert len(set(tags)) == 2
    hosted.move(seat, expected=Expected(etags=frozenset([tags[outages]])))
    assert hosted.game.state.turn != seat


def test_an_application_is_told_the_deadline_that_is_applied() -> None:
    hosted = Hosted("hh", MINUTE)
    game = hosted.game._replace(allowance=OutageAllowance(hosted.now, hosted.now + 100_000))
    shown = format_rfc3339(hosted.now + 100_000 - GRACE_MS)
    events = hosted.games.access._repository.histories.history(hosted.game)
    messages = [each for each in game_messages("endpoint", game, (), events) if each.type == TURN]
    assert [orjson.loads(each.body)["data"]["deadline"] for each in messages] == [shown]
    assert orjson.loads(index_entry(game, LIFETIMES).summary)["deadline"] == shown


@pytest.mark.parametrize(
    ("since", "until", "shown"),
    [(0, 100_000, 99_000), (0, 10_000, 60_000), (-1, 100_000, 60_000)],
    ids=["postponed", "enough time is left", "written after the outage"],
)
def test_a_list_shows_a_deadline_as_it_is_applied(since: int, until: int, shown: int) -> None:
    hosted = Hosted("hh", MINUTE)
    game, now = hosted.game, hosted.now
    stored = index_entry(game, LIFETIMES).summary
    read = deferred_summary(stored, lambda _: OutageAllowance(now + since, now + until))
    assert orjson.loads(read) == {**orjson.loads(stored), "deadline": format_rfc3339(now + shown)}


def test_a_list_shows_no_deadline_where_there_is_none() -> None:
    game = Hosted("hh").game
    stored = index_entry(game, LIFETIMES).summary
    assert deferred_summary(stored, lambda _: OutageAllowance(10**14, 10**14)) == stored
