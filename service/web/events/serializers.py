"""Events as JSON objects, as their viewer may know them."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from service.engine.events import Dealt, Drew, FieldKind, RoundEnded
from service.engine.view import DealtView, DrewView
from service.games.model.game_events import GAME_EVENT_TYPES
from service.games.model.views import Deleted, EventView, Reset, format_rfc3339
from service.web.fields.strict import JsonObject
from service.web.view.serializers import game_view_json, round_json

_FIELDS: Final[dict[type, list[tuple[str, FieldKind]]]] = {
    kind.event: [(name, field) for name, field in kind.fields if name != "seat"]
    for kind in GAME_EVENT_TYPES
    if kind.fields is not None
}
_FIELDS[DrewView] = _FIELDS[Drew]
_FIELDS[Deleted] = []
_TYPES: Final[dict[type, str]] = {kind.event: kind.name for kind in GAME_EVENT_TYPES}
_TYPES.update({DealtView: _TYPES[Dealt], DrewView: _TYPES[Drew], Reset: "reset", Deleted: "deleted"})
_VALUES: Final[dict[FieldKind, Callable[[Any], object]]] = {
    "seats": list,
    "tile": attrgetter("name"),
    "bytes": bytes.hex,
}
"""Converters of the fields of these kinds; other fields are used unchanged."""


def event_json(view: EventView, text: str | None = None) -> JsonObject:
    """Return an event, as its viewer may know it; ``text``: its sentence, if one is requested."""
    version, at, event, to_act = view
    result: JsonObject = {"version": version, "type": _TYPES[type(event)]}
    seat = getattr(event, "seat", None)
    if seat is not None:
        result["seat"] = seat
    if to_act is not None:
        result["to_act"] = list(to_act)
    result["at"] = format_rfc3339(at)
    if text is not None:
        result["text"] = text
    fields = _FIELDS.get(type(event))
    if fields is None:
        result["data"] = _composed_data(event, text)
    else:
        result["data"] = {
            name: _VALUES[kind](value) if kind in _VALUES else value
            for name, kind in fields
            if (value := getattr(event, name)) is not None
        }
    return result


def _composed_data(event: object, text: str | None) -> JsonObject:
    """Return the data of an event that is not in ``_FIELDS``."""
    match event:
        case DealtView():
            data: JsonObject = {"round": event.round, "arranged": event.arranged}
            if event.hand is not None:
                data["hand"] = [tile.name for tile in event.hand]
            if event.client_seeds is not None and event.next_commitment is not None:
                data |= {"client_seeds": list(event.client_seeds), "next_commitment": event.next_commitment.hex()}
            return data
        case RoundEnded():
            return round_json(event.round)
        case _:
            assert isinstance(event, Reset)
            # The sentence of a reset describes the state of the game.
            return {"view": game_view_json(event.view) | ({} if text is None else {"text": text})}
