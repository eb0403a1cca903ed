"""From a record to a place in it from which the match can be played on.

A match can be played on from a version after which its state is whole: not between a move and its count, not before
the first deal, and not when it has been won.
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
from service.engine.view import DrewView, RecordedDeal
from service.records.errors import InvalidForkPoint
from service.records.record import Record, VersionedEvent
from service.records.replay import AUTOMATIC_EVENTS
from service.records.verification import rules_of, verify


class ForkPoint(NamedTuple):
    """A match at one of its versions: the rules, all events so far, and the state they lead to."""

    version: int
    rules: Rules
    events: tuple[Event, ...]
    state: State


def fork_point_at(
    record: Record, version: int | None = None, yield_control: Callable[[], None] = lambda: None
) -> ForkPoint:
    """The match at this version, or at the last one from which it can be played on.

    Raises ``InvalidForkPoint`` when the record is partial or cannot be so, and for any other version.
    """
    if record.viewer is not None:
        raise InvalidForkPoint("A partial record cannot be played on: what is hidden in it is not known.")
    report = verify(record, yield_control)
    if not report.verified:
        first = report.findings[0]
        raise InvalidForkPoint(f"This record cannot be played on: line {first.line}: {first.message} ({first.code})")
    rules, _ = rules_of(record)
    assert rules is not None
    lines = [line for each in record.rounds for line in each.lines]
    possible = _possible(lines)
    if not possible:
        raise InvalidForkPoint("Nothing has been dealt yet; there is nothing to play on from.")
    chosen = possible[-1] if version is None else version
    if chosen not in possible:
        raise InvalidForkPoint(
            f"The match cannot be played on from version {chosen}; possible are {_near(possible, chosen)}."
        )
    events = tuple([_told(line) for line in lines if line.version <= chosen])
    return ForkPoint(chosen, rules, events, replay(rules, events))


def _told(line: VersionedEvent) -> Event:
    """The event of a line that tells everything."""
    assert not isinstance(line.event, RecordedDeal | DrewView)
    return line.event


def _possible(lines: list[VersionedEvent]) -> list[int]:
    """The versions from which can be played on, ascending."""
    ends = [line.version for line, following in pairwise(lines) if not isinstance(following.event, AUTOMATIC_EVENTS)]
    if lines and not isinstance(lines[-1].event, Finished):
        ends.append(lines[-1].version)
    return ends


def _near(possible: list[int], version: int) -> str:
    """The nearest versions on both sides, and which is the last one."""
    place = bisect(possible, version)
    near = [str(each) for each in possible[max(0, place - 2) : place + 2]]
    return f"{', '.join(near)} nearby, and {possible[-1]} is the last"
