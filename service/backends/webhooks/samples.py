"""Samples of messages: of the form of real ones, with invented data, for tests of what receives them.

Owns the content of a sample. No game, ref or player of a sample exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from service.backends.webhooks.messages import CREATED, DELETED, PING, TURN, Message, body_of, ping_message
from service.games.model.timestamps import format_rfc3339

_TURN_MS: Final = 60_000
_GAME: Final = {"game_id": "sampleGameOfNobodyAtAllA", "ref": "sample-match", "variant": "domino"}
_ADA: Final = {"seat": 0, "ref": "sample-player-1"}
_BO: Final = {"seat": 1, "ref": "sample-player-2"}
_OF_BO: Final = {"seat": 1, "player_ref": "sample-player-2"}
_NOBODY: Final[Mapping[str, Any]] = {"to_act": [], "waiting_for": []}
_BO_ACTS: Final = {"to_act": [1], "waiting_for": [_BO]}


def _deadline(at: int) -> dict[str, Any]:
    return {"deadline": format_rfc3339(at + _TURN_MS)}


_DATA: Final[Mapping[str, Callable[[int], dict[str, Any]]]] = {
    TURN: lambda at: {**_GAME, "version": 12, **_OF_BO, **_BO_ACTS, **_deadline(at)},
    CREATED: lambda _: {**_GAME, "version": 1, **_NOBODY, "rematch_of": "sampleGameOfNobodyBefore"},
    "game.joined": lambda _: {**_GAME, "version": 2, **_OF_BO, **_NOBODY},
    "game.round_over": lambda _: {**_GAME, "version": 31, "to_act": [0, 1], "waiting_for": [_ADA, _BO]},
    "game.finished": lambda _: {
        **_GAME,
        "version": 94,
        **_NOBODY,
        "winners": [1],
        "players": [{**_ADA, "total": 71, "rank": 2}, {**_BO, "total": 104, "rank": 1}],
    },
    "game.timed_out": lambda _: {**_GAME, "version": 13, **_OF_BO, **_BO_ACTS},
    DELETED: lambda _: {"game_id": _GAME["game_id"], "version": 95},
}
"""The content of a message of each type, but for ``webhook.ping``; ``at`` is its time, in milliseconds since 1970."""


def sample_data(kind: str, at: int) -> dict[str, Any]:
    """Return the content of a message of this type about a game at this time (milliseconds since 1970)."""
    return _DATA[kind](at)


def sample_message(endpoint: str, message: str, kind: str, at: int) -> Message:
    """Return the sample of any type that an application can choose; ``message`` is its id.

    A ping is a test as it is.
    """
    if kind == PING:
        return ping_message(endpoint, message, at)
    return Message(message, kind, 0, at, body_of(kind, at, sample_data(kind, at) | {"sample": True}))
