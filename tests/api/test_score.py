"""``GET /v1/games/{game}/score``: the standings, and the score lines of every round.

Expected values are computed from what was seen during the round, and from the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.api.client import Api, Table
from tests.api.saved_games import SEED, SavedGame, decoded
from tests.engine.table import SCORING_PLAYS
from tests.support.table import Json, match_finished, seat_to_move

pytestmark = pytest.mark.quick_and_gate

ALWAYS = {"game", "version", "status", "best", "standings", "rounds", "carry", "winners"}
ROUND = {"number", "ended_by", "hands", "scores", "carried", "lines"}
BEST = {
    "homo-homini-lupus": "highest",
    "menschenwolf": "lowest",
    "fido": "highest",
    "dominospiel": "lowest",
    "domino": "lowest",
}
Score = dict[str, Any]


# At every stage of every game


def test_the_score_card_has_exactly_the_fields_of_the_contract(api: Api, saved_game: SavedGame) -> None:
    score, view = api.score(saved_game.table), api.view(saved_game.table)
    settled = (view["variant"], view["status"]) == ("dominospiel", "finished")
    assert score.keys() == ALWAYS | ({"settlement"} if settled else set())
    assert score["game"] == saved_game.table.id
    assert score["best"] == BEST.get(view["variant"], score["best"])
    for name in ("version", "status", "carry", "winners"):
        assert score[name] == view[name]
    for each in score["rounds"]:
        assert ROUND <= each.keys() <= ROUND | {"winner", "loser"}


def test_every_viewer_gets_the_same_score_card(api: Api, saved_game: SavedGame) -> None:
    cards = [
        api.get(f"{saved_game.table.path}/score", token=token) for token in (None, *saved_game.table.tokens.values())
    ]
    assert all(card.data == cards[0].data for card in cards)
    assert len({card.headers["ETag"] for card in cards}) == len(cards)


def test_every_seat_is_listed_once_with_the_name_and_total_of_the_view(api: Api, saved_game: SavedGame) -> None:
    standings = {each["seat"]: each for each in api.score(saved_game.table)["standings"]}
    players = api.view(saved_game.table)["players"]
    assert sorted(standings) == [player["seat"] for player in players]
    for player in players:
        shown = standings[player["seat"]]
        assert shown.get("team") == player.get("team")
        assert (shown.get("name"), shown["total"], shown["in"]) == (player.get("name"), player["total"], player["in"])


def test_the_better_total_is_listed_first_and_ties_share_a_rank(api: Api, saved_game: SavedGame) -> None:
    score = api.score(saved_game.table)
    sign = -1 if score["best"] == "highest" else 1
    playing = [each for each in score["standings"] if each["in"]]
    for each in playing:
        better = [other for other in playing if sign * other["total"] < sign * each["total"]]
        assert each["rank"] == 1 + len(better)
    assert_in_order(score)


def test_the_rounds_that_have_been_counted_are_listed_and_the_running_one_is_not(
    api: Api, saved_game: SavedGame
) -> None:
    view = api.view(saved_game.table)
    counted = view["round"] - (view["status"] == "playing")
    assert [each["number"] for each in api.score(saved_game.table)["rounds"]] == list(range(1, counted + 1))


def test_lines_add_up_to_scores_and_scores_to_totals(api: Api, saved_game: SavedGame) -> None:
    score, view = api.score(saved_game.table), api.view(saved_game.table)
    totals = [0] * len(view["players"])
    for each in score["rounds"]:
        assert len(each["scores"]) == len(totals)
        explained = [0] * len(totals)
        for line in each["lines"]:
            assert line["rule"]
            assert line["text"]
            explained[line["seat"]] += line["points"]
        assert explained == each["scores"]
        totals = [total + points for total, points in zip(totals, each["scores"], strict=True)]
    shown = [player["total"] for player in view["players"]]
    if view["variant"] in SCORING_PLAYS and view["status"] == "playing":
        assert sum(shown) >= sum(totals), "the points of the running round count at once"
    else:
        assert shown == totals


def test_the_score_card_is_304_for_a_matching_etag_until_the_next_event(api: Api, saved_game: SavedGame) -> None:
    table, path = saved_game.table, f"{saved_game.table.path}/score"
    for seat, token in ((None, None), *table.tokens.items()):
        etag = api.get(path, token=token).headers["ETag"]
        assert etag == f'"{decoded(table.id, saved_game.snapshot).etag(seat)}"'
        again = api.get(path, token=token, headers={"If-None-Match": etag})
        assert (again.status_code, again.headers["ETag"]) == (304, etag)
        assert api.get(path, headers={"If-None-Match": f'"{saved_game.snapshot.version - 1}-s"'}).status_code == 200
    known = api.get(path).headers["ETag"]
    view = api.view(table)
    if view["status"] in ("playing", "round_over"):
        api.play_until(table, lambda now: now["version"] > view["version"])
        fresh = api.get(path, headers={"If-None-Match": known})
        assert (fresh.status_code, fresh.json and fresh.json["version"] > view["version"]) == (200, True)


def assert_in_order(score: Score) -> None:
    """Rank by rank, seats of the same rank in seat order; a rank counts those before it."""
    standings = score["standings"]
    assert all((first["rank"], first["seat"]) < (then["rank"], then["seat"]) for first, then in pairwise(standings))
    ranks = [each["rank"] for each in standings]
    assert ranks == [1 + sum(other < rank for other in ranks) for rank in ranks]


# Whole matches


class Seen(NamedTuple):
    """What was seen of a round: its result must follow from this alone."""

    view: Json
    """The view at the end of the round."""
    hands: list[list[str]]
    """The hand of each seat at the end."""
    opener: int
    first_out: int | None
    flipped: bool
    points: list[int]
    """What each seat scored by placing."""
    card: Score


class Match(NamedTuple):
    """A match and what was seen of its rounds."""

    variant: str
    rules: dict[str, Any]
    rounds: list[Seen]
    card: Score


MATCHES: dict[str, tuple[str, int, dict[str, Any], int]] = {
    "lupus": ("homo-homini-lupus", 4, {"rounds": 5}, 1),
    "menschenwolf of four": ("menschenwolf", 4, {"limit": 60}, 2),
    "menschenwolf of six": ("menschenwolf", 6, {"limit": 60}, 2),
    "menschenwolf of eight": ("menschenwolf", 8, {"limit": 60}, 20),
    "menschenwolf, own": ("menschenwolf", 5, {"limit": 60, "others_write_own": True}, 3),
    "fido": ("fido", 3, {"set": 6, "rounds": 3}, 1),
    "dominospiel": ("dominospiel", 3, {"limit": 60}, 1),
    "dominospiel, first out": ("dominospiel", 5, {"limit": 60, "round_end": "first_out"}, 1),
    "domino": ("domino", 4, {"limit": 60}, 1),
    "domino in teams": ("domino", 6, {"set": 9, "teams": 3, "limit": 90}, 1),
}
"""The variant, its seats, its rules, and the seed of the moves."""


def watch(api: Api, variant: str, seats: int, rules: dict[str, Any], seed: int) -> Match:
    """Play a match by random moves, and record what was seen of each round."""
    table = api.create(variant, seats, seed=f"watched {seed}", rules=rules)
    rng = Random(seed)
    rounds = []
    view = api.view(table)
    while view["status"] != "finished":
        if view["status"] == "round_over":
            view = say(api, table, seat_to_move(view), {"action": "deal"})
        seen = watch_round(api, table, view, rng)
        rounds.append(seen)
        view = seen.view
    return Match(variant, view["rules"], rounds, api.score(table))


def watch_round(api: Api, table: Table, view: Json, rng: Random) -> Seen:
    opener, first_out = view["turn"]["seat"], None
    move: dict[str, Any] = {}
    points = [0] * len(view["players"])
    while view["status"] == "playing":
        seat = seat_to_move(view)
        moves: Any = api.ask_unchecked("GET", f"{table.path}/moves", token=table.tokens[seat]).json
        move = rng.choice(moves["moves"])
        points[seat] += move.get("points", 0)
        view = say(api, table, seat, move)
        if first_out is None and view["players"][seat]["tiles"] == 0:
            first_out = seat
    hands = [api.view(table, seat)["you"]["hand"] for seat in table.tokens]
    return Seen(view, hands, opener, first_out, move["action"] == "flip", points, api.score(table))


def say(api: Api, table: Table, seat: int, move: Any) -> Json:
    """Make a move; other tests validate these answers."""
    answer = api.ask_unchecked("POST", f"{table.path}/moves", token=table.tokens[seat], json=move)
    assert answer.status_code == 201, answer.json
    view: Json = answer.json  # type: ignore[assignment]
    return view


@pytest.fixture(scope="module")
def watched() -> dict[str, Match]:
    return {}


@pytest.fixture(params=MATCHES)
def match(request: pytest.FixtureRequest, api: Api, watched: dict[str, Match]) -> Match:
    return one_watched(api, watched, request.param)


def one_watched(api: Api, watched: dict[str, Match], name: str) -> Match:
    if name not in watched:
        watched[name] = watch(api, *MATCHES[name])
    return watched[name]


def was_in(match: Match, number: int) -> list[int]:
    """The seats that played this round (from 0)."""
    before = match.rounds[number - 1].view if number else None
    seats = range(len(match.rounds[0].hands))
    return [seat for seat in seats if before is None or before["players"][seat]["in"]]


def counts(match: Match) -> list[tuple[int, Seen, Score]]:
    """Each round's number from 0, what was seen of it, and its result."""
    return [(number, seen, match.card["rounds"][number]) for number, seen in enumerate(match.rounds)]


