"""The keys under which Redis keeps games, applications, and what is counted.

Owns the names of all keys. All keys of a game contain the hash tag ``{<game>}``, so that they lie in one slot of a
Cluster and one script may use all of them. The reminders of the games of a shard are in sets with the hash tag of that
shard, ``{<tag>}``, which lies in the same slot as its games. What belongs to an application has its id as the hash tag,
``{<app>}``, and lies in the same slot as its reminders. Does not depend on what the values mean, or how they are sent.

=============================== ===================================================================
``domino:{<game>}``             string: ``<version> <state>``, the version in decimal digits;
                                also the sharded channel on which its new events are published
``domino:{<game>}:events``      list: the last events, oldest first; the newest is number
                                ``<version>``. Each is ``<id> <event>``: the first of a write has
                                its id, the others an empty one. In a finished game the first
                                entry is a block of events (``service.games.store.redis_store``)
``domino:{<game>}:hint``        string: the version and the beginning of the state that the last hint is
                                for, and behind that the hint, once it is computed
``domino:{<game>}:review``      string: the review of a finished match, ``+`` before it if it is complete,
                                else ``-``
``domino:{<game>}:key:<name>``  string, for 24 hours: ``<id> <version> <fingerprint>`` of the write
                                under a client's idempotency key
``domino:key:<name>``           string, for 24 hours: the value reserved under the idempotency key of
                                who creates a game, or takes a seat without its id
``domino:code:{<tag>}:<d>``     string, while a seat is open: the game of the shard with the join code of
                                which ``<d>`` is a digest
``domino:<kind>:{<tag>}``       sorted set, for each kind of reminders of games (``service.games.reminders``):
                                the tenants of games of the shard that have one. The score is not later
                                than when the first of their games is due, in milliseconds since
                                1970; for a tenant who waits for a turn, when the last one was
``domino:<kind>:{<tag>}:<tenant>``
                                sorted set: these games of the tenant, by when they are due
``domino:heartbeat:{<tag>}``    string: ``<last> <since> <until>``, when players could last move, and
                                the allowance after the last outage. On
                                servers that share the games, one for each shard; else for the first
``domino:webhooks:{<tag>}``     sorted set: the endpoints of the applications of the shard for which
                                there are messages, by when one is to be sent
``domino:erasures:{<tag>}``     sorted set: the applications of the shard with people who are to be
                                erased, by when to go on with it
``domino:{<app>}:app``          string: the record of an application, with the SHA-256 of its keys
``domino:apps``                 set: the ids of all applications
``domino:deleted:{<tag>}``      sorted set: the games of the shard that were deleted in the last ten
                                minutes, by when; ``<game> erased`` for one from which a player was
                                erased
``domino:games:{<tag>}``        hash: the games of the shard, but those that were deleted, and some that
                                have expired; of each ``<tenant>``
``domino:{<app>}:index``        hash: the games of an application, as its index knows them (script
                                ``index``); ``domino:{<app>}`` is the channel on which it is told
                                that its feed goes on
``domino:{<app>}:games``        sorted set: these games by the time of the last write
``domino:{<app>}:ends``         sorted set: the same games by when they expire
``domino:{<app>}:bytes``        string: the sum of the sizes of all games in the index, in decimal digits
``domino:{<app>}:gone``         sorted set: those that were deleted, by when that was noted
``domino:{<app>}:ref:<d>``      sorted set: the games with a ref, of which ``<d>`` is a digest, by the
                                time of the last write
``domino:{<app>}:player:<d>``   sorted set: the games of the player with a ref, as above
``domino:{<app>}:waiting:<d>``  sorted set: those that wait for this player, the most urgent first
``domino:{<app>}:webhooks``     hash: the endpoints of an application by their ids, as JSON
``domino:{<app>}:repeats``      hash, for 24 hours: the requests of an application under idempotency
                                keys by their names, ``<time> <fingerprint> <answer>``
``domino:{<app>}:erasures``     sorted set: the refs of people who are to be erased, by when that was
                                asked for last
``domino:{<app>}:endpoints``    set: the ids of those that were ever active: they are told of its
                                games
``domino:{<app>}:feed``         stream: the feed of the application. The fields of an item are ``item``,
                                without refs, and ``game``
``domino:{<app>}:webhook:<id>:due``
                                sorted set: the games of which an endpoint is to be told, by when.
                                Whatever is new gives a game another score
``domino:{<app>}:webhook:<id>:notified``
                                hash: the version up to which an endpoint knows a game that is due;
                                it knows all that the index does of others
``domino:{<app>}:webhook:<id>:failures``
                                hash: failed attempts in a row, by game that is due
``domino:{<app>}:webhook:<id>:attempts``
                                list: the last attempts, the newest first, as JSON
``domino:{lobby}``              hash: the games with open seats that are public for everybody, and those
                                that had some lately (script ``lobby``)
``domino:{lobby}:until``        sorted set: all of these by when they are forgotten
``domino:{lobby}:open``         sorted set: those with open seats, by when they were created, as they are
                                shown: some of each application; with ``:<variant>`` those of a
                                variant
``domino:{lobby}:open@<app>``   sorted set: all those of an application; also with ``:<variant>``
``domino:{<app>}:lobby``        the same for the lobby of an application, which has also the games that
                                are public for it alone; with ``:until`` and ``:open`` as above
``domino:{<app>}:tables:<form>``
                                sorted set: the tables of this form with open seats at which seekers are sat
                                down, by when they were opened; those of everybody with ``{lobby}``
``domino:{<app>}:tables:<form>:seats``
                                hash: what is known of these tables (script ``claim_table``)
``domino:{<app>}:claim:<name>`` string: the table that a seeker was sent to; for 24 hours under an idempotency
                                key
``domino:{<game>}:looks``       hash, for ten minutes: when each seat of a waiting game has last looked at it
``domino:share:{<tenant>}:<day>``
                                string, for a day: the bytes that games of a tenant, an application or
                                a network, have taken on this day since 1970; with ``reserve`` in place
                                of ``share``, those of the reserve
``domino:{<tenant>}:alone``     sorted set: the games of a tenant that computer players alone go on with, and
                                some that have ended, by when they were noted
``domino:check:<number>``       string, for a second: writing it shows that games could be written
=============================== ===================================================================
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import lru_cache
from hashlib import sha256
from typing import Final

from service.redis.shards import TAGS

HEARTBEATS: Final = tuple(b"domino:heartbeat:{%b}" % tag.encode() for tag in TAGS)
"""When players could last move, by shard."""


def heartbeat(shard: int, *, is_one: bool) -> bytes:
    """Return the key of the heartbeat of a shard; ``is_one``: one server has all shards, and one heartbeat for them."""
    return HEARTBEATS[0 if is_one else shard]


APPLICATIONS: Final = b"domino:apps"
"""The set of the ids of all applications."""
DELETED: Final = tuple(b"domino:deleted:{%b}" % tag.encode() for tag in TAGS)
"""The games that were deleted lately, by shard."""
STORED: Final = tuple(b"domino:games:{%b}" % tag.encode() for tag in TAGS)
"""The index of all games, by shard."""

WINDOWS: Final = b"domino:limit"
"""How the keys of counts in windows of time begin."""

CHECKS = tuple(b"domino:check:%d" % number for number in range(256))
"""Enough for each primary of a Cluster to own one."""


@lru_cache(maxsize=1024)
def of_game(game: str) -> tuple[bytes, ...]:
    """Return the keys of a game as scripts take them: its state and its events.

    Cached, as a game is written many times.
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
    """Return the keys of a game and of what is computed of it, as the scripts take them that delete or weigh it."""
    return of_game(game) + learning(game)


