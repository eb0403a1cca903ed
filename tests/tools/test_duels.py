"""Whole matches and public programs in `make strength`. Their figures are no matter here."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

from service.bots.knowledge import Observation, observe
from service.engine.deal import Deck, seed_from_text
from service.engine.events import Event
from service.engine.moves import DEAL
from service.engine.referee import advance, legal_moves
from service.engine.state import State
from tools.strength import duels, programs
from tools.strength.__main__ import main
from tools.strength.programs import BLOCK_PROGRAMS, LATIN_PROGRAMS, PROGRAMS, game_of_dominoes, state_of_open_spiel
from tools.strength.results import measured
from tools.strength.rounds import Outcome, play_deal, play_match
from tools.strength.rows import DUELS, MATCHES, OPEN_SPIEL, OPEN_SPIEL_TEAMS, ROWS, Row, Setup

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not (find_spec("dominoes") and find_spec("pyspiel")), reason="dominoes or open-spiel is not installed"
    ),
]

LATIN = Setup("latin", 4)


def rounds_of(setup: Setup, name: str, check: Callable[[State, Observation], None]) -> int:
    """Play rounds by random choices; returns how many decisions had an alternative, each of which was checked."""
    rules, decisions = setup.rules, 0
    for number in range(20):
        rng, deck = Random(f"{name} {number}"), Deck(seed_from_text(f"{name} {number}"))
        events, state = advance(rules, deck, rules.start(), 0, move=DEAL)
        seen: list[Event] = list(events)
        while (seat := state.turn) is not None:
            moves = legal_moves(rules, state, seat)
            if len(moves) > 1:
                check(state, observe(rules, state, seen, seat))
                decisions += 1
            events, state = advance(rules, deck, state, seat, move=rng.choice(moves))
            seen += events
    return decisions


def test_the_position_in_the_package_dominoes_is_ours() -> None:
    def check(state: State, observation: Observation) -> None:
        game = game_of_dominoes(state, observation)
        assert game.turn == observation.seat
        hands = [{(it.low, it.high) for it in hand} for hand in state.hands]
        assert [{tuple(sorted((it.first, it.second))) for it in hand} for hand in game.hands] == hands
        board = game.board
        theirs = {
            (*sorted((it.first, it.second)), board.left_end() if left else board.right_end())
            for it, left in game.valid_moves
        }
        assert theirs == plays_of(state, observation)

    assert rounds_of(LATIN, "dominoes", check) > 100


@pytest.mark.parametrize("setup", [OPEN_SPIEL, OPEN_SPIEL_TEAMS], ids=["two", "teams"])
def test_the_position_in_open_spiel_is_ours(setup: Setup) -> None:
    def check(state: State, observation: Observation) -> None:
        theirs, plays = state_of_open_spiel(state, observation)
        assert not theirs.is_terminal()
        assert set(plays.values()) == plays_of(state, observation)

    assert rounds_of(setup, "open spiel", check) > 100


def plays_of(state: State, observation: Observation) -> set[tuple[int, int, int | None]]:
    """The legal plays as in OpenSpiel: the halves of a tile, and the number that it is laid to, if any."""
    found = set()
    for move in observation.view.legal_moves:
        assert move.tile is not None
        end = state.layout.end(move.end)
        found.add((move.tile.low, move.tile.high, None if end is None else end.number))
    return found


@pytest.mark.parametrize(
    ("name", "setup"),
    [
        *[(name, LATIN) for name in LATIN_PROGRAMS],
        *[(name, setup) for setup in (OPEN_SPIEL, OPEN_SPIEL_TEAMS) for name in BLOCK_PROGRAMS],
    ],
)
def test_what_a_program_chooses_is_legal_and_the_same_again(name: str, setup: Setup) -> None:
    outcome = play_deal(Row("greedy", name, setup, 0.5, 1), "any", 1)
    assert outcome.of_program
    assert play_deal(Row("greedy", name, setup, 0.5, 1), "any", 1).win == outcome.win


def test_the_player_that_prefers_heavy_tiles_lays_the_heaviest() -> None:
    def check(state: State, observation: Observation) -> None:
        chosen = PROGRAMS["dominoes' bota_gorda"](LATIN.rules, state, observation, bytes(32))
        pips = [move.tile.pips for move in observation.view.legal_moves if move.tile is not None]
        assert chosen.tile is not None
        assert chosen.tile.pips == max(pips)
        assert chosen in observation.view.legal_moves

    assert rounds_of(LATIN, "heavy", check) > 100


def test_a_match_is_won_by_its_winners_in_part() -> None:
    row = next(row for row in MATCHES if row.setup.variant == "homo-homini-lupus" and row.stronger == "greedy")
    levels = ["greedy", "random", "greedy", "random"]
    _, winners = play_match(row.setup.rules, bytes(32), levels, lambda *_: None)
    assert winners
    outcomes = [play_deal(row, "any", number).win for number in range(6)]
    assert all(0 <= win <= 1 for win in outcomes)
    assert sum(outcomes) > 3
    same = row._replace(stronger="greedy", weaker="greedy")
    assert [play_deal(same, "any", number).win for number in range(3)] == [0.5] * 3


def page_of(wins: tuple[float, float], deals: int) -> str:
    """The page, on which the first row of matches has so many deals, whose wins alternate; the others have none."""

    outcomes = [Outcome(deal, wins[deal % 2], 0.0, []) for deal in range(deals)]
    return duels.page({row: measured(row, outcomes if row == MATCHES[0] else []) for row in DUELS})


def test_the_page_says_where_too_few_were_played_and_what_is_not_shown() -> None:
    fixed = MATCHES[0].deals
    name = MATCHES[0].setup.name
    assert f"| {name} | 75.0 ± 1.6 % | {fixed} |" in page_of((1, 0.5), fixed)
    assert f"| {name} | 75.0 ± 1.6 % | {fixed - 2} of {fixed} |" in page_of((1, 0.5), fixed - 2)
    assert f"| {name} | (50.0 ± 3.1 %) | {fixed} |" in page_of((1, 0), fixed)
    assert f"| {name} | 25.0 ± 1.6 % | {fixed} |" in page_of((0, 0.5), fixed)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert programs.left_out() == []
    monkeypatch.setattr(programs, "_PACKAGES", {"OpenSpiel's": "no_such_package"})
    (line,) = programs.left_out()
    assert "OpenSpiel's programs" in line
    assert line in page_of((1, 0), 2)


def test_the_page_has_every_row_and_nothing_of_the_other_page(tmp_path: Path) -> None:
    words = ["greedy", "random", "matches", "dominospiel"]
    main([*words, "--deals", "2", "--jobs", "1", "--kept", str(tmp_path), "--write", str(tmp_path)])
    page = (tmp_path / duels.PAGE).read_text()
    assert page.count("not measured") == len(DUELS) - 1
    assert not set(DUELS) & set(ROWS)
    assert BLOCK_PROGRAMS[0] in page
