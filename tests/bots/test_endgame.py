"""Ends of rounds in which nothing is hidden: the expert makes no mistake, by a plain search of all that may follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

import pytest

from service.bots import expert, greedy
from service.bots.endgame import known_state, position_key, solve, values_of
from service.bots.inference import infer
from service.bots.knowledge import Observation, observe
from service.engine.deal import Deck, seed_from_text
from service.engine.events import Event, Finished, RoundEnded
from service.engine.moves import DONE, Move
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import PLAYING, State
from service.engine.variant import Rules
from service.engine.variants import variants
from tests.laws.matches import setups
from tests.support.lanes import current, fewer, in_lane

pytestmark = pytest.mark.gate

POSITIONS: Final = 250 if current() == "nightly" else 30
"""Of each game and each way to play."""
FEW_TILES: Final = range(1, 9)
"""How many are in the hands and the stock of a position, so that all that may follow can be tried."""
MAX_DEALS: Final = 50_000
LONG_ENDS: Final = (10, 12, 14)
LONG_ENDS_OF_EACH: Final = 3
LONG_END_DEALS: Final = 300
KEYS: Final = (
    *("all-fives", "bergen", "block", "by-wins", "domino", "dominospiel"),
    *("draw", "fives-and-threes", "kozel", "matador"),
)
"""The games in which the last tiles are known to one of two sides."""
OF_PARTNERS: Final = "fives-and-threes"
"""The only one of them in which a round goes on when one of four is out."""

Choose = Callable[[Rules, Observation, Random], Move]


class Position(NamedTuple):
    """What the seat on turn has seen when it knows all tiles and has a choice, and the true state."""

    rules: Rules
    state: State
    observation: Observation


def anyhow(_rules: Rules, observation: Observation, random: Random) -> Move:
    """Any legal move."""
    return random.choice(observation.view.legal_moves)


def with_a_slow_seat(_rules: Rules, observation: Observation, random: Random) -> Move:
    """Any legal move, but the seat 0 ends its turn as soon as it may: so it is often the last that holds tiles."""
    moves = observation.view.legal_moves
    return next((move for move in moves if move == DONE and observation.seat == 0), random.choice(moves))


def positions(
    games: Sequence[Rules],
    choose: Choose,
    many: int,
    *,
    stock: int = 0,
    tiles: range = FEW_TILES,
    deals: int = MAX_DEALS,
) -> Iterator[Position]:
    """So many positions with so many tiles in the stock in which nothing is hidden from the seat on turn."""
    rng = Random("ends of rounds")
    found = 0
    for number in range(deals):
        rules, deck = rng.choice(games), Deck(seed_from_text(f"end {number}"))
        dealt, state = deal(rules, deck, rules.start())
        events: list[Event] = [dealt]
        while state.phase == PLAYING:
            seat = state.turn
            assert seat is not None
            moves = legal_moves(rules, state, seat)
            move = moves[0]
            if len(moves) > 1:
                seen = observe(rules, state, events, seat)
                if is_known(state, stock) and sum(map(len, state.hands)) + stock in tiles:
                    yield Position(rules, state, seen)
                    found += 1
                    if found == many:
                        return
                move = choose(rules, seen, rng)
            made, state = advance(rules, deck, state, seat, move=move)
            events += made


def is_known(state: State, stock: int) -> bool:
    """Whether the hidden tiles are those of one hand, or the only one of the stock."""
    others = sum([bool(hand) for seat, hand in enumerate(state.hands) if seat != state.turn])
    return (others, len(state.stock)) == (1 - stock, stock)


def outcome(rules: Rules, state: State, move: Move, known: dict[object, float] | None = None) -> float:
    """By how much more the side to move scores in this round than the others on average, if all play for their best.

    Where totals are wins, a match that is over counts as the target besides. Only two seats, or one, still hold tiles.
    With ``known`` each position is examined once, as there would be too many.
    """
    seat = state.turn
    assert seat is not None
    events, after = advance(rules, Deck(b""), state, seat, move=move)
    for event in events:
        if isinstance(event, RoundEnded):
            scores = event.round.scores
            own = [scores[each] for each in rules.side(seat)]
            lead = sum(own) / len(own) - (sum(scores) - sum(own)) / (len(scores) - len(own))
            if rules.unit == "wins" and isinstance(events[-1], Finished):
                lead += int(rules.settings["target"]) * (1 if seat in events[-1].winners else -1)
            return lead if rules.best == "highest" else -lead
    assert after.turn is not None
    position = None if known is None else position_key(rules, after)
    best = None if known is None else known.get(position)
    if best is None:
        best = max([outcome(rules, after, each, known) for each in legal_moves(rules, after, after.turn)])
        if known is not None:
            known[position] = best
    return best if after.turn == seat else -best


def check(found: Iterator[Position], many: int) -> None:
    """The expert's choice is one of the best, and what each move is worth is exact."""
    decided = mattered = 0
    for rules, state, observation in found:
        moves = observation.view.legal_moves
        outcomes = [outcome(rules, state, move) for move in moves]
        chosen = expert.choose(rules, observation, Random(decided))
        assert outcomes[moves.index(chosen)] == max(outcomes), (rules.settings, state)
        assert values_of(rules, observation, infer(rules, observation), moves) == pytest.approx(outcomes)
        decided += 1
        mattered += len(set(outcomes)) > 1
    assert decided == many
    assert mattered > decided / 10


