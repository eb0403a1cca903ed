"""The events of running rounds: read once, then only what is newer."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.events import Dealt
from service.engine.referee import legal_moves
from service.games.model.game import Game
from service.games.model.game_events import HostingEvent
from service.workers.bot_worker import RoundEvents
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.workers.tables import VARIANTS, InProcess, fewest, request

pytestmark = pytest.mark.gate


def events_of_round(table: InProcess, game: Game) -> list[Any]:
    events = [each for each in table.events(game.id) if not isinstance(each, HostingEvent)]
    return events[max(at for at, each in enumerate(events) if isinstance(each, Dealt)) :]


@pytest.mark.parametrize("variant", in_lane(VARIANTS, gate=GATE_VARIANTS))
def test_they_are_those_since_the_last_deal(variant: str, table: InProcess) -> None:
    game = table.create(request(variant, "g" * fewest(variant))).view.id
    kept, rare = RoundEvents(table.repository), RoundEvents(table.repository)
    for number in range(150):
        current = table.game(game)
        if current.status == "playing":
            expected = events_of_round(table, current)
            assert list(kept.of(current)) == expected
            assert list(RoundEvents(table.repository).of(current)) == expected
            if number % 7 == 0:
                assert list(rare.of(current)) == expected
        if current.status == "finished":
            break
        table.step()


def test_only_newer_events_are_read(table: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    game = table.create(request("domino", "gg")).view.id
    events = RoundEvents(table.repository)
    events.of(table.game(game))
    table.step()
    reads: list[tuple[int, int]] = []
    event_range = table.store.event_range

    def counting(name: str, after: int, limit: int) -> Any:
        reads.append((after, limit))
        return event_range(name, after, limit)

    monkeypatch.setattr(table.store, "event_range", counting)
    before, after = 2, table.game(game).version
    events.of(table.game(game))
    events.of(table.game(game))
    assert reads == [(before, after - before)]


def test_own_moves_are_not_read_again(table: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    table.create(request("domino", "gg"))
    table.step()
    monkeypatch.setattr(table.store, "event_range", None)
    table.step()
    table.step()


def test_after_a_failover_that_lost_moves_the_round_is_read_again(table: InProcess) -> None:
    game = table.create(request("domino", "gg")).view.id
    earlier = table.store._games[game]
    events = RoundEvents(table.repository)
    for _ in range(2):
        table.step()
    events.of(table.game(game))
    table.store._games[game] = earlier
    for _ in range(3):
        turn = table.automation.next_turn(game)
        assert turn is not None
        moves = legal_moves(turn.game.rules, turn.game.state, turn.seat)
        table.automation.play(turn, moves[-1])  # another one than before
    current = table.game(game)
    assert list(events.of(current)) == events_of_round(table, current)
