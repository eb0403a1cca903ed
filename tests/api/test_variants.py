"""``GET /v1/variants`` and ``GET /v1/variants/{id}``: the listed variants are those that can be created."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from service.engine.variants import variants
from service.games.model.seats import LEVELS
from service.games.queries.catalogue import measured_strength
from service.texts import LANGUAGES, Language
from tests.api.client import Api, invalid_fields
from tests.api.saved_games import variants_in_lane

pytestmark = pytest.mark.quick_and_gate

CANDIDATES: tuple[Any, ...] = (
    *range(-1, 21),
    99,
    100,
    101,
    999,
    1000,
    1001,
    True,
    False,
    "average",
    "play_on",
    "",
    "6",
)
CANDIDATES += ("first_out", "difference", "fixed", "sometimes")


def shown(api: Api, variant: str, language: str = "en") -> dict[str, Any]:
    answer: Any = api.get(f"/v1/variants/{variant}", headers={"Accept-Language": language}).json
    return dict(answer)


def option_schemas() -> Iterator[tuple[str, str]]:
    for key in variants_in_lane():
        for option in variants()[key].options:
            yield key, option.key


def sets_of(variant: str) -> list[dict[str, Any]]:
    """The usual set, and every set that the game can be played with."""
    return [{}, *({"set": value} for each in variants()[variant].options if each.key == "set" for value in each.values)]


def test_every_game_is_on_offer_and_every_level_of_computer_players(api: Api) -> None:
    offered: Any = api.get("/v1/variants").json
    assert [each["id"] for each in offered["variants"]] == sorted(variants())
    assert [each["id"] for each in offered["bots"]] == list(LEVELS)


@pytest.mark.parametrize("variant", variants_in_lane())
def test_every_level_is_described_in_every_language(api: Api, variant: str) -> None:
    told: list[str] = []
    for language in LANGUAGES:
        headers = {"Accept-Language": language}
        offered: Any = api.get("/v1/variants", headers=headers).json
        bots = api.get(f"/v1/variants/{variant}", headers=headers).json["bots"]  # type: ignore[index]
        assert [{name: each[name] for name in ("id", "name", "summary")} for each in bots] == offered["bots"]
        sentences = [each[name] for each in bots for name in ("summary", "strength")]
        assert all(each.endswith(".") for each in sentences)
        told += sorted(set(sentences))
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("variant", variants())
def test_a_game_in_full_begins_as_it_does_in_the_list(api: Api, variant: str) -> None:
    for language in LANGUAGES:
        offered: Any = api.get("/v1/variants", headers={"Accept-Language": language}).json
        (listed,) = [each for each in offered["variants"] if each["id"] == variant]
        assert listed.items() <= shown(api, variant, language).items()


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize("variant", variants())
def test_a_variant_is_described_in_every_language(api: Api, variant: str, language: Language) -> None:
    english, other = shown(api, variant, "en"), shown(api, variant, language)
    assert (english["language"], other["language"]) == ("en", language)
    assert english["summary"] != other["summary"]
    assert english["scoring"]["text"] != other["scoring"]["text"]
    assert min(len(english["rules"]), len(other["rules"])) > 500
    assert english["rules"] != other["rules"]
    for key, option in english["options"]["properties"].items():
        spoken = other["options"]["properties"][key]
        assert option["description"] != spoken["description"]
        values = [[each["const"] for each in described.get("oneOf", [])] for described in (option, spoken)]
        assert values[0] == values[1]
        same = option.keys() - {"title", "description", "oneOf"}
        assert {name: option[name] for name in same} == {name: spoken[name] for name in same}
    assert english["deals"] == other["deals"]


@pytest.mark.parametrize("variant", sorted(variants()))
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_value_that_is_a_word_has_a_name_for_people(api: Api, variant: str, language: str) -> None:
    for key, option in shown(api, variant, language)["options"]["properties"].items():
        named = {each["const"]: each["title"] for each in option.get("oneOf", [])}
        if option["type"] == "string":
            assert list(named) == option["enum"]
        if named:
            assert list(named) == option["enum"]
            assert len(set(named.values())) == len(named)
        for text in (*named.values(), option["title"], option["description"]):
            assert not re.search(r"[a-z]_[a-z]", text), (key, text)


def test_the_plain_game_with_a_stock_is_the_one_to_begin_with(api: Api) -> None:
    offered: Any = api.get("/v1/variants").json
    assert {each["difficulty"] for each in offered["variants"]} == {1, 2, 3}
    assert min(offered["variants"], key=lambda each: (each["difficulty"], each["minutes"]))["id"] == "draw"


@pytest.mark.parametrize("variant", sorted(variants()))
def test_the_example_of_a_game_is_a_table_without_overlaps(api: Api, variant: str) -> None:
    tiles = shown(api, variant, "en")["example"]
    assert len(tiles) > 4
    assert len({each["tile"] for each in tiles}) == len(tiles)
    taken: set[tuple[int, int]] = set()
    for each in tiles:
        half = (1, 2) if each["rotation"] % 180 else (2, 1)
        cells = {(each["x"] + x, each["y"] + y) for x in range(-half[0], half[0]) for y in range(-half[1], half[1])}
        assert not cells & taken
        taken |= cells


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("de-CH, en;q=0.5", "de"),
        ("ja, de;q=0.8, en;q=0.5", "de"),
        ("DE", "de"),
        ("es", "es"),
        ("es-419, es;q=0.9, en;q=0.8", "es"),
        ("ca, es-ES;q=0.8, de;q=0.5", "es"),
        ("en", "en"),
        ("en-GB, de;q=0.9", "en"),
        ("de;q=0.3, en;q=0.7", "en"),
        ("ja", "en"),
        ("*", "en"),
        ("", "en"),
        ("de;q=0", "en"),
        ("nonsense;;;q=x", "en"),
    ],
)
def test_the_language_is_the_one_the_client_prefers(api: Api, asked: str, given: str) -> None:
    for path in ("/v1/variants", "/v1/variants/domino"):
        assert api.get(path, headers={"Accept-Language": asked}).headers["Content-Language"] == given


def test_without_accept_language_the_language_is_english(api: Api) -> None:
    assert api.get("/v1/variants/domino").headers["Content-Language"] == "en"


@pytest.mark.parametrize("path", ["/v1/variants", "/v1/variants/fido"])
def test_the_list_of_variants_may_be_cached_and_revalidated(api: Api, path: str) -> None:
    first = api.get(path)
    assert first.headers["Cache-Control"] == "public, no-cache"
    assert first.headers["Vary"] == "Accept, Accept-Language, Accept-Encoding"
    again = api.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.headers["ETag"]) == (304, first.headers["ETag"])
    assert api.get(path, headers={"If-None-Match": first.headers["ETag"], "Accept-Language": "de"}).status_code == 200


def test_an_unknown_variant_is_not_found(api: Api) -> None:
    for variant in ("chess", "DOMINO", "domino.py", "__init__", "_", "d\u00f3mino", "%00"):
        answer = api.get(f"/v1/variants/{variant}")
        assert (answer.status_code, answer.json and answer.json["code"]) == (404, "not_found")


# Options


@pytest.mark.parametrize("variant", variants())
def test_the_options_are_a_json_schema(api: Api, variant: str) -> None:
    options = shown(api, variant)["options"]
    Draft202012Validator.check_schema(options)
    assert options["type"] == "object"
    assert options["unevaluatedProperties"] is False
    assert set(options["properties"]) == {option.key for option in variants()[variant].options}


@pytest.mark.gate
@pytest.mark.parametrize(("variant", "option"), list(option_schemas()))
def test_an_option_takes_exactly_what_its_schema_takes(api: Api, variant: str, option: str) -> None:
    options = shown(api, variant)["options"]
    judge = Draft202012Validator(options)
    players = variants()[variant].players
    for value in CANDIDATES:
        rules = {option: value}
        bodies = [
            {"variant": variant, "players": [{"name": "P"}] * seats, "options": each | rules}
            for each in sets_of(variant)
            for seats in range(players.low, players.high + 1)
        ]
        answers = (api.ask_unchecked("POST", "/v1/games", json=body) for body in bodies)
        taken = next((answer for answer in answers if answer.status_code == 201), None)
        assert (taken is not None) == judge.is_valid(rules), f"{rules} is judged in two ways"
        if taken is not None:
            assert taken.get_json()["game"]["options"][option] == value
        else:
            refused: Any = api.try_create(variant, players.low, options=rules)
            assert invalid_fields(refused) == [f"options.{option}"]


@pytest.mark.parametrize("variant", variants_in_lane())
def test_an_option_left_out_has_the_default_that_its_schema_names(api: Api, variant: str) -> None:
    properties = shown(api, variant)["options"]["properties"]
    defaults = {key: option["default"] for key, option in properties.items() if "default" in option}
    requests: list[dict[str, Any]] = [{}, {"options": {}}, {"options": defaults}]
    for request in requests:
        table = api.create(variant, variants()[variant].players.low, **request)
        assert table.created["game"]["options"].items() >= defaults.items()


@pytest.mark.parametrize("variant", variants_in_lane())
def test_an_option_of_no_game_or_of_another_one_is_refused(api: Api, variant: str) -> None:
    everywhere = {option.key for each in variants().values() for option in each.options}
    mine = {option.key for option in variants()[variant].options}
    for key in (*sorted(everywhere - mine), "colour"):
        refused: Any = api.try_create(variant, variants()[variant].players.low, options={key: 6})
        assert invalid_fields(refused) == [f"options.{key}"]


# Deals


@pytest.mark.parametrize("variant", variants_in_lane())
def test_the_deal_table_is_what_is_dealt(api: Api, variant: str) -> None:
    for row in shown(api, variant)["deals"]:
        table = api.create(variant, row["players"], options={"set": row["set"]} if sets_of(variant)[1:] else {})
        game = table.created["game"]
        assert [player["tiles"] for player in game["players"]] == [row["hand"]] * row["players"]
        assert game["stock"] == {"tiles": row["stock"], "drawable": row["drawable"]}


@pytest.mark.parametrize("variant", variants_in_lane())
def test_the_measured_strength_is_told_for_each_game(api: Api, variant: str) -> None:
    rows = [row for row in measured_strength() if row.variant == variant]
    for language, players in (("en", "players"), ("de", "Spieler"), ("es", "jugadores")):
        told = {bot["id"]: bot["strength"] for bot in shown(api, variant, language)["bots"]}
        for row in rows:
            interval = max(1, round(100 * row.interval))
            share = rf"{100 * row.share:.0f} ± {interval} % [^%]*\({row.players} {players}"
            assert re.search(share, told[row.stronger])
        assert "%" not in told["random"]