def idempotency(game: str, name: str) -> bytes:
    """Return the key of the idempotency record of that ``name``, which scripts take behind those of its game."""
    return b"%b:key:%b" % (of_game(game)[0], name.encode())


def state(game: str) -> bytes:
    """Return the key of the version and state of a game, and the channel of its notifications."""
    # The id may be anything that a client puts into a URL: a lone surrogate must be a game that does not exist, too. An
    # empty hash tag counts as none, and the keys would lie in many slots: a byte that no id contains fills it.
    tag = game.encode("utf-8", "surrogatepass")
    return b"domino:{\xff%b}" % tag if not tag or tag.startswith(b"}") else b"domino:{%b}" % tag


def looks(game: str) -> bytes:
    """Return the key of when the players of a waiting game have looked at it."""
    return state(game) + b":looks"


def tables(owner: str, form: str) -> tuple[bytes, bytes]:
    """Return the keys of the tables of a form, which belong to an application, or if ``owner`` is empty to nobody."""
    base = b"%b:tables:%b" % (_seeking(owner), form.encode())
    return base, base + b":seats"


def claim(owner: str, name: str) -> bytes:
    """Return the key of the table that a seeker was sent to; ``owner`` as in ``tables``."""
    return b"%b:claim:%b" % (_seeking(owner), name.encode())


