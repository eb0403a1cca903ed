"""The index of games and the lobbies, on one server and on a Cluster."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from service.backends.index.store import MAX_EXAMINED, MAX_FOR_ALL, MAX_IN_LOBBY, MAX_TRIMMED
from service.backends.index.summaries import deleted_entry
from service.backends.values import LOBBY_MS, IndexEntry, IndexPosition, IndexQuery, LobbyEntry, LobbyQuery
from service.backends.webhooks.messages import CREATED, DELETED, TURN
from service.games.model.schedule import DAY_MS
from service.redis import keys
from service.redis.shards import shard_of, with_shard
from service.redis.topology import Topology
from tests.storage.conftest import TTL
from tests.support.stores.stored_index import StoredIndex

pytestmark = pytest.mark.gate

START = IndexPosition(0, "")


class Harness(StoredIndex):
    """An index, a lobby, and an application."""

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology, TTL)
        self.app = new_id()

    def now(self) -> int:
        """Milliseconds since 1970, by the clock of the server."""
        seconds, micros = self.call(keys.part(b"index", self.app), b"TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def scan(self, beginning: bytes) -> list[bytes]:
        """The keys that begin so, sorted."""
        found, cursor = [], b"0"
        while True:
            cursor, some = self.call(beginning, b"SCAN", cursor, b"MATCH", beginning + b"*", b"COUNT", 1000)
            found += some
            if cursor == b"0":
                return sorted(found)

    def pass_lobby_time(self) -> None:
        """Let entries of the lobby end."""
        for entries, until, _ in map(keys.lobby, (None, ONE, OTHER)):
            values = self.call(entries, b"HGETALL", entries)
            for game, value in zip(values[::2], values[1::2], strict=True):
                version, ends, rest = value.split(b" ", 2)
                earlier = int(ends) - LOBBY_MS
                self.call(entries, b"HSET", entries, game, b"%b %d %b" % (version, earlier, rest))
                self.call(entries, b"ZADD", until, earlier, game)


def new_id() -> str:
    return with_shard(secrets.token_urlsafe(16))


ONE, OTHER = new_id(), new_id()
"""Ids of applications."""


@pytest.fixture
def harness(topology: Topology) -> Iterator[Harness]:
    harness = Harness(topology)
    clear_lobby(harness)
    yield harness
    clear_lobby(harness)


def clear_lobby(harness: Harness) -> None:
    for key in [each for app in (None, ONE, OTHER) for each in lobby_keys(harness, app)]:
        harness.call(key, b"DEL", key)


def lobby_keys(harness: Harness, app: str | None) -> list[bytes]:
    """The keys of a lobby that there are."""
    return harness.scan(keys.lobby(app)[0])


def all_pages(read: Callable[[str | None], tuple[list[Any], str | None]]) -> list[list[Any]]:
    """All pages, each by the cursor of the one before."""
    pages, cursor = [], None
    for _ in range(10_000):
        page, cursor = read(cursor)
        pages.append(page)
        if cursor is None:
            return pages
    raise AssertionError("the pages do not end")


class Games:
    """Puts games into an index, each time at its next version."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.began = harness.now() - 1_000_000

    def put(
        self,
        game: str,
        at: int = 0,
        *,
        items: Sequence[bytes] = (),
        types: Sequence[str] = (TURN,),
        notified: int | None = None,
        size: int = 0,
        **entry: Any,
    ) -> bool:
        """Put a game that was written so many milliseconds after the beginning."""
        index, app = self.harness.index, self.harness.app
        position = index.position(app, game)
        written = self.entry(game, at, **entry)._replace(bytes=size)
        return index.put(app, written, items, types, position=position, notified=notified) is not None

    def entry(
        self, game: str, at: int = 0, *, version: int = 1, players: dict[str, int | None] | None = None, **changes: Any
    ) -> IndexEntry:
        written, summary = self.began + at, f"{game} {version}\n".encode()
        entry = IndexEntry(
            game, version, "write-id", written, written + TTL * 1000, None, players or {}, "domino", "playing", summary
        )
        return entry._replace(**changes)

    def found(self, **query: Any) -> list[str]:
        """The ids of all games that are found, page by page."""
        return [game for page in self.pages(**query) for game in page]

    def pages(self, **query: Any) -> list[list[str]]:
        def read(cursor: str | None) -> tuple[list[str], str | None]:
            page = self.harness.index.find(self.harness.app, IndexQuery(cursor=cursor, **query))
            return [summary.split()[0].decode() for summary, _ in page.games], page.next

        return all_pages(read)