def pips(hand: Sequence[str]) -> int:
    return sum(int(half) for tile in hand for half in tile.split("-"))


def value(variant: str, hand: list[str]) -> int:
    """The points of a hand (rules 1.8, 2.10, 3.8, 4.6, 5.7)."""
    if variant == "menschenwolf":
        return 50 if hand == ["6-6"] else pips(hand) + 10 * ("0-0" in hand)
    return 10 if variant == "domino" and hand == ["0-0"] else pips(hand)


def test_the_watched_rounds_end_for_every_reason(api: Api, watched: dict[str, Match]) -> None:
    matches = [one_watched(api, watched, name) for name in MATCHES]
    ends = {(match.variant, counted["ended_by"]) for match in matches for counted in match.card["rounds"]}
    assert ends >= {
        ("homo-homini-lupus", "out"),
        ("homo-homini-lupus", "blocked"),
        ("menschenwolf", "out"),
        ("menschenwolf", "blocked"),
        ("menschenwolf", "flip"),
        ("dominospiel", "out"),
        ("dominospiel", "blocked"),
        ("domino", "out"),
        ("domino", "blocked"),
    }
    assert "closed" in {end for _, end in ends}
    assert any(tied_for_fewest(match, number)[1:] for match in matches for number in range(len(match.rounds)))


