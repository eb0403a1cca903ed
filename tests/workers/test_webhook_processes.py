"""Messengers as real processes that are killed while they deliver to a real endpoint: no message is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest

from service.backends.values import Webhook
from service.backends.webhooks.endpoints import Webhooks
from service.backends.webhooks.messages import MESSAGE_TYPES
from service.engine.events import Finished, RoundEnded
from service.games.model.game_events import Joined
from service.games.reminders import ReminderKind
from service.games.store.idempotency import Idempotency
from service.redis import keys
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import Topology, open_topology
from tests.backends.endpoints import Listener, Received, first_of_each
from tests.backends.owned import APP, Owned
from tests.outgoing.endpoints import answer
from tests.outgoing.test_signing import by_javascript, by_python
from tests.storage.clusters import Cluster
from tests.storage.servers import RealServer
from tests.support import reminders
from tests.support.background import Background
from tests.support.lanes import in_lane
from tests.support.processes import await_port, free_ports
from tests.support.stores.redis_stores import redis_reminders, redis_store, redis_webhooks
from tests.support.waiting import until
from tests.workers.tables import TTL

pytestmark = pytest.mark.gate

NETWORKS = "127.0.0.0/8"


class Backend:
    """An application with an endpoint and games on real servers."""

    def __init__(self, redis_url: str, listener: Listener, *, replicated: bool = False) -> None:
        topology = self.topology = open_topology(redis_url)
        self.clock = redis_reminders(topology).server_time
        self.owned = Owned(redis_store(topology, TTL, replicated=replicated), self.clock)
        self.webhooks = Webhooks(
            redis_webhooks(topology, replicated=replicated),
            check_url=lambda *_: None,
            clock=self.clock,
            random_bytes=Random("backend").randbytes,
            idempotency=Idempotency([b"secret"]),
        )
        self.listener = listener
        self.webhook = self.webhooks.create(APP, listener.url, MESSAGE_TYPES).answer

    def is_active(self) -> bool:
        return self.webhooks.get(APP, self.webhook.id).status == "active"

    def is_complete(self, game: str) -> bool:
        """Whether all that must be told of a game was told."""
        kinds = (Joined, RoundEnded, Finished)
        history = self.owned.repository.histories.history(self.owned.game(game))
        expected = [each.version for each in history if isinstance(each.event, kinds)]
        return self.told(game) == expected

    def told(self, game: str) -> list[int]:
        """The versions that were told of a game, turns left out, by first arrival."""
        first = [each for each in first_of_each(self.listener.received) if each.data.get("game_id") == game]
        return [each.data["version"] for each in first if each.type != "game.turn"]


def end_leases(topology: Topology) -> None:
    """Let all leases end, as if their time were over: those of the killed, and those of the living."""
    kinds: tuple[ReminderKind, ...] = ("webhooks", "outbox")
    for kind in kinds:
        reminders.end_leases(topology, kind)


@contextmanager
def backend(folder: Path, listener: Listener) -> Iterator[tuple[RealServer, Backend]]:
    with closing(listener), RealServer(folder / "redis") as server:
        yield server, Backend(server.url, listener)


@pytest.mark.parametrize("messengers", in_lane([1, 2], gate=[2]))
def test_messengers_that_are_killed_lose_no_message_and_change_no_order(messengers: int, tmp_path: Path) -> None:
    random = Random(messengers)
    listener = Listener(*[answer(f"{code} Some") for code in (200, 500, 200, 200, 200, 503)], answer("204 Some"))
    with backend(tmp_path, listener) as (server, own):
        processes = [
            Background("messenger", server.url, tmp_path, WEBHOOK_NETWORKS=NETWORKS) for _ in range(messengers)
        ]
        ended: list[Background] = []
        try:
            until(own.is_active)
            games = [own.owned.create(open_seats=1, variant="dominospiel") for _ in range(12)]
            for number in range(4):
                for game in games:
                    own.owned.join(game)
                    for _ in range(25):
                        own.owned.play(game)
                time.sleep(random.uniform(0.0, 0.3))
                victim = processes.pop(random.randrange(messengers))
                victim.kill()
                ended.append(victim)
                end_leases(own.topology)
                (port,) = free_ports(1)
                processes.append(
                    Background("messenger", server.url, tmp_path, WEBHOOK_NETWORKS=NETWORKS, METRICS_PORT=str(port))
                )
                assert number < 4
            await_port(port)  # the last one handles signals by now
            until(
                lambda: all(own.is_complete(game) for game in games),
                lambda: [own.told(game) for game in games],
                pause=0.2,
            )
        finally:
            statuses = [each.stop() for each in processes]
        assert statuses == [0] * messengers
        lines = [line for each in (*processes, *ended) for line in each.lines()]
        assert [line for line in lines if line["level"] == "error"] == []
        assert "of-the-url" not in "".join(map(str, lines))
        ids: dict[str, Received] = {}
        for each in listener.received:
            known = ids.setdefault(each.id, each)
            assert (known.type, known.data["game_id"]) == (each.type, each.data["game_id"])


def test_failovers_of_a_cluster_lose_no_message_and_change_no_order(tmp_path: Path) -> None:
    listener = Listener()
    with closing(listener), Cluster(tmp_path / "cluster", **{"cluster-require-full-coverage": "no"}) as cluster:
        own = Backend(cluster.url, listener, replicated=True)
        messenger = Background("messenger", cluster.url, tmp_path, WEBHOOK_NETWORKS=NETWORKS, DURABILITY="replicated")
        with messenger:
            until(own.is_active)
            games = [own.owned.create(open_seats=1, variant="dominospiel") for _ in range(12)]

            def play(moves: int) -> None:
                """Play on in all games that can be written."""
                for game in games:
                    with suppress(StorageUnavailable, OutcomeUnknown):
                        own.owned.join(game)
                        for _ in range(moves):
                            own.owned.play(game)

            for key in (keys.state(games[0]), keys.part(b"feed", APP)):
                play(10)
                cluster.fail_over(key, meanwhile=partial(play, 15))
                until(cluster.is_whole)
            end_leases(own.topology)
            until(lambda: all(own.is_complete(game) for game in games))
        assert [line for line in messenger.lines() if line["level"] == "error"] == []


def test_a_messenger_that_is_stopped_gives_its_endpoints_back_at_once(tmp_path: Path) -> None:
    listener = Listener()
    with backend(tmp_path, listener) as (server, own):
        first = Background("messenger", server.url, tmp_path, WEBHOOK_NETWORKS=NETWORKS)
        until(own.is_active)
        assert first.stop() == 0
        now, _ = server.admin.time()
        assert all(due <= (now + 1) * 1000 for due in reminders.stored(server.admin, "webhooks").values())
        game = own.owned.create()
        with Background("messenger", server.url, tmp_path, WEBHOOK_NETWORKS=NETWORKS):
            until(lambda: [each for each in listener.received if each.data["game_id"] == game])


def test_the_public_libraries_verify_what_a_messenger_sends(tmp_path: Path) -> None:
    listener = Listener()
    with backend(tmp_path, listener) as (server, own):
        game = own.owned.create()
        with Background("messenger", server.url, tmp_path, WEBHOOK_NETWORKS=NETWORKS):
            until(own.is_active)
            own.owned.play(game)
            (message,) = until(lambda: listener.received)
        for verify in (by_python, by_javascript):
            assert verify(own.webhook.secret, message.headers, message.body)
            assert not verify(own.webhook.secret, message.headers, message.body.replace(b"domino", b"fido"))
            assert not verify(b"x" * 32, message.headers, message.body)


def test_without_an_allowed_network_nothing_is_sent_to_loopback(tmp_path: Path) -> None:
    listener = Listener()
    with backend(tmp_path, listener) as (server, own), Background("messenger", server.url, tmp_path):

        def attempts(webhook: Webhook = own.webhook) -> list[str | None]:
            return [each.error for each in own.webhooks.attempts(APP, webhook.id)]

        assert until(attempts) == ["refused_address"]
        assert listener.accepted == 0
