"""The store of webhooks, on one server and on a Cluster."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from service.backends.values import DeliveryAttempt, DueGame, IndexEntry, Repeat, RepeatKnown, RequestedMessage, Webhook
from service.redis import keys
from service.redis.shards import shard_of, with_shard
from service.redis.topology import Topology
from tests.storage.conftest import TTL
from tests.support.stores.redis_stores import redis_reminders, redis_webhooks
from tests.support.stores.stored_index import StoredIndex

pytestmark = pytest.mark.gate

LEASE = 20_000
MOST = 5
REQUESTED = RequestedMessage("msg_1", "game.turn", 1_800_000_000_000, "game", 7)


class Harness(StoredIndex):
    """A store, the index that makes games due, and their reminders."""

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology, TTL)
        self.store = redis_webhooks(topology)
        self.queue = redis_reminders(topology)

    def make_due(self, webhook: Webhook, game: str, known: int) -> None:
        """Let the index follow a game from this version to the next one."""
        position = self.index.position(webhook.app, game)
        if position.version not in (0, known):
            assert self.index.remove(webhook.app, game, position=position)
        if self.index.position(webhook.app, game).version != known:
            start = self.index.position(webhook.app, game)
            assert self.index.put(webhook.app, entry(game, known), [], (), position=start) == ()
        position = self.index.position(webhook.app, game)
        due = self.index.put(webhook.app, entry(game, known + 1), [], webhook.events, position=position)
        assert due is not None

    def verified(self, app: str) -> set[str]:
        """The endpoints to which the index makes games due."""
        key = keys.part(b"endpoints", app)
        return {endpoint.decode() for endpoint in self.call(key, b"SMEMBERS", key)}

    def reminder(self, webhook: Webhook) -> float | None:
        """When the endpoint is due."""
        shard = shard_of(webhook.app)
        assert shard is not None
        key = keys.reminder_sets("webhooks")[shard]
        score = self.call(key, b"ZSCORE", key, name_of(webhook).encode())
        return None if score is None else float(score)

    def names(self, app: str) -> list[str]:
        """All that is stored of the endpoints of an application."""
        key = keys.state(app)
        found = self.call(key, b"KEYS", b"*%b*" % app.encode())
        return [name.decode() for name in found if b"webhook" in name or b"endpoints" in name]

    def clear(self) -> None:
        for key in keys.reminder_sets("webhooks"):
            self.call(key, b"DEL", key)


def entry(game: str, version: int) -> IndexEntry:
    return IndexEntry(
        game, version, "write", 1_800_000_000_000, 1_900_000_000_000, None, {}, "domino", "playing", b"{}"
    )


@pytest.fixture
def harness(topology: Topology) -> Iterator[Harness]:
    harness = Harness(topology)
    harness.clear()
    yield harness
    harness.clear()


def name_of(webhook: Webhook) -> str:
    return f"{webhook.app}.{webhook.id}"


def new_app() -> str:
    return with_shard(secrets.token_urlsafe(16))


def new_webhook(harness: Harness, app: str | None = None, *, active: bool = True) -> Webhook:
    webhook = Webhook(
        secrets.token_hex(8),
        app or new_app(),
        "https://hooks.example/a",
        ("game.turn",),
        "unverified",
        harness.queue.server_time(),
        b"\x00\xff" * 16,
    )
    assert harness.store.create(webhook, MOST)
    if not active:
        return webhook
    after = webhook._replace(
        status="active", is_verified=True, requested=(REQUESTED,), old_secret=b"o", failing_since=5
    )
    assert harness.store.replace(webhook, after)
    return after


@pytest.fixture
def webhook(harness: Harness) -> Webhook:
    return new_webhook(harness)


def attempt(number: int = 0) -> DeliveryAttempt:
    return DeliveryAttempt(f"msg_{number}", "game.turn", "g", 1_000 + number, 12, None, "timeout", 17, 900)


def due(harness: Harness, webhook: Webhook) -> list[DueGame]:
    return harness.store.due(webhook, harness.queue.server_time() + 10, 100)


def only_due(harness: Harness, webhook: Webhook) -> DueGame:
    (game,) = due(harness, webhook)
    return game


def lease(harness: Harness, webhook: Webhook) -> float:
    return next(each.leased for each in harness.queue.take("webhooks", 1000, LEASE) if each.game == name_of(webhook))


def test_a_request_is_kept_with_the_endpoint_that_it_writes(harness: Harness) -> None:
    store = harness.store
    webhook = new_webhook(harness, active=False)._replace(id="new")
    made = Repeat("create", b"f.s", 1000, b"[]")
    for _ in range(2):
        assert store.create(webhook, MOST, made)
    assert store.repeated(webhook.app, "create", 1000) == made
    with pytest.raises(RepeatKnown):
        store.create(webhook._replace(id="another"), 1, made)  # known although there are as many as may be
    pinged = webhook._replace(requested=(REQUESTED._replace(id="a"),))
    ping = Repeat("ping", b"f.s", 1000, b"[]")
    assert store.replace(webhook, pinged, repeat=ping)
    assert store.replace(pinged, webhook)  # it was sent
    with pytest.raises(RepeatKnown):
        store.replace(webhook, webhook._replace(requested=(REQUESTED._replace(id="b"),)), repeat=ping)
    assert store.read(webhook.app, webhook.id) == webhook
    assert store.replace(webhook, None)
    assert store.repeated(webhook.app, "ping", 1000) == ping


def test_an_endpoint_is_read_as_it_was_stored_and_a_new_one_is_due_and_not_told_of_games(harness: Harness) -> None:
    webhook = new_webhook(harness, active=False)
    assert harness.reminder(webhook) == webhook.created_at
    assert harness.verified(webhook.app) == set()
    for stored in (webhook, new_webhook(harness)):
        assert harness.store.read(stored.app, stored.id) == stored
        assert harness.store.all(stored.app) == [stored]
        assert harness.store.read(new_app(), stored.id) is None
        assert harness.store.read(stored.app, "\ud800") is None


def test_an_application_has_no_more_endpoints_than_it_may(harness: Harness) -> None:
    app = new_app()
    webhooks = [new_webhook(harness, app) for _ in range(MOST)]
    late = webhooks[0]._replace(id="late")
    assert harness.store.create(late, MOST) is False
    assert harness.store.replace(webhooks[0], None)
    assert harness.store.create(late, MOST) is True
    assert harness.store.create(late, MOST) is True  # sent again without an answer


def test_only_an_endpoint_that_is_as_expected_is_replaced(harness: Harness, webhook: Webhook) -> None:
    after = webhook._replace(url="https://hooks.example/b")
    assert harness.store.replace(webhook._replace(failures=1), after) is False
    assert harness.store.replace(webhook, after) is True
    assert harness.store.replace(webhook, webhook._replace(failures=2)) is False
    assert harness.store.read(webhook.app, webhook.id) == after


def test_an_endpoint_that_was_ever_active_is_told_of_games_until_it_is_deleted(
    harness: Harness, webhook: Webhook
) -> None:
    disabled = webhook._replace(status="disabled")
    assert harness.store.replace(webhook, disabled)
    assert harness.verified(webhook.app) == {webhook.id}
    harness.make_due(webhook, "g", 3)
    assert harness.store.replace(disabled, None)
    assert harness.names(webhook.app) == []
    assert harness.reminder(webhook) is None
    assert harness.store.attempts(webhook) == []
    assert due(harness, webhook) == []


def test_a_game_is_due_with_the_version_that_the_endpoint_knows_until_it_was_told(
    harness: Harness, webhook: Webhook
) -> None:
    harness.make_due(webhook, "g", 3)
    taken = only_due(harness, webhook)
    harness.make_due(webhook, "g", 7)
    game = only_due(harness, webhook)
    assert (game.game, game.notified, game.failures) == ("g", 3, 0)
    assert harness.store.due(webhook, game.at - 1_000, 100) == []
    harness.store.mark_notified(webhook, taken, 5, done=True)  # but it has gone on meanwhile
    assert only_due(harness, webhook).notified == 5
    harness.store.mark_notified(webhook, only_due(harness, webhook), 8, done=True, attempt=attempt())
    assert due(harness, webhook) == []
    assert harness.store.attempts(webhook) == [attempt()]
    harness.make_due(webhook, "g", 8)
    assert only_due(harness, webhook).notified == 8


def test_what_an_endpoint_knows_never_goes_back(harness: Harness, webhook: Webhook) -> None:
    harness.make_due(webhook, "g", 3)
    taken = only_due(harness, webhook)
    harness.store.mark_notified(webhook, taken, 9, done=False)
    harness.store.mark_notified(webhook, taken, 6, done=False)
    assert only_due(harness, webhook).notified == 9
    harness.store.mark_notified(webhook, taken, 9, done=True)
    harness.store.mark_notified(webhook, taken, 6, done=False)
    assert due(harness, webhook) == []


def test_a_failed_game_is_put_off_and_its_failures_are_counted(harness: Harness, webhook: Webhook) -> None:
    harness.make_due(webhook, "g", 3)
    at = harness.queue.server_time() + 5_000
    harness.store.mark_failed(webhook, only_due(harness, webhook), at, count=True, attempt=attempt(1))
    harness.make_due(webhook, "g", 4)  # does not bring it forward
    assert due(harness, webhook) == []
    (game,) = harness.store.due(webhook, at + 1, 10)
    assert game == DueGame("g", at + 1, notified=3, version=5, failures=1)
    harness.store.mark_failed(webhook, game, at + 5, count=False, attempt=None)
    (game,) = harness.store.due(webhook, at + 5, 10)
    assert game.failures == 1
    harness.store.mark_notified(webhook, game, 4, done=False, attempt=attempt(2))
    assert harness.store.due(webhook, at + 5, 10) == [DueGame("g", at + 5, notified=4, version=5, failures=0)]
    assert harness.store.attempts(webhook) == [attempt(2), attempt(1)]


def test_games_that_were_put_off_are_due_again_when_an_endpoint_resumes(harness: Harness, webhook: Webhook) -> None:
    harness.make_due(webhook, "g", 3)
    at = harness.queue.server_time() + 500_000
    harness.store.mark_failed(webhook, only_due(harness, webhook), at, count=True, attempt=attempt())
    assert harness.store.replace(webhook, webhook._replace(failures=0, requested=()), resume=True)
    game = only_due(harness, webhook)
    assert (game.notified, game.failures) == (3, 0)


def test_the_last_hundred_attempts_are_kept(harness: Harness, webhook: Webhook) -> None:
    for number in range(103):
        harness.store.log(webhook, attempt(number))
    assert harness.store.attempts(webhook) == [attempt(number) for number in range(102, 2, -1)]


def test_the_earliest_games_come_first(harness: Harness, webhook: Webhook) -> None:
    harness.make_due(webhook, "a", 1)
    harness.make_due(webhook, "b", 1)
    now = harness.queue.server_time()
    for name, at in (("a", now - 5), ("b", now - 9)):
        game = next(each for each in due(harness, webhook) if each.game == name)
        harness.store.mark_failed(webhook, game, at, count=False, attempt=attempt())
    assert [each.game for each in harness.store.due(webhook, now, 1)] == ["b"]
    assert [each.game for each in harness.store.due(webhook, now, 2)] == ["b", "a"]


def test_games_that_have_expired_are_forgotten(harness: Harness, webhook: Webhook) -> None:
    for name in ("old", "new"):
        harness.make_due(webhook, name, 1)
    now = harness.queue.server_time()
    old = next(each for each in due(harness, webhook) if each.game == "old")
    harness.store.mark_failed(webhook, old, now - 1_000_000, count=False, attempt=attempt())
    harness.store.forget(webhook, now - 500_000)
    assert [each.game for each in due(harness, webhook)] == ["new"]
    harness.make_due(webhook, "old", 8)
    assert {each.game: each.notified for each in due(harness, webhook)} == {"new": 1, "old": 8}


def test_a_lease_is_only_changed_by_who_has_it(harness: Harness) -> None:
    webhook = new_webhook(harness, active=False)
    leased = lease(harness, webhook)
    harness.make_due(webhook, "g", 1)
    after = webhook._replace(status="active")
    assert harness.store.replace(webhook, after, at=5)
    assert harness.reminder(webhook) == leased
    assert harness.store.renew(webhook, leased - 1, LEASE) is None
    renewed = harness.store.renew(webhook, leased, 2 * LEASE)
    assert renewed is not None
    assert leased < renewed
    assert renewed == harness.reminder(webhook)
    assert renewed % 1 == 0.5
    harness.store.release(after, leased, None, games=False)
    assert harness.reminder(webhook) == renewed
    harness.store.release(after, renewed, None, games=False)
    assert harness.reminder(webhook) is None


def test_a_released_endpoint_is_due_when_its_next_game_is(harness: Harness, webhook: Webhook) -> None:
    harness.make_due(webhook, "g", 1)
    at = harness.queue.server_time() + 9_000
    harness.store.mark_failed(webhook, only_due(harness, webhook), at, count=True, attempt=attempt())
    for not_before, expected in ((None, at), (at - 5, at), (at + 5, at + 5)):
        force_due(harness, webhook)
        harness.store.release(webhook, lease(harness, webhook), not_before, games=True)
        assert harness.reminder(webhook) == expected
    force_due(harness, webhook)
    leased = lease(harness, webhook)
    harness.store.mark_notified(webhook, DueGame("g", at, notified=1, version=2, failures=1), 3, done=True)
    harness.store.release(webhook, leased, at, games=True)
    assert harness.reminder(webhook) is None


def test_an_endpoint_that_was_changed_during_a_lease_is_due_at_once(harness: Harness) -> None:
    webhook = new_webhook(harness, active=False)
    leased = lease(harness, webhook)
    after = webhook._replace(failures=3)
    assert harness.store.replace(webhook, after, at=harness.queue.server_time())
    harness.store.release(webhook, leased, None, games=False)
    reminder = harness.reminder(webhook)
    assert reminder is not None
    assert reminder <= harness.queue.server_time() + 10


def test_an_endpoint_is_due_at_the_earlier_of_two_times(harness: Harness, webhook: Webhook) -> None:
    harness.store.release(webhook, lease(harness, webhook), None, games=True)
    now = harness.queue.server_time()
    for failures, at, expected in ((1, now + 900, now + 900), (2, now + 950, now + 900), (3, now + 100, now + 100)):
        before = harness.store.read(webhook.app, webhook.id)
        assert before is not None
        assert harness.store.replace(before, before._replace(failures=failures), at=at)
        assert harness.reminder(webhook) == expected


def force_due(harness: Harness, webhook: Webhook) -> None:
    before = harness.store.read(webhook.app, webhook.id)
    assert before is not None
    assert harness.store.replace(before, before, at=1)
