"""Remote players in a game: when they are asked, what a clock does with them, and how a turn is taken from them."""

from __future__ import annotations

from random import Random

import pytest

from service.backends.remote_players import RemotePlayers, is_same_turn, message_id
from service.bots.choice import EDITIONS
from service.engine.moves import DEAL
from service.engine.presence import Returned, TimedOut
from service.games.automation.due import Automation
from service.games.commands.move import Expected, MoveCommand
from service.games.model.clock import GRACE_MS, ClockSettings
from service.games.model.errors import MoveRefused, StaleVersion
from service.games.model.game import Game
from service.games.model.game_events import GameEvent
from service.games.model.schedule import bot_turn, reminders, remote_turn
from service.games.model.views import legal_moves_for
from service.games.store.transactions import Committed
from service.records.bot_checks import ALL_DECISIONS
from service.records.parser import parse_record
from service.records.verification import verify
from service.records.writer import format_record
from tests.support.remote_games import wanted
from tests.workers.tables import InProcess

TURN = 60_000
URL = "https://bots.example/"
MINUTE = ClockSettings(turn=60_000, absence="bot")


class Table(InProcess):
    """Games in memory; a letter is a person (p), a remote player (x), or a bot: random (r), greedy (g)."""

    def __init__(self) -> None:
        super().__init__(random_bytes=Random(7).randbytes)  # so that its writes have ids of their own
        self.remote = RemotePlayers(self.repository)
        self.scheduler = Automation(self.repository)
        self.tokens: dict[int, str] = {}

    def new(
        self, seats: str, clock: ClockSettings | None = None, *, seed: str | None = "seed", key: str = "domino"
    ) -> str:
        created = self.create(wanted(key, seats, URL, clock=clock, seed=seed))
        self.tokens = {each.seat: each.token for each in created.seats}
        return created.view.id

    def reminder(self, kind: str, game: str) -> float | None:
        return self.store._reminders[kind].get(game)  # type: ignore[index] # a kind

    def move(self, game_id: str, seat: int) -> None:
        access = self.games.access.authenticate(game_id, self.tokens[seat])
        moves = legal_moves_for(access.game, seat)
        self.games.commands.make_move(access, MoveCommand(moves[0]))

    def set_presence(self, game_id: str, seat: int, *, away: bool) -> None:
        access = self.games.access.authenticate(game_id, self.tokens[seat])
        self.games.commands.set_presence(access, away=away)

    def answer(self, game_id: str) -> None:
        """The remote player answers with its first legal move."""
        turn = self.remote.next_turn(game_id)
        assert turn is not None
        move = legal_moves_for(turn.game, turn.seat)[0]
        self.remote.play(turn, MoveCommand(move, Expected(turn.game.version)))

    def until_turn_of(self, game_id: str, seat: int) -> Game:
        """Play until it is the turn of this seat, people and remote players by their first legal moves."""
        for _ in range(1000):
            game = self.game(game_id)
            turn = game.state.turn
            if turn == seat:
                return game
            if bot_turn(game) is not None:
                self.now += 1
                self.step()
            elif remote_turn(game) is not None:
                self.answer(game_id)
            else:
                self.move(game_id, next(seat for seat in game.to_act if seat in self.tokens))
        raise AssertionError("it does not come to that")


@pytest.fixture
def table() -> Table:
    return Table()


def of_type(events: list[GameEvent], *types: type) -> list[GameEvent]:
    return [event for event in events if isinstance(event, types)]


def test_a_remote_player_is_asked_while_it_is_its_turn_and_at_no_other_time(table: Table) -> None:
    game_id = table.new("px")
    game = table.until_turn_of(game_id, 1)
    turn = remote_turn(game)
    assert turn is not None
    assert (turn.seat, turn.remote.url) == (1, URL)
    assert table.reminder("remote", game_id) == game.running_clock.acted == table.now
    assert bot_turn(game) is None
    table.until_turn_of(game_id, 0)
    assert remote_turn(table.game(game_id)) is None
    assert table.reminder("remote", game_id) is None


def test_a_remote_player_has_a_token_and_may_move_by_itself(table: Table) -> None:
    game_id = table.new("px")
    table.until_turn_of(game_id, 1)
    table.move(game_id, 1)
    assert not of_type(table.events(game_id), Returned)


