"""The messages to an endpoint about a game.

Owns their types, their content and their ids. A message contains what a spectator knows of an event
(``service.games.model.views``), and the refs that the application gave. Its id depends only on endpoint, game, version
and type, so that a process which makes it again after a crash uses the same id. Does not depend on how messages are
sent.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable, Container, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from service.backends.index.summaries import awaited, refs_of, results, with_ref, with_refs
from service.engine.events import Finished, RoundEnded
from service.engine.presence import TimedOut
from service.engine.state import PLAYING, ROUND_OVER
from service.games.model.game import Game
from service.games.model.game_events import Created, EventEnvelope, Filled, Freed, Joined, Reminded, Started
from service.games.model.views import format_rfc3339, view_event, without_none

TURN: Final = "game.turn"
DEADLINE: Final = "game.deadline"
CREATED: Final = "game.created"
DELETED: Final = "game.deleted"
PING: Final = "webhook.ping"
CHALLENGE: Final = "webhook.challenge"

_TYPES: Final[Mapping[type, str]] = {
    Created: CREATED,
    Joined: "game.joined",
    Freed: "game.freed",
    Filled: "game.filled",
    Started: "game.started",
    RoundEnded: "game.round_over",
    Finished: "game.finished",
    TimedOut: "game.timed_out",
}

MESSAGE_TYPES: Final = (TURN, DEADLINE, *_TYPES.values(), DELETED, PING)
"""The types of messages that an application can choose."""


class Message(NamedTuple):
    """A message to an endpoint.

    ``version``: the version of its game, 0 without a game.
    ``at``: when its event happened, in milliseconds since 1970.
    """

    id: str
    type: str
    version: int
    at: int
    body: bytes


def game_messages(
    endpoint: str,
    game: Game,
    before: Sequence[int],
    events: Sequence[EventEnvelope],
    *,
    types: Container[str] = MESSAGE_TYPES,
) -> list[Message]:
    """Return the messages of these types about events, as ``reported_events`` orders them; the arguments as there."""
    reported = reported_events(game, before, events)
    return [_event_message(endpoint, game, kind, envelope) for kind, envelope in reported if kind in types]


def reported_events(
    game: Game, before: Sequence[int], events: Sequence[EventEnvelope]
) -> list[tuple[str, EventEnvelope]]:
    """Return the types of the messages about events of a game, each with its event, in the order of their messages.

    ``before``: the seats that could move before the first event.
    ``events``: ends with the newest event of the game.

    * ``game.turn`` is sent for the current turn only, after all other messages, and only if a person has to move.
    * ``game.deadline`` is sent under the same conditions, if the deadline of the current turn is near.
    * ``game.round_over`` says who has to deal, unless the next round was already dealt.
    * ``game.created`` is sent only for a rematch: every other game was created by the application itself.
    """
    reported = []
    turn: EventEnvelope | None = None
    reminder: EventEnvelope | None = None
    for envelope in events:
        kind = _TYPES.get(type(envelope.event))
        if isinstance(envelope.event, Reminded):
            reminder = envelope
        elif kind is not None and (kind != CREATED or game.rematch_of is not None):
            reported.append((kind, envelope))
        if envelope.to_act != tuple(before):
            turn = envelope
        before = envelope.to_act
    if game.status == PLAYING and awaited(game, game.to_act):
        if turn is not None:
            reported.append((TURN, turn))
        if reminder is not None and game.running_clock.reminded:
            reported.append((DEADLINE, reminder))
    return reported


def _event_message(endpoint: str, game: Game, kind: str, envelope: EventEnvelope) -> Message:
    """Return the message of a type about an event, as ``reported_events`` returns them."""
    if kind in (TURN, DEADLINE):
        return _turn_message(endpoint, kind, game, envelope)
    version, at, event, _ = view_event(envelope, None)
    waiting = () if isinstance(event, RoundEnded) and not _waits_for_deal(game, event) else envelope.to_act
    data = _data(game, version, getattr(event, "seat", None), waiting)
    if isinstance(event, Created):
        data["rematch_of"] = game.rematch_of
    elif isinstance(event, Finished):
        data["winners"] = list(event.winners)
        data["players"] = [with_ref(result, refs_of(game)) for result in results(game)]
    return _message(endpoint, kind, at, data)


def message_again(endpoint: str, game: Game, event: EventEnvelope, kind: str) -> Message | None:
    """Return the message of a type about an event once more, with the current refs; ``None`` if there is none.

    ``game`` is the current game; for ``TURN`` and ``DEADLINE``, the game at the version of the event. For these two the
    message is made even if the player of the seat was away at that version: the message may have been sent when the
    player had returned.
    """
    if kind in (TURN, DEADLINE):
        return None if game.state.turn is None else _turn_message(endpoint, kind, game, event)
    return next(iter(game_messages(endpoint, game, (), [event], types=(kind,))), None)


def deleted_message(endpoint: str, game: str, version: int, at: int) -> Message:
    """Return the message that a game was deleted."""
    return _message(endpoint, DELETED, at, {"game_id": game, "version": version})


def challenge_message(message: str, challenge: str, at: int) -> Message:
    """Return the message with a challenge, which an endpoint has to answer before other messages are sent to it."""
    return Message(message, CHALLENGE, 0, at, body_of(CHALLENGE, at, {"challenge": challenge}))


def answers_challenge(body: bytes, challenge: str, *, complete: bool) -> bool:
    """Return whether a response has the challenge as its text, or as ``{"challenge": …}``.

    A response that repeats the whole message does not count: servers that echo everything would pass.
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
    """Return the body of a message: JSON with its type, its time and ``data``."""
    return orjson.dumps({"type": kind, "timestamp": format_rfc3339(at), "data": data})


