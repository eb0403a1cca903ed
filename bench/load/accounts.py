"""What clients know of a game, compared with its events: every acknowledged move is there, once.

Owns what counts as lost and as doubled. Does not depend on HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

EVENT_OF: Final = {"play": "played", "draw": "drew", "pass": "passed", "deal": "dealt"}
"""The first event of each move; others may follow, such as the end of a round.

Before it comes ``returned`` where the service was about to move for an absent person.
"""
TOLD: Final = {"round_ended": "game.round_over", "finished": "game.finished"}
"""The events that an application is told, and the types of the messages."""


class Acknowledged(NamedTuple):
    """A move whose answer was 201."""

    seat: int
    action: str
    tile: str | None


@dataclass(slots=True)
class Account:
    """What the clients of one game know."""

    game: str
    people: int
    """Seats of people: the first ones."""
    owned: bool
    acknowledged: dict[int, Acknowledged] = field(default_factory=dict)
    """By the version of its first event."""
    unknown: set[int] = field(default_factory=set)
    """Versions of moves that got no answer: each may be there or not."""
    sent: dict[int, float] = field(default_factory=dict)
    """When each move was sent, by the version of its first event."""


def faults(account: Account, events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences about what was lost or doubled; ``events`` are all of the game."""
    found = []
    versions = [event["version"] for event in events]
    if versions != list(range(1, len(events) + 1)):
        found.append(f"{account.game}: the events have gaps")
        return found
    for version, move in account.acknowledged.items():
        event = events[version - 1] if version <= len(events) else None
        if event is not None and event["type"] == "returned" and version < len(events):
            event = events[version]
        if event is None or not _is(event, move):
            found.append(f"{account.game}: the move to version {version} is lost: {move}")
    return found + _moves_of_nobody(account, events)


def _moves_of_nobody(account: Account, events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return people's moves that neither a client nor the service for an absent person made, to the end of the turn."""
    known = account.acknowledged.keys() | account.unknown
    found: list[str] = []
    substituted, returned = None, False
    for event in events:
        kind, seat = event["type"], event.get("seat")
        if kind in ("played", "passed") and seat in range(account.people):
            made = event["version"] in known or (returned and event["version"] - 1 in known)
            if not made and substituted != seat:
                found.append(f"{account.game}: nobody made the move to version {event['version']}: {kind}")
        if kind == "timed_out":
            substituted = seat
        elif kind != "drew":
            substituted = None
        returned = kind == "returned"
    return found


def expected_messages(account: Account, events: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, str]]:
    """Of each message about these events its game, version and type; none of a game without an application."""
    if not account.owned:
        return []
    return [(account.game, event["version"], TOLD[event["type"]]) for event in events if event["type"] in TOLD]


def _is(event: Mapping[str, Any], move: Acknowledged) -> bool:
    if event["type"] != EVENT_OF[move.action]:
        return False
    if move.action == "deal":
        return True
    return bool(event["seat"] == move.seat and (move.action != "play" or event["data"]["tile"] == move.tile))