def test_the_service_deals_where_no_person_is_and_leaves_it_to_a_person_who_is(table: Table) -> None:
    game_id = table.new("xx")
    while table.game(game_id).status == "playing":
        table.answer(game_id)
    turn = bot_turn(table.game(game_id))
    assert turn is not None
    assert turn.action == "deal"
    table.step()
    assert table.game(game_id).state.round == 2
    game_id = table.new("px")
    while (game := table.game(game_id)).status == "playing":
        if remote_turn(game) is None:
            table.move(game_id, 0)
        else:
            table.answer(game_id)
    assert bot_turn(game) is None
    assert remote_turn(game) is None
    assert game.to_act == (0, 1)


def test_a_remote_player_does_not_keep_a_game_awake_and_its_clock_rests_while_it_sleeps(table: Table) -> None:
    game_id = table.new("px", MINUTE)
    table.until_turn_of(game_id, 1)
    assert table.game(game_id).deadline == table.now + TURN
    table.now += 10_000
    table.set_presence(game_id, 0, away=True)
    game = table.game(game_id)
    assert remote_turn(game) is None
    assert game.deadline is None
    assert table.reminder("remote", game_id) is None
    table.now += 10 * TURN
    assert table.scheduler.time_out(game_id, table.store.judged(game_id)) is None
    table.set_presence(game_id, 0, away=False)
    assert table.reminder("remote", game_id) is not None
    assert table.game(game_id).deadline == table.now + TURN


@pytest.mark.parametrize("absence", ["bot", "move", "forfeit"])
def test_a_clock_runs_for_a_remote_player_as_for_a_person(absence: str, table: Table) -> None:
    game_id = table.new("px", ClockSettings(turn=TURN, absence=absence))  # type: ignore[arg-type] # an absence
    table.until_turn_of(game_id, 1)
    table.now += TURN + GRACE_MS
    committed = table.scheduler.time_out(game_id, table.store.judged(game_id))
    assert isinstance(committed, Committed)
    assert committed.events[0] == TimedOut(1, absence)  # type: ignore[arg-type] # an absence
    assert remote_turn(committed.after) is None
    assert table.reminder("remote", game_id) is None
    if absence != "forfeit":  # of two: the match is over
        turn = bot_turn(committed.after)
        assert turn is not None
        assert (turn.seat, turn.level) == (1, "greedy")


def test_a_remote_player_that_is_away_is_not_asked_until_it_is_back(table: Table) -> None:
    game_id = table.new("px")
    table.until_turn_of(game_id, 1)
    table.set_presence(game_id, 1, away=True)
    assert remote_turn(table.game(game_id)) is None
    table.set_presence(game_id, 1, away=False)
    assert remote_turn(table.game(game_id)) is not None
    assert table.reminder("remote", game_id) is not None


def test_who_comes_or_goes_does_not_have_a_remote_player_asked_twice(table: Table) -> None:
    game_id = table.new("ppx")
    table.until_turn_of(game_id, 2)
    (taken,) = table.store.take("remote", 1, 30_000)
    first = table.remote.next_turn(game_id)
    assert first is not None
    table.set_presence(game_id, 0, away=True)
    assert table.reminder("remote", game_id) == taken.leased
    second = table.remote.next_turn(game_id)
    assert second is not None
    assert second.game.version == first.game.version + 1
    assert is_same_turn(first, second)
    assert message_id(first) == message_id(second)
    moved = table.remote.play(first, MoveCommand(legal_moves_for(first.game, 2)[0], Expected(first.game.version)))
    assert moved.after.version > second.game.version


def test_each_turn_has_a_message_of_its_own(table: Table) -> None:
    ids = set()
    for seats in ("xx", "xx", "xxx"):
        game_id = table.new(seats)
        for _ in range(5):
            turn = table.remote.next_turn(game_id)
            assert turn is not None
            ids.add(message_id(turn))
            table.answer(game_id)
    assert len(ids) == 15
    assert all("." not in each and len(each) < 64 for each in ids)


def test_a_move_for_an_earlier_turn_or_an_illegal_one_is_refused_as_one_that_is_posted(table: Table) -> None:
    game_id = table.new("xx")
    turn = table.remote.next_turn(game_id)
    assert turn is not None
    with pytest.raises(MoveRefused) as refused:
        table.remote.play(turn, MoveCommand(DEAL, Expected(turn.game.version)))
    assert refused.value.legal_moves == legal_moves_for(turn.game, turn.seat)
    command = MoveCommand(legal_moves_for(turn.game, turn.seat)[0], Expected(turn.game.version))
    table.remote.play(turn, command)
    with pytest.raises(MoveRefused) as refused:
        table.remote.play(turn, command)
    assert isinstance(refused.value.cause, StaleVersion)


