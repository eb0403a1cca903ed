"""The store is asked at most once a second whether games can be written, however often the service is asked."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.games.store.stats import VALID_MS, ReusedResult
from service.redis.errors import StorageUnavailable
from tests.support.stores.memory_store import MemoryStore
from tests.support.waiting import PATIENCE


class Store(MemoryStore):
    """Counts its checks, and may fail them."""

    def __init__(self) -> None:
        super().__init__(3600)
        self.checks = 0
        self.available = True

    def check(self) -> None:
        self.checks += 1
        if not self.available:
            raise StorageUnavailable("OOM", 5)


class Clock:
    now = 1_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_check_is_valid_for_a_second(store: Store, clock: Clock) -> None:
    readiness = ReusedResult(store.check, clock)
    for _ in range(3):
        readiness.get()
    assert store.checks == 1
    clock.now += VALID_MS
    readiness.get()
    assert store.checks == 2


def test_a_failure_is_valid_for_a_second_too(store: Store, clock: Clock) -> None:
    readiness = ReusedResult(store.check, clock)
    store.available = False
    for _ in range(2):
        with pytest.raises(StorageUnavailable) as error:
            readiness.get()
        assert (error.value.reason, error.value.retry_after) == ("OOM", 5)
        store.available = True
    assert store.checks == 1
    clock.now += VALID_MS
    readiness.get()


def test_a_clock_that_was_set_back_does_not_keep_an_old_answer(store: Store, clock: Clock) -> None:
    readiness = ReusedResult(store.check, clock)
    readiness.get()
    clock.now -= 3_600_000
    readiness.get()
    assert store.checks == 2


def test_callers_at_the_same_time_share_one_slow_check(store: Store, clock: Clock) -> None:
    began, go_on = threading.Event(), threading.Event()

    class SlowStore(Store):
        def check(self) -> None:
            super().check()
            began.set()
            go_on.wait(PATIENCE)
            clock.now += 2 * VALID_MS

    slow = SlowStore()
    readiness = ReusedResult(slow.check, clock)
    with ThreadPoolExecutor(5) as threads:
        asked = [threads.submit(readiness.get) for _ in range(5)]
        began.wait(PATIENCE)
        go_on.set()
        for each in asked:
            each.result(PATIENCE)
    assert slow.checks == 1
