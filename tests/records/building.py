"""Records of generated matches: with deals that can be proven, or arranged; whole, or as one viewer has seen them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from service.engine.deal import ArrangedDeal, Deck, round_seed, seed_from_text
from service.engine.events import Dealt
from service.engine.variants import variants
from service.records.record import ARRANGED, PROVABLE, SPECTATOR, Record, Viewer
from service.records.writer import build_record, resolved_options
from tests.laws.matches import Case, Match, setups

NAMES = (
    *("Ada", "Bo \N{GRINNING FACE}", 'C"y\\', "Dörte\u2028", "e\x1b[31m", "F" * 40, "G"),
    *("H", "I", "J", "K", "L", "M"),
)
GAME = "5m1Gd5tIvN3vYhYkS0oJGA"
DATE = "2026-11-21T21:16:28.123Z"


def fair(case: Case) -> Match:
    """The match of a case with deals that can be proven."""
    match = Match(case)
    given = [match.rng.choice(["", "luck", "\N{GRINNING FACE}" * 64, '" \\']) for _ in match.seats]
    match.deck = Deck(seed_from_text(case.seed), game=GAME, client_seeds=tuple(given))
    return match


def arranged(case: Case) -> Match:
    """The same as somebody arranged it: by a seed, and every other time deal by deal."""
    match = Match(case)
    if case.move_seed % 2:
        deals = [event for event in Match(case).events if isinstance(event, Dealt)]
        match.deck = match.deck._replace(arranged=tuple([ArrangedDeal(deal.hands, deal.stock) for deal in deals]))
    return match


def kept(match: Match, viewer: Viewer | None = None, moves: int | None = None) -> Record:
    """The record of a match, or of its first moves, as this viewer gets it."""
    steps = match.steps[:moves]
    rounds = steps[-1].after.round
    provable = match.deck.game is not None
    gaps = Random(match.case.move_seed)
    version = 1 + gaps.randrange(3)
    events = []
    for step in steps:
        version += gaps.random() < 0.05
        for event in step.events:
            version += 1
            events.append((version, event))
    head = Record(
        variant=match.variant.key,
        edition=match.variant.edition,
        options=resolved_options(match.variant, match.rules),
        players=NAMES[: match.case.seats],
        game=GAME if provable else "",
        date=DATE if provable else "",
        fairness=PROVABLE if provable else ARRANGED,
    )
    return build_record(
        head,
        events,
        commitment=match.deck.commitment(1),
        seeds={number: round_seed(match.deck.seed, number) for number in range(1, rounds + 2)} if provable else None,
        viewer=viewer,
    )


def viewers(match: Match) -> list[Viewer]:
    return [SPECTATOR, *match.seats]


def short_cases(key: str, many: int, most_moves: int) -> Iterator[Case]:
    """So many matches of a game, most of them left in the middle; the numbers of players take turns."""
    players = variants()[key].players
    for number in range(many):
        rng = Random(f"kept {key} {number}")
        seats = players.low + number % (players.high - players.low + 1)
        options = rng.choice([options for count, options in setups(key) if count == seats])
        yield Case(key, seats, options, f"kept {number}", number, rng.randint(1, most_moves))


@cache
def long_records() -> tuple[Record, ...]:
    """Some records of every game, with deals that can be proven, of several rounds, running and finished."""
    records = []
    for key in variants():
        for case in short_cases(key, 8, 1):
            records.append(kept(fair(case._replace(moves=260))))
            records.append(kept(fair(case._replace(moves=7 + case.move_seed))))
    return tuple(records)
