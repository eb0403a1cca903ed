"""Hosted games in simulated time: people, computer players and time-outs, with faults, against a model.

A *plan* says how a game is set up and what may happen in it; one plan is one course of events, the same at every run.
The model of the clock (``ClockModel``) reads the stored events only. It counts the time of each turn itself and knows
nothing of ``service.games.model.clock``.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

from service.engine.errors import Refusal
from service.engine.events import Dealt, Done, Drew, Finished, Passed, Played, RoundEnded
from service.engine.moves import DEAL, Move
from service.engine.presence import Claimed, Forfeited, Left, Presence, Resigned, Returned, TimedOut
from service.engine.referee import apply, legal_moves
from service.engine.state import PLAYING, ROUND_OVER, State
from service.engine.variant import Rules
from service.games.automation.due import Automation
from service.games.commands.join import JoinCommand
from service.games.commands.move import Expected, MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.facade import GamesFacade
from service.games.model.clock import GRACE_MS, ClockSettings
from service.games.model.errors import MoveRefused, StaleVersion
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope, HostingEvent, Joined, Reminded
from service.games.model.schedule import MAX_ROUNDS_OF_BOTS, BotTurn, bot_turn, clock_due, reminders
from service.games.model.seats import BOT, HUMAN, OPEN_SEAT
from service.games.model.views import CommandResult, GameView
from service.games.reminders import LeasedReminder, ReminderKind
from service.games.store.codec import decode_event, decode_game
from service.games.store.history import rebuild_game
from service.games.store.idempotency import IdempotencyKey
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from tests.histories.faults import FaultyStore, SimulatedTime
from tests.laws.facts import assert_kept_facts
from tests.laws.matches import Choices
from tests.support.games import build_games, build_repository
from tests.support.stores.memory_store import MemoryStore

APP: Final = "A" * 24
TTL: Final = 30 * 86_400
LEASE: Final = 10_000
BACK: Final = 10_000
DEALING: Final = 60_000
SKEW: Final = 50
"""Milliseconds by which the clocks of the workers differ from that of the store at most."""
SWEEP: Final = 4_000
RESIGNING: Final = 0.02
"""Which part of those who leave resign."""
LONG: Final = 400_000


class Plan(NamedTuple):
    """A game, and how it goes: ``kinds`` of the seats, the rate of faults, and how many things happen."""

    key: str
    options: Choices
    kinds: tuple[str, ...]
    clock: ClockSettings | None
    pace: int | None
    faults: float
    steps: int
    seed: int
    arranged: bool = False
    owned: bool = False


class ClockModel:
    """Who is present, how much time each seat has, and when it is over, by the events and their times alone."""

    def __init__(self, rules: Rules, settings: ClockSettings | None, people: set[int]) -> None:
        self.rules = rules
        self.settings = settings
        self.people = people
        self.state: State = rules.start()
        self.away: set[int] = set()
        self.forfeited: set[int] = set()
        self.substituted: int | None = None
        self.banks = [0 if settings is None else settings.bank] * rules.seats
        self.counted_from = 0
        """Since when the time of the running turn, or for the deal, is counted."""
        self.end = 0
        """When that time is over, in a game with so much time for each turn."""
        self.granted: set[int] = set()
        """The seats that were granted time when they came back."""
        self.reminded = False
        """Whether the application was told of the end of the running turn."""
        self.spent = 0
        self.turns = 0
        self.interrupted = False

    @property
    def running(self) -> int | None:
        """The person who has to move, and whose time runs."""
        seat = self.state.turn
        return None if seat in self.away or seat == self.substituted or seat not in self.people else seat

    @property
    def is_asleep(self) -> bool:
        """Whether the game waits for a person to come back: all are away, and not all have forfeited."""
        in_match = {seat for seat in self.people if not self.state.eliminated_round[seat]}
        return not self.present and bool(in_match - self.forfeited)

    @property
    def present(self) -> set[int]:
        return {seat for seat in self.people - self.away if not self.state.eliminated_round[seat]}

    @property
    def deadline(self) -> int | None:
        if self.settings is None:
            return None
        if self.state.phase == ROUND_OVER and self.state.round and self.present:
            time = self.settings.turn
            return self.counted_from + (min(self.settings.bank, DEALING) if time is None else time)
        if self.running is None:
            return None
        return self.end if self.settings.turn is not None else self.counted_from + self.banks[self.running]

    def take(self, at: int, event: object) -> None:
        """The next event."""
        match event:
            case TimedOut(seat, then):
                assert seat == self.running
                assert self.deadline is not None
                assert at >= self.deadline + GRACE_MS - 2 * SKEW, "too early"
                self._stop(seat, at)
                if then == "move":
                    self.substituted = seat
                else:
                    self.away.add(seat)
            case Claimed(seat, _):
                assert seat == self.running
                assert self.deadline is not None
                assert at >= self.deadline + GRACE_MS - 2 * SKEW, "too early"
                self._stop(seat, at)
                self.away.add(seat)
            case Left(seat) | Resigned(seat):
                running = self.running
                self.away.add(seat)
                if running is not None and running != self.running:
                    self._stop(running, at)
            case Returned(seat):
                self._come_back(seat, at)
            case Forfeited(seat):
                self.forfeited.add(seat)
            case Reminded(seat):
                assert seat == self.running
                assert self.settings is not None
                assert self.deadline is not None
                assert self.settings.remind is not None
                assert self.deadline - self.settings.remind - 2 * SKEW <= at, "too early"
                assert not self.reminded, "twice in a turn"
                self.reminded = True
            case Joined():
                self._begin(at)
            case _ if not isinstance(event, HostingEvent):
                self._go_on(at, event)

    def _go_on(self, at: int, event: object) -> None:
        before, running = self.state, self.running
        after = self.state = apply(self.rules, before, event)  # type: ignore[arg-type]
        assert self.state.phase == PLAYING or self.state.turn is None
        match event:
            case Played(seat=seat) | Drew(seat=seat) | Passed(seat=seat) | Done(seat=seat):
                again = after.turn == seat and (after.tiles_laid > 0 or after.drew)
                self.interrupted = again
                if not again:
                    self._end_turn(before, running, at)
                    self._begin(at)
            case RoundEnded():
                if self.interrupted:
                    self._end_turn(before, running, at)
                self._begin(at)
            case Dealt():
                self._begin(at)
            case Finished():
                pass
            case _:
                self.interrupted = before.turn is not None

    def _begin(self, at: int) -> None:
        self.counted_from = at
        self.interrupted = self.reminded = False
        if self.settings is not None and self.settings.turn is not None:
            self.end = at + self.settings.turn

    def _end_turn(self, before: State, running: int | None, at: int) -> None:
        seat = before.turn
        assert seat is not None
        self.turns += 1
        if seat in self.people and seat not in self.away:
            if seat == running:
                self._stop(seat, at)
            if self.settings is not None:
                self.banks[seat] = min(self.banks[seat] + self.settings.increment, self.settings.bank)
        self.substituted = None

    def _stop(self, seat: int, at: int) -> None:
        """The time of the seat stops, and what it took is gone from its bank, up to a second more than it had."""
        took = at - self.counted_from
        assert took >= 0
        self.spent += took
        self.banks[seat] = max(self.banks[seat] - took, -GRACE_MS)

    def _come_back(self, seat: int, at: int) -> None:
        nobody = self.is_asleep or (self.state.phase == ROUND_OVER and not self.present)
        on_turn = seat == self.state.turn
        self.away.discard(seat)
        self.substituted = None if self.substituted == seat else self.substituted
        if nobody or on_turn:
            self.counted_from = at
        if self.settings is None:
            return
        least = min(BACK, self.settings.bank or self.settings.turn or 0)
        if self.settings.turn is not None and nobody:
            self.end = at + self.settings.turn
        if seat in self.granted:
            return
        if self.settings.turn is None and self.banks[seat] < least:
            self.banks[seat] = least
            self.granted.add(seat)
        if self.settings.turn is not None and on_turn and self.end < at + least:
            self.end = at + least
            self.granted.add(seat)


class Course:
    """The course of one planned game. ``step`` lets one thing happen; ``judge`` compares the store with the model."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = random = Random(repr(plan))
        self.time = SimulatedTime()
        self.store = MemoryStore(TTL, lambda: self.time.now / 1000)
        self.injected: Counter[str] = Counter()
        self.faulty = FaultyStore(
            self.store, random, 0.0, time=self.time, pause=self._meanwhile, injected=self.injected
        )
        self.services = [self._service(skew) for skew in (0, random.randrange(-SKEW, SKEW))]
        self.automations = [self._automation(skew) for skew in (0, random.randrange(-SKEW, SKEW))]
        self.tokens: dict[int, str] = {}
        self.figures: Counter[str] = Counter()
        self.history: list[EventEnvelope] = []
        self.snapshots: dict[int, Game] = {}
        self.kept_turns: list[BotTurn] = []
        self.answers: list[tuple[int, str, MoveCommand, CommandResult[GameView]]] = []
        self.code: str | None = None
        self.alone = True
        self.id = self._create()
        people = {seat for seat, kind in enumerate(plan.kinds) if kind != BOT}
        self.model = ClockModel(self.game.rules, plan.clock, people)
        self.judge()
        self.faulty._rate = plan.faults
        self.alone = False

    # What may happen

    def step(self) -> None:
        self.figures["steps"] += 1
        acts: tuple[tuple[Callable[[], None], float], ...] = (
            (self.wait, 4),
            (self.move, 7),
            (self.toggle, 1.5),
            (self.claim, 0.5 if self.plan.clock is None or self.plan.clock.absence != "claim" else 12),
            (self.take_clock, 4),
            (self.take_bots, 5),
            (self.stray, 1),
            (self.deliver, 0.3),
        )
        (act,) = self.random.choices([act for act, _ in acts], [weight for _, weight in acts])
        self._whatever_follows(act)
        self.judge()

    def _whatever_follows(self, act: Callable[[], None]) -> None:
        with contextlib.suppress(StorageUnavailable, OutcomeUnknown, Refusal, MoveRefused):
            act()

    def wait(self) -> None:
        """Time passes: a little, to about the deadline, or for long; now and then nobody looks meanwhile."""
        until = self.time.now
        deadline = self.game.deadline
        if deadline is not None and self.random.random() < 0.8:
            until = max(until, deadline + self.random.choice((-1, 0, 1, 999, 1000, 1001, 1050, 3000)))
        else:
            until += self.random.choice((1, 200, 900, 1000, 1100, 3000, 9000, 60_000, 3_000_000))

        if until - self.time.now < LONG and self.random.random() < 0.9:
            while self.time.now < until:
                self.time.now = min(self.time.now + SWEEP, until)
                self.store.beat()
        self.time.now = until

    def move(self) -> None:
        """A person moves, now and then with a version that may be an old one; or takes a seat."""
        game, games = self.game, self.random.choice(self.services)
        if self.code is not None and game.seats.are_open:
            joined = games.commands.join(games.access.authenticate(self.id, None), JoinCommand(self.code, "Zoe")).answer
            self.tokens[joined.seat.seat] = joined.seat.token
            return
        seats = [seat for seat in game.to_act if seat in self.tokens] or list(self.tokens)
        if not seats:
            return
        seat = self.random.choice(seats if self.random.random() < 0.95 else list(self.tokens))
        moves = legal_moves(game.rules, game.state, seat) or (DEAL,)
        version = self.random.choice(sorted(self.snapshots)[-3:])
        expected = Expected(version) if self.random.random() < 0.3 else None
        name = f"{self.figures['steps']}"
        command = MoveCommand(self.random.choice(moves), expected, key=IdempotencyKey(name, b""))
        access = games.access.authenticate_cached(self.id, self.tokens[seat])
        result = games.commands.make_move(access, command)
        self.figures["moves of people"] += 1
        self.answers.append((seat, self.tokens[seat], command, result))

    def toggle(self) -> None:
        """A person leaves or comes back."""
        games = self.random.choice(self.services)
        seat, token = self.random.choice(list(self.tokens.items()))
        access = games.access.authenticate(self.id, token)
        before = self.game
        away = self.random.random() < (0.1 if seat in before.presence.away else 0.4)
        with contextlib.suppress(Refusal):
            if self.random.random() < RESIGNING:
                games.commands.resign(access._replace(target=seat))
            else:
                games.commands.set_presence(access, away=away)
            self.figures["left or back"] += 1

    def claim(self) -> None:
        games = self.random.choice(self.services)
        by = self.random.choice(list(self.tokens))
        seat = self.game.state.turn
        if seat is None or seat == by:
            return
        access = games.access.authenticate(self.id, self.tokens[by])
        games.commands.claim(access, seat)
        self.figures["claims"] += 1

    def take_clock(self) -> None:
        """A scheduler looks for what is due; it may die in between, or another one may act first."""
        for reminder in self.store.take("clock", 10, LEASE):
            self._let_follow(reminder)

    def _let_follow(self, reminder: LeasedReminder) -> None:
        if self.random.random() < 0.4:
            self.figures["killed"] += 1
            return
        for automation in self.automations[: self.random.randint(1, 2)]:
            if self._time_out(automation):
                return
        self.store.reschedule("clock", [(reminder, clock_due(self.game))])

    def _time_out(self, automation: Automation) -> bool:
        before = self.game
        judged = self.store.read_clock(self.id)
        due = clock_due(before, judged.allowance)
        committed = automation.time_out(self.id, judged)
        if not isinstance(committed, Committed):
            return False
        if committed.after.version == before.version + len(committed.events):  # else something else came first
            assert due is not None
            assert self.time.now >= due, "too early"
        self.figures["time-outs"] += 1
        return True

    def take_bots(self) -> None:
        """A worker looks for computer players on turn; it may die in between, or act late."""
        for reminder in self.store.take("bots", 10, LEASE):
            turn = self.automations[0].next_turn(self.id)
            if turn is None or turn.due > self.time.now:
                self.store.reschedule("bots", [(reminder, None if turn is None else turn.begin)])
            elif self.random.random() < 0.8:
                self._play(turn)
            else:
                self.kept_turns.append(turn)

    def stray(self) -> None:
        """Something looks at the game without a reason, or with an old one."""
        if self.random.random() < 0.5 or not self.kept_turns:
            self._time_out(self.random.choice(self.automations))
        else:
            turn = self.kept_turns.pop()
            try:
                self._play(turn)
            except StaleVersion:
                assert (turn.game.version, turn.game.write_id) != (self.game.version, self.game.write_id)
                self.figures["late moves refused"] += 1

    def _meanwhile(self) -> None:
        """Now and then a person moves while another request waits for the store."""
        if self.alone or self.random.random() > 0.05:
            return
        self.alone = True
        try:
            self._whatever_follows(self.move)
        finally:
            self.alone = False

    def deliver(self) -> None:
        self.faulty.deliver()

    def _play(self, turn: BotTurn) -> None:
        automation = self.random.choice(self.automations)
        if turn.action == "deal":
            automation.play(turn, DEAL)
        else:
            automation.play(turn, self.choose(turn))
        self.figures["moves of the service"] += 1

    def choose(self, turn: BotTurn) -> Move:
        return self.random.choice(legal_moves(turn.game.rules, turn.game.state, turn.seat))

    # What must be true

    @property
    def game(self) -> Game:
        """The stored game, whatever the workers think."""
        stored = self.store.read(self.id)
        assert stored is not None
        return decode_game(self.id, stored.version, stored.state)

    def judge(self) -> None:
        game, model = self.game, self.model
        new = self.store.event_range(self.id, len(self.history), 10_000)
        assert new is not None
        for version, data in enumerate(new.events, len(self.history) + 1):
            envelope = decode_event(version, game.created_at, data)
            self.history.append(envelope)
            model.take(envelope.at, envelope.event)
            self.figures[type(envelope.event).__name__] += 1
        self.snapshots[game.version] = game
        assert_kept_facts(game)
        assert game.state == model.state
        presence = Presence(frozenset(model.away), frozenset(model.forfeited), model.substituted)
        assert game.presence == presence
        if game.clock is not None and game.clock.turn is None:
            banks = game.running_clock.banks
            assert [banks[seat] for seat in model.people] == [model.banks[seat] for seat in model.people]
        if not game.seats.are_open:
            assert game.deadline == model.deadline
        assert model.spent <= self.history[-1].at - self.history[0].at, "more time than there was"
        self._judge_reminders(game)
        self._judge_progress(game)

    def _judge_reminders(self, game: Game) -> None:
        expected = reminders(game, game)
        kinds: tuple[ReminderKind, ...] = ("bots", "clock")
        for kind in kinds:
            due = expected.get(kind)
            stored = self.store._reminders[kind].get(self.id)
            leased = stored is not None and stored % 1 and due is not None and due <= self.time.now
            # Of an owned game, who read it just before a move may write a reminder again, which then does nothing.
            spare = stored is not None and due is None and game.ownership is not None
            assert stored == due or leased or spare, (kind, stored, due)

    def _judge_progress(self, game: Game) -> None:
        """Somebody can act, or the service will; or the game sleeps as it should."""
        if game.seats.are_open or game.state.phase not in (PLAYING, ROUND_OVER):
            assert bot_turn(game) is None
            assert game.deadline is None
            return
        model = self.model
        player = model.present if game.state.phase == ROUND_OVER else model.running is not None
        if player:
            assert (game.deadline is None) is (game.clock is None)
            assert bot_turn(game) is None
        elif model.is_asleep:
            assert bot_turn(game) is None
            assert game.deadline is None
        elif not model.present and game.state.phase == ROUND_OVER and game.state.round >= MAX_ROUNDS_OF_BOTS:
            assert bot_turn(game) is None
        else:
            assert bot_turn(game) is not None

    def finish(self) -> None:
        """Without faults, the service alone takes the game as far as it may; then all that happened is told again."""
        self.faulty._rate = 0.0
        self.alone = True
        self.faulty.deliver_all()
        self.judge()
        self.store._heartbeat = None  # so that the jumps from one deadline to the next are no interruptions
        for _ in range(60):
            game = self.game
            turn = bot_turn(game)
            due = turn.due if turn is not None else clock_due(game)
            if due is None:
                break
            self.time.now = max(self.time.now, due)
            if turn is not None:
                self._play(turn)
            else:
                assert self._time_out(self.automations[0])
            assert self.game.version > game.version
            self.judge()
        self._tell_again()

    def _tell_again(self) -> None:
        """Rebuilt from its events, every version is as it was; and every answer is given again."""
        game = self.game
        for version, was in self.snapshots.items():
            again = rebuild_game(game, self.history, version)
            for told in ("state", "presence", "running_clock", "is_automatic", "updated_at", "match_version"):
                assert getattr(again, told) == getattr(was, told), (version, told)
            assert (again.deadline, again.to_act) == (was.deadline, was.to_act)
        for _, token, command, first in self.answers[-5:]:
            games = self.random.choice(self.services)
            second = games.commands.make_move(games.access.authenticate(self.id, token), command)
            assert second.replayed
            # Deadlines are shown as they are applied at the time of an answer, and so is the ETag.
            repeated = second.answer._replace(deadline=first.answer.deadline, etag=first.answer.etag)
            assert repeated == first.answer

    # The parts

    def _service(self, skew: int) -> GamesFacade:
        return build_games(
            self.faulty,
            self.store,
            clock=lambda: self.time.now + skew,
            random_bytes=self.random.randbytes,
            secrets=[b"a secret"],
            ttl_seconds=TTL,
            reminders=self.store,
        )

    def _automation(self, skew: int) -> Automation:
        return Automation(self._repository(skew))

    def _repository(self, skew: int) -> GameRepository:
        return build_repository(self.faulty, lambda: self.time.now + skew, self.random.randbytes)

    def _create(self) -> str:
        plan = self.plan
        seats = [
            SeatRequest(BOT, level="greedy")
            if kind == BOT
            else SeatRequest(OPEN_SEAT)
            if kind == OPEN_SEAT
            else SeatRequest(HUMAN, f"Ada {seat}")
            for seat, kind in enumerate(plan.kinds)
        ]
        request = GameRequest(
            plan.key,
            tuple(seats),
            dict(plan.options),
            seed=str(plan.seed) if plan.arranged else None,
            clock=plan.clock,
            pace=plan.pace,
            app=APP if plan.owned else None,
        )
        created = self.services[0].commands.create(request).answer
        self.tokens = {each.seat: each.token for each in created.seats}
        self.code = created.join_code
        return created.view.id
