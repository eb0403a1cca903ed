"""The names of all keys in Redis, and the form of their values.

Owns the names. All keys of a game contain the hash tag ``{<game>}``, so that they are in one slot of a Cluster and one
script can use all of them. The reminders of the games of a shard are in sets with the hash tag of the shard,
``{<tag>}``, which is in the same slot as its games. All keys of an application have its id as the hash tag,
``{<app>}``, and are in the same slot as its reminders. Does not depend on what the values mean, or how they are sent.

``<d>`` is a digest, ``<name>`` a name that is derived from an idempotency key.

=============================== ===================================================================
``domino:{<game>}``             string: ``<version> <state>``, the version in decimal digits;
                                also the sharded channel on which its new events are published
``domino:{<game>}:events``      list: the last events, oldest first; the newest is number
                                ``<version>``. Each is ``<id> <event>``: the first event of a write
                                has the id of the write, the others an empty one. In a finished game
                                the first entry is a block of events
                                (``service.games.store.redis_store``)
``domino:{<game>}:hint``        string: the version and the beginning of the state that the last hint is
                                for, followed by the hint once it is computed
``domino:{<game>}:review``      string: the review of a finished match, after ``+`` if it is complete,
                                else after ``-``
``domino:{<game>}:key:<name>``  string, for 24 hours: ``<id> <version> <fingerprint>`` of the write with
                                an idempotency key
``domino:key:<name>``           string, for 24 hours: the value that is reserved under an idempotency key
                                of a request that creates a game, or takes a seat without the id of
                                its game
``domino:code:{<tag>}:<d>``     string, while a seat is open: the game of the shard with the join code of
                                this digest
``domino:<kind>:{<tag>}``       sorted set, for each kind of reminders of games (``service.games.reminders``):
                                the tenants that own a game of the shard with such a reminder. The
                                score is not later than when the first of these games is due, in
                                milliseconds since 1970; for a tenant that waits for a turn, it is the
                                time of the last turn
``domino:<kind>:{<tag>}:<tenant>``
                                sorted set: these games of the tenant, by the time at which they are due
``domino:heartbeat:{<tag>}``    string: ``<last> <since> <until>``: when players could last move, and the
                                allowance after the last outage. On servers that share the games, there
                                is one for each shard, else only for the first shard
``domino:webhooks:{<tag>}``     sorted set: the endpoints of the applications of the shard with due
                                messages, by the time at which the next one is due
``domino:erasures:{<tag>}``     sorted set: the applications of the shard with pending erasures, by the
                                time at which they are due
``domino:{<app>}:app``          string: the record of an application, with the SHA-256 of its keys
``domino:apps``                 set: the ids of all applications
``domino:deleted:{<tag>}``      sorted set: the games of the shard that were deleted in the last ten
                                minutes, by the time of the deletion; ``<game> erased`` for a game from
                                which a player was erased
``domino:games:{<tag>}``        hash: the tenant of each game of the shard, without deleted games, and
                                with some that have expired
``domino:{<app>}:index``        hash: the entries of the games of an application in its index (script
                                ``index``); ``domino:{<app>}`` is the channel for notifications of new
                                items in its feed
``domino:{<app>}:games``        sorted set: these games, by the time of the last write
``domino:{<app>}:ends``         sorted set: these games, by the time at which they expire
``domino:{<app>}:bytes``        string: the sum of the sizes of all games in the index, in decimal digits
``domino:{<app>}:gone``         sorted set: the deleted games, by the time at which the index got that
``domino:{<app>}:ref:<d>``      sorted set: the games with the ref of this digest, by the time of the last
                                write
``domino:{<app>}:player:<d>``   sorted set: the games with a player of the ref of this digest, by the time
                                of the last write
``domino:{<app>}:waiting:<d>``  sorted set: the games that wait for this player, the most urgent first
``domino:{<app>}:webhooks``     hash: the endpoints of an application, as JSON by their ids
``domino:{<app>}:repeats``      hash, for 24 hours: the idempotency records of an application,
                                ``<time> <fingerprint> <answer>`` by their names
``domino:{<app>}:erasures``     sorted set: the refs of people whose erasure is pending, by the time of
                                the last request
``domino:{<app>}:endpoints``    set: the ids of the endpoints that were ever active, which are notified of
                                games
``domino:{<app>}:feed``         stream: the feed of the application. The fields of an item are ``item``,
                                without refs, and ``game``
``domino:{<app>}:webhook:<id>:due``
                                sorted set: the games of which an endpoint has to be notified, by the time
                                at which they are due. Every further event changes the score of a game
``domino:{<app>}:webhook:<id>:notified``
                                hash: the version up to which an endpoint was notified, by due game. Of
                                other games it was notified up to the version in the index
``domino:{<app>}:webhook:<id>:failures``
                                hash: the number of consecutive failed attempts, by due game
``domino:{<app>}:webhook:<id>:attempts``
                                list: the last attempts, the newest first, as JSON
``domino:{lobby}``              hash: the games in the lobby for everybody, and those that have left it
                                lately (script ``lobby``)
``domino:{lobby}:until``        sorted set: these games, by the time at which their entries expire
``domino:{lobby}:open``         sorted set: the games with open seats that the lobby shows, by the time of
                                their creation, with a maximum for each application; with
                                ``:<variant>`` the games of a variant
``domino:{lobby}:open@<app>``   sorted set: all such games of an application; also with ``:<variant>``
``domino:{<app>}:lobby``        the same for the lobby of an application, which also has the games that
                                are public only there; with ``:until`` and ``:open`` as above
``domino:{<app>}:tables:<form>``
                                sorted set: the tables of this form with open seats, to which seekers are
                                sent, by the time of their opening; with ``{lobby}`` in place of
                                ``{<app>}`` those that belong to no application
``domino:{<app>}:tables:<form>:seats``
                                hash: the state of these tables (script ``claim_table``)
``domino:{<app>}:claim:<name>`` string: the table to which a seeker was sent; for 24 hours if the request
                                had an idempotency key
``domino:{<game>}:looks``       hash, for ten minutes: when each seat of a waiting game last read the game
``domino:share:{<tenant>}:<day>``
                                string, for a day: the bytes that a tenant, an application or a network,
                                has stored on this day since 1970; with ``reserve`` in place of
                                ``share``, the bytes that it has stored in the memory reserve
``domino:{<tenant>}:alone``     sorted set: the games of a tenant that only computer players continue, and
                                some that have ended, by the time at which they were added
``domino:check:<number>``       string, for a second: is written to check that games can be written
=============================== ===================================================================
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import lru_cache
from hashlib import sha256
from typing import Final, Literal

from service.redis.shards import TAGS, shard_of

HEARTBEATS: Final = tuple(b"domino:heartbeat:{%b}" % tag.encode() for tag in TAGS)
"""The keys of the heartbeats, by shard."""


def heartbeat(shard: int, *, is_one: bool) -> bytes:
    """Return the key of the heartbeat of a shard; ``is_one`` if one server has all shards, with one heartbeat."""
    return HEARTBEATS[0 if is_one else shard]


APPLICATIONS: Final = b"domino:apps"
"""The set of the ids of all applications."""
DELETED: Final = tuple(b"domino:deleted:{%b}" % tag.encode() for tag in TAGS)
"""The sets of recently deleted games, by shard."""
STORED: Final = tuple(b"domino:games:{%b}" % tag.encode() for tag in TAGS)
"""The index of all games, by shard."""

WINDOWS: Final = b"domino:limit"
"""The prefix of the keys of counts in windows of time."""

CHECKS = tuple(b"domino:check:%d" % number for number in range(256))
"""Keys to check servers with. They are so many that each primary of a Cluster owns one."""


@lru_cache(maxsize=1024)
def of_game(game: str) -> tuple[bytes, ...]:
    """Return the keys of the state and the events of a game, in the order that scripts expect.

    Cached, because a game is written many times.
    """
    base = state(game)
    return base, base + b":events"


@lru_cache(maxsize=1024)
def learning(game: str) -> tuple[bytes, bytes]:
    """Return the keys of the last hint of a game, and of its review."""
    base = state(game)
    return base + b":hint", base + b":review"


@lru_cache(maxsize=1024)
def all_of_game(game: str) -> tuple[bytes, ...]:
    """Return the keys of a game and its analysis, for the scripts that delete a game or return its size."""
    return of_game(game) + learning(game)


def idempotency(game: str, name: str) -> bytes:
    """Return the key of the idempotency record ``name`` of a game, which scripts expect after the keys of the game."""
    return b"%b:key:%b" % (of_game(game)[0], name.encode())


def state(game: str) -> bytes:
    """Return the key of the state of a game, which is also the channel of its notifications."""
    # The id can be any text from a URL. A lone surrogate must not raise an error: it is the id of no game. With an
    # empty hash tag the keys would be in different slots, so it gets a byte that no id contains.
    tag = game.encode("utf-8", "surrogatepass")
    return b"domino:{\xff%b}" % tag if not tag or tag.startswith(b"}") else b"domino:{%b}" % tag


Part = Literal[
    b"events", b"looks", b"alone", b"app", b"webhooks", b"repeats", b"erasures", b"index", b"feed", b"endpoints"
]


@lru_cache(maxsize=1024)
def part(name: Part, owner: str) -> bytes:
    """Return the key with this name of a game, a tenant or an application; ``state`` has the key without a name.

    Cached, as the other keys of applications and endpoints are, because an application has many games.
    """
    return b"%b:%b" % (state(owner), name)


def tables(owner: str, form: str) -> tuple[bytes, bytes]:
    """Return the keys of the tables of a form; ``owner`` is an application, or empty for tables without one."""
    base = b"%b:tables:%b" % (_seeking(owner), form.encode())
    return base, base + b":seats"


def claim(owner: str, name: str) -> bytes:
    """Return the key of the table to which a seeker was sent; ``owner`` as in ``tables``."""
    return b"%b:claim:%b" % (_seeking(owner), name.encode())


def _seeking(owner: str) -> bytes:
    return state(owner) if owner else b"domino:{lobby}"


def lobby(app: str | None) -> tuple[bytes, bytes, bytes]:
    """Return the keys of a lobby, in the order that scripts expect; ``None`` for the lobby for everybody."""
    base = b"domino:{lobby}" if app is None else state(app) + b":lobby"
    return base, base + b":until", base + b":open"


@lru_cache
def reminder_sets(kind: str) -> tuple[bytes, ...]:
    """Return the keys of the reminders of a kind, by shard: sets of tenants, of endpoints or of applications."""
    return tuple(b"domino:%b:{%b}" % (kind.encode(), tag.encode()) for tag in TAGS)


def reminders(kind: str, shard: int, tenant: str) -> bytes:
    """Return the key of a tenant's reminders of this kind."""
    return b"%b:%b" % (reminder_sets(kind)[shard], tenant.encode())