def tied_for_fewest(match: Match, number: int) -> list[int]:
    """The seat with the fewest points in hand when no seat is out, clockwise from the opener."""
    seen = match.rounds[number]
    if match.variant != "menschenwolf" or seen.first_out is not None:
        return []
    playing = was_in(match, number)
    values = {seat: value(match.variant, seen.hands[seat]) for seat in playing}
    clockwise = sorted(playing, key=lambda seat: (seat < seen.opener, seat))
    return [seat for seat in clockwise if values[seat] == min(values.values())]


def test_a_round_is_listed_once_it_is_counted_and_never_changes(match: Match) -> None:
    for number, seen, _ in counts(match):
        assert seen.card["rounds"] == match.card["rounds"][: number + 1]
        assert seen.card["version"] == seen.view["version"]


def test_the_hands_are_those_that_were_left_in_seat_order(match: Match) -> None:
    for number, seen, counted in counts(match):
        assert counted["hands"] == [
            {"seat": seat, "tiles": seen.hands[seat], "value": value(match.variant, seen.hands[seat])}
            for seat in was_in(match, number)
        ]


def test_the_reason_of_a_round_end_is_the_one_observed(match: Match) -> None:
    for number, seen, counted in counts(match):
        laid = seen.view["board"]
        face_down = {tile["tile"] for tile in laid["tiles"] if tile["face_down"]}
        everybody_out = not any(seen.hands[seat] for seat in was_in(match, number))
        plays_on = match.rules.get("round_end") == "play_on"
        if seen.flipped:
            reason = "flip"
        elif everybody_out if plays_on else seen.first_out is not None:
            reason = "out"
        elif all(end["tile"] in face_down for end in laid["ends"]):
            reason = "closed"
        else:
            reason = "blocked"
        assert counted["ended_by"] == reason


