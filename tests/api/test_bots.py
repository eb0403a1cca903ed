"""Computer players over HTTP: how they are asked for, how they are shown, and that a match with them goes on."""

from __future__ import annotations

import pytest

from service.engine.variants import variants
from service.games.model.seats import BOT_NAMES, LEVELS
from tests.api.client import Api, causes_of, status_and_code
from tests.api.saved_games import SEED, StoreContents, shortest, some_seats, variants_in_lane
from tests.api.timed import TimedApi, types_of
from tests.support.table import Json, match_finished

pytestmark = pytest.mark.gate


ADA: Json = {"name": "Ada"}


def against_bots(variant: str, level: str = "greedy") -> list[Json]:
    """One person against computer players."""
    return [ADA, *[{"bot": level}] * (some_seats(variant) - 1)]


# Asking for one


@pytest.mark.parametrize("level", LEVELS)
def test_a_computer_player_is_shown_with_its_level_and_has_no_token(api: Api, level: str) -> None:
    table = api.create("domino", [ADA, {"bot": level}])
    for seat in (None, 0):
        person, bot = api.view(table, seat)["players"]
        assert (person["kind"], person["name"], "bot" in person) == ("human", "Ada", False)
        assert (bot["kind"], bot["name"], bot["bot"]) == ("bot", BOT_NAMES[0], level)
    assert [each["seat"] for each in table.created["seats"]] == [0]


def test_computer_players_have_names_that_nobody_else_at_the_table_has(api: Api) -> None:
    first, second, third, fourth, *_ = BOT_NAMES
    players = [{"bot": "greedy"}, {"name": second.upper()}, {"bot": "greedy"}, {"bot": "random"}]
    for more in ({}, {"unique_names": True}):
        table = api.create("menschenwolf", players, **more)
        assert [each["name"] for each in api.view(table)["players"]] == [first, second.upper(), third, fourth]


def test_there_are_names_for_the_computer_players_of_every_game() -> None:
    assert len(set(BOT_NAMES)) == len(BOT_NAMES)
    assert len(BOT_NAMES) > max(variant.players.high for variant in variants().values())


@pytest.mark.parametrize(
    ("player", "cause"),
    [
        *[({"bot": bot}, ("players.1.bot", "not_one_of")) for bot in ("gentle", "Greedy", "greedy ", "__class__")],
        *[({"bot": bot}, ("players.1.bot", "length")) for bot in ("", "g" * 61)],
        ({"bot": "greedy", "name": "Bo"}, ("players.1", "one_of_name_open_bot")),
        ({"bot": "greedy", "open": True}, ("players.1", "one_of_name_open_bot")),
        ({"bot": "greedy", "client_seed": "mine"}, ("players.1.client_seed", "only_with_name")),
    ],
)
def test_a_wrong_computer_player_is_refused_and_makes_no_game(
    api: Api, contents: StoreContents, player: Json, cause: tuple[str, str]
) -> None:
    with contents.unchanged():
        answer = api.try_create("domino", [ADA, player])
    assert causes_of(answer) == [cause]
    if cause[1] == "not_one_of":
        assert answer.get_json()["params"]["allowed"] == list(LEVELS)


@pytest.mark.parametrize("pace", [-0.001, 10.001, 1e300, 10**30])
def test_a_wrong_pace_is_refused_and_makes_no_game(api: Api, contents: StoreContents, pace: float) -> None:
    with contents.unchanged():
        assert causes_of(api.try_create("domino", [ADA, {"bot": "greedy"}], pace=pace)) == [("pace", "out_of_range")]


def test_nobody_acts_for_a_computer_player(api: Api) -> None:
    table = api.create("domino", [ADA, {"bot": "greedy"}])
    for answer in (
        api.put(f"{table.path}/players/1/presence", {"away": False}, token=table.tokens[0]),
        api.post(f"{table.path}/players/1/token", {}, token=table.tokens[0]),
        api.post(f"{table.path}/players", {"name": "Bo", "join_code": "A" * 16}),
    ):
        assert status_and_code(answer) == (403, "forbidden")