@pytest.fixture
def games(harness: Harness) -> Games:
    return Games(harness)


def test_a_game_is_at_the_version_that_was_put_with_its_summary_and_its_end(harness: Harness, games: Games) -> None:
    game, index, app = new_id(), harness.index, harness.app
    assert index.position(app, game) == START
    assert index.find(app, IndexQuery()) == ([], None)
    assert games.put(game, 17, version=3)
    assert index.position(app, game) == (3, "write-id")
    assert index.find(app, IndexQuery()).games == [(b"%b 3\n" % game.encode(), games.began + 17 + TTL * 1000)]
    assert index.position(new_id(), game) == START


def test_only_who_knows_the_position_puts(harness: Harness, games: Games) -> None:
    game, index, app = new_id(), harness.index, harness.app
    games.put(game, version=2, items=[b"one"])
    newer = games.entry(game, version=3)
    wrong = [START, IndexPosition(1, "write-id"), IndexPosition(2, "another"), IndexPosition(3, "write-id")]
    for position in wrong:
        assert index.put(app, newer, [b"two"], (), position=position) is None
        assert not index.remove(app, game, position=position)
    assert harness.items(harness.app) == [b"one"]
    assert index.put(app, newer, [b"two"], (), position=index.position(app, game)) == ()
    assert harness.items(harness.app) == [b"one", b"two"]


def test_a_version_without_an_id_of_a_write_is_a_position_too(harness: Harness, games: Games) -> None:
    game = new_id()
    entry = games.entry(game, version=5, write_id="")
    assert harness.index.put(harness.app, entry, (), (), position=START) == ()
    assert harness.index.position(harness.app, game) == (5, "")
    assert games.put(game, version=6)


def test_games_are_listed_by_the_last_write_and_page_by_page(games: Games) -> None:
    listed = [new_id() for _ in range(7)]
    for at, game in enumerate(listed):
        games.put(game, at)
    games.put(listed[2], 100, version=2)
    newest = [listed[2], listed[6], listed[5], listed[4], listed[3], listed[1], listed[0]]
    assert games.found() == newest
    assert games.pages(limit=3) == [newest[:3], newest[3:6], newest[6:]]
    assert games.pages(limit=7) == [newest]


@pytest.mark.parametrize("waiting", [False, True])
def test_games_of_the_same_time_are_each_listed_once(waiting: bool, games: Games) -> None:
    listed = [new_id() for _ in range(25)]
    for game in listed:
        games.put(game, players={"anna": 5})
    for limit in (1, 2, 7, 25):
        found = games.found(player_ref="anna", waiting=waiting, limit=limit)
        assert sorted(found) == sorted(listed)
        assert len(found) == 25


def test_games_are_found_by_ref_by_player_and_by_both(games: Games) -> None:
    first, second, third = new_id(), new_id(), new_id()
    games.put(first, 1, ref="club", players={"anna": None, "ben": None})
    games.put(second, 2, ref="club", players={"carl": None})
    games.put(third, 3, ref="other club", players={"anna": None})
    assert games.found(ref="club") == [second, first]
    assert games.found(player_ref="anna") == [third, first]
    assert games.found(ref="club", player_ref="anna") == [first]
    assert games.found(ref="anna") == games.found(player_ref="club") == []


def test_games_are_found_by_status_and_variant_and_time(games: Games) -> None:
    first, second, third = new_id(), new_id(), new_id()
    games.put(first, 1, status="waiting", variant="fido")
    games.put(second, 2, status="finished")
    games.put(third, 3, status="finished", variant="fido")
    assert games.found(statuses=("finished",)) == [third, second]
    assert games.found(statuses=("playing", "waiting")) == [first]
    assert games.found(statuses=("waiting", "finished")) == [third, second, first]
    assert games.found(variant="fido") == [third, first]
    assert games.found(variant="fido", statuses=("finished",)) == [third]
    assert games.found(updated_after=games.began + 2) == [third]
    assert games.found(updated_after=games.began + 1) == [third, second]


