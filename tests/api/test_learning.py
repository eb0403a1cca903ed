"""Hints and reviews: who gets them, what is computed for them, and that a hint tells nothing hidden."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Final

import pytest
import redis
from flask import Flask
from prometheus_client import CollectorRegistry
from werkzeug.test import TestResponse

from service.bots.knowledge import Observation, observe
from service.engine.variant import Rules
from service.games.model.schedule import Lifetimes
from service.games.reminders import ReminderKind
from service.games.store.admission import StoragePolicy
from service.games.store.redis_store import RedisStore
from service.learning import queries as learning
from service.learning.analysis import estimates
from service.redis import keys
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from service.workers.bot_worker import RoundEvents
from service.workers.consumer import Queue
from service.workers.learning import Hints, Reviews
from service.workers.metrics import WorkerMetrics
from tests.api.client import Api, Table, location_of, refusal, status_and_code
from tests.api.conftest import TTL_SECONDS
from tests.api.deals import deal
from tests.support.games import build_repository
from tests.support.stores.redis_stores import learning_of, redis_reminders
from tests.support.table import Json, match_finished
from tests.support.waiting import PATIENCE

KINDS: Final[tuple[ReminderKind, ...]] = ("hints", "reviews")
AGAINST_A_BOT: list[Json] = [{"name": "Ada"}, {"bot": "greedy"}]
HANDS = ("6-6 0-1 2-3 4-5 1-1 3-5 0-6", "0-0 0-2 0-3 0-4 0-5 1-2 1-3", "1-4 1-5 1-6 2-2 2-4 2-5 2-6")
"""Seat 0 opens with its double six whichever of the others seat 1 holds."""


class Bots:
    """What a bot worker does for who learns, step by step in this process."""

    def __init__(self, store: RedisStore, url: str) -> None:
        reminders = redis_reminders(SingleNodeTopology(connect(url)))
        policy = StoragePolicy(Lifetimes.at_most(TTL_SECONDS * 1000))
        repository = build_repository(store, reminders.server_time, os.urandom, policy)
        self.registry = CollectorRegistry()
        self._reminders, self._repository = reminders, repository
        queue = Queue(reminders, reminders.server_time, WorkerMetrics(self.registry))
        learning = learning_of(store)
        self.hints = Hints(queue, repository, learning, RoundEvents(repository))
        self.reviews = Reviews(queue, repository, learning)

    def until(self, ask: Callable[[], TestResponse]) -> TestResponse:
        """Work until the answer is no longer 202."""
        deadline = time.monotonic() + PATIENCE
        while (answer := ask()).status_code == 202:
            assert time.monotonic() < deadline
            self.hints.step()
            self.reviews.step()
        return answer

    def settle(self, table: Table) -> None:
        """Work until nothing is to be done: after a step that took longer than its lease, the same comes once more."""
        deadline = time.monotonic() + PATIENCE
        while self.is_asked(table):
            assert time.monotonic() < deadline
            self.hints.step()
            self.reviews.step()

    def is_asked(self, table: Table) -> bool:
        """Whether a hint or a review of this game is to be computed."""
        game = self._repository.reader.load(table.id)
        assert game is not None
        return any(self._reminders.is_set(kind, game.id, game.tenant) for kind in KINDS)

    def seen(self, table: Table, seat: int) -> tuple[Rules, Observation]:
        """The rules of this game, and what a seat has seen."""
        game = self._repository.reader.load(table.id)
        assert game is not None
        return game.rules, observe(game.rules, game.state, RoundEvents(self._repository).of(game), seat)

    def taken(self, kind: str) -> float:
        """How many reminders of this kind were taken."""
        return self.registry.get_sample_value("domino_reminder_lag_seconds_count", {"kind": kind}) or 0.0


@pytest.fixture
def bots(store: RedisStore, redis_url: str) -> Bots:
    return Bots(store, redis_url)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request waits for a hint."""
    monkeypatch.setattr(learning, "WAIT_SECONDS", 0.0)


def alone(api: Api, hidden: int = 1, **more: Any) -> Table:
    """A game of Block of a person at seat 0, on turn, and a computer player, which holds one of the other hands."""
    table = api.create("block", AGAINST_A_BOT, deals=[deal("block", HANDS[0], HANDS[hidden])], **more)
    assert table.view()["to_act"] == [0]
    return table


def hint(table: Table, **headers: str) -> TestResponse:
    return table.get("/hint", 0, **headers)


def finished(api: Api, key: str | None = None) -> Table:
    """A short match of two people that is over."""
    table = api.create("domino", 2, key=key, options={"limit": 1}, seed="short")
    api.play_until(table, match_finished, Random(1))
    return table


