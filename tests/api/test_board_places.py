"""``GET /v1/games/{game}/board.json``, ``.svg`` and ``.txt``: where everything on the table lies, in all its forms."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.api.client import Api, Table, refusal, status_and_code, viewers
from tests.api.saved_games import SEED, SavedGame, SavedGames, decoded, shortest, some_seats, variants_in_lane
from tests.support.table import match_finished

pytestmark = pytest.mark.quick

FORMS = {"board.json": "application/json", "board.svg": "image/svg+xml", "board.txt": "text/plain"}
IN_WORDS = {"en": "Three tiles lie", "de": "Drei Steine liegen", "es": "Hay tres fichas"}
"""How the table of the stage ``early`` is told."""


def board(api: Api, table: Table, query: str = "") -> dict[str, Any]:
    answer = api.get(f"{table.path}/board.json{query}")
    assert answer.status_code == 200
    shown: dict[str, Any] = answer.get_json()
    return shown


def places(shown: dict[str, Any]) -> dict[str, tuple[int, int, int]]:
    return {tile["tile"]: (tile["x"], tile["y"], tile["rotation"]) for tile in shown["tiles"]}


def test_the_board_has_the_tiles_and_the_ends_of_the_view(api: Api, saved_game: SavedGame) -> None:
    view, shown = api.view(saved_game.table), board(api, saved_game.table)
    assert (shown["version"], shown["round"], shown["aspect"]) == (view["version"], view["round"], 1.6)
    for key in ("tile", "face_down", "seat"):
        assert [each[key] for each in shown["tiles"]] == [each[key] for each in view["board"]["tiles"]]
    for key in ("id", "number", "state"):
        assert [each[key] for each in shown["ends"]] == [each[key] for each in view["board"]["ends"]]


def test_a_tile_touches_its_host_with_the_same_number_unless_it_lies_apart(api: Api, saved_game: SavedGame) -> None:
    view, shown = api.view(saved_game.table), board(api, saved_game.table)
    halves = {tile["tile"]: halves_of(tile) for tile in shown["tiles"]}
    for tile, laid in zip(shown["tiles"][1:], view["board"]["tiles"][1:], strict=True):
        if "link" not in tile:
            near = [
                (x, y)
                for number, x, y in halves[laid["tile"]]
                for of_host, host_x, host_y in halves[laid["on"]["tile"]]
                if number == laid["number"] and (number == of_host or "outer" in laid)
                if abs(x - host_x) + abs(y - host_y) <= 3
            ]
            assert near, tile


def halves_of(tile: dict[str, Any]) -> list[tuple[int, int, int]]:
    """The number and the centre of each half of a tile."""
    low, high = [int(number) for number in tile["tile"].split("-")]
    x, y = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[tile["rotation"]]
    return [(low, tile["x"] - x, tile["y"] - y), (high, tile["x"] + x, tile["y"] + y)]


@pytest.mark.parametrize("variant", variants_in_lane())
def test_an_empty_table_has_its_planned_size(api: Api, saved_games: SavedGames, variant: str) -> None:
    for stage in ("waiting", "dealt"):
        shown = board(api, saved_games.at(variant, stage).table)
        assert (shown["tiles"], shown["ends"]) == ([], [])
        assert shown["table"]["width"] > shown["table"]["height"] > 10


@pytest.mark.parametrize("variant", variants_in_lane())
def test_every_earlier_table_is_as_it_was(api: Api, variant: str) -> None:
    table = api.create(variant, some_seats(variant), seed=SEED, options=shortest(variant))
    shown = {1: board(api, table)}
    view = api.view(table)
    random = Random(SEED)
    while not match_finished(view):
        shown[view["version"]] = board(api, table)
        view = api.make_legal_move(table, random)
    del shown[1]
    for version, then in shown.items():
        assert board(api, table, f"?version={version}") == then


def test_a_tile_does_not_move_while_a_round_lasts(api: Api, saved_games: SavedGames) -> None:
    saved = saved_games.at("fido", "finished")
    tables = [board(api, saved.table, f"?version={each}") for each in range(1, saved.snapshot.version + 1)]
    for before, after in pairwise(tables):
        if before["round"] == after["round"]:
            assert places(before).items() <= places(after).items()
            assert before["table"] == after["table"]


def test_from_leaves_out_the_tiles_before_that_place_and_nothing_else(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("fido", "late").table
    whole = board(api, table)
    for first in (0, 1, len(whole["tiles"]) - 1, len(whole["tiles"]), 190):
        assert board(api, table, f"?from={first}") == {**whole, "tiles": whole["tiles"][first:]}


def test_a_portrait_table_is_higher_than_wide(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "late").table
    for aspect, given in (("0.4", 0.4), ("1", 1.0), ("1.0", 1.0), ("2.5", 2.5)):
        shown = board(api, table, f"?aspect={aspect}")
        assert shown["aspect"] == given
        assert shown["table"]["width"] / shown["table"]["height"] == pytest.approx(given, rel=0.12)


@pytest.mark.parametrize(
    ("reason", "query"),
    [
        *[("not_an_aspect", f"aspect={aspect}") for aspect in ("0.3", "2.6", "1.65", "1,6", "nan", "", "-1", "%D9%A1")],
        *[("out_of_range", query) for query in ("from=-1", "from=191", "version=0", "version=100000")],
        *(("not_a_boolean", "text=1"), ("token_in_query", "token=x"), ("unknown_parameter", "colour=red")),
    ],
)
def test_a_wrong_query_is_refused(api: Api, saved_games: SavedGames, query: str, reason: str) -> None:
    answer = api.get(f"{saved_games.at('domino', 'early').table.path}/board.json?{query}")
    assert refusal(answer) == (422, "invalid", reason)
    assert answer.get_json()["params"]["field"] == query.partition("=")[0]


def test_a_version_that_does_not_exist_yet_names_the_last_one(api: Api, saved_games: SavedGames) -> None:
    saved = saved_games.at("domino", "early")
    answer = api.get(f"{saved.table.path}/board.json?version={saved.snapshot.version + 1}")
    assert answer.get_json()["params"] == {"field": "version", "min": 1, "max": saved.snapshot.version}


@pytest.mark.parametrize(
    ("reason", "form"),
    [
        *(("not_one_of", "board.svg?theme=pink"), ("not_a_boolean", "board.svg?digits=1")),
        *[("unknown_parameter", form) for form in ("board.json?theme=dark", "board.svg?from=1")],
        *[("unknown_parameter", f"board.txt?{query}") for query in ("digits=true", "style=drawing", "aspect=1.6")],
    ],
)
def test_a_form_refuses_a_wrong_query_and_what_means_nothing_for_it(
    api: Api, saved_games: SavedGames, form: str, reason: str
) -> None:
    assert refusal(api.get(f"{saved_games.at('domino', 'early').table.path}/{form}")) == (422, "invalid", reason)


def test_a_table_has_no_address_without_a_form(api: Api, saved_games: SavedGames) -> None:
    assert status_and_code(api.get(f"{saved_games.at('fido', 'early').table.path}/board")) == (404, "not_found")


@pytest.mark.parametrize(("form", "kind"), FORMS.items())
def test_a_form_is_what_it_says_whatever_is_accepted(api: Api, saved_games: SavedGames, form: str, kind: str) -> None:
    path = f"{saved_games.at('fido', 'early').table.path}/{form}"
    for accept in ("text/html", "application/json", "*/*"):
        answer, head = (api.ask(method, path, headers={"Accept": accept}) for method in ("GET", "HEAD"))
        assert (answer.status_code, answer.mimetype, head.status_code) == (200, kind, 200)
        for name in ("ETag", "Content-Length"):
            assert head.headers[name] == answer.headers[name]


@pytest.mark.parametrize("form", FORMS)
def test_a_board_that_the_client_has_is_not_sent_again(api: Api, saved_games: SavedGames, form: str) -> None:
    table = saved_games.at("fido", "early").table
    path = f"{table.path}/{form}"
    first = api.get(path)
    headers = {"If-None-Match": first.headers["ETag"]}
    assert api.get(path, headers=headers).status_code == 304
    if form != "board.txt":
        assert api.get(f"{path}?aspect=1.5", headers=headers).status_code == 200
    in_german = api.get(path, headers={**headers, "Accept-Language": "de"}).status_code
    assert in_german == (200 if form == "board.svg" else 304), "only the picture has texts"
    assert api.get(f"{path}?version=1", headers=headers).status_code == 200
    api.make_legal_move(table)
    assert api.get(path, headers=headers).status_code == 200


def test_every_form_and_every_query_has_a_tag_of_its_own(api: Api, saved_games: SavedGames) -> None:
    path = saved_games.at("fido", "early").table.path
    asked = [
        *[f"board.json{query}" for query in ("", "?aspect=0.4", "?from=1", "?version=4", "?text=true")],
        *[f"board.svg{query}" for query in ("", "?aspect=0.4", "?theme=dark", "?digits=true", "?digits=false")],
        *[f"board.txt{query}" for query in ("", "?version=4")],
    ]
    tags = [api.get(f"{path}/{each}").headers["ETag"] for each in asked]
    assert len(set(tags)) == len(asked)
    assert not [tag for tag in tags if "False" in tag or "drawing" in tag], "a tag is opaque"


@pytest.mark.parametrize("form", ["board.txt", "board.json", "board.json?text=true", "board.svg"])
def test_only_the_tag_of_a_form_with_texts_has_a_language(saved_games: SavedGames, form: str) -> None:
    table = saved_games.at("fido", "early").table
    english, german = (table.get(f"/{form}", Accept_Language=each).headers["ETag"] for each in ("en", "de"))
    assert (english != german) is (form in ("board.json?text=true", "board.svg"))


@pytest.mark.parametrize("form", FORMS)
def test_every_viewer_gets_the_same_board(saved_games: SavedGames, form: str) -> None:
    table = saved_games.at("fido", "late").table
    answers = [table.get(f"/{form}", viewer) for viewer in viewers(table)]
    assert len({(answer.data, answer.headers["ETag"]) for answer in answers}) == 1


def test_the_table_of_the_engine_is_what_is_shown(api: Api, saved_game: SavedGame) -> None:
    game = decoded(saved_game.table.id, saved_game.snapshot)
    shown = board(api, saved_game.table)
    assert [each["tile"] for each in shown["tiles"]] == [each.tile.name for each in game.state.layout.placements]
    assert shown["version"] == game.version


@pytest.mark.parametrize(("language", "beginning"), IN_WORDS.items())
def test_the_ends_are_also_told_in_words(api: Api, saved_games: SavedGames, language: str, beginning: str) -> None:
    table = saved_games.at("domino", "early").table
    answer = table.get("/board.json?text=true", Accept_Language=language).get_json()
    assert answer.pop("text").startswith(beginning)
    assert answer == board(api, table)


@pytest.mark.parametrize(
    ("language", "title"),
    [("en", "The table of round 1"), ("de", "Der Tisch der 1. Runde"), ("es", "La mesa de la ronda 1")],
)
def test_any_page_may_show_a_picture_which_loads_nothing(saved_games: SavedGames, language: str, title: str) -> None:
    table = saved_games.at("fido", "early").table
    answer = table.get("/board.svg", Accept_Language=language)
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert (answer.headers["Content-Type"], answer.headers["Content-Language"]) == ("image/svg+xml", language)
    again = table.get("/board.svg", Accept_Language=language, If_None_Match=answer.headers["ETag"])
    assert again.status_code == 304
    assert again.headers["Content-Security-Policy"] == answer.headers["Content-Security-Policy"]
    root = ElementTree.fromstring(answer.data)
    assert (root[0].text, str(root[1].text).startswith(IN_WORDS[language])) == (title, True)


def test_a_picture_of_a_given_version_is_kept_for_some_minutes(api: Api, saved_games: SavedGames) -> None:
    saved = saved_games.at("fido", "early")
    path, version = f"{saved.table.path}/board.svg", saved.snapshot.version
    assert api.get(path).headers["Cache-Control"] == "private, no-cache"
    for given in (version, version - 1):
        answer = api.get(f"{path}?version={given}&theme=dark")
        assert answer.headers["Cache-Control"] == "private, max-age=300"
        again = api.get(f"{path}?version={given}&theme=dark", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.headers["Cache-Control"]) == (304, "private, max-age=300")
    for unsettled in (f"board.svg?version={version + 1}", f"board.json?version={version}"):
        assert "max-age" not in api.get(f"{saved.table.path}/{unsettled}").headers["Cache-Control"]


def test_a_table_as_text_has_every_tile_and_marks_the_last(api: Api, saved_games: SavedGames) -> None:
    saved = saved_games.at("domino", "early")
    listing = api.get(f"{saved.table.path}/board.txt").text
    for tile in [each["tile"] for each in board(api, saved.table)["tiles"]]:
        assert tile in listing or tile[::-1] in listing
    assert listing.count("*") == 1
    assert listing.endswith("\n")


def test_an_empty_table_as_text_is_empty(api: Api, saved_games: SavedGames) -> None:
    assert api.get(f"{saved_games.at('domino', 'dealt').table.path}/board.txt").data == b""