# Pace


BOTS = [{"bot": "greedy"}, {"bot": "random"}]


@pytest.mark.parametrize(
    ("players", "more", "expected"),
    [
        *[([*BOTS, ADA], {"pace": pace}, ms) for pace, ms in ((0, 0), (10, 10_000), (1.5, 1500), (0.001, 1))],
        *[([*BOTS, ADA], {"pace": pace}, ms) for pace, ms in ((9.999, 9999), (2.0, 2000), (1.2346, 1235), (-0.0, 0))],
        *(([*BOTS, ADA], {"pace": 1e-9}, 0), ([*BOTS, ADA], {}, 1000), ([*BOTS, *BOTS], {}, 0)),
    ],
)
def test_the_pace_is_the_time_from_an_event_to_the_move_of_a_computer_player(
    timed_api: TimedApi, players: list[Json], more: Json, expected: int
) -> None:
    table = timed_api.create("domino", players, **more)
    timed_api.clock.advance(5)
    if timed_api.bot_turn(table) is None:
        timed_api.make_legal_move(table)
    turn = timed_api.bot_turn(table)
    assert turn is not None
    assert turn.due == turn.game.updated_at + expected
    assert "pace" not in timed_api.view(table)


def test_a_game_of_people_may_have_a_pace_for_those_who_leave(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2, pace=2.5)
    seat = timed_api.to_turn_of_person(table)
    timed_api._repository.cache.forget((table.id,))
    timed_api.set_presence(table, seat, away=True)
    turn = timed_api.bot_turn(table)
    assert turn is not None
    assert turn.due == turn.game.running_clock.acted + 2500


# Matches


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_person_plays_a_whole_match_against_computer_players(timed_api: TimedApi, variant: str) -> None:
    table = timed_api.create(variant, against_bots(variant), options=shortest(variant), pace=0)
    for _ in range(2000):
        timed_api.let_bots_play(table)
        if match_finished(timed_api.view(table)):
            break
        timed_api.make_move(table, 0, timed_api.moves(table, 0)[0])  # who is not on turn waits for nobody
    assert match_finished(timed_api.view(table))
    assert {each["seat"] for each in timed_api.events(table) if each["type"] == "played"} > {0}
    assert len(timed_api.score(table)["standings"]) == some_seats(variant)


@pytest.mark.parametrize("variant", variants_in_lane())
def test_computer_players_alone_deal_and_finish_their_match(timed_api: TimedApi, variant: str) -> None:
    table = timed_api.create(variant, [{"bot": "random"}] * some_seats(variant), options=shortest(variant))
    assert table.created["seats"] == []
    timed_api.let_bots_play(table)
    assert match_finished(timed_api.view(table))
    assert timed_api.bot_turn(table) is None


def test_computer_players_wait_until_no_seat_is_open(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", [{"bot": "greedy"}, {"open": True}])
    assert timed_api.bot_turn(table) is None
    timed_api.take_seat(table)
    assert types_of(timed_api.events(table))[-1][0] == "dealt"
    timed_api.let_bots_play(table)
    assert timed_api.view(table)["to_act"] == [1]


def test_a_recorded_match_is_continued_with_computer_players_and_a_clock(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2, seed=SEED)
    timed_api.play_until(table, match_finished)
    more: Json = {"clock": {"turn": 60}, "absence": {"then": "move"}, "pace": 0}
    source = {"record": table.record(), "version": 4}
    view = timed_api.create(None, [ADA, {"bot": "expert"}], continues=source, **more).created["game"]
    assert (view["clock"], view["absence"]) == ({"turn": 60}, {"then": "move"})
    assert [each.get("bot") for each in view["players"]] == [None, "expert"]
    assert ("deadline" in view["turn"]) == (view["turn"]["seat"] == 0)
