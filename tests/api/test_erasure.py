"""A person of an application is erased from all its games, whatever happens meanwhile, and nothing else is."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import pytest
import redis

from service.backends import erasures as erasures_module
from service.backends import store as redis_backends
from service.backends.facade import BackendsFacade
from service.games.model.schedule import bot_turn
from service.games.store.checksums import with_sum
from service.games.store.redis_store import RedisStore
from service.redis import keys
from tests.api.client import Api, Table, refusal, status_and_code, told
from tests.api.conftest import TTL_SECONDS
from tests.api.erasing import Eraser, end_leases
from tests.api.followers import SSE, events_in, everything, read_events, rest_of_stream, stream
from tests.api.phases import PHASES, finished, in_phase
from tests.api.redis_contents import clear, keys_with
from tests.api.saved_games import stored
from tests.support.table import Json, seat_to_move

pytestmark = pytest.mark.gate

Publish = Callable[[], None]
MARK = "marked-4711"
ADA = {"name": f"Ada {MARK}", "ref": f"user-ada-{MARK}"}
BOB, CLEO = {"name": "Bob", "ref": "user-bob"}, {"name": "Cleo", "ref": "user-cleo"}
PERSON = f"/v1/players/{ADA['ref']}"
KEY = {"Idempotency-Key": "a-key-that-nobody-guesses-0815"}
ALL_PHASES = (*PHASES, "forked and waiting", "open", "two seats")


@pytest.fixture(autouse=True)
def _alone(server: redis.Redis) -> None:
    """Without the games of other tests, all of what the server holds can be searched."""
    clear(server)


@pytest.fixture
def eraser(redis_url: str) -> Eraser:
    return Eraser(redis_url, TTL_SECONDS)


def owned(api: Api, key: str, players: Any = (ADA, BOB), **more: Any) -> Table:
    return api.create("domino", players, key=key, ref="match-1", **more)


def in_any_phase(api: Api, key: str, phase: str) -> Table:
    """A game of the application in this phase; the person has the first seat."""
    if phase == "open":
        return owned(api, key, [{"open": True, "ref": ADA["ref"]}, BOB])
    if phase == "two seats":
        return api.create("kozel", [ADA, BOB, {**ADA, "name": f"Ada {MARK} again"}, CLEO], key=key)
    return in_phase(api, key, phase, ADA, BOB)


def erase(api: Api, key: str, eraser: Eraser | None = None, ref: str = ADA["ref"]) -> None:
    """Have a person erased: at once by the messenger, or later."""
    answer = api.delete(f"/v1/players/{ref}", token=key)
    assert (answer.status_code, answer.data) == (202, b"")
    if eraser is not None:
        eraser.run()


def first_name(api: Api, table: Table) -> str:
    """The name in the first seat."""
    return str(api.view(table)["players"][0]["name"])


def failures(eraser: Eraser) -> float | None:
    return eraser.registry.get_sample_value("domino_reminder_failures_total", {"kind": "erasures"})


def rematch(api: Api, table: Table, seat: int, headers: Mapping[str, str] = KEY) -> Json:
    return told(api.post(f"{table.path}/rematch", token=table.tokens[seat], headers=headers), 201)


def is_gone(api: Api, key: str, ref: str = ADA["ref"]) -> bool:
    answer = api.get(f"/v1/players/{ref}", token=key)
    assert answer.status_code == 200 or status_and_code(answer) == (404, "not_found")
    return answer.status_code == 404


def spelled(token: str) -> list[bytes]:
    """A token as it may be stored."""
    return [token.encode(), b64encode(sha256(token.encode()).digest())]


def join(api: Api, table: Table, name: str = "Bob", **headers: Any) -> Json:
    return told(api.post(f"{table.path}/players", {"name": name, "join_code": table.join_code}, **headers), 201)


# ── What becomes of a game ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lags", [False, True], ids=["listed", "not yet listed"])
@pytest.mark.parametrize("phase", ALL_PHASES)
def test_nothing_of_a_person_is_left_in_any_game(
    api: Api, *, app_key: str, server: redis.Redis, eraser: Eraser, publish: Publish, phase: str, lags: bool
) -> None:
    hook = {"url": "https://club.example/hooks", "events": ["game.turn", "game.joined"]}
    told(api.post("/v1/webhooks", hook, token=app_key, headers=KEY), 201)
    table = in_any_phase(api, app_key, phase)
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
        assert status_and_code(table.get("", seat)) == (401, "unauthorized")
    view = api.get(table.path, token=app_key).get_json()
    for seat, (was, now) in enumerate(zip(before["players"], view["players"], strict=True)):
        if seat not in ada:
            assert now == was
            assert seat not in table.tokens or table.get("", seat).status_code == 200
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
def test_a_computer_player_goes_on(api: Api, app_key: str, server: redis.Redis, eraser: Eraser, phase: str) -> None:
    table = in_phase(api, app_key, phase, ADA, BOB)
    version = api.view(table)["version"]
    erase(api, app_key, eraser)
    assert [(each["type"], each["seat"], each["data"]) for each in everything(api, table)[version:]] == [
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
            api.make_move(table, 1, {"action": "deal"})
        else:
            api.make_legal_move(table)
    pytest.fail("it never was the turn of that seat")


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        ("open", ["renamed"]),
        ("away", ["renamed", "token_changed"]),
        ("finished", ["renamed", "token_changed"] * 2),  # one of the seats has won
    ],
)
def test_who_does_not_play_does_not_leave(
    api: Api, app_key: str, eraser: Eraser, phase: str, expected: list[str]
) -> None:
    if phase == "finished":
        table = finished(api, app_key, ADA, {**ADA, "name": f"Ada {MARK} too"})
    else:
        table = in_any_phase(api, app_key, phase)
    version = api.view(table)["version"]
    erase(api, app_key, eraser)
    assert [event["type"] for event in everything(api, table)[version:]] == expected


@pytest.mark.parametrize("phase", ["waiting", "forked and waiting"])
def test_before_the_first_deal_a_computer_player_waits_for_it(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser, phase: str
) -> None:
    table = in_phase(api, app_key, phase, ADA, BOB)
    erase(api, app_key, eraser)
    view = api.view(table)
    types = [event["type"] for event in everything(api, table)]
    assert (view["status"], types[-2:], "left" in types) == ("waiting", ["renamed", "token_changed"], False)
    joined = join(api, table, headers=KEY)
    table.tokens = {1: joined["token"]}
    types = [event["type"] for event in everything(api, table)[view["version"] :]]
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
    erase(api, app_key, eraser)
    assert "token_changed" in [each["type"] for each in events_in(rest_of_stream(follower))]
    with closing(other):
        seen = read_events(other.iter_encoded(), 5)
    assert [each["type"] for each in seen[2:]] == ["left", "renamed", "token_changed"]
    assert {"name": "Player 1"} in [each["data"] for each in seen]
    assert MARK not in str(seen)


def test_where_names_are_unique_the_new_one_is_too(api: Api, app_key: str, eraser: Eraser) -> None:
    players = [ADA, {"name": "player 1"}, {"name": "Player 3"}, {**ADA, "name": "Ada too"}]
    tables = [owned(api, app_key, players, unique_names=True), owned(api, app_key, players)]
    erase(api, app_key, eraser)
    names = [[each["name"] for each in api.view(table)["players"]] for table in tables]
    assert names == [[first, "player 1", "Player 3", "Player 4"] for first in ("Player 1 2", "Player 1")]


@pytest.mark.parametrize("phase", ["waiting", "playing", "two seats"])
def test_the_record_of_a_match_of_who_was_erased_is_sound(api: Api, app_key: str, eraser: Eraser, phase: str) -> None:
    table = in_any_phase(api, app_key, phase)
    erase(api, app_key, eraser)
    if phase == "waiting":
        join(api, table)
    record = table.record()
    assert (MARK in record, "Player 1" in record) == (False, True)
    verified = told(api.post("/v1/verifications", record))
    # The round that is under way hides its tiles.
    assert {finding["code"] for finding in verified["findings"]} <= {"hidden_tile"}, verified


def test_the_seat_can_be_given_to_somebody_else(api: Api, app_key: str, eraser: Eraser) -> None:
    table = owned(api, app_key)
    erase(api, app_key, eraser)
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
    def create() -> Json:
        return told(api.try_create("domino", [ADA, BOB, {"open": True}], key=app_key, headers=KEY), 201)

    table = Table(api, create())
    path, code = f"{table.path}/players", {"name": f"Joined {MARK}", "join_code": table.join_code}
    joined = told(api.post(path, code, headers=KEY), 201)
    told(api.ask("PATCH", f"{path}/2", json={"ref": ADA["ref"]}, token=app_key))
    old = told(api.post(f"{path}/2/token", token=joined["token"], headers=KEY), 201)["token"]
    told(api.post(f"{path}/2/token", token=app_key, headers=KEY), 201)
    erase(api, app_key, eraser)
    again = create()
    assert again["seats"] == [{"seat": 1, "name": "Bob", "token": table.tokens[1]}]
    assert MARK not in str(again)
    assert status_and_code(api.post(path, code, headers=KEY)) == (404, "not_found")
    for token in (joined["token"], old):
        assert status_and_code(api.post(f"{path}/2/token", token=token, headers=KEY)) == (401, "unauthorized")
    assert status_and_code(api.post(f"{path}/2/token", token=app_key, headers=KEY)) == (404, "not_found")


def test_a_rematch_later_has_nothing_of_a_person(api: Api, app_key: str, server: redis.Redis, eraser: Eraser) -> None:
    table = finished(api, app_key, ADA, BOB, CLEO)
    erase(api, app_key, eraser)
    assert status_and_code(api.post(f"{table.path}/rematch", token=table.tokens[0])) == (401, "unauthorized")
    first = rematch(api, table, 1)
    assert (first, first["game"]["version"], first["game"]["players"][2]["away"]) == (rematch(api, table, 1), 3, True)
    new = Table(api, {"game": first["game"], "seats": [first]})
    assert [each["type"] for each in everything(api, new)] == ["created", "dealt", "left"]
    assert [each["name"] for each in api.view(new)["players"]] == ["Bob", "Cleo", "Player 1"]
    assert keys_with(server, MARK.encode()) == []
    game = stored(server, new)
    assert (game.seats[2].token_hash, game.presence.away) == (None, frozenset({2}))
    rematch(api, table, 2, {})


def test_a_person_is_erased_from_a_rematch_begun_before(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser
) -> None:
    table = finished(api, app_key, ADA, BOB)
    first, there = rematch(api, table, 1), rematch(api, table, 0, {})["token"]
    erase(api, app_key, eraser)
    assert keys_with(server, MARK.encode()) == []
    assert status_and_code(api.get(f"/v1/games/{first['game']['id']}", token=there)) == (401, "unauthorized")
    again = rematch(api, table, 1)
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
    table, create, waiting = finished(api, app_key, ADA, BOB, CLEO), store.create, [True]

    def late(*arguments: Any, **more: Any) -> Any:
        if not waiting:
            return create(*arguments, **more)
        waiting.clear()
        erase(api, app_key, eraser)
        created = create(*arguments, **more)
        if told_first:
            rematch(api, table, 2, {})
        return created

    monkeypatch.setattr(store, "create", late)
    answer = api.post(f"{table.path}/rematch", token=table.tokens[asks])
    assert (answer.status_code, waiting) == (201 if asks else 401, [])
    assert MARK not in answer.text
    assert keys_with(server, MARK.encode()) == []
    assert [each["name"] for each in rematch(api, table, 2, {})["game"]["players"]].count("Player 3") == 1


def test_nobody_is_erased_from_a_rematch_whose_ref_alone_is_removed_meanwhile(
    api: Api, app_key: str, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, create = finished(api, app_key, ADA, BOB), store.create

    def late(*arguments: Any, **more: Any) -> Any:
        told(api.ask("PATCH", f"{table.path}/players/0", json={"ref": None}, token=app_key))
        return create(*arguments, **more)

    monkeypatch.setattr(store, "create", late)
    new = rematch(api, table, 1, {})["game"]
    assert new["version"] == 2
    assert ADA["name"] in [each["name"] for each in api.get(f"/v1/games/{new['id']}").get_json()["players"]]


# ── Which games ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_other_person_and_no_other_application_loses_anything(
    api: Api, *, app_key: str, other_key: str, server: redis.Redis, eraser: Eraser, publish: Publish
) -> None:
    mine, theirs = owned(api, app_key), owned(api, other_key)
    similar = owned(api, app_key, [{**ADA, "ref": f"{ADA['ref']}0"}, BOB])
    publish()
    before = [server.dump(keys.state(each.id)) for each in (theirs, similar)]
    erase(api, app_key, eraser)
    assert [server.dump(keys.state(each.id)) for each in (theirs, similar)] == before
    assert is_gone(api, app_key)
    assert not is_gone(api, other_key)
    assert not any(is_gone(api, app_key, ref) for ref in (f"{ADA['ref']}0", BOB["ref"]))
    assert first_name(api, mine) == "Player 1"


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
        named.append(sum([first_name(api, table) != "Player 1" for table in games]))
    assert named[:4] == [12, 9, 6, 5]
    assert {before - after for before, after in pairwise(named)} <= {0, 1, 2, 3}
    assert is_gone(api, app_key)
    assert keys_with(server, MARK.encode()) == []


def test_a_game_is_found_though_its_reminder_is_taken(
    api: Api, app_key: str, server: redis.Redis, eraser: Eraser
) -> None:
    """A messenger that has taken the game, and is killed or slow, tells of it only when its lease ends."""
    table = owned(api, app_key)
    assert eraser.reminders.take("outbox", 100, 3_600_000)
    erase(api, app_key, eraser)
    assert is_gone(api, app_key)
    assert keys_with(server, MARK.encode()) == []
    assert first_name(api, table) == "Player 1"


def test_it_is_done_when_no_game_has_the_person(api: Api, app_key: str, server: redis.Redis, redis_url: str) -> None:
    def check(_: int) -> None:
        assert is_gone(api, app_key) == (not keys_with(server, ADA["ref"].encode()))

    owned(api, app_key)
    erase(api, app_key, Eraser(redis_url, TTL_SECONDS, check))
    assert is_gone(api, app_key)


def test_a_game_that_was_created_later_is_new(api: Api, app_key: str, eraser: Eraser, publish: Publish) -> None:
    owned(api, app_key)
    erase(api, app_key, eraser)
    assert is_gone(api, app_key)
    table = owned(api, app_key)
    publish()
    eraser.run()
    assert (is_gone(api, app_key), first_name(api, table)) == (False, ADA["name"])
    erase(api, app_key, eraser)
    assert is_gone(api, app_key)


@pytest.mark.parametrize("lost", ["deleted", "expired", "lost"])
def test_a_game_that_is_gone_itself_holds_nothing_up(
    api: Api, *, app_key: str, server: redis.Redis, eraser: Eraser, publish: Publish, lost: str
) -> None:
    table, other = owned(api, app_key), owned(api, app_key)
    publish()
    if lost == "deleted":
        assert api.delete(table.path, token=app_key).status_code == 204
    else:
        server.delete(keys.state(table.id), *([] if lost == "expired" else [keys.part(b"events", table.id)]))
    erase(api, app_key, eraser)
    assert (is_gone(api, app_key), first_name(api, other)) == (True, "Player 1")


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("spoiled", [b"[", with_sum(b'["",999,""]')])
def test_a_game_that_nobody_can_read_holds_up_nothing_but_that_a_person_counts_as_erased(
    api: Api, *, app_key: str, server: redis.Redis, eraser: Eraser, publish: Publish, spoiled: bytes, listed: bool
) -> None:
    first, unreadable, last = (owned(api, app_key) for _ in range(3))
    if listed:
        publish()
    with broken(server, keys.state(unreadable.id), spoiled):
        erase(api, app_key)
        for _ in range(4):
            eraser.worker.step()
        assert [first_name(api, table) for table in (first, last)] == ["Player 1"] * 2
        assert (is_gone(api, app_key), failures(eraser)) == (False, 1)
    end_leases(server)
    eraser.run()
    assert (is_gone(api, app_key), first_name(api, unreadable)) == (True, "Player 1")


def test_the_faults_of_games_of_other_applications_hold_nobody_up(
    api: Api, *, app_key: str, other_key: str, server: redis.Redis, eraser: Eraser
) -> None:
    other = owned(api, other_key)
    owned(api, app_key)
    server.lset(keys.part(b"events", other.id), 0, "[")
    erase(api, app_key, eraser)
    assert (is_gone(api, app_key), failures(eraser)) == (True, 0)


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
    erase(api, app_key, eraser)
    assert is_gone(api, app_key)


@pytest.mark.parametrize("ref", ["user/17", "..a", "50%25", "%C3%9Cnal", "a%3Fb=c%23d", "%252F", "名前"])
def test_any_ref_may_be_erased(api: Api, app_key: str, eraser: Eraser, publish: Publish, ref: str) -> None:
    table = owned(api, app_key, [{"name": "Ada", "ref": unquote(ref)}, BOB])
    publish()
    erase(api, app_key, eraser, ref)
    assert (is_gone(api, app_key, ref), first_name(api, table)) == (True, "Player 1")


@pytest.mark.parametrize("ref", ["x" * 65, "a b", "%00"])
def test_nobody_has_a_text_that_is_no_ref(api: Api, app_key: str, server: redis.Redis, ref: str) -> None:
    assert refusal(api.delete(f"/v1/players/{ref}", token=app_key)) == (404, "not_found", "no_such_person")
    assert not [key for key in server.scan_iter() if b"erasures" in key]


def test_only_applications_erase_their_people(api: Api, app_key: str, other_key: str, eraser: Eraser) -> None:
    table = owned(api, app_key)
    for token in (None, table.tokens[0], app_key[:-1]):
        assert status_and_code(api.delete(PERSON, token=token)) == (401, "unauthorized")
    erase(api, other_key, eraser)
    assert first_name(api, table) == ADA["name"]


def test_so_many_people_are_erased_at_a_time(
    api: Api, app_key: str, other_key: str, eraser: Eraser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_backends, "MAX_ERASURES", 3)
    for number in range(3):
        erase(api, app_key, ref=f"user-{number}")
    assert refusal(api.delete(PERSON, token=app_key)) == (409, "limit_reached", "too_many_erasures")
    erase(api, app_key, ref="user-0")
    erase(api, other_key, eraser)
    erase(api, app_key)


def test_applications_take_turns_and_the_fault_of_one_holds_no_other_up(
    api: Api, backends: BackendsFacade, eraser: Eraser, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasures_module, "MAX_GAMES", 1)
    created = [backends.keys.create(f"Application {number}") for number in range(3)]
    games = [[owned(api, each.key) for _ in range(4)] for each in created]
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
    assert [sum([first_name(api, table) != "Player 1" for table in tables]) for tables in games] == [4, 3, 3]
    eraser.run()
    assert [is_gone(api, each.key) for each in created] == [False, True, True]
    assert failures(eraser) == 1
