"""What goes out: looks, moves, events and score cards as plain values, ready for JSON.

Owns the names and shapes of the answers; the schemas in ``schemas`` describe the same, and tests hold
each against the other. Everything shown comes from what the use cases give; must not see a game or a state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

from service.engine.events import Dealt, Drew, FieldKind, RoundEnded, RoundResult, ScoreLine
from service.engine.layout import OPEN, End, Layout, Placement, Side
from service.engine.moves import Move
from service.engine.options import Option
from service.engine.tiles import Tile
from service.engine.variant import Settlement, Variant
from service.engine.view import DealtView, DrewView
from service.games.catalogue import Language, deal_table, localize, rule_page
from service.games.game import GAME_EVENT_TYPES
from service.games.layout_cache import LayoutCache
from service.games.results import CreatedGame, JoinedSeat, LegalMoves, SeatToken
from service.games.timestamps import format_rfc3339
from service.games.views import EventPage, EventView, GameView, Reset, ScoreCard

JsonObject = dict[str, Any]

_FIELDS: Final[dict[type, list[tuple[str, FieldKind]]]] = {
    kind.event: [(name, field) for name, field in kind.fields or () if name != "seat"] for kind in GAME_EVENT_TYPES
}
_FIELDS[DrewView] = _FIELDS[Drew]
_TYPES: Final[dict[type, str]] = {kind.event: kind.name for kind in GAME_EVENT_TYPES}
_TYPES.update({DealtView: _TYPES[Dealt], DrewView: _TYPES[Drew], Reset: "reset"})
_VALUES: Final[dict[FieldKind, Callable[[Any], object]]] = {
    "seats": list,
    "tile": lambda tile: tile.name,
    "bytes": bytes.hex,
}
"""How a field is shown, if not as it is."""


def game_view_json(look: GameView) -> JsonObject:
    """The game view."""
    view = look.view
    shown: JsonObject = {
        "id": look.id,
        "variant": look.variant.key,
        "rules": dict(look.rules.settings),
        "arranged": look.arranged,
        "status": look.status,
        "version": look.version,
        "round": view.round,
    }
    if look.status == "playing":
        shown["turn"] = {"seat": view.turn}
    if view.you is not None:
        shown["you"] = {"seat": view.you.seat, "hand": _names(view.you.hand)}
        if view.you.rows is not None:
            shown["you"]["rows"] = list(view.you.rows)
    players = []
    for (seat, tiles, total, in_match, team), (kind, name) in zip(view.players, look.seats, strict=True):
        each: JsonObject = {"seat": seat, "kind": kind, "tiles": tiles, "total": total, "in": in_match}
        if name is not None:
            each["name"] = name
        if team is not None:
            each["team"] = team
        players.append(each)
    shown |= {
        "legal_moves": moves_json(view.legal_moves, look.version),
        "players": players,
        "stock": {"tiles": view.stock, "drawable": view.drawable},
        "board": _board(view.layout).complete,
        "carry": view.carry,
    }
    if view.dealer is not None:
        shown["dealer"] = view.dealer
    if look.commitments:
        shown["commitments"] = _commitments(look.commitments, view.round)
    shown |= {
        "winners": list(view.winners),
        "created_at": format_rfc3339(look.created_at),
        "updated_at": format_rfc3339(look.updated_at),
        "expires_at": format_rfc3339(look.expires_at),
    }
    return shown


def moves_json(moves: Sequence[Move], version: int) -> list[JsonObject]:
    """Legal moves, each ready to be posted back."""
    return [_move(move, version) for move in moves]


def legal_moves_json(legal: LegalMoves) -> JsonObject:
    """The answer of the resource ``moves``."""
    shown: JsonObject = {"version": legal.version}
    if legal.turn is not None:
        shown["turn"] = {"seat": legal.turn}
    shown["moves"] = moves_json(legal.moves, legal.version)
    return shown


def created_game_json(opened: CreatedGame) -> JsonObject:
    """The answer to a game just opened, with every token, shown this once."""
    shown: JsonObject = {"game": game_view_json(opened.view), "seats": [each._asdict() for each in opened.seats]}
    if opened.join_code is not None:
        shown["join_code"] = opened.join_code
    return shown


def joined_seat_json(taken: JoinedSeat) -> JsonObject:
    """The answer to a seat just taken, with its token, shown this once."""
    return {**taken.seat._asdict(), "game": game_view_json(taken.view)}


def seat_token_json(changed: SeatToken) -> JsonObject:
    """A seat with its new token, shown this once."""
    return changed._asdict()


def event_page_json(page: EventPage) -> JsonObject:
    """A page of events, and the version to go on from."""
    return {"events": [event_json(each) for each in page.events], "version": page.version, "more": page.more}


def event_json(told: EventView) -> JsonObject:
    """What has happened, as its bearer may know it."""
    version, at, event = told
    shown: JsonObject = {"version": version, "type": _TYPES[type(event)]}
    seat = getattr(event, "seat", None)
    if seat is not None:
        shown["seat"] = seat
    shown["at"] = format_rfc3339(at)
    shown["data"] = _event_data(event)
    return shown


def _event_data(event: object) -> JsonObject:
    match event:
        case DealtView():
            data: JsonObject = {"round": event.round, "arranged": event.arranged}
            if event.hand is not None:
                data["hand"] = _names(event.hand)
            if event.client_seeds is not None and event.next_commitment is not None:
                data |= {"client_seeds": list(event.client_seeds), "next_commitment": event.next_commitment.hex()}
            return data
        case RoundEnded():
            return round_json(event.round)
        case Reset():
            return {"game": game_view_json(event.view)}
        case _:
            return {
                name: _VALUES[kind](value) if kind in _VALUES else value
                for name, kind in _FIELDS[type(event)]
                if (value := getattr(event, name)) is not None
            }


def score_json(card: ScoreCard) -> JsonObject:
    """The score card."""
    look = card.view
    standings = []
    for each in card.standings:
        standing: JsonObject = {"seat": each.seat}
        if each.name is not None:
            standing["name"] = each.name
        standing |= {"total": each.total, "rank": each.rank, "in": each.in_match}
        standings.append(standing)
    shown: JsonObject = {
        "game": look.id,
        "version": look.version,
        "status": look.status,
        "best": look.variant.best,
        "standings": standings,
        "rounds": [round_json(each) for each in card.rounds],
        "carry": look.view.carry,
        "winners": list(look.view.winners),
    }
    if card.settlement is not None:
        shown["settlement"] = _settlement(card.settlement)
    return shown


def round_json(counted: RoundResult) -> JsonObject:
    """The count of a round."""
    shown: JsonObject = {"number": counted.number, "ended_by": counted.ended_by}
    if counted.winner is not None:
        shown["winner"] = counted.winner
    if counted.loser is not None:
        shown["loser"] = counted.loser
    shown |= {
        "hands": [{"seat": left.seat, "tiles": _names(left.tiles), "value": left.value} for left in counted.hands],
        "scores": list(counted.scores),
        "carried": counted.carried,
        "lines": [_line(line) for line in counted.lines],
    }
    return shown


def variant_summary_json(variant: Variant, language: Language) -> JsonObject:
    """A game in the list of games."""
    return {
        "id": variant.key,
        "name": localize(variant.name, language),
        "summary": localize(variant.summary, language),
        "players": {"min": variant.players.low, "max": variant.players.high},
    }


def variant_json(variant: Variant, language: Language) -> JsonObject:
    """A game in full: its options as a JSON Schema, its deals, its scoring, its rules."""
    return {
        **variant_summary_json(variant, language),
        "edition": variant.edition,
        "language": language,
        "options": {
            "type": "object",
            "properties": {option.key: _option(option, language) for option in variant.options},
            "unevaluatedProperties": False,
        },
        "deals": [
            {
                "set": row.highest,
                "players": row.players,
                "hand": row.hand,
                "stock": row.stock,
                "drawable": row.drawable,
            }
            for row in deal_table(variant.key)
        ],
        "scoring": {"best": variant.best, "text": localize(variant.scoring, language)},
        "rules": rule_page(variant.key, language),
    }


def _move(move: Move, version: int) -> JsonObject:
    shown: JsonObject = {"action": move.action}
    if move.tile is not None:
        shown["tile"] = move.tile.name
        if move.end is not None:
            shown["end"] = move.end
        shown["face_down"] = move.face_down
    shown["version"] = version
    if move.ends_sum is not None:
        shown["ends_sum"] = move.ends_sum
        shown["points"] = move.points
    return shown


@lru_cache(maxsize=1024)
def _commitments(commitments: tuple[bytes, ...], round_number: int) -> orjson.Fragment:
    """The commitments, the last one to the seed of the round after this; the same for all who look, as JSON."""
    first = round_number + 2 - len(commitments)
    return orjson.Fragment(
        orjson.dumps([{"round": number, "commitment": each.hex()} for number, each in enumerate(commitments, first)])
    )


class _BoardJson(NamedTuple):
    """The table as JSON, the same for all who look at it."""

    tiles: bytes
    """Without the brackets around them."""
    complete: orjson.Fragment


def _make_board(layout: Layout) -> _BoardJson:
    """The table, its tiles gone through."""
    return _board_of(layout, b",".join([_placements_json(each, layout) for each in layout.placements]))


def _extend_board(board: _BoardJson, layout: Layout) -> _BoardJson:
    """The same, from the table before its last tile."""
    return _board_of(layout, b"%b,%b" % (board.tiles, _placements_json(layout.placements[-1], layout)))


_board: Final = LayoutCache(_make_board, _extend_board)


def _board_of(layout: Layout, tiles: bytes) -> _BoardJson:
    placements = layout.placements
    shown: JsonObject = {
        "tiles": orjson.Fragment(b"[%b]" % tiles),
        "ends": [_end(end, placements[end.host].tile) for end in layout.ends],
    }
    if layout.scores_ends:
        shown["ends_sum"] = layout.ends_sum
    return _BoardJson(tiles, orjson.Fragment(orjson.dumps(shown)))


def _placements_json(placement: Placement, layout: Layout) -> bytes:
    """A tile on the table."""
    tile, host, side, seat, face_down = placement
    return _placement(tile, face_down, layout.placements[host].tile if host >= 0 else None, side, seat)


@lru_cache(maxsize=8192)
def _placement(tile: Tile, face_down: bool, host: Tile | None, side: Side, seat: int) -> bytes:
    """The same for all tables on which it lies so: a table that another process has changed is shown anew."""
    shown: JsonObject = {"tile": tile.name, "face_down": face_down}
    if host is not None:
        shown["on"] = {"tile": host.name, "side": side}
    shown["seat"] = seat
    return orjson.dumps(shown)


@lru_cache(maxsize=8192)
def _end(end: End, host: Tile) -> orjson.Fragment:
    """A place where a tile may join. It stays as it is while tiles are laid elsewhere."""
    shown: JsonObject = {
        "id": end.name,
        "number": end.number,
        "tile": host.name,
        "side": end.side,
        "open": end.gate == OPEN,
        "counts": end.counts,
    }
    return orjson.Fragment(orjson.dumps(shown))


def _line(line: ScoreLine) -> JsonObject:
    return {"seat": line.seat, "points": line.points, "rule": line.rule, "text": line.text}


def _settlement(settlement: Settlement) -> JsonObject:
    return {
        "mode": settlement.mode,
        "amounts": [{"seat": seat, **_amount(amount)} for seat, amount in enumerate(settlement.amounts)],
        "payments": [
            {"from": payment.payer, "to": payment.payee, **_amount(payment.amount)} for payment in settlement.payments
        ],
    }


def _amount(amount: Fraction) -> JsonObject:
    rounded = int(amount) if amount.denominator == 1 else float(round(amount, 2))
    return {"amount": rounded, "exact": str(amount)}


def _option(option: Option, language: Language) -> JsonObject:
    shown: JsonObject = {"title": localize(option.label, language), "description": localize(option.help, language)}
    if option.values:
        kinds = {bool: "boolean", int: "integer", str: "string"}
        shown["type"] = kinds[type(option.values[0])]
        if shown["type"] != "boolean":
            shown["enum"] = list(option.values)
    else:
        shown |= {"type": "integer", "minimum": option.low, "maximum": option.high}
    if option.default is not None:
        shown["default"] = option.default
    return shown


def _names(tiles: Sequence[Tile]) -> list[str]:
    return [tile.name for tile in tiles]
