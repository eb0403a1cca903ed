"""Blindness of applications and of those who play for them: what is hidden changes nothing that they are told.

As in ``tests.api.test_blindness``, a stored game is changed where somebody cannot see it. An application knows what a
spectator does: whatever it reads with its key, and the messages to its endpoints, must be the same. A remote player
knows what its seat does, and who asks for a rematch nothing of the game that has not begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from random import Random
from typing import Any

import orjson
import pytest
import redis

from service.backends.webhooks.messages import game_messages
from service.engine.errors import InvalidSetup
from service.engine.variants import variants
from service.games.commands.move import decide_move
from service.games.model.errors import MoveRefused
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope
from service.games.model.schedule import Lifetimes, RemoteTurn, remote_turn
from service.games.store.codec import decode_event
from service.storage import keys
from service.storage.games import RedisStore
from service.storage.pubsub import RedisEventFeed
from service.storage.redis.topology import SingleNodeTopology
from service.web.http.errors import InvalidBody, RequestError
from service.web.moves.remote_messages import move_message, read_answer
from service.web.problems.answers import Refused
from tests.api.client import Api, Table, content_of
from tests.api.conftest import api_with_fixed_clock
from tests.api.saved_games import (
    GAME_SECONDS,
    SEED,
    SavedGame,
    SavedGames,
    Snapshot,
    decoded,
    restore,
    shortest,
    some_seats,
    take_snapshot,
)
from tests.api.test_blindness import hidden_from, refused_moves, versions_of
from tests.support.stores.redis_stores import redis_reminders
from tests.support.table import Json, round_over

pytestmark = pytest.mark.quick_and_gate

Publish = Callable[[], None]

LIFETIMES = Lifetimes.at_most(GAME_SECONDS * 1000)
OF_A_GAME = (
    "",
    "?text=true",
    "?after=1000000",
    "/moves",
    "/score",
    "/fairness",
    "/board?text=true",
    "/board.svg",
    "/board.txt?style=drawing",
    "/events?limit=1000",
    "/events?limit=1000&view=true&text=true",
)
OF_ALL_GAMES = (
    "/v1/games",
    "/v1/games?ref=the-match",
    "/v1/games?player_ref=user-0",
    "/v1/games?player_ref=user-0&to_act=true",
    "/v1/lobby",
    "/v1/feed?limit=1000",
)


@pytest.fixture
def fixed_api(store: RedisStore, feed: RedisEventFeed) -> Api:
    """The application with a fixed clock, so that two answers can be equal."""
    return api_with_fixed_clock(store, feed, bytes)


class Match:
    """A match in a game of an application, the last of whose players is a remote one."""

    def __init__(self, api: Api, server: redis.Redis, key: str, variant: str) -> None:
        self.api, self.server, self.key, self.variant = api, server, key, variant
        self.remote = some_seats(variant) - 1
        more = {"rules": {"rounds": 3}} if "rounds" in shortest(variant) else {}
        players = [{"name": f"P{seat}", "ref": f"user-{seat}"} for seat in range(self.remote)]
        self.table = self._create(
            [*players, {"name": "Deep Six", "url": "https://bots.example/", "ref": "engine"}], **more
        )

    def stages(self) -> Iterator[SavedGame]:
        """The game at several stages of the match; and before, one for which a player is awaited."""
        players = [{"name": f"P{seat}", "ref": f"user-{seat}"} for seat in range(self.remote)]
        yield self._saved("waiting", self._create([*players, {"open": True}], public=True))
        yield self._saved("dealt")
        yield self._until("early", lambda view: len(view["board"]["tiles"]) == 3)
        yield self._until("round_over", round_over)
        yield self._until("second_round", lambda view: view["round"] == 2 and len(view["board"]["tiles"]) == 2)

    def turns_of_the_remote_player(self) -> Iterator[SavedGame]:
        """The game at its first turn and at a later one."""
        for least in (0, 3):
            yield self._until(
                "its turn",
                lambda view: (
                    view.get("turn", {}).get("seat") == self.remote and len(view["board"]["tiles"]) >= least  # noqa: B023
                ),
            )

    def _create(self, players: list[dict[str, Any]], **more: Any) -> Table:
        body = {"variant": self.variant, "players": players, "ref": "the-match", "seed": SEED, "clock": {"turn": 600}}
        answer = self.api.post("/v1/games", {**body, **more}, token=self.key)
        assert answer.status_code == 201, answer.text
        return Table(self.api, answer.get_json())

    def _until(self, stage: str, until: Callable[[Json], bool]) -> SavedGame:
        self.api.play_until(self.table, until, Random(SEED))
        return self._saved(stage)

    def _saved(self, stage: str, table: Table | None = None) -> SavedGame:
        table = table or self.table
        return SavedGame(self.variant, stage, table, take_snapshot(self.server, table.id))


def alike(saved_game: SavedGame, seat: int | None) -> Iterator[Snapshot]:
    """The saved game, and others that differ in what the seat (or a spectator) cannot see, in state and events."""
    for number, snapshot in enumerate(versions_of(saved_game, seat)):
        yield hidden_from(seat, snapshot, Random(number)) if number else snapshot


def events_of(game: Game, snapshot: Snapshot) -> list[EventEnvelope]:
    data = [entry.partition(b" ")[2] for entry in snapshot.unpacked_events]
    return [decode_event(version, game.created_at, each) for version, each in enumerate(data, 1)]


def publish_anew(server: redis.Redis, app: str, game: str, publish: Publish) -> None:
    """Have a messenger tell the application of this game as if it knew nothing yet, and of no other game."""
    publish()
    known = [name for name in server.scan_iter(f"domino:{{{app}}}:*") if name != keys.application(app)]
    server.delete(*known, *server.scan_iter("domino:{lobby}*"), *server.scan_iter("domino:outbox:*"), b"-")
    redis_reminders(SingleNodeTopology(server)).restore("outbox", game, app, 1)
    publish()


def streamed(api: Api, path: str, key: str, version: int) -> bytes:
    """What a stream sends up to this version; the cursors of the feed, which are times, have no value."""
    headers = {"Accept": "application/x-ndjson", "Last-Event-ID": "0-0" if path == "/v1/feed" else "0"}
    with closing(api.ask_unchecked("GET", path, token=key, headers=headers, buffered=False)) as answer:
        sent = b""
        for chunk in answer.iter_encoded():
            sent += chunk
            if b'"version":%d,' % version in sent:
                break
    return re.sub(rb'"cursor":"[^"]*"', b"", sent)


def told(api: Api, path: str, key: str) -> tuple[int, object, bytes]:
    """An answer, in which the cursors of the feed have no value."""
    status, headers, body = content_of(api.ask_unchecked("GET", path, token=key))
    if not path.startswith("/v1/feed"):
        return status, headers, body
    assert b'"cursor":' in body
    return status, [name for name, _ in headers], re.sub(rb'"cursor":"[^"]*"', b"", body)


@pytest.mark.parametrize("variant", variants())
def test_an_application_reads_the_same_whatever_is_hidden(
    api: Api, server: redis.Redis, app_key: str, publish: Publish, variant: str
) -> None:
    for saved_game in Match(api, server, app_key, variant).stages():
        table, answers, streams = saved_game.table, [], []
        paths = [*(table.path + path for path in OF_A_GAME), *OF_ALL_GAMES]
        for snapshot in alike(saved_game, None):
            restore(server, table.id, snapshot)
            publish_anew(server, app_key[4:28], table.id, publish)
            answers.append({path: told(api, path, app_key) for path in paths})
            streams.append(
                [streamed(api, path, app_key, snapshot.version) for path in (f"{table.path}/events", "/v1/feed")]
            )
        first, *others = answers
        for path in paths:
            status, _, body = first[path]
            assert status == 200
            assert table.id.encode() in body or not names_game(path, saved_game.stage)
            assert all(each[path] == first[path] for each in others), f"{path} tells what the application cannot see"
        assert all(each == streams[0] for each in streams), "a stream tells what the application cannot see"
        restore(server, table.id, saved_game.snapshot)


def names_game(path: str, stage: str) -> bool:
    """Whether this list names the game: nobody is waited for in one that waits itself, which alone is in the lobby."""
    return path in OF_ALL_GAMES and ("to_act" not in path) and (path != "/v1/lobby" or stage == "waiting")


@pytest.mark.parametrize("variant", variants())
def test_messages_to_an_endpoint_say_the_same_whatever_is_hidden(
    api: Api, server: redis.Redis, app_key: str, variant: str
) -> None:
    kinds = set()
    for saved_game in Match(api, server, app_key, variant).stages():
        messages = []
        for snapshot in alike(saved_game, None):
            game = decoded(saved_game.table.id, snapshot)
            events = events_of(game, snapshot)
            messages.append(
                [
                    game_messages("endpoint", game, events[after - 1].to_act or () if after else (), events[after:])
                    for after in range(game.version)
                ]
            )
        assert all(each == messages[0] for each in messages), f"messages of a game that is {saved_game.stage}"
        kinds |= {message.type for told in messages[0] for message in told}
    assert kinds >= {"game.turn", "game.round_over"}


@pytest.mark.parametrize("variant", variants())
def test_a_remote_player_is_asked_the_same_whatever_is_hidden_and_shown_the_view_of_its_seat(
    api: Api, server: redis.Redis, app_key: str, variant: str
) -> None:
    match = Match(api, server, app_key, variant)
    for saved_game in match.turns_of_the_remote_player():
        bodies = refused_moves(api, saved_game, match.remote)
        asked = []
        for snapshot in alike(saved_game, match.remote):
            turn = remote_turn(decoded(saved_game.table.id, snapshot))
            assert turn is not None
            reasons = [None, *(refusal(turn, body) for body in bodies)]
            asked.append([move_message(turn, LIFETIMES, reason) for reason in reasons])
        assert all(each == asked[0] for each in asked)
        data = orjson.loads(asked[0][0])["data"]
        assert data["view"] == saved_game.table.view(match.remote)
        assert data["view"]["you"]["seat"] == data["seat"] == match.remote


def refusal(turn: RemoteTurn, body: dict[str, Any]) -> Refused:
    """Why this answer of a remote player is refused."""
    try:
        token_hash = turn.game.seats[turn.seat].token_hash
        decide_move(turn.seat, token_hash, read_answer(turn, orjson.dumps(body), complete=True), turn.game)
    except (RequestError, InvalidBody, InvalidSetup, MoveRefused) as refused:
        return refused
    raise AssertionError(f"{body} is a legal move")


@pytest.mark.parametrize("variant", variants())
def test_who_asks_for_a_rematch_is_answered_the_same_whatever_was_hidden(
    fixed_api: Api, server: redis.Redis, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "finished")
    table = saved_game.table
    answers = []
    for snapshot in alike(saved_game, None):
        restore(server, table.id, snapshot)
        asked = [fixed_api.post(f"{table.path}/rematch", token=token) for token in table.tokens.values()]
        assert [answer.status_code for answer in asked] == [201] * len(asked)
        new = asked[0].get_json()["game"]["id"]
        views = [fixed_api.get(table.path, token=token) for token in (None, *table.tokens.values())]
        answers.append([content_of(answer) for answer in asked] + [(each.status_code, each.data) for each in views])
        server.delete(*keys.of_game(new))
    restore(server, table.id, saved_game.snapshot)
    assert all(each == answers[0] for each in answers)
