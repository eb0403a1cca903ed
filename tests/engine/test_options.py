"""House rules: each option with its default, its bounds, and what it does not take."""

from __future__ import annotations

import re
from typing import Any

import pytest

from service.engine.errors import InvalidSetup, Refusal
from service.engine.options import Option, format_value, resolve
from service.games.queries.catalogue import option_description, option_title
from service.reasons import sentence
from service.texts import LANGUAGES
from tests.engine.table import complaints, variant

SEATS = {"homo-homini-lupus": 4, "menschenwolf": 4, "fido": 4, "dominospiel": 4, "domino": 4}

DEFAULTS: dict[str, dict[str, object]] = {
    "homo-homini-lupus": {"rounds": 4},
    "menschenwolf": {"limit": 100, "others_write_own": False},
    "fido": {"set": 12, "rounds": 1},
    "dominospiel": {"limit": 50, "round_end": "play_on", "settlement": "average", "stake": 1},
    "domino": {"set": 6, "hand": 7, "limit": 100, "teams": 0},
}

TAKEN: list[tuple[str, str, list[object]]] = [
    ("homo-homini-lupus", "rounds", [1, 2, 99, 100]),
    ("menschenwolf", "limit", [1, 100, 1000]),
    ("menschenwolf", "others_write_own", [False, True]),
    ("fido", "set", [6, 9, 12, 15, 18]),
    ("fido", "rounds", [1, 100]),
    ("dominospiel", "limit", [1, 50, 1000]),
    ("dominospiel", "round_end", ["play_on", "first_out"]),
    ("dominospiel", "settlement", ["average", "difference", "fixed"]),
    ("dominospiel", "stake", [1, 1000]),
    ("domino", "set", [6, 9, 12]),
    ("domino", "hand", [5, 6, 7]),
    ("domino", "limit", [1, 1000]),
    ("domino", "teams", [0, 2]),
]

NO_NUMBER: list[object] = ["4", "", 4.0, 4.5, True, False, None, [4], {}, float("nan"), float("inf"), b"4"]

REFUSED: list[tuple[str, str, list[object]]] = [
    ("homo-homini-lupus", "rounds", [0, -1, 101, 10**30, *NO_NUMBER]),
    ("menschenwolf", "limit", [0, -100, 1001, *NO_NUMBER]),
    ("menschenwolf", "others_write_own", [0, 1, "true", "false", "", None, [], 1.0]),
    ("fido", "set", [0, 5, 7, 13, 16, 19, -6, "12", 12.0, True, None, [12]]),
    ("fido", "rounds", [0, 101, *NO_NUMBER]),
    ("dominospiel", "limit", [0, 1001, *NO_NUMBER]),
    ("dominospiel", "round_end", ["", "Play_on", "play-on", "first", True, 0, None, ["play_on"]]),
    ("dominospiel", "settlement", ["", "AVERAGE", "mean", "fixed ", True, 0, None]),
    ("dominospiel", "stake", [0, -1, 1001, *NO_NUMBER]),
    ("domino", "set", [0, 7, 15, 18, "6", 6.0, True, None]),
    ("domino", "hand", [4, 8, 0, -7, *NO_NUMBER]),
    ("domino", "limit", [0, 1001, *NO_NUMBER]),
    ("domino", "teams", [1, 6, -1, "2", 2.0, True, False, None]),
]


def one_by_one(table: list[tuple[str, str, list[object]]]) -> list[Any]:
    return [
        pytest.param(key, option, value, id=f"{key}-{option}-{value!r}")
        for key, option, values in table
        for value in values
    ]


def test_every_option_of_the_five_games_is_in_these_tables() -> None:
    known = {key: {option.key for option in variant(key).options} for key in DEFAULTS}
    assert known == {key: set(options) for key, options in DEFAULTS.items()}
    for table in (TAKEN, REFUSED):
        assert known == {key: {option for game, option, _ in table if game == key} for key in known}


@pytest.mark.parametrize("key", DEFAULTS)
def test_an_option_left_out_has_its_default(key: str) -> None:
    facts = variant(key).rules({}, SEATS[key]).settings
    assert {option: facts[option] for option in DEFAULTS[key]} == DEFAULTS[key]
    assert {option.key: option.default for option in variant(key).options} == DEFAULTS[key] | (
        {"hand": None} if key == "domino" else {}
    )


@pytest.mark.parametrize(("key", "option", "value"), one_by_one(TAKEN))
def test_a_value_within_bounds_is_taken(key: str, option: str, value: object) -> None:
    facts = variant(key).rules({option: value}, SEATS[key]).settings
    assert (facts[option], type(facts[option])) == (value, type(value))


