"""Computer players are shared: nobody waits for what others have the service calculate, and no process keeps a game."""

from __future__ import annotations

from heapq import heappop

import pytest

from service.bots.choice import choose_move
from service.bots.knowledge import Observation
from service.engine.moves import Move
from service.engine.variant import Rules
from service.games.model.clock import ClockSettings
from service.games.model.schedule import LEAD_MS
from service.games.reminders import LeasedReminder
from service.workers.bot_worker import BOTS, EXPERTS, LEASE_MS, SAFE_MS
from service.workers.consumer import Consumer, Next
from service.workers.messenger import DELIVERY_SETTINGS
from tests.workers.tables import InProcess, request
from tests.workers.test_moves import waiting_for_bot


class Counted:
    """Chooses the first legal move, and counts the decisions of each level."""

    def __init__(self) -> None:
        self.levels: list[str] = []

    def __call__(self, rules: Rules, observation: Observation, level: str, decision_seed: bytes) -> Move:
        self.levels.append(level)
        return choose_move(rules, observation, "greedy", decision_seed)


def due_at_once(table: InProcess, seats: str, games: int, network: str) -> list[str]:
    """Games of this network in which the bot is on turn, with a person or without."""
    made = [
        waiting_for_bot(table, seats, pace=0, network=network)[0]
        if "p" in seats
        else table.create(request("domino", seats, pace=0, network=network)).view.id
        for _ in range(games)
    ]
    table.now += 300  # an expert who plays with people takes so long
    return made


def versions(table: InProcess, games: list[str]) -> list[int]:
    return [table.game(game).version for game in games]


def moved(table: InProcess, games: list[str], before: list[int]) -> int:
    """In how many of these games somebody has moved since."""
    return sum(now > was for now, was in zip(versions(table, games), before, strict=True))


def test_no_move_that_is_cheap_waits_for_one_that_is_not() -> None:
    table = InProcess(Counted())
    due_at_once(table, "ee", 40, "hostile")
    due_at_once(table, "pe", 40, "hostile")
    table.step()
    others = due_at_once(table, "pg", 3, "others")
    before = versions(table, others)
    table.step()
    assert moved(table, others, before) == 3


def test_games_with_people_go_before_those_of_computer_players_alone() -> None:
    counted = Counted()
    table = InProcess(counted)
    alone = due_at_once(table, "ee", 20, "hostile")
    table.step()
    people = due_at_once(table, "pe", 5, "others")
    before, waiting = versions(table, alone), versions(table, people)
    for _ in range(5):
        table.step()
    table.now += 2000
    table.step()
    assert moved(table, people, waiting) == 5
    assert moved(table, alone, before) <= 1


def test_the_tenants_of_games_take_turns() -> None:
    table = InProcess(Counted())
    due_at_once(table, "pe", 60, "hostile")
    for _ in range(3):
        table.step()
    late = due_at_once(table, "pe", 2, "others")
    before = versions(table, late)
    for _ in range(4):
        table.step()
    table.now += 2000
    table.step()
    assert moved(table, late, before) == 2


def test_one_tenant_never_has_all_places() -> None:
    table = InProcess(Counted())
    due_at_once(table, "pe", 60, "hostile")
    for _ in range(3):
        table.step()
    held = len(list(table.worker._experts._in_flight()))
    assert EXPERTS.max_in_flight // 2 - 4 <= held <= EXPERTS.max_in_flight // 2
    assert BOTS.max_in_flight > EXPERTS.max_in_flight


@pytest.mark.parametrize("seats", ["gg", "gr"])
def test_games_whose_move_only_waits_until_it_is_due_keep_no_others_waiting(seats: str) -> None:
    """An idle worker keeps up with the pace of any number of games; each move is chosen before it is due."""
    table = InProcess(Counted())
    games = [table.create(request("domino", seats, pace=2000, network="one")).view.id for _ in range(60)]
    before = versions(table, games)
    table.now += 2000 - LEAD_MS
    for _ in range(20):
        table.step()
    assert moved(table, games, before) == 0
    table.now += LEAD_MS
    while table.worker._waiting and table.worker._waiting[0].at <= table.now:
        table.worker._resume(heappop(table.worker._waiting))
    assert moved(table, games, before) == 60


