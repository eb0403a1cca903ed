"""The challenges of remote players: who has not answered one is sent no game."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import orjson
import pytest

from service.backends.ports import CONFIRMED_MS
from service.workers.player_challenges import LONGEST_PAUSE_SECONDS, MOST_UNANSWERED, PlayerAnswer
from service.workers.remote_turns import TRIES
from tests.support.remote_games import APP
from tests.workers.remote_tables import Asked, Behaviour, RemoteTable, answers_the_challenge, nothing, says

pytestmark = pytest.mark.gate

NEW = "https://new.example/"
CHALLENGE, MOVE = "webhook.challenge", "game.move"


def as_json(asked: Asked) -> PlayerAnswer:
    return PlayerAnswer(201, orjson.dumps({"challenge": asked.data["challenge"], "more": 1}))


def changed(change: Callable[[PlayerAnswer], PlayerAnswer]) -> Behaviour:
    """The challenge as it is answered, with a change."""
    return lambda asked: change(answers_the_challenge(asked))


UNANSWERED: dict[str, Behaviour] = {
    "nothing": nothing,
    "the whole message": lambda asked: PlayerAnswer(200, asked.body),
    "an empty success": says(204),
    "another challenge": says(200, b'{"challenge": "0123456789abcdef0123456789abcdef"}'),
    "a list": says(200, b"[]"),
    "an error with it": changed(lambda answer: answer._replace(status=500)),
    "a redirect with it": changed(lambda answer: answer._replace(status=307)),
    "cut off after it": changed(lambda answer: answer._replace(complete=False)),
}


def types(table: RemoteTable) -> list[str]:
    return [each.type for each in table.bot.asked]


@pytest.mark.parametrize("behaviour", [answers_the_challenge, as_json])
def test_a_new_url_is_challenged_once_and_then_asked_for_the_move(behaviour: Behaviour) -> None:
    table = RemoteTable(behaviour)
    for _ in range(2):
        assert table.make(table.new(url=NEW)) == "moved"
    assert types(table) == [CHALLENGE, MOVE, MOVE]
    challenge = table.bot.asked[0]
    assert challenge.data.keys() == {"challenge"}
    assert challenge.app == APP
    assert challenge.remote == table.bot.asked[1].remote
    assert table.slept == []


@pytest.mark.parametrize("name", UNANSWERED)
def test_who_answers_no_challenge_is_sent_no_game_and_a_computer_player_makes_the_turn(name: str) -> None:
    table = RemoteTable(*[UNANSWERED[name]] * TRIES)
    game_id = table.new(url=NEW)
    assert table.make(game_id) == "given_up"
    assert types(table) == [CHALLENGE] * TRIES
    assert len({each.data["challenge"] for each in table.bot.asked}) == TRIES
    assert len({each.id for each in table.bot.asked}) == TRIES
    assert game_id not in str([each.body for each in table.bot.asked])
    assert table.count("remote_answers_total", outcome="challenge") == TRIES
    assert not table.confirmed.is_confirmed(APP, NEW, table.now)


def test_a_program_that_starts_a_few_seconds_after_its_game_is_not_too_late() -> None:
    table = RemoteTable(nothing, nothing, answers_the_challenge)
    assert table.make(table.new(url=NEW)) == "moved"
    assert types(table) == [CHALLENGE] * 3 + [MOVE]


def test_a_url_is_challenged_again_when_its_answer_is_old() -> None:
    table = RemoteTable(answers_the_challenge)
    table.make(table.new(url=NEW))
    table.now += CONFIRMED_MS
    table.bot.behaviours = [answers_the_challenge]
    assert table.make(table.new(url=NEW)) == "moved"
    assert types(table) == [CHALLENGE, MOVE] * 2


def test_the_same_url_is_confirmed_for_each_application_by_itself() -> None:
    table = RemoteTable(answers_the_challenge)
    table.make(table.new(url=NEW))
    table.bot.behaviours = [nothing] * TRIES
    assert table.make(table.new(url=NEW, app="B" * 24)) == "given_up"
    assert types(table) == [CHALLENGE, MOVE] + [CHALLENGE] * TRIES


def test_the_pauses_between_challenges_of_a_url_grow_to_a_minute() -> None:
    table = RemoteTable(*[nothing] * 100)
    remote = table.turn(table.new(url=NEW)).remote
    challenges, times = table.turns._challenges, list[int]()
    for _ in range(3_000):
        sent = len(table.bot.asked)
        challenges.may_be_asked(APP, remote)
        if len(table.bot.asked) > sent:
            times.append(table.now)
        table.now += 100
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses[:7] == [500, 1000, 2000, 4000, 8000, 16_000, 32_000]
    assert set(pauses[7:]) == {LONGEST_PAUSE_SECONDS * 1000}


def test_an_application_cannot_have_strangers_posted_to_beyond_a_bound() -> None:
    """However many URLs it names; those that answer do not count, nor do other applications."""
    table = RemoteTable()
    table.bot.behaviours = [answers_the_challenge] * 10 + [nothing] * 200
    remote = table.turn(table.new(url=NEW)).remote
    challenges = table.turns._challenges

    def challenge(app: str, numbers: range) -> int:
        before = len(table.bot.asked)
        for number in numbers:
            challenges.may_be_asked(app, remote._replace(url=f"{NEW}{number}"))
        return len(table.bot.asked) - before

    assert challenge(APP, range(200)) == 10 + MOST_UNANSWERED
    assert challenge("B" * 24, range(5)) == 5
    table.now += 60_000
    assert challenge(APP, range(1000, 1200)) == MOST_UNANSWERED