def test_a_turn_that_is_given_up_is_made_by_a_computer_player_and_the_next_one_is_asked_for(table: Table) -> None:
    game_id = table.new("px")
    table.until_turn_of(game_id, 1)
    turn = table.remote.next_turn(game_id)
    assert turn is not None
    table.remote.give_up(turn)
    assert remote_turn(table.game(game_id)) is None
    assert table.events(game_id)[-1] == TimedOut(1, "move")
    assert table.game(game_id).presence.away == frozenset()
    with pytest.raises(StaleVersion):
        table.remote.give_up(turn)
    table.step()
    game = table.game(game_id)
    assert game.presence.substituted is None
    assert game.state.turn == 0 or game.status != "playing"
    table.until_turn_of(game_id, 1)
    assert remote_turn(table.game(game_id)) is not None


def test_a_turn_that_is_given_up_uses_up_the_time_that_it_took(table: Table) -> None:
    game_id = table.new("px", ClockSettings(bank=100_000, increment=2000))
    game = table.until_turn_of(game_id, 1)
    before = game.running_clock.banks[1]
    table.now += 30_000
    turn = table.remote.next_turn(game_id)
    assert turn is not None
    table.remote.give_up(turn)
    assert table.game(game_id).running_clock.banks[1] == before - 30_000
    table.step()
    assert table.game(game_id).running_clock.banks[1] == before - 28_000


def test_a_turn_of_a_remote_player_in_a_game_that_sleeps_takes_nothing_from_its_bank(table: Table) -> None:
    game_id = table.new("px", ClockSettings(bank=100_000))
    before = table.until_turn_of(game_id, 1).running_clock.banks
    table.set_presence(game_id, 0, away=True)
    table.now += 50_000
    table.move(game_id, 1)
    assert table.game(game_id).running_clock.banks[1] == before[1]


def test_a_remote_player_gains_no_time_by_leaving_and_coming_back(table: Table) -> None:
    game_id = table.new("xx", MINUTE)
    game = table.until_turn_of(game_id, 1)
    table.now += 40_000
    for seat in (0, 1):
        table.set_presence(game_id, seat, away=True)
        table.set_presence(game_id, seat, away=False)
    assert table.game(game_id).deadline == game.deadline


def test_a_late_move_takes_a_turn_back_that_was_given_up(table: Table) -> None:
    game_id = table.new("px")
    table.until_turn_of(game_id, 1)
    turn = table.remote.next_turn(game_id)
    assert turn is not None
    table.remote.give_up(turn)
    table.move(game_id, 1)
    events = table.events(game_id)
    assert events.index(Returned(1)) == events.index(TimedOut(1, "move")) + 1


def test_a_record_names_remote_players_and_the_moves_made_for_them_can_be_made_again(table: Table) -> None:
    game_id = table.new("xg", seed=None)
    given_up = 0
    for _ in range(3000):
        game = table.game(game_id)
        if game.status == "finished":
            break
        turn = remote_turn(game)
        if turn is None:
            table.now += 1
            table.step()
        elif game.version % 3:
            table.answer(game_id)
        else:
            table.remote.give_up(turn)
            given_up += 1
    assert given_up > 5
    access = table.games.access.authenticate(game_id, None)
    record = table.games.queries.record(access)
    text = format_record(record)
    assert f'[Player 0 "Deep Six" remote]\n[Player 1 "Rosa" bot=greedy edition={EDITIONS["greedy"]}]' in text
    assert parse_record(text) == record
    report = verify(record, bots=ALL_DECISIONS)
    assert report.findings == ()
    assert report.decisions > given_up
    of_a_person = verify(parse_record(text.replace(" remote]", "]")))
    assert {finding.code for finding in of_a_person.findings} == {"wrong_presence"}


def test_a_reminder_that_was_lost_is_written_again(table: Table) -> None:
    game_id = table.new("xx")
    at = table.store._reminders["remote"].pop(game_id)
    table.now += 5000
    table.game(game_id)
    assert table.reminder("remote", game_id) is None
    table.now += 1
    table.game(game_id)
    assert table.reminder("remote", game_id) == at


def test_games_without_remote_players_have_no_such_reminder(table: Table) -> None:
    game = table.game(table.new("pg"))
    assert "remote" not in reminders(None, game)


def test_computer_players_alone_while_the_remote_player_is_away_wait_behind_others() -> None:
    table = Table()
    game_id = table.new("xgg")
    table.until_turn_of(game_id, 1)

    def kinds() -> list[str]:
        return [kind for kind in ("bots", "experts", "bots_alone") if table.reminder(kind, game_id) is not None]

    assert kinds() == ["bots"]
    table.set_presence(game_id, 0, away=True)
    assert kinds() == ["bots_alone"]
    table.set_presence(game_id, 0, away=False)
    assert kinds() == ["bots"]
