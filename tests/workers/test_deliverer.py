"""Messages to endpoints: each arrives at least once and in order, whatever fails, and a bad endpoint disturbs no other.

The endpoints are real ones on loopback; the time is the test's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from socket import socket
from typing import Any

import pytest
import redis
from standardwebhooks import Webhook as Verifier

from service.backends.index.summaries import index_entry
from service.backends.values import IndexPosition, Webhook
from service.backends.webhooks import deliveries
from service.backends.webhooks.endpoint_states import (
    DISABLED_AFTER_MS,
    FAILURES_UNTIL_FAILING,
    LONGEST_PROBE_PAUSE_MS,
    MAX_ATTEMPTS,
    MAX_CHALLENGES,
)
from service.backends.webhooks.endpoints import OVERLAP_MS, WebhookChange
from service.backends.webhooks.messages import MESSAGE_TYPES, TURN
from service.engine.events import Finished, RoundEnded
from service.games.access import Access
from service.games.commands.context import CommandContext
from service.games.commands.rematch import Rematches
from service.games.model.errors import Gone
from service.games.model.game_events import Joined
from service.games.ports import sequential_runtime
from service.games.store.idempotency import Idempotency
from service.games.store.repository import DEFAULT_POLICY
from service.outgoing.sender import Sender, secret_text
from service.redis import keys
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.workers.messenger import MAX_PER_ENDPOINT
from tests.backends.endpoints import Hooked, Listener, Received, first_of_each, statuses
from tests.backends.owned import APP, application
from tests.outgoing.endpoints import HOST, PUBLIC, Endpoint, Network, answer
from tests.support.games import NoReminders, any_number_of_bots
from tests.support.lanes import in_lane

pytestmark = pytest.mark.gate

DAY_MS = 86_400_000
PARTS = 7
"""Parts of the calls that may fail, of which the gate tries one; odd, so that each has both kinds of faults."""
MANY = in_lane([10_000, 1_000], gate=[1_000])[0]
START_OF_A_GAME = IndexPosition(0, "")


@pytest.fixture
def hooked(empty_server: redis.Redis) -> Iterator[Hooked]:
    hooked = Hooked(empty_server)
    yield hooked
    hooked.close()


@pytest.fixture
def listener(hooked: Hooked) -> Listener:
    return hooked.listen()


def play(hooked: Hooked, game: str, moves: int, follow: int = 1) -> None:
    """Make so many moves; the index follows after every so many."""
    for number in range(moves):
        hooked.now += 1_000
        hooked.owned.play(game)
        if number % follow == 0:
            hooked.publish(game)
    hooked.publish(game)


def expected(hooked: Hooked, game: str) -> list[tuple[str, int]]:
    """What must be told of a game, turns left out: types and versions."""
    kinds: dict[type, str] = {Joined: "game.joined", RoundEnded: "game.round_over", Finished: "game.finished"}
    history = hooked.owned.repository.histories.history(hooked.owned.game(game))
    return [(kinds[type(each.event)], each.version) for each in history if type(each.event) in kinds]


def assert_complete(hooked: Hooked, received: list[Received], game: str) -> None:
    """Everything was told, and, counting first arrivals, in order; the newest turn, if one runs, last."""
    first = [each for each in first_of_each(received) if each.data["game_id"] == game]
    versions = [each.data["version"] for each in first]
    assert versions == sorted(versions)
    told = [(each.type, each.data["version"]) for each in first if each.type != "game.turn"]
    assert told == expected(hooked, game)
    current = hooked.owned.game(game)
    if current.state.turn is not None and not current.seats.are_open:
        assert (first[-1].type, first[-1].data["seat"]) == ("game.turn", current.state.turn)


def test_an_endpoint_is_told_nothing_before_it_has_answered_a_challenge(hooked: Hooked) -> None:
    silent = Endpoint(answer())
    webhook = hooked.webhooks.create(APP, f"http://127.0.0.1:{silent.port}/", ["game.turn"]).answer
    hooked.create()
    hooked.pass_time(DAY_MS)
    assert len(silent.requests) == MAX_CHALLENGES
    assert hooked.status(webhook) == "unverified"
    hooked.webhooks.change(APP, webhook.id, WebhookChange(active=True))
    hooked.deliver()
    assert len(silent.requests) == MAX_CHALLENGES + 1
    assert {each.error for each in hooked.webhooks.attempts(APP, webhook.id)} == {"challenge"}
    count = hooked.registry.get_sample_value
    assert count("domino_webhook_deliveries_total", {"outcome": "challenge"}) == MAX_CHALLENGES + 1
    assert not count("domino_webhook_deliveries_total", {"outcome": "ok"})
    silent.close()


def test_a_challenge_is_answered_as_json_too_but_not_by_repeating_the_message(hooked: Hooked) -> None:
    def in_json(sock: Any) -> object:
        challenge = Received("", {}, good.requests[-1].partition(b"\r\n\r\n")[2]).data["challenge"]
        return answer(body=b'{"challenge": "%b"}' % challenge.encode())(sock)

    def echo(sock: Any) -> object:
        return answer(body=echoing.requests[-1].partition(b"\r\n\r\n")[2])(sock)

    good, echoing = Endpoint(in_json), Endpoint(echo)
    webhooks = [
        hooked.webhooks.create(APP, f"http://127.0.0.1:{each.port}/", ["game.turn"]).answer for each in (good, echoing)
    ]
    hooked.deliver()
    assert [hooked.status(each) for each in webhooks] == ["active", "unverified"]
    for each in (good, echoing):
        each.close()


def test_messages_arrive_in_order_with_signatures_that_the_public_library_accepts(
    hooked: Hooked, listener: Listener
) -> None:
    webhook = hooked.register(listener)
    hooked.clock_behind = 180_000  # a message is signed with the time of the machine
    game = hooked.create(open_seats=1)
    hooked.owned.join(game, "cleo")
    play(hooked, game, 400)
    hooked.deliver()
    assert_complete(hooked, listener.received, game)
    assert len(listener.received) == len({each.id for each in listener.received})
    verifier = Verifier(secret_text(webhook.secret))
    for each in listener.received:
        assert int(each.headers["webhook-timestamp"]) == (hooked.now + 180_000) // 1000
        assert signatures(verifier, each) <= set(each.headers["webhook-signature"].split())


def signatures(verifier: Verifier, received: Received) -> set[str]:
    """The signature of a message by the public library, for the time in its header, which is the test's."""
    at = datetime.fromtimestamp(int(received.headers["webhook-timestamp"]), UTC)
    return {verifier.sign(received.id, at, received.body.decode())}


