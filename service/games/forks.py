"""A game as a record that can be kept, for one reader, and a record as the beginning of a game.

Owns what a record takes from a hosted game and what a game takes from a record. Must not know how a record is
written, nor what may be told of a round when: that is asked of ``view``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from service.engine.errors import InvalidSetup
from service.engine.events import Dealt, Event
from service.engine.options import Value
from service.engine.view import revealed_seed
from service.games.game import Created, EventEnvelope, Game, Joined, TokenChanged
from service.games.timestamps import format_rfc3339
from service.records.builder import build_record
from service.records.errors import InvalidForkPoint, InvalidRecord
from service.records.fork_points import ForkPoint, fork_point_at
from service.records.parser import parse_record
from service.records.record import ARRANGED, PROVABLE, SPECTATOR, Record


class ForkSource(NamedTuple):
    """The record that a game is to go on from, as text, and the version in it; ``None`` is the last possible one."""

    record: str
    version: int | None


class ForkStart(NamedTuple):
    """A match as it stands before its first own move: what was played, and where that has led."""

    variant: str
    options: dict[str, Value]
    position: ForkPoint


def export_record(game: Game, happened: Sequence[EventEnvelope], seat: int | None) -> Record:
    """The record of a game for who plays this seat; ``None`` is a spectator. ``happened`` is all of it so far.

    Of a running round it tells what its reader has seen; of the others everything.
    """
    created = happened[0].event
    rounds = range(1, game.state.round + 2)
    seeds = {number: revealed_seed(game.deck, game.state, number) for number in rounds}
    return build_record(
        game.variant,
        game.rules,
        [
            (each.version, each.event)
            for each in happened
            if not isinstance(each.event, Created | Joined | TokenChanged)
        ],
        players=[each.name or "" for each in game.seats],
        fairness=ARRANGED if game.arranged else PROVABLE,
        edition=game.edition,
        game=game.id,
        date=format_rfc3339(game.created_at),
        commitment=created.commitment if isinstance(created, Created) else None,
        seeds={number: seed for number, seed in seeds.items() if seed is not None},
        viewer=SPECTATOR if seat is None else seat,
    )


def load_fork(source: ForkSource, seats: int, yield_control: Callable[[], None]) -> ForkStart:
    """The match of that record at that version. Raises ``InvalidSetup`` if it cannot be played on by so many."""
    try:
        record = parse_record(source.record, yield_control)
        position = fork_point_at(record, source.version, yield_control)
    except InvalidRecord as refusal:
        raise InvalidSetup({"from.record": [str(refusal)]}) from refusal
    except InvalidForkPoint as refusal:
        raise InvalidSetup({"from": [refusal.sentence]}) from refusal
    if len(record.players) != seats:
        raise InvalidSetup({"players": [f"The record has {len(record.players)} players."]})
    return ForkStart(record.variant, dict(record.options), position)


def as_arranged(events: Sequence[Event]) -> list[Event]:
    """The events of a record as those of another game: there, every deal was set by somebody."""
    return [replace(event, arranged=True, proof=None) if isinstance(event, Dealt) else event for event in events]
