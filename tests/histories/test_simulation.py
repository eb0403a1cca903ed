"""Thousands of simulated histories: whatever fails between workers and store, nothing is lost or made twice.

The checker is tested, too: it detects every store that breaks its promises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import pytest

from service.engine.referee import legal_moves
from service.games.model.errors import SecretChanged
from service.games.ports import Commit, PriorWrite, StoredGame, WriteRequest
from tests.conftest import Figures
from tests.histories.checker import Verdict, check_answers, read_game
from tests.histories.faults import Fault
from tests.histories.history import Attempt, Operation, OperationResult, Outcome
from tests.histories.simulation import TTL, simulate
from tests.records.hosted import HostedMatch
from tests.support import lanes
from tests.support.stores.memory_store import MemoryStore, _Game

pytestmark = pytest.mark.gate

PARTS = 8
HISTORIES = len(lanes.in_lane(range(2000), quick=range(400))) // PARTS
"""Of a part; in the gate as many as find each of the broken stores below."""


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_is_lost_or_made_twice_whatever_fails(part: int, figures: Figures) -> None:
    figures("simulated histories", judged(range(part * HISTORIES, (part + 1) * HISTORIES)))


def test_a_seed_gives_one_history() -> None:
    assert simulate(5) == simulate(5)


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_game_that_goes_on_while_it_is_read_is_read_again(goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    match = HostedMatch("block", (None, None), seed=1)
    store, early, verdict = match.store, match.store.read(match.id), Verdict()
    match.move(match.game.to_act[0], legal_moves(match.game.rules, match.game.state, match.game.to_act[0])[0])
    stale = iter([early] if goes_on else [early, early])
    monkeypatch.setattr(store, "read", lambda game: next(stale, None) or MemoryStore.read(store, game))
    read_game(store, match.id, verdict)
    assert bool(verdict.wrong) is not goes_on


class ForgetsWrites(MemoryStore):
    """Does not recognise a write that it has made."""

    def _record_write(
        self, game: str, before: _Game, state: bytes, events: Sequence[bytes], write: WriteRequest
    ) -> None:
        super()._record_write(game, before, state, events, WriteRequest(b"", write.idempotency))


class ChecksIdempotencyLate(MemoryStore):
    """Finds writes by their idempotency key, but not while committing."""

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        return super().commit(game, commit._replace(write=WriteRequest(commit.write.id), prefix=b""))


class ForgetsIdempotency(ChecksIdempotencyLate):
    """Does not recognise an idempotency key."""

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        return None


class LosesWrites(MemoryStore):
    """Reports success for every tenth commit without making it."""

    writes = 0

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        self.writes += 1
        if self.writes % 10 == 0:
            return None
        return super().commit(game, commit)


class LastWriteWins(MemoryStore):
    """Overwrites what others committed meanwhile, in games without idempotency keys."""

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        current = self._find(game)
        expected = commit.expected
        keyed = commit.write.idempotency is not None or any(name == game for name, _ in self._idempotency)
        if current is not None and current.stored.version > expected and not keyed:
            before = StoredGame(expected, current.stored.state)
            self._games[game] = current._replace(stored=before, events=current.events[:expected])
        return super().commit(game, commit._replace(prefix=b""))


class SkipsEvents(MemoryStore):
    """Keeps the state, but not every event."""

    def _record_write(
        self, game: str, before: _Game, state: bytes, events: Sequence[bytes], write: WriteRequest
    ) -> None:
        super()._record_write(game, before, state, events, write)
        current = self._games[game]
        if current.stored.version > 5:
            self._games[game] = current._replace(events=current.events[:-1])


class LosesCompactedEvents(MemoryStore):
    """Loses events when it compacts."""

    def compact(self, game: str) -> None:
        current = self._find(game)
        if current is not None and len(current.events) > 5:
            self._games[game] = current._replace(events=current.events[1:])


def lost(verdict: Verdict) -> list[str]:
    return verdict.lost


def doubled(verdict: Verdict) -> list[str]:
    return verdict.doubled


def wrong(verdict: Verdict) -> list[str]:
    return verdict.wrong


@pytest.mark.parametrize(
    ("store", "complaints"),
    [
        *((ForgetsWrites, doubled), (ForgetsIdempotency, doubled), (ChecksIdempotencyLate, doubled)),
        *((LosesWrites, lost), (LastWriteWins, lost), (SkipsEvents, wrong), (LosesCompactedEvents, wrong)),
    ],
)
def test_a_store_that_breaks_its_promise_is_detected(
    store: type[MemoryStore], complaints: Callable[[Verdict], list[str]]
) -> None:
    assert any(complaints(simulate(seed, store(TTL)).verdict) for seed in range(400))


def test_workers_that_do_not_share_their_secret_are_detected() -> None:
    def simulate_some() -> None:
        for seed in range(100):
            simulate(seed, secrets=((b"one",), (b"two",)))

    with pytest.raises(SecretChanged):
        simulate_some()


def test_workers_that_rotate_their_secret_repeat_every_answer() -> None:
    for seed in range(100):
        verdict = simulate(seed, secrets=((b"one", b"two"), (b"two", b"one"))).verdict
        assert [*verdict.lost, *verdict.doubled, *verdict.wrong] == [], seed


def judged(seeds: Iterable[int]) -> Counter[str]:
    """The figures of these histories; fails on the first complaint."""
    figures: Counter[str] = Counter()
    for seed in seeds:
        verdict, injected = simulate(seed)
        assert not verdict.complaints, (seed, verdict.complaints)
        figures["histories"] += 1
        figures.update(verdict.figures)
        figures.update(injected)
    assert figures["histories"]
    assert all(figures[fault.value] for fault in Fault), figures
    return figures


@pytest.mark.parametrize(("field", "complaints"), [("deadline", 0), ("updated_at", 1)])
def test_a_repeated_answer_may_have_another_deadline_and_nothing_else(field: str, complaints: int) -> None:
    """An outage between the two postpones a deadline, and it is shown as it will be applied."""
    operation = Operation(kind="move", game="g", seat=0, key="k")
    for minute, replayed in ((1, False), (2, True)):
        body = b'{"turn":{"seat":1,"%b":"2026-01-06T19:0%d:00.000Z"}}' % (field.encode(), minute)
        result = OperationResult(Outcome.MADE, "", "g", body, replayed, 7)
        operation.attempts.append(Attempt(minute, minute, result))
    verdict = Verdict()
    check_answers([operation], verdict)
    assert len(verdict.complaints) == complaints
