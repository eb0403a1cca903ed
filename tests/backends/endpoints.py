"""Endpoints on loopback that applications register, games of which they are told, and a time that only a test moves."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from random import Random
from threading import Thread
from typing import Any, NamedTuple

import redis
from prometheus_client import CollectorRegistry

from service.backends.values import Webhook
from service.backends.webhooks.deliveries import Deliveries
from service.backends.webhooks.endpoints import Webhooks
from service.backends.webhooks.messages import MESSAGE_TYPES
from service.games.store.idempotency import Idempotency
from service.outgoing.sender import Sender
from service.redis import keys
from service.redis.topology import SingleNodeTopology
from service.workers.consumer import Queue
from service.workers.messenger import Deliverer, LeaseContext
from service.workers.metrics import WorkerMetrics
from tests.backends.owned import APP, START, Owned, Published, outbox_of
from tests.outgoing.endpoints import Behaviour, Endpoint, answer
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_reminders, redis_webhooks
from tests.support.stores.simulated_clock import under_clock
from tests.support.waiting import PATIENCE

TTL = 30 * 86_400
LOOPBACK = [ip_network("127.0.0.0/8")]


MAX_WAIT = 0.02
"""Seconds after which a deliverer takes another step while it waits for answers."""


class Received(NamedTuple):
    """A request that an endpoint got."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def type(self) -> str:
        return str(self.json["type"])

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    @property
    def data(self) -> dict[str, Any]:
        return dict(self.json["data"])


def parse(request: bytes) -> Received:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    cased = {name: line.split(": ", 1)[1] for line in lines for name in [line.split(":")[0].lower()]}
    return Received(first.split()[1], headers | cased, body)


def statuses(*codes: int, fields: tuple[str, ...] = ()) -> list[Behaviour]:
    """Answers with these statuses, one after the other; the last one for ever."""
    return [answer(f"{code} Some", b"", *fields) for code in codes]


class Listener(Endpoint):
    """An endpoint that answers challenges, and every other message as its behaviours say."""

    def __init__(self, *behaviours: Behaviour) -> None:
        super().__init__()
        self.behaviours = list(behaviours or statuses(204))
        self.answered = 0

    @property
    def received(self) -> list[Received]:
        """The messages that are no challenges."""
        return [each for each in map(parse, list(self.requests)) if each.type != "webhook.challenge"]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks?secret=of-the-url"

    def respond(self, request: bytes, sock: socket.socket) -> object:
        """Answer a challenge; behave on all else."""
        message = parse(request)
        if message.type == "webhook.challenge":
            return answer(body=message.data["challenge"].encode())(sock)
        self.answered += 1
        return self.behaviours[min(self.answered, len(self.behaviours)) - 1](sock)


