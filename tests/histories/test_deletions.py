"""Simulated histories in which games are deleted while others play them: what is deleted stays deleted.

The rules are about real time: once one client was told that a game is deleted, no request that begins later is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import pytest
from greenlet import greenlet

from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.errors import Gone, unauthorized
from service.games.model.seats import HUMAN, OPEN_SEAT
from service.games.store.codec import encode_tombstone
from service.redis.shards import shard_of
from service.web.view.serializers import created_game_json
from tests.conftest import Figures
from tests.histories.clients import Client, Position, Response
from tests.histories.history import Operation, OperationResult, Outcome
from tests.histories.simulation import (
    TTL,
    WORKERS,
    ServiceGateway,
    Simulation,
    _idempotency_key,
    _made,
    _respond,
    _yield,
)
from tests.support import lanes
from tests.support.stores.memory_store import MemoryStore, _Game

pytestmark = pytest.mark.gate

ALLOWED = ("gone", "storage_unavailable", "outcome_unknown", "key_reused")
"""What may be answered after a deletion. A reused key may be found first, and over HTTP is looked at again then."""
APP = "an application of the tests"
HISTORIES = lanes.fewer(150)


class OwnedGames(ServiceGateway):
    """Creates the games for an application, which deletes them."""

    def create(self, variant: str, names: Sequence[str | None], key: str | None) -> Response:
        def send() -> Response:
            seats = tuple([SeatRequest(OPEN_SEAT) if name is None else SeatRequest(HUMAN, name) for name in names])
            request = GameRequest(variant, seats, {}, app=APP)
            created, replayed = self._games.commands.create(request, _idempotency_key(key, names))
            made = _made(created.view.id, created_game_json(created), replayed=replayed, version=created.view.version)
            return Response(made, {each.seat: each.token for each in created.seats}, created.join_code)

        return _respond(send)

    def delete(self, game: str) -> OperationResult:
        def send() -> Response:
            access = self._games.access.authenticate_application(game, APP)
            if access is None:
                raise unauthorized()
            self._games.commands.delete(access.game)
            return Response(_made(game, {}, replayed=False))

        return _respond(send).result

    def view(self, game: str, token: Callable[[int], str | None], seat: int) -> Position | None:
        try:
            return super().view(game, token, seat)
        except Gone:
            return None


class Deletions(NamedTuple):
    """What came of a history: how many games were deleted for certain, and what was wrong."""

    deleted: int
    complaints: list[str]


def simulate(seed: int, store: MemoryStore | None = None) -> Deletions:
    """A history in which an application deletes games."""
    truth = MemoryStore(TTL) if store is None else store
    simulation = Simulation(seed, truth, ((b"secret",),))
    random, party = simulation._random, simulation.party
    gateways = [OwnedGames(simulation._worker(truth, (b"secret",), random.randrange(50))) for _ in range(WORKERS)]
    simulation._gateways = gateways  # type: ignore[assignment]
    deletions: list[Operation] = []

    def delete(game: str) -> OperationResult:
        return random.choice(gateways).delete(game)

    def delete_games() -> None:
        for _ in range(4):
            for _ in range(random.randrange(30)):
                _yield()
            if party.tables:
                game = random.choice(party.tables).game
                deletion = Operation(kind="token", game=game)
                deletions.append(deletion)
                for _ in range(random.randint(1, 3)):
                    party.history.attempt(deletion, partial(delete, game))

    def act_or_delete() -> None:
        client = Client(party, random, gateways)
        if random.random() < 0.4:
            delete_games()
        else:
            client.create()
            for _ in range(16):
                client.act()

    simulation._act = act_or_delete  # type: ignore[method-assign]
    simulation.run()
    assert greenlet.getcurrent().parent is None
    return judge(truth, deletions, party.history.operations, simulation.store.created)


def judge(
    store: MemoryStore, deletions: Sequence[Operation], operations: Sequence[Operation], games: set[str]
) -> Deletions:
    complaints = []
    deleted = 0
    for game in sorted(games):
        attempts = [each for deletion in deletions if deletion.game == game for each in deletion.attempts]
        others = [each for operation in operations if operation.game == game for each in operation.attempts]
        known = [each.ended for each in attempts if each.result.outcome is Outcome.MADE]
        known += [each.ended for each in (*attempts, *others) if each.result.code == "gone"]
        known_at = min(known, default=None)
        stored = store.read(game)
        is_deleted = stored is not None and stored.state == encode_tombstone(APP)
        if known_at is not None:
            deleted += 1
            if not is_deleted:
                complaints.append(f"{game}: it was told to be deleted, and is there")
            for each in others:
                if each.began > known_at and each.result.outcome is Outcome.MADE:
                    complaints.append(f"{game}: something was made after the deletion")
                if each.began > known_at and each.result.code not in ALLOWED:
                    complaints.append(f"{game}: {each.result.code or 'made'} after the deletion")
        if is_deleted and not attempts:
            complaints.append(f"{game}: nobody has deleted it")
        if is_deleted:
            page = store.event_range(game, 0, 1000)
            if page is None or page.events:
                complaints.append(f"{game}: its events are there")
            if shard_of(game) is not None and game not in store._reminders["outbox"]:
                complaints.append(f"{game}: nobody is told")
    return Deletions(deleted, complaints)


def test_what_is_deleted_stays_deleted_whatever_fails(figures: Figures) -> None:
    results = [simulate(seed) for seed in range(HISTORIES)]
    assert [complaint for each in results for complaint in each.complaints] == []
    deleted = sum([each.deleted for each in results])
    assert deleted > HISTORIES / 4
    figures("simulated deletions", {"histories": HISTORIES, "deleted games": deleted})


class _Forgetful(MemoryStore):
    """Lets a write that was under way win over a deletion."""

    def delete(self, game: str, tombstone: bytes, due: int, tenant: str) -> int | None:
        before: _Game | None = self._games.get(game)
        version = super().delete(game, tombstone, due, tenant)
        if before is not None and before.stored.version % 2:
            self._games[game] = before
        return version


def test_the_judge_detects_a_store_that_brings_games_back() -> None:
    with pytest.raises(AssertionError):
        assert not any([simulate(seed, _Forgetful(TTL)).complaints for seed in range(15)])
