"""The names under which Redis keeps games: all of them, and nowhere else. (Those of limits: ``counters``.)

Everything of one game stands under the hash tag ``{<game>}``, so that it lies in one slot of a Cluster
and one script may touch all of it. Must not know: what the values hold, or how they are sent.

=============================== ===================================================================
``domino:{<game>}``             string: ``<version> <state>``, the version in decimal digits;
                                also the sharded channel on which its new events are published
``domino:{<game>}:events``      list: the last events, oldest first; the newest is number
                                ``<version>``. Each is ``<id> <event>``: the first of a write has
                                its id, the others an empty one. Of a finished game the first
                                entry is a block of events (``service.storage.event_frames``)
``domino:{<game>}:key:<name>``  string, for 24 hours: ``<id> <version> <fingerprint>`` of the write
                                that was made under a client's key
``domino:key:<name>``           string, for 24 hours: what is reserved under a creator's key
``domino:check``                never written; reading it shows that games could be read
=============================== ===================================================================
"""

from __future__ import annotations

CHECK = b"domino:check"


def state(game: str) -> bytes:
    """The key of the version and state of a game, and the channel of its news."""
    return b"domino:{%b}" % _tag(game)


def events(game: str) -> bytes:
    """The key of the events of a game."""
    return b"domino:{%b}:events" % _tag(game)


def idempotency(game: str, name: str) -> bytes:
    """The key of what was made in a game under a client's key."""
    return b"domino:{%b}:key:%b" % (_tag(game), name.encode())


def reservation(name: str) -> bytes:
    """The key of what is reserved under a creator's key."""
    return b"domino:key:%b" % name.encode()


def _tag(game: str) -> bytes:
    # The id may be anything a client puts into a URL: a lone surrogate too must be a game that does not exist. An empty
    # tag is none, and the keys would lie in many slots: a byte that no id has fills it.
    tag = game.encode("utf-8", "surrogatepass")
    return b"\xff" + tag if not tag or tag.startswith(b"}") else tag
