"""The bot worker in this process: when it plays, what it does when something fails, and what it tells the log."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from service.bots.choice import choose_move
from service.bots.knowledge import Observation
from service.engine.moves import Move, play
from service.engine.tiles import Tile
from service.engine.variant import Rules
from service.games.access import Access
from service.games.commands.move import MoveCommand
from service.games.model.schedule import LEAD_MS
from service.games.reminders import ReminderKind
from service.json_logging import JsonFormatter
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.workers.bot_worker import LEASE_MS
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.workers.tables import VARIANTS, InProcess, fewest, request, undisturbed

pytestmark = pytest.mark.gate


def person_moves(table: InProcess, game_id: str, token: str) -> None:
    """The first legal move of the person whose token that is."""
    access = table.games.access.authenticate(game_id, token)
    move = table.games.queries.legal_moves(access).moves[0]
    table.games.commands.make_move(access, MoveCommand(move))


def bots_reminder(table: InProcess, game_id: str) -> float | None:
    kinds: tuple[ReminderKind, ...] = ("bots", "experts", "bots_alone")
    return next((found[game_id] for kind in kinds if game_id in (found := table.store._reminders[kind])), None)


def waiting_for_bot(table: InProcess, seats: str = "pg", **more: Any) -> tuple[str, str]:
    """A game in which the bot at seat 1 is on turn, and the token of the person at seat 0."""
    for number in range(50):
        created = table.create(request("domino", seats, seed=f"seed {number}", **more))
        if table.game(created.view.id).state.turn == 1:
            return created.view.id, created.seats[0].token
    raise AssertionError("no deal lets the bot open")


@pytest.mark.parametrize("variant", in_lane(VARIANTS, gate=GATE_VARIANTS))
@pytest.mark.parametrize("level", ["r", "g"])
def test_a_match_of_bots_alone_is_played_to_its_end(variant: str, level: str) -> None:
    events = undisturbed(request(variant, level * fewest(variant)))
    assert events == undisturbed(request(variant, level * fewest(variant)))


def test_a_bot_moves_at_its_pace_and_not_before(table: InProcess) -> None:
    game, _ = waiting_for_bot(table, pace=3000)
    version = table.game(game).version
    table.now += 3000 - LEAD_MS - 1
    table.step()
    assert table.store.take("bots", 1, 1) == []
    table.now += 1
    table.step()  # chooses its move
    table.now += LEAD_MS - 1
    table.step()
    assert table.game(game).version == version
    table.now += 1
    table.step()
    assert table.game(game).version > version


@pytest.mark.parametrize("pace", [0, 100])
def test_an_expert_answers_a_person_no_sooner_than_it_may_have_to_think(table: InProcess, pace: int) -> None:
    game, _ = waiting_for_bot(table, "pe", pace=pace)
    version = table.game(game).version
    table.step()
    table.now += 299
    for _ in range(3):
        table.step()
    assert table.game(game).version == version
    table.now += 1
    table.step()
    assert table.game(game).version > version


def test_an_expert_among_bots_alone_does_not_wait(table: InProcess) -> None:
    game = table.create(request("domino", "ee")).view.id
    version = table.game(game).version
    table.step()
    assert table.game(game).version > version


def test_another_game_goes_on_while_a_chosen_move_waits(table: InProcess) -> None:
    slow, _ = waiting_for_bot(table, pace=500)
    table.step()
    fast = table.create(request("domino", "gg")).view.id
    versions = table.game(slow).version, table.game(fast).version
    table.step()
    assert table.game(slow).version == versions[0]
    assert table.game(fast).version > versions[1]


def test_a_chosen_move_is_dropped_when_the_game_has_changed(table: InProcess) -> None:
    game, token = waiting_for_bot(table, pace=500)
    table.step()
    access = table.games.access.authenticate(game, token)
    table.games.commands.set_presence(access, away=True)
    table.games.commands.set_presence(table.games.access.authenticate(game, token), away=False)
    version = table.game(game).version
    table.now += 499
    table.step()
    table.now += 1
    table.step()
    assert table.game(game).version > version
    assert len([each for each in table.events(game)[version:] if type(each).__name__ == "Played"]) <= 1


def test_a_game_that_waits_for_a_person_is_looked_at_no_more(table: InProcess) -> None:
    game, _ = waiting_for_bot(table, pace=0)
    table.step()
    if table.game(game).state.turn == 0:
        assert bots_reminder(table, game) is None


def test_a_reminder_of_a_game_that_is_gone_is_removed(table: InProcess) -> None:
    game = table.create(request("domino", "gg")).view.id
    del table.store._games[game]
    table.step()
    assert bots_reminder(table, game) is None


def test_a_reminder_without_a_cause_is_removed(table: InProcess) -> None:
    created = table.create(request("domino", "pp", seed="s"))
    table.store.restore("bots", created.view.id, "", table.now)
    table.step()
    assert bots_reminder(table, created.view.id) is None


def test_a_reminder_that_is_too_early_is_set_to_its_time(table: InProcess) -> None:
    game, _ = waiting_for_bot(table, pace=5000)
    table.store._reminders["bots"][game] = table.now
    table.step()
    assert bots_reminder(table, game) == table.now + 5000 - LEAD_MS


class Broken:
    """A level that raises as long as it is asked as ``level``, and counts how often."""

    def __init__(self, *levels: str, move: Move | None = None) -> None:
        self.levels = levels
        self.asked: list[str] = []
        self.move = move

    def __call__(self, rules: Rules, observation: Observation, level: str, decision_seed: bytes) -> Move:
        self.asked.append(level)
        if level not in self.levels:
            return choose_move(rules, observation, level, decision_seed)
        if self.move is not None:
            return self.move
        raise ValueError(f"{observation} {decision_seed.hex()}")


def fail_once(table: InProcess, game: str) -> int:
    """One step; returns for how many milliseconds the game is put off."""
    table.step()
    at = bots_reminder(table, game)
    assert at is not None
    defer = int(at) - table.now
    table.now += defer
    return defer


def test_a_level_that_fails_is_tried_twice_and_then_a_greedy_player_moves() -> None:
    broken = Broken("random")
    table = InProcess(broken)
    game = table.create(request("domino", "rr")).view.id
    version = table.game(game).version
    assert [fail_once(table, game), fail_once(table, game)] == [1000, 2000]
    table.step()
    assert table.game(game).version > version
    assert broken.asked == ["random", "random", "greedy"]
    assert table.registry.get_sample_value("domino_bot_fallbacks_total", {"by": "greedy"}) == 1


@pytest.mark.parametrize("move", [None, play(Tile(9, 9), None)])
def test_where_that_fails_too_the_first_legal_move_is_made(move: Move | None) -> None:
    table = InProcess(Broken("random", "greedy", move=move))
    game = table.create(request("domino", "rr")).view.id
    version = table.game(game).version
    assert [fail_once(table, game), fail_once(table, game)] == [1000, 2000]
    table.step()
    assert table.game(game).version > version
    assert table.registry.get_sample_value("domino_bot_fallbacks_total", {"by": "first"}) == 1


def test_a_failure_is_logged_without_anything_hidden(caplog: pytest.LogCaptureFixture) -> None:
    table = InProcess(Broken("random", "greedy"))
    created = table.create(request("domino", "rr"))
    game = table.game(created.view.id)
    with caplog.at_level(logging.DEBUG, "service"):
        for _ in range(2):
            fail_once(table, game.id)
        table.step()
    lines = [JsonFormatter().format(record) for record in caplog.records]
    assert len(lines) == 3
    for line in lines:
        assert f'"version":{game.version}' in line
        assert '"level":"error"' in line
        assert game.deck.seed.hex() not in line
        assert game.id not in line
        assert not re.search(r"\bhand\b", line)
        assert "Tile" not in line


def test_a_write_without_an_answer_is_not_made_twice(table: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write arrives, its answer does not, nor does that of its repetition."""
    wanted = request("domino", "rr")
    game = table.create(wanted).view.id
    commit = table.store.commit
    lost = iter(range(4))

    def without_an_answer(*arguments: Any, **more: Any) -> Any:
        answer = commit(*arguments, **more)
        if next(lost, None) is not None:
            raise OutcomeUnknown("lost")
        return answer

    monkeypatch.setattr(table.store, "commit", without_an_answer)
    for _ in range(5):
        table.step()
        table.now += 1000
    assert table.play_out(game) == undisturbed(wanted)


