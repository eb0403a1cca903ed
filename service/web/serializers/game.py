"""Games as JSON objects: views, legal moves, boards, and seats with their tokens.

Everything here comes from the result of a use case; does not depend on ``Game`` or ``State``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import orjson

from service.engine.layout import OPEN, End, Layout, Placement, Side
from service.engine.moves import Move
from service.engine.tiles import Tile
from service.games.layout_cache import LayoutCache
from service.games.results import CreatedGame, JoinedSeat, LegalMoves, SeatToken
from service.games.timestamps import format_rfc3339
from service.games.views import GameView
from service.web.serializers.values import JsonObject, tile_names


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
        shown["you"] = {"seat": view.you.seat, "hand": tile_names(view.you.hand)}
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
