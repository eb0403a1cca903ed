"""What a round writes, by the formula of each game, for whatever hands are left.

A round is counted here wherever it stands, as if it ended there, and once more as if some seat had
just laid its last tile; so hands of all sizes are counted, and many that are alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.engine.events import EndReason
from service.engine.state import PLAYING, Hand, State
from service.engine.tiles import parse_tile
from tests.laws.matches import Match, law

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