def test_the_games_that_wait_for_a_player_are_listed_most_urgent_first(games: Games) -> None:
    listed = {urgency: new_id() for urgency in (300, 100, 10**13, 200)}
    for at, (urgency, game) in enumerate(listed.items()):
        games.put(game, at, players={"anna": urgency, "ben": None})
    games.put(new_id(), players={"anna": None, "ben": 1})
    urgent = [listed[100], listed[200], listed[300], listed[10**13]]
    assert games.found(player_ref="anna", waiting=True) == urgent
    assert games.pages(player_ref="anna", waiting=True, limit=3) == [urgent[:3], urgent[3:]]
    assert games.found(player_ref="anna", waiting=True, updated_after=games.began + 1) == [listed[200], listed[10**13]]


def test_a_ref_that_a_game_has_no_more_and_whoever_is_no_longer_waited_for_find_nothing(games: Games) -> None:
    game = new_id()
    games.put(game, ref="old club", players={"anna": 5, "ben": 5, "carl": None})
    games.put(game, version=2, ref="club", players={"maria": 5, "ben": None, "carl": 6})
    assert games.found(ref="old club") == games.found(player_ref="anna") == []
    assert games.found(player_ref="anna", waiting=True) == games.found(player_ref="ben", waiting=True) == []
    assert games.found(ref="club") == games.found(player_ref="ben") == [game]
    for name in ("maria", "carl"):
        assert games.found(player_ref=name, waiting=True) == [game]


def test_any_text_is_a_ref(games: Games) -> None:
    refs = ["", " ", "a b", "a,b", "-", "ö\n", "😀" * 64, "{x}", "\ud800"]
    listed = [new_id() for _ in refs]
    for game, ref in zip(listed, refs, strict=True):
        games.put(game, ref=ref, players={ref: 1})
    for game, ref in zip(listed, refs, strict=True):
        assert games.found(ref=ref) == games.found(player_ref=ref) == [game]


QUERIES: list[dict[str, Any]] = [{}, {"ref": "club"}, {"player_ref": "anna"}, {"player_ref": "anna", "waiting": True}]
"""Queries that find a game of the ref ``club`` that waits for ``anna``."""


def test_a_removed_game_is_unknown(harness: Harness, games: Games) -> None:
    game, app = new_id(), harness.app
    games.put(game, ref="club", players={"anna": 1}, items=[b"one"])
    assert [games.found(**query) for query in QUERIES] == [[game]] * 4
    assert harness.index.remove(app, game, position=harness.index.position(app, game))
    assert harness.index.position(app, game) == START
    assert [games.found(**query) for query in QUERIES] == [[]] * 4
    assert harness.items(harness.app) == [b"one"]
    assert games.put(game)


def test_a_deleted_game_is_listed_no_more_and_known_as_deleted(harness: Harness, games: Games) -> None:
    game, app, index = new_id(), harness.app, harness.index
    harness.activate(harness.app, "hook")
    games.put(game, ref="club", players={"anna": 1})
    deleted = IndexEntry(game, 2, "", games.began, games.began, None, {}, "-", "deleted", b"")
    position = index.position(app, game)
    assert index.put(app, deleted, [b"deleted"], (DELETED,), position=position) == ("hook",)
    assert index.position(app, game) == (2, "")
    assert index.put(app, deleted, [b"deleted"], (DELETED,), position=position) is None
    assert [games.found(**query) for query in (*QUERIES, {"statuses": ("deleted",)})] == [[]] * 5
    assert harness.items(harness.app) == [b"deleted"]
    assert harness.notified(harness.app, "hook") == {game: 0}


def test_no_application_sees_the_games_of_another(harness: Harness, games: Games) -> None:
    game, other = new_id(), new_id()
    games.put(game, ref="club", players={"anna": 1})
    for query in QUERIES:
        assert harness.index.find(other, IndexQuery(**query)) == ([], None)
    assert harness.index.games(other, None) == ([], None)


@pytest.mark.parametrize("cursor", ["", "x", "====", "ä", "\ud800", "MTI", "eCB5", "-1", "MTIgYSBi", "MTIgYQ=="])
def test_a_text_that_is_no_cursor_is_refused(cursor: str, harness: Harness) -> None:
    with pytest.raises(ValueError, match="no cursor"):
        harness.index.find(harness.app, IndexQuery(cursor=cursor))


