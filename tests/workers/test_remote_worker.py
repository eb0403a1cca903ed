"""The remote worker in this process: leases, many games beside each other, faults, and hosts that do not answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event, Thread
from typing import Any

import pytest

from service.games.automation.lost_reminders import OVERDUE_MS
from service.games.model.schedule import remote_turn
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.workers.hosts import LEAST_DELAY_SECONDS, MOST_PER_HOST, Hosts
from service.workers.remote_turns import ANSWER_SECONDS, RETRY_SECONDS, TRIES, PlayerAnswer
from service.workers.remote_worker import SETTINGS
from tests.support.remote_games import APP
from tests.workers.remote_tables import Asked, RemoteTable, first_move, in_thread, nothing, says
from tests.workers.tables import TTL, until

DAY = 86_400_000


class Gate:
    """A remote player that answers only when it may."""

    def __init__(self) -> None:
        self.open = Event()
        self.waiting = 0

    def __call__(self, asked: Asked) -> PlayerAnswer:
        self.waiting += 1
        assert self.open.wait(30)
        return first_move(asked)


def test_a_lease_is_longer_than_all_tries() -> None:
    assert TRIES * max(ANSWER_SECONDS, RETRY_SECONDS) * 1000 < SETTINGS.lease_ms - 10_000


def test_a_turn_is_made_and_the_next_reminder_is_that_of_the_next_turn() -> None:
    table = RemoteTable()
    game_id = table.new()
    before = table.game(game_id).version
    table.now += 10
    assert table.remote_worker.step() == SETTINGS.look_seconds[0]
    game = table.game(game_id)
    assert game.version > before
    assert table.reminder(game_id) == game.running_clock.acted == table.now
    assert table.count("reminder_lag_seconds_count", kind="remote") == 1


def test_a_worker_without_turns_looks_less_often() -> None:
    table = RemoteTable()
    pauses = [table.remote_worker.step() for _ in range(40)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == SETTINGS.look_seconds[1]
    table.new()
    assert table.remote_worker.step() == SETTINGS.look_seconds[0]


def test_a_reminder_without_a_cause_is_removed() -> None:
    table = RemoteTable()
    bots, gone = table.new("gg"), table.new()
    table.store._reminders["remote"] |= {bots: table.now, gone: table.now}
    del table.store._games[gone]
    table.remote_worker.step()
    assert table.bot.asked == []
    assert table.reminder(bots) is None
    assert table.reminder(gone) is None


def test_a_game_that_is_deleted_while_it_is_asked_for_is_dropped() -> None:
    table = RemoteTable()

    def deletes(asked: Asked) -> PlayerAnswer:
        table.repository.delete(asked.data["game"], APP)
        return first_move(asked)

    table.bot.behaviours = [deletes]
    before, meanwhile = table.new(), table.new()
    table.repository.delete(before, APP)
    table.store._reminders["remote"][before] = table.now
    table.remote_worker.step()
    assert [each.data["game"] for each in table.bot.asked] == [meanwhile]
    assert table.reminder(before) is None
    assert table.reminder(meanwhile) is None
    assert table.count("reminder_failures_total", kind="remote") == 0


def test_who_moves_by_itself_is_not_asked_again_however_often_the_game_is_read() -> None:
    table = RemoteTable(says(204))
    game_id = table.new()
    table.remote_worker.step()
    for _ in range(10):
        table.now += 10 * OVERDUE_MS
        table.game(game_id)
        table.remote_worker.step()
    assert len(table.bot.asked) == 1
    assert table.reminder(game_id) == table.now - 100 * OVERDUE_MS + TTL * 1000
    turn = table.turn(game_id)
    headers = {"Authorization": f"Bearer {table.tokens[turn.seat]}"}
    table.http.post(
        f"/v1/games/{game_id}/moves", json=table.bot.asked[0].data["view"]["legal_moves"][0], headers=headers
    )
    table.remote_worker.step()
    assert len(table.bot.asked) == 2


def test_a_worker_that_is_killed_after_the_answer_is_followed_by_one_that_asks_with_the_same_id() -> None:
    class Killed(BaseException):
        pass

    def dies(asked: Asked) -> PlayerAnswer:
        raise Killed

    table = RemoteTable(dies)
    game_id = table.new()
    with pytest.raises(Killed):
        table.remote_worker.step()
    version = table.game(game_id).version
    other = table.new_remote_worker()
    table.now += SETTINGS.lease_ms - 1
    other.step()
    assert len(table.bot.asked) == 1
    table.now += 2
    other.step()
    first, second = table.bot.asked
    assert (first.id, first.data["version"]) == (second.id, second.data["version"])
    assert table.game(game_id).version == version + 1


def test_two_workers_that_ask_for_the_same_turn_make_one_move() -> None:
    table = RemoteTable()
    gates = [Gate(), Gate()]
    table.bot.behaviours = [*gates]
    game_id = table.new()
    version = table.game(game_id).version
    threads: list[Thread] = []
    for gate in gates:
        worker = table.new_remote_worker(lambda work: threads.append(in_thread(work)))
        worker.step()
        until(partial(getattr, gate, "waiting"))
        table.now += SETTINGS.lease_ms + 1
    assert len({each.id for each in table.bot.asked}) == 1
    for gate in gates:
        gate.open.set()
    for thread in threads:
        thread.join(30)
    assert table.game(game_id).version == version + 1
    assert table.count("remote_turns_given_up_total") == 0


def test_games_are_played_beside_each_other_and_a_slow_remote_player_delays_its_own_alone() -> None:
    table = RemoteTable()
    gate = Gate()
    threads: list[Thread] = []
    slow = table.new()
    table.bot.behaviours = [gate]
    worker = table.new_remote_worker(lambda work: threads.append(in_thread(work)))
    worker.step()
    until(lambda: gate.waiting)
    others = [table.new() for _ in range(20)]
    table.now += 1
    for version in (3, 4, 5):
        worker.step()
        until(partial(_have_reached, table, others, version))
    assert table.game(slow).version == 2
    gate.open.set()
    until(lambda: table.game(slow).version == 3)
    for thread in threads:
        thread.join(30)


def _have_reached(table: RemoteTable, games: list[str], version: int) -> bool:
    return all(table.game(game).version >= version for game in games)


def test_at_most_sixteen_messages_are_under_way_to_a_host_and_the_others_wait_their_turn() -> None:
    table = RemoteTable()
    gate = Gate()
    table.bot.behaviours = [gate] * MOST_PER_HOST
    threads: list[Thread] = []
    games = [table.new() for _ in range(MOST_PER_HOST + 10)]
    worker = table.new_remote_worker(lambda work: threads.append(in_thread(work)))
    worker.step()
    until(lambda: gate.waiting == MOST_PER_HOST)
    until(lambda: len([thread for thread in threads if not thread.is_alive()]) == 10)
    put_off = sorted(
        at - table.now for game in games if (at := table.reminder(game) or 0) < table.now + SETTINGS.lease_ms
    )
    assert len(put_off) == 10
    assert put_off[0] >= LEAST_DELAY_SECONDS * 1000
    assert put_off[-1] > put_off[0]
    gate.open.set()
    for thread in threads:
        thread.join(30)
    table.now += round(put_off[-1])
    until(lambda: worker.step() and all(table.game(game).version > 2 for game in games))


def test_what_waits_for_a_host_is_spread_over_the_time_that_it_takes() -> None:
    now = 0.0
    hosts = Hosts(lambda: now)
    url = "https://Bots.example/a"
    for _ in range(MOST_PER_HOST):
        assert hosts.enter(url) is None
    assert hosts.enter("https://bots.example:8443/") is None
    delays = [hosts.enter("https://bots.example/b") or 0.0 for _ in range(160)]
    assert delays == sorted(delays)
    assert 9 < delays[-1] < 11  # at a second each, sixteen at a time
    now = 20.0
    hosts.leave(url, 20.0)
    assert hosts.enter(url) is None
    for _ in range(MOST_PER_HOST):
        hosts.leave(url, 20.0)


def test_hosts_to_which_nothing_is_under_way_are_forgotten() -> None:
    now = 0.0
    hosts = Hosts(lambda: now)
    for _ in range(MOST_PER_HOST):
        hosts.enter("https://crowded.example")
    hosts.enter("https://crowded.example")  # is put off, so that this host has a queue
    for _ in range(MOST_PER_HOST):
        hosts.leave("https://crowded.example", 1.0)
    hosts.enter("https://busy.example")
    for number in range(1000):
        now += 1.0
        url = f"https://{number}.example"
        hosts.enter(url)
        hosts.leave(url, 1.0)
    assert set(hosts._hosts) == {"busy.example", "999.example"}


def test_what_is_under_way_is_given_back_at_the_end() -> None:
    table = RemoteTable()
    gate = Gate()
    table.bot.behaviours = [gate]
    game_id = table.new()
    worker = table.new_remote_worker(in_thread)
    worker.step()
    until(lambda: gate.waiting)
    worker.close()
    assert table.reminder(game_id) == table.now
    gate.open.set()


@pytest.mark.parametrize("error", [StorageUnavailable("away"), OutcomeUnknown("lost")])
def test_while_the_storage_is_away_the_game_is_looked_at_again(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = RemoteTable()
    game_id = table.new()
    commit, errors = table.store.commit, [error] * 2

    def failing(*arguments: Any, **more: Any) -> Any:
        if errors:
            raise errors.pop()
        return commit(*arguments, **more)

    monkeypatch.setattr(table.store, "commit", failing)
    table.remote_worker.step()
    for _ in range(3):
        table.now += 1000
        table.remote_worker.step()
    assert table.game(game_id).version > 2
    assert len({each.id for each in table.bot.asked[:2]}) == 1


def test_an_error_puts_one_game_off_and_no_other(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(_: Asked) -> PlayerAnswer:
        raise ValueError

    table = RemoteTable(breaks)
    broken, other = table.new(), table.new()
    table.remote_worker.step()
    versions = sorted(table.game(game).version for game in (broken, other))
    assert versions == [2, 3]
    assert table.count("reminder_failures_total", kind="remote") == 1
    assert "a turn of a remote player failed" in caplog.text
    table.now += 1000
    table.remote_worker.step()
    assert all(table.game(game).version > 2 for game in (broken, other))


def test_after_a_turn_that_was_given_up_the_bot_worker_plays_and_then_it_is_asked_again() -> None:
    table = RemoteTable(nothing, nothing, nothing)
    game_id = table.new()
    seat = table.turn(game_id).seat
    table.remote_worker.step()
    assert remote_turn(table.game(game_id)) is None
    played: Callable[[], bool] = lambda: table.game(game_id).presence.substituted is None  # noqa: E731 # a condition
    until(lambda: table.step() is not None and played())
    while table.game(game_id).state.turn != seat:
        table.remote_worker.step()
    assert table.turn(game_id).seat == seat
