"""Routing to one server, to the primary that Sentinel names, and to the servers of a Cluster."""

from __future__ import annotations

import itertools
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import redis
from redis import exceptions
from redis.crc import key_slot

from service.games.ports import Commit, StoredGame
from service.redis import keys, sentinel
from service.redis.connection import Command, MaybeSent, NotSent, connect
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import SingleNodeTopology, Topology, open_topology
from service.redis.url import Address, read_redis_url
from tests.storage.clusters import Cluster, Sentinels, Server, until
from tests.storage.conftest import TTL
from tests.storage.servers import Answer, FakeServer, RealServer, frozen
from tests.storage.waits import within
from tests.storage.write_requests import write
from tests.support.processes import free_ports
from tests.support.stores.redis_stores import redis_calls, redis_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]


@pytest.fixture
def key() -> bytes:
    return secrets.token_hex(8).encode()


def address(server: FakeServer) -> bytes:
    return server.url.removeprefix("redis://").encode()


def works(topology: Topology, key: bytes) -> bool:
    try:
        (answer,) = topology.call(key, (b"SET", key, b"1"))
    except (NotSent, MaybeSent):
        return False
    return bool(answer == b"OK")


# ── The URL ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_server_of_many_has_a_url_of_its_own() -> None:
    url = read_redis_url("rediss+sentinel://ada:p%40ss@a,[::1]:7/games/2?sentinel_password=s%20%7B&ssl_cert_reqs=none")
    assert url.service == "games"
    assert url.addresses == (Address("a", 26379), Address("::1", 7))
    assert url.server(Address("b", 1)) == "rediss://ada:p%40ss@b:1/2?ssl_cert_reqs=none"
    assert url.sentinel(url.addresses[1]) == "rediss://:s%20%7B@[::1]:7?ssl_cert_reqs=none"
    url = read_redis_url("redis+cluster://:x@a:7000,b")
    assert [url.server(address) for address in url.addresses] == ["redis://:x@a:7000/", "redis://:x@b:6379/"]


# ── Calls ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_commands_are_answered_in_their_order(topology: Topology) -> None:
    for name in (b"a", b"b", b"c", b"d", b"e", b"f"):
        assert topology.call(name, (b"SET", name, b"1"), (b"INCR", name), (b"GET", name)) == [b"OK", 2, b"2"]


def test_an_error_answer_stands_in_its_place_and_the_others_are_right(topology: Topology, key: bytes) -> None:
    answers = topology.call(key, (b"SET", key, b"x"), (b"INCR", key), (b"GET", key))
    assert [type(answer) for answer in answers] == [bytes, exceptions.ResponseError, bytes]
    assert topology.call(key, (b"GET", key)) == [b"x"]


def test_a_dedicated_connection_receives_what_is_published_and_has_no_read_timeout(
    topology: Topology, key: bytes
) -> None:
    subscriber = topology.open_subscriber(key)
    try:
        assert subscriber.node == topology.node(key)
        subscriber.connection.send_command("SSUBSCRIBE", key)
        assert subscriber.connection.read_response() == [b"ssubscribe", key, 1]
        assert subscriber.connection._sock.gettimeout() is None
        topology.call(key, (b"SPUBLISH", key, b"event"))
        assert subscriber.connection.read_response() == [b"smessage", key, b"event"]
    finally:
        subscriber.connection.disconnect()


def test_without_a_server_nothing_is_sent(key: bytes) -> None:
    topology = open_topology(f"redis://127.0.0.1:{free_ports(1)[0]}")
    with pytest.raises(NotSent):
        topology.call(key, (b"GET", key))
    with pytest.raises(NotSent):
        topology.open_subscriber(key)
    assert topology.durability_warnings() == []


@pytest.mark.parametrize("commands", [1, 2])
def test_a_command_without_an_answer_may_have_been_executed_and_is_not_sent_again(commands: int, key: bytes) -> None:
    with FakeServer(lambda _: None) as server:
        with pytest.raises(MaybeSent):
            open_topology(server.url).call(key, *[(b"GET", key)] * commands)
        assert len(server.commands) == 1


