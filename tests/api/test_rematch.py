"""A rematch: the same new game for every player of a finished one, whoever asks, when, and of which worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.engine.variants import variants
from service.games.facade import GamesFacade
from service.games.model.seats import BOT_NAMES
from service.games.model.tokens import hash_secret
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.redis.connection import connect
from service.redis.errors import StorageUnavailable
from service.redis.topology import SingleNodeTopology
from tests.api.client import Api, Table, location_of, refusal, status_and_code, told
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.finished import FinishedGames
from tests.api.followers import LINES, lines_in, rest_of_stream, stream
from tests.api.phases import finished as finished_match
from tests.api.saved_games import SavedGames, StoreContents, shortest, stored, unchanged, variants_in_lane
from tests.api.timed import TimedApi, types_of
from tests.support.application import build_backends, create_app
from tests.support.games import build_games
from tests.support.stores.redis_stores import redis_store
from tests.support.table import Json, match_finished

pytestmark = pytest.mark.gate


@pytest.fixture
def finished(api: Api, saved_games: SavedGames, server: redis.Redis) -> FinishedGames:
    return FinishedGames(api, saved_games, server)


def ask(api: Api, table: Table, seat: int | None, **more: Any) -> TestResponse:
    """Ask for the rematch of a game, with the token of a seat."""
    token = None if seat is None else table.tokens[seat]
    return api.ask("POST", f"{table.path}/rematch", token=token, **more)


def taken(answer: TestResponse) -> Json:
    """The seat in the new game."""
    return told(answer, 201)


def begin(api: Api, table: Table) -> Table:
    """The new game, with the tokens of all its seats."""
    seats = [taken(ask(api, table, seat)) for seat in table.tokens]
    (game,) = {each["game"]["id"]: each["game"] for each in seats}.values()
    return Table(api, {"game": game, "seats": seats})


def assert_one_game(old: Table, workers: Sequence[Api], crowd: ThreadPoolExecutor) -> None:
    """Have all seats ask all workers at once; each gets the next place and one token of its own in one game."""
    askers = [(each, seat) for seat in old.tokens for each in workers]
    bodies = [taken(answer) for answer in crowd.map(lambda asker: ask(asker[0], old, asker[1]), askers)]
    assert len({body["game"]["id"] for body in bodies}) == 1
    assert [body["seat"] for body in bodies] == [(seat - 1) % len(old.tokens) for _, seat in askers]
    assert sorted({body["token"]: body["seat"] for body in bodies}.values()) == sorted(old.tokens)


def worker(redis_url: str, feed: RedisEventFeed, *secrets: bytes, store: type[RedisStore] = RedisStore) -> Api:
    """The application of another process over the same store, with these secrets."""
    kept = redis_store(SingleNodeTopology(connect(redis_url)), TTL_SECONDS, kind=store)
    return Api(create_app(build_games(kept, feed, secrets, TTL_SECONDS)).test_client(use_cookies=False))


class RefusesCommits(RedisStore):
    """A store that new games can be written to, and then no more."""

    def commit(self, *_: Any, **__: Any) -> Any:
        raise StorageUnavailable("not now")


# The new game


@pytest.mark.parametrize("variant", variants_in_lane())
def test_all_get_the_same_new_game_and_their_own_token_there(api: Api, finished: FinishedGames, variant: str) -> None:
    old = finished.copy(variant)
    before, ids = api.view(old), set()
    for seat in old.tokens:
        answer = ask(api, old, seat)
        body = taken(answer)
        game = body["game"]
        assert location_of(answer) == f"/v1/games/{game['id']}"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Idempotent-Replayed" not in answer.headers
        name = before["players"][seat]["name"]
        assert body == {"seat": (seat - 1) % len(old.tokens), "name": name, "token": body["token"], "game": game}
        assert game["you"]["seat"] == body["seat"]
        assert api.get(location_of(answer), token=body["token"]).get_json()["you"] == game["you"]
        ids.add(game["id"])
        assert ask(api, old, seat).data == answer.data
    assert len(ids - {old.id}) == len(ids) == 1


@pytest.mark.parametrize("variant", variants_in_lane())
def test_it_is_the_same_match_dealt_anew(api: Api, finished: FinishedGames, variant: str) -> None:
    old = finished.copy(variant)
    new = begin(api, old)
    before, after = api.view(old), api.view(new)
    shown = [{name: each[name] for name in ("variant", "options", "arranged")} for each in (before, after)]
    assert shown == [{**shown[0], "arranged": True}, {**shown[0], "arranged": False}]
    assert (after["version"], after["round"], after["status"]) == (2, 1, "playing")
    assert len(after["commitments"]) == 2
    names = [[each["name"] for each in view["players"]] for view in (before, after)]
    assert names[1] == [*names[0][1:], names[0][0]]
    events = api.get(f"{new.path}/events").get_json()["events"]
    assert types_of(events) == [("created", None), ("dealt", None)]
    assert events[1]["data"]["client_seeds"] == [""] * len(new.tokens)


def test_teams_stay_together(api: Api) -> None:
    variant = next(key for key, each in variants().items() if any(option.key == "teams" for option in each.options))
    old = api.create(variant, 4, options={"teams": 2, **shortest(variant)})
    api.play_until(old, match_finished, Random(3))
    teams = [
        {frozenset(each["name"] for each in api.view(table)["players"] if each["team"] == team) for team in (0, 1)}
        for table in (old, begin(api, old))
    ]
    assert teams == [{frozenset({"P0", "P2"}), frozenset({"P1", "P3"})}] * 2


def test_a_whole_rematch_can_be_played_and_its_deals_proven(api: Api, finished: FinishedGames) -> None:
    new = begin(api, finished.copy())
    api.play_until(new, match_finished, Random(1))
    verified = api.post("/v1/verifications", new.record()).get_json()
    assert verified["verified"] is True
    assert verified["proven"] == verified["deals"] > 0
    assert api.view(begin(api, new))["players"][0]["name"] == api.view(new)["players"][1]["name"]


def test_clock_pace_absence_names_and_computer_players_go_along(timed_api: TimedApi, server: redis.Redis) -> None:
    players = [{"name": "Ada"}, {"bot": "random"}, {"name": "Bo"}, {"bot": "greedy"}]
    more: Json = {"clock": {"bank": 60, "increment": 5}, "absence": {"then": "forfeit"}, "pace": 0.5}
    old = timed_api.create("domino", players, unique_names=True, options={"limit": 10}, **more)
    play_out(timed_api, old)
    timed_api.clock.advance(100)
    new = begin(timed_api, old)
    view = timed_api.view(new)
    assert [(each["kind"], each.get("bot"), each["name"]) for each in view["players"]] == [
        ("bot", "random", BOT_NAMES[0]),
        ("human", None, "Bo"),
        ("bot", "greedy", BOT_NAMES[1]),
        ("human", None, "Ada"),
    ]
    assert {name: view[name] for name in ("clock", "absence")} == {name: more[name] for name in ("clock", "absence")}
    assert view["unique_names"] is True
    assert [each["bank"] for each in view["players"] if "bank" in each] == [60, 60]
    assert "deadline" in view["turn"] or view["players"][view["turn"]["seat"]]["kind"] == "bot"
    assert stored(server, new).pace == 500
    play_out(timed_api, new)


def play_out(api: TimedApi, table: Table) -> None:
    """Play a match with computer players to its end."""
    for _ in range(500):
        api.let_bots_play(table)
        if match_finished(api.view(table)):
            return
        acting = api.view(table)["to_act"]
        seat = next(seat for seat in acting if seat in table.tokens)
        api.make_move(table, seat, api.moves(table, seat)[0])
    raise AssertionError("no end")


def test_who_was_away_still_is_and_comes_back_as_ever(timed_api: TimedApi) -> None:
    old = timed_api.create("domino", 3, options={"limit": 10}, pace=0)
    timed_api.set_presence(old, 2, away=True)
    play_out(timed_api, old)
    new = begin(timed_api, old)
    assert [each.get("away", False) for each in timed_api.view(new)["players"]] == [False, True, False]
    assert types_of(timed_api.events(new)) == [("created", None), ("dealt", None), ("left", 1)]
    timed_api.let_bots_play(new)
    assert timed_api.to_turn_of_person(new) != 1
    assert "away" not in timed_api.set_presence(new, 1, away=False)["players"][1]
    timed_api.set_presence(new, 1, away=True)
    play_out(timed_api, new)
    findings = timed_api.post("/v1/verifications", new.record()).get_json()["findings"]
    assert {each["code"] for each in findings} <= {"wrong_bot_move"}  # here it plays its first legal move


def test_a_match_that_was_decided_by_forfeit_has_a_rematch(timed_api: TimedApi) -> None:
    old = timed_api.create("domino", 2, clock={"turn": 60}, absence={"then": "forfeit"})
    late = timed_api.time_out(old)
    assert timed_api.view(old)["status"] == "finished"
    players = timed_api.view(begin(timed_api, old))["players"]
    assert [each.get("away", False) for each in players] == [seat == (late - 1) % 2 for seat in range(2)]
    assert not any(each.get("forfeited") for each in players)


# The old game


def test_the_old_game_tells_of_the_new_one(api: Api, finished: FinishedGames) -> None:
    old = finished.copy()
    before, etag = api.view(old), old.get("").headers["ETag"]
    assert "rematch" not in before
    new = begin(api, old)
    after = api.view(old)
    times = {name: after[name] for name in ("updated_at", "expires_at")}
    assert after == {**before, **times, "version": before["version"] + 1, "rematch": {"game_id": new.id}}
    assert old.get("", If_None_Match=etag).status_code == 200
    (event,) = api.get(f"{old.path}/events?after={before['version']}&text=true").get_json()["events"]
    assert (event["type"], event["data"], event["to_act"]) == ("rematched", {"game_id": new.id}, [])
    assert event["text"] == "There is a rematch."
    for seat in (None, *old.tokens):
        assert api.view(old, seat)["rematch"] == {"game_id": new.id}


def test_a_view_of_the_time_before_does_not_tell_of_it(api: Api, finished: FinishedGames) -> None:
    old = finished.copy()
    version = api.view(old)["version"]
    begin(api, old)
    page = api.get(f"{old.path}/events?after={version - 1}&limit=1&view=true").get_json()
    assert (page["version"], "rematch" in page["game"]) == (version, False)


def test_streams_that_begin_after_the_end_tell_it_and_end(api: Api, finished: FinishedGames) -> None:
    old = finished.copy()
    version = api.view(old)["version"]
    begin(api, old)
    items = lines_in(rest_of_stream(stream(api, old, None, f"?after={version - 1}", headers=LINES)))
    assert [each["type"] for each in items] == ["finished", "rematched"]
    assert stream(api, old, None, f"?after={version + 1}", headers=LINES).status_code == 204


def test_record_score_and_fairness_do_not_change(api: Api, finished: FinishedGames) -> None:
    old = finished.copy()

    def shown() -> list[Any]:
        paths = ("/score", "/fairness", "/board.json")
        return [old.record(), *[{**old.get(path).get_json(), "version": 0} for path in paths]]

    before = shown()
    begin(api, old)
    assert shown() == before


def test_a_new_token_of_the_old_game_gives_the_same_seat(api: Api, finished: FinishedGames) -> None:
    old = finished.copy()
    first, revoked = taken(ask(api, old, 0)), old.tokens[0]
    old.tokens[0] = api.post(f"{old.path}/players/0/token", token=revoked).get_json()["token"]
    assert taken(ask(api, old, 0)) == first
    assert status_and_code(api.post(f"{old.path}/rematch", token=revoked)) == (401, "unauthorized")


# Refusals


@pytest.mark.parametrize("stage", ["waiting", "dealt", "late", "round_over"])
def test_no_rematch_is_begun_before_the_end(
    api: Api, saved_games: SavedGames, contents: StoreContents, stage: str
) -> None:
    table = saved_games.at("domino", stage).table
    with contents.unchanged(table):
        assert refusal(ask(api, table, 0)) == (409, "not_finished", "not_finished")


def test_only_players_of_the_game_have_a_rematch(api: Api, finished: FinishedGames, contents: StoreContents) -> None:
    old, gone = finished.copy(), "/v1/games/AAAAAAAAAAAAAAAAAAAAAAAA"
    elsewhere = [api.create("domino", 2).tokens[0], begin(api, finished.copy("fido")).tokens[0]]
    with contents.unchanged(old):
        for path, token in [*[(old.path, each) for each in (None, "seat_nobody", *elsewhere)], (gone, old.tokens[0])]:
            assert status_and_code(api.post(f"{path}/rematch", token=token)) == (401, "unauthorized")


def test_where_only_applications_create_games_nobodys_game_has_no_rematch(
    games: GamesFacade, owned: Table, redis_url: str, contents: StoreContents, finished: FinishedGames
) -> None:
    backends = build_backends(SingleNodeTopology(connect(redis_url)), needed_for_games=True)
    strict = Api(create_app(games, backends=backends).test_client(use_cookies=False))
    old = finished.copy()
    with contents.unchanged(old):
        assert refusal(ask(strict, old, 0)) == (401, "unauthorized", "no_key")
    assert ask(strict, owned, 0).status_code == 201


def test_a_token_that_was_changed_in_the_new_game_is_not_given_again(api: Api, finished: FinishedGames) -> None:
    old = finished.copy()
    first = taken(ask(api, old, 0))
    api.post(f"/v1/games/{first['game']['id']}/players/{first['seat']}/token", token=first["token"])
    assert refusal(ask(api, old, 0)) == (403, "forbidden", "rematch_token_changed")
    assert ask(api, old, 1).status_code == 201


def own_keys(server: redis.Redis) -> set[Any]:
    """All keys but those of the index of all games, which games of one shard share."""
    return set(server.keys("*")) - set(keys.STORED)


def test_a_rematch_that_has_expired_is_not_found(api: Api, finished: FinishedGames, server: redis.Redis) -> None:
    old = finished.copy()
    new = begin(api, old)
    server.delete(*keys.of_game(new.id))
    with unchanged(server, old):
        assert refusal(ask(api, old, 0)) == (404, "not_found", "rematch_expired")


def test_a_rematch_that_was_deleted_is_not_found_and_the_old_game_stays(api: Api, owned: Table, app_key: str) -> None:
    new = begin(api, owned)
    assert api.delete(new.path, token=app_key).status_code == 204
    assert refusal(ask(api, owned, 0)) == (404, "not_found", "rematch_expired")
    assert owned.view()["rematch"] == {"game_id": new.id}


# Deleted at the same time


class Interrupted(RedisStore):
    """A store in which something else happens just before the next commit."""

    before_commit: Callable[[], object] = staticmethod(lambda: None)

    def commit(self, *arguments: Any, **more: Any) -> Any:
        """As that of the store."""
        interruption, Interrupted.before_commit = Interrupted.before_commit, staticmethod(lambda: None)
        interruption()
        return super().commit(*arguments, **more)


@pytest.fixture
def interrupted(redis_url: str, feed: RedisEventFeed) -> Api:
    return worker(redis_url, feed, SECRET, store=Interrupted)


@pytest.fixture
def owned(api: Api, app_key: str) -> Table:
    """A finished game of an application."""
    return finished_match(api, app_key, {"name": "Ada of the old game", "ref": "ref-of-the-old-game"}, {"name": "Bo"})


def states(server: redis.Redis) -> set[Any]:
    """The values of all strings in Redis: states of games, tombstones, reservations."""
    return {server.get(key) or b"" for key in server.keys("*") if server.type(key) == b"string"}


def new_games(server: redis.Redis, before: set[Any]) -> list[Any]:
    """The keys of the games that are stored since, or their tombstones."""
    return [key for key in set(server.keys("domino:{*}")) - before if server.type(key) == b"string"]


def path_of(key: bytes) -> str:
    """The path of the game of a key."""
    return f"/v1/games/{key.decode().split('{')[1].rstrip('}')}"


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "the-same"}], ids=["", "keyed"])
@pytest.mark.parametrize("between", ["nothing", "another write"])
def test_an_old_game_that_is_deleted_before_it_is_told_leaves_no_new_one(
    api: Api, interrupted: Api, owned: Table, app_key: str, server: redis.Redis, headers: Json, between: str
) -> None:
    before, others = set(server.keys("domino:{*}")), states(server) - {server.get(keys.state(owned.id))}

    def delete() -> None:
        assert api.delete(owned.path, token=app_key).status_code == 204

    def rename() -> None:
        told(api.ask("PATCH", f"{owned.path}/players/0", token=app_key, json={"name": "Ada of the old game too"}))
        Interrupted.before_commit = staticmethod(delete)

    Interrupted.before_commit = staticmethod(delete if between == "nothing" else rename)
    for _ in range(2):
        assert status_and_code(ask(interrupted, owned, 0, headers=headers)) == (410, "gone")
    (made,) = new_games(server, before)
    assert api.get(path_of(made)).status_code == 410
    left = b"".join(states(server) - others)
    assert not [text for text in (b"of the old game", b"ref-of-the-old-game", b"match-1") if text in left]


def test_a_rematch_goes_on_when_the_old_game_is_deleted(api: Api, interrupted: Api, owned: Table, app_key: str) -> None:
    begun: list[Json] = []

    def begin_and_delete() -> None:
        begun.append(taken(ask(api, owned, 1)))
        assert api.delete(owned.path, token=app_key).status_code == 204

    Interrupted.before_commit = staticmethod(begin_and_delete)
    assert status_and_code(ask(interrupted, owned, 0)) == (410, "gone")
    (joined,) = begun
    view = api.get(f"/v1/games/{joined['game']['id']}", token=joined["token"])
    assert view.get_json()["you"]["seat"] == joined["seat"]


def test_a_new_game_that_is_deleted_before_the_old_one_is_told_is_not_made_again(
    api: Api, interrupted: Api, owned: Table, app_key: str, server: redis.Redis
) -> None:
    before = set(server.keys("domino:{*}"))

    def delete_new() -> None:
        (made,) = new_games(server, before)
        assert api.delete(path_of(made), token=app_key).status_code == 204

    Interrupted.before_commit = staticmethod(delete_new)
    for seat in (0, 1, 0):
        assert refusal(ask(interrupted, owned, seat)) == (404, "not_found", "rematch_expired")
    (made,) = new_games(server, before)
    assert b"of the old game" not in (server.get(made) or b"")


# Repeated, and by everybody at once


def test_under_its_key_a_request_gets_its_first_answer_again(api: Api, finished: FinishedGames) -> None:
    old, key = finished.copy(), {"Idempotency-Key": "a-rematch-of-ours"}
    first = ask(api, old, 1, headers=key)
    begin(api, old).make_legal_move()
    again = ask(api, old, 1, headers=key, json={})
    replayed = [answer.headers.get("Idempotent-Replayed") for answer in (first, again)]
    assert (replayed, again.data) == ([None, "true"], first.data)
    now = taken(ask(api, old, 1))
    assert now["token"] == taken(first)["token"]
    assert now["game"]["version"] > taken(first)["game"]["version"]
    assert "Idempotent-Replayed" not in ask(api, old, 0, headers=key).headers


def test_all_seats_at_once_from_two_workers_begin_one_game(
    api: Api, other_worker: Api, finished: FinishedGames, server: redis.Redis, crowd: ThreadPoolExecutor
) -> None:
    for _ in range(10):
        old = finished.copy("fido")
        before, version = own_keys(server), api.view(old)["version"]
        assert_one_game(old, [api, other_worker], crowd)
        assert api.view(old)["version"] == version + 1
        assert len(own_keys(server) - before) == 3  # its state, its events, and the reservation of its id


def test_a_failure_between_the_two_writes_is_made_good_by_the_next_who_asks(
    api: Api, finished: FinishedGames, server: redis.Redis, redis_url: str, feed: RedisEventFeed
) -> None:
    old, before = finished.copy(), own_keys(server)
    with unchanged(server, old):
        failing = worker(redis_url, feed, SECRET, store=RefusesCommits)
        assert status_and_code(ask(failing, old, 0)) == (503, "storage_unavailable")
    made = own_keys(server) - before
    assert len(made) == 3
    new = begin(api, old)
    assert own_keys(server) - before == made
    assert api.view(old)["rematch"] == {"game_id": new.id}
    assert stored(server, new).seats[0].token_hash == hash_secret(new.tokens[0])


@pytest.mark.parametrize("reserved", [True, False], ids=["within a day", "later"])
def test_a_change_of_the_secret_between_the_two_writes_makes_no_second_game(
    finished: FinishedGames, server: redis.Redis, redis_url: str, feed: RedisEventFeed, reserved: bool
) -> None:
    old = finished.copy()
    before = set(server.keys("*"))
    assert ask(worker(redis_url, feed, b"old", store=RefusesCommits), old, 0).status_code == 503
    made = set(server.keys("*")) - before
    if not reserved:
        server.delete(*[key for key in made if server.type(key) == b"string" and server.strlen(key) < 30])
    begun = begin(worker(redis_url, feed, b"new", b"old"), old)
    assert keys.state(begun.id) in made
    assert status_and_code(ask(worker(redis_url, feed, b"new"), old, 0)) == (503, "secret_changed")
    assert taken(ask(worker(redis_url, feed, b"old"), old, 0))["token"] == begun.tokens[(0 - 1) % len(old.tokens)]


def test_while_a_secret_is_rolled_out_all_workers_begin_the_same_game(
    finished: FinishedGames, redis_url: str, feed: RedisEventFeed, crowd: ThreadPoolExecutor
) -> None:
    workers = [worker(redis_url, feed, b"old", b"new"), worker(redis_url, feed, b"new", b"old")]
    for _ in range(10):
        assert_one_game(finished.copy("fido"), workers, crowd)


def test_nobody_learns_a_token_or_a_hand_of_another_seat(api: Api, finished: FinishedGames) -> None:
    old = finished.copy("dominospiel")
    answers = {seat: ask(api, old, seat) for seat in old.tokens}
    bodies = {seat: taken(answer) for seat, answer in answers.items()}
    for seat, answer in answers.items():
        game = bodies[seat]["game"]
        others = [body for each, body in bodies.items() if each != seat]
        assert not any(token in answer.text for token in (*[each["token"] for each in others], *old.tokens.values()))
        hidden = {tile for each in others for tile in each["game"]["you"]["hand"]}
        hidden -= {tile["tile"] for tile in game["board"]["tiles"]}
        assert not [tile for tile in hidden if f'"{tile}"' in answer.text]


def test_a_compacted_game_has_a_rematch(api: Api, finished: FinishedGames, store: RedisStore) -> None:
    old = finished.copy()
    store.compact(old.id)
    new = begin(api, old)
    store.compact(old.id)
    assert api.view(old)["rematch"] == {"game_id": new.id}
    assert begin(api, old).id == new.id