def _seeking(owner: str) -> bytes:
    return state(owner) if owner else b"domino:{lobby}"


def lobby(app: str | None) -> tuple[bytes, bytes, bytes]:
    """Return the keys of the lobby of an application, or of that for everybody, as its scripts take them."""
    base = b"domino:{lobby}" if app is None else state(app) + b":lobby"
    return base, base + b":until", base + b":open"


@lru_cache
def reminder_sets(kind: str) -> tuple[bytes, ...]:
    """Return the keys of the reminders of a kind, by shard: sets of tenants, or of what the reminders are about."""
    return tuple(b"domino:%b:{%b}" % (kind.encode(), tag.encode()) for tag in TAGS)


def reminders(kind: str, shard: int, tenant: str) -> bytes:
    """Return the key of a tenant's reminders of this kind."""
    return b"%b:%b" % (reminder_sets(kind)[shard], tenant.encode())


def events(game: str) -> bytes:
    """Return the key of the events of a game."""
    return state(game) + b":events"


def games_of_bots(tenant: str) -> bytes:
    """Return the key of the games of a tenant that computer players alone go on with."""
    return state(tenant) + b":alone"


def join_code(shard: int, code: bytes) -> bytes:
    """Return the key of the game of this shard that is found by the join code with this hash."""
    return b"domino:code:{%b}:%b" % (TAGS[shard].encode(), urlsafe_b64encode(code)[:22])


def reservation(name: str) -> bytes:
    """Return the key of the value that is reserved under a name."""
    return b"domino:key:%b" % name.encode()


def window(key: str) -> bytes:
    """Return the key of a count in a window of time."""
    return b"%b:%b" % (WINDOWS, key.encode())


def share(tenant: str, day: int) -> bytes:
    """Return the key of the bytes that a tenant has taken on a day."""
    return b"domino:share:{%b}:%d" % (tenant.encode(), day)


def reserve_share(tenant: str, day: int) -> bytes:
    """Return the key of the bytes of the reserve that a tenant has taken on a day."""
    return b"domino:reserve:{%b}:%d" % (tenant.encode(), day)


def totals(app: str) -> tuple[bytes, bytes]:
    """Return the keys of the games in the index of an application, and of the sum of their sizes."""
    return state(app) + b":games", state(app) + b":bytes"


def application(app: str) -> bytes:
    """Return the key of the record of an application."""
    return b"domino:{%b}:app" % app.encode()


def webhooks(app: str) -> bytes:
    """Return the key of the endpoints of an application."""
    return state(app) + b":webhooks"


def repeats(app: str) -> bytes:
    """Return the key of the requests of an application under idempotency keys."""
    return state(app) + b":repeats"


def erasures(app: str) -> bytes:
    """Return the key of the people of an application who are to be erased."""
    return state(app) + b":erasures"


def index(app: str) -> bytes:
    """Return the key of the index of an application; the keys of its lists begin with it, without ``:index``."""
    return state(app) + b":index"


def feed(app: str) -> bytes:
    """Return the key of the feed of an application."""
    return state(app) + b":feed"


def endpoints(app: str) -> bytes:
    """Return the key of the endpoints that are notified of the games of an application."""
    return state(app) + b":endpoints"


def webhook(app: str, webhook_id: str, name: str) -> bytes:
    """Return the key of what is kept of an endpoint: ``due``, ``notified``, ``failures`` or ``attempts``."""
    return b"%b:webhook:%b:%b" % (state(app), webhook_id.encode(), name.encode())


def listed(app: str, kind: str, ref: str) -> bytes:
    """Return the key of the games with this ref, of the player with it, or that wait for this player."""
    return b"%b:%b:%b" % (state(app), kind.encode(), digest(ref))


def digest(ref: str) -> bytes:
    """Return what stands for a ref in names of keys, or for a URL: 22 characters of its SHA-256."""
    return urlsafe_b64encode(sha256(ref.encode("utf-8", "surrogatepass")).digest())[:22]
