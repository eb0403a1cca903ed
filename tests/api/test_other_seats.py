"""Nothing that one seat does, except a move, delays, hides or spoils the turn of another seat.

The seat on turn has read its legal moves. Then another seat, or a spectator, does everything that it can do. After
that the listed move is still legal at its listed version, and for the ETag of the view that was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from werkzeug.test import TestResponse

from tests.api.client import Api, Table
from tests.support.table import round_over, seat_to_move

REPETITIONS = 3


class Position(NamedTuple):
    """A game, the seat on turn with what it has read, and another seat."""

    api: Api
    table: Table
    seat: int
    etag: str
    move: dict[str, Any]
    other: int

    def ask_as_other(self, method: str, resource: str, **arguments: Any) -> TestResponse:
        """A request with the current token of the other seat."""
        path = self.table.path + resource
        return self.api.ask(method, path, token=self.table.tokens[self.other], **arguments)

    def change_token(self) -> TestResponse:
        answer = self.ask_as_other("POST", f"/players/{self.other}/token", json={})
        assert answer.status_code == 201
        self.table.tokens[self.other] = answer.get_json()["token"]
        return answer

    def set_presence(self, *, away: bool) -> TestResponse:
        return self.ask_as_other("PUT", f"/players/{self.other}/presence", json={"away": away})

    def leave_and_come_back(self) -> TestResponse:
        assert self.set_presence(away=True).status_code == 200
        return self.set_presence(away=False)


Action = Callable[[Position], TestResponse]
ACTIONS: dict[str, tuple[int, Action]] = {
    "change its token": (201, Position.change_token),
    "leave": (200, lambda it: it.set_presence(away=True)),
    "leave and come back": (200, Position.leave_and_come_back),
    "come back while it is there": (409, lambda it: it.set_presence(away=False)),
    "send the other away": (
        403,
        lambda it: it.ask_as_other("PUT", f"/players/{it.seat}/presence", json={"away": True}),
    ),
    "claim the seat of the other": (409, lambda it: it.ask_as_other("POST", "/claims", json={"seat": it.seat})),
    "claim its own seat": (422, lambda it: it.ask_as_other("POST", "/claims", json={"seat": it.other})),
    "view": (200, lambda it: it.ask_as_other("GET", "")),
    "list moves": (200, lambda it: it.ask_as_other("GET", "/moves")),
    "read the score": (200, lambda it: it.ask_as_other("GET", "/score")),
    "read the record": (200, lambda it: it.ask_as_other("GET", "/record")),
    "read the fairness report": (200, lambda it: it.ask_as_other("GET", "/fairness")),
    "read events": (200, lambda it: it.ask_as_other("GET", "/events")),
    "move out of turn": (409, lambda it: it.ask_as_other("POST", "/moves", json={"action": "pass"})),
    "post the move of the other": (409, lambda it: it.ask_as_other("POST", "/moves", json=it.move)),
    "deal out of turn": (
        409,
        lambda it: it.ask_as_other("POST", "/moves", json={"action": "deal", "client_seed": "mine"}),
    ),
    "move for a future version": (
        412,
        lambda it: it.ask_as_other("POST", "/moves", json={"action": "pass", "version": it.move["version"] + 1}),
    ),
    "send a wrong body": (422, lambda it: it.ask_as_other("POST", "/moves", json={"action": 1})),
    "join a full game": (
        403,
        lambda it: it.ask_as_other("POST", "/players", json={"name": "Eve", "join_code": "AAAAAAAAAAAAAAAA"}),
    ),
    "change the token of the other": (403, lambda it: it.ask_as_other("POST", f"/players/{it.seat}/token", json={})),
    "use a key of the other": (
        409,
        lambda it: it.ask_as_other(
            "POST", "/moves", json=it.move, headers={"Idempotency-Key": "the-key-of-the-seat-on-turn"}
        ),
    ),
}


@pytest.fixture
def position(api: Api) -> Position:
    table = api.create("domino", 2)
    seat = seat_to_move(api.view(table))
    etag = api.get(table.path, token=table.tokens[seat]).headers["ETag"]
    return Position(api, table, seat, etag, api.moves(table, seat)[0], 1 - seat)


def assert_not_disturbed(position: Position, headers: dict[str, str], move: dict[str, Any]) -> None:
    """The seat on turn moves as listed, and reads every event with one cursor."""
    api, table = position.api, position.table
    answer = api.move(table, position.seat, move, headers={**headers, "Idempotency-Key": "the-key-of-the-seat-on-turn"})
    assert answer.status_code == 201, answer.text
    events = api.get(f"{table.path}/events?limit=1000", token=table.tokens[position.seat]).get_json()["events"]
    assert [each["version"] for each in events] == [*range(1, answer.get_json()["version"] + 1)]


@pytest.mark.parametrize(("status", "action"), ACTIONS.values(), ids=ACTIONS.keys())
@pytest.mark.parametrize("guard", ["version", "If-Match: ETag", "If-Match: version"])
def test_others_leave_a_listed_move_valid(guard: str, status: int, action: Action, position: Position) -> None:
    for _ in range(REPETITIONS):
        assert action(position).status_code == status
    move = dict(position.move)
    version = move.pop("version")
    match guard:
        case "version":
            assert_not_disturbed(position, {}, position.move)
        case "If-Match: ETag":
            assert_not_disturbed(position, {"If-Match": position.etag}, move)
        case _:
            assert_not_disturbed(position, {"If-Match": f'"{version}"'}, move)


def test_an_etag_read_between_two_changes_of_a_token_is_that_of_the_match(position: Position) -> None:
    position.change_token()
    etag = position.api.get(position.table.path, token=position.table.tokens[position.seat]).headers["ETag"]
    assert etag != position.etag, "a view has the version of the last event"
    position.change_token()
    move = {name: value for name, value in position.move.items() if name != "version"}
    assert_not_disturbed(position, {"If-Match": etag}, move)


def test_a_move_makes_listed_moves_stale_whatever_tokens_change(position: Position) -> None:
    api, table, seat = position.api, position.table, position.seat
    position.change_token()
    assert api.move(table, seat, position.move).status_code == 201
    position.change_token()
    stale = api.move(table, seat, position.move)
    assert stale.status_code == 412
    mark = position.etag.split("-", 1)[1]
    for tag in (
        *(position.etag, f'"{stale.get_json()["version"]}-{mark}', '"3"', '"-1"', '"9999999999999999999999"', '"x-"'),
    ):
        assert api.move(table, seat, {"action": "pass"}, headers={"If-Match": tag}).status_code == 412, tag


def test_the_deal_of_the_next_round_is_guarded_like_a_move(position: Position) -> None:
    api, table = position.api, position.table
    view = api.play_until(table, round_over)
    position.change_token()
    assert api.move(table, position.seat, {"action": "deal", "version": view["version"]}).status_code == 201


def test_the_version_of_the_match_survives_in_the_store(position: Position, app: Any) -> None:
    position.change_token()
    repository = app.extensions["domino"].games.access._repository
    repository.cache.forget((position.table.id,))
    loaded = repository.reader.reload(position.table.id)
    assert (loaded.version, loaded.match_version) == (position.move["version"] + 1, position.move["version"])
    assert position.etag == f'"{loaded.match_version}-{loaded.match_write_id}-{position.seat}"'
    assert_not_disturbed(position, {}, position.move)