def test_a_move_waits_for_the_storage_and_other_games_do_not(table: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    unlucky = table.create(request("domino", "gg")).view.id
    read = table.store.read

    def unavailable(game: str) -> Any:
        if game == unlucky:
            raise StorageUnavailable("away")
        return read(game)

    monkeypatch.setattr(table.store, "read", unavailable)
    table.step()
    lucky = table.create(request("domino", "gg", seed="other")).view.id
    version = table.game(lucky).version
    table.step()
    assert table.game(lucky).version > version
    monkeypatch.setattr(table.store, "read", read)
    version = table.game(unlucky).version
    table.now += 250
    table.step()
    assert table.game(unlucky).version > version


def test_what_is_leased_is_given_back_at_the_end(table: InProcess) -> None:
    games = [waiting_for_bot(table, pace=500)[0] for _ in range(3)]
    table.step()
    assert all((bots_reminder(table, game) or 0) > table.now + LEASE_MS - 1000 for game in games)
    table.worker.close()
    assert all(bots_reminder(table, game) == table.now for game in games)


def test_two_workers_make_every_move_once() -> None:
    wanted = request("fido", "ggr")
    table = InProcess()
    other = table.new_worker()
    game = table.create(wanted).view.id
    for turn in range(20_000):
        if table.game(game).status == "finished":
            break
        table.store._reminders["bots_alone"][game] = table.now  # neither knows of the other's lease
        table.step(other if turn % 2 else None)
    assert table.events(game) == undisturbed(wanted)


def test_of_two_workers_that_have_chosen_a_move_one_makes_it(
    table: InProcess, caplog: pytest.LogCaptureFixture
) -> None:
    other = table.new_worker()
    game, _ = waiting_for_bot(table, pace=500)
    table.step()
    table.store._reminders["bots"][game] = table.now  # as if the lease had ended
    table.step(other)
    table.now += 500
    table.step()
    version = table.game(game).version
    table.step(other)
    assert table.game(game).version == version > 2
    assert caplog.messages == []


def test_a_person_who_plays_with_bots_finds_them_waiting(table: InProcess) -> None:
    created = table.create(request("domino", "pgge", pace=0))
    game, token = created.view.id, created.seats[0].token
    for _ in range(5000):
        current: Access = table.games.access.authenticate(game, token)
        if current.game.status == "finished":
            break
        if 0 in current.game.to_act:
            person_moves(table, game, token)
        else:
            table.step()
            table.now += 200
    assert table.game(game).status == "finished"
