"""Requests whose cost grows with the history of a game: counted, cached, and interrupted for other requests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from random import Random
from typing import Any

import pytest
from werkzeug.test import TestResponse

from service.web.quotas import EVENTS_PER_READ, SENTENCES_PER_READ, limit_reads
from tests.api.client import Api
from tests.api.followers import Event, events_in, stream
from tests.support.application import create_app, rate_limits
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore
from tests.support.table import reached, seat_to_move

pytestmark = pytest.mark.gate

LENGTH = 6 * EVENTS_PER_READ
TTL_SECONDS = 3600
TEXT = {"Accept": "text/plain"}


class LongGame:
    """A game with many events on an application whose reads of events and yields are counted."""

    def __init__(self, **options: Any) -> None:
        self.reads: list[int] = []
        self.yields = 0
        self.limits = rate_limits(read=0)
        store = MemoryStore(TTL_SECONDS)
        games = build_games(
            store,
            store,
            clock=lambda: 1_800_000_000_000,
            random_bytes=Random(1).randbytes,
            secrets=[b"secret"],
            ttl_seconds=TTL_SECONDS,
            yield_control=self._yield,
            admit_read=self._admit,
        )
        app = create_app(games, limits=self.limits, yield_control=self._yield)
        self.api = Api(app.test_client(use_cookies=False))
        self.table = self.api.create("domino", 2, options={"limit": 1000}, **options)
        self._first_seat = seat_to_move(self.api.view(self.table))
        self._first_move = self.api.moves(self.table, self._first_seat)[0]
        assert self.make_first_move().status_code == 201
        self.play_to(LENGTH)
        self.reads.clear()
        self.yields = 0

    def play_to(self, version: int) -> None:
        self.api.play_until(self.table, reached(version), Random(2))

    def make_first_move(self) -> TestResponse:
        """Make the first move of the game, or repeat that request."""
        return self.api.move(self.table, self._first_seat, self._first_move, headers={"Idempotency-Key": "first"})

    def get(self, resource: str, headers: dict[str, str] | None = None) -> TestResponse:
        return self.api.get(self.table.path + resource, headers=headers or {})

    def play_on(self) -> None:
        self.play_to(self.api.view(self.table)["version"] + 1)

    def _yield(self) -> None:
        self.yields += 1

    def _admit(self, events: int) -> None:
        self.reads.append(events)
        limit_reads(self.limits, events, per_read=EVENTS_PER_READ)


Read = Callable[[LongGame], TestResponse]
READS: dict[str, Read] = {
    "record": lambda game: game.get("/record", TEXT),
    "record as JSON": lambda game: game.get("/record", {"Accept": "application/json"}),
    "fairness": lambda game: game.get("/fairness"),
    "repeated move": lambda game: game.make_first_move(),
    "view at an earlier version": lambda game: game.get(f"/events?view=true&after={LENGTH // 2}&limit=1"),
}


@pytest.fixture(scope="module")
def game() -> LongGame:
    return LongGame()


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_a_long_history_is_read_once_for_a_version_and_viewer(read: Read, game: LongGame) -> None:
    game.play_on()
    game.reads.clear()
    game.yields = 0
    first = read(game)
    assert len(game.reads) == 1
    assert game.reads[0] >= LENGTH
    assert game.yields >= LENGTH // EVENTS_PER_READ
    assert read(game).data == first.data
    assert len(game.reads) == 1, "the second one is cached"


def test_a_long_history_is_streamed_whole_and_followed_by_one_view(game: LongGame) -> None:
    version = game.api.view(game.table)["version"]
    game.reads.clear()
    with closing(stream(game.api, game.table, None, "?view=true")) as received:
        items: list[Event] = []
        for chunk in received.iter_encoded():
            items += events_in(chunk)
            if items and items[-1]["type"] == "view":
                break
    assert [item["version"] for item in items] == [*range(1, version + 1), version]
    assert items[-1]["game"] == game.api.view(game.table)
    assert sum(game.reads) <= version, "no view was rebuilt"


def test_a_table_of_the_past_is_made_of_the_events_of_its_round(game: LongGame) -> None:
    game.play_on()
    game.reads.clear()
    for _ in range(2):
        assert game.get(f"/board.json?version={LENGTH // 2}").status_code == 200
    assert 0 < sum(game.reads) < LENGTH // 2


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_reads_of_long_histories_are_limited(read: Read, game: LongGame, monkeypatch: pytest.MonkeyPatch) -> None:
    game.play_on()
    units = game.api.view(game.table)["version"] // EVENTS_PER_READ
    monkeypatch.setattr(game, "limits", rate_limits(read=2 * units, clock=lambda: 60.0))
    statuses = []
    for _ in range(3):
        game.play_on()
        statuses.append(read(game).status_code)
    assert statuses[0] < 300
    assert statuses[1:] == [statuses[0], 429]
    assert game.api.get(game.table.path).status_code == 200


def test_pages_of_many_events_are_limited_by_address_and_yield(game: LongGame) -> None:
    app = game.api.client.application
    limited = rate_limits(read=LENGTH // EVENTS_PER_READ + 1, clock=lambda: 60.0)
    services = app.extensions["domino"]
    app.extensions["domino"] = services._replace(limits=limited)
    game.yields = 0
    try:
        path = f"{game.table.path}/events?limit=1000"
        assert game.api.get(path).status_code == 200
        assert game.yields >= LENGTH // EVENTS_PER_READ
        assert game.api.get(path).status_code == 429
        assert game.api.get(path, headers={"Accept": "text/event-stream"}).status_code == 429
        newest = game.api.view(game.table)["version"]
        assert game.api.get(f"{path}&after={newest - 5}").status_code == 200
    finally:
        app.extensions["domino"] = services


def test_events_that_are_told_in_sentences_count_more(game: LongGame) -> None:
    app = game.api.client.application
    services = app.extensions["domino"]
    newest = game.api.view(game.table)["version"]
    path = f"{game.table.path}/events?after={newest - 2 * SENTENCES_PER_READ}"
    app.extensions["domino"] = services._replace(limits=rate_limits(read=2, clock=lambda: 60.0))
    try:
        for query, status in (("", 200), ("&text=true", 200), ("&text=true", 429), ("", 200)):
            assert game.api.get(f"{path}{query}").status_code == status
        assert game.api.get(f"{path}&text=true", headers={"Accept": "text/event-stream"}).status_code == 429
    finally:
        app.extensions["domino"] = services


def test_the_fairness_of_an_arranged_game_is_known_without_its_history() -> None:
    game = LongGame(seed="a rainy evening")
    assert not game.get("/fairness").get_json()["provable"]
    assert game.reads == []


def test_another_viewer_and_another_version_get_their_own_response(game: LongGame) -> None:
    spectator = game.get("/record", TEXT)
    seats = [game.table.get("/record", seat, Accept="text/plain") for seat in game.table.tokens]
    assert len({spectator.data, *(each.data for each in seats)}) == 3
    game.play_on()
    assert game.get("/record", TEXT).data != spectator.data