@pytest.mark.parametrize(("key", "option", "value"), one_by_one(REFUSED))
def test_a_value_out_of_bounds_or_of_another_type_is_refused(key: str, option: str, value: object) -> None:
    """``"2"``, ``2.0`` and ``True`` are no whole numbers, and nothing is turned into a default."""
    with pytest.raises(InvalidSetup) as caught:
        variant(key).rules({option: value}, SEATS[key])
    assert list(caught.value.errors) == [f"options.{option}"]
    assert isinstance(caught.value, Refusal)


@pytest.mark.parametrize("key", DEFAULTS)
def test_an_unknown_option_or_one_of_another_game_is_refused(key: str) -> None:
    others = {option for options in DEFAULTS.values() for option in options} - set(DEFAULTS[key])
    for option in {"colour", "Rounds", "", "limit ", "seed", "divisor", "hand_size", *others}:
        assert complaints(key, SEATS[key], **{option: 1}) == {f"options.{option}"}


def test_all_complaints_are_made_at_once() -> None:
    given = {"limit": 0, "round_end": "never", "stake": "1", "settlement": "fixed", "colour": "red"}
    with pytest.raises(InvalidSetup) as caught:
        variant("dominospiel").rules(given, 4)
    assert set(caught.value.errors) == {"options.limit", "options.round_end", "options.stake", "options.colour"}
    assert all(texts and all(texts) for texts in caught.value.errors.values())


@pytest.mark.parametrize(
    ("players", "options", "wrong"),
    [
        (5, {}, {"options.set"}),
        (5, {"set": 6, "hand": 5}, {"options.set"}),
        (8, {"set": 9, "hand": 7}, {"options.hand"}),
        (10, {"set": 9, "hand": 6}, {"options.hand"}),
        *[(players, {"teams": 2}, {"options.teams"}) for players in (2, 3)],
        (4, {"teams": 3}, {"options.teams"}),
        (10, {"set": 12, "teams": 4}, {"options.teams"}),
        (8, {"set": 9, "hand": 7, "teams": 3}, {"options.hand", "options.teams"}),
        (10, {"teams": 4}, {"options.set", "options.teams"}),
        (1, {"set": 7}, {"players", "options.set"}),
    ],
)
def test_options_that_contradict_each_other_or_the_players_are_refused(
    players: int, options: dict[str, object], wrong: set[str]
) -> None:
    """As ``Variant.rules`` promises: every complaint there is."""
    assert complaints("domino", players, **options) == wrong


@pytest.mark.parametrize(
    ("players", "options"),
    [
        *((4, {"set": 6, "hand": 7}), (7, {"set": 9, "hand": 7}), (9, {"set": 9, "hand": 6})),
        *((10, {"set": 9, "hand": 5}), (10, {"set": 12, "hand": 7})),
        *((10, {"set": 12, "teams": 5}), (9, {"set": 9, "teams": 3})),
    ],
)
def test_options_that_just_agree_are_taken(players: int, options: dict[str, object]) -> None:
    assert variant("domino").rules(options, players).seats == players


@pytest.mark.parametrize(
    ("key", "players", "wanted"),
    [("homo-homini-lupus", 3, " 4 players"), ("fido", 2, " 3 to 9 players"), ("domino", 11, " 2 to 10 players")],
)
def test_a_wrong_number_of_players_is_told_the_right_one(key: str, players: int, wanted: str) -> None:
    with pytest.raises(InvalidSetup) as caught:
        variant(key).rules({}, players)
    told = sentence(caught.value.errors["players"][0])
    assert wanted in told
    assert " to 4" not in told


@pytest.mark.parametrize("key", DEFAULTS)
def test_every_option_is_explained_in_every_language(key: str) -> None:
    for option in variant(key).options:
        told = [option_description(variant(key), option, language) for language in LANGUAGES]
        assert len(set(told)) == len(LANGUAGES)
        assert not [each for each in told if re.search(r"[{}]|; \.", each)]
        assert all(option_title(variant(key), option, language) for language in LANGUAGES)


def test_a_complaint_names_what_would_be_taken() -> None:
    rounds = Option(key="rounds", default=1, low=1, high=100)
    switch = Option(key="switch", default=False, values=(False, True))
    refused = [option.error_for(value) for option, value in ((rounds, 0), (switch, "yes"))]
    assert [each and sentence(each) for each in refused] == [
        "Must be a whole number from 1 to 100.",
        "Must be one of false, true.",
    ]
    assert (rounds.error_for(1), switch.error_for(True)) == (None, None)


def test_resolving_gives_every_option_a_value_and_takes_none_away() -> None:
    options = variant("domino").options
    assert resolve(options, {"limit": 30}) == {"set": 6, "hand": None, "limit": 30, "teams": 0}
    assert [format_value(value) for value in (True, 12, "play_on")] == ["true", "12", "play_on"]
