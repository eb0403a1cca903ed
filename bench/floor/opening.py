"""How a game is created on the floor: what a plain application does for it, and nothing that only this service does.

Owns the schema of the body, the deal, the tokens, and the form of the stored game and of the answer, which has the
fields of the service's own. Does not depend on Flask or Redis. There are no rules: a hand is an equal share with one
share left as the stock.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple

from marshmallow import Schema, fields, validate

from bench.setups import SETUPS


class _PlayerSchema(Schema):
    """A player."""

    name = fields.String(required=True, validate=validate.Length(1, 60))


class _OptionsSchema(Schema):
    """The only option of the measured games."""

    set = fields.Integer(strict=True, load_default=6, validate=validate.OneOf([6, 9, 12, 15, 18]))


class OpeningSchema(Schema):
    """The body of the request that creates a game."""

    variant = fields.String(required=True, validate=validate.OneOf(sorted({setup.key for setup in SETUPS})))
    players = fields.List(fields.Nested(_PlayerSchema), required=True, validate=validate.Length(2, 13))
    options = fields.Nested(_OptionsSchema, load_default=lambda: {"set": 6})
    seed = fields.String(validate=validate.Length(max=64))


class Opened(NamedTuple):
    """A new game: what is stored of it, its first event, and what is answered."""

    id: str
    state: dict[str, Any]
    event: dict[str, Any]
    answer: dict[str, Any]


def open_game(asked: dict[str, Any]) -> Opened:
    """Deal a game as asked for by a valid body."""
    game = secrets.token_urlsafe(16)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    names = [player["name"] for player in asked["players"]]
    hands, stock = _deal(asked["options"]["set"], len(names))
    tokens = [secrets.token_urlsafe(32) for _ in names]
    match = {"round": 1, "turn": secrets.randbelow(len(names)), "status": "playing", "board": [], "winners": []}
    described = {"variant": asked["variant"], "options": asked["options"], "created_at": now, "updated_at": now}
    state = {
        **described,
        **match,
        "players": [
            {"name": name, "token_hash": hashlib.sha256(token.encode()).hexdigest(), "total": 0, "hand": hand}
            for name, token, hand in zip(names, tokens, hands, strict=True)
        ],
        "stock": stock,
    }
    view = {
        "id": game,
        **described,
        **match,
        "version": 1,
        "legal_moves": [],
        "players": [
            {"seat": seat, "name": name, "total": 0, "tiles": len(hands[seat])} for seat, name in enumerate(names)
        ],
        "stock": {"tiles": len(stock)},
    }
    seats = [{"seat": seat, "name": name, "token": tokens[seat]} for seat, name in enumerate(names)]
    event = {"type": "dealt", "at": now, "hands": hands, "stock": stock}
    return Opened(game, state, event, {"game": view, "seats": seats})


def _deal(highest: int, seats: int) -> tuple[list[list[list[int]]], list[list[int]]]:
    """Return the hands and the stock of a shuffled set; a tile is its two numbers."""
    tiles = [[low, high] for high in range(highest + 1) for low in range(high + 1)]
    # Seeded as the service's own deck is. SystemRandom would ask the operating system for every tile, for 80 µs more.
    Random(secrets.token_bytes(32)).shuffle(tiles)  # noqa: S311
    share = len(tiles) // (seats + 1)
    return [tiles[seat * share : (seat + 1) * share] for seat in range(seats)], tiles[seats * share :]