def test_a_missing_second_answer_leaves_the_outcome_unknown_and_reaches_no_other_call(key: bytes) -> None:
    answers: list[Answer] = [b"+OK\r\n", b"", b"$4\r\nmine\r\n"]
    with FakeServer(lambda _: answers.pop(0)) as server, connect(server.url) as client:
        topology = SingleNodeTopology(client)
        with within(2), pytest.raises(MaybeSent):
            topology.call(key, (b"SET", key, b"1"), (b"WAIT", 1, 500))
        assert not any(each.is_connected for each in client.connection_pool._connections)
        assert topology.call(key, (b"GET", key)) == [b"mine"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"-LOADING Redis is loading the dataset in memory\r\n", exceptions.BusyLoadingError),
        (b"-NOAUTH Authentication required.\r\n", exceptions.AuthenticationError),
    ],
)
def test_a_server_that_loads_or_requires_a_password_has_answered(answer: bytes, error: type, key: bytes) -> None:
    with FakeServer(lambda _: answer) as server:
        answers = open_topology(server.url).call(key, (b"SET", key, b"1"), (b"WAIT", 1, 500))
        assert [type(each) for each in answers] == [error] * 2


def test_a_server_at_its_limit_of_clients_has_executed_nothing(key: bytes) -> None:
    answers: list[Answer] = [b"-ERR max number of clients reached\r\n", None]
    with FakeServer(lambda _: answers.pop(0)) as server, pytest.raises(NotSent) as rejection:
        open_topology(server.url).call(key, (b"SET", key, b"1"), (b"WAIT", 1, 500))
    assert "max number of clients" in str(rejection.value.__cause__)


# ── A Cluster ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_migrating_slot_is_followed_and_nothing_is_executed_twice(shared_cluster: Cluster) -> None:
    topology = open_topology(shared_cluster.url)
    here = shared_cluster.primary_of(b"{moving}")
    there = next(s for s in shared_cluster.servers if s is not here and s.admin.execute_command("ROLE")[0] == "master")
    slot = key_slot(b"{moving}")
    for number in (1, 2):
        assert topology.call(b"old{moving}", (b"INCR", b"old{moving}")) == [number]
    there.admin.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", here.admin.execute_command("CLUSTER MYID"))
    here.admin.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", there.admin.execute_command("CLUSTER MYID"))

    assert topology.call(b"new{moving}", (b"INCR", b"new{moving}"), (b"WAIT", 1, 500)) == [1, 1]  # by ASK
    assert topology.call(b"old{moving}", (b"INCR", b"old{moving}")) == [3]  # still here
    assert topology.node(b"new{moving}") == here.address

    here.admin.execute_command("MIGRATE", "127.0.0.1", there.port, "old{moving}", 0, 5000)
    for server in (there, here):
        server.admin.execute_command("CLUSTER SETSLOT", slot, "NODE", there.admin.execute_command("CLUSTER MYID"))
    assert topology.call(b"old{moving}", (b"INCR", b"old{moving}"), (b"WAIT", 1, 500)) == [4, 1]  # by MOVED
    assert topology.node(b"new{moving}") == there.address
    assert topology.call(b"new{moving}", (b"INCR", b"new{moving}")) == [2]
    until(shared_cluster.is_whole)


def only_owner(answer: Callable[[int], Answer], server: Callable[[], FakeServer]) -> Callable[[list[bytes]], Answer]:
    """The answers of a server that owns all slots of its Cluster; ``answer`` gives that to the nth INCR, from 0."""
    numbers = itertools.count()

    def respond(command: list[bytes]) -> Answer:
        match command[:2]:
            case [b"CLUSTER", b"INFO"]:
                return b"$16\r\ncluster_state:ok\r\n"
            case [b"CLUSTER", b"SLOTS"]:
                return b"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:%d\r\n" % int(server().url.rpartition(":")[2])
            case _:
                return answer(next(numbers))

    return respond


