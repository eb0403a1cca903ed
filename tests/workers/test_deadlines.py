"""The scheduler in this process, and reminders that were lost."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.presence import Absence, TimedOut
from service.games.automation.due import OVERDUE_MS, PAUSE_MS
from service.games.model.clock import GRACE_MS, ClockSettings
from service.games.model.game_events import Reminded
from service.games.reminders import ClockReading
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.workers.scheduler import SETTINGS, Scheduler
from tests.backends.owned import APP
from tests.workers.tables import InProcess, request

TURN = 60_000


class Clocked(InProcess):
    """Games with a clock, and a scheduler that has just looked."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = Scheduler(self.automation, self.queue)
        self.scheduler.step()

    def new(self, absence: Absence = "bot", seats: str = "pp") -> str:
        return self.create(request("domino", seats, clock=ClockSettings(turn=TURN, absence=absence))).view.id

    def pass_time(self, milliseconds: int) -> None:
        """Let so much time pass while the scheduler looks every second."""
        until = self.now + milliseconds
        while self.now < until:
            self.now = min(self.now + 1000, until)
            self.scheduler.step()

    def reminder(self, game: str) -> float | None:
        return self.store._reminders["clock"].get(game)


@pytest.fixture
def table() -> Clocked:
    return Clocked()


def test_nobody_is_timed_out_before_the_deadline_and_the_grace(table: Clocked) -> None:
    game = table.new()
    assert table.game(game).deadline == table.now + TURN
    table.pass_time(TURN + GRACE_MS - 1)
    assert not table.game(game).presence.away
    table.pass_time(1)
    assert table.game(game).presence.away


def test_an_application_is_told_once_before_a_deadline(table: Clocked) -> None:
    clock = ClockSettings(turn=TURN, absence="claim", remind=20_000)
    game = table.create(request("domino", "pp", clock=clock)._replace(app=APP)).view.id
    version, deadline = table.game(game).version, table.game(game).deadline
    table.pass_time(TURN - 20_001)
    assert table.game(game).version == version
    table.pass_time(1)
    assert table.game(game).version == version + 1
    table.pass_time(2 * TURN)
    reminded = table.game(game)
    assert [type(each) for each in table.events(game)][version:] == [Reminded]
    assert (reminded.deadline, reminded.match_version) == (deadline, version), "a move for the version before counts"
    assert count_of(table, "domino_time_outs_total", then="remind") == 1


def test_a_reminder_that_is_too_early_is_set_to_its_time(table: Clocked) -> None:
    game = table.new()
    table.store._reminders["clock"][game] = table.now
    table.scheduler.step()
    assert not table.game(game).presence.away
    assert table.reminder(game) == table.now + TURN + GRACE_MS


def test_a_reminder_without_a_cause_is_removed(table: Clocked) -> None:
    claimable, gone = table.new("claim"), table.new()
    table.store._reminders["clock"] |= {claimable: table.now, gone: table.now}
    del table.store._games[gone]
    table.scheduler.step()
    assert table.reminder(claimable) is None
    assert table.reminder(gone) is None


