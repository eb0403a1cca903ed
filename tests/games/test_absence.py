"""Clocks, players who are away, and what the service does for them: worked examples of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from service.engine.deal import ArrangedDeal
from service.engine.errors import GameOver, InvalidSetup, NotInMatch
from service.engine.events import Dealt, Drew, Finished, Flipped
from service.engine.moves import FLIP, Move
from service.engine.presence import Claimed, Forfeited, Left, Presence, Returned, TimedOut
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import parse_tile
from service.games.commands.join import JoinCommand
from service.games.commands.move import Expected, MoveCommand
from service.games.model.clock import GRACE_MS, ClockSettings, RunningClock
from service.games.model.errors import MoveRefused, NotAway, NotDue, NotStarted, StaleVersion
from service.games.model.following import with_events
from service.games.model.forks import ForkSource, export_record
from service.games.model.game import Game
from service.games.model.schedule import LEAD_MS, MAX_ROUNDS_OF_BOTS, bot_turn
from service.games.ports import PriorWrite, StoredGame
from service.games.store.checksums import SUM_CHARS
from service.games.store.codec import decode_game, encode_game, state_prefix
from service.games.store.heartbeats import Heartbeat
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import Committed
from service.records.writer import format_record
from tests.games.tables import START, Hosted
from tests.support.stores.memory_store import MemoryStore

MINUTE = ClockSettings(turn=60_000)
BANK = ClockSettings(bank=300_000, increment=10_000)


def drawing(moves: tuple[Move, ...]) -> Move:
    return next((move for move in moves if move.action == "draw"), moves[0])


def to_draw(hosted: Hosted) -> None:
    """Play until the person to move has to draw."""
    hosted.play_on(
        lambda game: (
            game.state.turn in hosted.tokens
            and drawing(hosted.view(game.state.turn or 0).view.legal_moves).action == "draw"
        )
    )


def of_several(hosted: Hosted) -> None:
    """Play until a person has laid a tile and may lay another one."""
    hosted.play_on(lambda game: game.state.tiles_laid > 0)


# Times


def test_a_bank_loses_what_a_turn_took_and_gains_the_increment_up_to_what_it_was() -> None:
    hosted = Hosted("hh", BANK)
    one, other = hosted.turn, 1 - hosted.turn
    assert hosted.left == 300_000
    hosted.move(after=30_000)
    assert hosted.banks[one] == 280_000
    assert hosted.banks[other] == 300_000
    hosted.move(after=4_000)
    hosted.until_turn(one)
    assert hosted.banks[other] == 300_000
    assert hosted.left == 280_000
    assert [seat.bank for seat in hosted.view(0).seats] == list(hosted.banks)


def test_a_turn_of_several_moves_has_one_time() -> None:
    hosted = Hosted("hh", MINUTE, key="menschenwolf")
    to_draw(hosted)
    assert hosted.left == 60_000
    seat = hosted.turn
    hosted.move(choose=drawing, after=5_000)
    assert (hosted.turn, hosted.left) == (seat, 55_000)


def test_the_time_of_a_turn_with_several_tiles_counts_once() -> None:
    hosted = Hosted("hhhh", BANK, key="menschenwolf")
    of_several(hosted)
    seat = hosted.turn
    before = hosted.banks
    hosted.move(choose=lambda moves: next(move for move in moves if move.action == "done"), after=50_000)
    banks = hosted.banks
    assert banks[seat] == 260_000
    assert [banks[each] for each in range(4) if each != seat] == [before[each] for each in range(4) if each != seat]


def test_a_flip_that_ends_the_round_ends_the_turn() -> None:
    for number in range(200):
        hosted = Hosted("hh", BANK._replace(absence="move"), key="menschenwolf", seed=f"flip {number}")
        hosted.move()
        if any(move.action == "flip" for move in hosted.view(hosted.turn).view.legal_moves):
            break
    seat, other = hosted.turn, 1 - hosted.turn
    hosted.move(choose=lambda _: FLIP, after=50_000)
    assert Flipped(seat) in hosted.events()[-4:]
    assert hosted.game.state.phase == ROUND_OVER
    assert (hosted.banks[seat], hosted.banks[other], hosted.left) == (260_000, 300_000, 60_000)


def test_the_deal_between_two_rounds_has_a_time_of_its_own_after_which_the_service_deals() -> None:
    for clock, time in ((MINUTE, 60_000), (BANK, 60_000), (ClockSettings(bank=20_000), 20_000)):
        hosted = Hosted("hb", clock)
        hosted.until(ROUND_OVER)
        assert hosted.left == time
        assert bot_turn(hosted.game) is None
        hosted.now += time + 999
        assert hosted.time_out() == []
        hosted.now += 1
        (dealt,) = hosted.time_out()
        assert isinstance(dealt, Dealt)
        assert hosted.game.presence == Presence()


def test_a_clock_that_goes_back_takes_nothing_from_anybody() -> None:
    hosted = Hosted("hh", BANK)
    seat, shown = hosted.turn, hosted.game.deadline
    hosted.now -= 100_000
    hosted.move()
    assert hosted.banks[seat] == 300_000
    assert hosted.game.updated_at == START
    assert shown is not None
    assert hosted.game.deadline == START + 300_000


def test_nothing_but_a_write_changes_a_view_or_its_etag() -> None:
    hosted = Hosted("hb", BANK)
    before = hosted.view(0)
    hosted.now += 50_000
    assert hosted.view(0) == before


# Time-outs


def test_nobody_is_timed_out_before_the_deadline_and_its_grace() -> None:
    hosted = Hosted("hh", BANK)
    seat = hosted.turn
    assert hosted.due == {"bots": None, "clock": 301_000}
    hosted.now += 300_999
    assert hosted.time_out() == []
    hosted.now += 1
    assert hosted.time_out() == [TimedOut(seat, "bot")]
    assert hosted.game.presence == Presence(frozenset({seat}))
    assert hosted.banks[seat] == -GRACE_MS
    assert hosted.view(seat).seats[seat].bank == 0
    assert hosted.game.deadline is None
    assert hosted.due["clock"] is None
    assert hosted.due["bots"] is not None
    assert hosted.due["bots"] <= 0


def test_a_turn_in_which_the_service_was_away_has_as_much_time_more() -> None:
    hosted = Hosted("hh", MINUTE)
    seat = hosted.turn
    hosted.wait(30_000)
    hosted.now += 40_000  # the service is away
    hosted.store.beat()
    assert hosted.service.time_out(hosted.id, hosted.store.read_clock(hosted.id)) == hosted.now + 40_000
    hosted.wait(39_999)
    assert hosted.time_out() == []
    hosted.wait(1)
    assert hosted.time_out() == [TimedOut(seat, "bot")]


@pytest.mark.parametrize(("clock", "held"), [(MINUTE, False), (BANK._replace(bank=10_000, increment=0), True)])
def test_a_long_interruption_holds_back_no_later_turn_but_where_it_used_up_a_bank(
    clock: ClockSettings, held: bool
) -> None:
    hosted = Hosted("hh", clock)
    hosted.store.beat()
    hosted.now += 36_000_000
    hosted.store.beat()
    hosted.now += 1
    seat = hosted.turn
    hosted.play_on(lambda game: game.state.turn not in (seat, None))
    hosted.wait(61_000)
    assert bool(hosted.time_out()) is not held


def test_a_game_that_is_created_after_an_interruption_is_not_held_back() -> None:
    hosted = Hosted("hh", BANK._replace(bank=10_000))
    hosted.store.beat()
    hosted.store._heartbeat = Heartbeat(hosted.now, hosted.now - 1, hosted.now + 3_600_000)
    hosted.wait(11_000)
    assert hosted.time_out()


def test_a_reminder_that_is_doubled_stale_or_of_no_game_does_nothing() -> None:
    hosted = Hosted("hh", MINUTE)
    others = [hosted.another_service() for _ in range(5)]
    hosted.now += 61_000
    outcomes = [each.time_out(hosted.id, hosted.store.read_clock(hosted.id)) for each in others]
    assert [isinstance(outcome, Committed) for outcome in outcomes] == [True, False, False, False, False]
    assert hosted.service.time_out("gone", hosted.store.read_clock("gone")) is None
    assert hosted.service.next_turn("gone") is None


def test_of_a_move_and_a_time_out_at_once_the_first_one_counts() -> None:
    hosted = Hosted("hh", MINUTE)
    seat, version = hosted.turn, hosted.game.version
    hosted.now += 61_000
    hosted.move(expected=Expected(version))  # late, but first
    assert hosted.time_out() == []
    seat, version = hosted.turn, hosted.game.version
    assert hosted.lapse() == [TimedOut(seat, "bot")]
    with pytest.raises(MoveRefused) as refused:
        hosted.move(seat, expected=Expected(version))
    assert isinstance(refused.value.cause, StaleVersion)
    assert refused.value.version == version + 1


class Between(MemoryStore):
    """A store in which something happens just before the next write."""

    first: Callable[[], object] | None = None

    def commit(self, *args: Any, **options: Any) -> StoredGame | PriorWrite | None:
        first, self.first = self.first, None
        if first is not None:
            first()
        return super().commit(*args, **options)


def test_a_time_out_whose_turn_ends_meanwhile_concerns_nobody_else() -> None:
    hosted = Hosted("hh", MINUTE, store=Between)
    seat = hosted.turn
    hosted.now += 61_000
    hosted.store.first = lambda: hosted.play_on(lambda game: game.state.turn != seat)  # type: ignore[attr-defined]
    with pytest.raises(StaleVersion):
        hosted.time_out()
    assert hosted.game.presence == Presence()
    assert hosted.left == 60_000


def test_a_substitute_whose_person_came_first_makes_no_move() -> None:
    hosted = Hosted("hh", MINUTE)
    hosted.lapse()
    turn = hosted.service.next_turn(hosted.id)
    assert turn is not None
    move = hosted.view(turn.seat).view.legal_moves[0]
    hosted.move(turn.seat)
    with pytest.raises(StaleVersion):
        hosted.service.play(turn, move)


def test_a_substitute_plays_one_whole_turn_where_the_player_stays_present() -> None:
    hosted = Hosted("hh", MINUTE._replace(absence="move"), key="menschenwolf")
    to_draw(hosted)
    seat = hosted.turn
    assert hosted.lapse() == [TimedOut(seat, "move")]
    assert hosted.game.presence == Presence(substituted=seat)
    while hosted.turn == seat:
        hosted.play()
        assert hosted.time_out() == []
    assert hosted.game.presence == Presence()
    hosted.move()
    assert hosted.turn != seat or hosted.left == 60_000


def test_a_player_is_back_by_moving_in_the_turn_of_a_substitute() -> None:
    hosted = Hosted("hh", MINUTE._replace(absence="move"), key="menschenwolf")
    to_draw(hosted)
    seat = hosted.turn
    hosted.lapse()
    hosted.move(seat, drawing, after=500)
    assert hosted.events()[-2] == Returned(seat)
    assert isinstance(hosted.events()[-1], Drew)
    assert hosted.game.presence == Presence()
    assert (hosted.turn, hosted.left) == (seat, 10_000)


def test_a_substituted_turn_gains_the_increment_and_costs_the_rest_of_the_bank() -> None:
    hosted = Hosted("hh", ClockSettings(bank=60_000, increment=7_000, absence="move"))
    seat = hosted.turn
    hosted.lapse()
    hosted.play()
    assert hosted.banks[seat] == 6_000, "the grace is owed to the bank"
    assert hosted.banks[1 - seat] == 60_000


# Leaving and coming back


def test_leaving_and_coming_back_buys_no_time() -> None:
    hosted = Hosted("hh", MINUTE)
    seat = hosted.turn
    hosted.wait(55_000)
    hosted.leave(seat)
    assert hosted.game.deadline is None
    hosted.wait(1_000)
    hosted.come_back(seat)
    assert hosted.left == 10_000  # more than what was left, once
    hosted.wait(3_000)
    hosted.go_and_return(seat)
    assert hosted.left == 7_000
    hosted.wait(8_000)
    assert hosted.time_out() == [TimedOut(seat, "bot")]
    hosted.come_back(seat)
    assert hosted.left == -1_000
    assert hosted.time_out() == [TimedOut(seat, "bot")]


def test_leaving_costs_the_bank_what_the_turn_took_until_then() -> None:
    hosted = Hosted("hh", BANK)
    seat = hosted.turn
    hosted.wait(20_000)
    hosted.leave(seat)
    assert hosted.banks[seat] == 280_000
    hosted.wait(100_000)
    hosted.come_back(seat)
    assert hosted.left == 280_000
    hosted.move(after=30_000)
    assert hosted.banks[seat] == 260_000


def test_who_comes_back_after_a_time_out_has_ten_seconds() -> None:
    hosted = Hosted("hh", BANK)
    seat = hosted.turn
    hosted.lapse(301_000)
    hosted.play()
    assert hosted.banks[seat] == -GRACE_MS
    hosted.come_back(seat)
    assert hosted.banks[seat] == 10_000
    hosted.until_turn(seat)
    assert hosted.left == 10_000


def test_a_bank_is_not_refilled_by_leaving_and_coming_back() -> None:
    hosted = Hosted("hhh", ClockSettings(bank=10_000, absence="forfeit"))
    seat, used = hosted.turn, 0
    for _ in range(4):
        began = hosted.now
        hosted.wait(hosted.left or 0)
        hosted.go_and_return(seat)
        hosted.wait(min(hosted.left or 0, 8_000))
        used += hosted.now - began
        hosted.move(seat)
        # Nor in the turn of another.
        hosted.go_and_return(seat)
        hosted.until_turn(seat)
    assert used == 20_000, "the bank, and once what a return grants"
    assert hosted.left == 0
    hosted.wait(1_000)
    assert hosted.time_out() == [TimedOut(seat, "forfeit"), Forfeited(seat)]


def test_each_seat_is_granted_time_once_in_a_match_and_only_if_it_has_less() -> None:
    hosted = Hosted("hhh", BANK)
    seats = range(3)
    for seat in seats:
        hosted.go_and_return(seat)
    assert not hosted.game.running_clock.granted
    for seat in seats:
        hosted.until_turn(seat)
        hosted.wait(301_000)
        assert hosted.time_out() == [TimedOut(seat, "bot")]
        hosted.come_back(seat)
        assert hosted.left == 10_000
    assert hosted.game.running_clock.granted == frozenset(seats)


def test_what_a_return_grants_for_a_turn_is_granted_once_in_a_match() -> None:
    hosted = Hosted("hhh", MINUTE)
    seat = hosted.turn
    for left in (10_000, 5_000):
        hosted.until_turn(seat)
        hosted.wait(55_000)
        hosted.go_and_return(seat)
        assert hosted.left == left
        hosted.move(seat)


def test_while_everybody_is_away_the_game_sleeps_and_its_time_begins_anew_afterwards() -> None:
    hosted = Hosted("hbh", MINUTE)
    for seat in (0, 2):
        hosted.leave(seat)
    assert hosted.due == {"bots": None, "clock": None}
    assert hosted.time_out() == []
    assert hosted.service.next_turn(hosted.id) is None
    hosted.now += 3 * 86_400_000 // 4
    seat = 0 if hosted.turn != 2 else 2
    hosted.come_back(seat)
    if hosted.turn == seat:
        assert hosted.left == 60_000
    else:
        assert hosted.due["bots"] is not None


def test_a_sleeping_deal_begins_anew_when_somebody_is_back() -> None:
    hosted = Hosted("hh", MINUTE)
    hosted.until(ROUND_OVER)
    hosted.leave(0)
    hosted.wait(20_000)
    assert hosted.left == 40_000
    hosted.leave(1)
    assert hosted.game.deadline is None
    hosted.now += 7_000_000
    hosted.come_back(0)
    assert hosted.left == 60_000
    hosted.wait(1_000)
    hosted.come_back(1)
    assert hosted.left == 59_000


def test_leaving_works_without_a_clock_and_leaves_no_trace_in_storage() -> None:
    hosted = Hosted("hh")
    seat = hosted.turn
    before = stored_absence(hosted.game)
    assert hosted.due == {"bots": None, "clock": None}
    view = hosted.leave(seat)
    assert [each.away for each in view.seats] == [each == seat for each in range(2)]
    assert stored_absence(hosted.game) != before
    assert hosted.due == {"bots": 1_000 - LEAD_MS, "clock": None}
    assert hosted.leave(seat).version == view.version
    hosted.now += 1_000
    hosted.play()
    hosted.come_back(seat)
    game = hosted.game
    assert stored_absence(game) == before
    assert game.running_clock == RunningClock()
    assert hosted.due == {"bots": None, "clock": None}
    with pytest.raises(NotAway):
        hosted.come_back(seat)
    assert hosted.events()[2] == Left(seat)


def test_nobody_delays_a_computer_player_by_leaving_and_coming_back() -> None:
    hosted = Hosted("hbh")
    if hosted.turn != 1:
        hosted.until_turn(1)
    assert hosted.due["bots"] == 1_000 - LEAD_MS
    for _ in range(3):
        hosted.now += 200
        hosted.leave(0)
        hosted.now += 100
        hosted.come_back(0)
    assert hosted.due["bots"] == 100 - LEAD_MS


def test_presence_needs_a_match_that_is_running_with_that_seat() -> None:
    waiting = Hosted("ho", MINUTE)
    with pytest.raises(NotStarted):
        waiting.leave(0)
    assert waiting.due == {"bots": None, "clock": None}
    finished = Hosted("hh", options={"limit": 30})
    finished.until(FINISHED)
    with pytest.raises(GameOver):
        finished.leave(0)
    out = Hosted("hhh", MINUTE._replace(absence="claim"), options={"limit": 30})
    out.play_on(lambda game: any(game.state.eliminated_round))
    if out.game.state.phase != FINISHED:
        seat = next(seat for seat, number in enumerate(out.game.state.eliminated_round) if number)
        with pytest.raises(NotInMatch):
            out.leave(seat)
        with pytest.raises(NotInMatch):
            out.claim(seat, (seat + 1) % 3)


# Guarded moves


def test_others_who_leave_and_come_back_fail_no_guarded_move() -> None:
    hosted = Hosted("hhh", MINUTE)
    seat = hosted.turn
    other = (seat + 1) % 3
    view = hosted.view(seat)
    tags = {view.etag}
    for act in (hosted.leave, hosted.come_back, hosted.leave):
        act(other)
        tags.add(hosted.view(seat).etag)
    assert len(tags) == 4
    for tag in tags:
        assert Expected(etags=frozenset([tag])).matches(hosted.game, seat)
        assert not Expected(etags=frozenset([tag])).matches(hosted.game, other)
    hosted.move(seat, expected=Expected(view.version, frozenset([view.etag])))


def test_two_writes_that_led_to_the_same_version_have_different_etags() -> None:
    game = Hosted("hhh").game
    writes = [(Left(seat), f"write-0{seat}") for seat in (1, 2)]
    after = [with_events(game, [event], game.state, at=game.updated_at, write_id=each) for event, each in writes]
    assert len({each.etag(0) for each in after}) == 2


def test_a_move_that_was_meant_for_before_the_own_time_out_is_refused() -> None:
    hosted = Hosted("hhh", MINUTE._replace(absence="claim"))
    seat = hosted.turn
    view = hosted.view(seat)
    hosted.wait(61_000)
    hosted.claim((seat + 1) % 3, seat)
    for expected in (Expected(view.version), Expected(etags=frozenset([view.etag]))):
        with pytest.raises(MoveRefused):
            hosted.move(seat, expected=expected)
    hosted.move(seat, expected=Expected(hosted.game.version))
    assert hosted.events()[-2] == Returned(seat)


# Claims


def test_a_claim_counts_from_the_deadline_on_and_once() -> None:
    hosted = Hosted("hhb", MINUTE._replace(absence="claim"))
    hosted.until_turn(0)
    assert hosted.due == {"bots": None, "clock": None}
    hosted.wait(60_999)
    with pytest.raises(NotDue):
        hosted.claim(1, 0)
    hosted.wait(1)
    assert hosted.time_out() == []
    with pytest.raises(NotDue):
        hosted.claim(1, 2)
    for seat in (1, 3):
        with pytest.raises(InvalidSetup):
            hosted.claim(1, seat)
    key = IdempotencyKey("once", b"")
    results = [hosted.games.commands.claim(hosted.access(1), 0, key=key) for _ in range(2)]
    assert [each.replayed for each in results] == [False, True]
    assert results[0].answer == results[1].answer
    assert hosted.events()[-1] == Claimed(0, 1)
    with pytest.raises(NotDue):
        hosted.claim(1, 0)
    assert hosted.due["bots"] is not None


def test_no_claim_counts_while_nobody_can_be_late() -> None:
    hosted = Hosted("hh", MINUTE._replace(absence="claim"))
    seat = hosted.turn
    hosted.wait(30_000)
    hosted.now += 40_000  # the service is away
    with pytest.raises(NotDue):
        hosted.claim(1 - seat, seat)
    hosted.store.beat()
    hosted.wait(39_999)
    with pytest.raises(NotDue):
        hosted.claim(1 - seat, seat)
    hosted.wait(1)
    hosted.claim(1 - seat, seat)


def test_nothing_is_claimed_where_it_follows_by_itself_or_without_a_clock() -> None:
    for clock in (None, MINUTE):
        hosted = Hosted("hh", clock)
        hosted.wait(70_000)
        with pytest.raises(NotDue):
            hosted.claim(1 - hosted.turn, hosted.turn)


# Forfeits


def forfeiting(seats: str, **options: int) -> Hosted:
    hosted = Hosted(seats, MINUTE._replace(absence="forfeit"), options=dict(options))
    hosted.play_on(lambda game: len(game.state.layout.placements) > 3)
    return hosted


def test_a_forfeit_that_leaves_one_side_ends_the_match() -> None:
    hosted = forfeiting("hh")
    seat, other = hosted.turn, 1 - hosted.turn
    assert hosted.lapse() == [TimedOut(seat, "forfeit"), Forfeited(seat), Finished((other,), "forfeit")]
    game = hosted.game
    assert (game.status, game.to_act, game.deadline, game.state.turn) == ("finished", (), None, None)
    assert hosted.due == {"bots": None, "clock": None}
    assert hosted.view(seat).view.legal_moves == ()
    for each in (0, 1):
        with pytest.raises(MoveRefused) as refused:
            hosted.move(each)
        assert isinstance(refused.value.cause, GameOver)
    tile = game.state.hands[seat][0]
    with pytest.raises(MoveRefused):
        hosted.move(seat, lambda _: Move("play", tile))
    card = hosted.games.queries.score(hosted.access(0))
    assert [(each.seat, each.rank, each.forfeited) for each in card.standings] == [(other, 1, False), (seat, 2, True)]
    assert hosted.games.queries.fairness(hosted.access(0)) is not None
    assert "forfeit" in format_record(
        export_record(game, hosted.games.access._repository.histories.history(game), None)
    )


def test_a_match_with_payments_can_end_by_a_forfeit() -> None:
    hosted = Hosted("hh", MINUTE._replace(absence="forfeit"), key="dominospiel")
    hosted.lapse()
    card = hosted.games.queries.score(hosted.access(0))
    assert card.settlement is not None
    assert sum(card.settlement.amounts) == 0


def test_others_play_on_without_who_has_forfeited_who_cannot_win() -> None:
    hosted = forfeiting("hhh", limit=30)
    seat = hosted.turn
    assert hosted.lapse() == [TimedOut(seat, "forfeit"), Forfeited(seat)]
    hosted.come_back(seat)
    assert hosted.game.presence == Presence(frozenset(), frozenset({seat}))
    hosted.leave(seat)
    hosted.until(FINISHED)
    assert hosted.game.state.winners
    assert seat not in hosted.game.state.winners
    standings = hosted.games.queries.score(hosted.access(0)).standings
    assert (standings[-1].seat, standings[-1].rank) == (seat, 3)


def test_who_has_forfeited_does_not_win_even_with_the_best_total() -> None:
    for number in range(40):
        hosted = Hosted(
            "hhhh", MINUTE._replace(absence="forfeit"), key="homo-homini-lupus", options={"rounds": 1}, seed=f"{number}"
        )
        seat = hosted.turn
        hosted.lapse()
        hosted.until(FINISHED)
        game = hosted.game
        if game.rules.match_end(game.state).winners == (seat,):
            others = [each for each in range(4) if each != seat]
            best = max([game.state.totals[each] for each in others])
            assert game.state.winners == tuple([each for each in others if game.state.totals[each] == best])
            assert hosted.events()[-1] == Finished(game.state.winners)
            return
    raise AssertionError("no match that who has forfeited would have won")


def test_who_goes_out_may_leave_one_side_that_has_not_forfeited() -> None:
    for number in range(40):
        hosted = Hosted("hhh", MINUTE._replace(absence="forfeit"), options={"limit": 20}, seed=f"{number}")
        seat = hosted.turn
        hosted.lapse()
        hosted.play_on(lambda game: game.state.phase == FINISHED or any(game.state.eliminated_round))
        gone = [each for each, number in enumerate(hosted.game.state.eliminated_round) if number]
        last = hosted.events()[-1]
        if len(gone) == 1 and seat not in gone:
            (winner,) = {0, 1, 2} - {seat, *gone}
            assert last == Finished((winner,), "forfeit")
            return
    raise AssertionError("no match in which one goes out beside who has forfeited")


def test_a_team_has_forfeited_when_all_its_seats_have() -> None:
    hosted = forfeiting("hhhh", teams=2)
    seat = hosted.turn
    assert hosted.lapse() == [TimedOut(seat, "forfeit"), Forfeited(seat)]
    partner = (seat + 2) % 4
    hosted.until_turn(partner)
    others = tuple(each for each in range(4) if each % 2 != seat % 2)
    assert hosted.lapse() == [TimedOut(partner, "forfeit"), Forfeited(partner), Finished(others, "forfeit")]


def test_computer_players_decide_the_match_when_all_people_have_forfeited() -> None:
    hosted = forfeiting("hhbb", limit=30)
    for seat in (0, 1):
        hosted.until_turn(seat)
        assert hosted.lapse()[-1] == Forfeited(seat)
    hosted.until(FINISHED)
    last = hosted.events()[-1]
    assert isinstance(last, Finished)
    assert set(last.winners) <= {2, 3}
    assert hosted.game.presence.away == {0, 1}, "nobody had to come back for it"


def test_a_match_waits_for_a_person_who_is_away_without_having_forfeited() -> None:
    hosted = forfeiting("hhbb")
    hosted.until_turn(0)
    hosted.lapse()
    hosted.leave(1)
    assert hosted.due == {"bots": None, "clock": None}


def test_the_whole_team_wins_with_a_partner_who_has_forfeited() -> None:
    hosted = forfeiting("hhhh", teams=2)
    for seat in (0, 1, 3):
        hosted.until_turn(seat)
        events = hosted.lapse()
    assert events[-1] == Finished((0, 2), "forfeit")


# Computer players


def test_computer_players_alone_deal_and_stop_after_many_rounds() -> None:
    hosted = Hosted("bb", options={"limit": 30})
    hosted.until(FINISHED)
    assert any(isinstance(event, Finished) for event in hosted.events())
    many = Hosted("bbb", options={"limit": 500})
    many.until(ROUND_OVER)
    game = many.game
    for rounds, sleeps in ((MAX_ROUNDS_OF_BOTS - 1, False), (MAX_ROUNDS_OF_BOTS, True)):
        assert (bot_turn(game._replace(state=game.state._replace(round=rounds))) is None) is sleeps


def test_computer_players_deal_when_all_people_are_out_of_the_match() -> None:
    for number in range(40):
        hosted = Hosted("hbb", MINUTE, options={"limit": 30}, seed=f"{number}")
        hosted.play_on(lambda game: game.state.phase == FINISHED or bool(game.state.eliminated_round[0]))
        if hosted.game.state.phase != FINISHED:
            assert hosted.game.deadline is None
            hosted.until(FINISHED)
            return
    raise AssertionError("no match that goes on without its only person")


def test_thirteen_seats_are_timed_out_one_after_another_until_all_sleep() -> None:
    hosted = Hosted("h" * 13, MINUTE, key="menschenwolf")
    for number in range(200):
        if len(hosted.game.presence.away) == 13:
            break
        if hosted.game.deadline is not None:
            assert hosted.lapse(), number
        else:
            hosted.play()
    assert len(hosted.game.presence.away) == 13
    assert hosted.due == {"bots": None, "clock": None}


# Beginnings


def test_the_clock_begins_when_the_last_seat_is_taken() -> None:
    hosted = Hosted("hbo", MINUTE)
    hosted.now += 500_000
    joined = hosted.games.commands.join(
        hosted.games.access.authenticate(hosted.id, None), JoinCommand(hosted.code or "", "Zoe")
    ).answer
    hosted.tokens[2] = joined.seat.token
    if hosted.turn == 1:
        hosted.play()
    assert hosted.left == 60_000


@pytest.mark.parametrize("seats", ["hh", "ho", "hb", "bh"])
def test_a_game_from_a_record_begins_with_whole_times(seats: str) -> None:
    for clock, time in ((MINUTE, 60_000), (BANK, 300_000)):
        source = Hosted("hh", seed=None)
        source.play_on(lambda game: len(game.state.layout.placements) > 4)
        source.until(ROUND_OVER)
        source.move()
        game = source.game
        version = game.version - 1
        record = format_record(
            export_record(game, source.games.access._repository.histories.history(game)[:version], None)
        )
        hosted = Hosted(seats, clock, source=ForkSource(record, None))
        hosted.now += 400_000
        if hosted.code is not None:
            assert hosted.game.deadline is None
            command = JoinCommand(hosted.code, "Zoe")
            joined = hosted.games.commands.join(hosted.games.access.authenticate(hosted.id, None), command).answer
            hosted.tokens[1] = joined.seat.token
            assert hosted.left in (time, 60_000)
        assert hosted.banks in ((), (300_000, 300_000))
        hosted.until(PLAYING)
        assert hosted.game.state.round == 2


def test_an_arranged_game_has_a_clock_and_computer_players() -> None:
    hands = ("0-0 1-1 2-2 3-3 4-4 5-5 6-6", "0-1 0-2 0-3 0-4 0-5 0-6 1-2")
    dealt = tuple(tuple(sorted(map(parse_tile, hand.split()), key=lambda tile: tile.index)) for hand in hands)
    held = {tile for hand in dealt for tile in hand}
    stock = tuple(tile for tile in Hosted("hh").game.rules.tiles if tile not in held)
    hosted = Hosted("hb", MINUTE, deals=[ArrangedDeal(dealt, stock)], seed=None)
    assert (hosted.turn, hosted.left) == (0, 60_000)
    assert hosted.lapse() == [TimedOut(0, "bot")]
    assert hosted.due == {"bots": None, "clock": None}  # nobody is left to play for


# Repeated requests


def test_a_repeated_move_shows_who_was_away_then() -> None:
    hosted = Hosted("hhh")
    seat = hosted.turn
    other = (seat + 1) % 3
    hosted.leave(other)
    command = MoveCommand(hosted.view(seat).view.legal_moves[0], key=IdempotencyKey("key", b""))
    first = hosted.games.commands.make_move(hosted.access(seat), command)
    hosted.come_back(other)
    again = hosted.games.commands.make_move(hosted.access(seat), command)
    assert again.replayed
    assert again.answer == first.answer
    assert again.answer.seats[other].away


# Storage


def stored(game: Game) -> Game:
    return decode_game(game.id, game.version, encode_game(game))


def stored_absence(game: Game) -> list[object]:
    """Who is away, the times, and the running clock, as they are stored."""
    fields: list[object] = orjson.loads(encode_game(game)[:-SUM_CHARS])[3]
    return fields[-5:-2]


def test_a_game_is_stored_with_all_its_fields() -> None:
    hosted = Hosted("hhb", ClockSettings(bank=60_000, increment=3_000, absence="forfeit"), pace=300)
    hosted.until_turn(0)
    hosted.lapse()
    hosted.come_back(0)
    hosted.leave(1)
    game = hosted.game
    assert game.presence.away
    assert game.presence.forfeited
    assert game.running_clock.granted == {0}
    assert game.running_clock.acted
    for each in (game, game._replace(presence=game.presence._replace(substituted=2))):
        assert stored(each) == each
        assert encode_game(each).startswith(state_prefix(each))


def test_a_game_is_stored_as_it_was_once_everybody_has_come_back() -> None:
    hosted = Hosted("hh")
    automatic = []
    for act in (lambda: None, lambda: hosted.leave(0), lambda: hosted.come_back(0)):
        act()
        game = hosted.game
        automatic.append(stored(game).is_automatic)
        assert stored(game) == game
        assert encode_game(game).startswith(state_prefix(game))
    assert automatic == [False, True, False]