def test_endpoints_are_due_and_know_the_version_before(harness: Harness, games: Games) -> None:
    game, app = new_id(), harness.app
    games.put(game, version=2)
    for endpoint in ("one", "two"):
        harness.activate(app, endpoint)
    position = harness.index.position(app, game)
    before = harness.now()
    due = harness.index.put(app, games.entry(game, version=5), (), (TURN,), position=position)
    assert sorted(due or ()) == ["one", "two"]
    for endpoint in ("one", "two"):
        assert harness.notified(app, endpoint) == {game: 2}
        assert before <= harness.due(app, endpoint)[game] <= harness.now()
    games.put(game, version=6)
    assert harness.notified(app, "one") == {game: 2}
    games.put(game, version=7, notified=1)  # told again of what follows
    assert harness.notified(app, "one") == {game: 1}


def test_an_endpoint_is_due_only_for_messages_that_it_is_sent(harness: Harness, games: Games) -> None:
    game, app = new_id(), harness.app
    harness.activate(app, "hook", CREATED, DELETED)
    games.put(game, version=2, types=())
    games.put(game, version=3, types=(TURN,))
    assert harness.due(app, "hook") == harness.notified(app, "hook") == {}
    games.put(game, version=4, types=(TURN, CREATED))
    due = harness.due(app, "hook")
    games.put(game, version=5, types=(TURN,))
    assert harness.due(app, "hook") == due  # what follows is nothing new for it
    assert harness.notified(app, "hook") == {game: 3}
    games.put(game, version=4, types=(), notified=2)  # the store has lost writes
    assert harness.notified(app, "hook") == {game: 2}
    assert harness.due(app, "hook")[game] > due[game]


def test_an_endpoint_that_was_deleted_is_not_due(harness: Harness, games: Games) -> None:
    harness.activate(harness.app, "hook")
    key = keys.part(b"webhooks", harness.app)
    harness.call(key, b"HDEL", key, b"hook")
    games.put(new_id())
    assert harness.notified(harness.app, "hook") == harness.due(harness.app, "hook") == {}


def test_what_is_new_gives_a_due_game_another_time(harness: Harness, games: Games) -> None:
    game, seen = new_id(), set()
    harness.activate(harness.app, "hook")
    for version in range(1, 20):
        games.put(game, version=version)
        seen.add(harness.due(harness.app, "hook")[game])
    assert len(seen) == 19


def test_all_games_of_an_index_can_be_read(harness: Harness, games: Games) -> None:
    listed = {new_id() for _ in range(50)}
    for game in listed:
        games.put(game)
    found, cursor = harness.index.games(harness.app, None)
    while cursor is not None:
        more, cursor = harness.index.games(harness.app, cursor)
        found += more
    assert set(found) == listed


def test_the_usage_of_an_application_follows_its_games(harness: Harness, games: Games) -> None:
    app = harness.app

    def usage() -> tuple[int, int, int]:
        return harness.index.usage(app)

    assert usage() == (0, 0, 0)
    for number, size in enumerate((1_000, 200, 30)):
        games.put(str(number), size=size)
    assert usage() == (3, 1_230, 0)
    for endpoint in ("a", "b"):
        harness.activate(harness.app, endpoint)
    games.put("1", version=2, size=500)
    games.put("3", version=1, size=7)
    assert usage() == (4, 1_537, 4)
    position = harness.index.position(app, "0")
    deleted = deleted_entry("0", 2, harness.now())
    assert harness.index.put(app, deleted, [], [], position=position) == ()
    assert usage() == (3, 537, 4)
    assert harness.index.remove(app, "2", position=harness.index.position(app, "2"))
    assert usage() == (2, 507, 4)
    assert not harness.index.remove(app, "1", position=position)
    assert usage() == (2, 507, 4)
    assert harness.index.usage(new_id()) == (0, 0, 0)


def test_a_game_that_has_expired_is_not_counted(harness: Harness, games: Games) -> None:
    games.put("new")
    games.put("old", at=1_000_000 - TTL * 1000 - 1_000)  # last, as every write forgets some
    assert harness.index.usage(harness.app).games == 1


