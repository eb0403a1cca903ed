"""Arranged games: dealt from a given seed, or from given deals."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import redis

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.saved_games import SEED, SavedGame, longest, shortest, some_seats, stored, variants_in_lane
from tests.support.table import Json, round_over, seat_to_move

pytestmark = pytest.mark.quick

Dealt = dict[str, list[Any]]
ROUNDS = 3
ZEROS = ("0-0 …", "1-1 …", "2-2 …")
"""A first deal of domino for three that no shuffle gives by accident."""
SIXES = ("6-6 5-5 …", "4-4 3-4 …", "3-3 …")
"""And one for a later round."""


def dealt(server: redis.Redis, table: Table) -> Dealt:
    """Where all tiles lie now: the hands, and the stock in the order of drawing."""
    state = stored(server, table).state
    hands = [[tile.name for tile in hand] for hand in state.hands]
    return {"hands": hands, "stock": [tile.name for tile in state.stock]}


def next_deal(api: Api, table: Table, rng: Random | None = None) -> Json:
    """Play the running round to its end, and deal."""
    api.play_until(table, round_over, rng)
    return make_moves(api, table, "deal")


def deals_of(
    api: Api, server: redis.Redis, table: Table, rng: Random | None = None, rounds: int = ROUNDS
) -> list[Dealt]:
    """How the first rounds are dealt, as they are played."""
    found = [dealt(server, table)]
    for _ in range(rounds - 1):
        next_deal(api, table, rng)
        found.append(dealt(server, table))
    return found


def given(each: dict[str, Any]) -> Dealt:
    """A deal as it was sent, its hands sorted as they are shown."""

    def halves(tile: str) -> list[int]:
        return [int(half) for half in tile.split("-")]

    return {"hands": [sorted(hand, key=halves) for hand in each["hands"]], "stock": each["stock"]}


def three(api: Api, *deals: dict[str, Any], **more: Any) -> Table:
    """A game of domino for three with a high limit, so that no player is eliminated soon."""
    if deals:
        more["deals"] = list(deals)
    return api.create("domino", 3, options={"limit": 1000}, **more)


# By seed


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_seed_deals_the_same_in_every_round_however_it_is_played(api: Api, server: redis.Redis, variant: str) -> None:
    seats = some_seats(variant)
    first, second = (api.create(variant, seats, seed=SEED, options=longest(variant, ROUNDS)) for _ in range(2))
    deals = deals_of(api, server, first)
    assert deals == deals_of(api, server, second, Random(SEED))
    assert len({str(each) for each in deals}) == ROUNDS, "each round is dealt anew"
    assert first.tokens.keys() == second.tokens.keys()


def test_another_seed_deals_something_else(api: Api, server: redis.Redis) -> None:
    seeds = (SEED, "a rainy morning", SEED + " ", SEED.upper(), "é", "e\u0301", "0")
    assert len({str(dealt(server, api.create("domino", 3, seed=seed))) for seed in seeds}) == len(seeds)


def test_without_a_seed_no_two_games_are_dealt_alike(api: Api, server: redis.Redis) -> None:
    assert len({str(dealt(server, api.create("domino", 3))) for _ in range(3)}) == 3


def test_a_seed_deals_the_same_when_the_last_seat_is_taken_later(api: Api, server: redis.Redis) -> None:
    people: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo"}, {"open": True}]
    waiting = api.create("domino", people, seed=SEED)
    api.join(waiting)
    assert dealt(server, waiting) == dealt(server, api.create("domino", 3, seed=SEED))


# By deals


def test_each_round_is_dealt_as_it_was_given(api: Api, server: redis.Redis) -> None:
    deals = [deal("domino", *ZEROS), deal("domino", *SIXES, stock="0-0 0-6"), deal("domino", "5-5 …", "…", "…")]
    assert deals_of(api, server, three(api, *deals)) == [given(each) for each in deals]


def test_tiles_are_drawn_from_a_given_stock_in_its_order(api: Api) -> None:
    table = three(api, deal("domino", "6-6 …", "…", "…", stock="3-5 4-5"))
    for tile in ("3-5", "4-5"):
        view = api.play_until_draw(table)
        seat = seat_to_move(view)
        before = api.view(table, seat)["you"]["hand"]
        make_moves(api, table, "draw")
        assert set(api.view(table, seat)["you"]["hand"]) - set(before) == {tile}


def test_a_round_past_the_list_is_dealt_by_the_seed_as_if_there_were_no_list(api: Api, server: redis.Redis) -> None:
    listed = deals_of(api, server, three(api, deal("domino", *ZEROS), seed=SEED))
    by_seed = deals_of(api, server, three(api, seed=SEED))
    assert listed[0] == given(deal("domino", *ZEROS)) != by_seed[0]
    assert listed[1:] == by_seed[1:]


def test_a_round_past_the_list_is_shuffled_without_a_seed(api: Api, server: redis.Redis) -> None:
    found = [deals_of(api, server, three(api, deal("domino", *ZEROS)), rounds=2) for _ in range(3)]
    assert [each[0] for each in found] == [given(deal("domino", *ZEROS))] * 3
    assert len({str(each[1]) for each in found}) == 3


def test_a_later_deal_that_leaves_out_a_player_who_is_in_is_not_used(api: Api, server: redis.Redis) -> None:
    for hands in (("", "6-6 …", "…"), ("6-6 …", "", "…"), ("6-6 …", "…", "")):
        given_up = deal("domino", *hands, seats=3)
        table = three(api, deal("domino", *ZEROS), given_up, deal("domino", *SIXES), seed=SEED)
        found = deals_of(api, server, table)
        assert found[1] == deals_of(api, server, three(api, seed=SEED), rounds=2)[1], "it is shuffled, by the seed"
        assert found[2] == given(deal("domino", *SIXES)), "the list goes on by the number of the round"


def test_a_later_deal_is_used_only_if_it_leaves_out_exactly_who_is_out(api: Api, server: redis.Redis) -> None:
    rules = {"limit": 30}
    first = deal("domino", *ZEROS)
    table = api.create("domino", 3, deals=[first], options=rules, seed=SEED)
    view = api.play_until(table, lambda view: view["status"] == "round_over")
    gone = [player["seat"] for player in view["players"] if not player["active"]]
    assert len(gone) == 1
    make_moves(api, table, "deal")
    shuffled = dealt(server, table)
    assert [seat for seat, hand in enumerate(shuffled["hands"]) if not hand] == gone
    for out in (None, 0, 1, 2):
        hands = ["" if seat == out else text for seat, text in enumerate(SIXES)]
        later = deal("domino", *hands, seats=3)
        table = api.create("domino", 3, deals=[first, later], options=rules, seed=SEED)
        next_deal(api, table)
        assert dealt(server, table) == (given(later) if [out] == gone else shuffled)


# What is shown of it


def test_a_game_with_a_seed_is_shown_as_arranged_at_every_stage(api: Api, saved_game: SavedGame) -> None:
    for seat in (None, *saved_game.table.tokens):
        assert api.view(saved_game.table, seat)["arranged"] is True


def test_a_game_with_deals_is_shown_as_arranged_at_every_stage(api: Api) -> None:
    unused = deal("domino", "", "6-6 …", "…", seats=3)
    for deals in ([deal("domino", *ZEROS)], [deal("domino", *ZEROS), unused]):
        table = api.create("domino", 3, deals=deals, options={"limit": 30})
        assert table.created["game"]["arranged"] is True
        api.play_until(table, lambda view: not view["arranged"] or view["status"] == "finished")
        assert api.view(table)["arranged"] is api.view(table, 0)["arranged"] is True
        assert api.view(table)["round"] > 1


def test_a_shuffled_game_is_never_shown_as_arranged(api: Api) -> None:
    table = api.create("domino", 3, options=shortest("domino"))
    assert table.created["game"]["arranged"] is False
    view = api.play_until(table, lambda view: view["arranged"] or view["status"] == "finished")
    assert view["arranged"] is False
    waiting = api.create("domino", [{"name": "Ada"}, {"open": True}])
    assert waiting.created["game"]["arranged"] is False
    joined: Any = api.join(waiting).json
    assert joined["game"]["arranged"] is False
