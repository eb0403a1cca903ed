"""A recorded match is played on from where its state is whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.engine.events import Dealt, RoundEnded
from service.engine.referee import legal_moves
from service.records.fork_points import fork_point_at
from service.records.record import InvalidForkPoint, Record
from tests.laws.matches import Match, law
from tests.records.building import arranged, fair, kept, long_records, short_cases
from tests.records.tampering import other_points, with_lines

pytestmark = pytest.mark.gate


@law(matches=4, drawn=1)
def test_the_state_at_a_version_is_the_one_there_was(match: Match) -> None:
    for kind in (fair, arranged):
        played = kind(match.case)
        record = kept(played)
        versions = [line.version for each in record.rounds for line in each.lines]
        number = 0
        for step in played.steps[: 12 if len(played.steps) > 40 else None]:
            number += len(step.events)
            version = versions[number - 1]
            if step.after.winners:
                continue
            position = fork_point_at(record, version)
            assert position.version == version
            assert position.state == step.after
            assert len(position.events) == number
            for seat in played.seats:
                assert legal_moves(position.rules, position.state, seat) == legal_moves(played.rules, step.after, seat)


def test_without_a_version_it_is_the_last_that_can_be_played_on() -> None:
    for record in long_records():
        position = fork_point_at(record)
        lines = [line for each in record.rounds for line in each.lines]
        if record.result is None:
            assert position.version == lines[-1].version
        else:
            assert position.version < lines[-1].version
            assert position.state.winners == ()


def finished_record() -> Record:
    return next(record for record in long_records() if record.result is not None and len(record.rounds) > 2)


def test_every_other_version_is_refused_and_the_nearest_are_named() -> None:
    record = finished_record()
    lines = [line for each in record.rounds for line in each.lines]
    possible = []
    for version in range(lines[-1].version + 3):
        try:
            possible.append(fork_point_at(record, version).version)
        except InvalidForkPoint as refusal:
            params: Any = refusal.reason.params
            nearby = [*map(int, params["allowed"]), params["max"]]
            assert all(fork_point_at(record, each).version == each for each in set(nearby))
    assert lines[0].version in possible
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        counted = following is not None and isinstance(following.event, RoundEnded)
        if counted:
            assert line.version not in possible
        if following is not None and isinstance(following.event, Dealt):
            assert line.version in possible
    assert lines[-1].version not in possible


def test_a_record_that_cannot_be_so_is_not_played_on() -> None:
    from random import Random

    changed = other_points(finished_record(), Random(1))
    assert changed is not None
    with pytest.raises(InvalidForkPoint, match="wrong_points"):
        fork_point_at(changed)


def test_a_partial_record_is_not_played_on() -> None:
    match = fair(next(short_cases("domino", 1, 70))._replace(moves=9))
    record = kept(match, 0)
    assert record.viewer == 0
    with pytest.raises(InvalidForkPoint, match="partial"):
        fork_point_at(record)


def test_a_record_without_a_deal_is_not_played_on() -> None:
    record = finished_record()
    record = replace(
        record,
        rounds=(with_lines(record, 0, []).rounds[0]._replace(client_seeds=None, attempt=None, seed=None),),
        result=None,
    )
    with pytest.raises(InvalidForkPoint, match="nothing_to_continue"):
        fork_point_at(record)