class Hooked:
    """Games of applications in memory, their endpoints on a server, and a deliverer in this process.

    It must be closed. ``wrap`` returns the store of endpoints with faults for the deliverer.
    """

    def __init__(self, server: redis.Redis, *, wrap: Callable[[Any], Any] = lambda store: store) -> None:
        self.now = START
        self.jitter = 0.5
        self.clock_behind = 0
        """By how many milliseconds the clock of the store is behind that of the machine."""
        clock = lambda: self.now  # noqa: E731 # a clock
        self.clock = clock
        self.store = MemoryStore(TTL, lambda: self.now / 1000)
        self.topology = under_clock(SingleNodeTopology(server), clock)
        self.published = Published(self.topology, TTL)
        self.kept = redis_webhooks(self.topology)
        self.owned = Owned(self.store, clock)
        self.outbox = outbox_of(self.owned, self.published)
        self.random = Random("endpoints")
        self.webhooks = Webhooks(
            self.kept,
            check_url=lambda *_: None,
            clock=clock,
            random_bytes=self.random.randbytes,
            idempotency=Idempotency([b"secret"]),
        )
        self.sender = Sender("test", networks=LOOPBACK)
        self.registry = CollectorRegistry()
        self.metrics = WorkerMetrics(self.registry)
        self.reached = wrap(self.kept)
        self.working: list[Thread] = []
        self.ends_of_leases: list[int] = []
        self.listeners: list[Listener] = []
        self.deliverer = self.new_deliverer()

    def new_deliverer(self) -> Deliverer:
        deliveries = Deliveries(
            self.reached,
            self.owned.new_repository(),
            self.sender,
            clock=self.clock,
            signing_clock=lambda: self.now + self.clock_behind,
            random_bytes=self.random.randbytes,
            jitter=lambda: self.jitter,
            observe=lambda attempt: self.metrics.deliveries.labels(attempt.error or "ok").inc(),
        )
        context = LeaseContext(
            self.reached,
            deliveries,
            self.metrics,
            clock=self.clock,
            jitter=lambda: self.jitter,
            game_ttl=TTL * 1000,
            begin_attempt=self.in_thread,
        )
        queue = Queue(redis_reminders(self.topology), self.clock, self.metrics)
        return Deliverer(context, queue, self.in_thread, lambda: self.ends_of_leases.append(self.now))

    def in_thread(self, work: Callable[[], None]) -> None:
        thread = Thread(target=work, daemon=True)
        thread.start()
        self.working.append(thread)

    def close(self) -> None:
        self.deliverer.close()
        self.sender.close()
        for each in self.listeners:
            each.close()

    def listen(self, *behaviours: Behaviour | int) -> Listener:
        """An endpoint, closed with this, that answers with these statuses or behaves so; without any with 204."""
        answers = [each if callable(each) else statuses(each)[0] for each in behaviours]
        self.listeners.append(Listener(*answers))
        return self.listeners[-1]

    def create(self, **options: Any) -> str:
        """A game that the index follows."""
        game = self.owned.create(**options)
        self.publish(game)
        return game

    def register(self, listener: Listener, *events: str, app: str = APP) -> Webhook:
        """A verified endpoint."""
        webhook = self.webhooks.create(app, listener.url, events or MESSAGE_TYPES).answer
        self.deliver()
        found = self.webhooks.get(app, webhook.id)
        assert found.status == "active"
        return found

    def publish(self, *games: str) -> None:
        """Let the index follow games."""
        for game in games:
            self.outbox.publish(self.owned.owner(game), game)
            self.now += 1  # what is new twice in a millisecond is due in the next one

    def deliver(self) -> None:
        """Deliver all that is due now."""
        deadline = time.monotonic() + PATIENCE
        while True:
            self.deliverer.step()
            if not self.deliverer._leased and not self._is_due():
                return
            assert time.monotonic() < deadline, "timeout"
            for thread in list(self.working):
                thread.join(MAX_WAIT)
                if not thread.is_alive():
                    self.working.remove(thread)

    def pass_time(self, milliseconds: int) -> int:
        """Let so much time pass, and deliver what becomes due, at its time; returns how often something did."""
        until, turns = self.now + milliseconds, 0
        while True:
            due = min(self.reminders(), default=until + 1)
            if due > until:
                self.now = until
                return turns
            self.now = max(self.now, int(due))
            self.deliver()
            turns += 1

    def status(self, webhook: Webhook) -> str:
        return self.webhooks.get(webhook.app, webhook.id).status

    def reminders(self) -> list[float]:
        """When endpoints are due, or how long they are leased."""
        names = keys.reminder_sets("webhooks")
        flat = self.published.call(names[0], b"ZUNION", len(names), *names, b"WITHSCORES")
        return [float(at) for at in flat[1::2]]

    def _is_due(self) -> bool:
        return any(at <= self.now for at in self.reminders())


def first_of_each(received: list[Received]) -> list[Received]:
    """The messages without those that came before."""
    seen: Counter[str] = Counter()
    first = []
    for each in received:
        seen[each.id] += 1
        if seen[each.id] == 1:
            first.append(each)
    return first
