"""Tokens: their form, what they give access to, and how one is changed."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64decode
from contextlib import closing
from hashlib import sha256
from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.games.model.tokens import DerivedBytes, hash_secret
from tests.api.client import Api, Table, location_of, status_and_code
from tests.api.followers import LINES, lines_in, stream
from tests.api.saved_games import SEED, SavedGame, decoded, take_snapshot, unchanged
from tests.support.contract import committed
from tests.support.table import seat_to_move

pytestmark = pytest.mark.quick

TOKEN = re.compile(r"seat_([A-Za-z0-9_-]{43})")
READ = ("", "/moves", "/score", "/events")


@pytest.fixture
def table(api: Api) -> Table:
    """A domino game of two at version 2."""
    return api.create("domino", 2, seed=SEED)


def change(api: Api, table: Table, seat: int, *, token: str | None = None, **more: Any) -> TestResponse:
    """Change the token of this seat, by default with its current token."""
    shown = table.tokens[seat] if token is None else token
    return api.ask("POST", f"{table.path}/players/{seat}/token", token=shown, **more)


# Their form


def test_every_token_has_a_prefix_of_its_kind_and_256_bits(api: Api) -> None:
    for headers in ({}, {"Idempotency-Key": "a-token-of-every-way"}):
        created = api.try_create("domino", [{"name": "Ada"}, {"open": True}], headers=headers).get_json()
        table = Table(api, created)
        player = {"name": "Bo", "join_code": table.join_code}
        table.tokens[1] = api.post(f"{table.path}/players", player, headers=headers).get_json()["token"]
        tokens = [*table.tokens.values(), change(api, table, 0, headers=headers).get_json()["token"]]
        for token in tokens:
            match = TOKEN.fullmatch(token)
            assert match is not None
            assert len(urlsafe_b64decode(match[1] + "=")) == 32
        assert len(set(tokens)) == 3


def test_a_token_is_kept_as_its_hash_alone(api: Api, server: redis.Redis, table: Table) -> None:
    old = list(table.tokens.values())
    new = change(api, table, 0).get_json()["token"]
    snapshot = take_snapshot(server, table.id)
    assert [seat.token_hash for seat in decoded(table.id, snapshot).seats] == [hash_secret(new), hash_secret(old[1])]
    held = b"\n".join([snapshot.state, *snapshot.events])
    for token in (*old, new):
        assert token.removeprefix("seat_").encode() not in held
    assert b64encode(sha256(old[0].encode()).digest()) not in held


# One that is refused


def test_a_wrong_token_is_told_from_none_and_both_how_one_is_sent(api: Api, app_key: str, table: Table) -> None:
    realm = 'Bearer realm="game"'
    cut, other = table.tokens[0][:-1], table.tokens[0].swapcase()
    wrong = f'{realm}, error="invalid_token"'
    for method, path, token, reason, challenge, form in (
        ("POST", "/moves", None, "no_token", realm, "Bearer seat_…"),
        ("POST", "/moves", cut, "unknown_token", wrong, "Bearer seat_…"),
        ("GET", "", other, "unknown_token", wrong, "Bearer seat_…"),
        ("DELETE", "", None, "no_key", realm, "Bearer app_…"),
        ("DELETE", "", app_key, "unknown_key", wrong, "Bearer app_…"),
    ):
        answer = api.ask(method, table.path + path, token=token)
        assert (answer.status_code, answer.get_json()["reason"]) == (401, reason)
        assert answer.headers["WWW-Authenticate"] == challenge
        assert f"`Authorization: {form}`" in answer.get_json()["detail"]


def test_what_cannot_be_the_id_of_a_game_is_not_found_whoever_asks(api: Api, table: Table) -> None:
    for name in ("null", "{game}", f'"{table.id}"', table.id[:-1], f"{table.id}A", f"{table.id}.x"):
        for token in (None, "wrong", table.tokens[0], "app_x"):
            for method, rest in (("GET", ""), ("GET", "/moves"), ("POST", "/moves"), ("POST", "/players/0/token")):
                answer = api.ask(method, f"/v1/games/{name}{rest}", token=token)
                assert (answer.status_code, answer.get_json()["reason"]) == (404, "no_such_game"), (name, token, rest)


# Token changes


def test_after_a_token_change_only_the_new_token_is_valid(api: Api, saved_game: SavedGame) -> None:
    table = saved_game.table
    before = {path: table.get(path, 0).get_json() for path in READ[:3]}
    answer = change(api, table, 0)
    assert (answer.status_code, location_of(answer)) == (201, table.path)
    assert (answer.headers["Cache-Control"], "ETag" in answer.headers) == ("no-store", False)
    new = answer.get_json()
    assert new == {"seat": 0, "name": "P0", "token": new["token"]}
    for path in READ:
        assert status_and_code(table.get(path, 0)) == (401, "unauthorized")
    for path, shown in before.items():
        now = api.get(table.path + path, token=new["token"]).get_json()
        assert now["version"] == shown["version"] + 1
        assert unversioned(now) == unversioned(shown)
    for seat in list(table.tokens)[1:]:
        assert api.view(table, seat)["you"]["seat"] == seat


def unversioned(shown: Any) -> Any:
    """A view without version and times."""
    if isinstance(shown, dict):
        versions = ("version", "updated_at", "expires_at")
        return {name: unversioned(value) for name, value in shown.items() if name not in versions}
    return [unversioned(each) for each in shown] if isinstance(shown, list) else shown


def test_a_token_change_is_an_event_that_everybody_sees(api: Api, table: Table) -> None:
    token = change(api, table, 1).get_json()["token"]
    for shown in (None, table.tokens[0], token):
        page = api.get(f"{table.path}/events?after=2", token=shown).get_json()
        assert page["version"] == 3
        (event,) = page["events"]
        assert {name: value for name, value in event.items() if name != "at"} == {
            "version": 3,
            "type": "token_changed",
            "seat": 1,
            "to_act": api.view(table)["to_act"],
            "data": {},
        }
        assert token not in str(page)


def test_a_token_change_raises_the_version_so_that_cached_views_expire(api: Api, table: Table) -> None:
    seat = seat_to_move(api.view(table))
    listed = api.moves(table, seat)[0]
    known = api.get(table.path).headers["ETag"]
    change(api, table, 1 - seat)
    assert api.get(table.path, headers={"If-None-Match": known}).status_code == 200
    assert api.move(table, seat, listed).status_code == 201, "the match has not changed"


def test_a_token_may_be_changed_again_and_again_and_the_match_goes_on(api: Api, table: Table) -> None:
    seen = set(table.tokens.values())
    for turn in range(6):
        table.tokens[turn % 2] = change(api, table, turn % 2).get_json()["token"]
        assert table.tokens[turn % 2] not in seen
        seen.add(table.tokens[turn % 2])
        table.make_legal_move()
    api.play_until(table, lambda view: view["status"] == "round_over")
    assert api.score(table, 0)["rounds"]


@pytest.mark.parametrize("body", [b"", b"{}", b" { } "])
def test_the_body_is_nothing_or_an_empty_object(api: Api, table: Table, body: bytes) -> None:
    content_type = "application/json" if body else None
    assert change(api, table, 0, data=body, content_type=content_type).status_code == 201


# Access


def refused(api: Api, server: redis.Redis, table: Table, path: str, token: str | None) -> tuple[int, str]:
    """Check that a change with this token gets this answer, with or without a key, and changes nothing."""
    with unchanged(server, table):
        keys: tuple[dict[str, str], ...] = ({}, {"Idempotency-Key": "a-key-of-the-owner"})
        answers = [api.ask("POST", path, token=token, headers=headers) for headers in keys]
    ((status, code),) = {status_and_code(answer) for answer in answers}
    return status, code


def test_only_the_holder_of_a_seat_may_change_its_token(api: Api, server: redis.Redis, table: Table) -> None:
    path = f"{table.path}/players/0/token"
    assert refused(api, server, table, path, table.tokens[1]) == (403, "forbidden")
    for token in (None, "seat_nobody", "x", api.create("domino", 2).tokens[0]):
        assert refused(api, server, table, path, token) == (401, "unauthorized")
    assert api.view(table, 0)["you"]["seat"] == 0


@pytest.mark.parametrize("seat", ["2", "99", "9" * 30, "9" * 4000])
def test_an_unknown_seat_is_not_found_for_a_player_and_unauthorized_for_others(
    api: Api, server: redis.Redis, table: Table, seat: str
) -> None:
    path = f"{table.path}/players/{seat}/token"
    assert refused(api, server, table, path, table.tokens[0]) == (404, "not_found")
    assert refused(api, server, table, path, "wrong") == (401, "unauthorized")
    assert refused(api, server, table, path, None) == (401, "unauthorized")


@pytest.mark.parametrize("seat", ["-1", "x", "1.0", "0x0", "%00", "", "0/", "9" * 5000, "null", "+0"])
def test_a_seat_that_is_no_number_is_no_address(api: Api, server: redis.Redis, table: Table, seat: str) -> None:
    for token in (None, "wrong", table.tokens[0]):
        assert refused(api, server, table, f"{table.path}/players/{seat}/token", token) == (404, "not_found")


def test_an_open_seat_has_no_token_to_change(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"open": True}])
    path = f"{table.path}/players/1/token"
    assert refused(api, server, table, path, table.tokens[0]) == (403, "forbidden")
    assert refused(api, server, table, path, table.join_code) == (401, "unauthorized")


def test_of_two_changes_of_a_token_the_second_is_unauthorized(api: Api, server: redis.Redis, table: Table) -> None:
    first = change(api, table, 0)
    with unchanged(server, table):
        assert status_and_code(change(api, table, 0)) == (401, "unauthorized")
    assert api.get(table.path, token=first.get_json()["token"]).status_code == 200


def test_a_stream_of_the_old_token_sends_the_token_change_and_ends(api: Api, table: Table) -> None:
    with closing(stream(api, table, 0, "?after=2", headers=LINES)) as answer:
        lines = answer.iter_encoded()
        assert next(lines) == b"\n"
        change(api, table, 0)
        assert [each["type"] for each in lines_in(b"".join(lines))] == ["token_changed"]


def test_the_document_describes_how_a_token_is_changed() -> None:
    described = committed().operation("POST", "/v1/games/{game}/players/{seat}/token")
    assert described["operationId"] == "changeToken"
    assert {"201", "401", "403", "404", "422", "503"} <= set(described["responses"])
    assert "Idempotent-Replayed" in described["responses"]["201"]["headers"]
    assert "Idempotency-Key" in str(described["parameters"])
    assert described["security"]
    assert "required" not in described.get("requestBody", {}) or not described["requestBody"]["required"]


# Repeated requests


def test_the_same_purpose_draws_the_same_bytes() -> None:
    first, again = DerivedBytes(b"secret", "join", "game", "key"), DerivedBytes(b"secret", "join", "game", "key")
    drawn = [first(32), first(32), first(10)]
    assert [again(32), again(32), again(10)] == drawn
    assert [len(each) for each in drawn] == [32, 32, 10]
    assert len(set(drawn)) == 3


def test_another_secret_or_purpose_draws_other_bytes() -> None:
    purposes: list[tuple[bytes, tuple[str, ...]]] = [
        (b"secret", ("join", "game", "key")),
        (b"Secret", ("join", "game", "key")),
        (b"secret", ("create", "game", "key")),
        (b"secret", ("join", "gamek", "ey")),
        (b"secret", ("join", "gamekey")),
        (b"secret", ("join", "game", "key", "")),
        (b"secret", ("join4:game", "key")),
        (b"secret", ("join", "game", "ké")),
        (b"secret", ()),
    ]
    assert len({DerivedBytes(secret, *purpose)(32) for secret, purpose in purposes}) == len(purposes)


def test_the_bytes_drawn_stay_the_same_from_release_to_release() -> None:
    drawn = DerivedBytes(b"secret", "create", "game")
    assert [drawn(4).hex(), drawn(4).hex()] == ["6a2a645f", "ec54b967"]