def test_the_winner_is_the_first_to_play_their_last_tile(match: Match) -> None:
    for number, seen, counted in counts(match):
        fewest = tied_for_fewest(match, number)
        assert counted.get("winner") == (fewest[0] if fewest else seen.first_out)


def test_only_menschenwolf_has_a_loser_and_only_a_single_one(match: Match) -> None:
    for number, seen, counted in counts(match):
        values = {seat: value(match.variant, seen.hands[seat]) for seat in was_in(match, number)}
        most = [seat for seat, each in values.items() if each == max(values.values())]
        single = most[0] if match.variant == "menschenwolf" and len(most) == 1 else None
        assert counted.get("loser") == single


def test_points_without_a_loser_are_carried_until_a_single_loser_gets_them(match: Match) -> None:
    carry = 0
    for _, seen, counted in counts(match):
        nobody = match.variant == "menschenwolf" and "loser" not in counted
        carried = sum(hand["value"] for hand in counted["hands"]) if nobody else 0
        carry = carry + carried if nobody else 0
        assert counted["carried"] == carried
        assert seen.view["carry"] == seen.card["carry"] == carry


def expected_scores(match: Match, number: int) -> list[int]:
    """The points of each seat by the rules of its variant."""
    seen = match.rounds[number]
    playing = was_in(match, number)
    values = [value(match.variant, hand) if seat in playing else 0 for seat, hand in enumerate(seen.hands)]
    carry = match.rounds[number - 1].view["carry"] if number else 0
    return SCORING[match.variant](match, seen, values, carry)


def _lupus(_match: Match, _seen: Seen, values: list[int], _carry: int) -> list[int]:
    return [25 * sum(values) - 100 * each for each in values]


def _menschenwolf(match: Match, _seen: Seen, values: list[int], carry: int) -> list[int]:
    losers = [seat for seat, each in enumerate(values) if each == max(values)]
    if len(losers) > 1:
        return [0] * len(values)
    others = values if match.rules["others_write_own"] else [0] * len(values)
    return [sum(values) + carry if seat in losers else each for seat, each in enumerate(others)]


def _fido(_match: Match, seen: Seen, values: list[int], _carry: int) -> list[int]:
    return [points - each for points, each in zip(seen.points, values, strict=True)]


def _dominospiel(match: Match, seen: Seen, values: list[int], _carry: int) -> list[int]:
    laid = pips([tile["tile"] for tile in seen.view["board"]["tiles"]])
    stock = 168 - laid - sum(values) if match.rules["round_end"] == "first_out" else 0
    return [each + (stock if each == max(values) else 0) for each in values]


def _domino(match: Match, seen: Seen, values: list[int], _carry: int) -> list[int]:
    sides = match.rules["teams"] or len(values)
    of_side = [sum(values[side::sides]) for side in range(sides)]
    if seen.first_out is not None:
        finisher = seen.first_out % sides
        left = of_side[finisher]
        of_side = [0 if side == finisher else each + left for side, each in enumerate(of_side)]
    return [of_side[seat % sides] for seat in range(len(values))]


SCORING: dict[str, Callable[[Match, Seen, list[int], int], list[int]]] = {
    "homo-homini-lupus": _lupus,
    "menschenwolf": _menschenwolf,
    "fido": _fido,
    "dominospiel": _dominospiel,
    "domino": _domino,
}


def test_each_round_writes_what_the_rules_say(match: Match) -> None:
    for number, _, counted in counts(match):
        playing = was_in(match, number)
        wanted = [points if seat in playing else 0 for seat, points in enumerate(expected_scores(match, number))]
        assert counted["scores"] == wanted


def test_the_lines_name_rules_of_their_game(match: Match) -> None:
    chapter = 1 + list(BEST).index(match.variant)
    for _, _, counted in counts(match):
        assert all(line["rule"].split(".")[0] == str(chapter) for line in counted["lines"])