def test_games_that_have_expired_are_not_listed(harness: Harness, games: Games) -> None:
    game, old = new_id(), new_id()
    brief = games.entry(new_id(), ref="club", players={"anna": 1})._replace(expires_at=harness.now() - 1)
    assert harness.index.put(harness.app, brief, (), (), position=START) == ()
    games.put(game)
    games.put(old, 1_000_000 - TTL * 1000 - 1, ref="club", players={"anna": 1})
    assert games.found() == [game]
    assert games.found(player_ref="anna", waiting=True) == games.found(ref="club") == []


# The lobbies


def lobby_game(
    game: str, created_at: int = 1, *, app: str = ONE, version: int = 1, variant: str = "domino", for_all: bool = True
) -> LobbyEntry:
    return LobbyEntry(game, app, version, variant, created_at, f"{game} {version}".encode(), for_all)


def shown(harness: Harness, app: str | None = None, variant: str | None = None, limit: int = 200) -> list[bytes]:
    """All games of a lobby, page by page."""
    return [game for page in lobby_pages(harness, app, variant, limit) for game in page]


def lobby_pages(harness: Harness, app: str | None, variant: str | None, limit: int) -> list[list[bytes]]:
    def read(cursor: str | None) -> tuple[list[bytes], str | None]:
        page = harness.lobby.games(LobbyQuery(app, variant, limit, cursor))
        return page.games, page.next

    return all_pages(read)


@pytest.mark.parametrize("app", [None, ONE], ids=["for everybody", "of an application"])
def test_a_lobby_shows_the_newest_games_first(harness: Harness, app: str | None) -> None:
    entries = [lobby_game(new_id(), at, variant=("domino", "fido")[at % 2]) for at in range(6)]
    for entry in entries:
        assert harness.lobby.put(entry)
    newest = [entry.json for entry in reversed(entries)]
    assert shown(harness, app) == newest
    assert shown(harness, app, "fido") == newest[::2]
    assert shown(harness, app, "another") == []
    for variant, all_of_it in ((None, newest), ("fido", newest[::2])):
        for limit in range(1, 7):
            pages = lobby_pages(harness, app, variant, limit)
            assert [game for page in pages for game in page] == all_of_it
            assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)


def test_games_of_the_same_time_are_each_in_one_page(harness: Harness) -> None:
    for _ in range(7):
        harness.lobby.put(lobby_game(new_id(), 5))
    assert len({*shown(harness, ONE, limit=2)}) == len(shown(harness, ONE, limit=2)) == 7


def test_a_page_goes_on_after_a_game_that_has_left(harness: Harness) -> None:
    entries = [lobby_game(new_id(), at) for at in range(4)]
    for entry in entries:
        harness.lobby.put(entry)
    page = harness.lobby.games(LobbyQuery(ONE, limit=2))
    harness.lobby.put(entries[2]._replace(version=2, json=None))
    harness.lobby.put(lobby_game(new_id(), 9))
    assert harness.lobby.games(LobbyQuery(ONE, cursor=page.next)).games == [entries[1].json, entries[0].json]


@pytest.mark.parametrize("app", [None, ONE], ids=["for everybody", "of an application"])
def test_a_text_that_is_no_cursor_of_a_lobby_is_refused(harness: Harness, app: str | None) -> None:
    with pytest.raises(ValueError, match="cursor"):
        harness.lobby.games(LobbyQuery(app, cursor="x"))


def test_a_lobby_of_an_application_has_its_games_and_those_for_it_alone(harness: Harness) -> None:
    for_all, for_app, other = lobby_game("all", 3), lobby_game("app", 2, for_all=False), lobby_game("x", 1, app=OTHER)
    for entry in (for_all, for_app, other):
        assert harness.lobby.put(entry)
    assert shown(harness) == [for_all.json, other.json]
    assert shown(harness, ONE) == [for_all.json, for_app.json]
    assert shown(harness, OTHER) == [other.json]


def test_a_game_without_open_seats_leaves_the_lobbies_for_good(harness: Harness) -> None:
    """As does one of which only its application is known."""
    for for_all in (True, False):
        for is_known in (True, False):
            entry = lobby_game(new_id(), for_all=for_all)
            harness.lobby.put(entry)
            unknown = LobbyEntry(entry.game, ONE, 2, "-", 0, None)
            assert not harness.lobby.put(entry._replace(version=2, json=None) if is_known else unknown)
            assert not harness.lobby.put(entry)
            for app in (None, ONE):
                assert shown(harness, app) == shown(harness, app, "domino") == []


