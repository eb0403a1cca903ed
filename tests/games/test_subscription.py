"""Subscriptions: every event once and in order, however notifications arrive and whatever the store does."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from threading import BoundedSemaphore
from typing import Any

import pytest

from service.engine.moves import Move
from service.engine.referee import legal_moves
from service.games.access import Access
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.errors import NotFound, Unauthorized
from service.games.model.game_events import TokenChanged
from service.games.model.views import EventPage, Reset
from service.games.ports import Damaged, EventFeed, EventNotification, EventRange, Listener
from service.games.queries import follower as module
from service.games.queries.subscription import MAX_PENDING, EventSubscription
from service.redis.errors import StorageUnavailable
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

TTL = 1000


class ManualFeed(EventFeed):
    """A feed that says what a test lets it say."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def publish(self, notification: EventNotification | None) -> None:
        for listener in tuple(self.listeners):
            listener(notification)

    def close(self) -> None:
        self.listeners.clear()


class UnreliableStore(MemoryStore):
    """A store that cannot be asked for its events while ``away``, nor the next times that are ``refused``."""

    away = False
    refused = 0
    asked = 0
    refusal = StorageUnavailable("away", 0)
    meanwhile: Callable[[], None] | None = None

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        self.asked += 1
        if self.away or self.refused:
            self.refused = max(self.refused - 1, 0)
            raise self.refusal
        found = super().event_range(game, after, limit)
        if self.meanwhile:
            self.meanwhile()
        return found


class Scene:
    """A game of two, its store, and the feed of its notifications."""

    def __init__(self) -> None:
        self.store, self.feed = UnreliableStore(TTL, lambda: self.time), ManualFeed()
        self.time = 0.0
        self.games = build_games(
            self.store,
            self.feed,
            clock=lambda: int(datetime(2030, 1, 1, tzinfo=UTC).timestamp() * 1000),
            random_bytes=iter_secrets(),
            secrets=[b"s"],
            ttl_seconds=TTL,
        )
        people = (SeatRequest("human", "Ada"), SeatRequest("human", "Bo"))
        self.opened = self.games.commands.create(GameRequest("domino", people, {"limit": 1000}, "seed")).answer

    @property
    def id(self) -> str:
        return self.opened.view.id

    def change_token(self, seat: int) -> None:
        token = self.opened.seats[seat].token
        self.games.commands.rotate_token(self.games.access.authorize_rotation(self.id, token, seat, None))

    def enter(self, seat: int | None = None) -> Access:
        return self.games.access.authenticate(self.id, None if seat is None else self.opened.seats[seat].token)

    def follow(self, after: int = 0, seat: int | None = None) -> EventSubscription:
        return self.games.queries.subscribe(self.enter(seat), after)

    def move(self, times: int = 1) -> list[EventNotification]:
        """Make moves; returns their notifications, undelivered."""
        notifications = []
        for _ in range(times):
            game = self.enter().game
            seat = 0 if game.state.turn is None else game.state.turn
            move: Move = legal_moves(game.rules, game.state, seat)[0]
            self.games.commands.make_move(self.enter(seat), MoveCommand(move))
            after = self.store.event_range(self.id, game.version, 1000)
            assert after is not None
            notifications.append(EventNotification(game.version, after.events))
        return notifications

    @property
    def version(self) -> int:
        return self.enter().game.version


def iter_secrets() -> Any:
    drawn = iter(range(1, 10_000))
    return lambda size: next(drawn).to_bytes(size, "big")


@pytest.fixture
def scene() -> Scene:
    return Scene()


def versions(page: EventPage | None) -> list[int]:
    assert page is not None
    return [each.version for each in page.events]


def hear_all(following: EventSubscription, until: int) -> list[int]:
    """The versions that were delivered, up to this one."""
    heard: list[int] = []
    for _ in range(1000):
        if following.cursor >= until:
            return heard
        heard += versions(following.wait(0))
    raise AssertionError("they never came")


@pytest.fixture
def following(scene: Scene) -> EventSubscription:
    return scene.follow()


def test_stored_events_come_before_notified_ones(scene: Scene, following: EventSubscription) -> None:
    assert versions(following.poll()) == [1, 2]
    asked = scene.store.asked
    (notification,) = scene.move()
    scene.feed.publish(notification)
    assert versions(following.wait(0)) == [3]
    assert scene.store.asked == asked + 1, "the scene has asked, the follower has not"


def test_late_or_repeated_notifications_are_delivered_once(scene: Scene, following: EventSubscription) -> None:
    first, second = scene.move(2)
    following.poll()
    for notification in (first, second, second, first):
        scene.feed.publish(notification)
    assert following.wait(0) is None
    (third,) = scene.move()
    for notification in (third, second, third):
        scene.feed.publish(notification)
    assert hear_all(following, scene.version) == [*range(third.after + 1, scene.version + 1)]
    assert following.wait(0) is None


def test_a_gap_between_notifications_is_filled_from_the_store(scene: Scene, following: EventSubscription) -> None:
    following.poll()
    _, _, third = scene.move(3)
    scene.feed.publish(third)
    assert hear_all(following, scene.version) == [*range(3, scene.version + 1)]


def test_of_a_notification_that_is_partly_known_the_rest_is_delivered(scene: Scene) -> None:
    following = scene.follow(1)
    scene.feed.publish(EventNotification(0, tuple(scene.store.event_range(scene.id, 0, 10).events)))  # type: ignore[union-attr]
    following._must_read = False
    assert versions(following.wait(0)) == [2]


