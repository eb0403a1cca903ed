"""The JSON that an application receives about its games: entries of the index and the lobbies, and items of the feed.

Owns its form. An application sees what a spectator sees, as ``service.games.model.views`` decides, and the refs that it
gave. A lobby is shown to people, so it has no refs. Items of the feed are stored without refs, and get them from the
summary of their game in the index when they are read. So refs of a deleted game are in no item. Does not depend on
where entries and items are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import orjson

from service.backends.values import IndexEntry, LobbyEntry
from service.engine.events import Finished
from service.games.model.clock import GRACE_MS
from service.games.model.game import OWNER, Game
from service.games.model.game_events import GAME_EVENT_TYPES, Created, EventEnvelope
from service.games.model.schedule import Lifetimes
from service.games.model.seats import BOT, OPEN_SEAT
from service.games.model.views import GameView, format_rfc3339, standings, view_event, view_game, without_none
from service.games.reminders import OutageAllowance

# Seats as an application sees them: their refs, those that have to move, and the results of a match.


Refs = Mapping[int, str | None]
"""The refs of the players, by seat."""


def refs_of(game: Game) -> Refs:
    """Return the refs of a game."""
    return {seat: player.ref for seat, player in enumerate(game.seats)}


def awaited(game: Game, to_act: Iterable[int]) -> list[int]:
    """Return the seats among ``to_act`` whose players the application has to notify.

    Computer players and people who are away are left out: the service moves in their place, or waits for their return.
    """
    return [seat for seat in to_act if game.seats[seat].kind != BOT and game.presence.plays(seat)]


def with_refs(seats: Iterable[int], refs: Refs) -> list[dict[str, Any]]:
    """Return an object for each seat, with its ref if it has one."""
    return [with_ref({"seat": seat}, refs) for seat in seats]


def with_ref(fields: dict[str, Any], refs: Refs) -> dict[str, Any]:
    """Return an object that has a ``seat``, with the ref of the seat added if it has one."""
    seat = fields["seat"]
    ref = refs.get(seat)
    return fields if ref is None else {"seat": seat, "ref": ref, **fields}


def results(game: Game) -> list[dict[str, Any]]:
    """Return the total and the rank of each seat, in seat order, without refs."""
    ordered = sorted(standings(game), key=lambda standing: standing.seat)
    return [{"seat": standing.seat, "total": standing.total, "rank": standing.rank} for standing in ordered]


NO_DEADLINE: Final = 10_000_000_000_000
"""Added to the time of a turn without a deadline to get its urgency, the sort key.

