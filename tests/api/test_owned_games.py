"""Games of applications: what they are called, who is told, and what only an application may ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from threading import Timer
from time import monotonic
from typing import Any
from uuid import uuid4

import pytest
import redis
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.backends.keys import CACHE_SECONDS, REVOKED_SECONDS
from service.games.model.game import Game
from service.web.http.streams import CHECK_SECONDS, NDJSON, SSE
from tests.api.client import Api, Table, errors_of, status_and_code
from tests.api.saved_games import decoded, shortest, take_snapshot
from tests.support.table import match_finished

pytestmark = pytest.mark.gate

GAME, ADA, LATE, BOT, BO = REFS = ("ref-of-the-game", "ref-of-ada", "ref-of-late", "ref-of-bot", "ref-of-bo")
PLAYERS: list[dict[str, Any]] = [
    {"name": "Ada", "ref": ADA},
    {"open": True, "ref": LATE},
    {"bot": "greedy", "ref": BOT},
    {"name": "Bo", "ref": BO},
]
BODY = {"variant": "domino", "players": PLAYERS, "ref": GAME, "lobby": "all"}
READS = (
    "",
    "?text=true",
    "/moves",
    "/score",
    "/events",
    "/events?view=true&text=true",
    "/events?after=1000000",
    "/fairness",
    "/record",
    "/board.json?text=true",
    "/board.svg",
    "/board.txt",
    "/board.json",
)
HOSTILE_REFS: tuple[Any, ...] = (
    "",
    "x" * 65,
    "two words",
    "tab\t",
    "\n",
    "\u00a0",
    "\u200b",
    "\u202e",
    "\u0000",
    "\ue000",
    1,
    True,
    None,
    ["x"],
    {"x": 1},
)


@pytest.fixture
def table(api: Api, app_key: str) -> Table:
    """A game with every kind of player; the seat that was open is taken."""
    answer = api.post("/v1/games", BODY, token=app_key)
    assert answer.status_code == 201, answer.text
    table = Table(api, answer.get_json())
    api.take_seat(table)
    return table


def stored(server: redis.Redis, table: Table) -> Game:
    return decoded(table.id, take_snapshot(server, table.id))


def told(text: str) -> set[str]:
    return {ref for ref in REFS if ref in text}


def text_of(chunk: Any) -> str:
    return bytes(chunk).decode()


def streamed(api: Api, path: str, token: str | None, kind: str) -> str:
    """What a stream of the views and events so far begins with."""
    answer = api.ask_unchecked("GET", path, token=token, headers={"Accept": kind}, buffered=False)
    assert answer.status_code == 200
    text = ""
    for chunk in answer.response:
        text += text_of(chunk)
        if '"type":"view"' in text:
            break
    answer.close()
    return text


def everything(api: Api, table: Table, token: str | None) -> Iterator[tuple[str, str]]:
    """All that the bearer may read of a game: each path with what it answers, headers and all."""
    for path in READS:
        for accept in ("application/json", "*/*", "text/plain"):
            answer = api.ask_unchecked("GET", table.path + path, token=token, headers={"Accept": accept})
            yield path, answer.text + str(answer.headers)
    for kind in ("text/event-stream", "application/x-ndjson"):
        yield kind, streamed(api, f"{table.path}/events?view=true", token, kind)


def test_the_application_is_told_what_it_calls_the_game_and_its_players(api: Api, table: Table, app_key: str) -> None:
    view = api.get(table.path, token=app_key).get_json()
    assert ("you" in view, view["ref"]) == (False, GAME)
    assert [each["ref"] for each in view["players"]] == [ADA, LATE, BOT, BO]
    assert [each["kind"] for each in view["players"]] == ["human", "human", "bot", "human"]
    assert "you" not in view
    assert view["legal_moves"] == []


def test_a_seat_is_told_its_own_ref_only(api: Api, table: Table) -> None:
    for seat, ref in ((0, ADA), (1, LATE), (3, BO)):
        view = api.get(table.path, token=table.tokens[seat]).get_json()
        assert "ref" not in view
        assert [each.get("ref") for each in view["players"]] == [ref if n == seat else None for n in range(4)]


def test_no_resource_tells_a_ref_to_anybody_else(api: Api, table: Table, app_key: str) -> None:
    for token, most in (
        (None, set()),
        *((table.tokens[seat], {ref}) for seat, ref in ((0, ADA), (1, LATE), (3, BO))),
    ):
        seen = set()
        for path, text in everything(api, table, token):
            assert told(text) <= most, f"{path} tells {told(text)}"
            seen |= told(text)
        assert seen == most
    assert told("".join(text for _, text in everything(api, table, app_key))) == set(REFS)


def test_refs_are_told_in_views_only(api: Api, table: Table, app_key: str) -> None:
    views = ("", "?text=true", "/events?view=true&text=true", "/events?after=1000000")
    for path, text in everything(api, table, app_key):
        if path not in views and "/" not in path[1:]:
            assert not told(text), path


def test_the_name_of_the_application_and_its_key_are_told_to_nobody(api: Api, table: Table, app_key: str) -> None:
    for token in (None, app_key, *table.tokens.values()):
        for path, text in everything(api, table, token):
            assert app_key[29:] not in text, path
            assert app_key[4:28] not in text, path


def test_each_viewer_has_an_etag_of_its_own(api: Api, table: Table, app_key: str) -> None:
    tokens = (None, app_key, *table.tokens.values())
    etags = [api.get(table.path, token=token).headers["ETag"] for token in tokens]
    assert len(set(etags)) == len(tokens)
    for token, etag in zip(tokens, etags, strict=True):
        for other in tokens:
            answer = api.get(table.path, token=other, headers={"If-None-Match": etag})
            assert answer.status_code == (304 if other == token else 200)
    german = api.get(f"{table.path}?text=true", token=app_key, headers={"Accept-Language": "de"})
    assert german.headers["ETag"] == f'{etags[1][:-1]}-de"'


def test_the_creator_gets_tokens_and_the_application_the_game(api: Api, server: redis.Redis, app_key: str) -> None:
    answer = api.post("/v1/games", BODY, token=app_key)
    created = answer.get_json()
    ada, bo = created["seats"]
    assert ada.keys() == bo.keys() == {"seat", "name", "token"}
    assert created["game"]["ref"] == GAME
    table = Table(api, created)
    game = stored(server, table)
    assert game.ownership is not None
    assert game.ownership == (app_key[4:28], GAME, created["join_code"], "all")
    assert api.get(table.path, token=bo["token"]).get_json()["you"]["seat"] == 3


def test_a_game_is_not_public_unless_it_is_said(api: Api, server: redis.Redis, app_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}
    table = Table(api, api.post("/v1/games", body, token=app_key).get_json())
    ownership = stored(server, table).ownership
    assert ownership is not None
    assert ownership.lobby is None


def test_a_repeated_creation_returns_the_same_tokens(api: Api, app_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}, {"name": "Bo"}], "ref": GAME}
    headers = {"Idempotency-Key": str(uuid4())}
    first, second = (api.post("/v1/games", body, token=app_key, headers=headers) for _ in range(2))
    assert "Idempotent-Replayed" in second.headers
    assert first.data == second.data


def test_an_idempotency_key_belongs_to_its_application(api: Api, app_key: str, other_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bob"}]}
    headers = {"Idempotency-Key": str(uuid4())}
    answers = [api.post("/v1/games", body, token=key, headers=headers) for key in (app_key, other_key, None)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.get_json()["game"]["id"] for answer in answers}) == 3
    assert not any("Idempotent-Replayed" in answer.headers for answer in answers)


def test_a_rotated_key_repeats_what_the_old_one_created(api: Api, backends: BackendsFacade, app_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bob"}]}
    headers = {"Idempotency-Key": str(uuid4())}
    first = api.post("/v1/games", body, token=app_key, headers=headers)
    new = backends.keys.rotate(app_key[4:28]).answer.key
    assert api.post("/v1/games", body, token=new, headers=headers).data == first.data


def test_an_application_joins_its_game_for_a_player(api: Api, app_key: str) -> None:
    table = Table(api, api.post("/v1/games", BODY, token=app_key).get_json())
    body = {"name": "Late", "join_code": table.join_code}
    headers = {"Idempotency-Key": str(uuid4())}
    first, again = (api.post(f"{table.path}/players", body, token=app_key, headers=headers) for _ in range(2))
    assert first.status_code == 201
    assert first.data == again.data
    joined = first.get_json()
    assert "ref" not in joined["game"]
    assert joined["game"]["players"][1]["ref"] == LATE


def test_without_a_key_nobody_gives_a_ref_or_makes_a_game_public(api: Api) -> None:
    people = [{"name": "Ada"}, {"open": True}]
    bodies: dict[str, dict[str, Any]] = {
        "ref": {"players": people, "ref": GAME},
        "lobby": {"players": people, "lobby": "all"},
        "players.0.ref": {"players": [{"name": "Ada", "ref": ADA}, {"open": True}]},
        "players.1.ref": {"players": [{"name": "Ada"}, {"open": True, "ref": LATE}]},
    }
    for field, body in bodies.items():
        answer = api.post("/v1/games", {"variant": "domino", **body})
        assert status_and_code(answer) == (422, "invalid")
        assert [(each["field"], each["reason"]) for each in answer.get_json()["causes"]] == [(field, "needs_key")]
    assert api.post("/v1/games", {"variant": "domino", "players": people}).status_code == 201


def test_a_public_game_needs_an_open_seat(api: Api, app_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bob"}], "lobby": "all"}
    answer = api.post("/v1/games", body, token=app_key)
    assert status_and_code(answer) == (422, "invalid")
    (cause,) = answer.get_json()["causes"]
    assert (cause["field"], cause["reason"]) == ("lobby", "only_with_open_seats")


@pytest.mark.parametrize("ref", HOSTILE_REFS, ids=repr)
def test_a_ref_is_up_to_64_visible_characters(api: Api, app_key: str, ref: Any) -> None:
    for field, body in (
        ("ref", {"players": [{"name": "Ada"}, {"name": "Bob"}], "ref": ref}),
        ("players.1.ref", {"players": [{"name": "Ada"}, {"name": "Bob", "ref": ref}]}),
    ):
        answer = api.post("/v1/games", {"variant": "domino", **body}, token=app_key)
        assert status_and_code(answer) == (422, "invalid")
        assert list(errors_of(answer.get_json())) == [field]


@pytest.mark.parametrize("ref", ["x", "x" * 64, "é🀱日本", "e\u0301", '"},{"', "<script>", "0", "'--"])
def test_a_ref_is_returned_as_it_was_sent(api: Api, app_key: str, ref: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada", "ref": ref}, {"name": "Bob", "ref": ref}], "ref": ref}
    table = Table(api, api.post("/v1/games", body, token=app_key).get_json())
    view = api.get(table.path, token=app_key).get_json()
    assert [view["ref"], *(each["ref"] for each in view["players"])] == [ref] * 3


@pytest.mark.parametrize(
    "player",
    [
        {"ref": ADA},
        {"name": "Ada", "open": True, "ref": ADA},
        {"name": "Engine", "url": "https://bots.example.com/"},
    ],
    ids=repr,
)
def test_a_player_that_is_none_is_refused(api: Api, app_key: str, player: dict[str, Any]) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, player]}
    assert status_and_code(api.post("/v1/games", body, token=app_key)) == (422, "invalid")


def test_a_stream_ends_when_the_key_is_revoked(api: Api, backends: BackendsFacade, app_key: str) -> None:
    table = Table(api, api.post("/v1/games", BODY, token=app_key).get_json())
    answer: TestResponse = api.ask_unchecked(
        "GET", f"{table.path}/events?view=true", token=app_key, headers={"Accept": "application/x-ndjson"}
    )
    chunks = iter(answer.response)
    seen = ""
    while '"type":"view"' not in seen:
        seen += text_of(next(chunks))
    assert GAME in seen
    backends.keys.revoke(app_key[4:28])
    api.take_seat(table)
    told_more = (line for chunk in chunks for line in text_of(chunk).splitlines() if line.strip())
    assert next(told_more, None) is None
    answer.close()


@pytest.mark.parametrize("media_type", [SSE, NDJSON])
@pytest.mark.parametrize("view", ["", "?view=true"])
def test_a_quiet_stream_ends_when_the_key_is_revoked(
    api: Api, backends: BackendsFacade, app_key: str, media_type: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.web.events.stream.CHECK_SECONDS", 0.1)
    table = Table(api, api.post("/v1/games", BODY, token=app_key).get_json())
    answer: TestResponse = api.ask_unchecked(
        "GET", f"{table.path}/events{view}", token=app_key, headers={"Accept": media_type}
    )
    chunks = iter(answer.response)
    seen = text_of(next(chunks))
    backends.keys.revoke(app_key[4:28])
    kept_alive = 0
    for chunk in map(text_of, chunks):
        kept_alive += chunk in (":\n\n", "\n")
        assert kept_alive < 2, "it goes on"
        seen += chunk
    assert '"type":"closing"' not in seen
    answer.close()


@pytest.mark.parametrize("path", ["?after={}&wait=25", "/events?after={}&wait=25"])
def test_a_long_poll_ends_when_the_key_is_revoked(
    api: Api, backends: BackendsFacade, app_key: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.web.http.streams.CHECK_SECONDS", 0.1)
    table = Table(api, api.post("/v1/games", BODY, token=app_key).get_json())
    wanted = f"{table.path}{path.format(api.get(table.path, token=app_key).get_json()['version'])}"
    revoke = Timer(0.3, backends.keys.revoke, [app_key[4:28]])
    revoke.start()
    began = monotonic()
    answer = api.get(wanted, token=app_key)
    revoke.join()
    assert status_and_code(answer) == (401, "unauthorized")
    assert monotonic() - began < 20


def test_a_revoked_key_is_noticed_within_five_seconds() -> None:
    assert CACHE_SECONDS + CHECK_SECONDS <= REVOKED_SECONDS == 5


def test_a_game_of_nobody_says_nothing_of_applications(api: Api, app_key: str) -> None:
    table = api.create("domino", 2)
    assert "ref" not in api.view(table)
    assert api.get(table.path).headers["ETag"].endswith('-s"')


def test_a_rematch_names_the_game_that_it_follows(api: Api, app_key: str, publish: Callable[[], None]) -> None:
    body = {
        "variant": "domino",
        "players": [{"name": "Ada", "ref": ADA}, {"name": "Bo"}],
        "options": shortest("domino"),
    }
    old = Table(api, api.post("/v1/games", body | {"ref": GAME}, token=app_key).get_json())
    api.play_until(old, match_finished, Random(1))
    begin = f"{old.path}/rematch"
    assert status_and_code(api.post(begin, {}, token=app_key)) == (401, "unauthorized"), "it is begun by players alone"
    answers = [api.post(begin, {}, token=token).get_json() for token in old.tokens.values()]
    assert [each["game"]["rematch_of"] for each in answers] == [old.id, old.id]
    new = Table(api, {"game": answers[0]["game"], "seats": answers})
    for token in (None, app_key, *new.tokens.values()):
        assert api.get(new.path, token=token).get_json()["rematch_of"] == old.id
        assert "rematch_of" not in api.get(old.path, token=token).get_json()
    publish()
    games = api.get("/v1/games", token=app_key).get_json()["games"]
    assert {each["id"]: each.get("rematch_of") for each in games} == {old.id: None, new.id: old.id}
    items = api.get("/v1/feed?limit=1000", token=app_key).get_json()["items"]
    told = {each["game_id"]: each.get("rematch_of") for each in items if each["type"] == "created"}
    assert told == {old.id: None, new.id: old.id}
    assert {each["game_id"] for each in items if "rematch_of" in each and each["type"] != "created"} == set()
