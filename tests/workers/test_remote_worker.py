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
from service.outgoing.lookups import LOOKUP_SECONDS
from service.workers.holders import LEAST_DELAY_SECONDS, MOST_PER_HOST, MOST_TURNS, by_holder, by_host
from service.workers.player_challenges import PlayerAnswer
from service.workers.remote_turns import ANSWER_SECONDS, RETRY_SECONDS, TRIES
from service.workers.remote_worker import SETTINGS
from tests.support.remote_games import APP
from tests.support.waiting import PATIENCE, until
from tests.workers.remote_tables import URL, Asked, RemoteTable, first_move, in_thread, nothing, says
from tests.workers.tables import TTL

pytestmark = pytest.mark.gate

OTHER = "B" * 24


class Gate:
    """A remote player that answers only when it may."""

    def __init__(self) -> None:
        self.open = Event()
        self.waiting = 0

    def __call__(self, asked: Asked) -> PlayerAnswer:
        self.waiting += 1
        assert self.open.wait(PATIENCE)
        return first_move(asked)


def test_a_lease_is_longer_than_a_look_up_a_challenge_and_all_tries() -> None:
    tries = TRIES * max(ANSWER_SECONDS, RETRY_SECONDS)
    assert (LOOKUP_SECONDS + ANSWER_SECONDS + tries) * 1000 < SETTINGS.lease_ms


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
        table.repository.delete(asked.data["game"], APP, APP)
        return first_move(asked)

    table.bot.behaviours = [deletes]
    before, meanwhile = table.new(), table.new()
    table.repository.delete(before, APP, APP)
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
        thread.join(PATIENCE)
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
        thread.join(PATIENCE)


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
        thread.join(PATIENCE)
    table.now += round(put_off[-1])
    until(lambda: worker.step() and all(table.game(game).version > 2 for game in games))


def test_what_waits_for_a_host_is_spread_over_the_time_that_it_takes() -> None:
    now = 0.0
    hosts = by_host(lambda: now)
    for _ in range(MOST_PER_HOST):
        assert hosts.enter("192.0.2.1") is None
    assert hosts.enter("192.0.2.2") is None
    delays = [hosts.enter("192.0.2.1") or 0.0 for _ in range(160)]
    assert delays == sorted(delays)
    assert 9 < delays[-1] < 11  # at a second each, sixteen at a time
    now = 20.0
    hosts.leave("192.0.2.1", 20.0)
    assert hosts.enter("192.0.2.1") is None
    for _ in range(MOST_PER_HOST):
        hosts.leave("192.0.2.1", 20.0)


def test_hosts_to_which_nothing_is_under_way_are_forgotten() -> None:
    now = 0.0
    hosts = by_host(lambda: now)
    for _ in range(MOST_PER_HOST):
        hosts.enter("crowded")
    hosts.enter("crowded")  # is put off, so that this host has a queue
    for _ in range(MOST_PER_HOST):
        hosts.leave("crowded", 1.0)
    hosts.enter("busy")
    for number in range(1000):
        now += 1.0
        hosts.enter(str(number))
        hosts.leave(str(number), 1.0)
    assert set(hosts._holders) == {"busy", "999"}


def test_an_application_holds_as_many_turns_as_nobody_does() -> None:
    """One takes half, the next a third of all, and there is room for whoever comes."""
    applications = by_holder(60)
    held = {"first": 0, "second": 0, "third": 0}
    for name in held:
        while applications.enter(name) is None:
            held[name] += 1
    assert held == {"first": 30, "second": 15, "third": 8}
    delays = [applications.enter("first") or 0.0 for _ in range(30)]
    assert delays == sorted(delays)
    for _ in range(held["first"]):
        applications.leave("first", None)
    assert applications.enter("third") is None
    assert applications.enter("late") is None


def test_the_names_of_one_address_count_as_one_host() -> None:
    table = RemoteTable()
    gate, threads = Gate(), list[Thread]()
    urls = [f"https://{number}.example/" for number in range(MOST_PER_HOST + 4)]
    table.bot.behaviours = [gate] * len(urls)
    for url in urls:
        table.confirmed.confirm(APP, url, table.now)
        table.hosts[url] = "192.0.2.1"
        table.new(url=url)
    worker = table.new_remote_worker(lambda work: threads.append(in_thread(work)))
    worker.step()
    until(lambda: gate.waiting == MOST_PER_HOST)
    until(lambda: len([thread for thread in threads if not thread.is_alive()]) == 4)
    assert gate.waiting == MOST_PER_HOST
    gate.open.set()
    for thread in threads:
        thread.join(PATIENCE)


def test_another_application_has_room_beside_one_with_many_slow_hosts() -> None:
    """With ``MOST_TURNS`` turns due, a good part of them waits, and the turn of the other is made at once."""
    table = RemoteTable()
    gate, threads = Gate(), list[Thread]()
    slow = MOST_TURNS + 100
    table.bot.behaviours = [gate] * slow
    for number in range(slow):
        url = f"https://slow{number}.example/"
        table.confirmed.confirm(APP, url, table.now)
        table.new(url=url)
    worker = table.new_remote_worker(lambda work: threads.append(in_thread(work)))
    for _ in range(slow // SETTINGS.batch + 1):
        worker.step()
        until(lambda: gate.waiting + len([each for each in threads if not each.is_alive()]) == len(threads))
    assert gate.waiting == MOST_TURNS // 2
    table.bot.behaviours = []
    table.confirmed.confirm(OTHER, URL, table.now)
    game_id = table.new(app=OTHER)
    table.now += 1
    until(lambda: worker.step() and table.game(game_id).version > 2)
    gate.open.set()
    for thread in threads:
        thread.join(PATIENCE)


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