def assert_explained(api: Api, variant: str, score: Score) -> None:
    """Check that the rule of every score line begins a paragraph of the rule page, in both languages."""
    named = {line["rule"] for counted in score["rounds"] for line in counted["lines"]}
    for language in ("en", "de"):
        answer: Any = api.get(f"/v1/variants/{variant}", headers={"Accept-Language": language}).json
        assert named <= set(re.findall(r"^\*\*(\d+\.\d+)\*\* \S", answer["rules"], re.MULTILINE))


def test_each_score_line_names_a_rule_of_the_rule_page(api: Api, saved_game: SavedGame) -> None:
    assert_explained(api, api.view(saved_game.table)["variant"], api.score(saved_game.table))


def test_each_score_line_of_a_whole_match_names_a_rule_of_the_rule_page(api: Api, match: Match) -> None:
    assert_explained(api, match.variant, match.card)


def went_out(match: Match) -> list[int]:
    """The round (from 1) after which each seat was out; 0 while it is in."""
    seats = range(len(match.rounds[0].hands))
    return [
        next((number for number, seen in enumerate(match.rounds, 1) if not seen.view["players"][seat]["in"]), 0)
        for seat in seats
    ]


def test_players_who_are_out_rank_behind_those_in_and_the_first_out_ranks_last(match: Match) -> None:
    gone = went_out(match)
    sign = -1 if BEST[match.variant] == "highest" else 1
    for last in range(1, len(match.rounds) + 1):
        card = match.rounds[last - 1].card
        totals = {each["seat"]: each["total"] for each in card["standings"]}
        place = {
            seat: (-number if 0 < number <= last else -last - 1, sign * totals[seat])
            for seat, number in enumerate(gone)
        }
        wanted = {seat: 1 + sum(other < place[seat] for other in place.values()) for seat in place}
        assert {each["seat"]: each["rank"] for each in card["standings"]} == wanted
        assert {each["seat"] for each in card["standings"] if not each["in"]} == {
            seat for seat, number in enumerate(gone) if 0 < number <= last
        }
        assert_in_order(card)


def test_a_player_out_later_ranks_before_one_out_earlier_with_a_better_total(api: Api) -> None:
    match = watch(api, "domino", 4, {"limit": 60}, 0)
    gone = went_out(match)
    shown = {each["seat"]: each for each in match.card["standings"]}
    pairs = [(shown[one], shown[two]) for one in shown for two in shown if 0 < gone[one] < gone[two]]
    assert all(later["rank"] < earlier["rank"] for earlier, later in pairs)
    assert any(later["total"] > earlier["total"] for earlier, later in pairs), "there was none with a better total"


def test_the_winners_stand_first(match: Match) -> None:
    winners = match.card["winners"]
    assert winners
    assert winners == [each["seat"] for each in match.card["standings"] if each["rank"] == 1]
    assert all(seen.card["winners"] == [] for seen in match.rounds[:-1])


def test_the_seats_of_a_team_share_score_total_and_rank(api: Api, watched: dict[str, Match]) -> None:
    for seen in one_watched(api, watched, "domino in teams").rounds:
        standings = {each["seat"]: each for each in seen.card["standings"]}
        for seat in range(3):
            first, second = standings[seat], standings[seat + 3]
            assert (first["total"], first["rank"], first["in"]) == (second["total"], second["rank"], second["in"])
        assert all(each["scores"][:3] == each["scores"][3:] for each in seen.card["rounds"])


# The settlement of dominospiel

SETTLEMENTS: list[dict[str, Any]] = [
    {},
    {"settlement": "average"},
    {"settlement": "difference"},
    {"settlement": "fixed"},
    {"settlement": "fixed", "stake": 1000},
]
TIES = {"two of three for the highest": (3, "tie 71"), "two of four for the highest": (4, "tie 8")}
"""Seats and a seed with which the highest total is shared, when everybody makes the first move listed."""


def settle(mode: str, stake: int, totals: list[int]) -> list[Fraction]:
    """What each seat gets (rules 4.8)."""
    mean, most = Fraction(sum(totals), len(totals)), max(totals)
    if mode == "average":
        return [mean - total for total in totals]
    owed = [0 if total == most else stake if mode == "fixed" else most - total for total in totals]
    share = Fraction(sum(owed), totals.count(most))
    return [-share if total == most else Fraction(each) for total, each in zip(totals, owed, strict=True)]


