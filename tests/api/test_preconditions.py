"""Versions and ETags: a move for another version is refused, a cached view is revalidated with 304."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
import redis

from tests.api.client import Api, Table
from tests.api.notation import make_moves
from tests.api.saved_games import SEED, restore, take_snapshot, unchanged
from tests.support.table import seat_to_move

READ = ("", "/moves", "/score")


@pytest.fixture
def table(api: Api) -> Table:
    """A domino game of two at version 2."""
    made = api.create("domino", 2, seed=SEED)
    assert api.view(made)["version"] == 2
    return made


class NextMove(NamedTuple):
    """The seat to move, and a legal move of it without its version."""

    seat: int
    move: dict[str, Any]


@pytest.fixture
def next_move(api: Api, table: Table) -> NextMove:
    seat = api.view(table)["turn"]["seat"]
    listed: dict[str, Any] = api.moves(table, seat)[0]
    del listed["version"]
    return NextMove(seat, listed)


def mark_of(api: Api, table: Table) -> str:
    """The mark of the last write of the game, which is between version and viewer in an ETag."""
    tag = re.fullmatch(r'"[0-9]+-([A-Za-z0-9_-]{8})-s"', api.get(table.path).headers["ETag"])
    assert tag is not None
    return tag[1]


def test_a_move_without_a_version_is_made(api: Api, table: Table, next_move: NextMove) -> None:
    assert api.move(table, *next_move).status_code == 201


def test_a_move_for_this_version_is_made(api: Api, table: Table, next_move: NextMove) -> None:
    assert api.move(table, next_move.seat, next_move.move | {"version": 2}).status_code == 201


@pytest.mark.parametrize("version", [1, 3, 1000, 2**31 - 1])
def test_a_move_for_another_version_is_refused_and_changes_nothing(
    api: Api, server: redis.Redis, table: Table, next_move: NextMove, version: int
) -> None:
    with unchanged(server, table):
        answer = api.move(table, next_move.seat, next_move.move | {"version": version})
        assert answer.status_code == 412
        assert (answer.get_json()["code"], answer.get_json()["version"]) == ("stale_version", 2)
        assert answer.get_json()["legal_moves"] == api.moves(table, next_move.seat)


@pytest.mark.parametrize(
    "header", ['"2"', '"2-{mark}-{seat}"', "*", '"1", "2"', '"7-0", "2-{mark}-{seat}", "x"', '"2","3"']
)
def test_if_match_accepts_a_version_an_etag_or_a_list(api: Api, table: Table, next_move: NextMove, header: str) -> None:
    headers = {"If-Match": header.format(seat=next_move.seat, mark=mark_of(api, table))}
    assert api.move(table, *next_move, headers=headers).status_code == 201


def test_if_match_takes_the_etag_of_the_view_of_the_seat_to_move(api: Api, table: Table, next_move: NextMove) -> None:
    etag = api.get(table.path, token=table.tokens[next_move.seat]).headers["ETag"]
    assert api.move(table, *next_move, headers={"If-Match": etag}).status_code == 201


@pytest.mark.parametrize(
    "header",
    [
        *('"1"', '"3"', '"2-{mark}-{other}"', '"2-{mark}-s"', '"1-{mark}-{seat}"', '"2-AAAAAAAA-{seat}"', '"2-{seat}"'),
        *('W/"2"', 'W/"2-{mark}-{seat}"', '"{mark}"', '"1", "3"', '""', '"x"', ""),
    ],
)
def test_if_match_refuses_another_version_and_the_etag_of_another_viewer(
    api: Api, server: redis.Redis, table: Table, next_move: NextMove, header: str
) -> None:
    with unchanged(server, table):
        mark = mark_of(api, table)
        headers = {"If-Match": header.format(seat=next_move.seat, other=1 - next_move.seat, mark=mark)}
        answer = api.move(table, *next_move, headers=headers)
        assert (answer.status_code, answer.get_json()["code"]) == (412, "stale_version")


@pytest.mark.parametrize(("version", "header"), [(1, '"2"'), (2, '"1"'), (1, "*")])
def test_both_preconditions_must_hold(api: Api, table: Table, next_move: NextMove, version: int, header: str) -> None:
    answer = api.move(table, next_move.seat, next_move.move | {"version": version}, headers={"If-Match": header})
    assert answer.status_code == 412


@pytest.mark.parametrize("path", READ)
def test_every_view_has_an_etag_of_its_version_and_viewer(api: Api, table: Table, path: str) -> None:
    answers = [api.get(table.path + path, token=token) for token in (None, *table.tokens.values())]
    mark = mark_of(api, table)
    assert [answer.headers["ETag"] for answer in answers] == [f'"2-{mark}-s"', f'"2-{mark}-0"', f'"2-{mark}-1"']
    for answer in answers:
        assert answer.headers["Cache-Control"] == "private, no-cache"
        assert answer.headers["Vary"] == "Authorization, Accept, Accept-Language"


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_view_that_is_known_already_is_304_with_its_headers(api: Api, table: Table, path: str, method: str) -> None:
    for token in (None, *table.tokens.values()):
        known = api.get(table.path + path, token=token).headers
        for spelled in (known["ETag"], f"W/{known['ETag']}", f'"x", {known["ETag"]}', "*"):
            answer = api.ask(method, table.path + path, token=token, headers={"If-None-Match": spelled})
            assert (answer.status_code, answer.data) == (304, b"")
            for name in ("ETag", "Cache-Control", "Vary"):
                assert answer.headers[name] == known[name]


@pytest.mark.parametrize("path", READ)
def test_a_view_of_another_version_or_viewer_is_not_taken_for_known(api: Api, table: Table, path: str) -> None:
    mark = mark_of(api, table)
    others = (f'"1-{mark}-0"', f'"3-{mark}-0"', f'"2-{mark}-1"', f'"2-{mark}-s"', '"2-AAAAAAAA-0"', '"2-0"', '"2"')
    for other in (*others, '""', "nonsense"):
        assert api.get(table.path + path, token=table.tokens[0], headers={"If-None-Match": other}).status_code == 200


@pytest.mark.parametrize("path", READ)
def test_a_view_of_a_lost_move_is_not_taken_for_known(
    api: Api, server: redis.Redis, table: Table, next_move: NextMove, path: str
) -> None:
    """A failover loses a move after it was seen, and another one takes its version."""
    before = take_snapshot(server, table.id)
    tokens = (None, *table.tokens.values())
    assert api.move(table, *next_move).status_code == 201
    lost = [api.get(table.path + path, token=token).headers["ETag"] for token in tokens]
    restore(server, table.id, before)
    assert api.move(table, *next_move).status_code == 201
    for token, etag in zip(tokens, lost, strict=True):
        answer = api.get(table.path + path, token=token, headers={"If-None-Match": etag})
        assert answer.status_code == 200
        assert answer.headers["ETag"].split("-")[0] == etag.split("-")[0]
    seat = seat_to_move(api.view(table))
    move = api.moves(table, seat)[0] | {"version": take_snapshot(server, table.id).version}
    assert api.move(table, seat, move, headers={"If-Match": lost[1 + seat]}).status_code == 412


def test_a_move_makes_every_known_view_out_of_date(api: Api, table: Table, next_move: NextMove) -> None:
    known = {path: api.get(table.path + path).headers["ETag"] for path in READ}
    make_moves(api, table, next_move.move["tile"])
    for path, etag in known.items():
        assert api.get(table.path + path, headers={"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize("path", READ)
def test_a_head_has_the_headers_of_a_get_and_no_body(api: Api, table: Table, path: str) -> None:
    for token in (None, *table.tokens.values(), "wrong"):
        get, head = (api.ask(method, table.path + path, token=token) for method in ("GET", "HEAD"))
        assert head.status_code == get.status_code
        assert sorted(head.headers) == sorted(get.headers)
        assert head.data == b""
