"""What the store holds, and what happens when it holds something else."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from service.engine.deal import ArrangedDeal, Deck, cut, seed_from_text, shuffle
from service.engine.tiles import double_set
from service.games.codec import decode_game
from service.storage import keys
from service.storage.connection import connect
from service.storage.redis_store import RedisStore
from tests.api.client import Api, Table


def arranged(rounds: int) -> list[dict[str, Any]]:
    deals = []
    for number in range(1, rounds + 1):
        hands, stock = cut(shuffle(double_set(6), seed_from_text("stored"), number, 0), [7, 7])
        deals.append(
            {"hands": [[tile.name for tile in hand] for hand in hands], "stock": [tile.name for tile in stock]}
        )
    return deals


def finish_round(api: Api, table: Table) -> None:
    view = api.view(table)
    while view["status"] == "playing":
        seat = view["turn"]["seat"]
        answer = api.move(table, seat, api.view(table, seat)["legal_moves"][0])
        view = answer.get_json()


def test_a_score_whose_events_are_gone_is_a_game_that_is_gone(api: Api, redis_url: str) -> None:
    table = api.create("domino", 2, seed="gone")
    finish_round(api, table)
    assert api.score(table)["rounds"]
    connect(redis_url).delete(keys.events(table.id))
    answer = api.get(f"/v1/games/{table.id}/score")
    assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_game_of_a_newer_service_is_not_served_by_this_one(api: Api, redis_url: str, place: int) -> None:
    table = api.create("domino", 2)
    client = connect(redis_url)
    kept: Any = client.get(keys.state(table.id))
    version, _, state = kept.partition(b" ")
    fields = orjson.loads(state)
    fields[place] = "a sixth game" if place == 1 else 99
    newer = version + b" " + orjson.dumps(fields)
    client.set(keys.state(table.id), newer)
    for path in ("", "/moves", "/score"):
        answer = api.get(f"/v1/games/{table.id}{path}", token=table.tokens[0])
        assert (answer.status_code, answer.get_json()["code"]) == (503, "storage_unavailable")
        assert int(answer.headers["Retry-After"]) > 0
    assert client.get(keys.state(table.id)) == newer


def test_a_deal_that_has_been_dealt_is_not_kept_any_longer(api: Api, store: RedisStore) -> None:
    table = api.create("domino", 2, deals=arranged(3))

    def kept() -> tuple[ArrangedDeal, ...]:
        stored = store.read(table.id)
        assert stored is not None
        return decode_game(table.id, stored.version, stored.state).deck.arranged

    assert [bool(deal.hands) for deal in kept()] == [False, True, True]
    finish_round(api, table)
    api.move(table, 0, {"action": "deal"})
    assert [bool(deal.hands) for deal in kept()] == [False, False, True]


def test_a_deck_without_arranged_deals_has_none_to_leave_out() -> None:
    deck = Deck(b"x" * 32)
    assert deck.without_spent(3) is deck


def test_a_round_is_not_dealt_to_one_player(api: Api) -> None:
    deals = arranged(2)
    deals[1]["stock"] += deals[1]["hands"][1]
    deals[1]["hands"][1] = []
    players = [{"name": "Ada"}, {"name": "Bo"}]
    answer = api.post("/v1/games", {"variant": "domino", "players": players, "deals": deals})
    assert answer.status_code == 422
    assert list(answer.get_json()["errors"]) == ["deals.1"]
