"""The clock of a process follows that of the store where the two differ by too much."""

from __future__ import annotations

import logging
import threading
from time import time_ns

import pytest
import redis

from service.redis import server_clock
from service.redis.errors import StorageUnavailable
from service.redis.server_clock import MEASURE_SECONDS, REPEAT_SECONDS, TOLERATED_MS, ServerClock, system_clock
from service.redis.topology import SingleNodeTopology, open_topology
from tests.storage.clusters import until
from tests.support.stores.redis_stores import redis_reminders
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

NOON = 1_800_000_000_000


class Scene:
    """A machine and a server, each with a clock, and a network between them."""

    def __init__(self) -> None:
        self.time = 0
        self.set_by = 0
        self.ahead = 0
        self.trip = 0
        self.measurements = 0
        self.away = False
        self.seen: list[float] = []
        self.clock = ServerClock(
            self.server_time,
            local=lambda: self.local() * 1_000_000,
            observe=self.seen.append,
            elapsed=lambda: self.time / 1000,
        )

    def local(self) -> int:
        return NOON + self.time + self.set_by

    def server_time(self) -> int:
        self.measurements += 1
        self.time += self.trip // 2
        now = NOON + self.time + self.ahead
        self.time += self.trip // 2
        if self.away:
            raise StorageUnavailable("connection")
        return now

    def measure(self, ahead: int) -> int:
        """The error of the clock after a measurement with the server so far ahead."""
        self.ahead = ahead
        self.clock.measure()
        return self.clock() - (NOON + self.time)


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.mark.parametrize("ahead", [TOLERATED_MS + 1, -TOLERATED_MS - 1, 90_000, -90_000])
def test_a_clock_that_differs_too_much_is_corrected(scene: Scene, ahead: int) -> None:
    assert scene.measure(ahead) == ahead
    assert scene.seen[-1] == ahead / 1000


@pytest.mark.parametrize("step", [TOLERATED_MS + 1, -TOLERATED_MS - 1, 180_000, -180_000])
def test_when_the_local_clock_is_set_the_time_goes_on_as_before(scene: Scene, step: int) -> None:
    """Also while the store cannot be asked; as soon as it can, the difference is measured anew."""
    assert scene.measure(90_000) == 90_000
    scene.away, scene.set_by, made = True, step, scene.measurements
    for _ in range(3):
        assert scene.clock() == NOON + scene.time + 90_000
        scene.time += 1000
    until(lambda: scene.measurements > made)
    scene.away = False
    assert scene.measure(90_000) == 90_000


def test_a_clock_that_runs_a_little_fast_is_not_taken_for_one_that_was_set(scene: Scene) -> None:
    assert scene.measure(0) == 0
    made = scene.measurements
    for _ in range(10):
        scene.set_by += TOLERATED_MS
        scene.time += 1000
        assert scene.clock() == scene.local()
    assert scene.measurements == made


@pytest.mark.parametrize("ahead", [0, TOLERATED_MS, -TOLERATED_MS])
def test_a_clock_that_differs_a_little_is_left_alone(
    scene: Scene, ahead: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert scene.measure(ahead) == 0
    assert scene.seen[-1] == ahead / 1000
    assert caplog.records == []


def test_the_way_to_the_server_and_back_is_no_difference(scene: Scene) -> None:
    scene.trip = 200
    assert scene.measure(0) == 0
    assert scene.seen[-1] == 0
    assert scene.measure(90_000) == 90_000


def test_an_answer_that_took_long_tells_nothing_and_is_asked_for_again(scene: Scene) -> None:
    scene.measure(90_000)
    scene.seen.clear()
    scene.trip = TOLERATED_MS + 10
    assert scene.measure(0) == 90_000
    assert scene.seen == []
    made = scene.measurements
    scene.trip = 0
    scene.time += REPEAT_SECONDS * 1000 - 1
    scene.clock()
    assert scene.measurements == made
    scene.time += 1
    scene.clock()
    until(lambda: scene.clock() == NOON + scene.time)
    assert scene.measurements == made + 1


def test_a_server_that_is_away_leaves_the_correction_as_it_was(scene: Scene) -> None:
    scene.away = True
    assert scene.measure(90_000) == 0
    scene.away = False
    assert scene.measure(90_000) == 90_000
    scene.away = True
    assert scene.measure(0) == 90_000


def test_each_change_is_told_once(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger=server_clock.__name__)

    def told(ahead: int) -> list[str]:
        caplog.clear()
        scene.measure(ahead)
        return [record.levelname for record in caplog.records if record.name == server_clock.__name__]

    assert told(300) == ["WARNING"]
    assert "0.300 s behind that of Redis" in caplog.text
    assert told(300) == []
    assert told(310) == []
    assert told(-300) == ["WARNING"]
    assert told(0) == ["INFO"]
    assert told(0) == []


def test_a_difference_that_grows_slowly_is_told_again(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    for ahead in range(300, 1_400, 100):
        scene.measure(ahead)
    assert len([record for record in caplog.records if record.name == server_clock.__name__]) == 4


def test_the_difference_is_measured_again_every_minute_of_use(scene: Scene) -> None:
    scene.ahead = 90_000
    scene.clock()
    until(lambda: scene.measurements == 1)
    scene.time += MEASURE_SECONDS * 1000 - 1
    scene.clock()
    scene.time += 1
    scene.clock()
    until(lambda: scene.measurements == 2)
    until(lambda: scene.clock() == NOON + scene.time + 90_000)
    assert scene.measurements == 2


def test_no_call_waits_for_the_server() -> None:
    answer = threading.Event()

    def slow() -> int:
        answer.wait(PATIENCE)
        return system_clock()

    assert ServerClock(slow, local=lambda: NOON * 1_000_000, observe=lambda _: None)() == NOON
    answer.set()


def test_the_time_of_a_real_server_is_followed(shared_client: redis.Redis) -> None:
    queue = redis_reminders(SingleNodeTopology(shared_client))
    seen: list[float] = []
    clock = ServerClock(queue.server_time, local=lambda: time_ns() - 3_600_000_000_000, observe=seen.append)

    def is_measured() -> bool:
        """Whether an answer came soon enough to tell the difference."""
        clock.measure()
        return bool(seen)

    until(is_measured)
    before = queue.server_time()
    now = clock()
    assert before - TOLERATED_MS <= now <= queue.server_time() + TOLERATED_MS


def test_a_real_server_that_is_away_changes_nothing() -> None:
    clock = ServerClock(
        redis_reminders(open_topology("redis://127.0.0.1:1")).server_time,
        local=lambda: NOON * 1_000_000,
        observe=lambda _: None,
    )
    clock.measure()
    assert clock() == NOON
