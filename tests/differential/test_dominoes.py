"""`latin` in step with the package dominoes: whole series of games, to 200 points.

==============================  ==================================================================================
ours                            theirs
==============================  ==================================================================================
`latin` with its defaults       ``Series()``, each of its games dealt as our round
a match                         a series: who leads, the scores of both teams after every round, when it is over
a round                         a game: who is to move, every play, passes, the chain of tiles, and the result
a pass                          ``None`` in ``moves``; not a move there, as who cannot place is skipped
two ends that are alike         one move there, on the left; two here
what other seats cannot hold    ``missing_values()``: the same as the ``Knowledge`` that computer players have
==============================  ==================================================================================

Nothing else differs.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from service.bots.inference import infer
from service.bots.knowledge import observe, tile_set
from service.engine.deal import Deck, seed_from_text
from service.engine.events import Passed, Played
from service.engine.layout import LEFT, RIGHT
from service.engine.state import Hand
from service.engine.tiles import Tile, parse_tile
from tests.conftest import Figures
from tests.differential.in_step import Game, OurMatch, Play, play_in_step
from tests.differential.libraries import library
from tests.support.lanes import fewer

pytestmark = pytest.mark.gate

dominoes = library("dominoes", "dominoes")

MATCHES = 250
LOOKS = 0.1
"""How often what a seat knows is compared, by the number of plays."""
LATIN = Game("latin", 4, {})


class Dominoes:
    """A game of the package, dealt as ours; the only ``lead`` that is allowed, or ``None`` for any."""

    def __init__(self, hands: tuple[Hand, ...], starting_player: int, lead: Tile | None) -> None:
        held = [[dominoes.Domino(tile.low, tile.high) for tile in hand] for hand in hands]
        first = held[starting_player] if lead is None else [dominoes.Domino(lead.low, lead.high)]
        self.game = dominoes.Game(
            board=dominoes.Board(),
            hands=[dominoes.Hand(hand) for hand in held],
            moves=[],
            turn=starting_player,
            valid_moves=tuple([(domino, True) for domino in first]),
            starting_player=starting_player,
            result=None,
        )

    @property
    def turn(self) -> int | None:
        return self.game.turn if self.game.result is None else None

    def plays(self) -> set[Play]:
        board = self.game.board
        if not board:
            return {Play(_tile(domino), None) for domino, _ in self.game.valid_moves}
        return {
            Play(_tile(domino), board.left_end() if left else board.right_end())
            for domino, left in self.game.valid_moves
        }

    def play(self, play: Play, end: str | None) -> None:
        self.game.make_move(dominoes.Domino(play.tile.low, play.tile.high), end != RIGHT)

    def moves(self) -> list[tuple[Tile, str | None] | None]:
        """Each tile and where it was laid; ``None`` for a pass."""
        return [None if move is None else (_tile(move[0]), LEFT if move[1] else RIGHT) for move in self.game.moves]

    def missing(self) -> list[set[int]]:
        """By seat: the numbers that it showed by passing not to have."""
        missing: list[set[int]] = self.game.missing_values()
        return missing


def _tile(domino: Any) -> Tile:
    return parse_tile(f"{domino.first}-{domino.second}")


def our_moves(ours: OurMatch) -> list[tuple[Tile, str | None] | None]:
    """As ``Dominoes.moves``; the lead is on the left."""
    return [
        None if isinstance(event, Passed) else (event.tile, event.end or LEFT)
        for event in ours.events
        if isinstance(event, Played | Passed)
    ]


def check_what_a_seat_knows(ours: OurMatch, theirs: Dominoes, seat: int) -> None:
    """Every other seat can hold what this one does not see, but no number that it showed not to have."""
    known = infer(ours.rules, observe(ours.rules, ours.state, ours.events, seat))
    for other, missing in enumerate(theirs.missing()):
        if other != seat:
            possible = [tile for tile in known.unseen if not {tile.low, tile.high} & missing]
            assert set(known.candidates[other]) == {tile_set(tuple(possible))}, f"seat {other} after {ours.events}"


def test_every_match_goes_as_a_series_of_the_package(figures: Figures) -> None:
    counted: Counter[str] = Counter()
    for number in range(fewer(MATCHES)):
        ours, series = OurMatch(LATIN, Deck(seed_from_text(f"dominoes {number}"))), dominoes.Series()
        rng = Random(number)
        lead: Tile | None = parse_tile("6-6")
        over = False
        while not over:
            hands = ours.deal()
            leader = series.games[-1].starting_player if lead is None else _holder(hands, lead)
            theirs = Dominoes(hands, leader, lead)
            series.games[-1] = theirs.game  # in place of one with a deal of its own
            for _ in play_in_step(ours, theirs, rng):
                counted["plays"] += 1
                if ours.turn is not None and rng.random() < LOOKS:
                    check_what_a_seat_knows(ours, theirs, rng.choice(range(4)))
                    counted["looks"] += 1
            assert our_moves(ours) == theirs.moves()
            over = series.next_game() is None
            assert (ours.state.totals, ours.finished) == (tuple(series.scores * 2), over)
            ended = theirs.game.result
            assert (ours.result.ended_by == "out") == ended.won
            counted["rounds"] += 1
            counted["passes"] += our_moves(ours).count(None)
            counted[ours.result.ended_by if ended.points else "tied"] += 1
            lead = None
        assert {seat % 2 for seat in ours.state.winners} == {series.scores.index(max(series.scores))}
        counted["series"] += 1
    assert all(counted[what] for what in ("out", "blocked", "tied"))
    figures("latin and PyPI dominoes", counted)


def _holder(hands: tuple[Hand, ...], tile: Tile) -> int:
    (seat,) = [seat for seat, hand in enumerate(hands) if tile in hand]
    return seat
