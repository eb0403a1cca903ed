"""Concurrent clients on two workers: one request wins, and all get consistent answers."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.support.contract import PROBLEM
from tests.support.lanes import in_lane
from tests.support.serving import Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

CLIENTS = 20
LEAST_TURNS = 21


class Crowd:
    """Clients with connections of their own, which all send at the same moment."""

    def __init__(self, clients: list[httpx.Client]) -> None:
        self.clients = clients
        self._threads = ThreadPoolExecutor(len(clients))

    def close(self) -> None:
        self._threads.shutdown()

    def at_once(self, send: Callable[[httpx.Client, int], httpx.Response], clients: int = 0) -> list[httpx.Response]:
        """What ``send(client, number)`` answers to each of the first ``clients`` (or all)."""
        crowd = self.clients[: clients or None]
        start = threading.Barrier(len(crowd))

        def run(number: int) -> httpx.Response:
            start.wait(PATIENCE)
            return send(crowd[number], number)

        return list(self._threads.map(run, range(len(crowd)), timeout=2 * PATIENCE))


@pytest.fixture(scope="module")
def crowd(service: Service) -> Iterator[Crowd]:
    with ExitStack() as stack:
        crowd = Crowd([stack.enter_context(connect(service.url)) for _ in range(CLIENTS)])
        crowd.at_once(lambda client, _: client.get("/healthz"))
        yield crowd
        crowd.close()


def posted(table: Table, seat: int, moves: list[Json], headers: dict[str, str]) -> Callable[..., httpx.Response]:
    own = table.headers(seat) | headers

    def send(client: httpx.Client, number: int) -> httpx.Response:
        return client.post(f"{table.path}/moves", json=moves[number % len(moves)], headers=own)

    return send


def check_refusal(answer: httpx.Response) -> Json:
    """Check that a late request got a problem with the current state of the game."""
    assert answer.headers["Content-Type"] == PROBLEM
    assert answer.status_code in (409, 412), answer.text
    problem: Json = answer.json()
    assert problem["status"] == answer.status_code
    assert all(move["version"] == problem["version"] for move in problem["legal_moves"])
    return problem


def without_version(move: Json) -> Json:
    return {key: value for key, value in move.items() if key in ("action", "tile", "end", "face_down")}


GUARDS = ("version", "If-Match: version", "If-Match: ETag")


@pytest.mark.parametrize("different", in_lane([False, True], quick=[False]))
def test_of_concurrent_moves_for_the_same_version_one_is_made(
    different: bool, http: httpx.Client, crowd: Crowd
) -> None:
    """Matches until each guard was used often enough: how long one match is depends on who is first."""
    rng = random.Random(1)
    turns = 0
    while turns < LEAST_TURNS:
        table = Table.create(http, "domino", 3, options={"limit": 25})
        view = table.view()
        while view["status"] != "finished":
            view = race(table, view, crowd, GUARDS[turns % len(GUARDS)], None if different else rng)
            turns += 1
        check_score(table, view)


def race(table: Table, view: Json, crowd: Crowd, guard: str, rng: random.Random | None) -> Json:
    """Everybody moves for the version of this view at once, one move chosen by ``rng`` or else all; the view after it.

    Fails unless exactly one of them succeeds, and all others are told so.
    """
    version = view["version"]
    seat = table.to_move(view)
    looked = table.get(seat=seat)
    legal = looked.json()["legal_moves"]
    moves = legal if rng is None else [rng.choice(legal)]
    match guard:
        case "version":
            headers = {}
        case "If-Match: version":
            headers, moves = {"If-Match": f'"{version}"'}, [without_version(move) for move in moves]
        case _:
            headers, moves = {"If-Match": looked.headers["ETag"]}, [without_version(move) for move in moves]
    answers = crowd.at_once(posted(table, seat, moves, headers))
    made = [answer for answer in answers if answer.status_code == 201]
    assert len(made) == 1, [answer.status_code for answer in answers]
    after: Json = made[0].json()
    assert after["version"] > version
    for answer in answers:
        if answer is not made[0]:
            problem = check_refusal(answer)
            assert problem["code"] == "stale_version"
            assert problem["version"] == after["version"]
    assert table.get(seat=seat).json() == after
    return after


def test_concurrent_moves_without_versions_are_made_one_after_the_other(http: httpx.Client, crowd: Crowd) -> None:
    rng = random.Random(2)
    table = Table.create(http, "dominospiel", 3, options={"limit": 15})
    view = table.view()
    while view["status"] != "finished":
        before = view["version"]
        seat = table.to_move(view)
        legal = [without_version(move) for move in table.moves(seat)]
        answers = crowd.at_once(posted(table, seat, [rng.choice(legal)], {}))
        made = [answer.json() for answer in answers if answer.status_code == 201]
        for answer in answers:
            if answer.status_code != 201:
                assert check_refusal(answer)["version"] > before
        # Several may succeed, for a seat may draw more than once; each has a version of its own.
        versions = sorted(each["version"] for each in made)
        assert made
        assert len(set(versions)) == len(versions)
        assert versions[0] > before
        view = table.view()
        assert view["version"] == versions[-1]
    check_score(table, view)


def check_score(table: Table, view: Json) -> None:
    """Check that the score card shows a match that ended once, with consecutive rounds."""
    score = table.get("/score").raise_for_status().json()
    assert score["version"] == view["version"]
    assert score["status"] == "finished"
    assert [each["number"] for each in score["rounds"]] == list(range(1, view["round"] + 1))
    totals = {each["seat"]: each["total"] for each in score["standings"]}
    assert totals == {each["seat"]: each["total"] for each in view["players"]}


def test_every_version_has_its_own_score_card(http: httpx.Client, crowd: Crowd) -> None:
    """Every 201 has its own version, without a gap: a play is one event, or two where it ends the round."""
    table = Table.create(http, "fido", 3)
    view = table.view()
    while view["status"] == "playing":
        seat = table.to_move(view)
        before = view
        moves = [without_version(move) for move in table.moves(seat)]
        answers = crowd.at_once(posted(table, seat, moves, {}))
        made = sorted(
            (answer.json() for answer in answers if answer.status_code == 201), key=lambda each: each["version"]
        )
        for view in made:
            if view["status"] == "playing":
                assert view["version"] == before["version"] + 1
            before = view
        assert table.view()["version"] == before["version"]


@pytest.mark.parametrize("seats", in_lane([2, 7, 13], quick=[7]))
def test_every_open_seat_is_given_once(seats: int, http: httpx.Client, crowd: Crowd) -> None:
    for open_seats in {1, seats - 1, seats}:
        players: list[Json] = [{"name": "Ada"}] * (seats - open_seats) + [{"open": True}] * open_seats
        table = Table.create(http, "menschenwolf", players)

        def send(client: httpx.Client, number: int, table: Table = table) -> httpx.Response:
            body = {"name": f"N{number}", "join_code": table.join_code}
            return client.post(f"{table.path}/players", json=body)

        answers = crowd.at_once(send)
        taken: list[Json] = [answer.json() for answer in answers if answer.status_code == 201]
        assert sorted(each["seat"] for each in taken) == list(range(seats - open_seats, seats))
        assert len({each["token"] for each in taken}) == open_seats
        for answer in answers:
            if answer.status_code != 201:
                assert (answer.status_code, answer.json()["code"]) == (409, "seats_taken")
        view = table.view()
        assert view["status"] == "playing"
        assert view["version"] == 1 + open_seats + 1
        names = {each["seat"]: each["name"] for each in view["players"]}
        for each in taken:
            assert names[each["seat"]] == each["name"]
            own = http.get(table.path, headers={"Authorization": f"Bearer {each['token']}"}).json()
            assert own["you"]["seat"] == each["seat"]


def test_the_deal_of_the_next_round_is_made_once(http: httpx.Client, crowd: Crowd) -> None:
    table = Table.create(http, "homo-homini-lupus")
    view: Json = next(view for view in table.play(3) if view["status"] == "round_over")
    seats = list(table.tokens)

    def send(client: httpx.Client, number: int) -> httpx.Response:
        own = table.headers(seats[number % len(seats)])
        return client.post(f"{table.path}/moves", json={"action": "deal"}, headers=own)

    answers = crowd.at_once(send)
    made = [answer.json() for answer in answers if answer.status_code == 201]
    assert [(each["version"], each["round"]) for each in made] == [(view["version"] + 1, 2)]
    for answer in answers:
        if answer.status_code != 201:
            check_refusal(answer)


def test_what_is_acknowledged_to_one_worker_is_seen_by_the_other(crowd: Crowd, http: httpx.Client) -> None:
    table = Table.create(http, "domino", 2)
    for _ in range(20):
        view: dict[str, Any] = table.view()
        if view["status"] != "playing":
            break
        made = table.make_legal_move()
        seen = crowd.at_once(lambda client, _: client.get(table.path))
        assert {answer.json()["version"] for answer in seen} == {made["version"]}