@lru_cache(maxsize=1024)
def reminders_of_application(kind: str, app: str) -> bytes:
    """Return the key of the reminders of this kind that belong to an application, or to its endpoints."""
    shard = shard_of(app)
    assert shard is not None, "the id of an application has a shard"
    return reminder_sets(kind)[shard]


def join_code(shard: int, code: bytes) -> bytes:
    """Return the key of the game of a shard with the join code of this hash."""
    return b"domino:code:{%b}:%b" % (TAGS[shard].encode(), urlsafe_b64encode(code)[:22])


def reservation(name: str) -> bytes:
    """Return the key of the value that is reserved for an idempotency key."""
    return b"domino:key:%b" % name.encode()


def window(key: str) -> bytes:
    """Return the key of a count in a window of time."""
    return b"%b:%b" % (WINDOWS, key.encode())


def share(tenant: str, day: int, *, of: bytes = b"share") -> bytes:
    """Return the key of the bytes that a tenant has stored on a day; ``of`` is ``reserve`` for the memory reserve."""
    return b"domino:%b:{%b}:%d" % (of, tenant.encode(), day)


def totals(app: str) -> tuple[bytes, bytes]:
    """Return the key of the games in the index of an application, and the key of the sum of their sizes."""
    return state(app) + b":games", state(app) + b":bytes"


@lru_cache(maxsize=1024)
def webhook(app: str, webhook_id: str, *names: str) -> tuple[bytes, ...]:
    """Return keys of an endpoint; each name is ``due``, ``notified``, ``failures`` or ``attempts``."""
    base = b"%b:webhook:%b:" % (state(app), webhook_id.encode())
    return tuple([base + name.encode() for name in names])


def listed(app: str, kind: str, ref: str) -> bytes:
    """Return the key of a list of games by ref; ``kind`` is ``ref``, ``player`` or ``waiting``."""
    return b"%b:%b:%b" % (state(app), kind.encode(), digest(ref))


def digest(ref: str) -> bytes:
    """Return a digest of a ref or a URL for names of keys: 22 characters of its SHA-256."""
    return urlsafe_b64encode(sha256(ref.encode("utf-8", "surrogatepass")).digest())[:22]