def test_while_the_storage_is_away_the_game_is_looked_at_again(table: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    game = table.new()
    commit = table.store.commit
    errors = iter([StorageUnavailable("away"), OutcomeUnknown("lost"), OutcomeUnknown("lost")])

    def failing(*arguments: Any, **more: Any) -> Any:
        error = next(errors, None)
        if error is not None:
            raise error
        return commit(*arguments, **more)

    monkeypatch.setattr(table.store, "commit", failing)
    table.pass_time(TURN + GRACE_MS + 3000)
    assert table.game(game).presence.away
    assert len(table.events(game)) == 3


def test_an_error_puts_one_game_off_and_no_other(table: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, other = table.new(), table.new()
    time_out = table.automation.time_out

    def failing(game: str, judged: ClockReading) -> Any:
        if game == broken:
            raise ValueError(game)
        return time_out(game, judged)

    monkeypatch.setattr(table.automation, "time_out", failing)
    table.pass_time(TURN + GRACE_MS)
    assert table.game(other).presence.away
    assert table.reminder(broken) == table.now + 1000
    table.pass_time(1000)
    assert table.reminder(broken) == table.now + 2000


def test_a_scheduler_that_was_away_lets_follow_what_is_due_as_soon_as_it_is_back(table: Clocked) -> None:
    game = table.new()
    for _ in range(20):  # players can move meanwhile
        table.now += 4_000
        table.store.beat()
    table.scheduler.step()
    assert table.game(game).presence.away
    assert count_of(table, "domino_held_deadlines_total") == 0


def test_a_scheduler_that_is_killed_again_and_again_lets_follow_what_is_due(table: Clocked) -> None:
    """Each takes what is due, and dies before it does anything, but every fourth one."""
    games = [table.new() for _ in range(3)]
    table.store.beat()
    for life in range(40):
        for _ in range(2):
            table.now += 3_000
            table.store.beat()
        if life % 4:
            table.store.take("clock", 32, SETTINGS.lease_ms)
        else:
            Scheduler(table.automation, table.queue).step()
    assert all(table.game(game).presence.away for game in games)
    at = [
        each.at for each in table.repository.histories.history(table.game(games[0])) if isinstance(each.event, TimedOut)
    ]
    assert at[0] <= table.game(games[0]).created_at + TURN + GRACE_MS + 4 * 6_000


def test_deadlines_that_an_outage_holds_are_counted(table: Clocked) -> None:
    game = table.new()
    table.store.beat()
    table.now += TURN + GRACE_MS
    table.store.beat()
    table.scheduler.step()
    assert not table.game(game).presence.away
    assert count_of(table, "domino_held_deadlines_total") == 1
    assert table.reminder(game) == table.now + TURN + GRACE_MS
    for _ in range(20):
        table.now += 4_000
        table.store.beat()
        table.scheduler.step()
    assert table.game(game).presence.away
    assert count_of(table, "domino_held_deadlines_total") == 1


def test_an_outage_between_two_deadlines_of_one_look_holds_the_second(
    table: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [table.new(), table.new()]
    table.store.beat()
    for _ in range(20):
        table.now += 4_000
        table.store.beat()
    commit, unanswered = table.store.commit, [1]

    def frozen(*arguments: Any, **more: Any) -> Any:
        """The server answers nobody for ten minutes."""
        if unanswered:
            unanswered.pop()
            table.now += 600_000
            table.store.beat()
            raise StorageUnavailable("timeout")
        return commit(*arguments, **more)

    monkeypatch.setattr(table.store, "commit", frozen)
    held_until = table.now + 2 * 600_000
    while table.now < held_until + SETTINGS.lease_ms:
        table.scheduler.step()
        away = [bool(table.game(game).presence.away) for game in games]
        assert table.now >= held_until or not any(away)
        table.now += 1_000
        table.store.beat()
    assert all(away)


def count_of(table: Clocked, metric: str, **labels: str) -> float:
    found = table.registry.get_sample_value(metric, labels)
    assert found is not None
    return found


def test_two_schedulers_time_out_once(table: Clocked) -> None:
    game = table.new()
    other = Scheduler(table.automation, table.queue)
    table.pass_time(TURN + GRACE_MS - 1)
    table.now += 1
    taken = table.store.take("clock", 1, 1)
    table.store._reminders["clock"][game] = table.now
    other.step()
    table.scheduler.finish(taken[0], lambda: table.scheduler.handle(taken[0]))
    assert len(table.events(game)) == 3


@pytest.mark.parametrize(("kind", "seats", "due"), [("bots_alone", "gg", 0), ("clock", "pp", TURN + GRACE_MS)])
def test_a_lost_reminder_is_restored_by_the_next_read_of_a_game_that_is_overdue(
    kind: Any, seats: str, due: int, table: Clocked
) -> None:
    game = table.new(seats=seats)
    reminders = table.store._reminders[kind]
    at = reminders.pop(game)
    table.now += due + OVERDUE_MS
    table.game(game)
    assert game not in reminders
    table.now += 1
    table.game(game)
    assert reminders[game] == at
    del reminders[game]
    table.now += PAUSE_MS - 1
    table.game(game)
    assert game not in reminders
    table.now += 1
    table.game(game)
    assert reminders[game] == at


def test_the_messenger_looks_again_at_a_game_that_is_read_and_is_not_late(table: Clocked) -> None:
    game = table.create(request("domino", "pp")._replace(app=APP)).view.id
    reminders = table.store._reminders["outbox"]
    assert reminders.pop(game) == table.now
    table.now += 10 * OVERDUE_MS
    table.game(game)
    assert reminders.pop(game) == table.now
    table.now += PAUSE_MS - 1
    table.game(game)
    assert game not in reminders


def test_reading_does_not_take_a_lease_away(table: Clocked) -> None:
    game = table.new(seats="gg")
    (taken,) = table.store.take("bots_alone", 1, 60_000)
    table.now += OVERDUE_MS + 1
    table.game(game)
    assert table.store._reminders["bots_alone"][game] == taken.leased


def test_reading_a_game_without_automation_writes_nothing(table: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    game = table.create(request("domino", "pp")).view.id
    monkeypatch.setattr(table.store, "restore", None)
    table.now += 10 * OVERDUE_MS
    table.game(game)
