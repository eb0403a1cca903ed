"""Hints and reviews beside the moves of computer players, in this process: who waits for whom."""

from __future__ import annotations

import pytest
import redis

from service.learning.review import Review
from service.learning.store import RedisLearning, decode_review, position_of
from service.workers.bot_worker import RoundEvents
from service.workers.learning import Advisor, Hints, Reviews
from tests.support.stores.redis_stores import learning_of
from tests.workers.tables import InProcess, request

pytestmark = pytest.mark.gate


@pytest.fixture(autouse=True)
def few_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge roughly, as nothing here depends on it; and keep each decision of a review."""
    monkeypatch.setattr("service.learning.analysis._MAX_WORLDS", 2)
    monkeypatch.setattr("service.workers.learning.KEEP_SECONDS", 0.0)


@pytest.fixture
def table(empty_server: redis.Redis) -> InProcess:
    return InProcess(server=empty_server)


def stored(table: InProcess) -> RedisLearning:
    return learning_of(table.repository.store)


def advisor(table: InProcess) -> Advisor:
    events = RoundEvents(table.repository)
    hints = Hints(table.queue, table.repository, stored(table), events)
    reviews = Reviews(table.queue, table.repository, stored(table))
    return Advisor(table.worker, hints, reviews)


def look_at_once(worker: Advisor) -> None:
    """As if the time until the next look were over."""
    worker._hints._next_poll = worker._reviews._next_poll = 0.0


def reviewed_match(table: InProcess, network: str = "", seed: str = "seed", limit: int = 1) -> str:
    """A match that is over, short by default, whose review was asked for."""
    wanted = request("domino", "gg", seed=seed, network=network)._replace(options={"limit": limit})
    game = table.create(wanted).view.id
    table.play_out(game)
    assert stored(table).review(game, table.game(game).tenant, begin=True)
    return game


def busy(table: InProcess) -> str:
    """A long match that computer players go on with whenever they may."""
    return table.create(request("domino", "rr")).view.id


def known(table: InProcess, game: str) -> Review:
    """What is kept of a review."""
    found = stored(table).review(game, table.game(game).tenant)
    assert found is not None
    return decode_review(found.data)


def decisions(table: InProcess, game: str) -> int:
    """How many decisions are judged."""
    return len(known(table, game).decisions)


def is_complete(table: InProcess, game: str) -> bool:
    found = stored(table).review(game, table.game(game).tenant)
    return found is not None and found.is_complete


def test_hints_and_moves_take_turns(table: InProcess) -> None:
    asked = []
    for number in range(40):
        created = table.create(request("domino", "pg", seed=f"seed {number}"))
        game = table.game(created.view.id)
        if game.state.turn == 0:
            assert stored(table).request_hint(game.id, game.tenant, position_of(game)) == "requested"
            asked.append(game)
    running, worker = busy(table), advisor(table)
    assert len(asked) > 3
    for computed in range(1, len(asked) + 1):
        version = table.game(running).version
        look_at_once(worker)
        for source in table.worker._sources:
            source.next_poll = 0.0
        worker.step()
        there = [each for each in asked if not stored(table).is_hint_requested(each.id, position_of(each))]
        assert len(there) == computed
        assert table.game(running).version > version


def test_a_review_waits_for_moves_but_goes_on_now_and_then(table: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.workers.learning.REVIEW_SECONDS", 1e9)
    game, running, worker = reviewed_match(table), busy(table), advisor(table)
    for _ in range(20):
        look_at_once(worker)
        assert worker.step() == 0
    assert decisions(table, game) == 1  # in the first step
    monkeypatch.setattr("service.workers.learning.REVIEW_SECONDS", 0.0)
    worker._review_due = 0.0
    for judged in range(2, 5):
        look_at_once(worker)
        worker.step()
        assert decisions(table, game) == judged
    assert table.game(running).status != "finished"


def test_a_tenant_with_many_reviews_does_not_keep_another_waiting(table: InProcess) -> None:
    many = [reviewed_match(table, "many", f"seed {number}") for number in range(6)]
    one = reviewed_match(table, "one")
    worker = advisor(table)
    while not is_complete(table, one):
        look_at_once(worker)
        worker.step()
    assert sum(decisions(table, each) for each in many) <= decisions(table, one) + 3
    while not all(is_complete(table, each) for each in many):
        look_at_once(worker)
        worker.step()


def test_a_review_of_a_deleted_game_is_dropped(table: InProcess) -> None:
    game, worker = reviewed_match(table), advisor(table)
    worker.step()
    table.repository.store.delete(game, b'[0,"an application"]', table.now, "")
    worker._reviews.forget({game})
    assert not worker._reviews._waiting
    look_at_once(worker)
    assert worker.step() > 0


def test_a_match_is_reviewed_up_to_a_number_of_decisions(table: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.workers.learning.MAX_DECISIONS", 3)
    game, worker = reviewed_match(table), advisor(table)
    while not is_complete(table, game):
        look_at_once(worker)
        worker.step()
    assert decisions(table, game) == 3


def finish(table: InProcess, worker: Advisor, game: str) -> Review:
    """The review, when it is complete."""
    while not is_complete(table, game):
        look_at_once(worker)
        worker.step()
    return known(table, game)


def test_a_review_goes_on_after_a_round_whose_luck_is_known(table: InProcess) -> None:
    whole = finish(table, advisor(table), reviewed_match(table, limit=30))
    assert whole.rounds
    assert len(whole.rounds) > 1
    game, first = reviewed_match(table, limit=30), advisor(table)
    while not known(table, game).rounds:
        look_at_once(first)
        first.step()
    first._reviews.close()  # as at the end of a lease
    assert finish(table, advisor(table), game) == whole
