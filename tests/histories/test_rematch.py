"""Whatever fails between workers and store while all players of a finished game ask for a rematch, there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

import pytest
from greenlet import getcurrent, greenlet

from service.engine.events import Dealt
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.facade import GamesFacade
from service.games.model.game_events import Created, Rematched
from service.games.model.seats import HUMAN
from service.games.model.views import SeatToken
from service.games.ports import WriteRequest
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from tests.conftest import Figures
from tests.histories.checker import Verdict, read_game
from tests.histories.faults import Fault, FaultyStore, SimulatedTime
from tests.histories.simulation import FAULT_RATES, TTL
from tests.support import lanes
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

pytestmark = pytest.mark.gate

HISTORIES = lanes.fewer(300)
MAX_TRIES = 100
SECRETS = ((b"old", b"new"), (b"new", b"old"))
"""Of the workers, while the secret is changed."""


class Finished(NamedTuple):
    """A finished game as the store has it, and the tokens of its seats."""

    id: str
    state: bytes
    events: tuple[bytes, ...]
    tokens: tuple[str, ...]


@cache
def finished() -> Finished:
    """A game of three."""
    store = MemoryStore(TTL)
    games = service(store, store, Random(1), SimulatedTime(), (b"any",))
    seats = tuple([SeatRequest(HUMAN, name) for name in ("Ada", "Bo", "Cem")])
    created = games.commands.create(GameRequest("domino", seats, {"limit": 10})).answer
    game, tokens = created.view.id, tuple([each.token for each in created.seats])
    while True:
        stored = games.access.authenticate(game, None).game
        if stored.status == "finished":
            break
        access = games.access.authenticate(game, tokens[stored.to_act[0]])
        games.commands.make_move(access, MoveCommand(games.queries.legal_moves(access).moves[0]))
    read, events = store.read(game), store.event_range(game, 0, 10_000)
    assert read is not None
    assert events is not None
    return Finished(game, read.state, events.events, tokens)


def service(
    store: FaultyStore | MemoryStore, feed: MemoryStore, random: Random, time: SimulatedTime, secrets: Sequence[bytes]
) -> GamesFacade:
    return build_games(
        store, feed, clock=lambda: int(time.now), random_bytes=random.randbytes, secrets=secrets, ttl_seconds=TTL
    )


def ask(games: GamesFacade, token: str) -> tuple[str, SeatToken]:
    """Ask until there is an answer: the new game, and the seat there."""
    for _ in range(MAX_TRIES):
        try:
            access = games.access.authenticate_cached(finished().id, token)
            joined = games.rematches.begin(access).answer
        except (StorageUnavailable, OutcomeUnknown):
            continue
        return joined.view.id, joined.seat
    raise AssertionError("no answer")


def yield_to_others() -> None:
    scheduler = getcurrent().parent
    assert scheduler is not None
    scheduler.switch()


def simulate(seed: int) -> tuple[Counter[str], list[tuple[str, SeatToken]], FaultyStore, MemoryStore]:
    """Let all seats ask two workers at once; the faults, the answers in the order of the seats, and both stores."""
    random, time, injected, truth = Random(seed), SimulatedTime(), Counter[str](), MemoryStore(TTL)
    old = finished()
    truth.create(old.id, old.state, old.events, WriteRequest(b"finished"))
    store = FaultyStore(truth, random, random.choice(FAULT_RATES), time=time, pause=yield_to_others, injected=injected)
    workers = [service(store, truth, random, time, secrets) for secrets in SECRETS]
    answers: dict[int, tuple[str, SeatToken]] = {}

    def play(place: int, worker: GamesFacade, token: str) -> None:
        answers[place] = ask(worker, token)

    pairs = list(product(old.tokens, workers))
    running = [greenlet(lambda at=at, pair=pair: play(at, pair[1], pair[0])) for at, pair in enumerate(pairs)]
    while running:
        one = random.choice(running)
        one.switch()
        if one.dead:
            running.remove(one)
        if random.random() < 0.2:
            store.deliver()
    store.deliver_all()
    return injected, [answers[at] for at in range(len(pairs))], store, truth


def test_there_is_one_rematch_whatever_fails(figures: Figures) -> None:
    found: Counter[str] = Counter()
    old = finished()
    for seed in range(HISTORIES):
        injected, answers, store, truth = simulate(seed)
        found.update(injected)
        (new,) = {game for game, _ in answers}
        assert store.created == {new}
        seats = [seat for _, seat in answers]
        assert [each.seat for each in seats] == [2, 2, 0, 0, 1, 1]
        assert [seats[at].token for at in (0, 2, 4)] == [seats[at].token for at in (1, 3, 5)]
        verdict = Verdict()
        read = {game: read_game(truth, game, verdict) for game in (old.id, new)}
        assert verdict.complaints == []
        told = read[old.id]
        assert told is not None
        assert told[0].rematch == new
        assert [each.event for each in told[1] if isinstance(each.event, Rematched)] == [Rematched(new)]
        begun = read[new]
        assert begun is not None
        assert [type(each.event) for each in begun[1]] == [Created, Dealt]
        access = service(truth, truth, Random(0), SimulatedTime(), (b"any",)).access
        assert [access.authenticate(new, each.token).seat for each in seats] == [each.seat for each in seats]
    assert all(found[fault.value] for fault in Fault), found
    figures("simulated rematches", found)
