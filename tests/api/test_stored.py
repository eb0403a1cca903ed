"""Stored games: their format, and games that are missing or of a newer service."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from random import Random
from typing import Any

import orjson
import pytest
import redis

from service.engine.deal import ArrangedDeal, Deck, seed_from_text, shuffle, split
from service.engine.tiles import double_set
from service.engine.variants import variants
from service.games.store.checksums import SUM_CHARS, with_sum
from service.games.store.codec import decode_game
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.redis.connection import connect
from tests.api.client import Api, invalid_fields, status_and_code
from tests.api.keyed_moves import play_with_keys
from tests.api.saved_games import SEED, SavedGames, Snapshot, restore, shortest, take_snapshot, variants_in_lane
from tests.support.table import round_over

pytestmark = pytest.mark.gate


def arranged(rounds: int) -> list[dict[str, Any]]:
    deals = []
    for number in range(1, rounds + 1):
        hands, stock = split(shuffle(double_set(6), seed_from_text("stored"), number, 0), [7, 7])
        dealt = [[tile.name for tile in each] for each in (*hands, stock)]
        deals.append({"hands": dealt[:2], "stock": dealt[2]})
    return deals


def test_a_score_whose_events_are_gone_is_a_game_that_is_gone(api: Api, redis_url: str) -> None:
    table = api.create("domino", 2, seed="gone")
    api.play_until(table, round_over)
    assert api.score(table)["rounds"]
    connect(redis_url).delete(keys.part(b"events", table.id))
    answer = api.get(f"/v1/games/{table.id}/score", token=table.tokens[0])  # for this viewer it is not cached
    assert status_and_code(answer) == (404, "not_found")


@pytest.mark.parametrize(
    ("places", "value"),
    [
        pytest.param([1], 2, id="format"),
        pytest.param([2], "a sixth game", id="variant"),
        pytest.param([3, 8], 99, id="edition"),
    ],
)
def test_a_game_of_a_newer_service_is_not_served_by_this_one(
    api: Api, redis_url: str, places: list[int], value: object
) -> None:
    table = api.create("domino", 2)
    client = connect(redis_url)
    snapshot: Any = client.get(keys.state(table.id))
    version, _, state = snapshot.partition(b" ")
    fields = orjson.loads(state[:-SUM_CHARS])
    *outer, last = places
    reduce(getitem, outer, fields)[last] = value
    newer = version + b" " + with_sum(orjson.dumps(fields))
    client.set(keys.state(table.id), newer)
    asked: list[tuple[str, str, Any]] = [("GET", path, None) for path in ("", "/moves", "/score", "/events")]
    asked += [("POST", "/moves", {"action": "pass"}), ("POST", "/players/0/token", {})]
    for method, path, body in asked:
        for headers in ({}, {"Idempotency-Key": "of-the-older-service"}):
            answer = api.ask(method, table.path + path, json=body, token=table.tokens[0], headers=headers)
            assert status_and_code(answer) == (503, "storage_unavailable")
            assert int(answer.headers["Retry-After"]) > 0
    assert client.get(keys.state(table.id)) == newer


def test_a_damaged_game_is_one_clear_error_and_stays_as_it_is(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"name": "Bo"}])
    snapshot = take_snapshot(server, table.id)
    damaged = snapshot._replace(state=snapshot.state.replace(b"Ada", b"Ida"))
    restore(server, table.id, damaged)
    asked: list[tuple[str, str, Any]] = [("GET", path, None) for path in ("", "/moves", "/score", "/board.svg")]
    for method, path, body in [*asked, ("POST", "/moves", {"action": "pass"})]:
        answer = api.ask(method, table.path + path, json=body, token=table.tokens[0])
        assert (answer.status_code, answer.get_json()["reason"]) == (500, "game_damaged")
    assert take_snapshot(server, table.id) == damaged


def test_a_damaged_history_is_one_clear_error_and_the_game_goes_on(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2, seed="damaged")
    made = []
    for number in range(2):
        seat = api.view(table)["to_act"][0]
        move = api.view(table, seat)["legal_moves"][0]
        made.append((seat, move, {"Idempotency-Key": f"of-a-move-before-the-damage-{number}"}))
        assert api.move(table, *made[-1][:2], headers=made[-1][2]).status_code == 201
    snapshot = take_snapshot(server, table.id)
    created, dealt, *others = snapshot.events
    assert b"[2,0," in dealt
    restore(server, table.id, snapshot._replace(events=[created, dealt.replace(b"[2,0,", b"[2,1,"), *others]))
    seat, move, headers = made[0]
    answers = [api.get(table.path + path) for path in ("/events", "/record", "/events?after=1&limit=1")]
    for answer in (*answers, api.move(table, seat, move, headers=headers)):
        assert (answer.status_code, answer.get_json()["reason"]) == (500, "game_damaged")
    assert api.get(f"{table.path}/events?after=2").status_code == 200
    seat = api.view(table)["to_act"][0]
    assert api.move(table, seat, api.view(table, seat)["legal_moves"][0]).status_code == 201


def test_a_damaged_record_of_a_key_is_one_clear_error(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2, seed="damaged")
    seat = api.view(table)["to_act"][0]
    move = api.view(table, seat)["legal_moves"][0]
    headers = {"Idempotency-Key": "of-a-move-before-the-damage"}
    assert api.move(table, seat, move, headers=headers).status_code == 201
    (record,) = server.scan_iter(f"domino:{{{table.id}}}:key:*")
    stored: Any = server.get(record)
    server.set(record, stored.replace(b" 3 ", b" 2 "))
    answer = api.move(table, seat, move, headers=headers)
    assert (answer.status_code, answer.get_json()["reason"]) == (500, "game_damaged")


def test_an_event_of_a_newer_service_is_not_served_by_this_one(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2)
    snapshot = take_snapshot(server, table.id)
    restore(server, table.id, Snapshot(b"3" + snapshot.state[1:], [*snapshot.events, with_sum(b"anotherid [99,0,1]")]))
    assert [event["version"] for event in api.get(f"{table.path}/events?limit=2").get_json()["events"]] == [1, 2]
    for query in ("", "?after=2"):
        answer = api.get(f"{table.path}/events{query}")
        assert status_and_code(answer) == (503, "storage_unavailable")
        assert int(answer.headers["Retry-After"]) > 0
    (event,) = api.get(f"{table.path}/events?after=99").get_json()["events"]  # which needs no event
    assert event["type"] == "reset"


def test_an_arranged_deal_is_discarded_once_it_was_dealt(api: Api, store: RedisStore) -> None:
    table = api.create("domino", 2, deals=arranged(3))

    def snapshot() -> tuple[ArrangedDeal, ...]:
        stored = store.read(table.id)
        assert stored is not None
        return decode_game(table.id, stored.version, stored.state).deck.arranged

    assert [bool(deal.hands) for deal in snapshot()] == [False, True, True]
    api.play_until(table, round_over)
    api.move(table, 0, {"action": "deal"})
    assert [bool(deal.hands) for deal in snapshot()] == [False, False, True]


def test_a_deck_without_arranged_deals_has_none_to_leave_out() -> None:
    deck = Deck(b"x" * 32)
    assert deck.discard_used(3) is deck


def test_a_round_is_not_dealt_to_one_player(api: Api) -> None:
    deals = arranged(2)
    deals[1]["stock"] += deals[1]["hands"][1]
    deals[1]["hands"][1] = []
    players = [{"name": "Ada"}, {"name": "Bo"}]
    answer = api.post("/v1/games", {"variant": "domino", "players": players, "deals": deals})
    assert invalid_fields(answer) == ["deals.1"]


# Games whose events are compacted


def but_expiry(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name != "expires_at"}


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_packed_game_shows_the_same(api: Api, server: redis.Redis, saved_games: SavedGames, variant: str) -> None:
    _, _, table, snapshot = saved_games.at(variant, "finished")
    assert len(snapshot.events) < len(snapshot.unpacked_events)
    cursors = [0, 1, snapshot.version // 2, *range(snapshot.version - 6, snapshot.version + 3)]
    asked = ["", "/score", "/moves", "/fairness", "/record", "/events?limit=1000"]
    asked += [f"/events?after={after}&limit={limit}" for after in cursors for limit in (1, 3, 100)]
    tokens = (None, table.tokens[0])

    def shown() -> list[tuple[int, dict[str, Any]]]:
        json_only = {"Accept": "application/json"}
        answers = [api.get(table.path + path, token=token, headers=json_only) for path in asked for token in tokens]
        return [(answer.status_code, but_expiry(answer.get_json())) for answer in answers]

    packed = shown()
    restore(server, table.id, Snapshot(snapshot.state, snapshot.unpacked_events))
    assert packed == shown()


@pytest.mark.parametrize("variant", variants_in_lane())
def test_an_answer_is_repeated_from_packed_events(api: Api, server: redis.Redis, variant: str) -> None:
    table = api.create(variant, variants()[variant].players.low, seed=SEED, options=shortest(variant))
    made = play_with_keys(api, table, Random(SEED))
    assert take_snapshot(server, table.id).events[0].startswith(b"*")
    for seat, move, headers, first in [*made[:3], *made[-3:]]:
        again = api.move(table, seat, move, headers=headers)
        assert (again.status_code, again.data, again.headers["Idempotent-Replayed"]) == (201, first.data, "true")
