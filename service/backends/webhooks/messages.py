"""The messages to an endpoint about a game: which there are after a version, and what they say.

Owns their form and their ids. A message has what a spectator knows of its event (``service.games.model.views``) and the
refs that the application gave. Its id depends only on the endpoint, the game, the version and the type: a process that
makes it again, after any crash, makes the same one. Does not depend on how messages are sent.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from service.backends.index.summaries import awaited, refs_of, results, with_ref, with_refs
from service.engine.events import Finished, RoundEnded
from service.engine.presence import TimedOut
from service.engine.state import PLAYING, ROUND_OVER
from service.games.model.game import Game
from service.games.model.game_events import Created, EventEnvelope, Filled, Freed, Joined, Reminded, Started
from service.games.model.views import format_rfc3339, view_event

TURN: Final = "game.turn"
DEADLINE: Final = "game.deadline"
CREATED: Final = "game.created"
DELETED: Final = "game.deleted"
PING: Final = "webhook.ping"
CHALLENGE: Final = "webhook.challenge"

_TYPES: Final[Mapping[type, str]] = {
    Joined: "game.joined",
    Freed: "game.freed",
    Filled: "game.filled",
    Started: "game.started",
    RoundEnded: "game.round_over",
    Finished: "game.finished",
    TimedOut: "game.timed_out",
}

MESSAGE_TYPES: Final = (TURN, DEADLINE, CREATED, *_TYPES.values(), DELETED, PING)
"""The types of messages that an application can choose."""


class Message(NamedTuple):
    """A message to an endpoint; ``version`` is that of its game, 0 without one.

    ``at`` is when it happened, in milliseconds since 1970.
    """

    id: str
    type: str
    version: int
    at: int
    body: bytes


def game_messages(endpoint: str, game: Game, before: Sequence[int], events: Sequence[EventEnvelope]) -> list[Message]:
    """Return the messages about events of a game, in their order; ``before`` are the seats that could move before them.

    The last event is the newest. Of turns, only the one that runs is sent, after all that led to it, and only if a
    person has to move, and so is that its time ends soon; of the end of a round, who is to deal as long as it was not
    done; of a new game, only that the players have begun it by themselves: of any other one the application knows.
    """
    messages = []
    turn: EventEnvelope | None = None
    reminder: EventEnvelope | None = None
    for envelope in events:
        version, at, event, _ = view_event(envelope, None)
        seats = envelope.to_act
        kind = _TYPES.get(type(event))
        if isinstance(event, Created) and game.rematch_of is not None:
            data = _data(game, version, None, seats) | {"rematch_of": game.rematch_of}
            messages.append(_message(endpoint, CREATED, at, data))
        elif isinstance(event, Reminded):
            reminder = envelope
        elif kind is not None:
            waiting = () if isinstance(event, RoundEnded) and not _waits_for_deal(game, event) else seats
            data = _data(game, version, getattr(event, "seat", None), waiting)
            if isinstance(event, Finished):
                data["winners"] = list(event.winners)
                data["players"] = [with_ref(result, refs_of(game)) for result in results(game)]
            messages.append(_message(endpoint, kind, at, data))
        if seats != tuple(before):
            turn = envelope
        before = seats
    if _is_notified(game):
        if turn is not None:
            messages.append(_turn_message(endpoint, TURN, game, turn))
        if reminder is not None and game.running_clock.reminded:
            messages.append(_turn_message(endpoint, DEADLINE, game, reminder))
    return messages


def message_again(endpoint: str, game: Game, event: EventEnvelope, kind: str) -> Message | None:
    """Return the message of this type about an event, made anew, with the refs of now.

    ``None`` if there is none about it.

    ``game`` is as it is now, or for a turn and for its deadline as it was at the version of the event: the one in the
    message may have been nobody's who was notified then, as its player was away at first, and has returned.
    """
    if kind in (TURN, DEADLINE):
        return None if game.state.turn is None else _turn_message(endpoint, kind, game, event)
    made = [message for message in game_messages(endpoint, game, (), [event]) if message.type == kind]
    return made[0] if made else None


def deleted_message(endpoint: str, game: str, version: int, at: int) -> Message:
    """Return the message that a game was deleted."""
    return _message(endpoint, DELETED, at, {"game_id": game, "version": version})


def ping_message(endpoint: str, ping: str, at: int) -> Message:
    """Return the message that an application asked for as a test; ``ping`` is its id."""
    return Message(ping, PING, 0, at, body_of(PING, at, {"webhook": endpoint}))


def challenge_message(message: str, challenge: str, at: int) -> Message:
    """Return the message whose ``challenge`` a URL has to answer before anything else is sent there."""
    return Message(message, CHALLENGE, 0, at, body_of(CHALLENGE, at, {"challenge": challenge}))


def answers_challenge(body: bytes, challenge: str, *, complete: bool) -> bool:
    """Return whether an answer is the challenge.

    One that repeats the whole message is none, as anything that echoes does.
    """
    if not complete:
        return False
    if body.strip() == challenge.encode():
        return True
    try:
        value = orjson.loads(body)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("challenge") == challenge


def body_of(kind: str, at: int, data: Mapping[str, Any]) -> bytes:
    """Return the body of a message."""
    return orjson.dumps({"type": kind, "timestamp": format_rfc3339(at), "data": data})


def message_id(*words: str) -> str:
    """Return the id of the message that these words identify: the boundaries of the words count."""
    digest = sha256(b"".join([b"%d:%b" % (len(word), word) for word in (word.encode() for word in words)]))
    return "msg_" + b32encode(digest.digest()).decode().rstrip("=").lower()


def _turn_message(endpoint: str, kind: str, game: Game, turn: EventEnvelope) -> Message:
    """Return the message that the turn which runs has begun, or that its time ends soon."""
    data = _data(game, turn.version, game.state.turn, game.to_act)
    data["waiting_for"] = with_refs(game.to_act, refs_of(game))  # made again, it is of a seat that may be away then
    if game.shown_deadline is not None:
        data["deadline"] = format_rfc3339(game.shown_deadline)
    return _message(endpoint, kind, turn.at, data)


def _is_notified(game: Game) -> bool:
    """Return whether it is the turn of somebody who has to be notified."""
    return game.status == PLAYING and bool(awaited(game, game.to_act))


def _waits_for_deal(game: Game, ended: RoundEnded) -> bool:
    """Return whether the round after this one is still to be dealt: it is not if the match is over."""
    return game.state.phase == ROUND_OVER and game.state.round == ended.round.number


def _data(game: Game, version: int, seat: int | None, to_act: Sequence[int]) -> dict[str, Any]:
    """Return what a message says; what does not apply is left out."""
    fields = {
        "game_id": game.id,
        "ref": None if game.ownership is None else game.ownership.ref,
        "variant": game.variant.key,
        "version": version,
        "seat": seat,
        "player_ref": None if seat is None else _ref_at(game, seat, version),
        "to_act": list(to_act),
        "waiting_for": with_refs(awaited(game, to_act), refs_of(game)),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _ref_at(game: Game, seat: int, version: int) -> str | None:
    """Return what the application calls now the player who had this seat at a version; ``None`` for who has left."""
    now = seat if game.room is None else game.room.seat_now(seat, version)
    return None if now is None else game.seats[now].ref


def _message(endpoint: str, kind: str, at: int, data: Mapping[str, Any]) -> Message:
    game, version = data["game_id"], data["version"]
    return Message(message_id(endpoint, game, str(version), kind), kind, version, at, body_of(kind, at, data))


# Samples of messages: of the form of real ones, with invented data, for tests of what receives them.


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
    DEADLINE: lambda at: {**_GAME, "version": 13, **_OF_BO, **_BO_ACTS, **_deadline(at)},
    CREATED: lambda _: {**_GAME, "version": 1, **_NOBODY, "rematch_of": "sampleGameOfNobodyBefore"},
    "game.joined": lambda _: {**_GAME, "version": 2, **_OF_BO, **_NOBODY},
    "game.freed": lambda _: {**_GAME, "version": 3, "seat": 1, **_NOBODY},
    "game.filled": lambda _: {**_GAME, "version": 4, "seat": 1, **_NOBODY},
    "game.started": lambda _: {**_GAME, "version": 5, **_NOBODY},
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