def check_settlement(score: Score, rules: dict[str, Any]) -> None:
    """Check the exact amounts, that they add up to 0, and that the payments add up to them."""
    settled = score["settlement"]
    assert settled["mode"] == rules["settlement"]
    by_seat = {each["seat"]: each["total"] for each in score["standings"]}
    totals = [by_seat[seat] for seat in sorted(by_seat)]
    exact = [Fraction(each["exact"]) for each in settled["amounts"]]
    assert [each["seat"] for each in settled["amounts"]] == sorted(by_seat)
    assert exact == settle(rules["settlement"], rules["stake"], totals)
    assert sum(exact) == 0
    for each in (*settled["amounts"], *settled["payments"]):
        assert each["exact"] == str(Fraction(each["exact"]))
        assert each["amount"] == float(round(Fraction(each["exact"]), 2))
    made_up = [Fraction(0)] * len(totals)
    for payment in settled["payments"]:
        assert Fraction(payment["exact"]) > 0
        made_up[payment["from"]] -= Fraction(payment["exact"])
        made_up[payment["to"]] += Fraction(payment["exact"])
    assert made_up == exact
    payers = {payment["from"] for payment in settled["payments"]}
    assert payers.isdisjoint(payment["to"] for payment in settled["payments"]), "nobody pays and is paid"


def test_only_a_finished_dominospiel_is_settled(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table)
    settled = (view["variant"], view["status"]) == ("dominospiel", "finished")
    assert ("settlement" in api.score(saved_game.table)) == settled


@pytest.mark.parametrize("rules", SETTLEMENTS, ids=lambda rules: "-".join(map(str, rules.values())) or "default")
@pytest.mark.parametrize("seats", [2, 3, 7])
def test_a_settlement_is_exact_and_its_payments_make_it_up(api: Api, seats: int, rules: dict[str, Any]) -> None:
    table = api.create("dominospiel", seats, seed=SEED, rules={"limit": 1, **rules})
    view = api.play_until(table, match_finished)
    assert (view["rules"]["settlement"], view["rules"]["stake"]) == (
        rules.get("settlement", "average"),
        rules.get("stake", 1),
    )
    check_settlement(api.score(table), view["rules"])


@pytest.mark.parametrize("rules", SETTLEMENTS[1:], ids=lambda rules: "-".join(map(str, rules.values())))
@pytest.mark.parametrize("tie", TIES)
def test_players_tied_for_the_highest_total_share_the_payment(api: Api, tie: str, rules: dict[str, Any]) -> None:
    seats, seed = TIES[tie]
    table = api.create("dominospiel", seats, seed=seed, rules={"limit": 1, **rules})
    view = api.play_until(table, match_finished)
    score = api.score(table)
    totals = [player["total"] for player in view["players"]]
    assert totals.count(max(totals)) == 2
    check_settlement(score, view["rules"])
    losers = {seat for seat, total in enumerate(totals) if total == max(totals)}
    shares = {each["exact"] for each in score["settlement"]["amounts"] if each["seat"] in losers}
    assert len(shares) == 1


def test_an_amount_that_is_no_whole_number_is_shown_as_a_fraction_too(api: Api) -> None:
    seats, seed = TIES["two of three for the highest"]
    table = api.create("dominospiel", seats, seed=seed, rules={"limit": 1})
    api.play_until(table, match_finished)
    amounts = api.score(table)["settlement"]["amounts"]
    assert [(each["amount"], each["exact"]) for each in amounts] == [(0.67, "2/3"), (-0.33, "-1/3"), (-0.33, "-1/3")]


def test_no_round_of_a_match_that_goes_on_is_settled(api: Api, watched: dict[str, Match]) -> None:
    rounds = one_watched(api, watched, "dominospiel").rounds
    assert len(rounds) > 1
    assert ["settlement" in seen.card for seen in rounds] == [False] * (len(rounds) - 1) + [True]


def test_in_a_team_game_the_standings_say_the_teams(api: Api) -> None:
    table = api.create("domino", 4, rules={"teams": 2})
    standings = api.score(table)["standings"]
    assert {each["seat"]: each["team"] for each in standings} == {0: 0, 1: 1, 2: 0, 3: 1}
