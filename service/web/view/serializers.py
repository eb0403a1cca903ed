"""The view of a game, its legal moves and its score as JSON objects.

Serializes only the results of use cases; does not depend on ``Game`` or ``State``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import orjson

from service.engine.events import Manche, RoundResult
from service.engine.layout import End, Layout, Side
from service.engine.moves import Move
from service.engine.tiles import Tile
from service.engine.variant import Settlement
from service.games.model.clock import ClockSettings
from service.games.model.views import (
    CreatedGame,
    GameView,
    JoinedSeat,
    LegalMoves,
    ScoreCard,
    format_rfc3339,
    without_none,
)
from service.games.queries.sentences import game_sentence
from service.games.store.codec import LayoutCache
from service.texts import Language
from service.web.fields.strict import JsonObject


def game_view_json(game: GameView, language: Language | None = None) -> JsonObject:
    """Return the game view; with a ``language``, also a sentence about its state."""
    view = game.view
    result: JsonObject = {
        "id": game.id,
        "variant": game.variant.key,
        "options": dict(game.rules.settings),
        "arranged": game.arranged,
        "status": game.status,
        "version": game.version,
        "round": view.round,
    }
    if game.ref is not None:
        result["ref"] = game.ref
    if game.join_code is not None:
        result["join_code"] = game.join_code
    if language is not None:
        result["text"] = game_sentence(game, language)
    if game.unique_names:
        result["unique_names"] = True
    if not game.spectators:
        result["spectators"] = False
    if game.auto:
        result["auto"] = True
    result |= _turn(view.turn if game.status == "playing" else None, game.deadline)
    result["to_act"] = list(view.to_act)
    if game.clock is not None:
        result |= _clock(game.clock)
    if (you := view.you) is not None:
        result["you"] = {"seat": you.seat, "hand": [tile.name for tile in you.hand]}
        if you.rows is not None:
            result["you"]["rows"] = list(you.rows)
    result |= {
        "legal_moves": [move_json(move, game.version) for move in view.legal_moves],
        "players": _players(game),
        "stock": {"tiles": view.stock, "drawable": view.drawable},
        "board": _board(view.layout).complete,
    }
    return result | _totals_json(game) | _outcome_and_times(game)


def _totals_json(game: GameView) -> JsonObject:
    """Return the carry, the unit of totals if it is not points, and the running manche, if the game has them."""
    result: JsonObject = {"carry": game.view.carry} if game.rules.carries else {}
    if game.rules.unit != "points":
        result["unit"] = game.rules.unit
    if game.view.manche is not None:
        result["manche"] = _manche(game.view.manche.running())
    return result


def _manche(manche: Manche) -> JsonObject:
    result: JsonObject = {"number": manche.number, "stars": list(manche.stars)}
    return result if manche.ended is None else result | {"ended": manche.ended}


def _outcome_and_times(game: GameView) -> JsonObject:
    """Return the dealer, the winners, the games before and after this one, and its times."""
    view = game.view
    result: JsonObject = {}
    if view.dealer is not None:
        result["dealer"] = view.dealer
    if game.commitments:
        result["commitments"] = _commitments(game.commitments, view.round)
    result["winners"] = list(view.winners)
    if game.fills_at is not None:
        result["fills_at"] = format_rfc3339(game.fills_at)
    if game.rematch is not None:
        result["rematch"] = {"game_id": game.rematch}
    if game.rematch_of is not None:
        result["rematch_of"] = game.rematch_of
    result |= {
        "created_at": format_rfc3339(game.created_at),
        "updated_at": format_rfc3339(game.updated_at),
        "expires_at": format_rfc3339(game.expires_at),
    }
    return result


def _turn(turn: int | None, deadline: int | None) -> JsonObject:
    """Return ``turn`` or ``deal`` with its deadline; empty if there is neither a turn nor a clock for the deal."""
    until = {} if deadline is None else {"deadline": format_rfc3339(deadline)}
    if turn is not None:
        return {"turn": {"seat": turn} | until}
    return {"deal": until} if until else {}


def _players(game: GameView) -> list[JsonObject]:
    """Return the players as the viewer may know them, in the order of their seats."""
    players = []
    for (seat, tiles, total, in_match, team), player in zip(game.view.players, game.seats, strict=True):
        shown: JsonObject = {"seat": seat, "kind": player.kind, "tiles": tiles, "total": total, "active": in_match}
        if player.name is not None:
            shown["name"] = player.name
        if player.ref is not None:
            shown["ref"] = player.ref
        if team is not None:
            shown["team"] = team
        if player.level is not None:
            shown["bot"] = player.level
        if player.bank is not None:
            shown["bank"] = player.bank / 1000
        if player.away:
            shown["away"] = True
        if player.forfeited:
            shown["forfeited"] = True
        players.append(shown)
    return players


def _clock(clock: ClockSettings) -> JsonObject:
    """Return the clock in seconds, and what follows at a deadline."""
    times = (
        {"bank": clock.bank // 1000, "increment": clock.increment // 1000}
        if clock.turn is None
        else {"turn": clock.turn // 1000}
    )
    if clock.remind is not None:
        times["remind"] = clock.remind // 1000
    return {"clock": times, "absence": {"then": clock.absence}}


def move_json(move: Move, version: int) -> JsonObject:
    """Return a legal move at this version, which can be posted back."""
    result: JsonObject = {"action": move.action}
    if move.tile is not None:
        result["tile"] = move.tile.name
        if move.end is not None:
            result["end"] = move.end
        result["face_down"] = move.face_down
        if move.outer is not None:
            result["outer"] = move.outer
    result["version"] = version
    if move.ends_sum is not None:
        result["ends_sum"] = move.ends_sum
    if move.points is not None:
        result["points"] = move.points
    return result


@lru_cache(maxsize=1024)
def _commitments(commitments: tuple[bytes, ...], round_number: int) -> orjson.Fragment:
    """Return the commitments as JSON; the last one is for the seed of the next round. Same for all viewers."""
    first = round_number + 2 - len(commitments)
    return orjson.Fragment(
        orjson.dumps(
            [{"round": number, "commitment": commitment.hex()} for number, commitment in enumerate(commitments, first)]
        )
    )


class _BoardJson(NamedTuple):
    """The table as JSON, the same for all viewers."""

    ends: tuple[End, ...]
    tiles: bytes
    """The items of the list, without its brackets."""
    complete: orjson.Fragment


def _make_board(layout: Layout) -> _BoardJson:
    """Serialize a whole table."""
    return _board_of(layout, b"", layout.covered_ends())


def _extend_board(board: _BoardJson, layout: Layout) -> _BoardJson:
    """Serialize a table from the JSON of the same table without its last tile."""
    last = len(layout.placements) - 1
    index = 0
    while layout.ends[index].host != last:
        index += 1
    covered = board.ends[index].name  # the ends that a tile opens take the index of the end that it covers
    return _board_of(layout, board.tiles + b",", [covered])


_board: Final = LayoutCache(_make_board, _extend_board)


def _board_of(layout: Layout, before: bytes, covered: Sequence[str | None]) -> _BoardJson:
    """Serialize a table whose last tiles covered these ends, ``None`` for the first tile; ``before``: the others."""
    placements = layout.placements
    laid = []
    for (tile, host, side, seat, down, outer), end in zip(placements[-len(covered) :], covered, strict=True):
        joined = None if end is None else (placements[host].tile, side, end)
        laid.append(_tile_json(tile, down, joined, seat, outer))
    tiles = before + b",".join(laid)
    result: JsonObject = {
        "tiles": orjson.Fragment(b"[%b]" % tiles),
        "ends": [_end(end, placements[end.host].tile) for end in layout.ends],
    }
    if layout.counts_ends:
        result["ends_sum"] = layout.ends_sum
    return _BoardJson(layout.ends, tiles, orjson.Fragment(orjson.dumps(result)))


@lru_cache(maxsize=8192)
def _tile_json(  # noqa: PLR0917 # keyword names would be a part of each key of the cache
    tile: Tile, face_down: bool, joined: tuple[Tile, Side, str] | None, seat: int, outer: int | None
) -> bytes:
    """Return a tile on the table; ``joined``: the host, its side, and the end there.

    All tables share the cache, so that a table that another process has changed is serialized faster, too.
    """
    result: JsonObject = {"tile": tile.name, "face_down": face_down}
    if joined is not None:
        host, side, end = joined
        result["on"] = {"tile": host.name, "side": side}
        result["end"] = end
        result["number"] = tile.shared_number(host) if outer is None else tile.other_half(outer)
        if outer is not None:
            result["outer"] = outer
    result["seat"] = seat
    return orjson.dumps(result)


@lru_cache(maxsize=8192)
def _end(end: End, host: Tile) -> orjson.Fragment:
    """Return an end; cached, as it stays the same while tiles are laid elsewhere."""
    result: JsonObject = {
        "id": end.name,
        "number": end.number,
        "tile": host.name,
        "side": end.side,
        "state": end.gate,
        "counts": end.counts,
    }
    return orjson.Fragment(orjson.dumps(result))


def legal_moves_json(legal: LegalMoves) -> JsonObject:
    """Return the legal moves of the viewer's seat."""
    return {
        "version": legal.version,
        **_turn(legal.turn, legal.deadline),
        "to_act": list(legal.to_act),
        "legal_moves": [move_json(move, legal.version) for move in legal.moves],
    }


