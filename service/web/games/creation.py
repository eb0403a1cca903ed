"""The request for a game, from the fields of its body.

Owns which field becomes what, and the units.
"""

from __future__ import annotations

from typing import Any

from service.backends.ports import Backend
from service.engine.deal import ArrangedDeal
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings
from service.games.model.forks import ForkSource
from service.games.model.seats import BOT, HUMAN, OPEN_SEAT
from service.web.quotas import request_network


def game_request(fields: dict[str, Any], backend: Backend | None) -> GameRequest:
    """Return the game that the current request asks for, of this application, or of nobody."""
    source = fields.get("continues")
    return GameRequest(
        variant=fields.get("variant", ""),
        seats=tuple([_seat_request(seat) for seat in fields["players"]]),
        options=fields.get("options", {}),
        seed=fields.get("seed"),
        deals=tuple(
            [
                ArrangedDeal(tuple([tuple(hand) for hand in deal["hands"]]), tuple(deal["stock"]))
                for deal in fields.get("deals", ())
            ]
        ),
        source=None if source is None else ForkSource(source["record"], source.get("version")),
        unique_names=fields.get("unique_names", False),
        spectators=fields.get("spectators", True),
        auto=fields.get("auto", False),
        clock=_clock_settings(fields),
        pace=fields.get("pace"),
        app=None if backend is None else backend.id,
        network=request_network(),
        ref=fields.get("ref"),
        lobby=fields.get("lobby"),
    )


def _clock_settings(fields: dict[str, Any]) -> ClockSettings | None:
    """Return the clock of a request for a game, in milliseconds; ``None`` without one."""
    clock = fields.get("clock")
    if clock is None:
        return None
    then = fields.get("absence", {}).get("then", "bot")
    if "turn" in clock:
        return ClockSettings(turn=clock["turn"] * 1000, absence=then)
    return ClockSettings(bank=clock["bank"] * 1000, increment=clock.get("increment", 0) * 1000, absence=then)


def _seat_request(fields: dict[str, Any]) -> SeatRequest:
    ref = fields.get("ref")
    if "name" in fields:
        return SeatRequest(HUMAN, fields["name"], fields.get("client_seed"), ref=ref)
    return SeatRequest(OPEN_SEAT, ref=ref) if "open" in fields else SeatRequest(BOT, level=fields["bot"], ref=ref)