def test_a_slow_subscription_reads_dropped_notifications_from_the_store(
    scene: Scene, following: EventSubscription
) -> None:
    following.poll()
    for notification in scene.move(MAX_PENDING + 10):
        scene.feed.publish(notification)
    assert following._pending.qsize() == MAX_PENDING
    assert hear_all(following, scene.version) == [*range(3, scene.version + 1)]
    assert following.wait(0) is None


def test_notifications_dropped_during_a_read_are_made_up_for(scene: Scene, following: EventSubscription) -> None:
    following.poll()
    for notification in scene.move(MAX_PENDING):
        scene.feed.publish(notification)
    scene.feed.publish(None)

    def drop() -> None:
        scene.store.meanwhile = None
        for notification in scene.move():
            scene.feed.publish(notification)

    scene.store.meanwhile = drop
    until = scene.version + 1
    assert hear_all(following, until) == [*range(3, until + 1)]


def test_an_unavailable_store_is_read_again_after_a_notification(scene: Scene, following: EventSubscription) -> None:
    following.poll()
    scene.move(2)
    scene.store.away = True
    scene.feed.publish(None)
    assert following.wait(0) is None
    scene.store.away = False
    scene.feed.publish(None)
    assert hear_all(following, scene.version) == [*range(3, scene.version + 1)]


def test_an_unavailable_store_is_read_again_after_a_while_without_a_notification(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    following = scene.follow()
    following.poll()
    scene.move()
    scene.feed.publish(None)
    scene.store.refused = 3
    assert versions(following.wait(20)) == [3]


def test_what_cannot_be_read_here_is_not_read_again_and_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    following = scene.follow()
    following.poll()
    scene.move()
    scene.feed.publish(None)
    scene.store.away, scene.store.refusal, scene.store.asked = True, Damaged(), 0
    assert following.wait(0.1) is None
    assert following.wait(0.1) is None
    assert scene.store.asked == 1
    scene.store.away = False
    scene.feed.publish(None)
    assert versions(following.wait(20)) == [3]


def test_a_subscription_without_a_slot_goes_on_waiting(scene: Scene) -> None:
    turns = BoundedSemaphore(1)
    scene.games.queries._catching_up = turns
    following = scene.follow()
    with turns:
        assert following.wait(0) is None
        assert following.wait(0.01) is None
    assert versions(following.wait(0)) == [1, 2]


def test_a_long_history_is_delivered_in_pages(scene: Scene) -> None:
    scene.move(150)
    following = scene.follow()
    pages = [following.poll(), following.wait(0)]
    assert [len(versions(page)) for page in pages] == [100, scene.version - 100]
    assert following.wait(0) is None


def test_a_shutdown_ends_a_wait_and_all_later_ones(scene: Scene, following: EventSubscription) -> None:
    following.poll()
    following.shutdown()
    assert following.wait(60) is None
    assert following.closing
    for notification in scene.move():
        scene.feed.publish(notification)
    assert following.wait(60) is None


def test_a_closed_subscription_gets_nothing(scene: Scene, following: EventSubscription) -> None:
    assert len(scene.feed.listeners) == 1
    following.close()
    assert scene.feed.listeners == []


def test_a_seat_that_catches_up_gets_nothing_after_its_new_token(scene: Scene) -> None:
    following, other = scene.follow(2, 0), scene.follow(2, 1)
    entered = scene.enter(0)
    scene.change_token(0)
    scene.change_token(1)
    assert versions(following.wait(0)) == [3]
    assert following.finished
    assert scene.games.queries.events(entered, 2, 100).events[-1].event == TokenChanged(0)
    assert versions(other.wait(0)) == [3, 4]


def test_a_reset_after_a_new_token_is_refused_to_the_old_one(scene: Scene) -> None:
    following, public = scene.follow(1000, 0), scene.follow(1000)
    scene.change_token(0)
    with pytest.raises(Unauthorized):
        following.wait(0)
    page = public.wait(0)
    assert page is not None
    assert isinstance(page.events[0].event, Reset)


def test_a_game_without_events_for_its_whole_lifetime_is_looked_up(scene: Scene, following: EventSubscription) -> None:
    following.poll()
    scene.time = 2 * TTL
    assert following.wait(0) is None
    following._read_at = 0.0
    assert following.wait(0) is None  # nobody waits longer for the look
    with pytest.raises(NotFound):
        following.wait(0)


def test_a_closed_subscription_is_freed_at_once(scene: Scene) -> None:
    following = scene.follow(2)
    left = weakref.ref(following)
    gc.disable()
    try:
        following.close()
        del following
        assert left() is None
    finally:
        gc.enable()


def test_a_new_token_ends_a_stream_even_if_a_failover_lost_its_event(scene: Scene) -> None:
    early = dict(scene.store._games)
    scene.move(4)
    following = scene.follow(scene.version, 0)
    scene.store._games.update(early)
    page = following.wait(0)
    assert page is not None
    assert isinstance(page.events[0].event, Reset)
    assert page.version == 2
    scene.change_token(0)
    scene.change_token(1)
    assert versions(following.poll()) == [3]
    assert following.finished


def test_a_version_yet_to_come_is_no_cursor_even_when_it_is_reached(scene: Scene) -> None:
    following = scene.follow(scene.version + 2, 0)
    scene.move(3)
    page = following.wait(0)
    assert page is not None
    assert isinstance(page.events[0].event, Reset)
