"""Hosted matches with computer players, people who come and go, and a clock, played in this process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Final

from service.bots.choice import choose_move
from service.bots.knowledge import observe
from service.engine.deal import round_seed, seed_of_decision
from service.engine.events import Event
from service.engine.moves import DEAL, Move
from service.engine.options import Value
from service.engine.presence import ABSENCES
from service.engine.referee import legal_moves
from service.engine.variants import variants
from service.games.automation.due import Automation
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import GRACE_MS, ClockSettings
from service.games.model.game import Game
from service.games.model.game_events import HostingEvent
from service.games.model.schedule import BotTurn
from service.games.reminders import ClockReading
from service.games.store.transactions import Committed
from service.records.record import Record
from tests.laws.matches import setups
from tests.support.games import build_games, build_repository
from tests.support.stores.memory_store import MemoryStore

START = 1_767_728_000_000


class HostedMatch:
    """A match of people (``None``) and computer players of these levels, with everything drawn from ``seed``."""

    def __init__(
        self,
        variant: str,
        levels: tuple[str | None, ...],
        *,
        seed: int,
        options: Mapping[str, Value] | None = None,
        clock: ClockSettings | None = None,
        dealt_from: str | None = None,
        auto: bool = False,
    ) -> None:
        self.rng = Random(seed)
        self.now = START
        self.store = store = MemoryStore(10_000_000, lambda: self.now / 1000)
        random_bytes = self.rng.randbytes
        self.games = build_games(
            store, store, clock=lambda: self.now, random_bytes=random_bytes, secrets=[b"s"], ttl_seconds=10_000_000
        )
        self.repository = build_repository(store, lambda: self.now, random_bytes)
        self.automation = Automation(self.repository)
        seats = tuple(
            [
                SeatRequest("human", f"Person {seat}") if level is None else SeatRequest("bot", level=level)
                for seat, level in enumerate(levels)
            ]
        )
        created = self.games.commands.create(
            GameRequest(variant, seats, options or {}, seed=dealt_from, clock=clock, pace=0, auto=auto)
        ).answer
        self.id = created.view.id
        self.tokens = {each.seat: each.token for each in created.seats}

    @property
    def game(self) -> Game:
        return self.repository.reader.reload(self.id)

    @property
    def over(self) -> bool:
        return self.game.status == "finished"

    def record(self, seat: int | None = None) -> Record:
        access = self.games.access.authenticate(self.id, None if seat is None else self.tokens[seat])
        return self.games.queries.record(access)

    def play(self, most: int = 10_000) -> None:
        """So many acts at most, of all who take part; people now and then leave, return or let their time pass."""
        for _ in range(most):
            game = self.game
            if game.status == "finished":
                return
            self.now += 100
            if not self.comes_or_goes(game):
                self.goes_on(game)

    def comes_or_goes(self, game: Game) -> bool:
        people = [seat for seat in game.state.active_seats() if seat in self.tokens]
        away = [seat for seat in people if seat in game.presence.away]
        present = [seat for seat in people if seat not in away]
        if away and (not present or self.rng.random() < 0.1):
            self.set_presence(self.rng.choice(away), away=False)
        elif present and self.rng.random() < 0.05:
            self.set_presence(self.rng.choice(present), away=True)
        else:
            return False
        return True

    def goes_on(self, game: Game) -> None:
        deadline = game.deadline
        turn = game.state.turn
        if deadline is not None and self.rng.random() < 0.1 and self.now < deadline + GRACE_MS:
            self.now = deadline + GRACE_MS
            assert game.clock is not None
            others = [seat for seat in game.state.active_seats() if seat in self.tokens and seat != turn]
            if game.clock.absence == "claim" and turn is not None:
                if others:
                    self.claim(self.rng.choice(others), turn)
            else:
                assert isinstance(self.automation.time_out(self.id, ClockReading(self.now)), Committed)
            return
        bot = self.automation.next_turn(self.id)
        if bot is None:
            seat = self.rng.choice([seat for seat in game.to_act if seat in self.tokens])
            self.move(seat, self.rng.choice(legal_moves(game.rules, game.state, seat)))
        elif bot.action == "deal":
            self.automation.play(bot, DEAL)
        elif bot.seat in self.tokens and self.rng.random() < 0.05:
            # A person who is away, or whose turn a computer player would play, moves first.
            self.move(bot.seat, self.rng.choice(legal_moves(game.rules, game.state, bot.seat)))
        else:
            self.automation.play(bot, self.decision(bot))

    def move(self, seat: int, move: Move) -> None:
        access = self.games.access.authenticate(self.id, self.tokens[seat])
        self.games.commands.make_move(access, MoveCommand(move))

    def set_presence(self, seat: int, *, away: bool) -> None:
        access = self.games.access.authenticate(self.id, self.tokens[seat])
        self.games.commands.set_presence(access, away=away)

    def claim(self, by: int, seat: int) -> None:
        access = self.games.access.authenticate(self.id, self.tokens[by])
        self.games.commands.claim(access, seat)

    def decision(self, turn: BotTurn) -> Move:
        """What the computer player makes of what its seat can see."""
        game = turn.game
        happened = self.repository.histories.events_of_round(game, game.version)
        events: list[Event] = [event for event in happened if not isinstance(event, HostingEvent)]
        observation = observe(game.rules, game.state, events, turn.seat)
        provable = game.deck.game is not None
        seed = round_seed(game.deck.seed, game.state.round) if provable else game.deck.seed
        return choose_move(game.rules, observation, turn.level, seed_of_decision(seed, turn.seat, game.version))


MANY: Final = 40


@cache
def hosted_records() -> tuple[Record, ...]:
    """The records of some matches of all games, with what follows at a deadline in turn; without partial ones."""
    records = [hosted_match(number).record() for number in range(MANY)]
    return tuple([record for record in records if record.viewer is None])


@cache
def hosted_match(number: int, most: int = 300) -> HostedMatch:
    """So many acts of one of these matches."""
    rng = Random(f"hosted {number}")
    key = rng.choice(list(variants()))
    seats, options = rng.choice(setups(key))
    absence = ABSENCES[number % len(ABSENCES)]
    turn, bank = (
        ClockSettings(turn=60_000, absence=absence),
        ClockSettings(bank=60_000, increment=1000, absence=absence),
    )
    levels = tuple([rng.choice([None, None, "random", "greedy"]) for _ in range(seats)])
    clock = rng.choice([turn, bank, None])
    match = HostedMatch(key, levels, seed=number, options=dict(options), clock=clock, auto=number % 2 == 1)
    match.play(most)
    return match
