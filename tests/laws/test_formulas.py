"""What a round writes, by the formula of each game, for whatever hands are left.

A round is counted here wherever it stands, as if it ended there, and once more as if some seat had
just laid its last tile; so hands of all sizes are counted, and many that are alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.engine.events import EndReason
from service.engine.state import PLAYING, Hand, State
from service.engine.tiles import parse_tile
from tests.laws.matches import Match, law

pytestmark = pytest.mark.gate

ZEROS, SIXES = parse_tile("0-0"), parse_tile("6-6")


def ended(match: Match) -> Iterator[State]:
    for state in match.some_states(10):
        if state.phase == PLAYING and state.layout.placements and state.went_out_first is None:
            yield state
            seat = match.rng.choice(state.active_seats())
            hands = (*state.hands[:seat], (), *state.hands[seat + 1 :])
            yield state._replace(hands=hands, stock=state.stock + state.hands[seat], went_out_first=seat)


def scores(match: Match, state: State) -> list[int]:
    reason: EndReason = "blocked" if state.went_out_first is None else "out"
    return list(match.rules.score_round(state, reason, match.rules.hands_left(state)).scores)


def pips(hand: Hand) -> int:
    return sum(tile.low + tile.high for tile in hand)


@law(matches=40, game="homo-homini-lupus")
def test_1_8_a_hundred_times_the_difference_to_the_average_hand(match: Match) -> None:
    for state in ended(match):
        average = sum(map(pips, state.hands)) / 4
        assert scores(match, state) == [(average - pips(hand)) * 100 for hand in state.hands]


@law(matches=80, game="menschenwolf")
def test_2_11_the_single_loser_writes_what_all_hold_and_what_was_carried(match: Match) -> None:
    for state in ended(match):
        values = [50 if hand == (SIXES,) else pips(hand) + (10 if ZEROS in hand else 0) for hand in state.hands]
        carrying = state._replace(carry=match.rng.choice([0, 45]))
        wanted = [0] * len(values)
        if values.count(max(values)) == 1:
            if match.rules.settings["others_write_own"]:
                wanted = list(values)
            wanted[values.index(max(values))] = sum(values) + carrying.carry
        assert scores(match, carrying) == wanted


@law(matches=40, game="fido")
def test_3_8_the_points_of_the_placements_less_the_pips_left(match: Match) -> None:
    for state in ended(match):
        scored = [sum(each.points for each in state.placements_scored if each.seat == seat) for seat in match.seats]
        assert scores(match, state) == [points - pips(hand) for points, hand in zip(scored, state.hands, strict=True)]


@law(matches=80, game="dominospiel")
def test_4_6_everybody_writes_their_own_and_sometimes_the_losers_the_stock(match: Match) -> None:
    for state in ended(match):
        values = list(map(pips, state.hands))
        stock = pips(state.stock) if match.rules.settings["round_end"] == "first_out" else 0
        assert scores(match, state) == [value + (stock if value == max(values) else 0) for value in values]


@law(matches=80, game="domino")
def test_5_9_every_side_writes_its_own_hands_and_those_left_with_the_finishers(match: Match) -> None:
    sides = match.rules.teams or len(match.seats)
    for state in ended(match):
        values = [10 if hand == (ZEROS,) else pips(hand) for hand in state.hands]
        held = [sum(values[side::sides]) for side in range(sides)]
        finisher = None if state.went_out_first is None else state.went_out_first % sides
        left = 0 if finisher is None else held[finisher]
        wanted = [
            0 if state.eliminated_round[seat] or seat % sides == finisher else held[seat % sides] + left
            for seat in match.seats
        ]
        assert scores(match, state) == wanted


def written(match: Match, state: State) -> list[int]:
    """The points of the placements of each seat."""
    return [sum(each.points for each in state.placements_scored if each.seat == seat) for seat in match.seats]


def only_lowest(values: list[int]) -> int | None:
    return values.index(min(values)) if values.count(min(values)) == 1 else None


@law(matches=80, game="all-fives")
def test_8_9_the_points_of_the_placements_and_the_pips_of_the_other_sides_in_fives(match: Match) -> None:
    sides, options = match.rules.teams or len(match.seats), match.rules.settings
    for state in ended(match):
        hands = list(map(pips, state.hands))
        rounded = [5 * round(value / 5) for value in hands] if options["rounding"] == "each_hand" else hands
        out = state.went_out_first
        winner = only_lowest([sum(hands[side::sides]) for side in range(sides)]) if out is None else out % sides
        wanted = written(match, state)
        if winner is not None:
            own = sum(rounded[winner::sides])
            less = own if out is None and options["blocked_score"] == "minus_own" else 0
            gain = max(0, 5 * round((sum(rounded) - own - less) / 5))
            wanted = [points + gain * (seat % sides == winner) for seat, points in enumerate(wanted)]
        assert scores(match, state) == wanted


@law(matches=40, game="fives-and-threes")
def test_9_8_the_points_of_the_placements_and_nothing_for_hands(match: Match) -> None:
    for state in ended(match):
        assert scores(match, state) == written(match, state)


@law(matches=80, game="bergen")
def test_15_7_the_points_of_the_placements_and_a_bonus(match: Match) -> None:
    options = match.rules.settings
    for state in ended(match):
        winner = state.went_out_first
        if winner is None and options["blocked"] == "lightest":
            winner = only_lowest(list(map(pips, state.hands)))
        elif winner is None:
            plain = [hand for hand in state.hands if not any(tile.double for tile in hand)]
            without_doubles = [pips(tuple(tile for tile in hand if not tile.double)) for hand in state.hands]
            worst = 1000 if plain else 0
            winner = only_lowest(
                [
                    value + worst * any(tile.double for tile in hand)
                    for hand, value in zip(state.hands, without_doubles, strict=True)
                ]
            )
        bonus = [int(options["bonus"]) * (seat == winner) for seat in match.seats]
        assert scores(match, state) == [
            points + more for points, more in zip(written(match, state), bonus, strict=True)
        ]