def test_a_game_that_all_people_have_forfeited_waits_behind_those_with_people() -> None:
    counted = Counted()
    table = InProcess(counted)
    clock = ClockSettings(turn=5_000, absence="forfeit")
    created = table.create(request("domino", "peee", pace=0, network="hostile", clock=clock))
    game_id = created.view.id
    for _ in range(40):
        if table.game(game_id).to_act == (0,):
            break
        table.now += 1000
        table.step()
    assert table.store.reminder("experts", game_id) is None
    table.now += 7_000
    assert table.automation.time_out(game_id, table.store.read_clock(game_id)) is not None
    game = table.game(game_id)
    assert game.presence.forfeited == {0}
    assert not game.is_awaited
    table.now += 1000
    assert [table.store.reminder(kind, game_id) is None for kind in ("bots", "experts", "bots_alone")] == [
        True,
        True,
        False,
    ]
    people = due_at_once(table, "pe", 3, "others")
    waiting = versions(table, people)
    at = table.game(game_id).version
    for _ in range(3):
        table.step()
    table.now += 1000
    table.step()
    assert moved(table, people, waiting) == 3
    assert table.game(game_id).version <= at + 1
    for _ in range(20):
        table.step()
        table.now += 1000
    assert table.game(game_id).version > at + 1


def test_endpoints_are_not_kept_from_places_that_nobody_has() -> None:
    """Endpoints have no tenant, so all of them together may have all places."""
    table = InProcess(Counted())
    for number in range(DELIVERY_SETTINGS.max_in_flight + 10):
        table.store.remind("webhooks", f"{number}.a", table.now)
    consumer = Keeping(DELIVERY_SETTINGS, table.queue, spawn=lambda _: None)
    for _ in range(3):
        consumer.step()
    assert len(consumer._leased) == DELIVERY_SETTINGS.max_in_flight


class Keeping(Consumer):
    """Never ends what it began."""

    def handle(self, reminder: LeasedReminder) -> Next:
        raise AssertionError(reminder)


def test_a_killed_worker_delays_its_tables_by_one_lease() -> None:
    table = InProcess(Counted())
    games = due_at_once(table, "pe", 3, "a") + due_at_once(table, "pg", 3, "a")
    table.worker._sources[0].poll()  # takes and plays; those of the experts are taken and not decided
    table.worker._experts.poll()
    before = versions(table, games[:3])
    other = table.new_worker()
    table.now += LEASE_MS - 1
    table.step(other)
    assert moved(table, games[:3], before) == 0
    table.now += 1
    for _ in range(4):
        table.step(other)
        table.now += 500
    table.step(other)
    assert moved(table, games[:3], before) == 3
    assert LEASE_MS <= 5000


def test_a_decision_that_waits_is_not_made_by_two() -> None:
    counted = Counted()
    table = InProcess(counted)
    other = table.new_worker()
    due_at_once(table, "pe", 8, "a")
    table.worker._experts.poll()
    table.now += LEASE_MS + 1
    other._experts.poll()
    for _ in range(8):
        table.step()  # finds that its leases have ended
        table.step(other)
    assert counted.levels == ["expert"] * 8


def test_a_lease_that_is_short_is_renewed_before_a_decision() -> None:
    counted = Counted()
    table = InProcess(counted)
    due_at_once(table, "pe", 2, "a")
    table.worker._experts.poll()
    table.now += LEASE_MS - SAFE_MS + 500
    table.step()
    table.now += SAFE_MS - 499
    table.step(table.new_worker())
    assert counted.levels == ["expert"] * 2  # the other one has taken only what was not decided yet
    assert max(table.store._reminders["experts"].values()) > table.now