def test_of_turns_only_the_one_that_runs_is_told(hooked: Hooked, listener: Listener) -> None:
    hooked.register(listener, "game.turn")
    game = hooked.owned.create()
    play(hooked, game, 6)
    hooked.deliver()
    (message,) = listener.received
    current = hooked.owned.game(game)
    assert message.data["to_act"] == [current.state.turn]
    assert message.data["waiting_for"] == [
        {"seat": current.state.turn, "ref": ("anna", "ben")[current.state.turn or 0]}
    ]
    play(hooked, game, 1)
    hooked.deliver()
    assert len(listener.received) == 2


def test_the_loop_is_woken_when_a_lease_has_ended(hooked: Hooked, listener: Listener) -> None:
    hooked.register(listener, "game.turn")
    hooked.deliver()
    hooked.ends_of_leases.clear()
    hooked.create()
    assert not hooked.ends_of_leases
    hooked.deliver()
    assert hooked.ends_of_leases == [hooked.now]


def test_types_that_an_endpoint_does_not_want_are_not_sent(hooked: Hooked, listener: Listener) -> None:
    hooked.register(listener, "game.finished")
    game = hooked.owned.create()
    while hooked.owned.game(game).status != "finished":
        play(hooked, game, 20, follow=20)
    hooked.deliver()
    assert [each.type for each in listener.received] == ["game.finished"]


