"""Matches of computer players alone. ``python -m tests.bots.playing`` prints some, to compare processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from service.bots import expert
from service.bots.choice import choose_move
from service.bots.knowledge import Observation, observe
from service.engine.deal import Deck, seed_from_text, seed_of_decision
from service.engine.events import Dealt, Event
from service.engine.moves import Move
from service.engine.referee import advance
from service.engine.state import FINISHED
from service.engine.variant import Rules
from service.engine.variants import variants

Choice = Callable[[Rules, Observation, str, bytes], Move]
MAX_MOVES = 20_000
"""More than any match of computer players takes."""


def played(rules: Rules, seed: str, levels: Sequence[str], choose: Choice = choose_move) -> Iterator[Move]:
    """The moves of a match of these levels to its end, each one of those that are listed."""
    deck = Deck(seed_from_text(seed))
    state = rules.start()
    version = 0
    events: tuple[Event, ...] = ()
    for _ in range(MAX_MOVES):
        seat = state.to_act[0]
        seen = observe(rules, state, events, seat)
        move = choose(rules, seen, levels[seat], seed_of_decision(deck.seed, seat, version))
        assert move in seen.view.legal_moves
        yield move
        new, state = advance(rules, deck, state, seat, move=move)
        version += len(new)
        events = new if isinstance(new[0], Dealt) else events + new
        if state.phase == FINISHED:
            return
    raise AssertionError("the match does not end")


def choose_quickly(rules: Rules, seen: Observation, level: str, decision_seed: bytes) -> Move:
    """As ``choose_move``, but an expert plays out very few deals."""
    if level == "expert" and len(seen.view.legal_moves) > 1:
        return expert.search(rules, seen, Random(int.from_bytes(decision_seed, "big")), 9)
    return choose_move(rules, seen, level, decision_seed)


def matches_to_compare() -> str:
    """The moves of some matches in which every level plays with all it has."""
    lines = []
    for key, seats, options in (
        ("menschenwolf", 3, {"limit": 1}),
        ("fido", 3, {"set": 6}),
        ("domino", 4, {"limit": 1}),
        ("cochon", 3, {"target": 1}),
    ):
        levels = ["expert", "greedy", "random", "expert"][:seats]
        rules = variants()[key].rules(options, seats)
        lines += [f"{move.action} {move.tile} {move.end} {move.face_down}" for move in played(rules, key, levels)]
    return "\n".join(lines)


if __name__ == "__main__":
    print(matches_to_compare())
