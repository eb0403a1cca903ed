"""Part 10: computer players and clocks: what they cost others, how many moves they make, and how late they are.

The service, one bot worker and one scheduler run on the server that all candidates share. Times of answers and
time-outs are those of the events, so they contain no client.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from random import Random
from typing import Any, Final, NamedTuple

import orjson

from bench.bursts import Work, prepared
from bench.driver import Connection, Refused, burst, request
from bench.figures import Spread, percentile, ratios, take_turns
from bench.hosted import measure
from bench.processes import free_port
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import USUAL, matches
from bench.stand import Candidate, Stand, open_store
from service.games.ports import Commit, WriteRequest
from service.games.reminders import NO_REMINDERS, Reminders
from service.redis.shards import with_shard
from service.redis.topology import open_topology

_BOTS: Final = {"variant": "domino", "players": [{"bot": "greedy"}] * 4}
_WITH_BOT: Final = {"variant": "domino", "players": [{"name": "Ada"}, {"bot": "greedy"}], "pace": 0}
_CLOCKED: Final = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}], "clock": {"turn": 5}}
_AFTER_MS: Final = 8000
"""The time of a turn, the grace and some seconds."""
_PATIENCE: Final = 30.0
"""Seconds after which a measurement fails that has no value yet."""


class _Hands(NamedTuple):
    """The processes beside the web workers, and the port of the metrics of the first."""

    bots: Candidate
    scheduler: Candidate
    port: int

    def moves(self) -> float:
        """Return the moves that the bot worker has made."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as answer:
            text: str = answer.read().decode()
        return sum([float(each) for each in re.findall(r"^domino_bot_moves_total\{.*\} (.*)$", text, re.MULTILINE)])

    def busy(self, *, go_on: bool) -> None:
        """Let the bot worker go on, or freeze it."""
        self.bots.signal(signal.SIGCONT if go_on else signal.SIGSTOP)


def run(stand: Stand, scale: Scale) -> Section:
    """Measure all of it, at first without anything to do for the two processes."""
    rng = Random("automatic")  # noqa: S311 # only the order of turns
    played = matches(USUAL, scale.matches, scale.longest)
    work = Work(played, measure(stand["service"].address, stand.redis, played[0]), scale.clients, scale.reads)
    hands = _start(stand)
    idle = _idle(stand, hands, scale)
    answers = _answers(stand, scale)
    rate, per_second = _bot_moves(stand, hands, scale)
    slower, slow = _beside_bots(stand, hands, scale, work, rng=rng)
    late = _time_outs(stand, hands, scale, work)
    reminder = _reminders(stand, scale, rng)
    rows = [
        ("Redis time of a commit with a reminder, times one without", reminder.show()),
        ("p99 of POST move beside a busy bot worker, times without", slower.show()),
        ("the same, ms: with, without", " and ".join([f"{each * 1000:.1f}" for each in slow])),
        ("greedy moves of one bot worker a second", f"{rate:.0f}"),
        ("the same, per second of its processor time", f"{per_second:.0f}"),
        ("from a person's move to that of the bot, ms: p50, p99", _two(answers)),
        (f"from a deadline to the end of the turn, ms, of {len(late)}: p50, p99", _two(late)),
        ("processor time without work, % of a core: bot worker, scheduler, Redis", idle),
    ]
    return Section(
        title="Computer players and clocks",
        text=f"One bot worker and one scheduler beside {scale.workers} web workers on the same cores.",
        tables=[Table("What they cost, and how fast they are", ("what", "measured"), rows)],
        goals=[
            Goal("a commit with a reminder, times one without", "≤ 1.05", reminder.show(), reminder.median <= 1.05),
            Goal("greedy moves of one bot worker a second", "≥ 500", f"{rate:.0f}", rate >= 500),
            Goal(
                "person's move to bot's, ms, p50 and p99",
                "≤ 150, ≤ 500",
                _two(answers),
                percentile(answers, 50) <= 150 and percentile(answers, 99) <= 500,
            ),
            Goal(
                "time-outs after the deadline, ms, p50 and p99",
                "≤ 1300, ≤ 2000, never < 0",
                _two(late),
                min(late) >= 0 and percentile(late, 50) <= 1300 and percentile(late, 99) <= 2000,
            ),
        ],
    )


def _start(stand: Stand) -> _Hands:
    port = free_port()
    environ = {"REDIS_URL": stand.redis_url}
    bots = stand.start([sys.executable, "-m", "service", "bots"], {**environ, "METRICS_PORT": str(port)})
    hands = _Hands(bots, stand.start([sys.executable, "-m", "service", "scheduler"], environ), port)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(OSError):
            hands.moves()
            break
        time.sleep(0.05)
    return hands


def _idle(stand: Stand, hands: _Hands, scale: Scale) -> str:
    time.sleep(min(3.0, scale.stream_seconds))
    began, before = time.perf_counter(), _used(stand, hands)
    time.sleep(scale.stream_seconds)
    taken = time.perf_counter() - began
    return ", ".join(
        [f"{100 * (now - then) / taken:.2f}" for now, then in zip(_used(stand, hands), before, strict=True)]
    )


def _used(stand: Stand, hands: _Hands) -> tuple[float, float, float]:
    cpu = stand.redis.info("cpu")
    redis = cpu["used_cpu_user"] + cpu["used_cpu_sys"]
    return hands.bots.seconds(), hands.scheduler.seconds(), redis


