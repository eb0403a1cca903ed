"""Provably fair deals: what is revealed of a deal, when, and to whom."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count
from random import Random
from typing import Any

import pytest
import redis

from service.engine.deal import SCHEME, commitment, round_seed, shuffle, shuffle_seed, split
from service.engine.tiles import double_set, sort_tiles
from service.engine.variants import variants
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from tests.api.client import Api, Table, invalid_fields, status_and_code
from tests.api.conftest import api_with_fixed_clock
from tests.api.deals import deal
from tests.api.saved_games import one_open_seat, restore, some_rounds, stored, take_snapshot, variants_in_lane
from tests.api.twins import twin
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.support.table import Json, round_over, round_over_or_reached, seat_to_move

pytestmark = pytest.mark.gate


@pytest.fixture
def fair(store: RedisStore, feed: RedisEventFeed, request: pytest.FixtureRequest) -> Api:
    """The application with a fixed clock, and random bytes that are the same in every run of a test."""
    numbers = count()

    def drawn(size: int) -> bytes:
        return sha256(f"{request.node.name} {next(numbers)}".encode()).digest()[:size]

    return api_with_fixed_clock(store, feed, drawn)


def fairness(api: Api, table: Table) -> dict[str, Any]:
    report: dict[str, Any] = api.get(f"{table.path}/fairness").get_json()
    return report


def events(api: Api, table: Table) -> list[dict[str, Any]]:
    report: list[dict[str, Any]] = api.get(f"{table.path}/events?limit=1000").get_json()["events"]
    return report


def open_table(api: Api, variant: str, **more: Any) -> Table:
    """A game whose last seat is open, and whose first seat has a client seed."""
    people = one_open_seat(variant)
    people[0]["client_seed"] = "of the first"
    return api.create(variant, people, **more)


def full_table(api: Api, variant: str, **more: Any) -> Table:
    table = open_table(api, variant, **more)
    api.take_seat(table, client_seed="of the läst 🁡")
    return table


def laid(tiles: int) -> Callable[[Json], bool]:
    return lambda view: len(view["board"]["tiles"]) >= tiles


# What is revealed when


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_commitment_is_public_before_the_first_join_and_the_next_one_with_the_deal(fair: Api, variant: str) -> None:
    table = open_table(fair, variant)
    first = table.created["game"]["commitments"]
    assert [each["round"] for each in first] == [1]
    assert events(fair, table)[0]["data"] == {"commitment": first[0]["commitment"]}
    assert fairness(fair, table)["rounds"] == first

    taken: Any = fair.join(table, client_seed="mu").get_json()
    commitments = taken["game"]["commitments"]
    assert commitments[:1] == first
    assert [each["round"] for each in commitments] == [1, 2]
    (dealt,) = [event["data"] for event in events(fair, table) if event["type"] == "dealt"]
    assert dealt["next_commitment"] == commitments[1]["commitment"]
    seats = len(taken["game"]["players"])
    assert dealt["client_seeds"] == ["of the first", *[""] * (seats - 2), "mu"]
    assert fairness(fair, table) == {
        "game_id": table.id,
        "version": 3,
        "provable": True,
        "method": SCHEME,
        "seats": seats,
        "set": 12 if variant == "fido" else 6,
        **({"without": ["0-0"]} if variant == "by-wins" else {}),  # of three players (rules 16.2)
        "rounds": [{**commitments[0], "client_seeds": dealt["client_seeds"]}, commitments[1]],
    }


@pytest.mark.parametrize("variant", in_lane(list(variants()), gate=GATE_VARIANTS))
def test_every_deal_of_a_match_follows_from_its_seed_and_every_seed_was_committed_to(fair: Api, variant: str) -> None:
    table = full_table(fair, variant, options=some_rounds(variant))
    rng = Random(variant)
    committed: dict[int, str] = {}
    view = fair.view(table)
    for _ in range(40):
        committed |= {each["round"]: each["commitment"] for each in view["commitments"]}
        running, following = fairness(fair, table)["rounds"][-2:]
        assert running.keys() == {"round", "commitment", "client_seeds"}
        assert following.keys() == {"round", "commitment"}
        view = fair.play_until(table, round_over, rng)
        if view["status"] == "finished":
            break
        counted, following = fairness(fair, table)["rounds"][-2:]
        assert counted.keys() == {"round", "commitment", "client_seeds", "seed", "attempt", "hands", "stock"}
        assert following.keys() == {"round", "commitment"}
        answer = fair.move(table, seat_to_move(view), {"action": "deal", "client_seed": f"after round {view['round']}"})
        view = fair.view(table)
        assert answer.status_code == 201
    assert view["status"] == "finished"
    assert view["round"] > 1

    report = fairness(fair, table)
    *dealt, never = report["rounds"]
    assert {each["round"]: each["commitment"] for each in report["rounds"]} == committed
    assert len(dealt) == view["round"]
    assert never.keys() == {"round", "commitment", "seed"}
    for each in report["rounds"]:
        assert commitment(bytes.fromhex(each["seed"])).hex() == each["commitment"]
    assert len({each["seed"] for each in report["rounds"]}) == len(report["rounds"])
    for each in dealt:
        seed = shuffle_seed(bytes.fromhex(each["seed"]), table.id, each["round"], each["client_seeds"])
        tiles = [tile for tile in double_set(report["set"]) if tile.name not in report.get("without", ())]
        order = shuffle(tiles, seed, each["round"], each["attempt"])
        hands, stock = split(order, [len(hand) for hand in each["hands"]])
        assert [[tile.name for tile in sort_tiles(hand)] for hand in hands] == each["hands"]
        assert [tile.name for tile in stock] == each["stock"]
        assert each["round"] == 1 or f"after round {each['round'] - 1}" in each["client_seeds"]


def test_a_client_seed_stays_until_its_seat_gives_another(fair: Api) -> None:
    table = fair.create("domino", [{"name": "Ada", "client_seed": "a"}, {"name": "Bo", "client_seed": "b"}])
    for number in range(1, 4):
        assert fair.play_until(table, round_over, Random(number))["status"] == "round_over"
        more = {"client_seed": "b2"} if number == 1 else {}
        assert fair.move(table, 1, {"action": "deal", **more}).status_code == 201
    seeds = [each.get("client_seeds") for each in fairness(fair, table)["rounds"]]
    assert seeds == [["a", "b"], ["a", "b2"], ["a", "b2"], ["a", "b2"], None]


def test_a_client_seed_is_secret_until_the_deal(fair: Api) -> None:
    people: list[dict[str, Any]] = [{"name": "Ada", "client_seed": "of the first"}, {"open": True}, {"open": True}]
    answers = fair.keep_answers()
    table = fair.create("domino", people)
    joined: Any = fair.join(table, client_seed="of the second").get_json()
    for token in (None, table.tokens[0], joined["token"]):
        for path in ("", "/moves", "/score", "/events", "/fairness", "/record"):
            fair.get(table.path + path, token=token)
    assert all("of the " not in answer.get_data(as_text=True) for answer in answers)
    fair.join(table)
    assert fairness(fair, table)["rounds"][0]["client_seeds"] == ["of the first", "of the second", ""]


def test_a_repeated_deal_takes_its_client_seed_once(fair: Api) -> None:
    table = fair.create("domino", 2)
    fair.play_until(table, round_over, Random(1))
    headers = {"Idempotency-Key": "deal-it"}
    asked = {"action": "deal", "client_seed": "mine"}
    first = fair.move(table, 0, asked, headers=headers)
    again = fair.move(table, 0, asked, headers=headers)
    assert (again.status_code, again.data) == (201, first.data)
    assert fair.move(table, 0, {**asked, "client_seed": "another"}, headers=headers).get_json()["code"] == "key_reused"
    assert fairness(fair, table)["rounds"][1]["client_seeds"] == ["mine", ""]


# What is refused


def test_an_arranged_game_takes_no_client_seed_and_proves_nothing(fair: Api) -> None:
    for fixed in ({"seed": "a rainy evening"}, {"deals": [deal("domino", "0-0 …", "1-1 …", "2-2 …")]}):
        people: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo", "client_seed": "mine"}, {"open": True}]
        assert invalid_fields(fair.try_create("domino", people, **fixed)) == ["players.1.client_seed"]
        del people[1]["client_seed"]
        table = fair.create("domino", people, **fixed)
        assert invalid_fields(fair.join(table, client_seed="mine")) == ["client_seed"]
        assert fair.view(table)["status"] == "waiting"
        assert "commitments" not in fair.take_seat(table)["game"]
        view = fair.play_until(table, round_over, Random(1))
        assert invalid_fields(fair.move(table, 0, {"action": "deal", "client_seed": "mine"})) == ["client_seed"]
        assert fair.view(table)["version"] == view["version"]
        report = fairness(fair, table)
        assert (report["provable"], report["rounds"], "method" in report) == (False, [], False)
        assert all(not event["data"].keys() & {"commitment", "next_commitment"} for event in events(fair, table))


@pytest.mark.parametrize("text", ["", " ", "x" * 65, "two\nlines", 7, None])
def test_a_client_seed_is_one_line_of_text(fair: Api, text: object) -> None:
    people: list[dict[str, Any]] = [{"name": "Ada", "client_seed": text}, {"open": True}]
    assert invalid_fields(fair.try_create("domino", people)) == ["players.0.client_seed"]
    table = fair.create("domino", [{"name": "Ada"}, {"open": True}])
    assert invalid_fields(fair.join(table, client_seed=text)) == ["client_seed"]


def test_a_client_seed_goes_with_a_name_and_with_a_deal_only(fair: Api) -> None:
    people: list[dict[str, Any]] = [{"name": "Ada"}, {"open": True, "client_seed": "mine"}]
    assert invalid_fields(fair.try_create("domino", people)) == ["players.1.client_seed"]
    table = fair.create("domino", 2)
    view = fair.view(table)
    for move in (*fair.moves(table, seat_to_move(view)), {"action": "pass"}):
        assert invalid_fields(fair.move(table, seat_to_move(view), {**move, "client_seed": "mine"})) == ["client_seed"]
    early = fair.move(table, seat_to_move(view), {"action": "deal", "client_seed": "mine"})
    assert status_and_code(early) == (409, "illegal_move")
    assert fair.view(table) == view


# What is never revealed


def spelled(secret: bytes) -> Iterator[str]:
    yield secret.hex()
    yield b64encode(secret).decode().rstrip("=")
    yield urlsafe_b64encode(secret).decode().rstrip("=")


@pytest.mark.parametrize("variant", in_lane(list(variants()), gate=GATE_VARIANTS))
def test_no_answer_has_a_seed_before_its_round_is_over_nor_the_master_seed(
    fair: Api, server: redis.Redis, variant: str
) -> None:
    answers = fair.keep_answers()
    table = full_table(fair, variant, options=some_rounds(variant))
    master = stored(server, table).deck.seed
    rng = Random(variant)
    at = 0
    for _ in range(2_000):
        view = fair.view(table)
        for token in (None, *table.tokens.values()):
            for path in ("", "/moves", "/score", "/fairness", "/record", f"/events?after={view['version'] - 1}"):
                fair.get(table.path + path, token=token)
        finished = view["status"] == "finished"
        revealed_rounds = view["round"] - (view["status"] == "playing") + finished
        secrets = [master, *(round_seed(master, number) for number in range(revealed_rounds + 1, revealed_rounds + 4))]
        for answer in answers[at:]:
            text = answer.get_data(as_text=True) + str(answer.headers)
            assert not [each for secret in secrets for each in spelled(secret) if each in text]
        text = fair.get(f"{table.path}/fairness").get_data(as_text=True)
        report = [number for number in range(1, 99) if round_seed(master, number).hex() in text]
        assert report == list(range(1, revealed_rounds + 1))
        at = len(answers)
        if finished:
            return
        fair.play_until(table, round_over_or_reached(view["version"] + rng.randrange(12, 36)), rng)
        if fair.view(table)["status"] == "round_over" and rng.random() < 0.7:
            fair.move(table, seat_to_move(fair.view(table)), {"action": "deal"})
    raise AssertionError("the match never ended")


@pytest.mark.parametrize("rounds", [0, 1])
@pytest.mark.parametrize("variant", in_lane(list(variants()), gate=GATE_VARIANTS))
def test_a_provable_game_shows_a_seat_nothing_hidden(fair: Api, server: redis.Redis, variant: str, rounds: int) -> None:
    table = full_table(fair, variant, options=some_rounds(variant))
    rng = Random(variant)
    for _ in range(rounds):
        view = fair.play_until(table, round_over, rng)
        fair.move(table, seat_to_move(view), {"action": "deal"})
    for tiles in (0, 3):
        fair.play_until(table, laid(tiles), rng)
        snapshot = take_snapshot(server, table.id)
        for seat in (None, *table.tokens):
            token = None if seat is None else table.tokens[seat]
            answers = []
            for each in (snapshot, twin(table.id, snapshot, seat, rng)):
                restore(server, table.id, each)
                fair.client.application.services.drop_cached((table.id,))  # type: ignore[attr-defined]
                answers.append(
                    [
                        (answer.status_code, sorted(answer.headers), answer.data)
                        for path in ("", "/moves", "/score", "/fairness", "/record", "/events?limit=1000")
                        for accept in ("application/json", *(["text/plain"] if path == "/record" else []))
                        for answer in [fair.get(table.path + path, token=token, headers={"Accept": accept})]
                    ]
                )
            assert answers[0] == answers[1]
        restore(server, table.id, snapshot)