def test_a_newer_version_replaces_an_older_one_in_the_lobby(harness: Harness) -> None:
    game = new_id()
    assert harness.lobby.put(lobby_game(game, version=2))
    assert not harness.lobby.put(lobby_game(game, version=1))
    assert shown(harness) == shown(harness, ONE) == [b"%b 2" % game.encode()]
    assert harness.lobby.put(lobby_game(game, version=3))
    assert shown(harness) == shown(harness, ONE) == [b"%b 3" % game.encode()]


def test_a_game_that_is_not_shown_again_leaves_the_lobby(harness: Harness) -> None:
    first, second = lobby_game(new_id()), lobby_game(new_id())
    harness.lobby.put(first)
    harness.pass_lobby_time()
    assert shown(harness) == shown(harness, ONE) == []
    harness.lobby.put(second)
    assert shown(harness) == shown(harness, ONE) == [second.json]
    harness.lobby.put(first)
    assert len(shown(harness)) == len(shown(harness, ONE)) == 2


def test_for_everybody_the_newest_games_of_an_application_are_shown(harness: Harness) -> None:
    others = [lobby_game(f"other{at}", at, app=OTHER, variant="fido") for at in range(2)]
    many = [lobby_game(f"game{at:03}", at, variant=("domino", "fido")[at % 2]) for at in range(50)]
    for entry in (*others, *reversed(many[:25]), *many[25:]):
        assert harness.lobby.put(entry)
    newest = many[::-1]
    of_others = [others[1].json, others[0].json]
    assert shown(harness) == [each.json for each in newest[:MAX_FOR_ALL]] + of_others
    assert shown(harness, limit=3) == shown(harness)
    of_fido = [each for each in newest if each.variant == "fido"]
    assert shown(harness, variant="fido") == [each.json for each in of_fido[:MAX_FOR_ALL]] + of_others
    assert shown(harness, ONE) == [each.json for each in newest]
    for gone in (3, 20, 0, 1):  # in the list; in none; in the list of all and in that of its variant
        entry = newest.pop(gone)
        harness.lobby.put(entry._replace(version=2, json=None))
        assert shown(harness) == [each.json for each in newest[:MAX_FOR_ALL]] + of_others
        for variant, rest in (("domino", []), ("fido", of_others)):
            own = [each.json for each in newest if each.variant == variant]
            assert shown(harness, variant=variant) == own[:MAX_FOR_ALL] + rest
    older, newer = newest[30], newest[5]
    for entry in (older, newer):  # what is put again keeps its place
        harness.lobby.put(lobby_game(entry.game, entry.created_at, variant=entry.variant, version=3))
    expected = [b"%b 3" % newer.game.encode() if each is newer else each.json for each in newest[:MAX_FOR_ALL]]
    assert shown(harness) == expected + of_others


def test_when_entries_end_others_take_their_places(harness: Harness) -> None:
    for at in range(MAX_FOR_ALL):
        harness.lobby.put(lobby_game(f"ended{at}", 100 + at))
    harness.pass_lobby_time()
    living = [lobby_game(f"game{at}", at) for at in range(MAX_FOR_ALL)]
    for entry in living:
        harness.lobby.put(entry)
    assert shown(harness) == [each.json for each in reversed(living)]


def test_of_an_application_the_newest_games_are_kept(harness: Harness) -> None:
    harness.lobby.put(lobby_game("other", 0, app=OTHER))
    for at in range(MAX_IN_LOBBY):
        assert harness.lobby.put(lobby_game(f"game{at}", at + 1, variant=("domino", "fido")[at % 2]))
    assert not harness.lobby.put(lobby_game("oldest", 0))
    assert harness.lobby.put(lobby_game("newest", MAX_IN_LOBBY + 1))
    kept = shown(harness, ONE)
    assert len(kept) == MAX_IN_LOBBY
    assert kept[0] == b"newest 1"
    assert kept[-1] == b"game1 1"
    assert len(shown(harness)) == MAX_FOR_ALL + 1


# The keys


def keys_of(harness: Harness) -> list[bytes]:
    return harness.scan(keys.state(harness.app))


