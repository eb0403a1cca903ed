"""``POST /v1/games``: the answer, and the new game."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, timedelta
from typing import Any

import pytest
import redis

from service.engine.variants import variants
from tests.api.client import Api, causes_of, errors_of, invalid_fields, location_of, status_and_code
from tests.api.conftest import TTL_SECONDS
from tests.api.saved_games import SavedGames, stored, take_snapshot, variants_in_lane

pytestmark = pytest.mark.quick

URL_SAFE = re.compile(r"[A-Za-z0-9_-]+")
ADA_BO: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo"}]
OPEN: list[dict[str, Any]] = [{"name": "Ada"}, {"open": True}, {"open": True}]


def test_creating_answers_201_with_the_address_of_the_game(api: Api) -> None:
    answer = api.try_create("domino", 2)
    assert answer.status_code == 201
    assert location_of(answer) == f"/v1/games/{answer.get_json()['game']['id']}"
    assert api.get(location_of(answer)).status_code == 200


@pytest.mark.parametrize("variant", variants_in_lane())
def test_creating_shows_the_game_as_a_spectator_sees_it(api: Api, variant: str) -> None:
    table = api.create(variant, variants()[variant].players.low)
    assert table.created["game"] == api.view(table)
    assert "you" not in table.created["game"]


def test_every_named_seat_gets_its_own_token_and_no_other_seat_does(api: Api) -> None:
    players: list[dict[str, Any]] = [{"open": True}, {"name": "Ada"}, {"open": True}, {"name": "Bo"}]
    table = api.create("domino", players)
    assert [(each["seat"], each["name"]) for each in table.created["seats"]] == [(1, "Ada"), (3, "Bo")]
    for seat in (1, 3):
        assert api.view(table, seat)["you"]["seat"] == seat
    assert len(set(table.tokens.values())) == 2


def test_tokens_and_ids_cannot_be_guessed_and_are_safe_in_a_url(api: Api) -> None:
    tables = [api.create("domino", OPEN) for _ in range(3)]
    ids = {table.id for table in tables}
    tokens = {token for table in tables for token in table.tokens.values()}
    codes = {table.join_code for table in tables}
    assert (len(ids), len(tokens), len(codes)) == (3, 3, 3)
    assert all(URL_SAFE.fullmatch(each) for each in ids | tokens)
    assert all(len(each) == 24 for each in ids), "128 bits are 22 characters, and two more give a shard"
    assert all(len(each) >= 43 for each in tokens), "256 bits are 43 characters"


def test_the_answer_with_the_tokens_must_not_be_stored(api: Api) -> None:
    assert api.try_create("domino", 2).headers["Cache-Control"] == "no-store"


def test_the_store_keeps_no_token_and_no_join_code(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", OPEN)
    snapshot = take_snapshot(server, table.id)
    assert table.join_code is not None
    for secret in (*table.tokens.values(), table.join_code):
        assert secret.encode() not in snapshot.state + b"".join(snapshot.events)
        assert secret.removeprefix("seat_").encode() not in snapshot.state + b"".join(snapshot.events)


def test_a_join_code_is_given_only_with_open_seats(api: Api) -> None:
    assert "join_code" not in api.create("domino", ADA_BO).created
    assert "join_code" in api.create("domino", OPEN).created


def test_a_game_with_an_open_seat_waits_and_nothing_is_dealt(api: Api) -> None:
    view = api.create("domino", OPEN).created["game"]
    assert (view["status"], view["version"], view["round"]) == ("waiting", 1, 0)
    assert "turn" not in view
    assert view["board"] == {"tiles": [], "ends": []}
    assert view["stock"] == {"tiles": 0, "drawable": 0}
    kinds = [(player["kind"], player.get("name"), player["tiles"], player["active"]) for player in view["players"]]
    assert kinds == [("human", "Ada", 0, True), ("open", None, 0, True), ("open", None, 0, True)]


def test_a_game_without_open_seats_is_dealt_at_once(api: Api) -> None:
    view = api.create("domino", ADA_BO).created["game"]
    assert (view["status"], view["version"], view["round"]) == ("playing", 2, 1)
    assert [player["tiles"] for player in view["players"]] == [7, 7]
    assert view["turn"]["seat"] in (0, 1)


def test_a_game_may_have_open_seats_only(api: Api) -> None:
    table = api.create("domino", [{"open": True}, {"open": True}])
    assert table.created["seats"] == []
    assert table.join_code


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_game_is_made_for_every_number_of_players_there_may_be_and_no_other(api: Api, variant: str) -> None:
    players = variants()[variant].players
    widest = {"set": 9} if variant == "domino" else {}
    for seats in range(15):
        answer = api.try_create(variant, seats, options=widest)
        assert (answer.status_code == 201) == (players.low <= seats <= players.high)
        if answer.status_code != 201:
            assert invalid_fields(answer) == ["players"]


@pytest.mark.parametrize(
    ("variant", "seats", "rules", "settled"),
    [
        ("fido", 3, {"set": 18, "rounds": 2}, {"set": 18, "rounds": 2, "divisor": 11}),
        ("domino", 8, {"set": 9, "teams": 4}, {"set": 9, "hand": 5, "limit": 100, "teams": 4}),
    ],
)
def test_the_game_shows_the_rules_as_they_are_settled(
    api: Api, variant: str, seats: int, rules: dict[str, Any], settled: dict[str, Any]
) -> None:
    assert api.create(variant, seats, options=rules).created["game"]["options"] == settled


def test_times_are_rfc_3339_in_utc_and_the_game_expires_after_its_time_to_live(api: Api) -> None:
    view = api.create("domino", 2).created["game"]
    created, updated, expires = (view[name] for name in ("created_at", "updated_at", "expires_at"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", created)
    assert updated == created
    lifetime = datetime.fromisoformat(expires) - datetime.fromisoformat(updated)
    assert lifetime == timedelta(seconds=TTL_SECONDS)


def test_two_games_share_no_id_and_no_seed(api: Api, server: redis.Redis) -> None:
    tables = [api.create("domino", 2) for _ in range(3)]
    assert len({table.id for table in tables}) == 3
    assert len({stored(server, table).deck.seed for table in tables}) == 3


NAMES = [
    *("Ada", "x", "7", "★", "?!", "Ada Lovelace", "Jo-Ann 2", "“Bo”", "Zoë", "Zoe\u0308", "Đặng", "Đa\u0323\u0306ng"),
    *("Ωμέγα", "Żółć", "Ёлка", "דָּוִד", "عائشة", "محمّد", "می\u200cخواهم", "क्\u200dष", "श्री\u200cमती"),
    *("ကြောင့်", "นี่", "ខ្ញុំ", "김민수", "さくら", "葛\U000e0100城", "ﷺ", "𝓐𝓭𝓪", "a" + "\u0301" * 4),
    *("❤️", "❤️\u200d🔥", "👩\u200d👩\u200d👧", "🧑🏽\u200d🚀", "🏳️\u200d🌈", "🇩🇪", "1️⃣", "\U0001fae9"),
]
INVISIBLE = [
    *("\u202eadA", "Ada\u202c", "\u2066Ada\u2069", "A\u200eda", "Ada\u061c", "\ufeffAda", "A\u00adda", "A\u2060da"),
    *("\u200b", "A\u200bda", "\u200c\u200d", "\u3164", "A\u3164", "\u115f\u1160", "\uffa0", "\u2800\u2062"),
    *("\U000e0041\U000e0042", "🏴\U000e0067\U000e007f", "\U000e0001Ada", "\u180eAda", "A\u034fda"),
    *("A\u200dda", "می\u200c", "\u200dक", "می\u200c\u200cخ", "❤️\u200dA"),
]
NOT_VISIBLE = ["\u2800", "\u2800 \u2800", "\u0301", "\ufe0f", " \u0301\u0301", "\u00a0\u0301", "\ue000"]
PILES = [
    *("a" + "\u0301" * 5, "Z\u0335\u0322\u030d\u0310\u0329algo", "x" + "\u20dd" * 5),
    "क" + "\u0301\u0301\u200d" * 3 + "क",
]


def by_ten(names: list[str]) -> list[list[str]]:
    """Return the names for games of ten players and an open seat."""
    return [names[place : place + 10] for place in range(0, len(names), 10)]


def test_names_of_all_languages_are_taken(api: Api) -> None:
    for names in by_ten(NAMES):
        table = api.create("menschenwolf", [*({"name": name} for name in names), {"open": True}])
        assert api.post(f"{table.path}/players", {"name": names[-1], "join_code": table.join_code}).status_code == 201
        shown = [player["name"] for player in api.view(table)["players"]]
        assert shown == [unicodedata.normalize("NFC", name) for name in (*names, names[-1])]


def test_a_name_that_nobody_can_see_or_that_spoils_its_surroundings_is_refused(api: Api) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"open": True}])
    for names, message in (
        (INVISIBLE, "Must not contain invisible characters."),
        (NOT_VISIBLE, "Must contain something visible."),
        (PILES, "Must not have more than 4 combining marks on a character."),
    ):
        for some in by_ten(names):
            answer = api.try_create("menschenwolf", [*({"name": name} for name in some), {"open": True}])
            assert status_and_code(answer) == (422, "invalid")
            assert errors_of(answer.get_json()) == {f"players.{seat}.name": [message] for seat in range(len(some))}
        answer = api.post(f"{table.path}/players", {"name": names[0], "join_code": table.join_code})
        assert status_and_code(answer) == (422, "invalid")
        assert errors_of(answer.get_json()) == {"name": [message]}


def test_names_are_shown_as_they_were_given(api: Api) -> None:
    names = ["Ada", "Żółć", "ادا", "👩‍👩‍👧", "O’Neil-Smith", "<b>&amp;\"'", "x" * 60]
    table = api.create("menschenwolf", [{"name": name} for name in names])
    assert [player["name"] for player in api.view(table)["players"]] == names
    assert sorted(each.get("name") for each in api.score(table)["standings"]) == sorted(names)


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_waiting_game_shows_the_same_fields_to_all(api: Api, saved_games: SavedGames, variant: str) -> None:
    table = saved_games.at(variant, "waiting").table
    spectator, seat = api.view(table), api.view(table, 0)
    assert seat.pop("you")["hand"] == []
    assert seat == spectator
    assert spectator["status"] == "waiting"
    assert spectator["legal_moves"] == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  Ada ", "Ada"),
        ("\u3000Ada\u00a0", "Ada"),
        ("Ame\u0301lie", "Am\u00e9lie"),
        ("\u212bke", "\u00c5ke"),
        ("Ada  Lovelace", "Ada  Lovelace"),
    ],
)
def test_a_name_is_trimmed_and_in_one_normal_form(api: Api, given: str, kept: str) -> None:
    table = api.create("domino", [{"name": given}, {"open": True}])
    assert table.created["seats"][0]["name"] == kept
    assert api.post(f"{table.path}/players", {"name": given, "join_code": table.join_code}).get_json()["name"] == kept
    assert [player["name"] for player in api.view(table)["players"]] == [kept, kept]


def test_the_length_of_a_name_is_that_of_what_is_kept(api: Api) -> None:
    assert api.try_create("domino", [{"name": f" {'a' * 60} "}, {"name": "e\u0301" * 60}]).status_code == 201
    assert api.try_create("domino", [{"name": "a" * 61}, {"name": "Bo"}]).status_code == 422


SAME_NAMES = [("Ada", "Ada"), ("Ada", "ADA "), ("Am\u00e9lie", "AME\u0301LIE"), ("Stra\u00dfe", "STRASSE")]


@pytest.mark.parametrize(("first", "second"), SAME_NAMES)
def test_where_names_are_unique_equal_ones_are_refused(api: Api, first: str, second: str) -> None:
    players: list[dict[str, Any]] = [{"name": first}, {"name": second}]
    assert api.try_create("domino", players, unique_names=False).status_code == 201
    assert api.try_create("domino", players).status_code == 201
    refused = api.try_create("domino", players, unique_names=True)
    assert causes_of(refused) == [("players.1.name", "name_taken")]
    table = api.create("domino", [{"name": first}, {"open": True}], unique_names=True)
    before = api.get(table.path).data
    joining = {"name": second, "join_code": table.join_code}
    assert causes_of(api.post(f"{table.path}/players", joining)) == [("name", "name_taken")]
    assert api.get(table.path).data == before
    assert api.post(f"{table.path}/players", {**joining, "name": "Bo"}).status_code == 201


def test_a_game_says_whether_its_names_are_unique_and_repeats_a_join(api: Api) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"open": True}, {"open": True}], unique_names=True)
    assert api.view(table)["unique_names"] is True
    assert "unique_names" not in api.view(api.create("domino", 2, unique_names=False))
    body = {"name": "Bo", "join_code": table.join_code}
    key = {"Idempotency-Key": "a-key-of-sixteen-characters"}
    first, again = (api.post(f"{table.path}/players", body, headers=key) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.get_json()["token"] == first.get_json()["token"]
    assert api.post(f"{table.path}/players", body).get_json()["reason"] == "name_taken"
