"""The application that the examples of the document are recorded from.

It is put together from the adapters of the service, on an embedded server of its own; but its clock is set by the
program that records, its random bytes are the same in every run, and its endpoints are not asked. So are the cursors of
its feed, which Redis makes from its own clock: here they are numbers; and the sizes of its games. Does not depend on
what is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, TypedDict

import orjson
from flask import Flask
from prometheus_client import CollectorRegistry

from service.backends.facade import BackendsFacade
from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing, People
from service.backends.index.store import RedisFeed, RedisIndex, RedisLobby, cursor_of, item_id
from service.backends.keys import Backends
from service.backends.outbox import Outbox
from service.backends.store import RedisBackends, RedisErasures
from service.backends.values import GamePage, IndexEntry, IndexQuery, StoredItems
from service.backends.webhooks.deliveries import Deliveries
from service.backends.webhooks.endpoints import Webhooks
from service.backends.webhooks.store import RedisWebhooks
from service.devserver.embedded import EmbeddedServer
from service.games.commands.validation import BotsAlone
from service.games.facade import GamesFacade
from service.games.model.schedule import Lifetimes
from service.games.ports import GameWithEvents, sequential_runtime
from service.games.store.admission import StoragePolicy
from service.games.store.idempotency import Idempotency
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisGamesOfBots, RedisStore
from service.games.store.reminder_queue import RedisReminders
from service.games.store.repository import GameRepository
from service.learning.queries import Learning
from service.learning.store import RedisLearning
from service.limits.memory import MemoryReserve
from service.limits.stored_bytes import UNLIMITED
from service.limits.windows import LocalCounts
from service.metrics import Metrics
from service.outgoing.addresses import check_url
from service.outgoing.sender import MAX_ANSWER_BYTES, Answer, Sender
from service.redis.calls import FailureObserver, Observer, RedisCalls, observe_nothing
from service.redis.topology import Topology, open_topology
from service.web.app import create_app
from service.web.http.streams import StreamLimits, Streams
from service.web.rate_limits import Limits, RateLimits
from service.workers.bot_worker import RoundEvents
from service.workers.consumer import Queue
from service.workers.learning import Hints, Reviews
from service.workers.metrics import WorkerMetrics

AdvanceClock = Callable[[int], None]
"""Lets so many seconds pass for an application, and tells what is to be told then."""


class ExampleApp(NamedTuple):
    """The application, what advances its clock, and what makes the key of a new application of a name."""

    app: Flask
    advance_clock: AdvanceClock
    create_key: Callable[[str], str]


_START_MS: Final = int(datetime(2026, 1, 6, 19, 30, tzinfo=UTC).timestamp() * 1000)
_DAY_SECONDS: Final = 86_400
_TTL_SECONDS: Final = 30 * _DAY_SECONDS
_KEEPING: Final = StoragePolicy(Lifetimes.at_most(_TTL_SECONDS * 1000, 7 * _DAY_SECONDS * 1000))
_INDEX_TTL_SECONDS: Final = 36_500 * _DAY_SECONDS
"""The index compares the times of writes, which are those of the clock here, with the clock of the server."""
_ANSWER_MILLISECONDS: Final = 84
_GAME_BYTES: Final = 5_240
_LEASE_MS: Final = 60_000
_MAX_DUE: Final = 100
"""More games of applications, and more endpoints, than the examples have."""


@contextmanager
def example_app() -> Iterator[ExampleApp]:
    """Return the application over a server of its own. Raises ``CannotServe`` if there is no server to run."""
    with TemporaryDirectory() as folder, EmbeddedServer(Path(folder)) as server:
        topology = open_topology(server.url)
        with closing(RedisEventFeed(topology)) as notifications:
            yield _build(topology, notifications)


def _build(topology: Topology, notifications: RedisEventFeed) -> ExampleApp:
    now = _START_MS

    def clock() -> int:
        return now

    unobserved = _Observers(observe=observe_nothing, observe_failure=observe_nothing)
    reserve = MemoryReserve(topology, observe_failure=observe_nothing)
    reminders, calls = RedisReminders(topology, **unobserved), RedisCalls(topology, **unobserved)
    store = _SizedStore(calls, _TTL_SECONDS, reserve)
    index, lobby = _LastingIndex(calls, _INDEX_TTL_SECONDS), RedisLobby(calls)
    webhooks = RedisWebhooks(calls, calls, reserve)
    runtime = sequential_runtime(clock, _SameBytes())
    repository = GameRepository(store, runtime, observe=lambda _: None, admit_read=lambda _: None, policy=_KEEPING)
    outbox = Outbox(repository, index, lobby, clock)
    deliveries = Deliveries(
        webhooks,
        repository,
        _SilentSender("example"),
        clock=clock,
        signing_clock=clock,
        random_bytes=_SameBytes(),
        jitter=lambda: 0.5,
        observe=lambda _: None,
    )

    queue = Queue(reminders, clock, WorkerMetrics(CollectorRegistry()))
    learning = RedisLearning(calls)
    hints = Hints(queue, repository, learning, RoundEvents(repository))
    reviews = Reviews(queue, repository, learning)

    def learn() -> None:
        for taken in reminders.take("hints", _MAX_DUE, 1):
            hints.handle(taken)
        for taken in reminders.take("reviews", _MAX_DUE, _LEASE_MS):
            reviews.handle(taken)
        while reviews.step() == 0:  # a decision was judged
            pass

    def advance_clock(seconds: int) -> None:
        nonlocal now
        now += seconds * 1000
        for taken in sorted(reminders.take("outbox", _MAX_DUE, 1), key=lambda each: (each.due, each.game)):
            outbox.publish(taken.tenant, taken.game)
        for taken in reminders.take("webhooks", _MAX_DUE, 1):
            app, _, name = taken.game.partition(".")
            webhook = webhooks.read(app, name)
            if webhook is not None:
                deliveries.challenge(webhook)
                for asked in webhook.requested[:1]:
                    deliveries.send_requested(webhook, asked)
        learn()

    bots_alone = BotsAlone(RedisGamesOfBots(calls, _TTL_SECONDS), repository, clock, limit=0)
    random_bytes, idempotency = _SameBytes(), Idempotency([b"example"])
    games = GamesFacade(repository, notifications, reminders, runtime, idempotency=idempotency, bots_alone=bots_alone)
    backends = BackendsFacade(
        Backends(
            RedisBackends(calls, reserve),
            clock=clock,
            random_bytes=random_bytes,
            idempotency=idempotency,
        ),
        Webhooks(
            webhooks,
            check_url=lambda url, _: check_url(url),
            clock=clock,
            random_bytes=random_bytes,
            idempotency=idempotency,
        ),
        Listing(index, lobby),
        Feeds(_NumberedFeed(calls), notifications, clock),
        people=People(index, RedisErasures(calls)),
        needed_for_games=False,
        shares=UNLIMITED,
    )
    limits, metrics = RateLimits(LocalCounts(), Limits(), workers=1), Metrics()
    streams = Streams(StreamLimits(), metrics.streams, lambda _connection, _notify: lambda: None)
    app = create_app(
        games,
        Learning(repository, learning),
        backends,
        limits,
        streams=streams,
        metrics=metrics,
        yield_control=lambda: None,
    )
    return ExampleApp(app, advance_clock, lambda name: backends.keys.create(name).key)


class _Observers(TypedDict):
    """What observes the calls to Redis."""

    observe: Observer
    observe_failure: FailureObserver


class _LastingIndex(RedisIndex):
    """An index from which no game expires: the time of the example is not that of the server."""

    def put(self, app: str, entry: IndexEntry, *arguments: Any, **options: Any) -> tuple[str, ...] | None:
        """Replace what the index knows of a game."""
        lasting = entry._replace(expires_at=entry.expires_at + _INDEX_TTL_SECONDS * 1000)
        return super().put(app, lasting, *arguments, **options)

    def find(self, app: str, query: IndexQuery) -> GamePage[tuple[bytes, int]]:
        """Return a page of the games of an application."""
        page = super().find(app, query)
        games = [(summary, expires_at - _INDEX_TTL_SECONDS * 1000) for summary, expires_at in page.games]
        return page._replace(games=games)


class _SilentSender(Sender):
    """Sends nothing; every message is answered as by an endpoint that works, also a challenge."""

    def post(
        self,
        url: str,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
        body: bytes,
        *,
        app: str,  # noqa: ARG002
        timeout: float,  # noqa: ARG002
        max_answer: int = MAX_ANSWER_BYTES,  # noqa: ARG002
    ) -> Answer:
        """Return the answer."""
        challenge = orjson.loads(body)["data"].get("challenge", "")
        return Answer(200, challenge.encode(), None, _ANSWER_MILLISECONDS, complete=True)


class _SizedStore(RedisStore):
    """A store whose games all have the same size: the real one depends on the server."""

    def size(self, game: str) -> int:  # noqa: ARG002
        """Return the bytes of a game."""
        return _GAME_BYTES

    def read_with_events(self, game: str, after: int, limit: int) -> GameWithEvents | None:
        """Return a game, its events and that size."""
        read = super().read_with_events(game, after, limit)
        return read and read._replace(size=_GAME_BYTES)


class _SameBytes:
    """Random-looking bytes that are the same in every run."""

    def __init__(self) -> None:
        self._calls = 0

    def __call__(self, size: int, /) -> bytes:
        self._calls += 1
        return sha256(f"example {self._calls}".encode()).digest()[:size]


class _NumberedFeed(RedisFeed):
    """A feed whose cursors are numbers, from 1, in the order in which they are first read."""

    def __init__(self, calls: RedisCalls) -> None:
        super().__init__(calls)
        self._cursors: list[str] = []

    def read(self, app: str, after: str | None, limit: int) -> StoredItems:
        """Items after a cursor, and what the index knows of their games."""
        found = super().read(app, None if after is None else self._cursors[item_id(after)[0] - 1], limit)
        items = tuple([each._replace(cursor=self._number(each.cursor)) for each in found.items])
        return found._replace(items=items, cursor=self._number(found.cursor))

    def _number(self, cursor: str) -> str:
        if cursor not in self._cursors:
            self._cursors.append(cursor)
        return cursor_of((self._cursors.index(cursor) + 1, 0))
