"""The load run from the start to the verdict: more and more tables, step by step, and then the check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from time import monotonic
from typing import Any, Final, NamedTuple

import gevent

from bench.load.connections import Door
from bench.load.endpoint import TYPES, Endpoint
from bench.load.measures import Step, Times, mark, step
from bench.load.stage import Stage
from bench.load.tables import Load, Table
from service.redis import keys
from tests.support.apps import create_key

APPLICATIONS: Final = 4
SETTLE_SECONDS: Final = 60.0
_RISE: Final = 0.2
"""The share of a step in which tables are added; it is not measured."""
_LOOK_SECONDS: Final = 0.2
_SIZED: Final = 1000
"""Finished games whose size is taken."""


class Outcome(NamedTuple):
    """The steps, and what became of everything."""

    steps: list[Step]
    load: Load
    messages: int
    repeats: int
    missing: list[str]
    doubled: list[str]
    stored: Stored


class Stored(NamedTuple):
    """Bytes in Redis: of a finished game, and of an application's index (``listed``) and feed for each of its games."""

    game: float
    listed: float
    feed: float


def run(stage: Stage, tables: Sequence[int], seconds: float, think: float) -> Outcome:
    """Play at so many tables at a time, for so many seconds each; people think so long."""
    with ExitStack() as stack:
        load = Load([stack.enter_context(closing(Door(address))) for address in stage.addresses], think)
        endpoint = stack.enter_context(Endpoint(load.message_came))
        for number in range(APPLICATIONS):
            _create_application(load, stage.cluster.url, endpoint.url, number)
        playing: list[gevent.Greenlet[..., Any]] = []
        steps = []
        for wanted in tables:
            while len(playing) < wanted:
                playing.append(gevent.spawn(Table(load, len(playing)).run))
                gevent.sleep(_RISE * seconds / wanted)
            steps.append(_measure(stage, load, wanted, (1 - _RISE) * seconds))
        load.end()
        gevent.joinall(playing, raise_error=True)
        _await(lambda: not endpoint.missing(load.expected), SETTLE_SECONDS)
        return Outcome(
            steps=steps,
            load=load,
            messages=endpoint.messages,
            repeats=endpoint.repeats,
            missing=[f"no message {each}" for each in endpoint.missing(load.expected)],
            doubled=[f"a doubled message {each}" for each in endpoint.doubled()],
            stored=_stored(stage, load),
        )


def _measure(stage: Stage, load: Load, tables: int, seconds: float) -> Step:
    load.times = Times()
    since = mark(stage)
    gevent.sleep(seconds)
    measured = step(stage, since, load.times, tables, streams=load.streams)
    load.times = Times()
    return measured


def _stored(stage: Stage, load: Load) -> Stored:
    games = load.finished[:_SIZED]
    apps = load.apps
    return Stored(
        stage.bytes_of([key for game in games for key in keys.of_game(game)]) / max(1, len(games)),
        stage.bytes_of([key for app in apps for key in (keys.part(b"index", app), *keys.totals(app))])
        / max(1, load.owned),
        stage.bytes_of([keys.part(b"feed", app) for app in apps]) / max(1, load.owned),
    )


def _create_application(load: Load, store: str, url: str, number: int) -> None:
    """Make an application whose endpoint has answered its challenge."""
    door, key = load.doors[0], create_key(store, f"load {number}")
    webhook = door.ask("POST", "/v1/webhooks", {"url": f"{url}{number}", "events": list(TYPES)}, key)
    path = f"/v1/webhooks/{webhook['id']}"
    _await(lambda: bool(door.ask("GET", path, token=key)["status"] == "active"), SETTLE_SECONDS)
    load.apps.append(key[4:28])
    load.keys.append(key)


def _await(condition: Callable[[], bool], seconds: float) -> None:
    """Wait for it, but no longer than this."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        gevent.sleep(_LOOK_SECONDS)
