"""The bot worker and the scheduler as real processes on a real Redis."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread

import pytest

from service.engine.presence import TimedOut
from service.games.model.clock import GRACE_MS, ClockSettings
from service.games.store.heartbeats import BEAT_SECONDS, OUTAGE_MS, RedisHeartbeats
from service.redis.keys import HEARTBEATS
from service.redis.topology import open_topology
from service.workers.scheduler import SETTINGS
from tests.storage.servers import RealServer
from tests.support import reminders
from tests.support.background import Background
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.support.stores.redis_stores import redis_reminders
from tests.support.waiting import until
from tests.workers.tables import VARIANTS, Hosted, fewest, on_redis, request, undisturbed

pytestmark = pytest.mark.gate

PLAYED = in_lane(VARIANTS, gate=GATE_VARIANTS)


def is_finished(hosted: Hosted, game: str) -> bool:
    return hosted.game(game).status == "finished"


def is_left(hosted: Hosted, game: str) -> bool:
    """Whether anybody is away."""
    return bool(hosted.game(game).presence.away)


def test_matches_of_bots_alone_are_played_to_their_end(server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    wanted = [request(variant, "g" * fewest(variant), seed=f"{number}") for variant in PLAYED for number in range(2)]
    games = [hosted.create(each).view.id for each in wanted]
    with Background("bots", server.url, tmp_path) as bots:
        for game in games:
            until(partial(is_finished, hosted, game))
        assert bots.stop() == 0
        assert bots.lines() == []
    for game, each in zip(games, wanted, strict=True):
        assert hosted.events(game) == undisturbed(each)


def test_a_person_is_timed_out_after_the_deadline_and_not_before(server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    with Background("scheduler", server.url, tmp_path) as scheduler:
        until(lambda: _has_looked(server))
        clocks = [ClockSettings(turn=100 * number) for number in range(6)]
        games = [hosted.create(request("domino", "pp", clock=clock)).view.id for clock in clocks]
        deadlines = {
            game: hosted.game(game).created_at + (clock.turn or 0) for game, clock in zip(games, clocks, strict=True)
        }
        for game in games:
            until(partial(is_left, hosted, game))
        assert scheduler.stop() == 0
        assert scheduler.lines() == []
    for game in games:
        history = hosted.games.access._repository.histories.history(hosted.game(game))
        (at,) = [each.at for each in history if isinstance(each.event, TimedOut)]
        assert deadlines[game] < at < deadlines[game] + SETTINGS.lease_ms


def test_a_turn_ends_within_two_seconds_of_its_deadline() -> None:
    assert GRACE_MS + SETTINGS.poll_seconds[1] * 1000 <= 2000


def test_after_a_time_in_which_nobody_could_move_nobody_is_late(server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    game = hosted.create(request("domino", "pp", clock=ClockSettings(turn=10))).view.id
    time.sleep(1.2)
    server.admin.set(HEARTBEATS[0], f"{redis_reminders(open_topology(server.url)).server_time() - 60_000} 0 0")
    with Background("scheduler", server.url, tmp_path):
        until(lambda: _has_looked(server))
        assert not hosted.game(game).presence.away


def test_a_scheduler_that_is_killed_again_and_again_holds_no_deadline(server: RealServer, tmp_path: Path) -> None:
    """Each life ends as soon as it has looked for what is due; between two of them more passes than an outage takes."""
    hosted = on_redis(server.url)
    heartbeats = redis_reminders(open_topology(server.url)).heartbeats
    games = [hosted.create(request("domino", "pp", clock=ClockSettings(turn=6_000))).view.id for _ in range(3)]

    def all_left() -> bool:
        return all(is_left(hosted, game) for game in games)

    stop = Event()
    players = Thread(target=_keep_moving, args=(heartbeats, stop))
    players.start()
    try:
        for _ in range(6):  # the deadlines are over in the second life at the latest; some may wait for a lease of it
            with Background("scheduler", server.url, tmp_path) as scheduler:
                until(lambda: _has_looked(server, besides=1))
                scheduler.kill()
            if all_left():
                break
            time.sleep(OUTAGE_MS / 1000 + 0.5)
        assert all_left()
    finally:
        stop.set()
        players.join()


def _keep_moving(heartbeats: RedisHeartbeats, stop: Event) -> None:
    """Show that players can move, as a worker of the web server does."""
    while not stop.wait(BEAT_SECONDS):
        heartbeats.beat()


def test_a_person_whose_time_is_over_is_played_for_turn_by_turn(server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    clock = ClockSettings(turn=100, absence="move")
    game = hosted.create(request("domino", "pg", pace=0, clock=clock)).view.id
    with Background("scheduler", server.url, tmp_path), Background("bots", server.url, tmp_path):
        until(lambda: hosted.game(game).version > 12)
    seats = [each.seat for each in hosted.events(game) if isinstance(each, TimedOut)]
    assert len(seats) >= 2
    assert set(seats) == {0}
    assert hosted.game(game).presence.away == frozenset()


def test_reminders_that_were_deleted_come_back_with_the_next_read(server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    wanted = request("domino", "gg")
    game = hosted.create(wanted).view.id
    reminders.clear(server.admin, "bots_alone")
    with Background("bots", server.url, tmp_path):
        time.sleep(5.1)
        assert hosted.game(game).version == 2
        until(lambda: hosted.game(game).status == "finished")
    assert hosted.events(game) == undisturbed(wanted)


@pytest.mark.parametrize("command", ["bots", "scheduler"])
def test_a_stop_signal_ends_an_idle_process(command: str, server: RealServer, tmp_path: Path) -> None:
    with Background(command, server.url, tmp_path) as process:
        until(lambda: _has_looked(server))
        assert process.stop() == 0


def test_at_a_stop_leases_are_given_back(server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    queue = redis_reminders(open_topology(server.url))
    with Background("bots", server.url, tmp_path) as bots:
        until(lambda: _has_looked(server))

        def has_leased() -> bool:
            """Whether the lease of a new game is seen: it ends when the bot moves."""
            hosted.create(request("domino", "pg", seed=token_hex(8), pace=900))
            return _latest(server) > queue.server_time() + 2000

        until(has_leased)
        assert bots.stop() == 0
        assert _latest(server) < queue.server_time() + 1000


def _has_looked(server: RealServer, besides: int = 0) -> bool:
    """Whether a process has taken reminders, which it does several times a second; the test itself runs few scripts."""
    server.admin.config_resetstat()
    time.sleep(0.6)
    scripts = server.admin.info("commandstats").get("cmdstat_evalsha", {"calls": 0})
    return int(scripts["calls"]) > besides


def _latest(server: RealServer) -> float:
    """The highest score of all reminders of bots: a lease ends long after what is due."""
    return max(reminders.stored(server.admin, "bots").values(), default=0.0)