So these turns come after all turns with a deadline, the oldest first.
"""

DELETED: Final = "deleted"
"""The status of a deleted game in the index, and the type of the feed item that reports its deletion."""

RESET: Final = "reset"
"""The type of a feed item that reports that items were dropped."""

_TYPES: Final = {kind.event: kind.name for kind in GAME_EVENT_TYPES}


def index_entry(game: Game, lifetimes: Lifetimes, size: int = 0) -> IndexEntry:
    """Return the index entry of a game; ``size``: its bytes in the store."""
    view = view_game(game, OWNER, lifetimes)
    waiting_for = awaited(game, view.view.to_act)
    urgency = game.updated_at + NO_DEADLINE if view.deadline is None else view.deadline
    urgencies: dict[str, int | None] = {}
    for seat, player in enumerate(view.seats):
        if player.ref is not None and urgencies.get(player.ref) is None:
            urgencies[player.ref] = urgency if seat in waiting_for else None
    summary = {
        "id": game.id,
        "ref": view.ref,
        "join_code": view.join_code,
        "variant": game.variant.key,
        "status": view.status,
        "version": game.version,
        "round": view.view.round,
        "to_act": list(view.view.to_act),
        "waiting_for": with_refs(waiting_for, refs_of(game)),
        "deadline": None if view.deadline is None else format_rfc3339(view.deadline),
        "fills_at": None if view.fills_at is None else format_rfc3339(view.fills_at),
        "players": _listed_players(game, view),
        "winners": list(view.view.winners),
        "rematch_of": view.rematch_of,
        "created_at": format_rfc3339(game.created_at),
        "updated_at": format_rfc3339(game.updated_at),
    }
    return IndexEntry(
        game=game.id,
        version=game.version,
        write_id=game.write_id,
        updated_at=game.updated_at,
        expires_at=view.expires_at,
        ref=view.ref,
        players=urgencies,
        variant=game.variant.key,
        status=view.status,
        summary=orjson.dumps(without_none(summary)),
        bytes=size,
    )


def _listed_players(game: Game, view: GameView) -> list[dict[str, Any]]:
    """Return the players for a summary."""
    ranks = {result["seat"]: result["rank"] for result in results(game)} if view.status == "finished" else {}
    players = []
    for (seat, _, total, in_match, _), player in zip(view.view.players, view.seats, strict=True):
        fields = {"seat": seat, "name": player.name, "ref": player.ref, "kind": player.kind, "total": total}
        away = player.away or None
        players.append(without_none({**fields, "active": in_match, "away": away, "rank": ranks.get(seat)}))
    return players


def deferred_summary(summary: bytes, allowance: Callable[[str], OutageAllowance]) -> bytes:
    """Return a stored summary with its effective deadline: an outage may have deferred it since it was stored.

    ``allowance`` returns the outage allowance of a game. A summary that was stored after the outage stays as it is.
    """
    if b'"deadline":"' not in summary:
        return summary
    entry = orjson.loads(summary)
    since, until = allowance(entry["id"])
    # Times can be compared as text, since all have the same form.
    if entry["updated_at"] > format_rfc3339(since):
        return summary
    return orjson.dumps({**entry, "deadline": max(entry["deadline"], format_rfc3339(max(until - GRACE_MS, 0)))})


def deleted_entry(game_id: str, version: int, at: int) -> IndexEntry:
    """Return the index entry of a deleted game; ``version`` is the one after its deletion."""
    return IndexEntry(game_id, version, "", at, at, None, {}, "-", DELETED, b"")


def not_in_lobby(game_id: str, app: str, version: int) -> LobbyEntry:
    """Return the lobby entry that hides a deleted game of this application."""
    return LobbyEntry(game_id, app, version, "-", 0, None)


def lobby_entry(game: Game) -> LobbyEntry | None:
    """Return the lobby entry of a game; ``None`` if it has no lobby. Without open seats, the entry hides it."""
    if game.ownership is None or game.ownership.lobby is None:
        return None
    json = None
    if game.seats.are_open:
        players = [
            without_none({"seat": seat, "kind": player.kind, "name": player.name, "bot": player.level})
            for seat, player in enumerate(game.seats)
        ]
        shown = {
            "id": game.id,
            "variant": game.variant.key,
            "join_code": game.ownership.join_code,
            "options": dict(game.rules.settings),
            "players": players,
            "open_seats": sum([player.kind == OPEN_SEAT for player in game.seats]),
            "fills_at": None if game.fills_at is None else format_rfc3339(game.fills_at),
            "created_at": format_rfc3339(game.created_at),
        }
        json = orjson.dumps(without_none(shown))
    app, for_all = game.ownership.app, game.ownership.lobby == "all"
    return LobbyEntry(game.id, app, game.version, game.variant.key, game.created_at, json, for_all)


def feed_item(game: Game, envelope: EventEnvelope) -> bytes:
    """Return the feed item for an event of a game. That of the newest event has the deadline."""
    version, at, event, _ = view_event(envelope, None)
    deadline = game.shown_deadline if version == game.version else None
    item = {
        "game_id": game.id,
        "version": version,
        "type": _TYPES[type(envelope.event)],
        "seat": getattr(event, "seat", None),
        "to_act": list(envelope.to_act),
        "waiting_for": awaited(game, envelope.to_act),
        "deadline": None if deadline is None else format_rfc3339(deadline),
        "at": format_rfc3339(at),
    }
    if isinstance(event, Finished):
        item |= {"winners": list(event.winners), "players": results(game)}
    elif isinstance(event, Created):
        item["rematch_of"] = game.rematch_of
    return orjson.dumps(without_none(item))


def deleted_item(game_id: str, version: int, at: int) -> bytes:
    """Return the feed item for the deletion of a game."""
    return orjson.dumps({"game_id": game_id, "version": version, "type": DELETED, "at": format_rfc3339(at)})


def shown_item(cursor: str, item: bytes, summary: bytes | None) -> bytes:
    """Return an item as the application receives it: with its cursor, and with refs if its game is in the index."""
    stored = orjson.loads(item)
    entry = orjson.loads(summary) if summary else {}  # a deleted game has an empty summary
    shown = {"cursor": cursor, "game_id": stored.pop("game_id"), "ref": entry.get("ref"), **stored}
    refs = {player["seat"]: player.get("ref") for player in entry.get("players", ())}
    if "waiting_for" in stored:
        shown["waiting_for"] = with_refs(stored["waiting_for"], refs)
    if "players" in stored:
        shown["players"] = [with_ref(player, refs) for player in stored["players"]]
    return orjson.dumps(without_none(shown))


def reset_item(cursor: str, at: int) -> bytes:
    """Return the feed item which reports that items were dropped; the stored items come after ``cursor``."""
    return orjson.dumps({"cursor": cursor, "version": 0, "type": RESET, "at": format_rfc3339(at)})
