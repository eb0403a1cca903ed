"""The fairness report of a game, with which everybody can check every deal (``engine.deal``, ``docs/fairness.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.engine.deal import SCHEME
from service.engine.events import Dealt
from service.engine.state import Hand
from service.engine.tiles import Tile, double_set
from service.engine.view import revealed_seed, round_is_over
from service.games.model.game import Game
from service.games.model.game_events import Created, GameEvent


class RevealedDeal(NamedTuple):
    """A deal, revealed when its round is over; ``attempt`` is the number of the shuffle that produced it."""

    attempt: int
    hands: tuple[Hand, ...]
    """As dealt, sorted; empty for an eliminated seat."""
    stock: Hand
    """In the order of drawing."""


class RoundFairness(NamedTuple):
    """The proof of the deal of a round. A field that is not revealed yet is ``None``."""

    number: int
    commitment: bytes
    client_seeds: tuple[str, ...] | None
    """The client seed of each seat; revealed when the round is dealt."""
    seed: bytes | None
    deal: RevealedDeal | None


class FairnessReport(NamedTuple):
    """The proofs of the deals of a game; without method and rounds if the deals were arranged or fixed by a seed."""

    game: str
    version: int
    method: str | None
    seats: int
    highest: int
    """The pips on each half of the highest double of the set."""
    without: tuple[Tile, ...]
    """The tiles of the set that are not in the game."""
    deals_again: bool
    """Whether the rules can reject a deal in which somebody has a double."""
    rounds: tuple[RoundFairness, ...]


def is_provable(game: Game) -> bool:
    """Return whether the deals of a game can be proven: they are neither arranged nor fixed by a seed."""
    return game.deck.game is not None


def fairness_report(game: Game, events: Sequence[GameEvent]) -> FairnessReport:
    """Return the report on a game. ``events``: all events up to its version; not used unless it is provable."""
    provable, tiles = is_provable(game), game.rules.tiles
    return FairnessReport(
        game=game.id,
        version=game.version,
        method=SCHEME if provable else None,
        seats=len(game.seats),
        highest=tiles[-1].high,
        without=tuple([tile for tile in double_set(tiles[-1].high) if tile not in tiles]),
        deals_again=game.rules.deals_again,
        rounds=_rounds(game, events) if provable else (),
    )


def _rounds(game: Game, events: Sequence[GameEvent]) -> tuple[RoundFairness, ...]:
    commitment: bytes | None = None
    rounds = []
    for event in events:
        if isinstance(event, Created):
            commitment = event.commitment
        elif isinstance(event, Dealt) and event.proof is not None:
            assert commitment is not None
            rounds.append(_dealt_round(game, commitment, event))
            commitment = event.proof.next_commitment
    assert commitment is not None
    upcoming = len(rounds) + 1
    rounds.append(RoundFairness(upcoming, commitment, None, revealed_seed(game.deck, game.state, upcoming), None))
    return tuple(rounds)


def _dealt_round(game: Game, commitment: bytes, dealt: Dealt) -> RoundFairness:
    assert dealt.proof is not None
    number, proof = dealt.round, dealt.proof
    deal = RevealedDeal(proof.attempt, dealt.hands, dealt.stock) if round_is_over(game.state, number) else None
    return RoundFairness(number, commitment, proof.client_seeds, revealed_seed(game.deck, game.state, number), deal)