def message_id(*words: str) -> str:
    """Return the id of the message that these words identify; ``("a", "bc")`` and ``("ab", "c")`` differ."""
    digest = sha256(b"".join([b"%d:%b" % (len(word), word) for word in (word.encode() for word in words)]))
    return "msg_" + b32encode(digest.digest()).decode().rstrip("=").lower()


def _turn_message(endpoint: str, kind: str, game: Game, turn: EventEnvelope) -> Message:
    """Return the message that the current turn has begun, or that its deadline is near."""
    waiting = game.to_act  # includes a player who is away (``message_again``)
    data = _data(game, turn.version, game.state.turn, game.to_act, waiting=waiting)
    deadline = game.shown_deadline
    if deadline is not None:
        data["deadline"] = format_rfc3339(deadline)
    return _message(endpoint, kind, turn.at, data)


def _waits_for_deal(game: Game, ended: RoundEnded) -> bool:
    """Return whether the match continues and its next round was not dealt yet."""
    return game.state.phase == ROUND_OVER and game.state.round == ended.round.number


def _data(
    game: Game, version: int, seat: int | None, to_act: Sequence[int], *, waiting: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return the ``data`` of a message, without fields that do not apply.

    ``waiting``: the seats in ``waiting_for``, if they are not those that ``awaited`` returns.
    """
    fields = {
        "game_id": game.id,
        "ref": None if game.ownership is None else game.ownership.ref,
        "variant": game.variant.key,
        "version": version,
        "seat": seat,
        "player_ref": None if seat is None else _ref_at(game, seat, version),
        "to_act": list(to_act),
        "waiting_for": with_refs(awaited(game, to_act) if waiting is None else waiting, refs_of(game)),
    }
    return without_none(fields)


def _ref_at(game: Game, seat: int, version: int) -> str | None:
    """Return the current ref of the player who had a seat at a version; ``None`` if the player has left."""
    now = seat if game.room is None else game.room.seat_now(seat, version)
    return None if now is None else game.seats[now].ref


def _message(endpoint: str, kind: str, at: int, data: Mapping[str, Any]) -> Message:
    game, version = data["game_id"], data["version"]
    return Message(message_id(endpoint, game, str(version), kind), kind, version, at, body_of(kind, at, data))


# Samples of messages with invented data, by which applications test their endpoints.


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
"""For each type but ``webhook.ping``, the function that returns its data at a time in milliseconds since 1970."""


def sample_data(kind: str, at: int) -> dict[str, Any]:
    """Return the data of a sample of this type; ``at`` in milliseconds since 1970."""
    return _DATA[kind](at)


def sample_message(endpoint: str, message: str, kind: str, at: int) -> Message:
    """Return a ping, or a sample of another type that an application can choose; ``message`` is its id."""
    data = {"webhook": endpoint} if kind == PING else sample_data(kind, at) | {"sample": True}
    return Message(message, kind, 0, at, body_of(kind, at, data))
