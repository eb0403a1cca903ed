"""While the server is unavailable, the store reports that within three seconds.

``assert_unavailable`` is for a call that changed nothing, ``assert_unanswered`` for a write whose outcome is unknown.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import redis
from redis import exceptions

from service.games.ports import Commit, StoredGame
from service.games.store.redis_store import RedisStore
from service.limits.memory import MemoryReserve
from service.redis import calls, connection, errors
from service.redis.calls import observe_nothing
from service.redis.connection import MAX_CONNECTIONS, MAX_WAITING, connect
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import SingleNodeTopology, open_topology
from tests.storage.clusters import until
from tests.storage.conftest import TTL
from tests.storage.servers import (
    Answer,
    FakeServer,
    RealServer,
    frozen,
    full,
    read_only,
    too_few_replicas,
    unable_to_save,
)
from tests.storage.waits import waited, within
from tests.storage.write_requests import write
from tests.support.stores.redis_stores import redis_calls, redis_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

CALLS: dict[str, Callable[[RedisStore], object]] = {
    "check": lambda store: store.check(),
    "read": lambda store: store.read("game"),
    "events": lambda store: store.events("game", [1]),
    "commit": lambda store: store.commit("game", Commit(1, b"lie", [b"lie"], write())),
    "create": lambda store: store.create("other", b"lie", [b"lie"], write()),
}
READS, WRITES = ("read", "events"), ("commit", "create")
"""``check`` is neither: it writes, but nothing of a game, so that an unknown outcome does not matter."""


def assert_unavailable(
    store: RedisStore, call: str, reason: str, error: type[StorageUnavailable | OutcomeUnknown] = StorageUnavailable
) -> None:
    with within(3), pytest.raises(error) as raised:
        CALLS[call](store)
    assert raised.value.reason == reason
    assert 1 <= raised.value.retry_after <= 60


def assert_unanswered(store: RedisStore, call: str, reason: str) -> None:
    """A read or a check is unavailable, since it changes nothing; a write has an unknown outcome."""
    assert_unavailable(store, call, reason, OutcomeUnknown if call in WRITES else StorageUnavailable)


def assert_all_unanswered(store: RedisStore, reason: str) -> None:
    """Each kind of call at once, for each of them waits."""
    with ThreadPoolExecutor(len(CALLS)) as pool:
        list(pool.map(lambda call: assert_unanswered(store, call, reason), CALLS))


class Unasked(MemoryReserve):
    """Takes everything new without asking a server, so that the call is all that is sent."""

    def require_space(self, key: bytes) -> None:
        """Do nothing."""


def store_on(client: redis.Redis) -> RedisStore:
    nodes = SingleNodeTopology(client)
    return redis_store(nodes, TTL, reserve=Unasked(nodes, observe_failure=observe_nothing))


@pytest.fixture
def store(client: redis.Redis) -> RedisStore:
    """A store with one game at version 1, and a connection that was in use."""
    store = store_on(client)
    store.create("game", b"true", [b"true"], write())
    return store


def assert_unchanged(store: RedisStore) -> None:
    assert store.read("game") == StoredGame(1, b"true")
    assert store.events("game", [1, 2]) == [b"true"]
    assert store.read("other") is None


# ── A real server ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_killed_server_is_unavailable_until_it_is_started_again(server: RealServer, store: RedisStore) -> None:
    server.kill()
    for call in CALLS:
        assert_unavailable(store, call, "connection")
    server.start()
    assert_unchanged(store)


@pytest.mark.parametrize("call", CALLS)
def test_the_first_call_after_a_restart_works(server: RealServer, store: RedisStore, call: str) -> None:
    server.kill()
    server.start()
    CALLS[call](store)


def test_after_a_restart_every_connection_of_the_pool_works(server: RealServer, store: RedisStore) -> None:
    thread_count = 20
    together = threading.Barrier(thread_count)

    def move(seat: int) -> None:
        together.wait(PATIENCE)
        for version in (1, 2):
            store.create(f"{seat} {version}", b"s", [b"e"], write())

    with ThreadPoolExecutor(thread_count) as pool:
        list(pool.map(move, range(thread_count)))
        assert server.admin.info("clients")["connected_clients"] > 2
        server.kill()
        server.start()
        list(pool.map(move, range(100, 100 + thread_count)))


def test_a_frozen_server_is_unavailable_in_time(server: RealServer, store: RedisStore) -> None:
    with frozen(server):
        assert_all_unanswered(store, "timeout")  # over connections of which one was in use
        assert_all_unanswered(store, "timeout")  # over new ones
    assert store.read("game") is not None


def test_a_write_to_a_frozen_server_sent_again_is_made_once(server: RealServer, store: RedisStore) -> None:
    sent = write()
    with frozen(server), within(3):
        for _ in range(2):
            with pytest.raises(OutcomeUnknown, match="timeout"):
                store.commit("game", Commit(1, b"once", [b"once"], sent))
    assert store.commit("game", Commit(1, b"once", [b"once"], sent)) is None
    assert store.read("game") == StoredGame(2, b"once")


def test_more_readers_than_connections_get_an_answer_in_time_from_a_frozen_server(
    server: RealServer, store: RedisStore
) -> None:
    thread_count = MAX_CONNECTIONS * 3

    def read(_: int) -> str:
        with within(3), pytest.raises(StorageUnavailable) as error:
            store.read("game")
        return error.value.reason

    with frozen(server), ThreadPoolExecutor(thread_count) as pool:
        reasons = list(pool.map(read, range(thread_count)))
    assert "timeout" in reasons
    assert set(reasons) <= {"timeout", "pool"}
    assert store.read("game") == StoredGame(1, b"true")


def test_many_writers_that_retry_get_an_answer_in_time_from_a_frozen_server(
    server: RealServer, store: RedisStore
) -> None:
    """As the service does: a write without an answer is repeated once, if it took no longer than 1.5 seconds."""
    thread_count = MAX_CONNECTIONS * 3
    sent = write()

    def commit(_: int) -> str:
        began = waited()
        try:
            store.commit("game", Commit(1, b"once", [b"once"], sent))
        except OutcomeUnknown:
            if waited() - began <= 1.5:
                with pytest.raises((StorageUnavailable, OutcomeUnknown)):
                    store.commit("game", Commit(1, b"once", [b"once"], sent))
        except StorageUnavailable as error:
            return error.reason
        assert waited() - began < 3
        return "unknown"

    with frozen(server), ThreadPoolExecutor(thread_count) as pool:
        outcomes = list(pool.map(commit, range(thread_count)))
    assert set(outcomes) <= {"unknown", "pool"}
    assert outcomes.count("unknown") >= MAX_CONNECTIONS
    assert store.commit("game", Commit(1, b"once", [b"once"], sent)) is None
    assert store.events("game", [1, 2, 3]) == [b"true", b"once"]


@pytest.mark.parametrize(
    ("disturb", "prefix"),
    [(full, "OOM"), (read_only, "READONLY"), (too_few_replicas, "NOREPLICAS"), (unable_to_save, "MISCONF")],
    ids=lambda case: getattr(case, "__name__", case),
)
def test_a_server_that_rejects_writes_can_still_be_read(
    server: RealServer, store: RedisStore, disturb: Callable[[RealServer], ExitStack], prefix: str
) -> None:
    with disturb(server):
        for _ in range(2):  # known to the server by their hash, and not known
            for call in (*WRITES, "check"):
                assert_unavailable(store, call, prefix)
            assert_unchanged(store)
            server.admin.script_flush()
    assert_unchanged(store)
    assert store.commit("game", Commit(1, b"now", [b"now"], write())) is None


def test_a_replica_without_its_primary_may_reject_reads_too(server: RealServer, store: RedisStore) -> None:
    server.configure(replica_serve_stale_data="no")
    with read_only(server):
        for call in READS:
            assert_unavailable(store, call, "MASTERDOWN")
        for call in (*WRITES, "check"):
            assert_unavailable(store, call, "READONLY")
    assert_unchanged(store)


def test_a_server_kept_busy_by_a_script_is_unavailable(server: RealServer, store: RedisStore) -> None:
    server.configure(busy_reply_threshold="1")
    with redis.Redis.from_url(server.url) as other, ThreadPoolExecutor(1) as pool:
        endless = pool.submit(other.eval, "while true do end", 0)
        try:
            until(lambda: answers_with(server, b"BUSY"))
            for call in CALLS:
                assert_unavailable(store, call, "BUSY")
        finally:
            server.admin.script_kill()
        assert isinstance(endless.exception(10), exceptions.ResponseError)
    assert_unchanged(store)


def answers_with(server: RealServer, prefix: bytes) -> bool:
    """Whether the server answers a PING with this error."""
    try:
        server.admin.ping()
    except redis.RedisError as error:
        return str(error).startswith(prefix.decode())
    return False


def test_a_server_that_requires_a_password_is_unavailable_without_it(server: RealServer, store: RedisStore) -> None:
    server.configure(requirepass="right")
    for credentials, reason in (("", "NOAUTH"), (":wrong@", "WRONGPASS"), ("nobody:right@", "WRONGPASS")):
        with connect(server.url.replace("unix://", f"unix://{credentials}")) as client:
            for call in CALLS:
                assert_unavailable(store_on(client), call, reason)
    with connect(server.url.replace("unix://", "unix://:right@")) as client:
        assert_unchanged(store_on(client))


def test_a_needless_password_is_unavailable_or_accepted(server: RealServer, store: RedisStore) -> None:
    with connect(server.url.replace("unix://", "unix://:needless@")) as client:
        assert_unavailable(store_on(client), "read", "auth")
    with connect(server.url.replace("unix://", "unix://default:needless@")) as client:
        assert_unchanged(store_on(client))


def test_without_write_permission_the_server_is_unavailable_for_writes(server: RealServer, store: RedisStore) -> None:
    server.admin.acl_setuser("reader", enabled=True, nopass=True, categories=["+@read"], keys=["*"])
    with connect(server.url.replace("unix://", "unix://reader:any@")) as client:
        for call in (*WRITES, "check"):
            assert_unavailable(store_on(client), call, "NOPERM")
        assert store_on(client).read("game") == StoredGame(1, b"true")


def test_a_server_at_its_limit_of_clients_is_unavailable(server: RealServer, store: RedisStore) -> None:
    server.configure(maxclients="1")
    with connect(server.url) as client:
        assert_unavailable(store_on(client), "read", "connection")
    server.configure(maxclients="100")


def test_a_cluster_without_its_slots_is_down(tmp_path: Path) -> None:
    with RealServer(tmp_path, **{"cluster-enabled": "yes"}) as server, connect(server.url) as client:
        for call in CALLS:
            assert_unavailable(store_on(client), call, "CLUSTERDOWN")


# ── A fake server, for answers that a real one does not give on request ──────────────────────────────────────────────

ERROR_ANSWERS: dict[str, str] = {
    "LOADING Redis is loading the dataset in memory": "LOADING",
    "READONLY You can't write against a read only replica.": "READONLY",
    "OOM command not allowed when used memory > 'maxmemory'.": "OOM",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.": "MISCONF",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.": "BUSY",
    "NOREPLICAS Not enough good replicas to write.": "NOREPLICAS",
    "CLUSTERDOWN The cluster is down": "CLUSTERDOWN",
    "CLUSTERDOWN Hash slot not served": "CLUSTERDOWN",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.": "MASTERDOWN",
    "TRYAGAIN Multiple keys request during rehashing of slot": "TRYAGAIN",
    "MOVED 3999 127.0.0.1:6381": "MOVED",
    "ASK 3999 127.0.0.1:6381": "ASK",
    "NOAUTH Authentication required.": "NOAUTH",
    "NOPERM User default has no permissions to run the 'get' command": "NOPERM",
    "DENIED Redis is running in protected mode because protected mode is enabled": "DENIED",
    "ERR max number of clients reached": "connection",
}


def test_every_known_error_prefix_is_among_the_tested_answers() -> None:
    assert {prefix for prefix in ERROR_ANSWERS.values() if prefix.isupper()} | {"WRONGPASS"} == set(
        calls.ERROR_PREFIXES
    )


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("answer", ERROR_ANSWERS, ids=lambda answer: answer[:24].strip())
def test_an_error_answer_that_may_pass_is_unavailable(answer: str, call: str) -> None:
    with FakeServer(lambda _: f"-{answer}\r\n".encode()) as server, connect(server.url) as client:
        assert_unavailable(store_on(client), call, ERROR_ANSWERS[answer])
        assert len(server.commands) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "ERR unknown command 'EVALSHA'",
        "ERR Error compiling script (new function): user_script:1: syntax error",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "ERR value is not an integer or out of range",
        "EXECABORT Transaction discarded because of previous errors.",
    ],
    ids=lambda answer: answer[:24],
)
@pytest.mark.parametrize("call", CALLS)
def test_an_error_of_the_program_is_raised_as_it_is(answer: str, call: str) -> None:
    with FakeServer(lambda _: f"-{answer}\r\n".encode()) as server, connect(server.url) as client:
        with pytest.raises(redis.ResponseError):
            CALLS[call](store_on(client))
        assert len(server.commands) == 1


@pytest.mark.parametrize("call", CALLS)
def test_an_answer_that_is_not_redis_is_unavailable(call: str) -> None:
    with FakeServer(lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n") as server, connect(server.url) as client:
        assert_unanswered(store_on(client), call, "protocol")


def test_the_wait_for_a_lost_answer_is_bounded_and_nothing_is_sent_again() -> None:
    with FakeServer(lambda _: b"") as server, connect(server.url) as client:
        assert_all_unanswered(store_on(client), "timeout")
        assert len(server.commands) == len(CALLS)


@pytest.mark.parametrize("call", CALLS)
def test_only_a_read_whose_connection_breaks_is_sent_once_more(call: str) -> None:
    with FakeServer(lambda _: None) as server, connect(server.url) as client:
        assert_unanswered(store_on(client), call, "connection")
        assert len(server.commands) == (2 if call in READS else 1)


@pytest.mark.parametrize(("call", "answer"), [("read", b"$6\r\n1 true\r\n"), ("events", b"*0\r\n")])
def test_the_answer_to_a_read_that_was_sent_once_more_counts(call: str, answer: bytes) -> None:
    answers: list[Answer] = [None, answer]
    with FakeServer(lambda _: answers.pop(0)) as server, connect(server.url) as client:
        CALLS[call](store_on(client))
        assert len(server.commands) == 2


def test_a_connection_with_an_unrequested_answer_is_not_used_again() -> None:
    """Otherwise every later call would get the answer of the one before it: that of another game."""
    answers: list[Answer] = [b"$6\r\n1 true\r\n$7\r\n9 false\r\n", b"$6\r\n2 true\r\n"]
    with FakeServer(lambda _: answers.pop(0)) as server, connect(server.url) as client:
        store = store_on(client)
        assert store.read("game") == StoredGame(1, b"true")
        assert store.read("game") == StoredGame(2, b"true")


def test_after_a_write_without_a_replica_the_next_ones_wait_shortly(monkeypatch: pytest.MonkeyPatch) -> None:
    """But one a second, as the replica may be far away; and all again once it has confirmed one."""
    confirmed = b":0\r\n"
    with FakeServer(lambda command: confirmed if command[0] == b"WAIT" else b"+OK\r\n") as server:
        writing = redis_calls(open_topology(server.url, 2), replicated=True)

        def wait(*, confirm: int, full_after: float = 1000.0) -> bytes:
            nonlocal confirmed
            confirmed = b":%d\r\n" % confirm
            monkeypatch.setattr(calls, "FULL_WAIT_SECONDS", full_after)
            with suppress(OutcomeUnknown):
                writing.write("check", (b"key",), 1, command=b"SET")
            name, replicas, milliseconds = server.commands[-1]
            assert (name, replicas) == (b"WAIT", b"2")
            return milliseconds

        full, short = b"500", b"50"
        assert [wait(confirm=1), wait(confirm=1), wait(confirm=1)] == [full, short, short]
        assert [wait(confirm=2), wait(confirm=1, full_after=0.0), wait(confirm=1)] == [short, full, full]
        assert wait(confirm=2) == short
        assert wait(confirm=2) == full


def test_writes_that_wait_for_a_replica_leave_connections_for_reads(server: RealServer, client: redis.Redis) -> None:
    nodes = SingleNodeTopology(client, 1)
    writing = redis_calls(nodes, replicated=True)

    def write_one(number: int) -> str:
        with pytest.raises((OutcomeUnknown, StorageUnavailable)) as error:
            writing.write("check", (b"key",), number, command=b"SET")
        return error.value.reason

    with ThreadPoolExecutor(MAX_CONNECTIONS * 2) as pool:
        writes = [pool.submit(write_one, number) for number in range(MAX_CONNECTIONS * 2)]
        until(lambda: server.admin.info("clients")["blocked_clients"] >= MAX_WAITING // 2)
        for _ in range(20):
            assert nodes.call(b"key", (b"EXISTS", b"key")) == [1]
            assert server.admin.info("clients")["blocked_clients"] <= MAX_WAITING
        assert {each.result() for each in writes} <= {"no replica", "pool"}


def test_why_a_server_is_not_reached_is_logged_once(
    server: RealServer, store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger=errors.__name__)

    def told(calls: int = 3) -> list[str]:
        caplog.clear()
        for _ in range(calls):
            with suppress(StorageUnavailable):
                store.read("game")
        return [record.getMessage() for record in caplog.records]

    assert told() == []
    server.kill()
    (why,) = told()
    assert why.startswith(f"cannot connect to {server.socket_path}: ")
    assert "No such file" in why or "refused" in why
    server.start()
    assert told() == [f"this is over: cannot connect to {server.socket_path}"]
    server.kill()
    assert told() == []  # the same within a minute


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("rediss://127.0.0.1:1/0?ssl_ca_certs=/no/such.crt", "there is no file /no/such.crt (ssl_ca_certs)"),
        ("redis://127.0.0.1:1", "connecting to 127.0.0.1:1. Connection refused."),
    ],
)
def test_the_reason_that_is_known_is_logged(
    url: str, why: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "TROUBLES", errors.Troubles())
    assert open_topology(url).durability_warnings() == []
    assert why in caplog.text


def test_a_wrong_password_and_a_missing_right_are_logged(server: RealServer, caplog: pytest.LogCaptureFixture) -> None:
    server.admin.acl_setuser("reader", enabled=True, passwords=["+right"], categories=["+@read"], keys=["*"])
    for password, call in (("wrong", "read"), ("right", "commit")):
        url = server.url.replace("unix://", f"unix://reader:{password}@")
        with connect(url) as client, suppress(StorageUnavailable):
            CALLS[call](store_on(client))
    assert "invalid username-password pair" in caplog.text
    assert "has no permissions to run the 'evalsha' command" in caplog.text
    assert "right@" not in caplog.text


# ── Errors without a server ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (exceptions.RedisClusterException("cannot be connected"), "cluster"),
        (exceptions.SlotNotCoveredError("slot 7"), "cluster"),
        (exceptions.ClusterError("TTL exhausted."), "cluster"),
        (exceptions.MaxConnectionsError("Too many connections"), "pool"),
        (exceptions.ExternalAuthProviderError("problem with LDAP service"), "auth"),
        (exceptions.AuthorizationError("no"), "auth"),
        (TimeoutError(), "timeout"),
        (BrokenPipeError(), "connection"),
        (exceptions.CrossSlotTransactionError("two slots"), None),
        (exceptions.DataError("Invalid input of type"), None),
        (exceptions.NoScriptError("No matching script."), None),
        (KeyError("game"), None),
        (ValueError("OOM is only a word here"), None),
    ],
    ids=lambda case: type(case).__name__ if isinstance(case, Exception) else None,
)
def test_other_errors_of_an_unreachable_store_are_unavailable_and_those_of_the_program_are_not(
    error: Exception, reason: str | None
) -> None:
    unavailable = calls.as_unavailable(error)
    assert (None if unavailable is None else unavailable.reason) == reason


def test_the_duration_of_every_operation_is_observed_also_of_one_that_fails(
    server: RealServer, client: redis.Redis
) -> None:
    operations: list[str] = []

    def observe(operation: str, seconds: float) -> None:
        assert seconds > 0
        operations.append(operation)

    store = redis_store(SingleNodeTopology(client), TTL, observe=observe)
    store.create("game", b"s", [b"e"], write())
    store.read("game")
    server.kill()
    for call in (
        lambda: store.commit("game", Commit(1, b"t", [b"f"], write())),
        lambda: store.find_write("game", "name"),
        lambda: store.event_range("game", 0, 1),
    ):
        with pytest.raises(StorageUnavailable) as error:
            call()
        assert isinstance(error.value.__cause__, Exception)
        assert isinstance(error.value.__cause__.__cause__, redis.ConnectionError)
    assert operations == ["create", "read", "commit", "find_write", "event_range"]


def test_the_reason_of_every_failed_write_is_observed(server: RealServer, client: redis.Redis) -> None:
    reasons: list[str] = []
    nodes = SingleNodeTopology(client)
    store = redis_store(nodes, TTL, replicated=True, observe_failure=reasons.append)
    for call in ("create", "check"):
        assert_unreplicated(store, call)
    with full(server):
        assert_unavailable(store, "check", "OOM")
    server.kill()
    assert_unavailable(store, "commit", "connection")
    assert_unavailable(store, "read", "connection")
    assert reasons == ["no replica", "no replica", "OOM", "connection"]


def assert_unreplicated(store: RedisStore, call: str) -> None:
    with within(3), pytest.raises((StorageUnavailable, OutcomeUnknown), match="no replica"):
        CALLS[call](store)