def increments(server: FakeServer) -> int:
    return [command[0] for command in server.commands].count(b"INCR")


def test_a_server_that_redirects_to_itself_is_not_followed_forever(key: bytes) -> None:
    with FakeServer(
        only_owner(lambda _: b"-MOVED %d %b\r\n" % (key_slot(key), address(server)), lambda: server)
    ) as server:
        topology = open_topology(server.url.replace("redis", "redis+cluster"))
        (answer,) = topology.call(key, (b"INCR", key))
        assert isinstance(answer, exceptions.MovedError)
        assert increments(server) == 3


def test_of_two_commands_only_the_redirected_one_is_sent_again(key: bytes) -> None:
    def answer(number: int) -> Answer:
        return b"-MOVED %d %b\r\n" % (key_slot(key), address(server)) if number == 1 else b":%d\r\n" % number

    with FakeServer(only_owner(answer, lambda: server)) as server:
        topology = open_topology(server.url.replace("redis", "redis+cluster"))
        assert topology.call(key, (b"INCR", key), (b"INCR", key)) == [0, 2]
        assert increments(server) == 3


def test_an_unresponsive_server_is_asked_for_the_map_last(key: bytes) -> None:
    with (
        FakeServer(lambda _: b"") as unresponsive,
        FakeServer(only_owner(lambda _: b":1\r\n", lambda: server)) as server,
    ):
        topology = open_topology(f"redis+cluster://{address(unresponsive).decode()},{address(server).decode()}")
        assert topology.node(key) == address(server).decode()
        requests = len(unresponsive.commands)
        topology.report_failure(key)
        until(lambda: len(server.commands) == 4)
        assert len(unresponsive.commands) == requests == 2


def test_a_cluster_that_starts_late_is_found(tmp_path: Path, key: bytes) -> None:
    cluster = Cluster(tmp_path)
    topology = open_topology(cluster.url)
    with within(3), pytest.raises(NotSent):
        topology.call(key, (b"GET", key))
    assert topology.durability_warnings() == []
    with cluster:
        until(lambda: works(topology, key))
        primary = cluster.primary_of(key)
        others = [each for each in (b"a", b"b", b"c", b"d") if cluster.primary_of(each) is not primary]
        primary.kill()
        until(lambda: works(topology, key))
        assert topology.node(key) != primary.address
        until(lambda: all(works(topology, each) for each in others))
        primary.start()
        until(cluster.is_whole)
        until(lambda: works(topology, key))


def test_a_write_has_an_unknown_outcome_until_a_replica_has_it(
    shared_cluster: Cluster, cluster_topology: Topology
) -> None:
    store = redis_store(cluster_topology, TTL, replicated=True)
    store.create("replicated", b"s", [b"e1"], write())
    replica = shared_cluster.replica_of(shared_cluster.primary_of(b"domino:{replicated}"))
    sent = write()
    with frozen(replica), within(3):
        for _ in range(2):
            with pytest.raises(OutcomeUnknown, match="no replica"):
                store.commit("replicated", Commit(1, b"t", [b"e2"], sent))
    until(shared_cluster.is_whole)
    assert store.commit("replicated", Commit(1, b"t", [b"e2"], sent)) is None
    assert store.read("replicated") == StoredGame(2, b"t")


def test_an_id_is_not_told_until_a_replica_has_it(shared_cluster: Cluster, cluster_topology: Topology) -> None:
    """Neither to the first request nor to one that is repeated: after a failover another one would get another id."""
    store = redis_store(cluster_topology, TTL, replicated=True)
    replica = shared_cluster.replica_of(shared_cluster.primary_of(keys.reservation("unreplicated")))
    with frozen(replica), within(3):
        for value in ("first", "second"):
            with pytest.raises(OutcomeUnknown, match="no replica"):
                store.reserve("unreplicated", value)
    until(shared_cluster.is_whole)
    assert store.reserve("unreplicated", "third") == "first"


