"""A type of event is entered once, in the table beside its class, and everybody who writes events knows it."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any, Literal, get_args, get_type_hints

import orjson
import pytest

from service.engine import referee
from service.engine.events import (
    EVENT_TYPES,
    Dealt,
    Eliminated,
    Event,
    EventType,
    Finished,
    Played,
    RemainingHand,
    RoundEnded,
    RoundResult,
)
from service.engine.layout import NEVER, LayoutForm, empty_layout
from service.engine.presence import Absence, Forfeited
from service.engine.tiles import Tile, parse_tile
from service.engine.variants import variants
from service.engine.view import event_view
from service.games.model.game_events import GAME_EVENT_TYPES, EventEnvelope, GameEvent
from service.games.model.views import EventView, view_event
from service.games.queries.sentences import EventSentences
from service.games.store.codec import decode_event, encode_event
from service.records import replay
from service.records.event_checks import move_of
from service.records.notation.events import format_event, scan_event
from service.records.notation.scanner import Scanner
from service.render.sentences.places import Reader
from service.texts import LANGUAGES
from service.web.events.schemas import EventDataSchema, GameEventSchema
from service.web.events.serializers import event_json

VALUES: dict[str, Any] = {
    "seat": 2,
    "seats": (0, 2),
    "tile": parse_tile("5-12"),
    "end": "e7",
    "number": 28,
    "flag": True,
    "mark": True,
    "text": "Bo",
    "name": "",  # as it is read: it is not stored
    "word": "bot",
    "optional_word": "forfeit",
    "bytes": b"\xff" * 32,
}
HINTS: dict[str, tuple[Any, ...]] = {
    "seat": (int,),
    "seats": (tuple[int, ...],),
    "tile": (Tile,),
    "end": (str | None,),
    "number": (int, int | None),
    "flag": (bool,),
    "mark": (bool | None,),
    "text": (str,),
    "name": (str, str | None),
    "word": (Absence,),
    "optional_word": (Literal["forfeit"] | None,),
    "bytes": (bytes | None,),
}
SPECIAL = {
    Dealt: Dealt(1, ((parse_tile("0-1"),), (parse_tile("0-2"),), (parse_tile("0-3"),)), (), arranged=False),
    RoundEnded: RoundEnded(RoundResult(1, "out", (RemainingHand(0, (), 0),), (0,), ())),
}
game_events = pytest.mark.parametrize("kind", GAME_EVENT_TYPES, ids=lambda kind: kind.name)
match_events = pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.name)


def sample(kind: EventType) -> Any:
    if kind.fields is None:
        return SPECIAL[kind.event]
    return kind.event(*[VALUES[field] for _, field in kind.fields])


def names_of(event: type) -> list[str]:
    return [each.name for each in dataclass_fields(event)] if is_dataclass(event) else list(event._fields)  # type: ignore[attr-defined]


def test_every_class_of_events_has_one_row() -> None:
    assert sorted([kind.event.__name__ for kind in EVENT_TYPES]) == sorted([each.__name__ for each in get_args(Event)])
    rows = [kind.event for kind in GAME_EVENT_TYPES]
    assert len(rows) == len(set(rows))
    assert set(rows) == set(get_args(GameEvent))


def test_no_two_types_share_a_name_a_number_or_a_word() -> None:
    for values in (
        [kind.name for kind in GAME_EVENT_TYPES],
        [kind.code for kind in GAME_EVENT_TYPES],
        [kind.word for kind in GAME_EVENT_TYPES if kind.word],
    ):
        assert len(values) == len(set(values))


@game_events
def test_a_row_lists_the_fields_of_its_class(kind: EventType) -> None:
    if kind.fields is None:
        assert kind.event in SPECIAL
    else:
        assert [name for name, _ in kind.fields] == names_of(kind.event)
        hints = get_type_hints(kind.event)
        assert all(hints[name] in HINTS[field] for name, field in kind.fields)


@game_events
def test_the_store_keeps_every_type(kind: EventType) -> None:
    event = sample(kind)
    for to_act in ((), (2,), (0, 1, 12)):
        assert decode_event(3, 7, encode_event(event, 5, to_act)) == EventEnvelope(3, 12, event, to_act)


@game_events
def test_every_type_is_shown_and_described(kind: EventType) -> None:
    for seat in (None, 0, 2):
        shown = event_json(EventView(3, 0, event_view(sample(kind), seat)))
        assert shown["type"] == kind.name
        assert orjson.loads(orjson.dumps(shown)) == shown
        assert set(shown["data"]) <= set(EventDataSchema().fields)
    described = GameEventSchema().fields["type"].metadata["description"]
    assert f"`{kind.name}`" in described
    if kind.fields is not None:
        listed = {name for name, _ in kind.fields if name != "seat"}
        assert set(event_json(EventView(3, 0, event_view(sample(kind), 2)))["data"]) == listed
        data = EventDataSchema.__doc__ or ""
        assert not listed or f"`{kind.name}`:" in data


@game_events
def test_every_type_is_told_in_words(kind: EventType) -> None:
    layout = empty_layout(LayoutForm()).lead(parse_tile("1-12"), 0, NEVER)
    event = sample(kind)
    if isinstance(event, Played):
        event = event._replace(end="right", face_down=False)
    for seat in (None, 0, 2):
        for language in LANGUAGES:
            sentences = EventSentences(variants()["domino"].rules({}, 3), layout, Reader(seat, (None,) * 3, language))
            assert sentences.sentence(view_event(EventEnvelope(3, 0, event, ()), seat)).endswith(".")


@match_events
def test_every_type_can_be_written_on_a_line(kind: EventType) -> None:
    event = sample(kind)
    scanner = Scanner(format_event(event))
    assert scan_event(scanner, 1) == event
    scanner.end()


@match_events
def test_the_referee_applies_every_type(kind: EventType) -> None:
    assert kind.event in referee._APPLY


def test_records_know_which_events_no_seat_asked_for() -> None:
    assert {Dealt, *replay.AUTOMATIC_EVENTS} == {Dealt, RoundEnded, Eliminated, Finished, Forfeited}


@pytest.mark.parametrize(
    "kind",
    [kind for kind in EVENT_TYPES if kind.event not in (Dealt, *replay.AUTOMATIC_EVENTS)],
    ids=lambda kind: kind.name,
)
def test_records_know_the_move_of_an_event(kind: EventType) -> None:
    event = sample(kind)
    assert move_of(event).action == (kind.word or "play")
    assert kind.event in replay._CODE_IF_ILLEGAL
