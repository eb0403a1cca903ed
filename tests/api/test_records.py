"""Records over HTTP: a match can be exported, verified and continued."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from werkzeug.test import TestResponse

from service.games.facade import GamesFacade
from service.records.parser import parse_record
from service.records.record import ARRANGED, PROVABLE
from service.records.verification import verify
from service.records.writer import MEDIA_TYPE, format_record
from tests.api.client import Api, Table, errors_of, invalid_fields, status_and_code
from tests.api.saved_games import one_open_seat, some_rounds, some_seats, variants_in_lane
from tests.support.application import create_app
from tests.support.table import match_finished, reached, round_over, round_over_or_reached, seat_to_move

pytestmark = pytest.mark.quick

PLAYED = dict.fromkeys([*variants_in_lane(), "homo-homini-lupus"])
"""The variants of which there is a finished match."""
TEXT = {"Accept": "text/plain"}
JSON = {"Accept": "application/json"}


def record_of(table: Table, seat: int | None = None) -> str:
    answer = table.get("/record", seat, **TEXT)
    assert (answer.status_code, answer.content_type) == (200, "text/plain; charset=utf-8")
    return answer.text


def as_json(table: Table, seat: int | None = None) -> dict[str, Any]:
    shown: dict[str, Any] = table.get("/record", seat, **JSON).get_json()
    return shown


def go_on(api: Api, record: str, seats: int, version: int | None = None, **more: Any) -> TestResponse:
    """Ask for a game that continues a record."""
    source = {"record": record} if version is None else {"record": record, "version": version}
    return api.try_create(None, people(seats), continues=source, **more)


def people(seats: int) -> list[dict[str, Any]]:
    return [{"name": f"New {seat}"} for seat in range(seats)]


@pytest.fixture(scope="module")
def played(app: Any) -> dict[str, tuple[Table, str]]:
    """Finished matches, in which one player joined later and one changed their token."""
    api = Api(app.test_client(use_cookies=False))
    matches = {}
    for variant in PLAYED:
        seats = one_open_seat(variant)
        seats[0] |= {"name": 'Ada "the \\ first"', "client_seed": "seven green bottles"}
        table = api.create(variant, seats, options=some_rounds(variant))
        api.take_seat(table, "Zoë", client_seed="🁡")
        rng = Random(variant)
        api.play_until(table, reached(9), rng)
        changed: Any = api.post(f"{table.path}/players/0/token", {}, token=table.tokens[0]).get_json()
        table.tokens[0] = changed["token"]
        api.play_until(table, match_finished, rng)
        matches[variant] = table, record_of(table)
    return matches


# What is in a record


@pytest.mark.parametrize("variant", PLAYED)
def test_a_match_is_recorded_whole_and_verified(api: Api, played: dict[str, tuple[Table, str]], variant: str) -> None:
    table, text = played[variant]
    record = parse_record(text)
    assert format_record(record) == text
    assert (record.game, record.variant, record.fairness, record.viewer) == (table.id, variant, PROVABLE, None)
    assert record.players[0] == 'Ada "the \\ first"'
    assert record.players[-1] == "Zoë"
    report = verify(record)
    assert report.findings == ()
    assert report.finished
    assert report.proven == report.deals == len(record.rounds) - 1

    view = api.view(table)
    assert list(record.result or ()) == view["winners"]
    assert record.date == view["created_at"]
    verification: Any = api.post("/v1/verifications", text).get_json()
    assert (verification["verified"], verification["finished"], verification["findings"]) == (True, True, [])
    proof = (verification["fairness"], verification["proven"], verification["moves"])
    assert proof == (PROVABLE, report.proven, report.moves)
    assert "cannot be proven" in " ".join(verification["notes"])


@pytest.mark.parametrize("variant", PLAYED)
def test_a_record_agrees_with_the_events_the_score_and_the_fairness_report(
    api: Api, played: dict[str, tuple[Table, str]], variant: str
) -> None:
    table, _ = played[variant]
    record = as_json(table)
    assert {seat["name"] for seat in record["players"]} == {each["name"] for each in api.view(table)["players"]}
    happened = api.get(f"{table.path}/events?limit=1000").get_json()["events"]
    around = ("created", "joined", "token_changed", "dealt", "drew")
    report = {event["version"]: event for each in record["rounds"] for event in each.get("events", ())}
    for event in happened:
        if event["type"] not in around:
            in_record = {name: value for name, value in event.items() if name not in ("at", "to_act")}
            assert report.pop(event["version"]) == in_record
    assert {event["type"] for event in report.values()} <= {"drew"}
    assert all("tile" in event["data"] for event in report.values())
    rng = api.get(f"{table.path}/fairness").get_json()["rounds"]
    for each, known in zip(record["rounds"], rng, strict=True):
        for name in ("round", "commitment", "client_seeds", "seed", "attempt"):
            assert each.get(name) == known.get(name)
        if "deal" in each:
            assert [hand["tiles"] for hand in each["deal"]["hands"]] == known["hands"]
            assert each["deal"]["stock"]["tiles"] == known["stock"]


@pytest.mark.parametrize("variant", variants_in_lane())
def test_during_play_a_record_shows_each_seat_what_it_has_seen(api: Api, variant: str) -> None:
    table = api.create(variant, some_seats(variant), options=some_rounds(variant))
    rng = Random(variant)
    for wanted in (4, 12, 30):
        view = api.play_until(table, round_over_or_reached(wanted), rng)
        if round_over(view):
            break
        for seat in (None, *table.tokens):
            record = parse_record(record_of(table, seat))
            assert record.viewer == ("spectator" if seat is None else seat)
            assert (record.result, record.rounds[-2].seed) == (None, None)
            assert [each.code for each in verify(record).findings] == ["hidden_tile"]
            shown = as_json(table, seat)
            assert (shown["whole"], shown.get("seat")) == (False, seat)
            hands = shown["rounds"][-2]["deal"]["hands"]
            assert [hand["seat"] for hand in hands if "tiles" in hand] == ([] if seat is None else [seat])
            answer: Any = api.post("/v1/verifications", record_of(table, seat)).get_json()
            assert (answer["verified"], answer["finished"]) == (False, False)
            assert [each["code"] for each in answer["findings"]] == ["hidden_tile"]
            assert invalid_fields(go_on(api, record_of(table, seat), 2)) == ["continues"]


def test_before_the_first_deal_a_record_has_its_commitment(api: Api) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"open": True}])
    record = parse_record(record_of(table))
    assert record.players == ("Ada", "")
    assert [each.commitment.hex() for each in record.rounds if each.commitment] == [
        each["commitment"] for each in api.view(table)["commitments"]
    ]
    assert verify(record).findings == ()


def test_the_record_of_an_arranged_game_is_marked_as_arranged(api: Api) -> None:
    table = api.create("domino", 2, seed="a rainy evening")
    api.play_until(table, round_over, Random(1))
    record = parse_record(record_of(table))
    assert (record.fairness, record.rounds[0].seed) == (ARRANGED, None)
    assert verify(record).findings == ()
    assert "a rainy evening" not in record_of(table)


def test_a_record_is_text_or_json_and_known_by_its_own_etag(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    table, text = played["domino"]
    path = f"{table.path}/record"
    assert api.get(path, headers=TEXT).get_data(as_text=True) == text
    assert api.get(path).data == api.get(path, headers=JSON).data
    tags = {}
    for headers in (TEXT, JSON, {"Accept": MEDIA_TYPE}):
        answer = api.get(path, headers=headers)
        tags[headers["Accept"]] = answer.headers["ETag"]
        assert "Accept" in answer.headers["Vary"]
        assert api.get(path, headers={**headers, "If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert len(set(tags.values())) == 3
    assert api.get(path, headers={**JSON, "If-None-Match": tags["text/plain"]}).status_code == 200
    assert api.get(path, headers={"Accept": "image/png"}).get_json()["code"] == "not_acceptable"


def test_a_record_has_a_type_and_a_file_name_of_its_own(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    table, text = played["domino"]
    answer = api.get(f"{table.path}/record", headers={"Accept": f"{MEDIA_TYPE}, application/json;q=0.5"})
    assert answer.content_type == f"{MEDIA_TYPE}; charset=utf-8"
    assert answer.get_data(as_text=True) == text
    for headers in (TEXT, {"Accept": MEDIA_TYPE}):
        named = api.get(f"{table.path}/record", headers=headers).headers["Content-Disposition"]
        assert named == f'inline; filename="{table.id}.domino"'


@pytest.mark.parametrize("path", ["/v1/verifications", "/v1/replays"])
@pytest.mark.parametrize("media_type", [MEDIA_TYPE, "text/plain; charset=UTF-8"])
def test_a_record_is_taken_back_edited(
    path: str, media_type: str, api: Api, played: dict[str, tuple[Table, str]]
) -> None:
    _, text = played["domino"]
    edited = ("\ufeff\n" + text.removesuffix("\n")).replace("\n", "\r\n")
    sent = [api.ask("POST", path, data=each.encode(), content_type=media_type) for each in (text, edited)]
    assert [each.status_code for each in sent] == [200] * 2
    assert sent[0].get_json() == sent[1].get_json()


def test_a_game_goes_on_from_a_record_that_was_edited(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    _, text = played["domino"]
    record = parse_record(text)
    source = {"record": text.replace("\n", "\r\n") + "\r\n", "version": record.rounds[0].lines[1].version}
    answer = api.post("/v1/games", {"continues": source, "players": [{"name": name} for name in record.players]})
    assert answer.status_code == 201, answer.get_json()


# Verification


def test_what_was_tampered_with_is_named_with_its_line(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    _, text = played["domino"]
    lines = text.split("\n")
    seed = next(number for number, line in enumerate(lines) if line.startswith("[Seed "))
    lines[seed] = lines[seed][:8] + ("0" if lines[seed][8] != "0" else "1") + lines[seed][9:]
    report: Any = api.post("/v1/verifications", "\n".join(lines)).get_json()
    assert not report["verified"]
    assert ("wrong_seed", seed + 1, 1) in [(each["code"], each["line"], each["round"]) for each in report["findings"]]


def test_no_record_is_refused_with_line_and_column(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    _, text = played["domino"]
    for record, place in (
        ("", ""),
        ("no record\n", "line 1, column 1: "),
        (text.replace("\n", "\n\n"), "line 2, column "),
        (text.replace("[Edition ", "[Edition  "), "line 4, column "),
    ):
        answer = api.post("/v1/verifications", record)
        assert status_and_code(answer) == (422, "invalid")
        assert answer.get_json()["detail"].startswith(place)


def test_parsing_a_long_record_yields_to_other_requests(games: GamesFacade) -> None:
    breaths = []
    api = Api(create_app(games, yield_control=lambda: breaths.append(1)).test_client(use_cookies=False))
    head = (
        '[Record "1"]\n[Variant "domino"]\n[Edition "1"]\n[Options ""]\n[Player 0 ""]\n[Fairness "arranged"]\n'
        '[Result "*"]\n'
    )
    rounds = "".join([f"\n[Round {number}]\n" for number in range(1, 200)])
    answer = api.post("/v1/verifications", f"{head}{rounds}and here it breaks\n")
    assert answer.get_json()["detail"].startswith("line 406, column 1: ")
    assert len(breaths) >= 5


# Continuing a match


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_record_is_played_on_from_any_point(api: Api, played: dict[str, tuple[Table, str]], variant: str) -> None:
    original, text = played[variant]
    seats = some_seats(variant)
    rng = Random(variant)
    versions = [line.version for each in parse_record(text).rounds for line in each.lines]
    made = 0
    for version in rng.sample(versions, 6):
        answer = go_on(api, text, seats, version)
        if answer.status_code == 422:
            (complaint,) = errors_of(answer.get_json())["continues"]
            assert f"from version {version};" in complaint
            continue
        made += 1
        created: Any = answer.get_json()
        game = created["game"]
        table = Table(api, created)
        assert (game["arranged"], game["variant"], "commitments" in game) == (True, variant, False)
        events = api.get(f"{table.path}/events?limit=1000").get_json()["events"]
        before = api.get(f"{original.path}/events?limit=1000").get_json()["events"]
        around = ("created", "joined", "token_changed")
        match = [event["type"] for event in before if event["type"] not in around and event["version"] <= version]
        assert [event["type"] for event in events] == ["created", *match]
        assert api.score(table)["rounds"] == [
            event["data"] for event in before if event["type"] == "round_ended" and event["version"] <= version
        ]
        view = api.play_until(table, match_finished, rng)
        record = parse_record(record_of(table))
        assert (record.fairness, record.players) == (ARRANGED, tuple(f"New {seat}" for seat in range(seats)))
        assert verify(record).findings == ()
        assert list(record.result or ()) == view["winners"]
    assert made


def test_the_seats_of_a_match_played_on_hold_what_they_held(api: Api) -> None:
    table = api.create("fido", 3)
    api.play_until(table, reached(20), Random(3))
    then = {seat: api.view(table, seat) for seat in table.tokens}
    api.play_until(table, match_finished, Random(4))
    again = Table(api, go_on(api, table.record(), 3, 20).get_json())
    same = ("board", "turn", "you", "stock", "round", "status", "carry", "options")
    for seat in again.tokens:
        now = api.view(again, seat)
        assert {name: now.get(name) for name in same} == {name: then[seat].get(name) for name in same}
        moves = [[{**move, "version": 0} for move in view["legal_moves"]] for view in (now, then[seat])]
        assert moves[0] == moves[1]


def test_a_record_is_continued_at_its_end_if_no_version_is_given(api: Api) -> None:
    table = api.create("domino", 2, seed="once")
    view = api.play_until(table, round_over, Random(1))
    created = go_on(api, record_of(table), 2).get_json()
    assert (created["game"]["status"], created["game"]["round"]) == ("round_over", view["round"])
    again = Table(api, created)
    assert api.move(again, 0, {"action": "deal"}).get_json()["round"] == 2
    events = api.get(f"{again.path}/events?limit=1000").get_json()["events"]
    assert [event["data"]["arranged"] for event in events if event["type"] == "dealt"] == [True, False]


def test_open_seats_of_a_match_played_on_are_taken_first(api: Api) -> None:
    table = api.create("domino", 3, seed="open")
    api.play_until(table, reached(6), Random(1))
    api.play_until(table, round_over, Random(1))
    seats: list[dict[str, Any]] = [{"name": "Ada"}, {"open": True}, {"open": True}]
    body = {"continues": {"record": record_of(table), "version": 6}, "players": seats}
    created: Any = api.post("/v1/games", body).get_json()
    assert created["game"]["status"] == "waiting"
    assert "turn" not in created["game"]
    again = Table(api, created)
    assert api.move(again, 0, {"action": "draw"}).get_json()["code"] == "not_started"
    waiting = parse_record(record_of(again, 0))
    assert waiting.players == ("Ada", "", "")
    assert [each.code for each in verify(waiting).findings] == ["hidden_tile"]
    for seat in (1, 2):
        taken = api.take_seat(again)
        assert taken["seat"] == seat
    assert (taken["game"]["status"], taken["game"]["round"]) == ("playing", 1)
    events = api.get(f"{again.path}/events").get_json()["events"]
    assert [event["type"] for event in events if event["type"] in ("dealt", "joined")] == ["dealt", "joined", "joined"]
    api.play_until(again, round_over, Random(2))
    assert verify(parse_record(record_of(again))).findings == ()


def test_a_match_is_played_on_once_under_a_key(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    _, text = played["menschenwolf"]
    version = parse_record(text).rounds[0].lines[2].version
    key = {"Idempotency-Key": "a-match-that-is-played-on"}
    first, again = (go_on(api, text, some_seats("menschenwolf"), version, headers=key) for _ in range(2))
    assert (first.status_code, first.data) == (201, again.data)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"variant": "domino"}, "variant"),
        ({"options": {"limit": 100}}, "options"),
        ({"seed": "mine"}, "seed"),
        ({"players": [{"name": "Ada"}]}, "players"),
        ({"players": [{"name": "Ada"}, {"name": "Bo"}]}, "players"),
        ({"players": [{"name": "A", "client_seed": "x"}, {"name": "B"}, {"name": "C"}]}, "players.0.client_seed"),
        ({"continues": {"record": "no record"}}, "continues.record"),
        ({"continues": {"record": ""}}, "continues.record"),
        ({"continues": {}}, "continues.record"),
        ({"continues": {"record": "x", "version": 0}}, "continues.version"),
        ({"continues": "x"}, "continues"),
    ],
)
def test_a_record_that_cannot_be_continued_is_refused(
    api: Api, played: dict[str, tuple[Table, str]], change: dict[str, Any], field: str
) -> None:
    _, text = played["domino"]
    body = {"continues": {"record": text, "version": 4}, "players": people(3)}
    answer = api.post("/v1/games", body | change)
    assert answer.status_code == 422
    assert next(iter(errors_of(answer.get_json()))).startswith(field)


def test_a_record_that_was_tampered_with_is_not_played_on(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    _, text = played["domino"]
    first = text.index("dealt: ") + len("dealt: ")
    twice = text[: first + 4] + text[first : first + 3] + text[first + 7 :]
    assert invalid_fields(go_on(api, twice, 3, 4)) == ["continues"]
    assert go_on(api, text, 3, 4).status_code == 201


def test_the_mover_of_a_match_played_on_moves(api: Api, played: dict[str, tuple[Table, str]]) -> None:
    _, text = played["homo-homini-lupus"]
    version = parse_record(text).rounds[1].lines[3].version
    created = api.create(None, 4, continues={"record": text, "version": version}).created
    again = Table(api, created)
    seat = seat_to_move(created["game"])
    assert api.move(again, seat, api.moves(again, seat)[0]).status_code == 201
