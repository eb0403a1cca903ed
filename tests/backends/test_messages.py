"""What messages say: what a spectator may know and the refs of the application, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.backends.webhooks.messages import (
    MESSAGE_TYPES,
    PING,
    TURN,
    Message,
    game_messages,
    message_again,
    message_id,
    sample_data,
    sample_message,
)
from service.engine.events import Dealt
from service.engine.presence import Left, Returned
from service.engine.variants import variants
from service.games.model.clock import ClockSettings
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope, Reminded
from service.games.model.seats import BOT, Seat, Seats
from service.games.model.views import standings, view_event
from tests.backends.owned import START, Owned
from tests.support.stores.memory_store import MemoryStore
from tools.openapi.messages import MESSAGES


def owned() -> Owned:
    return Owned(MemoryStore(86_400, lambda: START / 1000), lambda: START)


@pytest.fixture
def table() -> Owned:
    return owned()


def history(table: Owned, game: str) -> list[EventEnvelope]:
    return table.repository.histories.history(table.game(game))


def messages(table: Owned, game: str, after: int = 0) -> list[Message]:
    events = history(table, game)
    before = events[after - 1].to_act or () if after else ()
    return game_messages("endpoint", table.game(game), before, events[after:])


def data(message: Message) -> dict[str, Any]:
    return dict(json.loads(message.body)["data"])


def test_a_turn_is_told_with_the_refs_of_the_game_and_its_player(table: Owned) -> None:
    game = table.create(("anna", None), ref="table-7")
    (turn,) = messages(table, game)
    current = table.game(game)
    seat = current.state.turn
    ref = {"ref": "anna"} if seat == 0 else {}
    assert data(turn) == {
        "game_id": game,
        "ref": "table-7",
        "variant": "domino",
        "version": 2,
        "seat": seat,
        "to_act": [seat],
        "waiting_for": [{"seat": seat, **ref}],
        **({"player_ref": "anna"} if seat == 0 else {}),
    }
    assert json.loads(turn.body)["timestamp"] == "2027-01-15T08:00:00.000Z"


def test_the_same_message_has_the_same_id_and_others_have_others(table: Owned) -> None:
    game = table.create()
    first, again = messages(table, game), messages(table, game)
    assert first == again
    assert len({message_id(*words) for words in (("a", "bc"), ("ab", "c"), ("abc",), ("a", "b", "c"))}) == 4
    assert "." not in first[0].id
    for _ in range(200):
        table.play(game)
    every = [each.id for after in range(table.game(game).version) for each in messages(table, game, after)]
    told = {(data(each)["version"], each.type) for each in messages(table, game)}
    assert len(set(every)) == len(told)


def test_every_message_of_a_match_is_made_again_as_it_was_told() -> None:
    now = START
    table = Owned(MemoryStore(86_400, lambda: START / 1000), lambda: now)
    game = table.create(("anna", "ben"), variant="dominospiel", clock=ClockSettings(bank=600_000, increment=1_000))
    told: list[tuple[Message, EventEnvelope]] = []
    after, before = 0, tuple[int, ...]()
    while table.game(game).status != "finished":
        now += 7_000
        table.play(game)
        events = history(table, game)
        by_version = {each.version: each for each in events}
        new = game_messages("endpoint", table.game(game), before, events[after:])
        told += [(each, by_version[each.version]) for each in new]
        after, before = len(events), events[-1].to_act
    current = table.game(game)
    assert {message.type for message, _ in told} == {"game.turn", "game.round_over", "game.finished"}
    for message, event in told:
        then = table.repository.histories.at_version(current, message.version) if message.type == TURN else current
        again = message_again("endpoint", then, event, message.type)
        assert again is not None
        if message.type == "game.round_over":  # it tells who is still to deal
            assert data(again) == data(message) | {"to_act": [], "waiting_for": []}
        else:
            assert again == message
    assert any("deadline" in data(message) for message, _ in told)
    assert message_again("endpoint", current, told[0][1], "game.deleted") is None


def test_that_the_time_of_a_turn_ends_soon_is_told_as_long_as_it_runs(table: Owned) -> None:
    game = table.create(clock=ClockSettings(turn=60_000, remind=20_000))
    began = table.game(game)
    (turn,) = messages(table, game, began.version - 1)
    table.repository.transactions.transact(began, lambda current: (current, [Reminded(began.state.turn or 0)]))
    told = messages(table, game, began.version - 1)
    assert [each.type for each in told] == ["game.turn", "game.deadline"]
    assert data(told[1]) == data(turn) | {"version": began.version + 1}
    event = history(table, game)[-1]
    while table.game(game).state.turn == began.state.turn:
        table.play(game)
    assert "game.deadline" not in {each.type for each in messages(table, game, began.version)}
    then = table.repository.histories.at_version(table.game(game), event.version)
    assert message_again("endpoint", then, event, "game.deadline") == told[1]


@pytest.mark.parametrize("kind", MESSAGE_TYPES)
def test_a_sample_has_the_form_of_a_message_and_says_what_it_is(kind: str) -> None:
    message = sample_message("endpoint", "msg_1", kind, START)
    body = json.loads(message.body)
    assert (message.id, message.type, body["type"]) == ("msg_1", kind, kind)
    assert body["timestamp"] == "2027-01-15T08:00:00.000Z"
    (described,) = [each for each in MESSAGES if each.name == kind]
    assert described.schema().load(body)
    if kind == PING:
        assert body["data"] == {"webhook": "endpoint"}
        return
    assert body["data"].pop("sample") is True
    assert body["data"].keys() == described.example["data"].keys()
    assert len(body["data"]["game_id"]) == len(owned().create())


def test_a_real_message_is_no_sample_and_has_the_form_of_one(table: Owned) -> None:
    game = table.create()
    seen = set()
    while table.game(game).status != "finished":
        table.play(game)
        for message in messages(table, game):
            real, sample = data(message), sample_data(message.type, START)
            assert "sample" not in real
            assert real.keys() | {"ref", "deadline"} == sample.keys() | {"ref", "deadline"}
            seen.add(message.type)
    assert {"game.turn", "game.round_over", "game.finished"} == seen


def test_a_turn_is_told_once_though_its_seat_does_several_things(table: Owned) -> None:
    game = table.create(variant="dominospiel")
    for _ in range(40):
        before = table.game(game)
        table.play(game)
        after = table.game(game)
        if before.state.turn is not None and before.state.turn == after.state.turn:
            assert [each for each in messages(table, game, before.version) if each.type == "game.turn"] == []
            return
    pytest.fail("nobody did several things")


def test_the_end_of_a_round_tells_who_is_to_deal_unless_it_is_done_or_the_match_is_over(table: Owned) -> None:
    game = table.create()
    waited = []
    while table.game(game).status != "finished":
        table.play(game)
        ends = [data(each)["to_act"] for each in messages(table, game) if each.type == "game.round_over"]
        over = table.game(game).state.phase == "round_over"
        assert [bool(each) for each in ends] == [False] * (len(ends) - over) + [True] * over
        waited.append(over)
    assert any(waited)


def test_the_end_of_a_match_tells_its_results_with_the_refs_of_its_players(table: Owned) -> None:
    game = table.create(("anna", None, "cleo"), variant="fido")
    while table.game(game).status != "finished":
        table.play(game)
    (finished,) = [data(each) for each in messages(table, game) if each.type == "game.finished"]
    current = table.game(game)
    card = {each.seat: each for each in standings(current)}
    assert finished["winners"] == list(current.state.winners)
    assert finished["players"] == [
        {"seat": 0, "ref": "anna", "total": card[0].total, "rank": card[0].rank},
        {"seat": 1, "total": card[1].total, "rank": card[1].rank},
        {"seat": 2, "ref": "cleo", "total": card[2].total, "rank": card[2].rank},
    ]
    assert {seat for seat, each in card.items() if each.rank == 1} == set(finished["winners"])


def test_a_rematch_is_told_before_its_first_turn(table: Owned) -> None:
    game = table.create(("anna", "ben"), ref="table-7")
    assert [each.type for each in messages(table, game)] == ["game.turn"], "of a game that the application has created"
    begun = table.game(game)._replace(rematch_of="the game before")
    created, turn = game_messages("endpoint", begun, (), history(table, game))
    assert (created.type, turn.type) == ("game.created", "game.turn")
    assert data(created) == {
        "game_id": game,
        "ref": "table-7",
        "variant": "domino",
        "version": 1,
        "to_act": [],
        "waiting_for": [],
        "rematch_of": "the game before",
    }
    assert "rematch_of" not in data(turn)


def test_a_turn_that_began_while_its_player_was_away_is_made_again_as_it_was_told(table: Owned) -> None:
    game = table.create()
    first = table.game(game)
    assert first.state.turn is not None
    away = 1 - first.state.turn
    table.repository.transactions.transact(first, lambda current: (current, [Left(away)]))
    table.play(game)
    began = table.game(game)
    assert (began.state.turn, messages(table, game, began.version - 1)) == (away, [])
    table.repository.transactions.transact(began, lambda current: (current, [Returned(away)]))
    (turn,) = messages(table, game, began.version - 1)
    assert (turn.type, turn.version) == (TURN, began.version)
    then = table.repository.histories.at_version(table.game(game), began.version)
    assert message_again("endpoint", then, history(table, game)[began.version - 1], TURN) == turn


def test_a_turn_of_a_computer_player_is_not_told(table: Owned) -> None:
    game = table.game(table.create())
    seat = game.state.turn
    assert seat is not None
    seats = tuple([Seat(BOT, each.name, level="greedy") if at == seat else each for at, each in enumerate(game.seats)])
    assert game_messages("endpoint", game._replace(seats=Seats(seats)), (), history(table, game.id)) == []


@pytest.mark.parametrize("variant", sorted(variants()))
def test_messages_depend_on_nothing_that_a_spectator_may_not_know(variant: str, table: Owned) -> None:
    seats = variants()[variant].players[0]
    game = table.create(["x"] * seats, variant=variant)
    for _ in range(60):
        table.play(game)
    events = history(table, game)
    swapped = [each._replace(event=_swapped(each.event)) for each in events]
    assert any([one != other for one, other in zip(events, swapped, strict=True)])
    assert [view_event(each, None) for each in events] == [view_event(each, None) for each in swapped]
    current: Game = table.game(game)
    assert game_messages("e", current, (), events) == game_messages("e", current, (), swapped)


def _swapped(event: Any) -> Any:
    """A deal with the hands of the first two seats exchanged."""
    if not isinstance(event, Dealt):
        return event
    first, second, *rest = event.hands
    return Dealt(event.round, (second, first, *rest), event.stock, event.arranged, event.proof)


def test_the_longest_message_is_short(table: Owned) -> None:
    game = table.game(table.create(["\U0001f600" * 64] * 13, ref='"' * 64, variant="menschenwolf"))
    while game.state.phase != "round_over":
        table.play(game.id)
        game = table.game(game.id)
    longest = max(len(each.body) for each in messages(table, game.id))
    assert 3_000 < longest < 20_000 / 3
