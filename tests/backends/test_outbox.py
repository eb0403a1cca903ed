"""The outbox in this process: what an application is told of its games, and when."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import redis

from service.backends import outbox as outbox_module
from service.backends.index.store import MAX_FOR_ALL
from service.backends.index.summaries import NO_DEADLINE
from service.backends.outbox import LOBBY_REFRESH_MS, Publication
from service.backends.values import LOBBY_MS, IndexEntry, IndexPosition
from service.backends.webhooks.messages import game_messages
from service.engine.tiles import TILES
from service.games.model.clock import ClockSettings
from service.games.model.views import format_rfc3339
from tests.backends.owned import APP, START, TTL, Followed, application, listing_of, outbox_of


class Table(Followed):
    def publish(self, game: str) -> Publication:
        return self.outbox.publish(self.owner(game), game)

    def feed(self, app: str = APP) -> list[dict[str, Any]]:
        return [orjson.loads(item) for item in self.published.items(app)]


@pytest.fixture
def table(empty_server: redis.Redis) -> Table:
    return Table(empty_server)


def test_a_write_to_a_game_of_an_application_leaves_a_reminder(table: Table) -> None:
    game, nobodys = table.create(), table.create(app=None)
    assert table.reminder(game) == START
    assert table.reminder(nobodys) is None
    table.now += 500
    table.play(game)
    assert table.reminder(game) == START + 500


def test_a_followed_game_is_listed_as_a_spectator_sees_it_with_refs(table: Table) -> None:
    game = table.create(("anna", None), ref="club", clock=ClockSettings(turn=60_000))
    assert table.publish(game) == Publication(START, due=False, again=None)
    stored = table.game(game)
    seat = stored.to_act[0]
    assert table.published.games() == [
        {
            "id": game,
            "ref": "club",
            "variant": "domino",
            "status": "playing",
            "version": 2,
            "round": 1,
            "to_act": [seat],
            "waiting_for": [{"seat": 0, "ref": "anna"} if seat == 0 else {"seat": seat}],
            "deadline": format_rfc3339(START + 60_000),
            "players": [
                {"seat": 0, "name": "Player 0", "ref": "anna", "kind": "human", "total": 0, "active": True},
                {"seat": 1, "name": "Player 1", "kind": "human", "total": 0, "active": True},
            ],
            "winners": [],
            "created_at": format_rfc3339(START),
            "updated_at": format_rfc3339(START),
        }
    ]


def test_the_feed_keeps_each_event_once_in_order_and_without_refs(table: Table) -> None:
    game = table.create(("anna", "ben"), ref="club")
    table.publish(game)
    for _ in range(5):
        table.now += 1000
        table.play(game)
    table.publish(game)
    table.publish(game)
    feed, stored = table.feed(), table.game(game)
    assert [item["version"] for item in feed] == list(range(1, stored.version + 1))
    assert [item["type"] for item in feed[:2]] == ["created", "dealt"]
    assert {item["game_id"] for item in feed} == {game}
    assert [len(item["to_act"]) for item in feed[1:]] == [1] * 6
    assert feed[-1]["to_act"] == list(stored.to_act)
    assert not any(ref in orjson.dumps(feed) for ref in (b"anna", b"ben", b"club"))
    assert [item["at"] for item in feed[:3]] == [format_rfc3339(START)] * 2 + [format_rfc3339(START + 1000)]


def test_the_feed_tells_the_deadline_only_where_it_is_the_current_one(table: Table) -> None:
    game = table.create(clock=ClockSettings(turn=60_000))
    for _ in range(3):
        table.play(game)
    table.publish(game)
    *earlier, last = table.feed()
    assert not any("deadline" in item for item in earlier)
    assert last["deadline"] == format_rfc3339(START + 60_000)


def test_nothing_hidden_is_in_the_index_or_the_feed(table: Table) -> None:
    game = table.create(("anna", "ben"), variant="domino")
    for _ in range(12):
        table.play(game)
    table.publish(game)
    text = b"".join(table.published.items(APP)) + orjson.dumps(table.published.games())
    assert not any(f'"{tile.name}"'.encode() in text for tile in TILES)
    fields = {name for item in table.feed() for name in item}
    assert fields <= {"game_id", "version", "type", "seat", "to_act", "waiting_for", "deadline", "at"}


def test_a_game_that_is_followed_waits_for_whoever_is_to_act(table: Table) -> None:
    game = table.create(("anna", "ben"))
    table.publish(game)
    refs = ["anna", "ben"]
    for _ in range(4):
        seat = table.game(game).to_act[0]
        assert table.published.ids(player_ref=refs[seat], waiting=True) == [game]
        assert table.published.ids(player_ref=refs[1 - seat], waiting=True) == []
        table.play(game)
        table.publish(game)


def test_a_deadline_is_more_urgent_than_none_and_the_sooner_the_more(table: Table) -> None:
    games = {}
    for name, turn in (("none", None), ("late", 900_000), ("soon", 5000), ("later none", None)):
        table.now += 1
        clock = None if turn is None else ClockSettings(turn=turn)
        games[name] = table.create(("anna", "anna"), clock=clock)
        table.publish(games[name])
    expected = [games[name] for name in ("soon", "late", "none", "later none")]
    assert table.published.ids(player_ref="anna", waiting=True) == expected
    assert START + 10**11 < NO_DEADLINE


def test_a_game_of_nobody_is_told_to_nobody(table: Table) -> None:
    game = table.create(app=None)
    assert table.publish(game) == Publication()
    assert table.feed() == table.published.games() == []


def test_no_application_is_told_of_the_games_of_another(table: Table) -> None:
    other = application(2)
    mine, theirs = table.create(("anna", "ben")), table.create(("anna", "carl"), app=other)
    table.publish(mine)
    table.publish(theirs)
    assert table.published.ids() == table.published.ids(player_ref="anna") == [mine]
    assert table.published.ids(other) == table.published.ids(other, player_ref="anna") == [theirs]
    assert table.published.ids(player_ref="carl") == table.published.ids(other, player_ref="ben") == []
    assert {item["game_id"] for item in table.feed(other)} == {theirs}


def test_a_long_history_is_told_in_pages(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "PAGE", 3)
    game = table.create()
    for _ in range(20):
        table.play(game)
    puts = []
    put = table.published.index.put

    def counted(app: str, entry: IndexEntry, *args: Any, **more: Any) -> Any:
        puts.append(entry.version)
        return put(app, entry, *args, **more)

    monkeypatch.setattr(table.published.index, "put", counted)
    table.published.activate(APP, "hook")
    again = table.publish(game).again
    assert again == START
    assert puts == [3, 6, 9, 12, 15]
    while (again := table.publish(game).again) is not None:
        pass
    assert [item["version"] for item in table.feed()] == list(range(1, table.game(game).version + 1))
    assert table.published.games() == listing_of([table.game(game)], APP)


def test_only_a_process_that_publishes_alone_knows_the_positions(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    position = table.published.index.position

    def counted(app: str, game: str) -> IndexPosition:
        looks.append(game)
        return position(app, game)

    monkeypatch.setattr(table.published.index, "position", counted)
    game, another = table.create(), table.create()
    for _ in range(3):
        table.play(game)
        table.play(another)
        assert table.publish(game).published_at == table.publish(another).published_at == START
    assert looks == [game, another]
    table.play(game)
    outbox_of(table, table.published).publish(APP, game)
    table.play(game)
    table.play(another)
    assert table.publish(game).published_at == table.publish(another).published_at == START
    assert looks == [game, another, game, game, another]
    assert table.publish(game) == Publication()
    for each in (game, another):
        versions = [item["version"] for item in table.feed() if item["game_id"] == each]
        assert versions == list(range(1, table.game(each).version + 1))
    assert table.published.games() == listing_of([table.game(game), table.game(another)], APP)


def test_a_game_whose_entry_was_lost_is_published_again(table: Table) -> None:
    game = table.create()
    table.publish(game)
    index = table.published.index
    assert index.remove(APP, game, position=index.position(APP, game))
    assert table.publish(game).published_at == START
    assert table.published.games() == listing_of([table.game(game)], APP)


def test_the_index_never_goes_back(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    game = table.create()
    slow = table.outbox
    load = slow._repository.histories.game_with_events
    done: list[bool] = []

    def stalled(*wanted: Any) -> Any:
        loaded = load(*wanted)
        if not done:
            done.append(True)
            table.play(game)
            outbox_of(table, table.published).publish(APP, game)
        return loaded

    monkeypatch.setattr(slow._repository.histories, "game_with_events", stalled)
    assert slow.publish(APP, game) == Publication()
    assert [item["version"] for item in table.feed()] == list(range(1, table.game(game).version + 1))
    assert table.published.games() == listing_of([table.game(game)], APP)


@pytest.mark.parametrize("lost", [1, 3])
def test_after_a_failover_that_lost_moves_the_index_shows_the_game_as_it_is(lost: int, table: Table) -> None:
    game = table.create()
    table.published.activate(APP, "hook")
    before = table.memory._games[game]
    for _ in range(lost):
        table.play(game)
    table.publish(game)
    published = table.feed()
    table.memory._games[game] = before
    table.now += 1000
    table.play(game)
    assert table.publish(game).published_at == table.now
    assert table.published.games() == listing_of([table.game(game)], APP)
    version = table.game(game).version
    assert [item["version"] for item in table.feed()[len(published) :]] == [version]
    assert table.published.notified(APP, "hook")[game] == version - 1
    assert table.publish(game) == Publication()


def test_an_expired_game_is_followed_no_more(table: Table) -> None:
    game = table.create()
    table.publish(game)
    table.now += TTL * 1000
    assert table.publish(game) == Publication()
    assert table.published.games() == []


def test_endpoints_are_due_for_what_follows_their_activation(table: Table) -> None:
    game = table.create()
    assert not table.publish(game).due
    table.published.activate(APP, "hook")
    table.play(game)
    version = table.game(game).version
    assert table.publish(game).due
    assert table.published.notified(APP, "hook") == {game: 2}
    assert table.published.index.position(APP, game) == IndexPosition(version, table.game(game).write_id)


@pytest.mark.parametrize("types", [("game.turn",), ("game.round_over", "game.finished"), ("game.deleted",)])
def test_an_endpoint_is_due_exactly_when_there_is_a_message_for_it(types: tuple[str, ...], table: Table) -> None:
    table.published.activate(APP, "hook", *types)
    game, after, before = table.create(), 0, tuple[int, ...]()
    made: list[str] = []
    while table.game(game).status != "finished":
        for _ in range(1 + len(made) % 3):
            table.play(game)
        events = table.repository.histories.history(table.game(game))
        messages = game_messages("hook", table.game(game), before, events[after:], types=types)
        made += [message.type for message in messages]
        assert table.publish(game).due == bool(messages)
        after, before = len(events), events[-1].to_act
    assert set(made) == set(types) - {"game.deleted"}
    table.delete(game)
    assert table.publish(game).due == ("game.deleted" in types)


def test_a_deleted_game_leaves_the_index_and_its_deletion_is_told_once(table: Table) -> None:
    game, other = table.create(ref="club"), table.create()
    table.published.activate(APP, "hook")
    table.publish(game)
    table.publish(other)
    published = table.feed()
    table.now += 1000
    table.delete(game)
    version = table.game(other).version + 1
    for _ in range(2):
        table.publish(game)
    assert table.feed()[len(published) :] == [
        {"game_id": game, "version": version, "type": "deleted", "at": format_rfc3339(table.now)}
    ]
    assert table.published.ids() == table.published.ids(player_ref="anna") == [other]
    assert table.published.ids(ref="club") == []
    assert game in table.published.due(APP, "hook")


def test_a_game_that_is_deleted_before_it_was_followed_is_told_of(table: Table) -> None:
    game = table.create()
    table.delete(game)
    assert not table.publish(game).due
    assert [item["type"] for item in table.feed()] == ["deleted"]
    assert table.published.ids() == []


def test_a_deleted_game_leaves_the_lobby(table: Table) -> None:
    game = table.create(("anna",), open_seats=1)
    table.publish(game)
    table.delete(game)
    table.publish(game)
    assert table.published.public() == []


# The lobby


def test_a_public_game_is_in_the_lobby_while_seats_are_open(table: Table) -> None:
    game = table.create(("anna",), open_seats=2, ref="club")
    assert table.publish(game).again == table.now + LOBBY_REFRESH_MS
    (entry,) = table.published.in_lobby(variant="domino")
    assert entry.pop("options")["limit"] == 100
    assert entry == {
        "id": game,
        "variant": "domino",
        "join_code": table.game(game).ownership.join_code,  # type: ignore[union-attr]
        "players": [{"seat": 0, "kind": "human", "name": "Player 0"}, *({"seat": n, "kind": "open"} for n in (1, 2))],
        "open_seats": 2,
        "created_at": format_rfc3339(START),
    }
    table.join(game)
    table.publish(game)
    assert [each["open_seats"] for each in table.published.in_lobby()] == [1]
    table.join(game)
    assert table.publish(game).again is None
    assert table.published.public() == []


def test_a_game_that_is_not_public_is_never_in_the_lobby(table: Table) -> None:
    game = table.create(("anna",), open_seats=1, lobby=None)
    assert table.publish(game).again is None
    assert table.published.ids(statuses=("waiting",)) == [game]
    assert table.published.public() == table.published.public(APP) == []


def test_a_game_is_in_the_lobby_of_its_application_and_for_everybody_if_it_says_so(table: Table) -> None:
    for_app = table.create(("anna",), open_seats=1, lobby="app")
    table.now += 1
    for_all = table.create(("anna",), open_seats=1, lobby="all")
    table.now += 1
    other = table.create(("anna",), app=application(2), open_seats=1)
    for game in (for_app, for_all, other):
        assert table.publish(game).again == table.now + LOBBY_REFRESH_MS
    assert table.published.public() == [other, for_all]
    assert table.published.public(APP) == [for_all, for_app]
    assert table.published.public(application(2)) == [other]
    table.join(for_app)
    table.delete(for_all)
    for game in (for_app, for_all):
        table.publish(game)
    assert table.published.public() == [other]
    assert table.published.public(APP) == []


def test_of_many_games_others_follow_when_seats_of_the_newest_are_taken(table: Table) -> None:
    games: list[str] = []
    for _ in range(MAX_FOR_ALL + 2):
        games.insert(0, table.create((), open_seats=2))
        table.publish(games[0])
        table.now += 1
    assert table.published.public() == games[:MAX_FOR_ALL]
    assert table.published.public(APP) == games
    for game in games[:2]:
        for _ in range(2):
            table.join(game)
        table.publish(game)
    assert table.published.public() == table.published.public(APP) == games[2:]


def test_a_game_stays_in_the_lobby_as_long_as_it_is_followed(table: Table) -> None:
    game = table.create(("anna",), open_seats=1)
    table.publish(game)
    for _ in range(10):
        table.now += LOBBY_REFRESH_MS
        assert table.publish(game) == Publication(again=table.now + LOBBY_REFRESH_MS)
    assert table.published.public() == [game]
    table.now += LOBBY_MS
    assert table.published.public() == []


def test_a_slow_messenger_does_not_bring_a_full_game_back_to_the_lobby(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = table.create(("anna",), open_seats=1)
    show = table.outbox._show

    def stalled(current: Any) -> Any:
        table.join(game)
        outbox_of(table, table.published).publish(APP, game)
        return show(current)

    monkeypatch.setattr(table.outbox, "_show", stalled)
    table.publish(game)
    assert table.published.public() == []
