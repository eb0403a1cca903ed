"""``POST /v1/replays``: a record as tables and sentences, as they are of the game itself."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.api.client import Api, invalid_fields
from tests.api.saved_games import some_rounds, some_seats, variants_in_lane
from tests.support.table import match_finished, reached, round_over

pytestmark = pytest.mark.quick


def replayed(api: Api, record: str, query: str = "", **headers: str) -> dict[str, Any]:
    answer = api.post(f"/v1/replays{query}", record, headers=headers)
    assert answer.status_code == 200
    shown: dict[str, Any] = answer.get_json()
    return shown


@pytest.mark.parametrize("variant", variants_in_lane())
def test_the_last_table_of_every_round_is_the_board_of_the_game(api: Api, variant: str) -> None:
    table = api.create(variant, some_seats(variant), options=some_rounds(variant))
    view = api.play_until(table, match_finished, Random(variant))
    shown = replayed(api, table.record(), "?aspect=0.8")
    assert (shown["variant"], shown["finished"]) == (variant, True)
    assert shown["options"].items() <= view["options"].items()
    assert shown["winners"] == view["winners"]
    assert "fault" not in shown
    assert shown["rounds"]
    for each in shown["rounds"]:
        version = each["board"]["version"]
        assert version == each["steps"][-1]["version"]
        assert each["board"] == api.get(f"{table.path}/board.json?aspect=0.8&version={version}").get_json()


@pytest.mark.parametrize("variant", variants_in_lane())
def test_the_steps_are_the_events_of_the_game_in_its_words(api: Api, variant: str) -> None:
    table = api.create(variant, some_seats(variant), options=some_rounds(variant))
    api.play_until(table, round_over, Random(variant))
    for language in ("en", "de"):
        headers = {"Accept-Language": language}
        events = api.get(f"{table.path}/events?limit=1000&text=true", headers=headers).get_json()["events"]
        told = [each for each in events if each["type"] not in ("created", "joined")]
        steps = [step for each in replayed(api, table.record(), **headers)["rounds"] for step in each["steps"]]
        assert [step["version"] for step in steps] == [event["version"] for event in told]
        for step, event in zip(steps, told, strict=True):
            assert (step["type"], step.get("seat")) == (event["type"], event.get("seat"))
            if event["type"] == "drew":  # to a spectator of the game no tile is told
                assert step["tile"]
            else:
                assert step["text"] == event["text"]
                assert {name: step[name] for name in event["data"] if name in step} == {
                    name: value for name, value in event["data"].items() if name in step
                }


def test_the_first_tiles_of_a_table_are_those_that_lay_there_after_a_step(api: Api) -> None:
    table = api.create("fido", 3, seed="a replay")
    api.play_until(table, round_over, Random(5))
    (each,) = replayed(api, table.record())["rounds"]
    for step in each["steps"][:12]:
        board: Any = api.get(f"{table.path}/board.json?version={step['version']}").get_json()
        assert board["tiles"] == each["board"]["tiles"][: step["tiles"]]


def test_a_replay_ends_before_a_round_that_is_hidden(api: Api) -> None:
    table = api.create("domino", 3, seed="a part")
    api.play_until(table, reached(9), Random(2))
    for seat in (None, 1):
        shown = replayed(api, table.record(seat))
        assert (shown["rounds"], shown["finished"], shown["fault"]["code"]) == ([], False, "hidden_tile")


def test_a_replay_ends_with_the_fault_of_the_play(api: Api) -> None:
    table = api.create("domino", 2, seed="a fault")
    api.play_until(table, round_over, Random(3))
    lines = table.record().splitlines()
    (at,) = [at for at, line in enumerate(lines) if line.startswith("4. ")]
    number, seat, rest = lines[at].split(" ", 2)
    lines[at] = f"{number} {1 - int(seat[0])}: {rest}"
    record = "".join([f"{line}\n" for line in lines])
    shown = replayed(api, record)
    assert shown["fault"] in api.post("/v1/verifications", record).get_json()["findings"]
    assert shown["fault"]["line"] == at + 1
    assert [step["version"] for step in shown["rounds"][0]["steps"]] == [2, 3]
    assert replayed(api, record.replace('"domino"', '"chess"'))["rounds"] == []


def test_a_replay_is_in_the_language_of_the_client(api: Api) -> None:
    table = api.create("domino", 2, seed="in German")
    api.play_until(table, round_over, Random(3))
    answer = api.post("/v1/replays", table.record(), headers={"Accept-Language": "de"})
    assert answer.headers["Content-Language"] == "de"
    assert answer.get_json()["rounds"][0]["steps"][0]["text"] == "Runde eins ist gegeben."


def test_an_aspect_that_is_none_is_refused(api: Api) -> None:
    assert invalid_fields(api.post("/v1/replays?aspect=3", '[Record "1"]\n')) == ["aspect"]