def test_games_that_have_expired_are_removed_little_by_little(harness: Harness, games: Games) -> None:
    harness.activate(harness.app, "hook")
    old = [new_id() for _ in range(MAX_TRIMMED + 5)]
    for game in old:
        games.put(game, 1_000_000 - TTL * 1000 + 60_000, ref="club", players={"anna": 1}, size=100)
    key = keys.state(harness.app) + b":ends"
    for game in old:
        harness.call(key, b"ZINCRBY", key, -120_000 - DAY_MS, game.encode())
    living = new_id()
    games.put(living, size=7)
    assert len(harness.index.games(harness.app, None)[0]) == 1 + 5
    assert harness.index.usage(harness.app)[:2] == (1, 507)
    games.put(living, version=2, size=8)
    assert harness.index.usage(harness.app)[:2] == (1, 8)
    assert harness.index.games(harness.app, None)[0] == [living]
    assert list(harness.due(harness.app, "hook")) == list(harness.notified(harness.app, "hook")) == [living]
    of_app = [each.removeprefix(keys.state(harness.app)) for each in keys_of(harness)]
    lists = [b":bytes", b":endpoints", b":ends", b":games", b":index"]
    assert of_app == [*lists, b":webhook:hook:due", b":webhook:hook:notified", b":webhooks"]


def test_a_game_whose_entry_has_ended_is_known_for_a_day_more(harness: Harness, games: Games) -> None:
    game = new_id()
    games.put(game, 1_000_000 - TTL * 1000 + 60_000, items=[b"one"])
    key = keys.state(harness.app) + b":ends"
    harness.call(key, b"ZINCRBY", key, -120_000, game.encode())  # but it was written again meanwhile
    games.put(new_id())
    assert harness.index.position(harness.app, game).version == 1


def test_every_key_of_the_index_expires_as_a_game_does(harness: Harness, games: Games) -> None:
    harness.activate(harness.app, "hook")
    game = new_id()
    games.put(game, ref="club", players={"anna": 1}, items=[b"item"])
    expiring = [key for key in keys_of(harness) if not key.endswith((b":endpoints", b":webhooks"))]
    assert len(expiring) == 10
    for key in expiring:
        assert TTL - 5 <= harness.call(key, b"TTL", key) <= TTL


def test_no_ref_is_in_the_name_of_a_key_or_beside_the_summary(harness: Harness) -> None:
    game = new_id()
    Games(harness).put(game, ref="the club", players={"anna maria": 1})
    everything = keys_of(harness)
    everything += harness.call(everything[0], b"HGETALL", keys.part(b"index", harness.app))
    assert not any(b"club" in each or b"anna" in each for each in everything)


def test_an_endpoint_that_is_due_is_reminded_of_unless_somebody_has_it(harness: Harness, games: Games) -> None:
    app = harness.app
    harness.activate(harness.app, "hook")
    shard = shard_of(app)
    assert shard is not None
    key, member = keys.reminder_sets("webhooks")[shard], f"{app}.hook".encode()
    score: Callable[[], float] = lambda: float(harness.call(key, b"ZSCORE", key, member))  # noqa: E731
    games.put(new_id())
    assert harness.now() - 1000 < score() <= harness.now()
    later = harness.now() + 100_000
    harness.call(key, b"ZADD", key, later, member)
    games.put(new_id())
    assert score() <= harness.now()
    harness.call(key, b"ZADD", key, b"%d.5" % later, member)
    games.put(new_id())
    assert score() == later + 0.5
    harness.call(key, b"ZREM", key, member)


def test_a_page_looks_at_a_bounded_number_of_games(harness: Harness, games: Games) -> None:
    wanted = new_id()
    games.put(wanted, 0, status="finished")
    for at in range(MAX_EXAMINED):
        games.put(new_id(), at + 1)
    assert games.pages(statuses=("finished",), limit=1) == [[], [wanted]]


def test_every_key_of_a_lobby_lies_in_one_slot_and_expires_with_its_entries(harness: Harness) -> None:
    for at in range(MAX_FOR_ALL + 1):
        harness.lobby.put(lobby_game(f"game{at}", at))
    harness.lobby.put(lobby_game("game1", 1, version=2)._replace(json=None))  # another one takes its place
    for app, tag in ((None, "lobby"), (ONE, ONE)):
        found = lobby_keys(harness, app)
        assert len(found) == 6
        for key in found:
            assert b"{%b}" % tag.encode() in key
            assert LOBBY_MS - 60_000 <= harness.call(key, b"PTTL", key) <= LOBBY_MS
    clear_lobby(harness)
