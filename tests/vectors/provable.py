"""Random matches whose deals can be proven, and what the service tells of their rng at some of their moments."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Any, Final

import orjson

from service.engine.deal import Deck
from service.engine.moves import DEAL
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED, PLAYING, State
from service.engine.variants import variants
from service.games.model.game import Game, rules_for
from service.games.model.game_events import Created, GameEvent
from service.games.model.seats import HUMAN, Seat, Seats
from service.games.queries.fairness import fairness_report
from service.web.records.serializers import fairness_json
from tests.laws.matches import Case, case_seed, cases

CLIENT_SEEDS: Final = ("", "mu", "a", "b", "ab", "zwölf Zwölfen", "e\u0301", "\u00e9", "🁣🂓", "🁫" * 64, '"\\', " 7 ")


def documents(case: Case) -> Iterator[dict[str, Any]]:
    """What is revealed before the first deal, in each round, after each round, and at the end.

    The seats give client seeds as they like, at the beginning and with a deal.
    """
    rng = Random(case_seed(case))
    rules = variants()[case.key].rules(dict(case.options), case.seats)
    game_id = urlsafe_b64encode(rng.randbytes(16)).decode().rstrip("=")
    client_seeds = tuple(rng.choices(CLIENT_SEEDS, k=case.seats))
    deck = Deck(sha256(case.seed.encode()).digest(), game=game_id, client_seeds=client_seeds)
    events: list[GameEvent] = [Created(deck.commitment(1))]
    state = rules.start()
    yield published(case, deck, events, state)
    for _ in range(case.moves):
        if state.phase == FINISHED:
            break
        if state.phase == PLAYING:
            assert state.turn is not None
            seat = state.turn
            move = rng.choice(legal_moves(rules, state, seat))
        else:
            seat, move = rng.choice(state.active_seats()), DEAL
            if rng.random() < 0.5:
                deck = deck.with_client_seed(seat, rng.choice(CLIENT_SEEDS[1:]))
        happened, after = advance(rules, deck, state, seat, move=move)
        events += happened
        if after.phase != state.phase:
            yield published(case, deck, events, after)
        state = after


def published(case: Case, deck: Deck, events: list[GameEvent], state: State) -> dict[str, Any]:
    """What ``GET …/fairness`` answers, as it comes over the line."""
    assert deck.game is not None
    game = Game(
        id=deck.game,
        variant=variants()[case.key],
        options=dict(case.options),
        rules=rules_for(case.key, dict(case.options), case.seats),
        seats=Seats([Seat(HUMAN, f"player {seat}", None) for seat in range(case.seats)]),
        join_hash=None,
        arranged=False,
        deck=deck,
        version=len(events),
        created_at=0,
        updated_at=0,
        round_ends=(),
        state=state,
    )
    answer: dict[str, Any] = orjson.loads(orjson.dumps(fairness_json(fairness_report(game, events))))
    return answer


def of_variant(key: str, many: int, moves: int = 300) -> list[dict[str, Any]]:
    """What is revealed of so many matches of this game."""
    return [document for case in cases(key, "fairness", many) for document in documents(case._replace(moves=moves))]


def dealt_again() -> list[dict[str, Any]]:
    """Rounds of two hands of five tiles of double-twelve: in one deal of five nobody holds a double."""
    options = (("set", 12), ("hand", 5))
    found = [list(documents(Case("domino", 2, options, f"again {number}", number, 300))) for number in range(25)]
    return [each[-1] for each in found if len(each) > 2] + dealt_again_with_doubles()


def dealt_again_with_doubles() -> list[dict[str, Any]]:
    """Rounds of games that deal again where a hand has too many doubles, and of one without double-blank."""
    wanted = [
        ("kozel", 4, (("redeal", True),)),
        ("by-wins", 4, (("redeal_doubles", 4), ("target", 2))),
        ("by-wins", 3, (("redeal_doubles", 4), ("target", 2))),
    ]
    cases = [Case(key, seats, options, f"again {n}", n, 300) for key, seats, options in wanted for n in range(4)]
    found = [list(documents(case))[-1] for case in cases]
    assert any(entry.get("attempt", 0) > 0 for each in found for entry in each["rounds"])
    return found
