"""The application in this process, over a real Redis server, called without a network."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from inspect import signature
from pathlib import Path
from random import Random

import pytest
import redis
from flask import Flask
from flask.testing import FlaskClient

from service.backends.facade import BackendsFacade
from service.backends.index.store import RedisIndex, RedisLobby
from service.backends.outbox import Outbox
from service.devserver.embedded import EmbeddedServer
from service.games.facade import GamesFacade
from service.games.model.schedule import Lifetimes
from service.games.store.admission import StoragePolicy
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from tests.api.client import Api
from tests.api.followers import Watched
from tests.api.saved_games import GAME_SECONDS, SavedGame, SavedGames, StoreContents, Walk, walked_stages
from tests.api.timed import TimedApi
from tests.conftest import Figures
from tests.support.application import build_backends, create_app
from tests.support.games import build_games, build_repository
from tests.support.sharing import shared_folder
from tests.support.stores.redis_stores import redis_calls, redis_reminders, redis_store

TTL_SECONDS = GAME_SECONDS
SECRET = b"the secret of the tests"


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("redis")
    with EmbeddedServer(folder) as server:
        yield server.url


@pytest.fixture(scope="session")
def server(redis_url: str) -> redis.Redis:
    """The Redis server, for a test that reads or changes its contents."""
    return connect(redis_url)


@pytest.fixture(scope="session")
def store(redis_url: str) -> RedisStore:
    return redis_store(SingleNodeTopology(connect(redis_url)), TTL_SECONDS)


@pytest.fixture(scope="session")
def feed(redis_url: str) -> Iterator[RedisEventFeed]:
    feed = RedisEventFeed(SingleNodeTopology(connect(redis_url)))
    yield feed
    feed.close()


class SeededBytes:
    """Random bytes that are the same whenever a test runs, so that what is dealt is not a matter of chance."""

    def __init__(self) -> None:
        self._random = Random()

    def seed(self, text: str) -> None:
        self._random.seed(text)

    def __call__(self, size: int) -> bytes:
        return self._random.randbytes(size)


@pytest.fixture(scope="session")
def seeded_bytes() -> SeededBytes:
    return SeededBytes()


@pytest.fixture(autouse=True)
def _seed_of_the_test(request: pytest.FixtureRequest, seeded_bytes: SeededBytes) -> None:
    seeded_bytes.seed(request.node.nodeid)


@pytest.fixture(scope="session")
def games(store: RedisStore, feed: RedisEventFeed, seeded_bytes: SeededBytes) -> GamesFacade:
    return build_games(store, feed, [SECRET], TTL_SECONDS, random_bytes=seeded_bytes)


@pytest.fixture(scope="session")
def backends(redis_url: str, feed: RedisEventFeed, seeded_bytes: SeededBytes) -> BackendsFacade:
    """The applications of ``app``."""
    return build_backends(
        SingleNodeTopology(connect(redis_url)),
        [SECRET],
        random_bytes=seeded_bytes,
        ttl_seconds=TTL_SECONDS,
        notifications=feed,
    )


@pytest.fixture(scope="session")
def contents(server: redis.Redis) -> StoreContents:
    return StoreContents(server)


@pytest.fixture(scope="session")
def publish(redis_url: str, store: RedisStore, backends: BackendsFacade) -> Callable[[], None]:
    """Do what a messenger does until applications have been told of everything; the lobby is read anew."""
    nodes = SingleNodeTopology(connect(redis_url))
    calls, reminders = redis_calls(nodes), redis_reminders(nodes)
    policy = StoragePolicy(Lifetimes.at_most(TTL_SECONDS * 1000))
    repository = build_repository(store, reminders.server_time, os.urandom, policy)
    outbox = Outbox(repository, RedisIndex(calls, TTL_SECONDS), RedisLobby(calls), reminders.server_time)

    def publish() -> None:
        while taken := reminders.take("outbox", 100, 10_000):
            for each in taken:
                reminders.reschedule("outbox", [(each, outbox.publish(each.tenant, each.game).again)])
        backends.listing.forget(())

    return publish


@pytest.fixture
def app_key(backends: BackendsFacade) -> str:
    """The key of a new application."""
    return backends.keys.create("The application of a test").key


@pytest.fixture
def other_key(backends: BackendsFacade) -> str:
    """The key of another new application."""
    return backends.keys.create("Another application").key


@pytest.fixture(scope="session")
def app(games: GamesFacade, backends: BackendsFacade) -> Flask:
    return create_app(games, backends=backends)


def api_with_fixed_clock(store: RedisStore, feed: RedisEventFeed, secrets: Callable[[int], bytes]) -> Api:
    """An application with a fixed clock, whose random bytes are those of ``secrets``."""
    games = build_games(
        store,
        feed,
        clock=lambda: int(datetime(2030, 1, 1, tzinfo=UTC).timestamp() * 1000),
        random_bytes=secrets,
        secrets=[SECRET],
        ttl_seconds=TTL_SECONDS,
    )
    return Api(create_app(games).test_client(use_cookies=False))


@pytest.fixture(scope="session")
def timed_app(store: RedisStore, feed: RedisEventFeed, seeded_bytes: SeededBytes) -> TimedApi:
    return TimedApi(store, feed, SECRET, TTL_SECONDS, seeded_bytes)


@pytest.fixture
def timed_api(timed_app: TimedApi) -> TimedApi:
    """An application with a clock of its own, which the test sets."""
    timed_app.clock.reset()
    return timed_app


@pytest.fixture(scope="session")
def client(app: Flask) -> FlaskClient:
    return app.test_client(use_cookies=False)


@pytest.fixture
def api(client: FlaskClient) -> Api:
    return Api(client)


@pytest.fixture(scope="session")
def saved_games(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, client: FlaskClient, server: redis.Redis
) -> SavedGames:
    folder = shared_folder(request, tmp_path_factory, "saved games")
    return SavedGames(Api(client), server, folder)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "saved_game" in metafunc.fixturenames:
        metafunc.parametrize("saved_game", walked_stages(), indirect=True)


@pytest.fixture
def saved_game(
    request: pytest.FixtureRequest,
    saved_games: SavedGames,
    seeded_bytes: SeededBytes,
    subtests: pytest.Subtests,
    figures: Figures,
) -> Walk:
    """The saved games of a variant. A test that takes a ``saved_game`` is called with one after the other."""

    def restored() -> Iterator[SavedGame]:
        for stage in walked_stages()[request.param]:
            seeded_bytes.seed(f"{request.node.nodeid} {stage}")
            figures("tests of saved games", {"walked": 1})
            yield saved_games.at(request.param, stage)

    return Walk(restored(), subtests.test)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test of a ``saved_game`` with all those of its walk."""
    walk = pyfuncitem.funcargs.get("saved_game")
    if not isinstance(walk, Walk):
        return None
    names = signature(pyfuncitem.obj).parameters.keys() - {"saved_game"}
    walk.call(partial(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="module")
def other_worker(redis_url: str) -> Iterator[Api]:
    """The application of another worker: it shares only Redis with the first one."""
    nodes = SingleNodeTopology(connect(redis_url))
    with closing(RedisEventFeed(nodes)) as feed:
        games = build_games(redis_store(nodes, TTL_SECONDS), feed, [SECRET], TTL_SECONDS)
        yield Api(create_app(games).test_client(use_cookies=False))


@pytest.fixture
def crowd() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as crowd:
        yield crowd


@pytest.fixture
def watched(games: GamesFacade) -> Iterator[Watched]:
    watched = Watched(games)
    yield watched
    watched.until(0)
