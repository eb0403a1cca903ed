"""Deleted games leave the memory of a process, whatever it missed."""

from __future__ import annotations

from collections.abc import Container

import pytest

from service.games.automation.deletions import AGAIN_SECONDS, POLL_SECONDS, DeletedGames
from service.games.model.errors import Gone
from service.games.ports import DELETIONS_KEPT_MS, RecentDeletions
from service.games.store.codec import decode_game, encode_tombstone
from service.redis.errors import StorageUnavailable
from service.redis.shards import with_shard
from tests.storage.write_requests import write
from tests.support.stores.memory_store import MemoryStore

KEPT_SECONDS = DELETIONS_KEPT_MS / 1000


class Storage(MemoryStore):
    """A store whose clock is that of the process, too; it may be away, or tell only a part."""

    def __init__(self) -> None:
        self.time = 1_000_000.0
        self.away = False
        self.complete = True
        self.asked: list[int] = []
        super().__init__(10_000_000, lambda: self.time)

    def elapsed(self) -> float:
        return self.time

    def deleted(self, within: int) -> RecentDeletions:
        if self.away:
            raise StorageUnavailable("away")
        self.asked.append(within)
        return super().deleted(within)._replace(complete=self.complete)


class Process:
    """What a process drops."""

    def __init__(self, storage: Storage) -> None:
        self.dropped: list[Container[str]] = []
        self.deleted = DeletedGames(storage, storage.elapsed)
        self.deleted.on_deletion(self.dropped.append)

    def drops(self, game: str) -> bool:
        """Whether a poll drops this game."""
        self.dropped.clear()
        self.deleted.poll()
        return any([game in each for each in self.dropped])


@pytest.fixture
def storage() -> Storage:
    return Storage()


@pytest.fixture
def process(storage: Storage) -> Process:
    return Process(storage)


def deleted_game(storage: Storage, name: str = "a game") -> str:
    game = with_shard(name.ljust(22, "x").replace(" ", "-"))
    storage.create(game, b"a state", [b"created"], write())
    storage.delete(game, encode_tombstone("an application"), 0, "")
    return game


def test_a_deletion_is_noticed_within_two_seconds_without_a_notification() -> None:
    assert 2 * POLL_SECONDS <= 2  # a look begins so soon after the last one, and takes a part of a second


def test_a_deleted_game_is_dropped_with_the_next_poll(storage: Storage, process: Process) -> None:
    assert not process.drops(with_shard("a-game".ljust(22, "x")))
    game = deleted_game(storage)
    storage.time += 1
    assert process.drops(game)
    assert not any(["another" in each for each in process.dropped])


def test_a_deleted_game_is_dropped_again_for_a_while(storage: Storage, process: Process) -> None:
    game = deleted_game(storage)
    for _ in range(int(AGAIN_SECONDS)):
        storage.time += 1
        assert process.drops(game)
    storage.time += 2
    process.deleted.poll()
    assert not process.drops(game)


def test_a_game_from_which_a_player_was_erased_is_dropped_apart(storage: Storage, process: Process) -> None:
    """What is about to be done in it goes on: only what is kept of it is dropped."""
    erased: list[Container[str]] = []
    process.deleted.on_erasure(erased.append)
    process.deleted.record_erasure("a game")
    for _ in range(int(AGAIN_SECONDS)):
        storage.time += 1
        assert not process.drops("a game")
        assert "a game" in erased[-1]
        assert "another" not in erased[-1]
    storage.time += KEPT_SECONDS + 1
    process.deleted.poll()
    assert "another" in erased[-1]


def test_what_was_deleted_during_an_outage_is_dropped_after_it(storage: Storage, process: Process) -> None:
    game = deleted_game(storage)
    storage.away = True
    for _ in range(300):
        storage.time += 1
        assert not process.drops(game)
    storage.away = False
    assert process.drops(game)
    assert "another" not in process.dropped[0]


def test_after_an_outage_that_was_too_long_everything_is_dropped(storage: Storage, process: Process) -> None:
    game = deleted_game(storage)
    storage.time += KEPT_SECONDS + 1
    assert process.drops(game)
    assert "any other" in process.dropped[0]
    storage.time += 1
    assert not process.drops(game), "only once"


def test_what_a_part_of_the_servers_tells_is_dropped_and_asked_for_again(storage: Storage, process: Process) -> None:
    game = deleted_game(storage)
    storage.complete = False
    for _ in range(100):
        storage.time += 1
        assert process.drops(game)
    storage.complete = True
    assert process.drops(game)
    storage.time += 1
    assert not process.drops(game)


def test_no_question_goes_further_back_than_the_store_tells(storage: Storage, process: Process) -> None:
    storage.time += 10 * KEPT_SECONDS
    process.deleted.poll()
    assert storage.asked == [DELETIONS_KEPT_MS]


def test_the_store_is_asked_once_a_second(storage: Storage, process: Process) -> None:
    for _ in range(100):
        storage.time += 0.1
        process.deleted.poll_if_due()
    assert POLL_SECONDS == 1
    assert 9 <= len(storage.asked) <= 11


# Tombstones


def test_a_tombstone_is_read_as_gone() -> None:
    with pytest.raises(Gone) as gone:
        decode_game("a game", 17, encode_tombstone("an application"))
    assert (gone.value.version, gone.value.app) == (17, "an application")
    assert "an application" not in str(gone.value)
