"""After an outage: a held deadline over HTTP, at the same version."""

from __future__ import annotations

import pytest

from tests.api.client import Api
from tests.api.timed import milliseconds
from tests.support.application import create_app
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

pytestmark = pytest.mark.gate

TTL = 86_400
START = 1_800_000_000_000


def test_who_has_the_view_of_before_an_outage_gets_the_deadline_that_is_applied() -> None:
    now = START
    store = MemoryStore(TTL, lambda: now / 1000)
    games = build_games(store, store, [b"s"], TTL, clock=lambda: now, reminders=store)
    api = Api(create_app(games).test_client(use_cookies=False))
    table = api.create("domino", 2, clock={"turn": 60})
    store.beat()
    paths = ["", "/moves", "?text=true"]

    def tags() -> list[str]:
        return [table.get(path, 0).headers["ETag"] for path in paths]

    def statuses(known: list[str]) -> list[int]:
        return [table.get(path, 0, If_None_Match=tag).status_code for path, tag in zip(paths, known, strict=True)]

    before, first = tags(), api.view(table, 0)
    assert statuses(before) == [304] * 3
    now += 90_000
    store.beat()
    assert statuses(before) == [200] * 3
    view = api.view(table, 0)
    assert view["version"] == first["version"]
    assert milliseconds(view["turn"]["deadline"]) == now + 90_000 - 1000
    assert table.get("/moves", 0).get_json()["turn"] == view["turn"]
    assert statuses(tags()) == [304] * 3
