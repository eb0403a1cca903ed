"""Computer players are shared: nobody waits for what others have the service calculate, and no process keeps a game."""

from __future__ import annotations

from service.bots.choice import choose_move
from service.bots.observation import Observation
from service.engine.moves import Move
from service.engine.variant import Rules
from service.workers.bot_worker import BOTS, EXPERTS, LEASE_MS, SAFE_MS
from tests.workers.tables import InProcess, request
from tests.workers.test_moves import waiting_for_bot


class Counted:
    """Chooses the first legal move, and counts the decisions of each level."""

    def __init__(self) -> None:
        self.levels: list[str] = []

    def __call__(self, rules: Rules, observation: Observation, level: str, luck: bytes) -> Move:
        self.levels.append(level)
        return choose_move(rules, observation, "greedy", luck)


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


def test_the_holders_of_games_take_turns() -> None:
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


def test_one_holder_never_has_all_places() -> None:
    table = InProcess(Counted())
    due_at_once(table, "pe", 60, "hostile")
    for _ in range(3):
        table.step()
    held = table.worker._experts._under_way
    assert EXPERTS.most // 2 - 4 <= len(held) <= EXPERTS.most // 2
    assert BOTS.most > EXPERTS.most


def test_a_killed_worker_delays_its_tables_by_one_lease() -> None:
    table = InProcess(Counted())
    games = due_at_once(table, "pe", 3, "a") + due_at_once(table, "pg", 3, "a")
    table.worker._bots.look()  # takes and plays; those of the experts are taken and not decided
    table.worker._experts.look()
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
    table.worker._experts.look()
    table.now += LEASE_MS + 1
    other._experts.look()
    for _ in range(8):
        table.step()  # finds that its leases have ended
        table.step(other)
    assert counted.levels == ["expert"] * 8


def test_a_lease_that_is_short_is_renewed_before_a_decision() -> None:
    counted = Counted()
    table = InProcess(counted)
    due_at_once(table, "pe", 2, "a")
    table.worker._experts.look()
    table.now += LEASE_MS - SAFE_MS + 500
    table.step()
    table.now += SAFE_MS - 499
    table.step(table.new_worker())
    assert counted.levels == ["expert"] * 2  # the other one has taken only what was not decided yet
    leases = sorted(table.store._reminders["experts"].values())
    assert leases[-1] > table.now