def _reminders(stand: Stand, scale: Scale, rng: Random) -> Spread:
    """Return how the time that Redis takes for a commit with a reminder compares with that for one without."""
    store = open_store(open_topology(stand.redis_url), 3600)
    state, event = bytes(700), bytes(40)

    def microseconds(name: str) -> float:
        game = with_shard(f"{rng.getrandbits(80):022x}")
        reminders: Reminders = {"clock": 2_000_000_000_000} if name == "with" else NO_REMINDERS
        store.create(game, state, [event], WriteRequest(b"0"), reminders=reminders)
        stand.redis.config_resetstat()
        for version in range(1, 1 + 50 * scale.clients):
            store.commit(game, Commit(version, state, [event], WriteRequest(b"%d" % version), reminders=reminders))
        return float(stand.redis.info("commandstats")["cmdstat_evalsha"]["usec_per_call"])

    return ratios(take_turns(("with", "without"), 2 * scale.turns, microseconds, rng), "with", "without")


def _answers(stand: Stand, scale: Scale) -> list[float]:
    """Milliseconds from moves of people to those of the bots after them, at some tables in turn; of one at least."""
    found: list[float] = []
    with Connection(stand["service"].address) as connection:
        tables = [_create(connection, _WITH_BOT) for _ in range(scale.clients)]
        until = time.monotonic() + scale.stream_seconds
        while not found:
            assert time.monotonic() < until + _PATIENCE, "no bot moves"
            for game, token in tables:
                _move(connection, game, token)
            if time.monotonic() >= until:
                found = [each for game, _ in tables for each in _bot_times(_events(connection, game))]
    return found


def _move(connection: Connection, game: str, token: str) -> None:
    """Make the first legal move, if there is any."""
    view = _get(connection, game, token)
    if view["legal_moves"] and view["status"] in ("playing", "round_over"):
        with suppress(Refused):
            body = orjson.dumps(view["legal_moves"][0])
            connection.send(request("POST", f"{game}/moves", body=body, token=token))


def _bot_times(events: list[dict[str, Any]]) -> list[float]:
    """Milliseconds from each event after which it is the bot's turn, at seat 1, to the bot's first one."""
    return [
        _at(event["at"]) - _at(before["at"])
        for before, event in pairwise(events)
        if event.get("seat") == 1 and (before.get("seat") == 0 or before["type"] == "dealt")
    ]


def _bot_moves(stand: Stand, hands: _Hands, scale: Scale) -> tuple[float, float]:
    """Return the bot worker's moves a second, and per second of processor time, while there is always another."""
    with Connection(stand["service"].address) as connection:
        for _ in range(20 * scale.clients):
            _create(connection, _BOTS)
    began, moves, used = time.perf_counter(), hands.moves(), hands.bots.seconds()
    time.sleep(scale.stream_seconds)
    made = hands.moves() - moves
    return made / (time.perf_counter() - began), made / max(hands.bots.seconds() - used, 0.01)


def _beside_bots(
    stand: Stand, hands: _Hands, scale: Scale, work: Work, *, rng: Random
) -> tuple[Spread, tuple[float, float]]:
    """Return how the slowest moves of people beside a busy bot worker compare with those without it."""
    latencies: dict[str, list[float]] = {"with": [], "without": []}

    def slowest(name: str) -> float:
        hands.busy(go_on=name == "with")
        taken = burst(stand["service"].address, prepared(stand, "POST move", work, "service"), 201).latencies
        latencies[name] += taken
        return percentile(taken, 99)

    found = take_turns(tuple(latencies), scale.turns, slowest, rng)
    return ratios(found, "with", "without"), (percentile(latencies["with"], 99), percentile(latencies["without"], 99))


def _time_outs(stand: Stand, hands: _Hands, scale: Scale, work: Work) -> list[float]:
    """Milliseconds from deadlines to the ends of turns, of as many a second as games can be created, beside moves."""
    hands.busy(go_on=False)
    stop = threading.Event()
    other = threading.Thread(target=_keep_moving, args=(stand, work._replace(clients=2), stop.is_set))
    other.start()
    found: list[float] = []
    with Connection(stand["service"].address) as connection:
        began = time.perf_counter()
        games = []
        for number in range(round(scale.stream_rate * 4 * scale.stream_seconds)):
            time.sleep(max(0.0, began + number / (4 * scale.stream_rate) - time.perf_counter()))
            games.append(_create(connection, _CLOCKED)[0])
        time.sleep(_AFTER_MS / 1000)
        stop.set()
        other.join()
    with Connection(stand["service"].address) as connection:  # the other one has been idle for too long
        until = time.monotonic() + _PATIENCE
        while not found:
            assert time.monotonic() < until, "no turn ends"
            for game in games:
                events = _events(connection, game)
                (dealt,) = [each for each in events if each["type"] == "dealt"]
                ends = [each for each in events if each["type"] == "timed_out"]
                found += [_at(each["at"]) - _at(dealt["at"]) - 5000 for each in ends[:1]]
    return found


def _keep_moving(stand: Stand, work: Work, is_over: Callable[[], bool]) -> None:
    while not is_over():
        burst(stand["service"].address, prepared(stand, "POST move", work, "service"), 201)


def _create(connection: Connection, body: dict[str, Any]) -> tuple[str, str]:
    """Return the path of a new game, and the token of its first person, if any."""
    opened = orjson.loads(connection.send(request("POST", "/v1/games", body=orjson.dumps(body))).body)
    return f"/v1/games/{opened['game']['id']}", opened["seats"][0]["token"] if opened["seats"] else ""


def _get(connection: Connection, path: str, token: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(connection.send(request("GET", path, token=token)).body)
    return found


def _events(connection: Connection, game: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while page := _get(connection, f"{game}/events?limit=1000&after={len(events)}")["events"]:
        events += page
    return events


def _at(text: str) -> float:
    """Milliseconds since 1970."""
    return datetime.fromisoformat(text).timestamp() * 1000


def _two(values: list[float]) -> str:
    return f"{percentile(values, 50):.0f}, {percentile(values, 99):.0f}"
