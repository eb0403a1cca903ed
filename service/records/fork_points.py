"""The versions of a record from which the match can be continued.

A match can be continued after the first deal and before its end, but not between a move and the events that follow it
automatically.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from service.engine.events import Event, Finished
from service.engine.replay import replay
from service.engine.state import State
from service.engine.variant import Rules
from service.records.record import InvalidForkPoint, Record, VersionedEvent
from service.records.replay import AUTOMATIC_EVENTS
from service.records.verification import rules_of, verify


class ForkPoint(NamedTuple):
    """A match at one of its versions: the rules, all events up to it, and the state after them."""

    version: int
    rules: Rules
    events: tuple[Event, ...]
    state: State


def fork_point_at(
    record: Record, version: int | None = None, yield_control: Callable[[], None] = lambda: None
) -> ForkPoint:
    """Return the match at this version, by default at the last one from which it can be continued.

    Raises ``InvalidForkPoint`` if the record is partial or has faults, or the match cannot be continued at the version.
    """
    if record.viewer is not None:
        raise InvalidForkPoint("partial_record")
    report = verify(record, yield_control)
    if not report.verified:
        first = report.findings[0]
        raise InvalidForkPoint("faulty_record", line=first.line or 1, message=f"{first.message} ({first.code})")
    rules, _ = rules_of(record)
    assert rules is not None
    lines = [line for recorded in record.rounds for line in recorded.lines]
    possible = _possible_versions(lines)
    if not possible:
        raise InvalidForkPoint("nothing_to_continue")
    chosen = possible[-1] if version is None else version
    if chosen not in possible:
        raise InvalidForkPoint("no_fork_point", version=chosen, allowed=_nearest(possible, chosen), max=possible[-1])
    # A verified record hides nothing, so only presence events are left out.
    events = tuple([line.event for line in lines if line.version <= chosen and isinstance(line.event, Event)])
    return ForkPoint(chosen, rules, events, replay(rules, events))


def _possible_versions(lines: list[VersionedEvent]) -> list[int]:
    """Return the versions from which the match can be continued, ascending."""
    ends = [line.version for line, next_line in pairwise(lines) if not isinstance(next_line.event, AUTOMATIC_EVENTS)]
    if lines and not isinstance(lines[-1].event, Finished):
        ends.append(lines[-1].version)
    return ends


def _nearest(possible: list[int], version: int) -> list[str]:
    """Return the two nearest possible versions on each side of ``version``."""
    place = bisect(possible, version)
    return [str(option) for option in possible[max(0, place - 2) : place + 2]]