@pytest.mark.usefixtures("at_once")
def test_a_hint_rates_legal_moves_the_best_first_and_is_computed_once(api: Api, bots: Bots) -> None:
    table = alone(api)
    asked = [hint(table) for _ in range(5)]
    assert {answer.status_code for answer in asked} == {202}
    assert bots.is_asked(table)
    assert asked[0].get_json() == {"version": table.view()["version"], "moves": []}
    assert asked[0].headers["Retry-After"] == "1"
    found = bots.until(lambda: hint(table)).get_json()
    assert found["version"] == table.view()["version"]
    assert all(each["move"] in table.moves(0) for each in found["moves"])
    values = [each["estimate"] for each in found["moves"]]
    assert values == sorted(values, reverse=True)
    assert all(each["error"] >= 0 for each in found["moves"])
    bots.settle(table)
    assert [hint(table).get_json() for _ in range(3)] == [found] * 3
    assert not bots.is_asked(table)


def test_who_follows_hints_is_reviewed_in_other_worlds(api: Api, bots: Bots) -> None:
    """Else the estimates would be those of the hint, by which its move is the best."""
    table = alone(api, options={"opening": "rotate"})
    told = [each["estimate"] for each in bots.until(lambda: hint(table)).get_json()["moves"]]
    reviewed = [round(each.estimate, 2) for each in estimates(*bots.seen(table, 0))]
    assert len(reviewed) == len(told) > 1
    assert reviewed != told


def test_a_request_waits_for_its_hint(
    api: Api, bots: Bots, crowd: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "WAIT_SECONDS", PATIENCE)
    answer = crowd.submit(hint, alone(api))
    while not answer.done():
        bots.hints.step()
    assert answer.result().status_code == 200


def test_no_more_requests_wait_than_may(api: Api, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "WAIT_SECONDS", PATIENCE)
    places = app.extensions["domino"].learning._waiting
    held = 0
    while places.acquire(blocking=False):
        held += 1
    assert held == learning.MAX_WAITING
    began = time.monotonic()
    try:
        assert hint(alone(api)).status_code == 202
        assert time.monotonic() - began < PATIENCE
    finally:
        places.release(held)


@pytest.mark.usefixtures("at_once")
def test_a_hint_is_not_told_when_the_game_has_gone_on(api: Api, bots: Bots) -> None:
    table = alone(api)
    before = bots.until(lambda: hint(table)).get_json()
    table.move(0, before["moves"][0]["move"])
    assert status_and_code(hint(table)) == (409, "not_your_turn")


@pytest.mark.usefixtures("at_once")
def test_a_hint_asked_for_before_a_move_is_not_computed_after_it(api: Api, bots: Bots, server: redis.Redis) -> None:
    table = alone(api)
    hint(table)
    asked = server.get(keys.learning(table.id)[0])
    table.move(0, table.moves(0)[0])
    bots.hints.step()
    assert bots.taken("hints") == 1
    assert server.get(keys.learning(table.id)[0]) == asked
    bots.settle(table)
    assert status_and_code(hint(table)) == (409, "not_your_turn")


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_hint_and_review_are_in_the_language_of_the_request(api: Api, bots: Bots, language: str) -> None:
    table = alone(api)
    answer = bots.until(lambda: hint(table, Accept_Language=language))
    assert answer.headers["Content-Language"] == language
    words = {"en": "the next best", "de": "nächstbeste", "es": "siguiente"}
    assert words[language] in answer.get_json()["text"] or len(answer.get_json()["moves"]) == 1


@pytest.mark.usefixtures("at_once")
def test_two_deals_that_look_alike_to_the_seat_have_the_same_hint(api: Api, bots: Bots) -> None:
    here, there = alone(api, 1), alone(api, 2)
    for table in (here, there):
        assert table.view(0)["you"]["hand"] == here.view(0)["you"]["hand"]
    answers = [bots.until(lambda: hint(table)) for table in (here, there)]  # noqa: B023 # called at once
    assert (answers[0].status_code, answers[0].data) == (200, answers[1].data)
    assert list(answers[0].headers) == list(answers[1].headers)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "others",
    [[{"name": "Bo"}], [{"bot": "greedy"}, {"name": "Bo"}], [{"open": True}], [{"bot": "expert"}, {"open": True}]],
)
def test_nobody_gets_a_hint_among_people(api: Api, others: list[Json], server: redis.Redis) -> None:
    table = api.create("block", [{"name": "Ada"}, *others])
    for seat in table.tokens:
        assert refusal(table.get("/hint", seat)) == (403, "forbidden", "hint_among_people")
    assert not server.keys(f"*{table.id}*:hint")


@pytest.mark.usefixtures("at_once")
def test_only_the_seat_on_turn_gets_a_hint(api: Api, app_key: str) -> None:
    table = api.create("block", AGAINST_A_BOT, key=app_key)
    for token in (None, app_key, alone(api).tokens[0]):
        assert status_and_code(api.get(f"{table.path}/hint", token=token)) == (401, "unauthorized")


