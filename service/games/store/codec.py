"""The codec: games and events as bytes for the store, and back.

Owns the stored format, compact JSON arrays: a tile is its index, an end its number, and the placements are one list for
each column. A game begins with the number of the format. Does not depend on which store holds the bytes.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from itertools import compress
from typing import Any, Final, NamedTuple

import orjson

from service.engine.deal import ArrangedDeal, Deck
from service.engine.events import (
    DealProof,
    Dealt,
    EventType,
    FieldKind,
    Finished,
    RemainingHand,
    RoundEnded,
    RoundResult,
    ScoreLine,
)
from service.engine.layout import CLOSED, END, GATED, LONG, OPEN, SHORT, End, Gate, Layout, Placement, Side
from service.engine.presence import Presence
from service.engine.state import FINISHED, PLAYING, ROUND_OVER, PlacementScore, State
from service.engine.tiles import TILES, Tile
from service.engine.variant import Rules
from service.engine.variants import variants
from service.games.model.clock import ClockSettings, RunningClock
from service.games.model.errors import Gone
from service.games.model.game import GAME_EVENT_TYPES, EventEnvelope, Game, GameEvent, Ownership, rules_for
from service.games.model.seats import Remote, Seat, Seats
from service.games.store.layout_cache import LayoutCache

_FORMAT: Final = 1
"""The number with which a stored game begins; any other one, except that of a tombstone, is of a newer service."""
_TOMBSTONE: Final = 0
"""In the place of that number, of what is stored in place of a deleted game; never the number of a format."""

_PHASES: Final = (ROUND_OVER, PLAYING, FINISHED)
_SIDES: Final[tuple[Side, ...]] = (END, LONG, SHORT)
_GATES: Final[tuple[Gate, ...]] = (OPEN, GATED, CLOSED)
_SIDE_CODES: Final = {side: code for code, side in enumerate(_SIDES)}
_GATE_CODES: Final = {gate: code for code, gate in enumerate(_GATES)}
_LINE_ENDS: Final = ("left", "right")

_new: Final = tuple.__new__  # as in ``layout``: faster, for the many placements of a game
_new_placement: Final = partial(_new, Placement)


class NewerFormat(Exception):
    """A newer service wrote this game or event: its format, variant, edition or type is unknown here."""


def encode_game(game: Game) -> bytes:
    """The bytes of a game, without its id and version, which the store holds beside them."""
    return orjson.dumps(
        [
            _FORMAT,
            game.write_id,
            game.variant.key,
            game.edition,
            game.options,
            game.created_at,
            game.updated_at,
            _encode_seats(game.seats),
            _encode_bytes(game.join_hash),
            game.arranged,
            _encode_bytes(game.deck.seed),
            [[_encode_hands(each.hands), _encode_tiles(each.stock)] for each in game.deck.arranged],
            None if game.deck.game is None else game.deck.client_seeds,
            [_encode_bytes(each) for each in game.commitments],
            game.round_ends,
            _encode_state(game.state),
            game.version - game.match_version,
            "" if game.match_write_id == game.write_id else game.match_write_id,
            game.unique_names,
            _encode_automation(game) if game.is_automatic else None,
            None if game.ownership is None else _encode_ownership(game, game.ownership),
            game.rematch,
            game.spectators,
            game.rematch_of,
        ]
    )


def state_prefix(game: Game) -> bytes:
    """The first bytes of this game as it is stored, which no other game has, nor this one with another history."""
    return b'[%d,"%b"' % (_FORMAT, game.write_id.encode())


def encode_tombstone(app: str) -> bytes:
    """The bytes that take the place of a deleted game of this application; no game begins with them."""
    return orjson.dumps([_TOMBSTONE, app])


def decode_game(game_id: str, version: int, data: bytes) -> Game:
    """Decode a game. Raises ``Gone`` for a tombstone, ``NewerFormat`` if a newer service wrote it."""
    fields = orjson.loads(data)
    if fields[0] == _TOMBSTONE:
        raise Gone(version, fields[1])
    if fields[0] != _FORMAT or fields[2] not in variants() or fields[3] > variants()[fields[2]].edition:
        raise NewerFormat
    (
        _,
        write_id,
        variant,
        edition,
        options,
        created_at,
        updated_at,
        seats,
        join,
        arranged,
        seed,
        deals,
        client_seeds,
        commitments,
        round_ends,
        state,
        token_changes,
        match_write_id,
        unique_names,
        automation,
        owned,
        rematch,
        spectators,
        rematch_of,
    ) = fields
    rules = rules_for(variant, options, len(seats))
    game = Game(
        id=game_id,
        variant=variants()[variant],
        options=options,
        rules=rules,
        seats=Seats([Seat(kind, name, token and a2b_base64(token)) for kind, name, token in seats]),
        join_hash=_decode_bytes(join),
        arranged=arranged,
        deck=Deck(
            a2b_base64(seed),
            tuple([ArrangedDeal(_decode_hands(hands), _decode_tiles(stock)) for hands, stock in deals]),
            None if client_seeds is None else game_id,
            tuple(client_seeds or ()),
        ),
        version=version,
        created_at=created_at,
        updated_at=updated_at,
        round_ends=tuple(round_ends),
        edition=edition,
        write_id=write_id,
        match_version=version - token_changes,
        match_write_id=match_write_id or write_id,
        commitments=tuple(map(a2b_base64, commitments)),
        unique_names=unique_names,
        state=_decode_state(rules, state),
        rematch=rematch,
        spectators=spectators,
        rematch_of=rematch_of,
    )
    if automation is not None:
        game = _with_automation(game, automation)
    return game if owned is None else _with_ownership(game, owned)


def _encode_ownership(game: Game, ownership: Ownership) -> list[object]:
    """The application and what it calls the game and its players; and for remote players where they are asked."""
    remotes = [
        None if seat.remote is None else [seat.remote.url, _encode_bytes(seat.remote.secret)] for seat in game.seats
    ]
    return [*ownership, [seat.ref for seat in game.seats], remotes if any(remotes) else None]


def _with_ownership(game: Game, fields: list[Any]) -> Game:
    *ownership, refs, remotes = fields
    seats = [
        seat._replace(ref=ref, remote=None if remote is None else Remote(remote[0], a2b_base64(remote[1])))
        for seat, ref, remote in zip(game.seats, refs, remotes or [None] * len(refs), strict=True)
    ]
    return game._replace(seats=Seats(seats), ownership=Ownership(*ownership))


def _encode_automation(game: Game) -> list[object]:
    """The computer players, their pace, who is present, and the clock."""
    clock, running, presence = game.clock, game.running_clock, game.presence
    return [
        [seat.level for seat in game.seats],
        game.pace,
        None if clock is None else list(clock),
        sorted(presence.away),
        sorted(presence.forfeited),
        presence.substituted,
        [running.started, running.banks, sorted(running.granted), running.acted],
    ]


def _with_automation(game: Game, fields: list[Any]) -> Game:
    levels, pace, clock, away, forfeited, substituted, (started, banks, granted, acted) = fields
    return game._replace(
        seats=Seats([seat._replace(level=level) for seat, level in zip(game.seats, levels, strict=True)]),
        pace=pace,
        presence=Presence(frozenset(away), frozenset(forfeited), substituted),
        clock=None if clock is None else ClockSettings(*clock),
        running_clock=RunningClock(started, tuple(banks), frozenset(granted), acted),
        is_automatic=True,
    )


def encode_event(event: GameEvent, since_creation: int, to_act: tuple[int, ...]) -> bytes:
    """The bytes of an event; ``since_creation`` in milliseconds after the game was created.

    ``to_act``: the seats that may move after it.
    """
    kind = type(event)
    return orjson.dumps([_EVENT_CODES[kind], since_creation, to_act, *_EVENT_CODECS[kind].encode(event)])


def decode_event(version: int, created_at: int, data: bytes) -> EventEnvelope:
    """Decode the event that led to ``version``; ``created_at`` in milliseconds since 1970.

    Raises ``NewerFormat`` if a newer service wrote it.
    """
    code, *rest = orjson.loads(data)
    if code not in _EVENT_DECODERS:
        raise NewerFormat
    since_creation, to_act, *fields = rest
    return EventEnvelope(version, created_at + since_creation, _EVENT_DECODERS[code](fields), tuple(to_act))


def forget_seats() -> None:
    """Drop the cached encodings of seats: their names and hashes are those of some games."""
    _encode_seats.cache_clear()


@lru_cache(maxsize=1024)
def _encode_seats(seats: tuple[Seat, ...]) -> orjson.Fragment:
    """The seats as JSON; cached, as they rarely change."""
    return orjson.Fragment(orjson.dumps([[seat.kind, seat.name, _encode_bytes(seat.token_hash)] for seat in seats]))


# States


def _encode_state(state: State) -> list[object]:
    layout = state.layout
    encoded = _encode_layout(layout)
    return [
        _PHASES.index(state.phase),
        state.round,
        _encode_hands(state.hands),
        _encode_tiles(state.stock),
        encoded.placements,
        encoded.ends,
        layout.last_end_number,
        state.turn,
        state.tiles_laid,
        int(state.drew),
        state.opener,
        state.went_out_first,
        [list(each) for each in state.placements_scored],
        state.totals,
        state.eliminated_round,
        state.carry,
        state.round_winner,
        state.dealer,
        state.winners,
    ]


class _Columns(NamedTuple):
    """The columns of the placements, each as JSON without its brackets."""

    tiles: bytes
    hosts: bytes
    sides: bytes
    seats: bytes
    face_down: bytes
    """The indexes of the placements that are face down."""
    outer: bytes
    """A comma and the list of the outer halves, which only a game has that names them; else nothing."""


class _LayoutJson(NamedTuple):
    """The placements and ends of a layout as JSON."""

    columns: _Columns
    placements: orjson.Fragment
    ends: orjson.Fragment


def _encode_whole_layout(layout: Layout) -> _LayoutJson:
    """The layout, encoded from all its placements."""
    columns = zip(*layout.placements, strict=True) if layout.placements else _NO_COLUMNS
    tiles, hosts, sides, seats, face_down, outer = columns
    written = (
        _encode_tiles(tiles),
        hosts,
        [_SIDE_CODES[side] for side in sides],
        seats,
        list(compress(range(len(tiles)), face_down)),
    )
    outer_halves = b"," + orjson.dumps(outer) if layout.names_outer else b""
    return _layout_json(layout, _Columns._make([*[orjson.dumps(each)[1:-1] for each in written], outer_halves]))


def _extend_layout(encoded: _LayoutJson, layout: Layout) -> _LayoutJson:
    """The layout, encoded from that before its last tile."""
    tiles, hosts, sides, seats, face_down, outer_halves = encoded.columns
    tile, host, side, seat, down, outer = layout.placements[-1]
    if down:
        face_down = b"%b%b%d" % (face_down, b"," if face_down else b"", len(layout.placements) - 1)
    columns = _Columns(
        b"%b,%d" % (tiles, tile.index),
        b"%b,%d" % (hosts, host),
        b"%b,%d" % (sides, _SIDE_CODES[side]),
        b"%b,%d" % (seats, seat),
        face_down,
        outer_halves if outer is None else b"%b,%d]" % (outer_halves[:-1], outer),
    )
    return _layout_json(layout, columns)


def _layout_json(layout: Layout, columns: _Columns) -> _LayoutJson:
    return _LayoutJson(
        columns,
        orjson.Fragment(b"[[%b],[%b],[%b],[%b],[%b]%b]" % columns),
        orjson.Fragment(b"[%b]" % b",".join(map(_encode_layout_end, layout.ends))),
    )


_NO_COLUMNS: Final[tuple[tuple[Any, ...], ...]] = ((),) * 6
_encode_layout: Final = LayoutCache(_encode_whole_layout, _extend_layout)


@lru_cache(maxsize=8192)
def _encode_layout_end(end: End) -> bytes:
    """An end as JSON; cached, as it does not change while tiles are laid elsewhere."""
    name, number, host, side, gate, _, _ = end
    return b"[%d,%d,%d,%d,%d]" % (encode_end(name), number, host, _SIDE_CODES[side], _GATE_CODES[gate])


def _decode_state(rules: Rules, fields: list[Any]) -> State:
    (
        phase,
        round_number,
        hands,
        stock,
        placements,
        ends,
        last_end_number,
        turn,
        tiles_laid,
        drew,
        opener,
        went_out_first,
        placements_scored,
        totals,
        eliminated_round,
        carry,
        round_winner,
        dealer,
        winners,
    ) = fields
    return State(
        phase=_PHASES[phase],
        round=round_number,
        hands=_decode_hands(hands),
        stock=_decode_tiles(stock),
        layout=_decode_layout(rules, placements, ends, last_end_number),
        turn=turn,
        tiles_laid=tiles_laid,
        drew=bool(drew),
        opener=opener,
        went_out_first=went_out_first,
        placements_scored=tuple([PlacementScore(*each) for each in placements_scored]),
        totals=tuple(totals),
        eliminated_round=tuple(eliminated_round),
        carry=carry,
        round_winner=round_winner,
        dealer=dealer,
        winners=tuple(winners),
    )


def _decode_layout(rules: Rules, columns: list[Any], rows: list[Any], last_end_number: int) -> Layout:
    tiles, hosts, sides, seats, face_down_indexes, *outer = columns
    face_down = [False] * len(hosts)
    for index in face_down_indexes:
        face_down[index] = True
    placements = tuple(
        map(
            _new_placement,
            zip(
                _decode_tiles(tiles),
                hosts,
                [_SIDES[side] for side in sides],
                seats,
                face_down,
                outer[0] if outer else [None] * len(hosts),
                strict=True,
            ),
        )
    )
    is_line = bool(rules.line_ends)
    ends = [
        (decode_end(code, is_line), number, host, _SIDES[side], _GATES[gate]) for code, number, host, side, gate in rows
    ]
    return rules.empty_layout().restored(placements, ends, last_end_number)


# Events


def _encode_dealt(event: Dealt) -> list[object]:
    fields = [event.round, _encode_hands(event.hands), _encode_tiles(event.stock), int(event.arranged)]
    proof = event.proof
    if proof is None:
        return fields
    return [*fields, proof.attempt, proof.client_seeds, _encode_bytes(proof.next_commitment)]


def _decode_dealt(fields: list[Any]) -> Dealt:
    number, hands, stock, arranged, *provable = fields
    proof = None
    if provable:
        attempt, client_seeds, commitment = provable
        proof = DealProof(attempt, tuple(client_seeds), a2b_base64(commitment))
    return Dealt(number, _decode_hands(hands), _decode_tiles(stock), bool(arranged), proof)


def _encode_round(result: RoundResult) -> list[object]:
    return [
        result.number,
        result.ended_by,
        result.winner,
        result.loser,
        result.carried,
        [[hand.seat, _encode_tiles(hand.tiles), hand.value] for hand in result.hands],
        result.scores,
        [list(line) for line in result.lines],
    ]


def _decode_round(fields: list[Any]) -> RoundEnded:
    number, ended_by, winner, loser, carried, hands, scores, lines = fields
    return RoundEnded(
        RoundResult(
            number=number,
            ended_by=ended_by,
            winner=winner,
            loser=loser,
            carried=carried,
            hands=tuple([RemainingHand(seat, _decode_tiles(tiles), value) for seat, tiles, value in hands]),
            scores=tuple(scores),
            lines=tuple([ScoreLine(*line) for line in lines]),
        )
    )


def _encode_finished(event: Finished) -> list[object]:
    return [*event.winners, *([] if event.ended_by is None else [event.ended_by])]


def _decode_finished(fields: list[Any]) -> Finished:
    if fields and isinstance(fields[-1], str):
        return Finished(tuple(fields[:-1]), fields[-1])  # type: ignore[arg-type] # as it was encoded
    return Finished(tuple(fields))


class _EventCodec(NamedTuple):
    """The conversion of one type of event to its stored fields, and back."""

    encode: Callable[[Any], Sequence[object]]
    decode: Callable[[list[Any]], GameEvent]


def _plain_codec(kind: EventType) -> _EventCodec:
    """The codec of an event that is stored field by field; trailing fields without a value are left out."""
    assert kind.fields is not None
    fields = [(name, *_FIELDS[field]) for name, field in kind.fields]

    def encode(event: GameEvent) -> list[object]:
        values = [
            value if (value := getattr(event, name)) is None or write is None else write(value)
            for name, write, _ in fields
        ]
        while values and values[-1] is None:
            values.pop()
        return values

    def decode(values: list[Any]) -> GameEvent:
        arguments = [
            value if value is None or read is None else read(value)
            for value, (_, _, read) in zip(values, fields, strict=False)
        ]
        event: GameEvent = kind.event(*arguments)
        return event

    return _EventCodec(encode, decode)


# Values


@cache
def encode_end(name: str) -> int:
    """The number of an end by its name: −1 and −2 for left and right, else the number in the name."""
    return -1 - _LINE_ENDS.index(name) if name in _LINE_ENDS else int(name[1:])


@cache
def decode_end(code: int, is_line: bool) -> str:
    """The name of the end of that number, in a line or in a layout whose ends are numbered."""
    return _LINE_ENDS[-1 - code] if is_line else f"e{code}"


def _encode_tiles(tiles: Sequence[Tile]) -> list[int]:
    return [tile.index for tile in tiles]


def _decode_tiles(indexes: Sequence[int]) -> tuple[Tile, ...]:
    return tuple([TILES[index] for index in indexes])


def _encode_hands(hands: Sequence[Sequence[Tile]]) -> list[list[int]]:
    return [[tile.index for tile in hand] for hand in hands]


def _decode_hands(hands: Sequence[Sequence[int]]) -> tuple[tuple[Tile, ...], ...]:
    return tuple([_decode_tiles(hand) for hand in hands])


def _encode_bytes(data: bytes | None) -> str | None:
    return None if data is None else b2a_base64(data, newline=False).decode()


def _decode_bytes(text: str | None) -> bytes | None:
    return None if text is None else a2b_base64(text)


_FIELDS: Final[dict[FieldKind, tuple[Callable[[Any], object] | None, Callable[[Any], object] | None]]] = {
    "seat": (None, None),
    "seats": (list, tuple),
    "number": (None, None),
    "text": (None, None),
    "name": (lambda _: 1, lambda _: ""),
    "word": (None, None),
    "optional_word": (None, None),
    "flag": (int, bool),
    "tile": (lambda tile: tile.index, lambda index: TILES[index]),
    "end": (encode_end, lambda code: decode_end(code, code < 0)),
    "bytes": (_encode_bytes, _decode_bytes),
}
_SPECIAL_EVENTS: Final[dict[type, _EventCodec]] = {
    Dealt: _EventCodec(_encode_dealt, _decode_dealt),
    RoundEnded: _EventCodec(lambda event: _encode_round(event.round), _decode_round),
    Finished: _EventCodec(_encode_finished, _decode_finished),
}
_EVENT_CODECS: Final = {kind.event: _SPECIAL_EVENTS.get(kind.event) or _plain_codec(kind) for kind in GAME_EVENT_TYPES}
_EVENT_CODES: Final = {kind.event: kind.code for kind in GAME_EVENT_TYPES}
_EVENT_DECODERS: Final = {kind.code: _EVENT_CODECS[kind.event].decode for kind in GAME_EVENT_TYPES}
