"""When the server cannot serve, the store says so within three seconds.

``refused`` is a call that surely changed nothing; ``unanswered`` is a write that was sent, and nobody knows.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import redis
from redis import exceptions

from service.games.ports import OutcomeUnknown, StorageUnavailable, StoredGame
from service.storage import redis_errors
from service.storage.connection import MAX_CONNECTIONS, connect
from service.storage.redis_store import RedisStore
from service.storage.topology import SingleNodeTopology
from tests.storage.clusters import until
from tests.storage.conftest import TTL
from tests.storage.servers import Answer, FalseServer, RealServer
from tests.storage.waits import waited, within
from tests.storage.write_requests import write

CALLS: dict[str, Callable[[RedisStore], object]] = {
    "check": lambda store: store.check(),
    "read": lambda store: store.read("game"),
    "events": lambda store: store.events("game", [1]),
    "commit": lambda store: store.commit("game", 1, b"lie", [b"lie"], write()),
    "create": lambda store: store.create("other", b"lie", [b"lie"], write()),
}
READS, WRITES = ("check", "read", "events"), ("commit", "create")


def refused(store: RedisStore, call: str, reason: str) -> None:
    with within(3), pytest.raises(StorageUnavailable) as fault:
        CALLS[call](store)
    assert fault.value.reason == reason
    assert 1 <= fault.value.retry_after <= 60


def unanswered(store: RedisStore, call: str, reason: str) -> None:
    """A read is refused, for it changes nothing; of a write the outcome is unknown."""
    if call in READS:
        refused(store, call, reason)
        return
    with within(3), pytest.raises(OutcomeUnknown) as fault:
        CALLS[call](store)
    assert fault.value.reason == reason
    assert 1 <= fault.value.retry_after <= 60


def all_unanswered(store: RedisStore, reason: str) -> None:
    """Each kind of call at once, for each of them waits."""
    with ThreadPoolExecutor(len(CALLS)) as pool:
        list(pool.map(lambda call: unanswered(store, call, reason), CALLS))


@pytest.fixture
def store(client: redis.Redis) -> RedisStore:
    """A store with one game at version 1, and a connection that was in use."""
    store = RedisStore(SingleNodeTopology(client), TTL)
    store.create("game", b"true", [b"true"], write())
    return store


def nothing_changed(store: RedisStore) -> None:
    assert store.read("game") == StoredGame(1, b"true")
    assert store.events("game", [1, 2]) == [b"true"]
    assert store.read("other") is None


# ── A real server that is hurt ───────────────────────────────────────────────────────────────────────────────────────


def test_a_killed_server_is_unavailable_and_back_when_it_is_back(server: RealServer, store: RedisStore) -> None:
    server.kill()
    for call in CALLS:
        refused(store, call, "connection")
    server.start()
    nothing_changed(store)


@pytest.mark.parametrize("call", CALLS)
def test_the_first_call_after_a_restart_works(server: RealServer, store: RedisStore, call: str) -> None:
    server.kill()
    server.start()
    CALLS[call](store)


def test_after_a_restart_every_connection_of_the_pool_works(server: RealServer, store: RedisStore) -> None:
    crowd = 20
    together = threading.Barrier(crowd)

    def move(seat: int) -> None:
        together.wait(30)
        for version in (1, 2):
            store.create(f"{seat} {version}", b"s", [b"e"], write())

    with ThreadPoolExecutor(crowd) as pool:
        list(pool.map(move, range(crowd)))
        assert server.admin.info("clients")["connected_clients"] > 5
        server.kill()
        server.start()
        list(pool.map(move, range(100, 100 + crowd)))


def test_a_frozen_server_is_unavailable_in_time(server: RealServer, store: RedisStore) -> None:
    server.freeze()
    try:
        all_unanswered(store, "timeout")  # over connections of which one was in use
        all_unanswered(store, "timeout")  # over new ones
    finally:
        server.thaw()
    assert store.read("game") is not None


def test_a_write_to_a_frozen_server_sent_again_is_made_once(server: RealServer, store: RedisStore) -> None:
    sent = write()
    server.freeze()
    try:
        with within(3):
            for _ in range(2):
                with pytest.raises(OutcomeUnknown, match="timeout"):
                    store.commit("game", 1, b"once", [b"once"], sent)
    finally:
        server.thaw()
    assert store.commit("game", 1, b"once", [b"once"], sent) is None
    assert store.read("game") == StoredGame(2, b"once")


def test_a_crowd_larger_than_the_pool_before_a_frozen_server_is_answered_in_time(
    server: RealServer, store: RedisStore
) -> None:
    crowd = MAX_CONNECTIONS * 3

    def read(_: int) -> str:
        with within(3), pytest.raises(StorageUnavailable) as fault:
            store.read("game")
        return fault.value.reason

    server.freeze()
    try:
        with ThreadPoolExecutor(crowd) as pool:
            reasons = list(pool.map(read, range(crowd)))
    finally:
        server.thaw()
    assert "timeout" in reasons
    assert set(reasons) <= {"timeout", "pool"}
    assert store.read("game") == StoredGame(1, b"true")


def test_a_crowd_that_writes_to_a_frozen_server_and_tries_again_is_answered_in_time(
    server: RealServer, store: RedisStore
) -> None:
    """As hosting does: a write without an answer is sent once more, if that took no longer than 1.5 seconds."""
    crowd = MAX_CONNECTIONS * 3
    sent = write()

    def commit(_: int) -> str:
        began = waited()
        try:
            store.commit("game", 1, b"once", [b"once"], sent)
        except OutcomeUnknown:
            if waited() - began <= 1.5:
                with pytest.raises((StorageUnavailable, OutcomeUnknown)):
                    store.commit("game", 1, b"once", [b"once"], sent)
        except StorageUnavailable as fault:
            return fault.reason
        assert waited() - began < 3
        return "unknown"

    server.freeze()
    try:
        with ThreadPoolExecutor(crowd) as pool:
            outcomes = list(pool.map(commit, range(crowd)))
    finally:
        server.thaw()
    assert set(outcomes) <= {"unknown", "pool"}
    assert outcomes.count("unknown") >= MAX_CONNECTIONS
    assert store.commit("game", 1, b"once", [b"once"], sent) is None
    assert store.events("game", [1, 2, 3]) == [b"true", b"once"]


@contextmanager
def full(server: RealServer) -> Iterator[None]:
    server.configure(maxmemory="1")
    yield
    server.configure(maxmemory="0")


@contextmanager
def read_only(server: RealServer) -> Iterator[None]:
    server.admin.replicaof("127.0.0.1", "1")
    yield
    server.admin.replicaof("NO", "ONE")


@contextmanager
def too_few_replicas(server: RealServer) -> Iterator[None]:
    server.configure(min_replicas_to_write="1")
    yield
    server.configure(min_replicas_to_write="0")


@contextmanager
def unable_to_save(server: RealServer) -> Iterator[None]:
    folder = str(server.admin.config_get("dir")["dir"])
    lost = Path(folder, "lost")
    lost.mkdir()
    server.configure(appendonly="no", dir=str(lost), save="3600 1")
    shutil.rmtree(lost)
    server.admin.bgsave()
    until(lambda: server.admin.info("persistence")["rdb_last_bgsave_status"] == "err")
    yield
    server.configure(dir=folder, save="")


@pytest.mark.parametrize(
    ("hurt", "word"),
    [(full, "OOM"), (read_only, "READONLY"), (too_few_replicas, "NOREPLICAS"), (unable_to_save, "MISCONF")],
    ids=lambda case: getattr(case, "__name__", case),
)
def test_a_server_that_takes_no_writes_is_still_read(
    server: RealServer, store: RedisStore, hurt: Callable[[RealServer], ExitStack], word: str
) -> None:
    with hurt(server):
        for _ in range(2):  # known to the server by their hash, and not known
            for call in WRITES:
                refused(store, call, word)
            store.check()
            nothing_changed(store)
            server.admin.script_flush()
    nothing_changed(store)
    assert store.commit("game", 1, b"now", [b"now"], write()) is None


def test_a_replica_that_lost_its_master_may_refuse_reads_too(server: RealServer, store: RedisStore) -> None:
    server.configure(replica_serve_stale_data="no")
    with read_only(server):
        for call in READS:
            refused(store, call, "MASTERDOWN")
        for call in WRITES:
            refused(store, call, "READONLY")
    nothing_changed(store)


def test_a_server_kept_busy_by_a_script_is_unavailable(server: RealServer, store: RedisStore) -> None:
    server.configure(busy_reply_threshold="1")
    with redis.Redis.from_url(server.url) as other, ThreadPoolExecutor(1) as pool:
        endless = pool.submit(other.eval, "while true do end", 0)
        try:
            until(lambda: says(server, b"BUSY"))
            for call in CALLS:
                refused(store, call, "BUSY")
        finally:
            server.admin.script_kill()
        assert isinstance(endless.exception(10), exceptions.ResponseError)
    nothing_changed(store)


def says(server: RealServer, word: bytes) -> bool:
    """Whether the server refuses a PING with this word."""
    try:
        server.admin.ping()
    except redis.RedisError as error:
        return str(error).startswith(word.decode())
    return False


def test_a_server_that_wants_a_password_is_unavailable_without_the_right_one(
    server: RealServer, store: RedisStore
) -> None:
    server.configure(requirepass="right")
    for credentials, reason in (("", "NOAUTH"), (":wrong@", "WRONGPASS"), ("nobody:right@", "WRONGPASS")):
        with connect(server.url.replace("unix://", f"unix://{credentials}")) as client:
            for call in CALLS:
                refused(RedisStore(SingleNodeTopology(client), TTL), call, reason)
    with connect(server.url.replace("unix://", "unix://:right@")) as client:
        nothing_changed(RedisStore(SingleNodeTopology(client), TTL))


def test_a_password_nobody_asked_for_is_unavailable_or_taken(server: RealServer, store: RedisStore) -> None:
    with connect(server.url.replace("unix://", "unix://:needless@")) as client:
        refused(RedisStore(SingleNodeTopology(client), TTL), "read", "auth")
    with connect(server.url.replace("unix://", "unix://default:needless@")) as client:
        nothing_changed(RedisStore(SingleNodeTopology(client), TTL))


def test_a_user_who_may_not_write_is_unavailable_for_writes(server: RealServer, store: RedisStore) -> None:
    server.admin.acl_setuser("reader", enabled=True, nopass=True, categories=["+@read"], keys=["*"])
    with connect(server.url.replace("unix://", "unix://reader:any@")) as client:
        for call in WRITES:
            refused(RedisStore(SingleNodeTopology(client), TTL), call, "NOPERM")
        assert RedisStore(SingleNodeTopology(client), TTL).read("game") == StoredGame(1, b"true")


def test_a_server_with_no_room_for_another_client_is_unavailable(server: RealServer, store: RedisStore) -> None:
    server.configure(maxclients="1")
    with connect(server.url) as client:
        refused(RedisStore(SingleNodeTopology(client), TTL), "read", "connection")
    server.configure(maxclients="100")


def test_a_cluster_without_its_slots_is_down(tmp_path: Path) -> None:
    with ExitStack() as ending:
        server = RealServer(tmp_path, **{"cluster-enabled": "yes"})
        ending.callback(server.stop)
        client = ending.enter_context(connect(server.url))
        for call in CALLS:
            refused(RedisStore(SingleNodeTopology(client), TTL), call, "CLUSTERDOWN")


# ── A false server, for what a real one will not say when asked ──────────────────────────────────────────────────────

SAID: dict[str, str] = {
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


def test_every_word_for_not_now_is_tried_on_a_server() -> None:
    assert {word for word in SAID.values() if word.isupper()} | {"WRONGPASS"} == set(redis_errors.ERROR_PREFIXES)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("said", SAID, ids=lambda said: said[:24].strip())
def test_what_a_server_says_instead_of_serving_is_unavailable(said: str, call: str) -> None:
    with FalseServer(lambda _: f"-{said}\r\n".encode()) as server, connect(server.url) as client:
        refused(RedisStore(SingleNodeTopology(client), TTL), call, SAID[said])
        assert len(server.commands) == 1


@pytest.mark.parametrize(
    "said",
    [
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "ERR unknown command 'EVALSHA'",
        "ERR Error compiling script (new function): user_script:1: syntax error",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "ERR value is not an integer or out of range",
        "EXECABORT Transaction discarded because of previous errors.",
    ],
    ids=lambda said: said[:24],
)
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_of_the_program_is_raised_as_it_is(said: str, call: str) -> None:
    with FalseServer(lambda _: f"-{said}\r\n".encode()) as server, connect(server.url) as client:
        with pytest.raises(redis.ResponseError):
            CALLS[call](RedisStore(SingleNodeTopology(client), TTL))
        assert len(server.commands) == 1


@pytest.mark.parametrize("call", CALLS)
def test_an_answer_that_is_not_redis_is_unavailable(call: str) -> None:
    with FalseServer(lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n") as server, connect(server.url) as client:
        unanswered(RedisStore(SingleNodeTopology(client), TTL), call, "protocol")


def test_a_lost_answer_is_waited_for_in_time_and_nothing_is_sent_again() -> None:
    with FalseServer(lambda _: b"") as server, connect(server.url) as client:
        all_unanswered(RedisStore(SingleNodeTopology(client), TTL), "timeout")
        assert len(server.commands) == len(CALLS)


@pytest.mark.parametrize("call", WRITES)
def test_a_write_whose_connection_breaks_is_not_sent_again(call: str) -> None:
    with FalseServer(lambda _: None) as server, connect(server.url) as client:
        unanswered(RedisStore(SingleNodeTopology(client), TTL), call, "connection")
        assert len(server.commands) == 1


@pytest.mark.parametrize(
    ("call", "answer"), [("check", b"$-1\r\n"), ("read", b"$6\r\n1 true\r\n"), ("events", b"*0\r\n")]
)
def test_a_read_whose_connection_breaks_is_sent_once_more(call: str, answer: bytes) -> None:
    answers: list[Answer] = [None, answer]
    with FalseServer(lambda _: answers.pop(0)) as server, connect(server.url) as client:
        CALLS[call](RedisStore(SingleNodeTopology(client), TTL))
        assert len(server.commands) == 2


@pytest.mark.parametrize("call", READS)
def test_a_read_whose_connection_breaks_twice_is_unavailable(call: str) -> None:
    with FalseServer(lambda _: None) as server, connect(server.url) as client:
        refused(RedisStore(SingleNodeTopology(client), TTL), call, "connection")
        assert len(server.commands) == 2


def test_a_connection_that_was_spoken_to_unasked_is_not_used_again() -> None:
    """Else every later answer would be the one before it: another game's."""
    answers: list[Answer] = [b"$6\r\n1 true\r\n$7\r\n9 false\r\n", b"$6\r\n2 true\r\n"]
    with FalseServer(lambda _: answers.pop(0)) as server, connect(server.url) as client:
        store = RedisStore(SingleNodeTopology(client), TTL)
        assert store.read("game") == StoredGame(1, b"true")
        assert store.read("game") == StoredGame(2, b"true")


# ── Errors that are made, not met ────────────────────────────────────────────────────────────────────────────────────


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
    ],
    ids=lambda case: type(case).__name__ if isinstance(case, Exception) else None,
)
def test_other_errors_of_a_store_out_of_reach_are_unavailable(error: Exception, reason: str) -> None:
    fault = redis_errors.as_unavailable(error)
    assert fault is not None
    assert fault.reason == reason


@pytest.mark.parametrize(
    "error",
    [
        exceptions.CrossSlotTransactionError("two slots"),
        exceptions.DataError("Invalid input of type"),
        exceptions.NoScriptError("No matching script."),
        KeyError("game"),
        ValueError("OOM is only a word here"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_other_errors_of_the_program_are_not(error: Exception) -> None:
    assert redis_errors.as_unavailable(error) is None


def test_the_first_error_stays_to_be_seen_in_the_log(server: RealServer, store: RedisStore) -> None:
    server.kill()
    with pytest.raises(StorageUnavailable) as fault:
        store.read("game")
    assert fault.value.__cause__ is not None
    assert isinstance(fault.value.__cause__.__cause__, redis.ConnectionError)
