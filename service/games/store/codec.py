"""The codec: games and events as bytes for the store, and back.

Owns the stored format, compact JSON arrays. The array of a game, of the state of its match or of an event has the
fields of its class, in their order; msgspec encodes and decodes them by type. This module converts only what is stored
in another form, such as an end as its number. Does not depend on where the bytes are stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial
from inspect import Parameter, signature
from itertools import compress
from operator import attrgetter
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_type_hints
from zlib import crc32

from msgspec import NODEFAULT, Raw, Struct, defstruct, json
from msgspec.structs import asdict, astuple

from service.engine.events import EventType, FieldKind
from service.engine.layout import (
    CLOSED,
    END,
    GATED,
    LONG,
    OPEN,
    SHORT,
    End,
    Gate,
    Layout,
    Placement,
    Side,
    empty_layout,
)
from service.engine.state import State
from service.engine.tiles import TILES, Tile
from service.engine.variant import Rules
from service.engine.variants import variants
from service.games.model.errors import Gone
from service.games.model.game import Game, GameFacts, rules_for
from service.games.model.game_events import GAME_EVENT_TYPES, EventEnvelope, GameEvent
from service.games.model.seats import Seat, Seats
from service.games.ports import WrittenByNewer
from service.games.store.checksums import WITH_SUM, with_sum, without_sum

# The types of stored values: arrays of fields in order, which msgspec encodes and decodes by type.


@cache  # as a game has many tiles
def _decode_tile(_: type, index: int) -> Tile:
    return TILES[index]


encoder: Final = json.Encoder(enc_hook=attrgetter("index"))
"""Encodes games and events. ``Tile`` is the only type in them that msgspec does not know."""


def decoder(kind: type) -> json.Decoder[Any]:
    """Return a decoder of values of this type."""
    return json.Decoder(kind, dec_hook=_decode_tile)


def struct_of(fields: Iterable[tuple[str, Any] | tuple[str, Any, Any]]) -> type[Struct]:
    """Return a type that is decoded from an array of these fields: name, type and, if it can be missing, default."""
    return defstruct("Stored", fields, array_like=True)


_STORED_AS: Final[dict[Any, Any]] = {Seats: tuple[Seat, ...]}
"""The types that replace, for decoding, types of fields that msgspec does not know."""


def _stored_fields(
    kind: type, without: tuple[str, ...], optional: Mapping[str, object]
) -> tuple[type[Struct], Callable[[Any], tuple[object, ...]]]:
    """Return the type that is decoded from an array of the fields of a class, and the function that makes the array.

    ``without``: the fields that are not in the array.
    ``optional``: the last fields, which can be missing in the array, and their defaults.
    """
    types = {name: _STORED_AS.get(hint, hint) for name, hint in get_type_hints(kind).items() if name not in without}
    return struct_of([(name, hint, optional.get(name, NODEFAULT)) for name, hint in types.items()]), attrgetter(*types)


MAX_ENTRIES: Final = 256
"""The maximum number of layouts in a ``LayoutCache``; the least recently used one is evicted."""

T = TypeVar("T")


class LayoutCache(Generic[T]):
    """A function of a layout with a cache.

    ``make``: computes the value of a layout.
    ``extend``: computes it faster, from the value of the layout without its last tile.
    This is not a ``BoundedCache``, because each move replaces an entry by that of the next layout, under one lock.
    """

    def __init__(self, make: Callable[[Layout], T], extend: Callable[[T, Layout], T]) -> None:
        self._make = make
        self._extend = extend
        self._entries: dict[int, tuple[Layout, T]] = {}
        self._lock = Lock()

    def __call__(self, layout: Layout) -> T:
        """Return the value for this layout."""
        placements = layout.placements
        if not placements:
            return self._make(layout)
        with self._lock:
            # The key is the ``id`` of the last placement, an object that stays alive while it is cached. The layout
            # without its last tile has the placement before as its key. Different layouts can have the same key.
            last = id(placements[-1])
            entry = self._entries.pop(last, None) or self._entries.pop(id(placements[-2:][0]), None)
            if entry is not None and entry[0] == layout:
                value = entry[1]
            elif entry is not None and entry[0].placements == placements[:-1]:
                value = self._extend(entry[1], layout)
            else:
                value = self._make(layout)
            self._entries[last] = layout, value
            if len(self._entries) > MAX_ENTRIES:
                del self._entries[next(iter(self._entries))]
        return value


FORMAT: Final = 1
"""The format in which games are written."""
READABLE: Final = frozenset({1})
"""The formats that this service can read, including that of the previous release; other ones are newer."""
_HEAD: Final = re.compile(rb'\["[^"]*",(\d+)[],]')
"""The beginning of a game in every format: the id of its write, and the number of the format."""
_TOMBSTONE: Final = 0
"""The first element of a tombstone; the first element of a game is a text."""

_SIDES: Final[tuple[Side, ...]] = (END, LONG, SHORT)
_GATES: Final[tuple[Gate, ...]] = (OPEN, GATED, CLOSED)
_SIDE_CODES: Final = {side: code for code, side in enumerate(_SIDES)}
_GATE_CODES: Final = {gate: code for code, gate in enumerate(_GATES)}
_LINE_ENDS: Final = ("left", "right")

_new: Final = tuple.__new__  # faster than the class, for the many placements of a game; as in ``layout``
_new_placement: Final = partial(_new, Placement)


# Games

# The fields in ``without`` are stored elsewhere in the array, stored beside it, or derived.
_GameFields, _game_fields = _stored_fields(
    GameFacts,
    optional={"auto": False, "room": None},
    without=("id", "version", "write_id", "variant", "rules", "state", "trace", "allowance"),
)
assert _GameFields.__struct_fields__[-2:] == ("auto", "room")  # as ``encode_game`` leaves them out
_StateFields, _state_fields = _stored_fields(State, without=("layout",), optional={"manche": None})
assert _StateFields.__struct_fields__[-1:] == ("manche",)
_game_decoder: Final = decoder(
    struct_of(
        [
            ("write_id", str),
            ("format", int),
            ("variant", str),
            ("fields", _GameFields),
            ("state", _StateFields),
            ("placements", list[Any]),
            ("ends", list[Any]),
            ("last_end_number", int),
            ("trace", str, ""),
        ]
    )
)


def encode_game(game: Game) -> bytes:
    """Return the bytes of a game, without its id and version, which the store saves separately."""
    state, layout = game.state, game.state.layout
    fields, state_fields = _game_fields(game), _state_fields(state)
    if game.room is None:  # the ``optional`` fields, which are the last ones, are left out if they have their defaults
        fields = fields[:-1] if game.auto else fields[:-2]
    stored: tuple[object, ...] = (
        game.write_id,
        FORMAT,
        game.variant.key,
        fields,
        state_fields[:-1] if state.manche is None else state_fields,
        Raw(b"[[%b],[%b],[%b],[%b],[%b]%b]" % _encode_placements(layout)),
        Raw(b"[%b]" % b",".join(map(_encode_layout_end, layout.ends))),
        layout.last_end_number,
    )
    data = encoder.encode((*stored, game.trace) if game.trace else stored)
    return WITH_SUM % (data, crc32(data))


def state_prefix(game: Game) -> bytes:
    """Return the first bytes of this stored game, with the id of its last write, which identifies its history.

    They are the same in every format, so that a newer service can replace a game that an older one wrote.
    """
    return b'["%b"' % game.write_id.encode()


def encode_tombstone(app: str) -> bytes:
    """Return the bytes of a tombstone, which replaces a deleted game of this application."""
    return with_sum(encoder.encode((_TOMBSTONE, app)))


def decode_game(game_id: str, version: int, data: bytes) -> Game:
    """Decode a game. Raises ``Gone`` for a tombstone, ``WrittenByNewer``, and ``Damaged`` for a wrong checksum."""
    data = without_sum(data)
    head = _HEAD.match(data)
    if head is None:
        number, *others = json.decode(data)
        if number == _TOMBSTONE:
            raise Gone(version, others[0])
        raise WrittenByNewer
    if int(head[1]) not in READABLE:
        raise WrittenByNewer
    stored = _game_decoder.decode(data)
    fields = asdict(stored.fields)
    variant = variants().get(stored.variant)
    if variant is None or fields["edition"] > variant.edition:
        raise WrittenByNewer
    fields["seats"] = Seats(fields["seats"])
    rules = rules_for(stored.variant, fields["options"], len(fields["seats"]))
    layout = _decode_layout(rules, stored.placements, stored.ends, stored.last_end_number)
    return Game(
        id=game_id,
        version=version,
        write_id=stored.write_id,
        variant=variant,
        rules=rules,
        state=State(layout=layout, **asdict(stored.state)),
        trace=stored.trace,
        **fields,
    )


# Layouts


class _Columns(NamedTuple):
    """The columns of the placements, each as JSON without its brackets."""

    tiles: bytes
    hosts: bytes
    sides: bytes
    seats: bytes
    face_down: bytes
    """The indexes of the placements that are face down."""
    outer: bytes
    """A comma and the list of the outer halves, if the layout stores them; else empty."""


def _encode_whole_layout(layout: Layout) -> _Columns:
    """Return the columns of all placements of a layout."""
    columns = zip(*layout.placements, strict=True) if layout.placements else _NO_COLUMNS
    tiles, hosts, sides, seats, face_down, outer = columns
    written = (
        [tile.index for tile in tiles],
        hosts,
        [_SIDE_CODES[side] for side in sides],
        seats,
        list(compress(range(len(tiles)), face_down)),
    )
    outer_halves = b"," + encoder.encode(outer) if layout.names_outer else b""
    return _Columns._make([*[encoder.encode(column)[1:-1] for column in written], outer_halves])


def _extend_layout(encoded: _Columns, layout: Layout) -> _Columns:
    """Return the columns of a layout from those of the layout without its last tile."""
    tiles, hosts, sides, seats, face_down, outer_halves = encoded
    tile, host, side, seat, down, outer = layout.placements[-1]
    if down:
        face_down = b"%b%b%d" % (face_down, b"," if face_down else b"", len(layout.placements) - 1)
    return _Columns(
        b"%b,%d" % (tiles, tile.index),
        b"%b,%d" % (hosts, host),
        b"%b,%d" % (sides, _SIDE_CODES[side]),
        b"%b,%d" % (seats, seat),
        face_down,
        outer_halves if outer is None else b"%b,%d]" % (outer_halves[:-1], outer),
    )


_NO_COLUMNS: Final[tuple[tuple[Any, ...], ...]] = ((),) * 6
_encode_placements: Final = LayoutCache(_encode_whole_layout, _extend_layout)


@lru_cache(maxsize=8192)
def _encode_layout_end(end: End) -> bytes:
    """Return an end as JSON; cached, because an end does not change while tiles are placed elsewhere."""
    name, number, host, side, gate, _, _ = end
    return b"[%d,%d,%d,%d,%d]" % (encode_end(name), number, host, _SIDE_CODES[side], _GATE_CODES[gate])


def _decode_layout(rules: Rules, columns: list[Any], rows: list[Any], last_end_number: int) -> Layout:
    tiles, hosts, sides, seats, face_down_indexes, *outer = columns
    face_down = [False] * len(hosts)
    for index in face_down_indexes:
        face_down[index] = True
    columns = [[TILES[index] for index in tiles], hosts, [_SIDES[side] for side in sides], seats, face_down]
    columns.append(outer[0] if outer else [None] * len(hosts))
    placements = tuple(map(_new_placement, zip(*columns, strict=True)))
    ends = [(decode_end(code), number, host, _SIDES[side], _GATES[gate]) for code, number, host, side, gate in rows]
    return empty_layout(rules.form).restored(placements, ends, last_end_number)


@cache
def encode_end(name: str) -> int:
    """Return the number of an end with this name: −1 for left, −2 for right, else the number in the name."""
    return -1 - _LINE_ENDS.index(name) if name in _LINE_ENDS else int(name[1:])


@cache
def decode_end(code: int) -> str:
    """Return the name of the end with this number."""
    return _LINE_ENDS[-1 - code] if code < 0 else f"e{code}"


# Events


class _EventCodec:
    """The stored form of a type of event: number, time, seats that can move after it, fields up to the last value."""

    def __init__(self, kind: EventType) -> None:
        types = get_type_hints(kind.event)
        parameters = signature(kind.event).parameters.values()
        defaults = {each.name: each.default for each in parameters if each.default is not Parameter.empty}
        converted = {name: _CONVERSIONS[field] for name, field in kind.fields or () if field in _CONVERSIONS}
        self.code = kind.code
        self.event = kind.event
        self.names = tuple(types)
        self.conversions = [(self.names.index(name), write, read) for name, (_, write, read) in converted.items()]
        types |= {name: stored | None for name, (stored, _, _) in converted.items()}
        head = [("code", int), ("since_creation", int), ("to_act", tuple[int, ...])]
        fields = [(name, hint, defaults.get(name, NODEFAULT)) for name, hint in types.items()]
        self.decoder = decoder(struct_of([*head, *fields]))


def encode_event(event: GameEvent, since_creation: int, to_act: tuple[int, ...]) -> bytes:
    """Return the bytes of an event; ``since_creation`` is in milliseconds."""
    codec = _EVENT_CODECS[type(event)]
    values = [getattr(event, name) for name in codec.names]
    for place, write, _ in codec.conversions:
        if values[place] is not None:
            values[place] = write(values[place])
    while values and values[-1] is None:
        values.pop()
    return encoder.encode((codec.code, since_creation, to_act, *values))


def decode_event(version: int, created_at: int, data: bytes) -> EventEnvelope:
    """Decode the event that led to ``version``; ``created_at`` in ms since 1970. Raises ``WrittenByNewer``."""
    codec = _EVENT_DECODERS.get(data[1 : data.find(b",")])
    if codec is None:
        raise WrittenByNewer
    _, since_creation, to_act, *values = astuple(codec.decoder.decode(data))
    for place, _, read in codec.conversions:
        if values[place] is not None:
            values[place] = read(values[place])
    return EventEnvelope(version, created_at + since_creation, codec.event(*values), to_act)


_CONVERSIONS: Final[dict[FieldKind, tuple[type, Callable[[Any], object], Callable[[Any], object]]]] = {
    "end": (int, encode_end, decode_end),
    "name": (str, lambda _: "", str),
}
"""The kinds of fields that are stored as another type: that type, and how they are encoded and decoded. Players' names
are stored with the seats only.
"""
_EVENT_CODECS: Final = {kind.event: _EventCodec(kind) for kind in GAME_EVENT_TYPES}
_EVENT_DECODERS: Final = {b"%d" % kind.code: _EVENT_CODECS[kind.event] for kind in GAME_EVENT_TYPES}