def games_of_two_sides(key: str) -> list[Rules]:
    """The rules of a game for two sides in which no tile stays hidden to the end."""
    if key == OF_PARTNERS:
        return [variants()[key].rules({"teams": 2, "hand": 7, "exact": exact}, 4) for exact in (True, False)]
    games = [variants()[key].rules(dict(options), seats) for seats, options in setups(key) if seats == 2]
    return [rules for rules in games if not rules.reserve or 2 * rules.hand_size(2) == len(rules.tiles)]


@pytest.mark.parametrize("choose", [anyhow, greedy.choose])
@pytest.mark.parametrize("key", KEYS)
def test_no_decision_is_wrong_where_nothing_is_hidden(key: str, choose: Choose) -> None:
    check(positions(games_of_two_sides(key), choose, POSITIONS), POSITIONS)


@pytest.mark.parametrize("tiles", in_lane(LONG_ENDS, gate=LONG_ENDS[:1]))
@pytest.mark.parametrize("key", [key for key in KEYS if key != OF_PARTNERS])
def test_no_decision_is_wrong_at_a_long_end(key: str, tiles: int) -> None:
    """A search of all positions without bounds finds the same."""
    decided = 0
    for rules, state, observation in positions(
        games_of_two_sides(key), greedy.choose, LONG_ENDS_OF_EACH, tiles=range(tiles, tiles + 1), deals=LONG_END_DEALS
    ):
        moves = observation.view.legal_moves
        known: dict[object, float] = {}
        outcomes = [outcome(rules, state, move, known) for move in moves]
        chosen = solve(rules, observation, infer(rules, observation), moves)
        if chosen is not None:  # else there are too many positions
            assert outcomes[moves.index(chosen)] == max(outcomes), (rules.settings, state)
            decided += 1
    assert decided


def test_no_decision_is_wrong_where_only_the_last_tile_of_the_stock_is_hidden() -> None:
    games = [variants()["dominospiel"].rules({}, seats) for seats in (3, 5, 6)]
    check(positions(games, with_a_slow_seat, 2 * POSITIONS, stock=1), 2 * POSITIONS)


@pytest.mark.parametrize("key", sorted(variants().keys() - set(KEYS)))
def test_no_other_game_has_ends_in_which_nothing_is_hidden(key: str) -> None:
    """So none is missing above; a game in which this fails belongs to ``KEYS``."""
    games = [variants()[key].rules(dict(options), seats) for seats, options in setups(key)]
    assert not list(positions(games, anyhow, 1, deals=fewer(200)))


def test_what_more_than_two_sides_play_for_is_not_solved() -> None:
    games = [variants()["dominospiel"].rules({}, seats) for seats in (3, 4, 7)]
    for rules, _, observation in positions(games, anyhow, 20):
        assert known_state(rules, observation, infer(rules, observation)) is None


@pytest.mark.nightly
@pytest.mark.parametrize(("key", "most"), [("block", 17), ("all-fives", 15), ("dominospiel", 14)])
def test_an_end_with_few_tiles_is_solved_and_one_with_many_not_begun(key: str, most: int) -> None:
    """With as many as may be, some ends have too many positions."""
    games = games_of_two_sides(key)
    found: dict[int, list[bool]] = {}
    for tiles in (most - 3, most, most + 1):
        for rules, _, observation in positions(games, greedy.choose, 5, tiles=range(tiles, tiles + 1)):
            seen = rules, observation, infer(rules, observation), observation.view.legal_moves
            found.setdefault(tiles, []).append(solve(*seen) is not None)
    assert all(found[most - 3])
    assert any(found[most])
    assert not any(found[most + 1])


@pytest.mark.nightly
def test_an_end_with_too_many_positions_is_left_to_the_worlds() -> None:
    games = games_of_two_sides("dominospiel")
    solved = set()
    for rules, _, observation in positions(games, greedy.choose, 12, tiles=range(14, 15)):
        knowledge = infer(rules, observation)
        assert known_state(rules, observation, knowledge) is not None
        solved.add(solve(rules, observation, knowledge, observation.view.legal_moves) is not None)
        assert expert.choose(rules, observation, Random(1)) in observation.view.legal_moves
    assert solved == {True, False}
