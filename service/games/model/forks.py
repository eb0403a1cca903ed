"""Records and hosted games: export a game as a record for one viewer, and start a new game from a record.

``service.engine.view`` decides which seeds an exported record reveals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from service.bots.choice import EDITIONS
from service.engine.errors import InvalidSetup, Reason
from service.engine.events import Dealt, Event
from service.engine.presence import PresenceEvent
from service.engine.view import revealed_seed
from service.games.model.clock import ClockSettings
from service.games.model.game import Game
from service.games.model.game_events import Created, EventEnvelope
from service.games.model.views import format_rfc3339
from service.records.fork_points import ForkPoint, fork_point_at
from service.records.parser import parse_record
from service.records.record import (
    ARRANGED,
    PROVABLE,
    SPECTATOR,
    InvalidForkPoint,
    InvalidRecord,
    Record,
    RecordedBot,
    RecordedClock,
)
from service.records.writer import build_record, resolved_options


class ForkSource(NamedTuple):
    """The record that a new game continues, as text, and the version from which; ``None`` is the last possible one."""

    record: str
    version: int | None


def export_record(game: Game, history: Sequence[EventEnvelope], seat: int | None) -> Record:
    """Return the record of a game for the viewer at this seat; ``None`` is a spectator.

    ``history``: all events of the game.
    The record shows a round in progress as the viewer has seen it, and other rounds in full.
    """
    created = history[0].event
    seeds = {number: revealed_seed(game.deck, game.state, number) for number in range(1, game.state.round + 2)}
    head = Record(
        variant=game.variant.key,
        edition=game.edition,
        options=resolved_options(game.variant, game.rules),
        players=tuple([player.name or "" for player in game.seats]),
        bots=tuple(
            [RecordedBot(at, each.level, EDITIONS[each.level]) for at, each in enumerate(game.seats) if each.level]
        ),
        clock=None if game.clock is None else _recorded_clock(game.clock),
        game=game.id,
        date=format_rfc3339(game.created_at),
        fairness=ARRANGED if game.arranged else PROVABLE,
    )
    return build_record(
        head,
        [(each.version, each.event) for each in history if isinstance(each.event, Event | PresenceEvent)],
        commitment=created.commitment if isinstance(created, Created) else None,
        seeds={number: seed for number, seed in seeds.items() if seed is not None},
        viewer=SPECTATOR if seat is None else seat,
    )


def _recorded_clock(clock: ClockSettings) -> RecordedClock:
    turn = None if clock.turn is None else clock.turn // 1000
    return RecordedClock(turn, clock.bank // 1000, clock.increment // 1000, clock.absence)


def load_fork(source: ForkSource, seats: int, yield_control: Callable[[], None]) -> tuple[Record, ForkPoint]:
    """Return a record, and its match at a version as the start of a game with this number of seats.

    The deals of the record become arranged deals without proof. Raises ``InvalidSetup`` if the record is invalid,
    cannot be continued there, or has another number of players.
    """
    try:
        record = parse_record(source.record, yield_control)
        position = fork_point_at(record, source.version, yield_control)
    except InvalidRecord as refusal:
        raise InvalidSetup({"continues.record": [refusal.reason]}) from refusal
    except InvalidForkPoint as refusal:
        raise InvalidSetup({"continues": [refusal.reason]}) from refusal
    if len(record.players) != seats:
        raise InvalidSetup({"players": [Reason("players_of_the_record", {"players": len(record.players)})]})
    arranged = [
        replace(event, arranged=True, proof=None) if isinstance(event, Dealt) else event for event in position.events
    ]
    return record, position._replace(events=tuple(arranged))