@pytest.mark.usefixtures("at_once")
def test_a_hint_is_gone_with_its_game(api: Api, app_key: str, bots: Bots, server: redis.Redis) -> None:
    table = alone(api, key=app_key)
    assert hint(table).status_code == 202
    assert server.keys(f"*{table.id}*:hint")
    assert api.delete(table.path, token=app_key).status_code == 204
    assert status_and_code(hint(table)) == (410, "gone")
    bots.hints.step()
    assert not server.keys(f"*{table.id}*:hint")
    assert status_and_code(hint(table)) == (410, "gone")


@pytest.mark.gate
def test_a_review_judges_every_decision_once(api: Api, bots: Bots) -> None:
    table = finished(api)
    assert status_and_code(table.get("/review", 0)) == (404, "not_found")
    for seat in (0, 1, 0):
        begun = api.post(f"{table.path}/review", token=table.tokens[seat])
        assert (begun.status_code, location_of(begun)) == (202, f"{table.path}/review")
    assert bots.is_asked(table)
    waiting = table.get("/review", 0)
    assert (waiting.status_code, waiting.get_json()) == (202, {"players": [], "decisions": []})
    assert waiting.headers["Retry-After"] == "2"
    found = bots.until(lambda: table.get("/review", 0)).get_json()
    played = {each["version"]: each for each in table.get("/events").get_json()["events"]}
    assert found["decisions"]
    for each in found["decisions"]:
        event = played[each["version"]]
        assert (event["seat"], event["data"].get("tile")) == (each["seat"], each["move"].get("tile"))
        assert (each["best"] != each["move"]) == each["text"].startswith("A better move")
    assert [each["seat"] for each in found["players"]] == [0, 1]
    for player in found["players"]:
        own = [each["given_away"] for each in found["decisions"] if each["seat"] == player["seat"]]
        assert player["decisions"] == len(own)
        assert player["given_away"] == pytest.approx(sum(own) / max(len(own), 1), abs=0.02)
        assert player["result"] == pytest.approx(player["luck"] + player["skill"], abs=1e-9)
        assert 0 < player["luck_error"] < player["skill_error"]
    assert [sum(each[name] for each in found["players"]) for name in ("result", "luck", "skill")] == [0, 0, 0]
    totals = [each["total"] for each in table.view()["players"]]
    assert found["players"][0]["result"] == totals[1] - totals[0]  # the fewest points win
    bots.settle(table)
    assert api.post(f"{table.path}/review", token=table.tokens[1]).status_code == 202
    assert table.get("/review", 1).get_json() == found
    assert not bots.is_asked(table)


@pytest.mark.gate
def test_a_review_is_for_seats_and_the_application(api: Api, app_key: str, other_key: str, bots: Bots) -> None:
    table = finished(api, app_key)
    for ask in (api.get, api.post):
        for token in (None, other_key, alone(api).tokens[0]):
            assert status_and_code(ask(f"{table.path}/review", token=token)) == (401, "unauthorized")
    assert api.post(f"{table.path}/review", token=app_key).status_code == 202
    answer = bots.until(lambda: api.get(f"{table.path}/review", token=app_key))
    assert answer.get_json() == table.get("/review", 1).get_json()


def test_only_a_finished_match_is_reviewed(api: Api, server: redis.Redis) -> None:
    table = alone(api)
    assert status_and_code(api.post(f"{table.path}/review", token=table.tokens[0])) == (409, "not_finished")
    assert status_and_code(table.get("/review", 0)) == (404, "not_found")
    assert not server.keys(f"*{table.id}*:review")


def test_a_review_is_gone_with_its_game(api: Api, app_key: str, bots: Bots, server: redis.Redis) -> None:
    table = finished(api, app_key)
    assert api.post(f"{table.path}/review", token=app_key).status_code == 202
    bots.reviews.step()
    assert api.delete(table.path, token=app_key).status_code == 204
    for _ in range(3):
        bots.reviews.step()
    assert not server.keys(f"*{table.id}*:review")
    assert status_and_code(table.get("/review", 0)) == (410, "gone")


@pytest.mark.gate
def test_a_review_goes_on_where_another_worker_was_killed(
    api: Api, bots: Bots, store: RedisStore, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.workers.learning.KEEP_SECONDS", 0.0)
    table = finished(api)
    api.post(f"{table.path}/review", token=table.tokens[0])
    for _ in range(4):
        bots.reviews.step()
    bots.reviews.close()  # as at the end of a lease
    other = Bots(store, redis_url)
    interrupted = other.until(lambda: table.get("/review", 0)).get_json()
    again = finished(api)
    api.post(f"{again.path}/review", token=again.tokens[0])
    whole = other.until(lambda: again.get("/review", 0)).get_json()
    assert json.dumps(interrupted) == json.dumps(whole)
