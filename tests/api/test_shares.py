"""What one address and one application may store in a day, and how long games are kept, on a small store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from service.backends.erasures import Erasures
from service.backends.index.store import RedisIndex, RedisLobby
from service.backends.outbox import Outbox
from service.backends.store import RedisBackends, RedisErasures
from service.client_address import client_network
from service.games.automation.due import Automation
from service.games.commands.create import network_digest
from service.games.model.views import legal_moves_for
from service.games.ports import Deferred, TimeSource
from service.games.store.admission import StoragePolicy
from service.games.store.idempotency import Idempotency
from service.games.store.notifications import RedisEventFeed
from service.games.store.repository import DEFAULT_POLICY
from service.limits.memory import MemoryReserve
from service.limits.stored_bytes import KNOWN_MS, Budgets, RedisShares
from service.redis.calls import observe_nothing
from service.redis.server_clock import system_clock
from service.redis.topology import open_topology
from tests.api.client import Api, refusal, status_and_code
from tests.storage.servers import RealServer, fill
from tests.support.application import build_backends, create_app
from tests.support.games import build_games, build_repository
from tests.support.stores.redis_stores import redis_calls, redis_reminders, redis_store

pytestmark = pytest.mark.gate

DAY = 86_400
TTL = 30 * DAY
MEMORY = 20 * 2**20
SECRET = b"the secret of the tests"
GOOD, EVIL = "192.0.2.1", "192.0.2.66"
TWO = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}
BOTS: dict[str, Any] = {"variant": "domino", "pace": 0, "players": [{"bot": "random"}, {"bot": "random"}]}
TOO_MUCH = (429, "limit_reached", "share_used")


class SmallStore:
    """The service on a server with little memory; ``shares`` are looked at when the test says so."""

    def __init__(
        self,
        server: RealServer,
        budgets: Budgets = Budgets(),  # noqa: B008 # immutable
        clock: TimeSource = system_clock,
    ) -> None:
        self.server = server
        nodes = open_topology(server.url)
        self.calls = redis_calls(nodes)
        reserve = MemoryReserve(nodes, observe_failure=observe_nothing, now=_Ticks())
        self.shares = RedisShares(
            self.calls, budgets, clock=clock, own_budget=RedisBackends(self.calls, reserve).own_budget
        )
        self.store = redis_store(nodes, TTL, reserve=reserve)
        self.reminders = redis_reminders(nodes)
        self.feed = RedisEventFeed(nodes)
        self.games = build_games(
            self.store, self.feed, [SECRET], TTL, reminders=self.reminders, shares=self.shares, finished=7 * DAY
        )
        self.index, self.lobby = RedisIndex(self.calls, TTL), RedisLobby(self.calls)
        self.backends = build_backends(nodes, [SECRET], ttl_seconds=TTL, reserve=reserve, shares=self.shares)
        self.api = Api(create_app(self.games, backends=self.backends).test_client(use_cookies=False))

    def post(self, path: str, body: Any, address: str = GOOD, **arguments: Any) -> TestResponse:
        return self.api.post(path, body, environ_overrides={"REMOTE_ADDR": address}, **arguments)

    def create(self, body: Any = TWO, address: str = GOOD, **arguments: Any) -> TestResponse:
        return self.post("/v1/games", body, address, **arguments)

    def automation(self) -> Automation:
        """What a bot worker makes moves by."""
        policy = StoragePolicy(DEFAULT_POLICY.lifetimes, self.shares, automatic=True)
        return Automation(build_repository(self.store, policy=policy))

    def publish(self) -> None:
        """Do what a messenger does."""
        outbox = Outbox(build_repository(self.store), self.index, self.lobby, system_clock)
        for each in self.reminders.take("outbox", 100, 10_000):
            outbox.publish(each.tenant, each.game)

    def erase(self, app: str, ref: str) -> None:
        """Do what a messenger does when a person is to be erased."""
        policy = StoragePolicy(DEFAULT_POLICY.lifetimes, self.shares, automatic=True)
        repository = build_repository(self.store, policy=policy)
        outbox = Outbox(repository, self.index, self.lobby, system_clock)
        store = RedisErasures(self.calls)
        store.request(app, ref)
        erasures = Erasures(store, repository, self.index, outbox, reminders=self.reminders, on_erased=lambda _: None)
        for _ in range(10):
            if not erasures.advance(app):
                return
        raise AssertionError("it does not end")

    def ttl(self, game: str) -> int:
        return int(self.server.admin.ttl(f"domino:{{{game}}}"))

    def close(self) -> None:
        self.feed.close()


class _Ticks:
    """A clock by which the memory is never known from before."""

    seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 10
        return self.seconds


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def small(server: RealServer) -> Iterator[SmallStore]:
    server.configure(maxmemory="20mb")
    small = SmallStore(server)
    yield small
    small.close()


def share_of(address: str) -> str:
    """The key of what was counted for an address today."""
    digest = network_digest(Idempotency([SECRET]), client_network(address))
    return f"domino:share:{{{digest}}}:{system_clock() // 1000 // DAY}"


def share_of_app(app: str) -> str:
    """The key of what was counted for an application today."""
    return f"domino:share:{{{app}}}:{system_clock() // 1000 // DAY}"


def exhaust(
    small: SmallStore, address: str = EVIL, left: int = 2_000, body: Any = TWO, **arguments: Any
) -> TestResponse:
    """Create games until one is refused, where only so many bytes are left."""
    small.server.admin.set(share_of(address), MEMORY // 20 - left)
    for _ in range(10_000):
        answer = small.create(body, address, **arguments)
        if answer.status_code != 201:
            return answer
    raise AssertionError("nothing is refused")


def use_up(small: SmallStore, address: str = EVIL) -> None:
    """Nothing is left of the share of an address."""
    small.server.admin.set(share_of(address), MEMORY // 20)


def fill_up(small: SmallStore, percent: int) -> None:
    """So much of the memory is used, and known to be."""
    fill(small.server.admin, percent)
    small.shares.refresh()
    assert small.shares.is_reserved == (percent > 90)


def long_game(small: SmallStore, address: str = EVIL) -> Any:
    return small.create({**TWO, "options": {"limit": 1000}}, address).get_json()


def play_out(small: SmallStore, created: Any) -> None:
    while small.api.get(f"/v1/games/{created['game']['id']}").get_json()["status"] != "finished":
        assert play(small, created, 1) == 1


def used(small: SmallStore) -> int:
    return int(small.server.admin.info("memory")["used_memory"])


def test_one_address_stores_a_twentieth_in_a_day_and_no_other_notices(small: SmallStore) -> None:
    small.create()
    before = used(small)
    names = [{"name": "\N{GRINNING FACE}" * 40, "client_seed": "\N{GRINNING FACE}" * 60} for _ in range(9)]
    refused = exhaust(small, left=MEMORY // 20, body={"variant": "fido", "options": {"set": 18}, "players": names})
    assert refusal(refused) == TOO_MUCH
    assert 0 < int(refused.headers["Retry-After"]) == refused.get_json()["retry_after"] <= DAY
    taken = used(small) - before
    assert MEMORY // 20 * 0.75 < taken <= MEMORY // 20
    use_up(small)
    assert refusal(small.create(address=EVIL)) == TOO_MUCH
    assert small.create().status_code == 201


def test_what_is_refused_writes_nothing(small: SmallStore) -> None:
    exhaust(small)
    use_up(small)  # where less is left than the largest game takes, a key may still be kept
    keys = set(small.server.admin.scan_iter(count=10_000))
    for headers in ({}, {"Idempotency-Key": "k" * 40}):
        assert refusal(small.create(address=EVIL, headers=headers)) == TOO_MUCH
    assert set(small.server.admin.scan_iter(count=10_000)) == keys


def test_a_request_that_was_granted_is_answered_again_when_the_share_is_used_up(small: SmallStore) -> None:
    headers = {"Idempotency-Key": "a-key-of-the-creation-of-a-game"}
    first = small.create(address=EVIL, headers=headers)
    exhaust(small)
    again = small.create(address=EVIL, headers=headers)
    assert (again.status_code, again.get_json()) == (201, first.get_json())
    assert again.headers["Idempotent-Replayed"] == "true"


def test_the_refusal_is_in_german_too(small: SmallStore) -> None:
    exhaust(small)
    assert "gespeichert" in small.create(address=EVIL, headers={"Accept-Language": "de"}).get_json()["detail"]


def test_an_application_has_a_share_of_its_own(small: SmallStore) -> None:
    key = small.backends.keys.create("Club").key
    exhaust(small)
    assert small.create(address=EVIL, token=key).status_code == 201
    assert small.api.get("/v1/app", token=key).get_json()["limits"]["bytes_per_day"] == MEMORY // 5


class _Later:
    """The clock of the system, and so many milliseconds more."""

    ahead = 0

    def __call__(self) -> int:
        return system_clock() + self.ahead


def test_an_application_may_have_a_share_by_a_limit_of_its_own(server: RealServer) -> None:
    server.configure(maxmemory="20mb")
    clock = _Later()
    small, other = SmallStore(server, clock=clock), SmallStore(server, clock=clock)  # two processes
    new = small.backends.keys.create("Club")
    app, key = new.backend.id, new.key

    def give(mib: int | None) -> None:
        small.backends.keys.change(app, lambda before: before._replace(limits=before.limits._replace(stored=mib)))
        clock.ahead += KNOWN_MS

    def told() -> set[int | None]:
        shown = [each.api.get("/v1/app", token=key).get_json()["limits"] for each in (small, other)]
        return {limits.get("bytes_per_day") for limits in shown}

    assert told() == {MEMORY // 5}
    give(1)
    assert told() == {2**20}
    server.admin.set(f"domino:share:{{{app}}}:{clock() // 1000 // DAY}", 2**20 - 100)
    assert [refusal(each.create(token=key)) for each in (small, other)] == [TOO_MUCH, TOO_MUCH]
    give(0)
    assert told() == {None}
    assert [each.create(token=key).status_code for each in (small, other)] == [201, 201]
    give(None)
    assert told() == {MEMORY // 5}
    for each in (small, other):
        each.close()


def test_a_deleted_game_leaves_no_reminder_with_its_tenant(small: SmallStore) -> None:
    new = small.backends.keys.create("Club")
    created = small.create({**TWO, "clock": {"turn": 60}}, token=new.key).get_json()
    tenant, game = new.backend.id, created["game"]["id"]
    assert small.reminders.reminded("clock", tenant) == [game]
    assert small.api.delete(f"/v1/games/{game}", token=new.key).status_code == 204
    assert small.reminders.reminded("clock", tenant) == []
    assert small.reminders.reminded("outbox", tenant) == [game]


def test_settings_take_the_place_of_a_part_of_the_memory(server: RealServer) -> None:
    server.configure(maxmemory="20mb")
    small = SmallStore(server, Budgets(network=0, app=1))
    key = small.backends.keys.create("Club").key
    server.admin.set(share_of(EVIL), MEMORY)
    assert small.create(address=EVIL).status_code == 201
    server.admin.set(share_of_app(key[4:28]), 2**20 - 500)
    assert refusal(small.create(token=key)) == TOO_MUCH
    small.close()


def test_a_server_without_a_limit_gives_everybody_as_much_as_there_is(server: RealServer) -> None:
    small = SmallStore(server)
    for _ in range(10):
        assert small.create(address=EVIL).status_code == 201
    assert not [*server.admin.scan_iter("domino:share:*")]
    small.close()


def test_moves_count_for_who_created_the_game(small: SmallStore) -> None:
    def counted() -> int:
        return int(small.server.admin.get(share_of(GOOD)) or 0)

    created = long_game(small, GOOD)
    before = counted()
    assert play(small, created, 64) == 64
    written = small.store.event_range(created["game"]["id"], 2, 10_000)
    assert written is not None
    size = sum([len(event) + 16 for event in written.events])
    assert size * 0.3 < counted() - before < size * 3  # some of the writes stand for all


def play(small: SmallStore, created: Any, moves: int) -> int:
    """Make moves until one is refused; returns how many were made."""
    game, tokens = created["game"]["id"], [each["token"] for each in created["seats"]]
    made = 0
    while made < moves:
        view = small.api.get(f"/v1/games/{game}", token=tokens[0]).get_json()
        token = tokens[view["to_act"][0]]
        move = small.api.get(f"/v1/games/{game}", token=token).get_json()["legal_moves"][0]
        answer = small.post(f"/v1/games/{game}/moves", move, token=token)
        if answer.status_code != 201:
            assert refusal(answer) == TOO_MUCH
            assert small.api.get(f"/v1/games/{game}", token=tokens[0]).get_json() == view
            return made
        made += 1
    return made


def test_in_the_reserve_honest_games_go_on_whoever_fills_it(small: SmallStore) -> None:
    honest, hostile = long_game(small, GOOD), [long_game(small) for _ in range(20)]
    fill_up(small, 92)
    limit, before = int(small.server.admin.config_get("maxmemory")["maxmemory"] or 0), used(small)
    small.server.admin.set(share_of(EVIL).replace("share", "reserve"), limit // 200 - 20_000)  # most of its part
    made = [play(small, each, 40) for each in hostile]
    assert made[-1] == 0 < sum(made)
    assert used(small) - before < limit // 100  # a tenth of the reserve
    assert play(small, honest, 60) == 60
    assert status_and_code(small.create()) == (503, "storage_unavailable")


def test_in_the_reserve_nothing_new_is_taken(small: SmallStore) -> None:
    key = small.backends.keys.create("Club").key
    fill_up(small, 92)
    for path, body, token in (("/v1/games", TWO, None), ("/v1/webhooks", hook(), key)):
        for headers in ({}, {"Idempotency-Key": os.urandom(16).hex()}):
            answer = small.post(path, body, GOOD, token=token, headers=headers)
            assert status_and_code(answer) == (503, "storage_unavailable"), path


def test_who_has_used_up_a_share_moves_no_more_once_half_of_the_memory_is_used(small: SmallStore) -> None:
    hostile, honest = long_game(small), long_game(small, GOOD)
    small.server.admin.set(share_of(EVIL), 2**21)
    assert play(small, hostile, 40) == 40
    fill_up(small, 60)
    assert [play(small, each, 40) for each in (hostile, honest)] == [0, 40]


def test_an_honest_table_goes_on_though_the_share_of_its_tenant_and_half_of_the_memory_are_used(
    small: SmallStore,
) -> None:
    created = long_game(small)
    use_up(small)
    fill_up(small, 60)
    use_up(small)  # of the memory that there is now
    assert refusal(small.create(address=EVIL)) == TOO_MUCH
    assert play(small, created, 40) == 40


def test_who_has_stored_too_much_is_refused_by_every_process_and_plays_on_in_the_reserve(small: SmallStore) -> None:
    created = long_game(small)
    small.server.admin.set(share_of(EVIL), MEMORY // 10)
    fill_up(small, 60)
    other = SmallStore(small.server)  # has counted nothing
    other.shares.refresh()
    assert [play(each, created, 1) for each in (small, other)] == [0, 0]
    fill_up(small, 92)
    assert status_and_code(small.create(address=EVIL)) in {TOO_MUCH[:2], (503, "storage_unavailable")}
    assert play(small, created, 40) == 40
    small.server.admin.set(share_of(EVIL).replace("share", "reserve"), MEMORY)
    assert play(small, created, 40) == 0
    other.close()


def refuse_writes(small: SmallStore) -> None:
    """No game of the address is written any more: its part of the reserve is used up."""
    fill_up(small, 92)
    small.server.admin.set(share_of(EVIL).replace("share", "reserve"), MEMORY)


def test_a_write_is_admitted_as_soon_as_memory_is_freed(small: SmallStore) -> None:
    created = long_game(small)
    refuse_writes(small)
    assert play(small, created, 1) == 0
    small.server.admin.delete("ballast")
    assert play(small, created, 1) == 1


def test_a_join_that_was_granted_is_answered_again_when_nothing_more_is_written(small: SmallStore) -> None:
    created = small.create({**TWO, "players": [{"name": "Ada"}, *[{"open": True}] * 3]}, EVIL).get_json()
    path, body = f"/v1/games/{created['game']['id']}/players", {"join_code": created["join_code"], "name": "Bo"}
    headers = {"Idempotency-Key": "a-key-of-somebody-who-joins-a-game"}
    first = small.post(path, body, headers=headers)
    assert first.status_code == 201
    refuse_writes(small)
    assert refusal(small.post(path, body)) == TOO_MUCH
    again = small.post(path, body, headers=headers)
    assert (again.status_code, again.get_json()["token"]) == (201, first.get_json()["token"])


def test_a_rematch_whose_game_exists_begins_without_a_share(small: SmallStore, monkeypatch: pytest.MonkeyPatch) -> None:
    created = small.create({**TWO, "options": {"limit": 1}}, EVIL).get_json()
    path, token = f"/v1/games/{created['game']['id']}/rematch", created["seats"][0]["token"]
    play_out(small, created)
    refuse_writes(small)
    small.server.admin.delete("ballast")  # new games are written again, but the old one does not name the new one yet
    monkeypatch.setattr(small.shares, "refresh", lambda: None)
    assert refusal(small.post(path, None, token=token)) == TOO_MUCH
    monkeypatch.undo()
    small.shares.refresh()
    use_up(small)
    assert refusal(small.create(address=EVIL)) == TOO_MUCH
    assert small.post(path, None, token=token).status_code == 201


def hook(url: str = "https://example.com/") -> Any:
    return {"url": url, "events": ["game.finished"]}


def test_what_an_application_was_granted_is_answered_again_when_the_share_is_used_up(small: SmallStore) -> None:
    new = small.backends.keys.create("Club")
    share = share_of_app(new.backend.id)

    def ask(path: str, body: Any, name: str = "key") -> TestResponse:
        headers = {"Idempotency-Key": f"{name}-of-a-request-of-an-application"}
        return small.post(path, body, token=new.key, headers=headers)

    made = ask("/v1/webhooks", hook())
    endpoint = f"/v1/webhooks/{made.get_json()['id']}"
    others = [(path, None, ask(path, None)) for path in ("/v1/app/keys", f"{endpoint}/secret", f"{endpoint}/pings")]
    asked = [("/v1/webhooks", hook(), made), *others]
    counted = int(small.server.admin.get(share) or 0)
    assert counted
    for used_up in (False, True):
        if used_up:
            small.server.admin.set(share, MEMORY // 5)
        for path, body, first in asked:
            again = ask(path, body)
            assert (again.status_code, again.get_json()) == (first.status_code, first.get_json()), path
            assert again.headers["Idempotent-Replayed"] == "true"
        assert int(small.server.admin.get(share) or 0) == (MEMORY // 5 if used_up else counted)
    for path, body, _ in asked:
        assert refusal(ask(path, body, "another")) == TOO_MUCH
        assert refusal(small.post(path, body, token=new.key)) == TOO_MUCH


def test_a_request_that_is_refused_counts_no_bytes(small: SmallStore) -> None:
    new = small.backends.keys.create("Club")
    assert small.post("/v1/webhooks", hook(), token=new.key).status_code == 201
    counted = small.server.admin.get(share_of_app(new.backend.id))
    assert counted
    assert small.post("/v1/webhooks", hook("https://10.0.0.1/"), token=new.key).status_code == 422
    assert small.post("/v1/webhooks/none/pings", None, token=new.key).status_code == 404
    assert small.server.admin.get(share_of_app(new.backend.id)) == counted


def test_an_erasure_is_made_however_little_memory_is_left(small: SmallStore) -> None:
    key = small.backends.keys.create("Club").key
    body = {**TWO, "players": [{"name": "Ada", "ref": "ada"}, {"name": "Bo"}]}
    game = small.create(body, token=key).get_json()["game"]["id"]
    app = small.games.access.authenticate(game, None).game.tenant
    fill_up(small, 92)
    small.server.admin.set(f"domino:reserve:{{{app}}}:{system_clock() // 1000 // DAY}", MEMORY)
    small.erase(app, "ada")
    assert small.games.access.authenticate(game, None).game.seats[0].ref is None


def test_games_of_bots_alone_wait_for_memory_and_those_with_people_do_not(small: SmallStore) -> None:
    mixed = {**BOTS, "players": [{"name": "Ada"}, *BOTS["players"]]}
    alone, watched = (small.create(body).get_json()["game"]["id"] for body in (BOTS, mixed))
    automation = small.automation()
    assert automation.next_turn(alone) is not None
    fill_up(small, 92)
    with pytest.raises(Deferred) as defer:
        automation.next_turn(alone)
    assert defer.value.retry_after >= 10
    automation.next_turn(watched)
    small.server.configure(maxmemory="0")
    small.shares.refresh()
    assert automation.next_turn(alone) is not None


def assert_lives(small: SmallStore, game: str, seconds: int) -> None:
    """Both the view and the store say that it expires so long after its last write."""
    access = small.games.access.authenticate(game, None)
    assert small.games.queries.view(access).expires_at - access.game.updated_at == seconds * 1000
    assert seconds - 60 <= small.ttl(game) <= seconds


def test_a_game_in_which_nobody_has_moved_lives_a_day_and_a_finished_one_a_week(small: SmallStore) -> None:
    created = small.create({**TWO, "options": {"limit": 1}}).get_json()
    game = created["game"]["id"]
    assert_lives(small, game, DAY)
    play(small, created, 1)
    assert_lives(small, game, TTL)
    play_out(small, created)
    assert_lives(small, game, 7 * DAY)


def test_a_game_of_bots_alone_lives_a_day(small: SmallStore) -> None:
    game = small.create(BOTS).get_json()["game"]["id"]
    automation = small.automation()
    turn = automation.next_turn(game)
    assert turn is not None
    automation.play(turn, legal_moves_for(turn.game, turn.seat)[0])
    assert_lives(small, game, DAY)


def test_lists_say_when_each_game_expires(small: SmallStore) -> None:
    key = small.backends.keys.create("Club").key
    waiting, playing = [small.create(TWO, token=key).get_json() for _ in range(2)]
    play(small, playing, 1)
    small.publish()
    listed = {each["id"]: each["expires_at"] for each in small.api.get("/v1/games", token=key).get_json()["games"]}
    for created in (waiting, playing):
        game = created["game"]["id"]
        assert listed[game] == small.api.get(f"/v1/games/{game}").get_json()["expires_at"]
    assert listed[waiting["game"]["id"]] < listed[playing["game"]["id"]]
