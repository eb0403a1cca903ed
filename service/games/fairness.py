"""What a game tells of its luck, so that everybody can check every deal (``engine.deal``, ``docs/fairness.md``).

Owns the list of rounds with what is known of each by now. Must not know what may be told of a round when: that is
``view``'s to say; nor how it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.engine.deal import SCHEME
from service.engine.events import Dealt
from service.engine.state import Hand
from service.engine.view import revealed_seed, round_is_over
from service.games.game import Created, Game, GameEvent


class RevealedDeal(NamedTuple):
    """What came of the luck of a round, and what it came from; told when the round is over."""

    attempt: int
    hands: tuple[Hand, ...]
    """As they were dealt, sorted; empty for a seat that was out."""
    stock: Hand
    """In the order of drawing."""


class RoundFairness(NamedTuple):
    """The luck of a round, as far as it is told by now."""

    number: int
    commitment: bytes
    client_seeds: tuple[str, ...] | None
    """What each seat has added; told when the round is dealt."""
    seed: bytes | None
    deal: RevealedDeal | None


class FairnessReport(NamedTuple):
    """The luck of a game: nothing to tell where the chance was fixed."""

    game: str
    version: int
    method: str | None
    seats: int
    highest: int
    """The number of the highest double of the set."""
    rounds: tuple[RoundFairness, ...]


def fairness_report(game: Game, events: Sequence[GameEvent]) -> FairnessReport:
    """The luck of a game in which these have been all the events so far."""
    provable = game.deck.game is not None
    rounds = _rounds(game, events) if provable else ()
    highest = game.rules.tiles[-1].high
    return FairnessReport(game.id, game.version, SCHEME if provable else None, len(game.seats), highest, rounds)


def _rounds(game: Game, events: Sequence[GameEvent]) -> tuple[RoundFairness, ...]:
    commitment: bytes | None = None
    rounds = []
    for event in events:
        if isinstance(event, Created):
            commitment = event.commitment
        elif isinstance(event, Dealt) and event.proof is not None:
            assert commitment is not None
            rounds.append(_dealt(game, commitment, event))
            commitment = event.proof.next_commitment
    assert commitment is not None
    following = len(rounds) + 1
    rounds.append(RoundFairness(following, commitment, None, revealed_seed(game.deck, game.state, following), None))
    return tuple(rounds)


def _dealt(game: Game, commitment: bytes, dealt: Dealt) -> RoundFairness:
    assert dealt.proof is not None
    number, luck = dealt.round, dealt.proof
    drawn = RevealedDeal(luck.attempt, dealt.hands, dealt.stock) if round_is_over(game.state, number) else None
    return RoundFairness(number, commitment, luck.client_seeds, revealed_seed(game.deck, game.state, number), drawn)