def test_a_failed_message_is_sent_again_with_growing_pauses(hooked: Hooked) -> None:
    listener = hooked.listen(500, 302, 404, 200)
    webhook = hooked.register(listener)
    hooked.create()
    began = hooked.now
    for passed, count in ((0, 1), (4_900, 1), (200, 2), (29_000, 2), (1_100, 3), (49_000, 3), (1_100, 4)):
        hooked.pass_time(passed)
        hooked.deliver()
        assert len(listener.received) == count, hooked.now - began
    assert len({(each.id, each.body) for each in listener.received}) == 1
    assert [each.status for each in hooked.webhooks.attempts(APP, webhook.id)][:4] == [200, 404, 302, 500]
    hooked.pass_time(DAY_MS)
    assert len(listener.received) == 4


def test_while_one_message_of_a_game_fails_the_later_ones_wait(hooked: Hooked) -> None:
    listener = hooked.listen(500, 500, 200)
    hooked.register(listener)
    game = hooked.create(open_seats=1)
    hooked.owned.join(game, "cleo")
    hooked.publish(game)
    hooked.deliver()
    play(hooked, game, 3)
    hooked.pass_time(60_000)
    assert [each.type for each in listener.received] == ["game.joined"] * 3 + ["game.turn"]
    assert_complete(hooked, listener.received, game)


def test_a_turn_that_fails_after_another_message_of_its_game_is_sent_again(hooked: Hooked) -> None:
    listener = hooked.listen(200, 500, 200)
    hooked.register(listener)
    game = hooked.create(open_seats=1)
    hooked.owned.join(game)
    hooked.publish(game)
    hooked.pass_time(60_000)
    assert [each.type for each in listener.received] == ["game.joined", "game.turn", "game.turn"]


def test_an_endpoint_that_asks_for_a_pause_gets_it(hooked: Hooked) -> None:
    listener = hooked.listen(*statuses(429, fields=("Retry-After: 600",)), 200)
    hooked.register(listener)
    games = [hooked.owned.create() for _ in range(3)]
    hooked.publish(games[0])
    hooked.deliver()
    hooked.publish(*games)
    hooked.pass_time(590_000)
    assert len(listener.received) == 1
    hooked.pass_time(20_000)
    assert len(listener.received) == 4


def test_an_endpoint_cannot_ask_for_more_than_an_hour(hooked: Hooked) -> None:
    listener = hooked.listen(*statuses(503, fields=("Retry-After: 999999",)), 200)
    hooked.register(listener)
    hooked.create()
    hooked.pass_time(3_601_000)
    assert len(listener.received) == 2


