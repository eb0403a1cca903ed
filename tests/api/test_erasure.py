"""A person of an application is erased from all its games, whatever happens meanwhile, and nothing else is."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from random import Random
from typing import Any
from urllib.parse import unquote

import pytest
import redis

from service.backends import erasures as erasures_module
from service.backends import store as redis_backends
from service.backends.facade import BackendsFacade
from service.games.model.game import Game
from service.games.model.schedule import bot_turn
from service.games.store.checksums import with_sum
from service.games.store.redis_store import RedisStore
from service.redis import keys
from tests.api.client import Api, Table, status_and_code
from tests.api.conftest import TTL_SECONDS
from tests.api.erasing import Eraser, end_leases
from tests.api.followers import SSE, events_in, everything, rest_of_stream, stream
from tests.api.redis_contents import clear, keys_with
from tests.api.saved_games import decoded, shortest, take_snapshot
from tests.support.table import Json, match_finished, round_over, seat_to_move

pytestmark = pytest.mark.gate

Publish = Callable[[], None]
MARK = "marked-4711"
ADA = {"name": f"Ada {MARK}", "ref": f"user-ada-{MARK}"}
BOB, CLEO = {"name": "Bob", "ref": "user-bob"}, {"name": "Cleo", "ref": "user-cleo"}
PERSON = f"/v1/players/{ADA['ref']}"
KEY = {"Idempotency-Key": "a-key-that-nobody-guesses-0815"}
PHASES = (
    "waiting",
    "public",
    "open",
    "playing",
    "away",
    "with a clock",
    "with bots",
    "round over",
    "finished",
    "forked",
    "forked and waiting",
    "two seats",
)


@pytest.fixture(autouse=True)
def _alone(server: redis.Redis) -> None:
    """Without the games of other tests, all of what the server holds can be searched."""
    clear(server)


@pytest.fixture
def eraser(redis_url: str) -> Eraser:
    return Eraser(redis_url, TTL_SECONDS)


def owned(api: Api, key: str, players: Any = (ADA, BOB), **more: Any) -> Table:
    body = {"variant": "domino", "players": list(players), "ref": "match-1", **more}
    body = {name: value for name, value in body.items() if value is not None}
    return Table(api, told(api.post("/v1/games", body, token=key, headers=KEY if "ref" in more else {}), 201))


def told(answer: Any, status: int = 200) -> Json:
    assert answer.status_code == status, answer.text
    body: Json = answer.get_json()
    return body


def in_phase(api: Api, key: str, phase: str) -> Table:
    """A game of the application in this phase; the person has the first seat."""
    match phase:
        case "waiting":
            return owned(api, key, [ADA, {"open": True}])
        case "public":
            return owned(api, key, [ADA, {"open": True}], lobby="all")
        case "open":
            return owned(api, key, [{"open": True, "ref": ADA["ref"]}, BOB])
        case "with bots":
            return owned(api, key, [ADA, {"bot": "greedy"}, {"bot": "random"}])
        case "two seats":
            return owned(api, key, [ADA, BOB, {**ADA, "name": f"Ada {MARK} again"}, CLEO], variant="kozel")
        case "with a clock" | "away":
            table = owned(api, key, clock={"bank": 600, "increment": 5})
            if phase == "away":
                told(api.put(f"{table.path}/players/0/presence", {"away": True}, token=table.tokens[0]))
            return table
        case "forked" | "forked and waiting":
            source = api.create("domino", 2)
            api.play_until(source, round_over, Random(1))
            record = api.get(f"{source.path}/record", headers={"Accept": "text/plain"}).text
            players = [ADA, BOB if phase == "forked" else {"open": True}]
            return owned(api, key, players, variant=None, continues={"record": record})
    table = owned(api, key, options=shortest("domino") if phase == "finished" else {})
    if phase == "round over":
        api.play_until(table, round_over, Random(1))
    elif phase == "finished":
        api.play_until(table, match_finished, Random(1))
    return table


def erase(api: Api, key: str, ref: str = ADA["ref"]) -> None:
    answer = api.delete(f"/v1/players/{ref}", token=key)
    assert (answer.status_code, answer.data) == (202, b"")


def is_gone(api: Api, key: str, ref: str = ADA["ref"]) -> bool:
    answer = api.get(f"/v1/players/{ref}", token=key)
    if answer.status_code == 404:
        assert status_and_code(answer) == (404, "not_found")
        return True
    assert answer.status_code == 200, answer.text
    return False


def stored(server: redis.Redis, table: Table) -> Game:
    return decoded(table.id, take_snapshot(server, table.id))


def spelled(token: str) -> list[bytes]:
    """A token as it may be stored."""
    return [token.encode(), b64encode(sha256(token.encode()).digest())]


def join(api: Api, table: Table, name: str = "Bob", **headers: Any) -> Json:
    body = {"name": name, "join_code": table.join_code}
    return told(api.post(f"{table.path}/players", body, **headers), 201)


# ── What becomes of a game ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lags", [False, True], ids=["listed", "not yet listed"])
@pytest.mark.parametrize("phase", PHASES)
def test_nothing_of_a_person_is_left_in_any_game(
    api: Api, *, app_key: str, server: redis.Redis, eraser: Eraser, publish: Publish, phase: str, lags: bool
) -> None:
    hook = {"url": "https://club.example/hooks", "events": ["game.turn", "game.joined"]}
    told(api.post("/v1/webhooks", hook, token=app_key, headers=KEY), 201)
    table = in_phase(api, app_key, phase)
    before, state = api.get(table.path, token=app_key).get_json(), stored(server, table).state
    if not lags:
        publish()
    assert keys_with(server, MARK.encode())

    erase(api, app_key)
    assert not is_gone(api, app_key)
    eraser.run()

    assert is_gone(api, app_key)
    assert keys_with(server, MARK.encode()) == []
    ada = [seat for seat, each in enumerate(before["players"]) if each.get("ref") == ADA["ref"]]
    assert ada
    for seat in set(ada) & set(table.tokens):
        assert [each for text in spelled(table.tokens[seat]) for each in keys_with(server, text)] == []
        assert status_and_code(api.get(table.path, token=table.tokens[seat])) == (401, "unauthorized")
    view = api.get(table.path, token=app_key).get_json()
    for seat, (was, now) in enumerate(zip(before["players"], view["players"], strict=True)):
        if seat not in ada:
            assert now == was
            if seat in table.tokens:
                assert api.get(table.path, token=table.tokens[seat]).status_code == 200
        else:
            named = {} if was["kind"] == "open" else {"name": f"Player {seat + 1}"}
            same = {name: value for name, value in was.items() if name not in ("name", "ref", "away", "bank")}
            assert {name: value for name, value in now.items() if name not in ("away", "bank")} == {**same, **named}
    assert stored(server, table).state == state
    publish()
    (listed,) = api.get("/v1/games", token=app_key).get_json()["games"]
    assert [each.get("name") for each in listed["players"]] == [each.get("name") for each in view["players"]]
    assert MARK not in api.get("/v1/feed", token=app_key).text + api.get("/v1/lobby").text + str(everything(api, table))


@pytest.mark.parametrize("phase", ["playing", "with a clock", "round over", "forked"])
def test_a_computer_player_goes_on_and_the_events_say_so(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser, phase: str
) -> None:
    table = in_phase(api, app_key, phase)
    version = api.view(table)["version"]
    erase(api, app_key)
    eraser.run()
    new = [event for event in everything(api, table) if event["version"] > version]
    assert [(each["type"], each["seat"], each["data"]) for each in new] == [
        ("left", 0, {}),
        ("renamed", 0, {"name": "Player 1"}),
        ("token_changed", 0, {}),
    ]
    for _ in range(30):
        game = stored(server, table)
        if game.state.turn == 0:
            turn = bot_turn(game)
            assert turn is not None
            assert (turn.seat, turn.level) == (0, "greedy")
            assert eraser.reminders.is_set("bots", table.id, game.tenant)
            return
        if game.state.turn is None:  # between two rounds whoever is present deals
            told(api.post(f"{table.path}/moves", {"action": "deal"}, token=table.tokens[1]), 201)
        else:
            api.make_legal_move(table)
    pytest.fail("it never was the turn of that seat")


@pytest.mark.parametrize("phase", ["away", "finished", "open"])
def test_whoever_does_not_play_does_not_leave(api: Api, app_key: str, eraser: Eraser, phase: str) -> None:
    if phase == "finished":
        table = finished(api, app_key, (ADA, {**ADA, "name": f"Ada {MARK} too"}))  # one of the seats has won
    else:
        table = in_phase(api, app_key, phase)
    version = api.view(table)["version"]
    erase(api, app_key)
    eraser.run()
    new = [event["type"] for event in everything(api, table) if event["version"] > version]
    expected = {"open": ["renamed"], "away": ["renamed", "token_changed"], "finished": ["renamed", "token_changed"] * 2}
    assert new == expected[phase]


@pytest.mark.parametrize("phase", ["waiting", "forked and waiting"])
def test_before_the_first_deal_a_computer_player_waits_for_it(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser, phase: str
) -> None:
    table = in_phase(api, app_key, phase)
    erase(api, app_key)
    eraser.run()
    version = api.view(table)["version"]
    assert [event["type"] for event in everything(api, table)][-2:] == ["renamed", "token_changed"]
    assert "left" not in [event["type"] for event in everything(api, table)]
    assert api.view(table)["status"] == "waiting"
    joined = join(api, table, headers=KEY)
    table.tokens = {1: joined["token"]}
    types = [event["type"] for event in everything(api, table) if event["version"] > version]
    assert types == ["joined", *(["dealt"] if phase == "waiting" else []), "left"]
    assert joined["game"]["players"][0]["away"]
    again = join(api, table, headers=KEY)
    assert (again["seat"], again["token"], again["name"]) == (1, joined["token"], "Bob")
    game = stored(server, table)
    assert game.presence.away == {0}
    if game.state.turn is not None and game.state.turn != 0:
        api.make_legal_move(table)
        game = stored(server, table)
    assert bot_turn(game) is not None or game.state.phase == "round_over"


def test_the_streams_of_the_seat_end_and_those_of_others_go_on(api: Api, app_key: str, eraser: Eraser) -> None:
    table = owned(api, app_key)
    follower, other = [stream(api, table, seat, headers=SSE) for seat in (0, 1)]
    erase(api, app_key)
    eraser.run()
    assert "token_changed" in [each["type"] for each in events_in(rest_of_stream(follower))]
    chunks = other.iter_encoded()
    seen: list[Json] = []
    while not seen or seen[-1]["type"] != "token_changed":
        seen += events_in(next(chunks))
    assert {"name": "Player 1"} in [each["data"] for each in seen]
    assert MARK not in str(seen)
    other.close()


def test_where_names_are_unique_the_new_one_is_too(api: Api, app_key: str, eraser: Eraser) -> None:
    players = [ADA, {"name": "player 1"}, {"name": "Player 3"}, {**ADA, "name": "Ada too"}]
    table = owned(api, app_key, players, unique_names=True)
    same = owned(api, app_key, players)
    erase(api, app_key)
    eraser.run()
    names = [[each["name"] for each in api.view(each)["players"]] for each in (table, same)]
    assert names == [
        ["Player 1 2", "player 1", "Player 3", "Player 4"],
        ["Player 1", "player 1", "Player 3", "Player 4"],
    ]


@pytest.mark.parametrize("phase", ["waiting", "playing", "two seats"])
def test_the_record_of_a_match_from_which_somebody_was_erased_is_sound(
    api: Api, app_key: str, eraser: Eraser, phase: str
) -> None:
    table = in_phase(api, app_key, phase)
    erase(api, app_key)
    eraser.run()
    if phase == "waiting":
        join(api, table)
    record = api.get(f"{table.path}/record", headers={"Accept": "text/plain"}).text
    assert MARK not in record
    assert "Player 1" in record
    verified = told(api.post("/v1/verifications", record))
    # The round that is under way hides its tiles.
    assert {finding["code"] for finding in verified["findings"]} <= {"hidden_tile"}, verified


def test_the_seat_can_be_given_to_somebody_else(api: Api, app_key: str, eraser: Eraser) -> None:
    table = owned(api, app_key)
    erase(api, app_key)
    eraser.run()
    back = api.put(f"{table.path}/players/0/presence", {"away": False}, token=app_key)
    assert status_and_code(back) == (404, "not_found")
    table.tokens[0] = told(api.post(f"{table.path}/players/0/token", token=app_key), 201)["token"]
    told(api.ask("PATCH", f"{table.path}/players/0", json={"name": "Cleo", "ref": "user-cleo"}, token=app_key))
    while seat_to_move(api.view(table)) != 0:
        api.make_legal_move(table)
    api.make_legal_move(table)
    player = api.get(table.path, token=app_key).get_json()["players"][0]
    assert (player["name"], player["ref"], player.get("away", False)) == ("Cleo", "user-cleo", False)


# ── Repeated requests, and rematches ─────────────────────────────────────────────────────────────────────────────────


def test_no_repeated_request_gives_a_name_or_a_token_back(api: Api, app_key: str, eraser: Eraser) -> None:
    body = {"variant": "domino", "players": [ADA, BOB, {"open": True}]}
    table = Table(api, told(api.post("/v1/games", body, token=app_key, headers=KEY), 201))
    joined = join(api, table, f"Joined {MARK}", headers=KEY)
    told(api.ask("PATCH", f"{table.path}/players/2", json={"ref": ADA["ref"]}, token=app_key))
    old = told(api.post(f"{table.path}/players/2/token", token=joined["token"], headers=KEY), 201)["token"]
    told(api.post(f"{table.path}/players/2/token", token=app_key, headers=KEY), 201)
    erase(api, app_key)
    eraser.run()
    again = told(api.post("/v1/games", body, token=app_key, headers=KEY), 201)
    assert [(each["seat"], each["name"], each["token"]) for each in again["seats"]] == [(1, "Bob", table.tokens[1])]
    assert MARK not in str(again)
    code = {"name": f"Joined {MARK}", "join_code": table.join_code}
    assert status_and_code(api.post(f"{table.path}/players", code, headers=KEY)) == (404, "not_found")
    for token in (joined["token"], old):
        changed = api.post(f"{table.path}/players/2/token", token=token, headers=KEY)
        assert status_and_code(changed) == (401, "unauthorized")
    by_owner = api.post(f"{table.path}/players/2/token", token=app_key, headers=KEY)
    assert status_and_code(by_owner) == (404, "not_found")


def finished(api: Api, key: str, players: Any = (ADA, BOB)) -> Table:
    table = owned(api, key, players, options=shortest("domino"))
    api.play_until(table, match_finished, Random(1))
    return table


def test_a_rematch_that_is_asked_for_later_has_nothing_of_a_person(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser
) -> None:
    table = finished(api, app_key, (ADA, BOB, CLEO))
    erase(api, app_key)
    eraser.run()
    assert status_and_code(api.post(f"{table.path}/rematch", token=table.tokens[0])) == (401, "unauthorized")
    first = told(api.post(f"{table.path}/rematch", token=table.tokens[1], headers=KEY), 201)
    again = told(api.post(f"{table.path}/rematch", token=table.tokens[1], headers=KEY), 201)
    assert first == again
    assert first["game"]["version"] == 3
    assert first["game"]["players"][2]["away"]
    new = Table(api, {"game": first["game"], "seats": [first]})
    assert [each["type"] for each in everything(api, new)] == ["created", "dealt", "left"]
    assert [each["name"] for each in api.view(new)["players"]] == ["Bob", "Cleo", "Player 1"]
    assert keys_with(server, MARK.encode()) == []
    game = stored(server, new)
    assert game.seats[2].token_hash is None
    assert game.presence.away == {2}
    told(api.post(f"{table.path}/rematch", token=table.tokens[2]), 201)


def test_a_person_is_erased_from_a_rematch_that_was_begun_before(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser
) -> None:
    table = finished(api, app_key)
    first = told(api.post(f"{table.path}/rematch", token=table.tokens[1], headers=KEY), 201)
    there = told(api.post(f"{table.path}/rematch", token=table.tokens[0]), 201)["token"]
    erase(api, app_key)
    eraser.run()
    assert keys_with(server, MARK.encode()) == []
    new = f"/v1/games/{first['game']['id']}"
    assert status_and_code(api.get(new, token=there)) == (401, "unauthorized")
    again = told(api.post(f"{table.path}/rematch", token=table.tokens[1], headers=KEY), 201)
    assert (again["token"], again["game"]["id"]) == (first["token"], first["game"]["id"])
    assert MARK not in str(again)


@pytest.mark.parametrize("asks", [0, 1], ids=["the person", "another player"])
@pytest.mark.parametrize("told_first", [False, True], ids=["", "told by somebody else"])
def test_a_rematch_that_is_begun_during_the_erasure_has_nothing_of_a_person(
    api: Api,
    app_key: str,
    server: redis.Redis,
    *,
    store: RedisStore,
    eraser: Eraser,
    monkeypatch: pytest.MonkeyPatch,
    asks: int,
    told_first: bool,
) -> None:
    """The old game is read before, and the new one created after."""
    table = finished(api, app_key, (ADA, BOB, CLEO))
    create = store.create
    waiting = [True]

    def late(*arguments: Any, **more: Any) -> Any:
        if not waiting:
            return create(*arguments, **more)
        waiting.clear()
        erase(api, app_key)
        eraser.run()
        created = create(*arguments, **more)
        if told_first:
            told(api.post(f"{table.path}/rematch", token=table.tokens[2]), 201)
        return created

    monkeypatch.setattr(store, "create", late)
    answer = api.post(f"{table.path}/rematch", token=table.tokens[asks])
    assert answer.status_code == (201 if asks else 401)
    assert waiting == []
    assert MARK not in answer.text
    assert keys_with(server, MARK.encode()) == []
    new = told(api.post(f"{table.path}/rematch", token=table.tokens[2]), 201)
    assert [each["name"] for each in new["game"]["players"]].count("Player 3") == 1


def test_nobody_is_erased_from_a_rematch_whose_ref_alone_is_removed_meanwhile(
    api: Api, app_key: str, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = finished(api, app_key)
    create = store.create

    def late(*arguments: Any, **more: Any) -> Any:
        told(api.ask("PATCH", f"{table.path}/players/0", json={"ref": None}, token=app_key))
        return create(*arguments, **more)

    monkeypatch.setattr(store, "create", late)
    new = told(api.post(f"{table.path}/rematch", token=table.tokens[1]), 201)
    assert new["game"]["version"] == 2
    assert ADA["name"] in [each["name"] for each in api.get(f"/v1/games/{new['game']['id']}").get_json()["players"]]


# ── Which games ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_other_person_and_no_other_application_loses_anything(
    api: Api, *, app_key: str, other_key: str, server: redis.Redis, eraser: Eraser, publish: Publish
) -> None:
    mine, theirs = owned(api, app_key), owned(api, other_key)
    similar = owned(api, app_key, [{**ADA, "ref": f"{ADA['ref']}0"}, BOB])
    publish()
    before = [server.dump(keys.state(each.id)) for each in (theirs, similar)]
    erase(api, app_key)
    eraser.run()
    assert [server.dump(keys.state(each.id)) for each in (theirs, similar)] == before
    assert is_gone(api, app_key)
    assert not is_gone(api, other_key)
    assert not is_gone(api, app_key, f"{ADA['ref']}0")
    assert not is_gone(api, app_key, BOB["ref"])
    assert api.view(mine)["players"][0]["name"] == "Player 1"


def test_more_games_than_are_done_at_a_time_are_done_in_turn(
    api: Api, *, app_key: str, server: redis.Redis, eraser: Eraser, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasures_module, "MAX_GAMES", 3)
    games = [owned(api, app_key) for _ in range(10)]
    publish()
    games += [owned(api, app_key) for _ in range(5)]
    erase(api, app_key)
    named: list[int] = []
    while not eraser.worker.step():
        if named and is_gone(api, app_key):
            assert named[-1] == 0
        named.append(sum([api.view(table)["players"][0]["name"] != "Player 1" for table in games]))
    assert named[:4] == [12, 9, 6, 5]
    assert {before - after for before, after in pairwise(named)} <= {0, 1, 2, 3}
    assert is_gone(api, app_key)
    assert keys_with(server, MARK.encode()) == []


def test_a_game_is_found_though_a_messenger_has_its_reminder(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser
) -> None:
    """A messenger that has taken the game, and is killed or slow, tells of it only when its lease ends."""
    table = owned(api, app_key)
    assert eraser.reminders.take("outbox", 100, 3_600_000)
    erase(api, app_key)
    eraser.run()
    assert is_gone(api, app_key)
    assert keys_with(server, MARK.encode()) == []
    assert api.view(table)["players"][0]["name"] == "Player 1"


def test_it_is_done_only_when_no_game_has_the_person(
    api: Api, app_key: str, server: redis.Redis, redis_url: str
) -> None:
    owned(api, app_key)

    def check(_: int) -> None:
        assert is_gone(api, app_key) == (not keys_with(server, ADA["ref"].encode()))

    erase(api, app_key)
    Eraser(redis_url, TTL_SECONDS, check).run()
    assert is_gone(api, app_key)


def test_a_game_that_was_created_later_is_new(api: Api, app_key: str, eraser: Eraser, publish: Publish) -> None:
    owned(api, app_key)
    erase(api, app_key)
    eraser.run()
    assert is_gone(api, app_key)
    table = owned(api, app_key)
    publish()
    eraser.run()
    assert not is_gone(api, app_key)
    assert api.view(table, 0)["players"][0]["name"] == ADA["name"]
    erase(api, app_key)
    eraser.run()
    assert is_gone(api, app_key)


@pytest.mark.parametrize("lost", ["deleted", "expired", "lost"])
def test_a_game_that_is_gone_itself_holds_nothing_up(
    api: Api, *, app_key: str, server: redis.Redis, eraser: Eraser, publish: Publish, lost: str
) -> None:
    table = owned(api, app_key)
    other = owned(api, app_key)
    publish()
    if lost == "deleted":
        assert api.delete(table.path, token=app_key).status_code == 204
    else:
        server.delete(keys.state(table.id), *([] if lost == "expired" else [keys.events(table.id)]))
    erase(api, app_key)
    eraser.run()
    assert is_gone(api, app_key)
    assert api.view(other)["players"][0]["name"] == "Player 1"


@pytest.mark.parametrize("spoiled", [b"[", with_sum(b'["",999,""]')])
def test_a_game_that_nobody_can_read_holds_up_nothing_but_that_a_person_counts_as_erased(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser, spoiled: bytes
) -> None:
    """It was created just before, and is not in the index yet."""
    unreadable = owned(api, app_key)
    tables = [owned(api, app_key) for _ in range(3)]
    with broken(server, keys.state(unreadable.id), spoiled):
        erase(api, app_key)
        for _ in range(4):
            eraser.worker.step()
        assert {api.view(table)["players"][0]["name"] for table in tables} == {"Player 1"}
        assert not is_gone(api, app_key)
        failures = eraser.registry.get_sample_value("domino_reminder_failures_total", {"kind": "erasures"})
        assert failures == 1
    end_leases(server)
    eraser.run()
    assert is_gone(api, app_key)
    assert api.view(unreadable)["players"][0]["name"] == "Player 1"


def test_a_broken_game_of_the_application_holds_up_none_of_its_others(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser, publish: Publish
) -> None:
    tables = [owned(api, app_key) for _ in range(3)]
    publish()
    with broken(server, keys.state(tables[1].id), b"["):
        erase(api, app_key)
        for _ in range(4):
            eraser.worker.step()
        assert {api.view(table)["players"][0]["name"] for table in (tables[0], tables[2])} == {"Player 1"}
        assert not is_gone(api, app_key)
    end_leases(server)
    eraser.run()
    assert is_gone(api, app_key)
    assert api.view(tables[1])["players"][0]["name"] == "Player 1"


def test_the_faults_of_games_of_other_applications_hold_nobody_up(
    api: Api, *, app_key: str, other_key: str, server: redis.Redis, eraser: Eraser
) -> None:
    other = owned(api, other_key)
    owned(api, app_key)
    server.lset(keys.events(other.id), 0, "[")
    erase(api, app_key)
    eraser.run()
    assert is_gone(api, app_key)
    assert eraser.registry.get_sample_value("domino_reminder_failures_total", {"kind": "erasures"}) == 0


@contextmanager
def broken(server: redis.Redis, key: str | bytes, text: bytes) -> Iterator[None]:
    """While this lasts, this text is stored in place of a state."""
    before: Any = server.get(key)
    head = before[: before.index(b"[")]
    server.set(key, head + text, keepttl=True)
    try:
        yield
    finally:
        server.set(key, before, keepttl=True)


# ── Who may ask, and how often ───────────────────────────────────────────────────────────────────────────────────────


def test_the_request_may_be_repeated_and_nobody_has_to_be_there(api: Api, app_key: str, eraser: Eraser) -> None:
    assert is_gone(api, app_key)
    for _ in range(2):
        erase(api, app_key)
        assert api.get(PERSON, token=app_key).get_json() == {"ref": ADA["ref"], "games": []}
    eraser.run()
    assert is_gone(api, app_key)
    erase(api, app_key)
    eraser.run()
    assert is_gone(api, app_key)


@pytest.mark.parametrize("ref", ["user/17", "..a", "50%25", "%C3%9Cnal", "a%3Fb=c%23d", "%252F", "名前"])
def test_any_ref_may_be_erased(api: Api, app_key: str, eraser: Eraser, publish: Publish, ref: str) -> None:
    table = owned(api, app_key, [{"name": "Ada", "ref": unquote(ref)}, BOB])
    publish()
    erase(api, app_key, ref)
    eraser.run()
    assert is_gone(api, app_key, ref)
    assert api.view(table)["players"][0]["name"] == "Player 1"


@pytest.mark.parametrize("ref", ["x" * 65, "a b", "%00"])
def test_nobody_has_a_text_that_is_no_ref(api: Api, app_key: str, server: redis.Redis, ref: str) -> None:
    answer = api.delete(f"/v1/players/{ref}", token=app_key)
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (404, "not_found", "no_such_person")
    assert not [key for key in server.scan_iter() if b"erasures" in key]


def test_only_applications_erase_their_people(api: Api, app_key: str, other_key: str, eraser: Eraser) -> None:
    table = owned(api, app_key)
    for token in (None, table.tokens[0], app_key[:-1]):
        assert status_and_code(api.delete(PERSON, token=token)) == (401, "unauthorized")
    erase(api, other_key)
    eraser.run()
    assert api.view(table)["players"][0]["name"] == ADA["name"]


def test_so_many_people_are_erased_at_a_time(
    api: Api, app_key: str, other_key: str, eraser: Eraser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_backends, "MAX_ERASURES", 3)
    for number in range(3):
        erase(api, app_key, f"user-{number}")
    answer = api.delete(PERSON, token=app_key)
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (409, "limit_reached", "too_many_erasures")
    erase(api, app_key, "user-0")
    erase(api, other_key)
    eraser.run()
    erase(api, app_key)


def test_applications_take_turns_and_the_fault_of_one_holds_no_other_up(
    api: Api, backends: BackendsFacade, eraser: Eraser, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasures_module, "MAX_GAMES", 1)
    created = [backends.keys.create(f"Application {number}") for number in range(3)]
    games = {each.key: [owned(api, each.key) for _ in range(4)] for each in created}
    publish()
    for each in created:
        erase(api, each.key)
    advance, broken = eraser.erasures.advance, created[0].backend.id

    def failing(app: str) -> bool:
        if app == broken:
            raise ValueError(app)
        return advance(app)

    monkeypatch.setattr(eraser.erasures, "advance", failing)
    eraser.worker.step()
    left = [sum([api.view(table)["players"][0]["name"] != "Player 1" for table in each]) for each in games.values()]
    assert left == [4, 3, 3]
    eraser.run()
    assert [is_gone(api, each.key) for each in created] == [False, True, True]
    failures = eraser.registry.get_sample_value("domino_reminder_failures_total", {"kind": "erasures"})
    assert failures == 1