def score_json(card: ScoreCard) -> JsonObject:
    """Return the score card."""
    game = card.view
    standings = []
    for row in card.standings:
        standing = {"seat": row.seat, "name": row.name, "total": row.total, "rank": row.rank, "active": row.in_match}
        standings.append(without_none(standing | {"team": row.team, "forfeited": row.forfeited or None}))
    result: JsonObject = {
        "game_id": game.id,
        "version": game.version,
        "status": game.status,
        "best": game.variant.best,
        "standings": standings,
        "rounds": [round_json(played) for played in card.rounds],
        "winners": list(game.view.winners),
    }
    result |= _totals_json(game)
    if card.settlement is not None:
        result["settlement"] = _settlement(card.settlement)
    return result


def round_json(round_result: RoundResult) -> JsonObject:
    """Return the result of a round."""
    shown = {
        "number": round_result.number,
        "ended_by": round_result.ended_by,
        "winner": round_result.winner,
        "loser": round_result.loser,
        "manche": None if round_result.manche is None else _manche(round_result.manche),
        "hands": [
            {"seat": left.seat, "tiles": [tile.name for tile in left.tiles], "value": left.value}
            for left in round_result.hands
        ],
        "scores": list(round_result.scores),
        "carried": round_result.carried,
        "lines": [line._asdict() for line in round_result.lines],
    }
    return without_none(shown)


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


# New games and seats as JSON objects, with their tokens, which no other response contains.


def created_game_json(created: CreatedGame, language: Language | None = None) -> JsonObject:
    """Return a new game with all its tokens; ``language`` as in ``game_view_json``."""
    result: JsonObject = {
        "game": game_view_json(created.view, language),
        "seats": [seat._asdict() for seat in created.seats],
    }
    if created.join_code is not None:
        result["join_code"] = created.join_code
    return result


def joined_seat_json(joined: JoinedSeat, language: Language | None = None) -> JsonObject:
    """Return a seat that was just taken, with its token; ``language`` as in ``game_view_json``."""
    return joined.seat._asdict() | {"game": game_view_json(joined.view, language)}