@pytest.mark.parametrize("attempts", [MAX_ATTEMPTS, 1])
def test_an_endpoint_that_is_gone_is_disabled_even_by_the_last_attempt(
    attempts: int, hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MAX_ATTEMPTS", attempts)
    listener = hooked.listen(410)
    webhook = hooked.register(listener)
    hooked.create()
    hooked.pass_time(DAY_MS)
    assert hooked.status(webhook) == "disabled"
    assert len(listener.received) == 1


def test_an_endpoint_that_fails_for_three_days_is_disabled_and_complete_once_it_is_enabled(hooked: Hooked) -> None:
    listener = hooked.listen(500)
    webhook = hooked.register(listener)
    games = [hooked.owned.create(open_seats=1) for _ in range(3)]
    hooked.publish(*games)
    for game in games:
        hooked.owned.join(game)
        play(hooked, game, 30)
    hooked.pass_time(600_000)
    skip_probes(hooked, webhook, DISABLED_AFTER_MS - 720_000)
    hooked.pass_time(60_000)
    assert hooked.status(webhook) == "failing"
    hooked.pass_time(120_000)
    assert hooked.status(webhook) == "disabled"
    late = hooked.owned.create()
    for game in games:
        play(hooked, game, 30)
    hooked.publish(late)
    attempts = len(listener.received)
    hooked.pass_time(DAY_MS)
    assert len(listener.received) == attempts
    listener.behaviours[:] = statuses(204)
    hooked.webhooks.change(APP, webhook.id, WebhookChange(active=True))
    hooked.pass_time(60_000)
    for game in (*games, late):
        assert_complete(hooked, listener.received, game)
    assert hooked.status(webhook) == "active"


def skip_probes(hooked: Hooked, webhook: Webhook, milliseconds: int) -> None:
    """Let a failing endpoint have failed for so much longer, without the thousands of probes of that time."""
    before = hooked.webhooks.get(APP, webhook.id)
    assert (before.status, before.failing_since is not None) == ("failing", True)
    assert hooked.kept.replace(before, before._replace(failing_since=(before.failing_since or 0) - milliseconds))


@pytest.mark.parametrize("games", [1, 20])
@pytest.mark.parametrize("away_ms", [180_000, 1_200_000])
def test_an_endpoint_that_was_away_is_told_within_a_minute_of_its_return(
    hooked: Hooked, games: int, away_ms: int
) -> None:
    hooked.jitter = 1.0  # the longest pauses
    listener = hooked.listen(503)
    webhook = hooked.register(listener)
    waiting = [hooked.owned.create() for _ in range(games)]
    hooked.publish(*waiting)
    hooked.pass_time(away_ms)
    assert hooked.status(webhook) == "failing"
    assert len(listener.received) < games + FAILURES_UNTIL_FAILING + away_ms / 50_000
    before, listener.behaviours[:] = len(listener.received), statuses(204)
    hooked.pass_time(LONGEST_PROBE_PAUSE_MS)
    assert {each.data["game_id"] for each in listener.received[before:]} == set(waiting)
    assert hooked.status(webhook) == "active"


def test_a_game_that_was_put_off_for_hours_does_not_keep_an_endpoint_from_being_probed(hooked: Hooked) -> None:
    listener = hooked.listen(503)
    webhook = hooked.register(listener)
    hooked.create()
    hooked.pass_time(600_000)
    (due,) = hooked.kept.due(webhook, hooked.now + DAY_MS, 10)
    hooked.kept.mark_failed(webhook, due, hooked.now + DAY_MS, count=True, attempt=None)
    before = len(listener.received)
    hooked.pass_time(10 * LONGEST_PROBE_PAUSE_MS)
    assert len(listener.received) >= before + 10


def test_a_failing_endpoint_for_which_nothing_is_left_is_not_looked_at_again(hooked: Hooked) -> None:
    listener = hooked.listen(503)
    webhook = hooked.register(listener)
    game = hooked.create()
    hooked.pass_time(600_000)
    assert hooked.status(webhook) == "failing"
    (key,) = keys.webhook(APP, webhook.id, "due")
    hooked.published.call(key, b"DEL", key)
    assert hooked.pass_time(DAY_MS) <= 1
    hooked.owned.play(game)
    hooked.publish(game)
    listener.behaviours[:] = statuses(204)
    hooked.deliver()
    assert hooked.status(webhook) == "active"


@pytest.mark.parametrize("became", ["active", "failing", "disabled"])
def test_active_opens_an_endpoint_at_once_however_it_fared(hooked: Hooked, became: str) -> None:
    failures = {"active": 2, "failing": FAILURES_UNTIL_FAILING, "disabled": FAILURES_UNTIL_FAILING + 2}[became]
    listener = hooked.listen(*[503] * failures, 410 if became == "disabled" else 503)
    webhook = hooked.register(listener)
    game = hooked.create()
    hooked.deliver()
    while len(listener.received) < failures + (became == "disabled"):
        hooked.pass_time(1_000)
    assert hooked.status(webhook) == became
    before, listener.behaviours[:] = len(listener.received), statuses(204)
    hooked.deliver()
    assert len(listener.received) == before
    hooked.webhooks.change(APP, webhook.id, WebhookChange(active=True))
    hooked.deliver()
    assert [each.data["game_id"] for each in listener.received[before:]] == [game]
    assert hooked.status(webhook) == "active"
    assert hooked.webhooks.get(APP, webhook.id).failing_since is None


def test_active_opens_an_endpoint_that_has_asked_for_a_pause(hooked: Hooked) -> None:
    listener = hooked.listen(*statuses(503, fields=("Retry-After: 3600",)), 204)
    webhook = hooked.register(listener)
    hooked.create()
    hooked.pass_time(600_000)
    assert len(listener.received) == 1
    hooked.webhooks.change(APP, webhook.id, WebhookChange(active=True))
    hooked.deliver()
    assert len(listener.received) == 2


def test_a_message_that_alone_fails_is_given_up_after_three_days(hooked: Hooked, listener: Listener) -> None:
    def refuse_one(sock: Any) -> object:
        bad = listener.received[-1].data.get("game_id") == game
        return answer("500 Bad" if bad else "200 OK")(sock)

    webhook = hooked.register(listener)
    game = hooked.create(open_seats=1)
    hooked.owned.join(game)
    listener.behaviours[:] = [refuse_one]
    other = hooked.owned.create()
    hooked.publish(game)
    for _ in range(3 * 24 * 4 + 2):
        hooked.now += 1000
        play(hooked, other, 1)
        hooked.pass_time(900_000)
        if hooked.owned.game(other).status == "finished":
            other = hooked.owned.create()
    attempts = hooked.webhooks.attempts(APP, webhook.id)
    assert "given_up" in {each.error for each in attempts if each.game == game}
    assert [each.data["game_id"] == game for each in listener.received].count(True) < 48
    assert hooked.status(webhook) == "active"


def test_another_url_has_to_answer_a_challenge_and_then_nothing_is_missing(hooked: Hooked) -> None:
    first, second = hooked.listen(), hooked.listen()
    webhook = hooked.register(first)
    game = hooked.create(open_seats=1)
    hooked.webhooks.change(APP, webhook.id, WebhookChange(url="http://127.0.0.1:1/closed"))
    hooked.owned.join(game)
    play(hooked, game, 5)
    hooked.deliver()
    assert hooked.status(webhook) == "unverified"
    assert first.received == []
    hooked.webhooks.change(APP, webhook.id, WebhookChange(url=second.url))
    hooked.deliver()
    assert hooked.status(webhook) == "active"
    assert_complete(hooked, second.received, game)


def test_two_secrets_sign_for_a_day(hooked: Hooked, listener: Listener) -> None:
    webhook = hooked.register(listener)
    new = hooked.webhooks.change_secret(APP, webhook.id).answer
    hooked.create()
    hooked.deliver()
    hooked.now += OVERLAP_MS
    hooked.create()
    hooked.deliver()
    during, after = listener.received
    old_key, new_key = (Verifier(secret_text(each)) for each in (webhook.secret, new.secret))
    assert set(during.headers["webhook-signature"].split()) == signatures(old_key, during) | signatures(new_key, during)
    assert set(after.headers["webhook-signature"].split()) == signatures(new_key, after)


def test_a_ping_is_sent_once_and_shown(hooked: Hooked) -> None:
    listener = hooked.listen(500)
    webhook = hooked.register(listener)
    pings = [hooked.webhooks.ping(APP, webhook.id).answer for _ in range(2)]
    hooked.pass_time(DAY_MS)
    assert [each.id for each in listener.received] == pings
    shown = hooked.webhooks.attempts(APP, webhook.id)[:2]
    assert [(each.message, each.type, each.status) for each in shown] == [
        (ping, "webhook.ping", 500) for ping in reversed(pings)
    ]
    assert hooked.status(webhook) == "active"


def test_samples_of_all_types_are_sent_whatever_the_endpoint_wants_and_however_it_fares(
    hooked: Hooked, listener: Listener
) -> None:
    webhook = hooked.register(listener, "game.turn")
    hooked.webhooks.change(APP, webhook.id, WebhookChange(active=False))
    asked = [hooked.webhooks.ping(APP, webhook.id, kind).answer for kind in MESSAGE_TYPES]
    hooked.deliver()
    assert [(each.id, each.type) for each in listener.received] == list(zip(asked, MESSAGE_TYPES, strict=True))
    assert [each.data.get("sample") for each in listener.received] == [True] * (len(MESSAGE_TYPES) - 1) + [None]
    verifier = Verifier(secret_text(webhook.secret))
    for each in listener.received:
        assert signatures(verifier, each) == set(each.headers["webhook-signature"].split())
    assert {each.game for each in hooked.webhooks.attempts(APP, webhook.id)} == {None}
    assert hooked.status(webhook) == "disabled"


def test_a_message_is_sent_again_with_its_id_what_it_told_and_the_secrets_of_now(
    hooked: Hooked, listener: Listener
) -> None:
    webhook = hooked.register(listener)
    game = hooked.create(open_seats=1)
    hooked.owned.join(game, "cleo")
    play(hooked, game, 8)
    sample = hooked.webhooks.ping(APP, webhook.id, "game.finished").answer
    hooked.deliver()
    first = {each.id: each for each in listener.received}
    assert {each.type for each in first.values()} >= {"game.joined", "game.turn", "game.finished"}
    play(hooked, game, 5)
    hooked.deliver()
    hooked.now += DAY_MS
    new = hooked.webhooks.change_secret(APP, webhook.id).answer
    before = len(listener.received)
    for message in first:
        assert hooked.webhooks.send_again(APP, webhook.id, message, hooked.owned.game).answer == message
    hooked.pass_time(DAY_MS // 2)
    again = listener.received[before:]
    assert [(each.id, each.body) for each in again] == [(each.id, each.body) for each in first.values()]
    assert sample in first
    verifiers = [Verifier(secret_text(each)) for each in (webhook.secret, new.secret)]
    for each in again:
        expected_signatures = set().union(*[signatures(verifier, each) for verifier in verifiers])
        assert set(each.headers["webhook-signature"].split()) == expected_signatures
    attempts = hooked.webhooks.attempts(APP, webhook.id)[: len(first)]
    assert [(each.message, each.game, each.status) for each in reversed(attempts)] == [
        (each.id, None if each.id == sample else game, 204) for each in again
    ]


def test_a_message_that_was_delivered_may_be_sent_again_and_that_is_sent_again_too(
    hooked: Hooked, listener: Listener
) -> None:
    webhook = hooked.register(listener)
    hooked.create()
    for _ in range(3):
        hooked.deliver()
        (message,) = {each.id for each in listener.received}
        for _ in range(2):  # it waits already: it is sent once
            hooked.webhooks.send_again(APP, webhook.id, message, hooked.owned.game)
    hooked.deliver()
    assert len(listener.received) == 4


@pytest.mark.parametrize("damage", ["events", "event", "state", "newer"])
def test_a_message_that_cannot_be_made_again_holds_up_no_other(hooked: Hooked, listener: Listener, damage: str) -> None:
    webhook = hooked.register(listener)
    games = [hooked.owned.create() for _ in range(2)]
    for game in games:
        hooked.publish(game)
        hooked.deliver()
    turns = [each.id for each in listener.received]
    for turn in turns:
        hooked.webhooks.send_again(APP, webhook.id, turn, hooked.owned.game)
    spoil(hooked, games[0], damage)
    late = hooked.create()
    hooked.deliver()
    assert [each.id for each in listener.received[2:]] == [turns[1], listener.received[-1].id]
    assert listener.received[-1].data["game_id"] == late
    assert hooked.webhooks.get(APP, webhook.id).requested == ()
    shown = [each for each in hooked.webhooks.attempts(APP, webhook.id) if each.message == turns[0]]
    assert [each.error for each in shown] == ["gone", None]
    assert hooked.status(webhook) == "active"


def test_games_of_a_newer_service_are_put_off_and_hold_up_no_other(hooked: Hooked, listener: Listener) -> None:
    hooked.register(listener)
    *newer, game = [hooked.owned.create() for _ in range(2 * MAX_PER_ENDPOINT + 1)]
    hooked.publish(*newer, game)
    before = dict(hooked.store._games)
    for each in newer:
        spoil(hooked, each, "newer")
    hooked.deliver()
    assert [each.data["game_id"] for each in listener.received] == [game]
    hooked.store._games.update(before)
    hooked.pass_time(10_000)
    assert {each.data["game_id"] for each in listener.received} == {*newer, game}


def spoil(hooked: Hooked, game: str, damage: str) -> None:
    """Leave nothing of a game, or something that cannot be read."""
    stored = hooked.store._games[game]
    match damage:
        case "events":
            stored = stored._replace(events=())
        case "event":
            stored = stored._replace(events=tuple([b"[" for _ in stored.events]))
        case "state":
            stored = stored._replace(stored=stored.stored._replace(state=b"["))
        case "newer":
            stored = stored._replace(stored=stored.stored._replace(state=b'["",999,""]'))
    hooked.store._games[game] = stored


def test_of_a_deleted_game_only_its_deletion_is_sent_again(hooked: Hooked, listener: Listener) -> None:
    webhook = hooked.register(listener)
    game = hooked.create(ref="secret-ref")
    hooked.deliver()
    (turn,) = listener.received
    hooked.webhooks.send_again(APP, webhook.id, turn.id, hooked.owned.game)
    hooked.owned.repository.transactions.delete(game, APP, APP)
    hooked.publish(game)
    hooked.pass_time(60_000)
    deleted = listener.received[-1]
    assert [each.type for each in listener.received] == ["game.turn", "game.deleted"]
    assert ("gone", turn.id) in {(each.error, each.message) for each in hooked.webhooks.attempts(APP, webhook.id)}
    with pytest.raises(Gone):
        hooked.webhooks.send_again(APP, webhook.id, turn.id, hooked.owned.game)
    hooked.webhooks.send_again(APP, webhook.id, deleted.id, hooked.owned.game)
    hooked.pass_time(60_000)
    assert [(each.id, each.body) for each in listener.received[2:]] == [(deleted.id, deleted.body)]
    assert "secret-ref" not in repr(hooked.webhooks.attempts(APP, webhook.id))


def test_a_rematch_is_told_first_of_its_messages(hooked: Hooked, listener: Listener) -> None:
    hooked.register(listener)
    game = hooked.owned.create()
    while hooked.owned.game(game).status != "finished":
        play(hooked, game, 1)
    hooked.deliver()
    runtime = sequential_runtime(hooked.clock, hooked.random.randbytes)
    repository = hooked.owned.repository
    bots_alone = any_number_of_bots(repository)
    rematches = Rematches(
        CommandContext(repository, Idempotency([b"a secret"]), runtime, bots_alone, reminders=NoReminders())
    )
    new = rematches.begin(Access(hooked.owned.game(game), 1)).answer.view.id
    told = len(listener.received)
    for each in (new, game):
        hooked.publish(each)
    hooked.deliver()
    later = [(each.type, each.data["game_id"], each.data.get("rematch_of")) for each in listener.received[told:]]
    assert later == [("game.created", new, game), ("game.turn", new, None)]


def test_a_deleted_game_is_told_as_deleted(hooked: Hooked, listener: Listener) -> None:
    hooked.register(listener)
    game = hooked.owned.create(ref="secret-ref")
    play(hooked, game, 3)
    hooked.owned.repository.transactions.delete(game, APP, APP)
    hooked.publish(game)
    hooked.deliver()
    (message,) = listener.received
    assert message.type == "game.deleted"
    assert set(message.data) == {"game_id", "version"}


def test_a_deleted_endpoint_gets_nothing(hooked: Hooked, listener: Listener) -> None:
    webhook = hooked.register(listener)
    hooked.create()
    hooked.webhooks.delete(APP, webhook.id)
    hooked.pass_time(DAY_MS)
    assert listener.received == []
    assert hooked.reminders() == []


def test_one_dead_endpoint_with_thousands_of_games_gets_one_probe_an_interval_and_disturbs_nobody(
    hooked: Hooked, listener: Listener
) -> None:
    dead = hooked.listen(503)
    hooked.register(dead)
    game = hooked.owned.create()
    index = hooked.published.index
    for number in range(MANY):
        copy = hooked.owned.game(game)._replace(id=f"copy-{number}")
        hooked.store._games[copy.id] = hooked.store._games[game]
        entry = index_entry(copy, DEFAULT_POLICY.lifetimes)
        assert index.put(APP, entry, [], (TURN,), position=START_OF_A_GAME)
    hooked.deliver()
    assert len(dead.received) <= 2 * MAX_PER_ENDPOINT
    attempts = len(dead.received)
    other = application(2)
    hooked.register(listener, app=other)
    own = hooked.owned.create(app=other)
    for seconds in (6, 30, 120, 600, 3600):
        hooked.now += seconds * 1200
        play(hooked, own, 1)
        hooked.deliver()
    assert len(dead.received) - attempts <= 5
    assert len(listener.received) >= 4
    dead.behaviours[:] = statuses(204)


def test_a_failing_endpoint_that_is_slow_to_answer_is_waited_for_without_work(hooked: Hooked) -> None:
    def slow(sock: socket) -> object:
        time.sleep(0.5)
        return answer("500 Some")(sock)

    looks = 0

    def clock() -> int:
        nonlocal looks
        looks += 1
        return hooked.now

    listener = hooked.listen(slow, 500)
    webhook = hooked.register(listener)
    hooked.publish(*[hooked.owned.create() for _ in range(3 * MAX_PER_ENDPOINT)])
    hooked.deliverer._context = hooked.deliverer._context._replace(clock=clock)
    hooked.deliver()
    assert hooked.status(webhook) == "failing"
    assert len(listener.received) < 2 * MAX_PER_ENDPOINT
    assert looks < 500


def test_a_name_that_leads_elsewhere_at_delivery_is_refused(hooked: Hooked, listener: Listener) -> None:
    webhook = hooked.register(listener)
    network = Network(names={HOST: ("127.0.0.1",)})
    hooked.close()
    hooked.sender = Sender("test", lookup=network.lookup, connect=network.connect)
    before = hooked.webhooks.get(APP, webhook.id)
    assert hooked.kept.replace(before, before._replace(url=f"https://{HOST}/"))
    hooked.deliverer = hooked.new_deliverer()
    hooked.create()
    hooked.deliver()
    assert hooked.webhooks.attempts(APP, webhook.id)[0].error == "refused_address"
    assert network.connected == []
    network._names = {HOST: (PUBLIC,)}
    hooked.pass_time(6_000)
    assert network.connected == [(PUBLIC, 443)]


# ── Faults between any two calls of the store ────────────────────────────────────────────────────────────────────────


class Faulty:
    """A store of which one call fails: before it has an effect, or after, or as if the process were killed there."""

    METHODS = ("read", "due", "mark_notified", "mark_failed", "log", "replace", "renew", "release", "forget")

    def __init__(self, kept: Any) -> None:
        self._kept = kept
        self.calls = 0
        self.fails_at: int | None = None
        self.after = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._kept, name)
        return self._failing(name, method) if name in self.METHODS else method

    def _failing(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            self.calls += 1
            fails = self.calls == self.fails_at
            if fails and not self.after:
                raise StorageUnavailable("fault")
            result = method(*args, **named)
            if fails:
                raise OutcomeUnknown("fault") if name not in ("read", "due") else StorageUnavailable("fault")
            return result

        return call


def story(server: redis.Redis, fails_at: int | None, *, after: bool) -> tuple[int, int]:
    """A short story in which one call fails; returns the calls and the messages that came more than once."""
    faulty: list[Faulty] = []

    def wrap(kept: Any) -> Any:
        faulty.append(Faulty(kept))
        return faulty[0]

    server.flushall()
    hooked = Hooked(server, wrap=wrap)
    listener = Listener(*statuses(500, 200, 200, 500, 200))
    try:
        hooked.register(listener)
        faulty[0].calls = 0
        faulty[0].fails_at, faulty[0].after = fails_at, after
        games = [hooked.owned.create(open_seats=1) for _ in range(2)]
        hooked.publish(*games)
        for game in games:
            hooked.owned.join(game)
        for _ in range(6):
            for game in games:
                play(hooked, game, 9)
            hooked.pass_time(3_000)
        hooked.pass_time(3_600_000)
        for game in games:
            assert_complete(hooked, listener.received, game)
        assert hooked.published.due(APP, hooked.webhooks.all(APP)[0].id) == {}
        return faulty[0].calls, len(listener.received) - len({each.id for each in listener.received})
    finally:
        hooked.close()
        listener.close()


@pytest.mark.parametrize("part", in_lane(range(PARTS), gate=[0]))
def test_every_message_arrives_in_order_whichever_call_of_the_store_fails(part: int, empty_server: redis.Redis) -> None:
    calls, repeated = story(empty_server, None, after=False)
    assert repeated  # what the endpoint refused
    assert calls > 25
    every = [(number, after) for number in range(1, calls + 1) for after in (False, True)]
    for number, after in every[part::PARTS]:
        story(empty_server, number, after=after)