def test_a_cluster_is_checked_on_every_primary_and_fails_if_all_do(
    shared_cluster: Cluster, cluster_topology: Topology
) -> None:
    reasons: list[str] = []
    store = redis_store(cluster_topology, TTL, replicated=True, observe_failure=reasons.append)
    primaries = {shared_cluster.primary_of(key).address for key in (b"a", b"b", b"c", b"d")}
    groups = cluster_topology.by_primary(keys.CHECKS)
    assert {cluster_topology.node(group[0]) for group in groups} == primaries
    assert sorted(key for group in groups for key in group) == sorted(keys.CHECKS)
    assert all(len({cluster_topology.node(key) for key in group}) == 1 for group in groups)
    store.check()
    assert reasons == []
    with ExitStack() as full:
        for number, address in enumerate(sorted(primaries), 1):
            host, port = address.rsplit(":", 1)
            admin = full.enter_context(redis.Redis(host=host, port=int(port), protocol=2))
            admin.config_set("maxmemory", 1)
            full.callback(admin.config_set, "maxmemory", 0)
            reasons.clear()
            if number < len(primaries):
                store.check()
            else:
                with pytest.raises(StorageUnavailable, match="OOM"):
                    store.check()
            assert reasons == ["OOM"] * number
    store.check()


def test_a_check_of_a_cluster_waits_for_all_primaries_at_the_same_time(
    cluster_topology: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_are_asked = threading.Barrier(len(cluster_topology.by_primary(keys.CHECKS)))
    call = cluster_topology.call

    def wait_for_the_others(key: bytes, *commands: Command) -> list[Any]:
        all_are_asked.wait(PATIENCE)
        return call(key, *commands)

    monkeypatch.setattr(cluster_topology, "call", wait_for_the_others)
    redis_store(cluster_topology, TTL).check()


def test_greenlets_are_served_or_refused_in_time_by_a_cluster_with_a_frozen_server(tmp_path: Path) -> None:
    # Otherwise all slots are refused while the failed server has not been replaced by its replica.
    with Cluster(tmp_path, **{"cluster-require-full-coverage": "no"}) as cluster:
        frozen = cluster.servers[0]
        done = subprocess.run(
            [sys.executable, "-m", "tests.storage.cluster_greenlets", cluster.url, frozen.address, str(frozen.pid)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr


# ── Sentinel ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("harm", [Server.kill, Server.freeze], ids=["killed", "frozen"])
def test_a_failover_by_sentinel_is_followed(tmp_path: Path, key: bytes, harm: Callable[[Server], None]) -> None:
    sentinels = Sentinels(tmp_path, password="s3cret")
    topology = open_topology(sentinels.url)
    with within(3), pytest.raises(NotSent):
        topology.call(key, (b"GET", key))
    with sentinels:
        primary, replica = sentinels.servers[:2]
        sentinels.servers[2].freeze()  # the first that the URL names
        assert topology.call(key, (b"SET", key, b"1"), (b"WAIT", 1, 500)) == [b"OK", 1]
        assert topology.node(key) == primary.address
        sentinels.servers[2].thaw()
        harm(primary)
        until(lambda: works(topology, key))
        assert topology.node(key) == replica.address
        topology.open_subscriber(key).connection.disconnect()


def test_a_sentinel_that_considers_the_primary_down_is_skipped(key: bytes) -> None:
    with FakeServer(naming("old:7000", flags="s_down,master")) as late, FakeServer(naming("new:7000")) as good:
        topology = open_topology(f"redis+sentinel://{address(late).decode()},{address(good).decode()}/games")
        assert topology.node(key) == "new:7000"


@pytest.mark.parametrize("refused", [b"MASTER", b"REPLICAS"])
def test_the_log_says_why_a_sentinel_refuses_and_the_next_one_is_asked(
    refused: bytes, key: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    answers = naming("old:7000")
    refusing = FakeServer(lambda command: b"-NOPERM no right\r\n" if command[1] == refused else answers(command))
    with refusing, FakeServer(naming("new:7000")) as good:
        topology = open_topology(f"redis+sentinel://{address(refusing).decode()},{address(good).decode()}/games")
        assert topology.node(key) == "new:7000"
    assert f"{address(refusing).decode()} refuses SENTINEL: no right" in caplog.text


def naming(
    primary: str, epoch: int = 1, *, flags: str = "master", replicas: Mapping[str, str] = MappingProxyType({})
) -> Callable[[list[bytes]], Answer]:
    """Return the answers of a Sentinel, one of three, with this configuration, and the flags of each replica."""
    row = [*_server(primary, flags), "config-epoch", str(epoch), "num-other-sentinels", "2"]
    shown = f"*{len(replicas)}\r\n" + "".join(_array(_server(*each)) for each in replicas.items())
    return lambda command: (_array(row) if command[1] == b"MASTER" else shown).encode()


def _server(server: str, flags: str) -> list[str]:
    host, port = server.split(":")
    return ["flags", flags, "ip", host, "port", port]


def _array(items: list[str]) -> str:
    return "".join([f"*{len(items)}\r\n", *(f"${len(it)}\r\n{it}\r\n" for it in items)])


def test_a_primary_that_was_replaced_is_left_although_it_answers(key: bytes) -> None:
    """It is cut off from all but one Sentinel, which goes on naming it and is asked first."""
    with FakeServer(lambda _: b"+old\r\n") as old, FakeServer(lambda _: b"+new\r\n") as new:
        was, now = address(old).decode(), address(new).decode()
        epochs = [(was, 1)]
        cut = FakeServer(naming(was))
        other = FakeServer(lambda command: naming(*epochs[-1])(command))  # noqa: PLW0108 # it changes
        with cut, other:
            topology = open_topology(f"redis+sentinel://{address(cut).decode()},{address(other).decode()}/games")
            until(lambda: topology.call(key, (b"GET", key)) == [b"old"] and len(other.commands) > 3)
            epochs.append((now, 2))
            until(lambda: topology.call(key, (b"GET", key)) == [b"new"])
            for _ in range(20):
                assert topology.call(key, (b"GET", key)) == [b"new"]


UP, DOWN = "slave", "slave,s_down"


@pytest.mark.parametrize(
    ("views", "number"),
    [
        ([{}], 1),
        ([{"a:1": UP, "b:1": UP}] * 3, 2),
        ([{"a:1": UP, "b:1": DOWN}] * 2, 1),  # most of the three: none of them promotes it
        ([{"a:1": UP, "b:1": DOWN}], 2),  # cut off from the others, which may promote it
        ([{"a:1": UP, "b:1": DOWN}, {"a:1": UP, "b:1": UP}], 2),
        ([{"a:1": UP}, {"a:1": UP, "b:1": UP}], 2),
        ([{"a:1": DOWN, "b:1": DOWN}] * 3, 1),
    ],
)
def test_a_write_waits_for_every_replica_that_sentinels_may_promote(
    views: list[dict[str, str]], number: int, key: bytes
) -> None:
    with ExitStack() as stack:
        sentinels = [stack.enter_context(FakeServer(naming("p:1", replicas=view))) for view in views]
        url = f"redis+sentinel://{','.join(address(each).decode() for each in sentinels)}/games"
        topology, fixed = open_topology(url), open_topology(url, 3)
        assert topology.node(key) == fixed.node(key) == "p:1"
        until(lambda: topology.replicas(key) == number)
        assert fixed.replicas(key) == 3


def test_nothing_is_written_to_a_primary_that_most_sentinels_do_not_name(
    key: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have replaced it. The third of the three is away all the time."""
    away = f"127.0.0.1:{free_ports(1)[0]}"
    with FakeServer(lambda _: b"+OK\r\n") as primary, ExitStack() as stack:
        answer = naming(address(primary).decode())
        one = stack.enter_context(FakeServer(answer))
        with FakeServer(answer) as other:
            sentinels = ",".join([away, address(one).decode(), address(other).decode()])
            topology = open_topology(f"redis+sentinel://{sentinels}/games")
            calls = redis_calls(topology)
            assert calls.write("check", (key,), b"1", command=b"SET") == b"OK"
        monkeypatch.setattr(sentinel, "MAJORITY_SECONDS", 0.3)

        def is_refused() -> bool:
            with suppress(StorageUnavailable):
                calls.write("check", (key,), b"1", command=b"SET")
                return False
            return True

        until(is_refused)
        with pytest.raises(StorageUnavailable, match="no majority"):
            calls.write("check", (key,), b"1", command=b"SET")
        assert topology.call(key, (b"GET", key)) == [b"OK"]  # it can be read


def test_a_write_waits_for_every_replica_of_a_cluster_that_has_not_failed(key: bytes) -> None:
    rows = [2]

    def answer(command: list[bytes]) -> Answer:
        if command[:2] != [b"CLUSTER", b"SLOTS"]:
            return b"$16\r\ncluster_state:ok\r\n"
        servers = b"".join(b"*2\r\n$0\r\n\r\n:%d\r\n" % port for port in range(7000, 7001 + rows[-1]))
        return b"*1\r\n*%d\r\n:0\r\n:16383\r\n%b" % (rows[-1] + 3, servers)

    with FakeServer(answer) as server:
        topology = open_topology(server.url.replace("redis", "redis+cluster"))
        assert topology.replicas(key) == 2
        for number in (1, 0, 3):
            rows.append(number)
            until(lambda: topology.replicas(key) == max(1, rows[-1]))


def test_a_write_waits_for_every_replica_that_one_server_shows(key: bytes) -> None:
    shown = [b"connected_slaves:2"]
    with FakeServer(lambda _: b"$%d\r\n%b\r\n" % (len(shown[-1]), shown[-1])) as server:
        topology = open_topology(server.url)
        assert topology.replicas(key) == 2
        shown.append(b"connected_slaves:0")
        until(lambda: topology.replicas(key) == 1)


# ── Durability warnings ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_durable_server_gives_no_warnings(topology: Topology) -> None:
    assert topology.durability_warnings() == []


def test_settings_that_may_lose_games_give_warnings(server: RealServer) -> None:
    topology = open_topology(server.url)
    server.configure(maxmemory_policy="allkeys-lru")
    assert topology.durability_warnings() == []  # as long as it is never full
    server.configure(maxmemory="1gb", appendonly="no")
    warnings = [warning.rpartition(" its ")[2] for warning in topology.durability_warnings()]
    assert warnings == ["maxmemory-policy is allkeys-lru", "appendonly is no"]


@pytest.mark.parametrize(
    ("rights", "lacking"),
    [
        ({"commands": ["+@all", "-info"], "channels": ["*"]}, ["INFO"]),
        ({"categories": ["+@all"], "channels": []}, ["channels"]),
        ({"categories": ["+@all"], "channels": ["domino:*"]}, []),
    ],
)
def test_a_user_without_rights_gives_warnings(server: RealServer, rights: Any, lacking: list[str]) -> None:
    server.admin.acl_setuser("player", enabled=True, nopass=True, keys=["*"], reset_channels=True, **rights)
    warnings = open_topology(server.url.replace("unix://", "unix://player:any@")).durability_warnings()
    assert [warning.split(" refuses ")[1].split(":")[0] for warning in warnings] == lacking


@pytest.mark.parametrize("url", ["http://a", "redis+cluster://", "redis+sentinel://a"])
def test_a_url_without_a_server_is_rejected(url: str) -> None:
    with pytest.raises(ValueError, match="it must"):
        open_topology(url)
