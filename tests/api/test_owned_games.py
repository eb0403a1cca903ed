"""Games of applications: what they are called, who is told, and what only an application may ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from threading import Timer
from time import monotonic
from typing import Any
from uuid import uuid4

import pytest
import redis

from service.backends.facade import BackendsFacade
from service.backends.keys import CACHE_SECONDS, REVOKED_SECONDS
from service.web.http.streams import CHECK_SECONDS, NDJSON, SSE
from tests.api.client import Api, Table, causes_of, invalid_fields, status_and_code
from tests.api.phases import finished
from tests.api.saved_games import stored

pytestmark = pytest.mark.gate

GAME, ADA, LATE, BOT, BO = REFS = ("ref-of-the-game", "ref-of-ada", "ref-of-late", "ref-of-bot", "ref-of-bo")
PLAYERS: list[dict[str, Any]] = [
    {"name": "Ada", "ref": ADA},
    {"open": True, "ref": LATE},
    {"bot": "greedy", "ref": BOT},
    {"name": "Bo", "ref": BO},
]
READS = (
    *("", "?text=true", "/moves", "/score", "/events", "/events?view=true&text=true", "/events?after=1000000"),
    *("/fairness", "/record", "/board.json?text=true", "/board.svg", "/board.txt", "/board.json"),
)
NO_REFS = ("", "x" * 65, "two words", "tab\t", "\n", "\u00a0", "\u200b", "\u202e", "\u0000", "\ue000")


@pytest.fixture
def waiting(api: Api, app_key: str) -> Table:
    """A game with every kind of player."""
    return api.create("domino", PLAYERS, key=app_key, ref=GAME, lobby="all")


@pytest.fixture
def table(api: Api, waiting: Table) -> Table:
    """A game with every kind of player; the seat that was open is taken."""
    api.take_seat(waiting)
    return waiting


def told(text: str) -> set[str]:
    return {ref for ref in REFS if ref in text}


def streamed(api: Api, path: str, token: str | None, kind: str) -> str:
    """What a stream of the views and events so far begins with."""
    answer = api.ask_unchecked("GET", path, token=token, headers={"Accept": kind}, buffered=False)
    assert answer.status_code == 200
    text = ""
    with closing(answer):
        for chunk in answer.iter_encoded():
            text += chunk.decode()
            if '"type":"view"' in text:
                break
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
    assert ("you" in view, view["ref"], view["legal_moves"]) == (False, GAME, [])
    seats = [(each["ref"], each["kind"]) for each in view["players"]]
    assert seats == [(ADA, "human"), (LATE, "human"), (BOT, "bot"), (BO, "human")]


def test_a_seat_is_told_its_own_ref_only(api: Api, table: Table) -> None:
    for seat, ref in ((0, ADA), (1, LATE), (3, BO)):
        view = api.get(table.path, token=table.tokens[seat]).get_json()
        assert "ref" not in view
        assert [each.get("ref") for each in view["players"]] == [ref if n == seat else None for n in range(4)]


def test_no_resource_tells_a_ref_to_anybody_else(api: Api, table: Table, app_key: str) -> None:
    own = {table.tokens[seat]: {ref} for seat, ref in ((0, ADA), (1, LATE), (3, BO))}
    for token, most in ((None, set()), *own.items(), (app_key, set(REFS))):
        seen = set()
        for path, text in everything(api, table, token):
            assert told(text) <= most, f"{path} tells {told(text)}"
            seen |= told(text)
        assert seen == most


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


def test_the_creator_gets_tokens_and_the_application_the_game(
    api: Api, server: redis.Redis, app_key: str, waiting: Table
) -> None:
    ada, bo = waiting.created["seats"]
    assert ada.keys() == bo.keys() == {"seat", "name", "token"}
    assert waiting.created["game"]["ref"] == GAME
    assert stored(server, waiting).ownership == (app_key[4:28], GAME, waiting.join_code, "all")
    assert waiting.view(3)["you"]["seat"] == 3


def test_a_game_is_not_public_unless_it_is_said(api: Api, server: redis.Redis, app_key: str) -> None:
    ownership = stored(server, api.create("domino", [{"name": "Ada"}, {"open": True}], key=app_key)).ownership
    assert ownership is not None
    assert ownership.lobby is None


def test_a_repeated_creation_returns_the_same_tokens_also_to_a_rotated_key(
    api: Api, backends: BackendsFacade, app_key: str
) -> None:
    players: list[dict[str, Any]] = [{"name": "Ada"}, {"open": True}, {"name": "Bo"}]
    headers = {"Idempotency-Key": str(uuid4())}
    first = api.try_create("domino", players, key=app_key, headers=headers, ref=GAME)
    for key in (app_key, backends.keys.rotate(app_key[4:28]).answer.key):
        again = api.try_create("domino", players, key=key, headers=headers, ref=GAME)
        assert (again.data, again.headers["Idempotent-Replayed"]) == (first.data, "true")


def test_an_idempotency_key_belongs_to_its_application(api: Api, app_key: str, other_key: str) -> None:
    headers = {"Idempotency-Key": str(uuid4())}
    answers = [api.try_create("domino", 2, key=key, headers=headers) for key in (app_key, other_key, None)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.get_json()["game"]["id"] for answer in answers}) == 3
    assert not any("Idempotent-Replayed" in answer.headers for answer in answers)


def test_an_application_joins_its_game_for_a_player(api: Api, app_key: str, waiting: Table) -> None:
    body, headers = {"name": "Late", "join_code": waiting.join_code}, {"Idempotency-Key": str(uuid4())}
    first, again = (api.post(f"{waiting.path}/players", body, token=app_key, headers=headers) for _ in range(2))
    assert (first.status_code, first.data) == (201, again.data)
    joined = first.get_json()["game"]
    assert ("ref" in joined, joined["players"][1]["ref"]) == (False, LATE)


def test_without_a_key_nobody_gives_a_ref_or_makes_a_game_public(api: Api) -> None:
    people: list[dict[str, Any]] = [{"name": "Ada"}, {"open": True}]
    bodies: dict[str, dict[str, Any]] = {
        "ref": {"seats": people, "ref": GAME},
        "lobby": {"seats": people, "lobby": "all"},
        "players.0.ref": {"seats": [people[0] | {"ref": ADA}, people[1]]},
        "players.1.ref": {"seats": [people[0], people[1] | {"ref": LATE}]},
    }
    for field, body in bodies.items():
        assert causes_of(api.try_create("domino", **body)) == [(field, "needs_key")]
    assert api.try_create("domino", people).status_code == 201


def test_a_public_game_needs_an_open_seat(api: Api, app_key: str) -> None:
    assert causes_of(api.try_create("domino", 2, key=app_key, lobby="all")) == [("lobby", "only_with_open_seats")]


@pytest.mark.parametrize("ref", NO_REFS, ids=repr)
def test_a_ref_is_up_to_64_visible_characters(api: Api, app_key: str, ref: Any) -> None:
    assert invalid_fields(api.try_create("domino", 2, key=app_key, ref=ref)) == ["ref"]
    players = [{"name": "Ada"}, {"name": "Bob", "ref": ref}]
    assert invalid_fields(api.try_create("domino", players, key=app_key)) == ["players.1.ref"]


@pytest.mark.parametrize("ref", ["x", "x" * 64, "é🀱日本", "e\u0301", '"},{"', "<script>", "0", "'--"])
def test_a_ref_is_returned_as_it_was_sent(api: Api, app_key: str, ref: str) -> None:
    table = api.create("domino", [{"name": "Ada", "ref": ref}, {"name": "Bob", "ref": ref}], key=app_key, ref=ref)
    view = api.get(table.path, token=app_key).get_json()
    assert [view["ref"], *(each["ref"] for each in view["players"])] == [ref] * 3


@pytest.mark.parametrize("player", [{"ref": ADA}, {"name": "Ada", "open": True, "ref": ADA}], ids=repr)
def test_a_player_that_is_none_is_refused(api: Api, app_key: str, player: dict[str, Any]) -> None:
    assert status_and_code(api.try_create("domino", [{"name": "Ada"}, player], key=app_key)) == (422, "invalid")


def test_a_stream_ends_when_a_key_is_revoked(api: Api, backends: BackendsFacade, app_key: str, waiting: Table) -> None:
    path, headers = f"{waiting.path}/events?view=true", {"Accept": NDJSON}
    with closing(api.ask_unchecked("GET", path, token=app_key, headers=headers, buffered=False)) as answer:
        chunks, seen = answer.iter_encoded(), b""
        while b'"type":"view"' not in seen:
            seen += next(chunks)
        assert GAME.encode() in seen
        backends.keys.revoke(app_key[4:28])
        api.take_seat(waiting)
        assert b"".join(chunks).split() == []


@pytest.mark.parametrize("media_type", [SSE, NDJSON])
@pytest.mark.parametrize("view", ["", "?view=true"])
def test_a_quiet_stream_ends_when_the_key_is_revoked(
    api: Api,
    backends: BackendsFacade,
    app_key: str,
    waiting: Table,
    *,
    media_type: str,
    view: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.web.events.stream.CHECK_SECONDS", 0.1)
    path, headers = f"{waiting.path}/events{view}", {"Accept": media_type}
    with closing(api.ask_unchecked("GET", path, token=app_key, headers=headers, buffered=False)) as answer:
        chunks = answer.iter_encoded()
        seen = [next(chunks)]
        backends.keys.revoke(app_key[4:28])
        seen += islice(chunks, 20)
    assert len(seen) < 20, "it goes on"
    assert sum(chunk in (b":\n\n", b"\n") for chunk in seen[1:]) < 2
    assert b'"type":"closing"' not in b"".join(seen)


@pytest.mark.parametrize("path", ["?after={}&wait=25", "/events?after={}&wait=25"])
def test_a_long_poll_ends_when_the_key_is_revoked(
    api: Api, backends: BackendsFacade, app_key: str, path: str, waiting: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.web.http.streams.CHECK_SECONDS", 0.1)
    revoke = Timer(0.3, backends.keys.revoke, [app_key[4:28]])
    revoke.start()
    began = monotonic()
    answer = api.get(waiting.path + path.format(waiting.view()["version"]), token=app_key)
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
    old = finished(api, app_key, {"name": "Ada", "ref": ADA}, {"name": "Bo"})
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
    assert not any("rematch_of" in each for each in items if each["type"] != "created")
