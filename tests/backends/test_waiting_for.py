"""Who has to be called: the feed, the list and the messages say the same, by ``summaries.awaited``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
import redis

from service.backends.webhooks.messages import Message, game_messages
from service.engine.presence import Left, Returned, TimedOut
from service.games.model.game_events import GameEvent
from service.games.model.seats import BOT, Seat
from tests.backends.owned import APP
from tests.backends.test_feed import Table

REFS = ("anna", "ben", "cleo")


@pytest.fixture
def table(empty_server: redis.Redis) -> Table:
    return Table(empty_server)


@pytest.fixture
def game(table: Table) -> str:
    return table.create(REFS)


def note(table: Table, game: str, *events: GameEvent) -> None:
    table.repository.transactions.transact(table.game(game), lambda current: (current, events))


def with_bot(table: Table, game: str, seat: int) -> None:
    """Give this seat to a computer player; the event is only there to have the change published."""
    bot = Seat(BOT, "Rosa", level="greedy")
    table.repository.transactions.transact(
        table.game(game), lambda current: (current.with_seat(seat, bot), [Left(seat), Returned(seat)])
    )


def play_until_turn(table: Table, game: str, seat: int) -> int:
    """Play on until it is the turn of this seat; returns the version before the last move."""
    while True:
        version = table.game(game).version
        table.play(game)
        if table.game(game).state.turn == seat:
            return version


def listed(table: Table) -> dict[str, Any]:
    (game,) = table.published.games()
    return game


def waiting(table: Table, ref: str) -> list[str]:
    return table.published.ids(APP, player_ref=ref, waiting=True)


def messages(table: Table, game: str, after: int) -> list[Message]:
    current = table.game(game)
    events = table.repository.histories.history(current)
    return game_messages("endpoint", current, events[after - 1].to_act, events[after:])


def assert_called(table: Table, game: str, seats: Sequence[int]) -> None:
    """Feed and list name these seats, whoever may move; and the list by person has the game for them alone."""
    table.publish(game)
    expected = [{"seat": seat, "ref": REFS[seat]} for seat in seats]
    item, entry = table.items()[-1], listed(table)
    assert item["waiting_for"] == entry["waiting_for"] == expected
    assert item["to_act"] == entry["to_act"] == list(table.game(game).to_act)
    for seat, ref in enumerate(REFS):
        assert waiting(table, ref) == ([game] if seat in seats else [])


def test_a_person_on_turn_is_called_by_all_three(table: Table, game: str) -> None:
    before = play_until_turn(table, game, 1)
    assert_called(table, game, [1])
    (turn,) = messages(table, game, before)
    assert json.loads(turn.body)["data"]["waiting_for"] == [{"seat": 1, "ref": "ben"}]


def test_a_computer_player_is_not_called(table: Table, game: str) -> None:
    with_bot(table, game, 1)
    before = play_until_turn(table, game, 1)
    assert_called(table, game, [])
    assert messages(table, game, before) == []


def test_who_is_away_is_not_called_and_is_again_when_back_and_nobody_once_all_have_left(
    table: Table, game: str
) -> None:
    note(table, game, Left(1))
    before = play_until_turn(table, game, 1)
    assert_called(table, game, [])
    assert messages(table, game, before) == []
    note(table, game, Returned(1))
    assert_called(table, game, [1])
    before = table.game(game).version
    note(table, game, Left(0), Left(1), Left(2))
    assert_called(table, game, [])
    assert messages(table, game, before) == []


def test_the_seat_whose_time_is_over_is_not_called_while_its_turn_is_played_for_it(table: Table, game: str) -> None:
    play_until_turn(table, game, 1)
    before = table.game(game).version
    note(table, game, TimedOut(1, "move"))
    assert_called(table, game, [])
    (timed_out,) = messages(table, game, before)
    data = json.loads(timed_out.body)["data"]
    assert (timed_out.type, data["to_act"], data["waiting_for"]) == ("game.timed_out", [1], [])


def test_after_a_round_the_people_who_are_there_are_called(table: Table, game: str) -> None:
    with_bot(table, game, 0)
    note(table, game, Left(1))
    while table.game(game).state.phase != "round_over":
        before = table.game(game).version
        table.play(game)
    assert table.game(game).to_act == (0, 1, 2)
    assert_called(table, game, [2])
    (over,) = messages(table, game, before)
    data = json.loads(over.body)["data"]
    assert (data["to_act"], data["waiting_for"]) == ([0, 1, 2], [{"seat": 2, "ref": "cleo"}])


def test_a_list_tells_who_is_away(table: Table, game: str) -> None:
    note(table, game, Left(1))
    table.publish(game)
    assert [player.get("away") for player in listed(table)["players"]] == [None, True, None]
    note(table, game, Returned(1))
    table.publish(game)
    assert [player.get("away") for player in listed(table)["players"]] == [None] * 3
